// SPDX-License-Identifier: MIT
import CTendon
import Tendon

/// What carries a session's link and search: a radio, or the air of the simulator. For the loop's thread.
protocol GripGround: AnyObject {
    func setTarget(_ address: Address)
    func connect() -> tendon_status
    func disconnect()
    func pair() -> tendon_status
    func isBonded() -> Bool
    func scan(_ on: Bool)
    func forget(_ address: Address)
    /// Deadlines may have changed.
    func refresh()
    /// True when nothing of it has a pointer to the session any more.
    var isIdle: Bool { get }
    func close()
}

typealias CallResult = Result<GripManager.State, FjordenError>

/// A session of the C core and who waits for what. All but `shared` is for the loop's thread.
final class GripCore: @unchecked Sendable {
    // Touched on the loop's thread alone; the C core's pointers to it are valid until `finalise()`.
    let loop = Loop.shared
    private let block = CBlock<tendon_fjorden_session>()
    private let profile = CBlock<tendon_fjorden_profile>()
    private let table = CTable<tendon_fjorden_grip>(capacity: Int(TENDON_FJORDEN_GRIPS_MAX))
    let shared = GripShared()
    private(set) var configuration: GripManager.Configuration?
    private(set) var ground: (any GripGround)?
    /// A radio that the program opened by itself.
    private let givenRadio: RadioCore?
    private var waiters: [UInt32: (CallResult) -> Void] = [:]
    private var calling: UInt32?
    private var answered: CallResult?
    private var states = Listeners<GripManager.State>()
    private var lists = Listeners<[ConnectableGrip]>()
    private var readings = GripReadings()
    private var versions: [Address: FirmwareVersion] = [:]
    private var pairing: Task<Void, Never>?
    private var keptAlive: GripCore?
    private var abandoned = false

    var session: CPointer<tendon_fjorden_session> { block.pointer }
    var manager: tendon_fjorden_manager { _read { yield block.pointer.pointee.manager } }

    init(radio: RadioCore? = nil) {
        givenRadio = radio
        tendon_fjorden_profile_init(profile.pointer)
        var config = tendon_fjorden_session_config()
        config.link.context = context(of: self)
        config.link.connect = { object(GripCore.self, $0).connectLink() }
        config.link.disconnect = { object(GripCore.self, $0).ground?.disconnect() }
        config.link.pair = { object(GripCore.self, $0).pair() }
        config.link.bonded = { object(GripCore.self, $0).ground?.isBonded() ?? false }
        config.profile = UnsafePointer(profile.pointer)
        config.grips = table.pointer
        config.grip_capacity = table.capacity
        config.context = context(of: self)
        config.on_notice = { context, notice, _ in
            guard let notice else { return }
            object(GripCore.self, context).received(notice)
        }
        tendon_fjorden_session_init(block.pointer, &config)
    }

    // MARK: Calls

    private func give(_ input: tendon_fjorden_input) {
        var input = input
        _ = withPointer(to: &input) { tendon_fjorden_session_call(block.pointer, $0, tendon_now_ms()) }
        refresh()
    }

    private static func input(_ kind: tendon_fjorden_input_kind, ok: Bool = true) -> tendon_fjorden_input {
        var input = tendon_fjorden_input()
        input.kind = kind
        input.ok = ok
        return input
    }

    /// A call that is answered at once, or, where `later` is given, when it is through.
    @discardableResult
    func call(_ input: tendon_fjorden_input, later: ((CallResult) -> Void)? = nil) -> CallResult? {
        // What is over already is told to those who waited for it, not to this caller.
        if ground != nil { fjordenSessionInputs.pointer.pointee.tick(block.pointer, tendon_now_ms()) }
        (calling, answered) = (input.kind.rawValue, nil)
        give(input)
        let result = answered
        (calling, answered) = (nil, nil)
        if let later {
            if let result { later(result) } else { waiters[input.kind.rawValue] = later }
        }
        return result
    }

