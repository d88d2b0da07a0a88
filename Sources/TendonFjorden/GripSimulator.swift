// SPDX-License-Identifier: MIT
import CTendon
import Synchronization
import Tendon

/// The simulator of `configure(with: .simulated)`: grips in memory that can appear, disappear and misbehave, and a
/// radio that can be off or forbidden. Nothing of the machine's Bluetooth is touched.
///
/// ```swift
/// GripManager.default.configure(with: .simulated)
/// try await GripManager.default.start()
/// GripManager.default.simulator?.grip.pressFn(true)
/// ```
@TendonActor
public final class GripSimulator {
    /// Whether the program may use the radio.
    public enum Permission: Sendable, Hashable {
        /// It may.
        case allowed
        /// It may not: the state is `unauthorized`.
        case denied
        /// The result of the permission request of `start`.
        case undetermined(allows: Bool)
    }

    let memoryRadio: MemoryRadio
    private var grips: [SimulatedGrip] = []
    /// Grips that one simulator has room for.
    public static nonisolated let capacity = 8

    /// With one grip in range, of these options.
    public nonisolated init(_ options: SimulatedGrip.Options = SimulatedGrip.Options()) {
        memoryRadio = MemoryRadio()
        first = Mutex(options)
    }

    /// Made when it is first used.
    private nonisolated let first: Mutex<SimulatedGrip.Options?>

    func prepare() {
        let options = first.withLock { options in
            defer { options = nil }
            return options
        }
        if let options { add(options, rssi: -50) }
    }

    /// The grip that was there from the start.
    public var grip: SimulatedGrip {
        prepare()
        return grips[0]
    }

    /// Another grip in range; `nil` when there are eight.
    @discardableResult
    public func addGrip(_ options: SimulatedGrip.Options = SimulatedGrip.Options(), rssi: Int8 = -60) -> SimulatedGrip?
    {
        prepare()
        return add(options, rssi: rssi)
    }

    @discardableResult
    private func add(_ options: SimulatedGrip.Options, rssi: Int8) -> SimulatedGrip? {
        guard grips.count < GripSimulator.capacity,
            let (device, address) = memoryRadio.add(options, rssi: rssi)
        else { return nil }
        let grip = SimulatedGrip(device, address, in: memoryRadio) { [memoryRadio] in memoryRadio.refresh() }
        grips.append(grip)
        return grip
    }

    private func place(_ grip: SimulatedGrip) -> Int? { grips.firstIndex { $0 === grip } }

    /// Whether a grip is in range; its link ends when it is not.
    public func setPresent(_ grip: SimulatedGrip, _ isPresent: Bool) {
        if let index = place(grip) { memoryRadio.setPresent(index, isPresent) }
    }

    /// dBm, from its next advertisement on.
    public func setRSSI(_ grip: SimulatedGrip, _ rssi: Int8) {
        if let index = place(grip) { memoryRadio.devices.pointer[index].rssi = rssi }
    }

    /// Sets whether everything that it sends is lost while it stays connected.
    public func setSilent(_ grip: SimulatedGrip, _ isSilent: Bool) {
        if let index = place(grip) { memoryRadio.devices.pointer[index].silent = isSilent }
    }

    /// Rejects pairing with the grip, as if the user declined it.
    public func setRejectsPairing(_ grip: SimulatedGrip, _ rejectsPairing: Bool) {
        if let index = place(grip) { memoryRadio.devices.pointer[index].rejects_pairing = rejectsPairing }
    }

    /// How long pairing takes.
    public var pairingDelay: Duration {
        get { .milliseconds(Int(memoryRadio.block.pointer.pointee.pairing_ms)) }
        set { memoryRadio.block.pointer.pointee.pairing_ms = UInt32(clamping: newValue.milliseconds) }
    }

    /// Looked at when the manager starts.
    public var permission: Permission = .allowed
    /// Off: connections end, and Bluetooth is not available.
    public var isPoweredOn = true {
        didSet { if oldValue != isPoweredOn { memoryRadio.core?.powerChanged(isPoweredOn) } }
    }
}

/// Simulated devices in memory, and a timer. For the loop's thread.
final class MemoryRadio: @unchecked Sendable {
    // Used only on the loop's thread.
    let block = CBlock<tendon_memory_radio>()
    let devices = CTable<tendon_memory_radio_device>(capacity: GripSimulator.capacity)
    private let memory = CTable<tendon_simulated_fjorden>(capacity: GripSimulator.capacity)
    private var texts: [CText] = []
    private var timer: LoopTimer?
    private var isTicking = false
    weak var core: GripCore?
    /// The core while it disconnects for the last time.
    private var closing: GripCore?

    init() {
        tendon_memory_radio_init(block.pointer, devices.pointer, 0)
    }