    @discardableResult
    func call(_ kind: tendon_fjorden_input_kind, ok: Bool = true, later: ((CallResult) -> Void)? = nil) -> CallResult? {
        call(GripCore.input(kind, ok: ok), later: later)
    }

    func configure(_ configuration: GripManager.Configuration) -> CallResult? {
        var c = tendon_fjorden_configuration()
        tendon_fjorden_configuration_init(&c)
        c.timeout_ms = UInt64(max(0, configuration.connectionTimeoutThreshold) * 1000)
        c.auto_reconnect = configuration.autoReconnect
        write(configuration.minimumFirmware?.description ?? "0", to: &c.minimum_firmware)
        if let identifier = configuration.persistentStorage.string(forKey: GripCore.identifierKey) {
            c.has_bond = true
            write(identifier, to: &c.bond.identifier)
            write(configuration.persistentStorage.string(forKey: GripCore.nameKey) ?? "", to: &c.bond.name)
        }
        let result = withPointer(to: &c) { c in
            var input = GripCore.input(TENDON_FJORDEN_CALL_CONFIGURE)
            input.configuration = c
            return call(input)
        }
        if case .success = result {
            self.configuration = configuration
            profile.pointer.pointee = configuration.profile.c
        }
        mirror()
        return result
    }

    static let identifierKey = "fjorden.bondedGrip.identifier"
    static let nameKey = "fjorden.bondedGrip.name"

    func start(_ mayAsk: Bool, later: @escaping (CallResult) -> Void) {
        switch manager.state {
        case TENDON_FJORDEN_UNINITIALIZED, TENDON_FJORDEN_UNAUTHORIZED, TENDON_FJORDEN_UNAVAILABLE:
            if configuration != nil { openGround() }
        default: break
        }
        call(TENDON_FJORDEN_CALL_START, ok: mayAsk, later: later)
    }

    func connect(_ grip: ConnectableGrip, later: @escaping (CallResult) -> Void) {
        var input = GripCore.input(TENDON_FJORDEN_CALL_CONNECT)
        var address = grip.id.c
        withPointer(to: &address) { address in
            withElements(of: &input.grip.identifier, CChar.self) {
                tendon_fjorden_identifier(address, $0.baseAddress)
            }
        }
        write(grip.name, to: &input.grip.name)
        input.grip.rssi = grip.rssi
        call(input, later: later)
    }

    /// Ends search and link without forgetting the grip.
    func disconnect() {
        tendon_fjorden_session_disconnect(block.pointer, tendon_now_ms())
        refresh()
    }

    func refresh() {
        ground?.refresh()
        keepAlive()
    }

    // MARK: The ground

    private func openGround() {
        guard let configuration else { return }
        closeGround()
        var permission = TENDON_FJORDEN_AUTHORIZATION_ALLOWED
        var isOn = true
        switch configuration.operationMode {
        case .simulator:
            let simulator = configuration.simulator ?? GripSimulator()
            shared.set { $0.simulator = simulator }
            let ground = AirGround(simulator, self)
            self.ground = ground
            (permission, isOn) = (ground.permission, ground.isOn)
        case .system:
            do throws(TendonError) {
                let radio: RadioCore
                if let givenRadio {
                    radio = givenRadio
                } else {
                    radio = try RadioCore.open(configuration.radio, bonds: configuration.bonds, loop: loop)
                }
                ground = RadioGround(radio, owns: givenRadio == nil, self)
            } catch {
                // Not permitted, or nothing that is switched on.
                let isDenied =
                    [TENDON_RADIO_ERROR_NO_CAP_NET_RAW, TENDON_RADIO_ERROR_NO_CAP_NET_ADMIN].contains(Int(error.status))
                    || (error.layer == .system && [1, 13].contains(error.code))
                if isDenied { permission = TENDON_FJORDEN_AUTHORIZATION_DENIED }
                isOn = isDenied
            }
        }
        setEnvironment(permission, isOn)
    }

    func setEnvironment(_ permission: tendon_fjorden_authorization, _ isOn: Bool) {
        tendon_fjorden_manager_set_environment(block.member(\.manager), permission, isOn)
    }

    private func closeGround() {
        ground?.close()
        ground = nil
    }

    /// The adapter was switched on or off, or is gone.
    func powerChanged(_ on: Bool) { give(GripCore.input(TENDON_FJORDEN_ON_POWER, ok: on)) }

    func permissionDecided(_ allowed: Bool) { give(GripCore.input(TENDON_FJORDEN_ON_PERMISSION, ok: allowed)) }

    func report(_ report: inout tendon_ad_report) {
        withPointer(to: &report) { _ = tendon_fjorden_session_report(block.pointer, $0, tendon_now_ms()) }
        refresh()
    }

    private func connectLink() -> tendon_status {
        ground?.connect() ?? Int32(TENDON_RADIO_ERROR_ADAPTER_DOWN)
    }

    private func pair() -> tendon_status {
        guard let prompt = configuration?.pairingPrompt else {
            return ground?.pair() ?? Int32(TENDON_RADIO_ERROR_ADAPTER_DOWN)
        }
        let grip = connectable(manager.grip)
        pairing?.cancel()
        pairing = Task { @TendonActor [weak self] in
            let isWanted = await prompt(grip)
            guard let self, !Task.isCancelled else { return }
            let status = isWanted ? self.ground?.pair() ?? -1 : Int32(TENDON_RADIO_ERROR_PAIRING_FAILED)
            if status < 0 {
                fjordenSessionInputs.pointer.pointee.paired(self.session, status, tendon_now_ms())
            }
            self.refresh()
        }
        return 0
    }

    /// Nobody can ask for anything any more: search and link end, and with them this object.
    func abandon() {
        guard !abandoned else { return }
        abandoned = true
        disconnect()
        keepAlive()
        if keptAlive == nil { finalise() }
    }

    /// The C core has pointers to us while the ground is not idle.
    private func keepAlive() {
        let isIdle = ground?.isIdle ?? true
        keptAlive = isIdle ? nil : self
    }

    func linkEnded() {
        keepAlive()
        if abandoned, keptAlive == nil { finalise() }
    }

    private func finalise() {
        closeGround()
        states.finish()
        lists.finish()
    }

    // MARK: Who listens

    /// From any thread: there at once on the loop, else before whatever the caller does there next.
    func run(_ body: @escaping @Sendable (GripCore) -> Void) {
        if loop.isCurrent { body(self) } else { loop.post { body(self) } }
    }

    func observeStates() -> GripSequence<GripManager.State> {
        let queue = EventQueue<GripManager.State>(loop, capacity: 64, policy: .dropOldest)
        run { core in
            core.states.add(queue)
            queue.onTermination { [weak core, unowned queue] in core?.states.remove(queue) }
        }
        return GripSequence(EventSequence(queue))
    }

    func observeStates(_ handler: @escaping @TendonActor (GripManager.State) -> Void) { states.add(handler) }

    func observeLists() -> GripSequence<[ConnectableGrip]> {
        let queue = EventQueue<[ConnectableGrip]>(loop, capacity: 64, policy: .dropOldest)
        lists.add(queue)
        queue.onTermination { [weak self, unowned queue] in self?.lists.remove(queue) }
        return GripSequence(EventSequence(queue))
    }

    func observeLists(_ handler: @escaping @TendonActor ([ConnectableGrip]) -> Void) { lists.add(handler) }

    func whenBatteryIsRead(_ body: @escaping (Result<BatteryInfo, FjordenError>) -> Void) {
        readings.battery.append(body)
        let status = tendon_fjorden_session_read_battery(block.pointer, tendon_now_ms())
        refresh()
        if status < 0 { readings.battery.answer(.failure(.gripUnableToReadBatteryInfo)) }
    }