    func add(
        _ options: SimulatedGrip.Options, rssi: Int8
    ) -> (CPointer<tendon_simulated_fjorden>, Address)? {
        let index = block.pointer.pointee.count
        let texts = [options.name, options.firmware, options.serial].map { CText($0) }
        let device = memory.pointer + index
        guard SimulatedGrip.prepare(device, options, texts) >= 0 else { return nil }
        self.texts += texts
        let address = Address(0xC000_0000_0001 + UInt64(index), type: .random)
        let place = devices.pointer + index
        place.pointee.device = tendon_simulated_fjorden_device(device)
        place.pointee.address = address.c
        place.pointee.rssi = rssi
        place.pointee.present = true
        block.pointer.pointee.count = index + 1
        return (device, address)
    }

    func attach(_ core: GripCore) {
        if self.core !== core { self.core?.linkEnded() }
        self.core = core
        tendon_memory_radio_attach(block.pointer, fjordenSessionInputs.pointer, core.session)
        block.pointer.pointee.report_context = context(of: self)
        block.pointer.pointee.on_report = { context, report, now in
            guard let report else { return }
            object(MemoryRadio.self, context).core?.advertised(report, now)
        }
        closing = nil
        timer = LoopTimer(core.loop.core) { [unowned self] in self.tick() }
        refresh()
    }

    private func tick() {
        isTicking = true
        tendon_memory_radio_tick(block.pointer, tendon_monotonic_ms())
        isTicking = false
        refresh()
        guard isIdle else { return }
        core?.linkEnded()
        if closing != nil { detach() }
    }

    var isIdle: Bool {
        let memory = block.pointer.pointee
        return memory.peer == nil && !memory.connecting && !memory.connect_asked && !memory.disconnect_asked
    }

    func setPresent(_ index: Int, _ isPresent: Bool) {
        guard core != nil else {
            devices.pointer[index].present = isPresent
            return
        }
        tendon_memory_radio_set_present(block.pointer, devices.pointer + index, isPresent, tendon_monotonic_ms())
        refresh()
        if isIdle { core?.linkEnded() }
    }

    func refresh() {
        guard let timer, !isTicking else { return }
        timer.deadline = tendon_memory_radio_deadline(block.pointer)
    }

    /// Detaches from the core, once it is disconnected.
    func close() {
        closing = core
        if isIdle { detach() }
    }

    private func detach() {
        timer = nil
        core = nil
        // It may be in a call of this object.
        if let closing { closing.loop.post { withExtendedLifetime(closing) {} } }
        closing = nil
    }
}

/// The simulated radio under a session. For the loop's thread.
final class MemoryTransport: GripTransport {
    private let simulator: GripSimulator
    private var memoryRadio: MemoryRadio { simulator.memoryRadio }
    private var link: tendon_session_link { tendon_memory_radio_link(memoryRadio.block.pointer) }

    init(_ simulator: GripSimulator, _ core: GripCore) {
        self.simulator = simulator
        TendonActor.assumeIsolated { simulator.prepare() }
        simulator.memoryRadio.attach(core)
    }

    var permission: tendon_fjorden_authorization {
        let simulator = simulator
        return switch TendonActor.assumeIsolated({ simulator.permission }) {
        case .allowed: TENDON_FJORDEN_AUTHORIZATION_ALLOWED
        case .denied: TENDON_FJORDEN_AUTHORIZATION_DENIED
        case .undetermined: TENDON_FJORDEN_AUTHORIZATION_UNDETERMINED
        }
    }

    /// To the question for permission.
    var answer: Bool {
        let simulator = simulator
        let permission = TendonActor.assumeIsolated { simulator.permission }
        return if case .undetermined(let allows) = permission { allows } else { true }
    }

    var isOn: Bool {
        let simulator = simulator
        return TendonActor.assumeIsolated { simulator.isPoweredOn }
    }

    func setTarget(_ address: Address) {
        var address = address.c
        tendon_memory_radio_set_target(memoryRadio.block.pointer, &address)
    }

    func connect() -> tendon_status { link.connect(memoryRadio.block.pointer) }
    func disconnect() { link.disconnect(memoryRadio.block.pointer) }
    var isIdle: Bool { memoryRadio.isIdle }
    func pair() -> tendon_status { link.pair(memoryRadio.block.pointer) }
    func isBonded() -> Bool { link.bonded(memoryRadio.block.pointer) }
    func scan(_ on: Bool) { tendon_memory_radio_scan(memoryRadio.block.pointer, on) }

    func forget(_ address: Address) throws(TendonError) {
        var address = address.c
        tendon_memory_radio_forget(memoryRadio.block.pointer, &address)
        refresh()
    }

    func refresh() { memoryRadio.refresh() }

    func close() { memoryRadio.close() }
}