    func whenInfoIsRead(_ body: @escaping (Result<GripInfo, FjordenError>) -> Void) {
        readings.info.append(body)
        let status = tendon_fjorden_session_read_info(block.pointer, tendon_now_ms())
        refresh()
        if status < 0 { readings.info.answer(.failure(.gripUnableToReadGripInfo)) }
    }

    func request(
        _ command: tendon_fjorden_command, _ body: @escaping (Result<GripResponse, GripCommandError>) -> Void
    ) {
        var command = command
        let status = withPointer(to: &command) {
            tendon_fjorden_session_request(block.pointer, $0, tendon_now_ms())
        }
        if status < 0 {
            body(.failure(.host(TendonError(status: status, operation: .write))))
        } else {
            readings.response = body
        }
        refresh()
    }

    var info: GripInfo {
        let info = block.pointer.pointee.info
        func one(_ index: tendon_fjorden_text) -> String? {
            let present = elements(info.present, of: Bool.self, Int(TENDON_FJORDEN_TEXT_COUNT.rawValue))
            let size = Int(TENDON_FJORDEN_TEXT_SIZE)
            guard present[Int(index.rawValue)] else { return nil }
            let all = elements(info.texts, of: UInt8.self, size * present.count)
            let bytes = all[(size * Int(index.rawValue))..<(size * (Int(index.rawValue) + 1))]
            return String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
        }
        return GripInfo(
            manufacturerName: one(TENDON_FJORDEN_TEXT_MANUFACTURER), modelNumber: one(TENDON_FJORDEN_TEXT_MODEL),
            hardwareVersion: one(TENDON_FJORDEN_TEXT_HARDWARE),
            firmware: one(TENDON_FJORDEN_TEXT_FIRMWARE).flatMap { FirmwareVersion(string: $0) },
            serialNumber: one(TENDON_FJORDEN_TEXT_SERIAL))
    }

    var hasInfo: Bool { block.pointer.pointee.has_info }
    var battery: BatteryInfo? {
        block.pointer.pointee.has_level ? BatteryInfo(level: Int(block.pointer.pointee.level)) : nil
    }

    // MARK: What the session says

    private func received(_ notice: CNotice) {
        switch notice.pointee.kind {
        case TENDON_FJORDEN_SESSION_EVENT_EVENT:
            guard let record = notice.pointee.record else { return }
            shared.connected?.take(GripRecord(record.pointee, isSynthesized: notice.pointee.synthesized))
        case TENDON_FJORDEN_SESSION_EVENT_OUTPUT:
            if let output = notice.pointee.output { perform(output.pointee) }
        case TENDON_FJORDEN_SESSION_EVENT_TARGET:
            if let grip = notice.pointee.output?.pointee.grip, let address = Address(text(in: grip.pointee.identifier))
            {
                ground?.setTarget(address)
            }
        case TENDON_FJORDEN_SESSION_EVENT_RESPONSE: responded(notice.pointee)
        case TENDON_FJORDEN_SESSION_EVENT_BATTERY:
            let level = BatteryInfo(level: Int(notice.pointee.level))
            readings.battery.answer(
                notice.pointee.status < 0 ? .failure(.gripUnableToReadBatteryInfo) : .success(level))
            if notice.pointee.status >= 0 { shared.connected?.take(level) }
        case TENDON_FJORDEN_SESSION_EVENT_INFO:
            readings.info.answer(notice.pointee.status < 0 ? .failure(.gripUnableToReadGripInfo) : .success(info))
        default: break
        }
    }

    private func responded(_ notice: tendon_fjorden_session_event) {
        guard let body = readings.response else { return }
        readings.response = nil
        if notice.status < 0 {
            body(.failure(.host(TendonError(status: notice.status, operation: .receive))))
        } else if let response = notice.response {
            let refusal = GripCommandError(response.pointee.status)
            body(refusal.map { .failure($0) } ?? .success(GripResponse(response.pointee)))
        }
    }

    /// From within the manager, which takes no calls now: whoever is told is told afterwards.
    private func perform(_ output: tendon_fjorden_output) {
        switch output.kind {
        case TENDON_FJORDEN_OUT_STATE: enter(output)
        case TENDON_FJORDEN_OUT_RESULT: ended(output)
        case TENDON_FJORDEN_OUT_ASK_PERMISSION:
            loop.post { [weak self] in
                guard let self, let ground = self.ground as? AirGround else { return }
                self.permissionDecided(ground.answer)
            }
        case TENDON_FJORDEN_OUT_SCAN_START: ground?.scan(true)
        case TENDON_FJORDEN_OUT_SCAN_STOP: ground?.scan(false)
        case TENDON_FJORDEN_OUT_GRIPS: lists.push(grips, loop)
        case TENDON_FJORDEN_OUT_STORE_BOND:
            guard let grip = output.grip?.pointee else { return }
            configuration?.persistentStorage.set(text(in: grip.identifier), forKey: GripCore.identifierKey)
            configuration?.persistentStorage.set(text(in: grip.name), forKey: GripCore.nameKey)
            mirror()
        case TENDON_FJORDEN_OUT_REMOVE_BOND:
            configuration?.persistentStorage.removeObject(forKey: GripCore.identifierKey)
            configuration?.persistentStorage.removeObject(forKey: GripCore.nameKey)
            if let grip = output.grip?.pointee, let address = Address(text(in: grip.identifier)) {
                loop.post { [weak self] in self?.ground?.forget(address) }
            }
            mirror()
        default: break
        }
    }

    private func connectable(_ grip: tendon_fjorden_grip) -> ConnectableGrip {
        let address = Address(text(in: grip.identifier)) ?? Address(0, kind: .anonymous)
        return ConnectableGrip(
            id: address, name: text(in: grip.name), rssi: grip.rssi, firmwareVersion: versions[address])
    }

    private var grips: [ConnectableGrip] { table.first(manager.grip_count).map(connectable) }

    private func enter(_ output: tendon_fjorden_output) {
        let before = shared.connected
        let grip = output.grip.map { connectable($0.pointee) }
        let state: GripManager.State
        switch output.state {
        case TENDON_FJORDEN_READY: state = .ready
        case TENDON_FJORDEN_SCANNING_FOR_GRIPS: state = .scanningForGrips
        case TENDON_FJORDEN_SCANNING_FOR_BONDED: state = .scanningForBondedGrip
        case TENDON_FJORDEN_CONNECTING: state = grip.map { .connecting($0) } ?? .ready
        case TENDON_FJORDEN_CONNECTED:
            guard let grip else { return }
            versions[grip.id] = info.firmware
            state = .connected(ConnectedGrip(self, grip, info.firmware))
        case TENDON_FJORDEN_UNAUTHORIZED: state = .unauthorized
        case TENDON_FJORDEN_UNAVAILABLE: state = .bluetoothUnavailable
        default: state = .uninitialized
        }
        shared.set { $0.state = state }
        mirror()
        states.push(state, loop)
        before?.end()
        if output.state != TENDON_FJORDEN_SCANNING_FOR_GRIPS { lists.finish() }
        if output.state != TENDON_FJORDEN_CONNECTING { pairing?.cancel() }
    }

    private func mirror() {
        let (has, name) = (manager.configuration.has_bond, text(in: manager.configuration.bond.name))
        shared.set {
            $0.isConfigured = manager.configured
            $0.bondedGripName = has ? name : nil
        }
    }

    private func ended(_ output: tendon_fjorden_output) {
        let result: CallResult = output.status < 0 ? .failure(FjordenError(output.status)) : .success(shared.state)
        if calling == output.call.rawValue {
            answered = result
        } else if let waiter = waiters.removeValue(forKey: output.call.rawValue) {
            waiter(result)
        }
    }
}
