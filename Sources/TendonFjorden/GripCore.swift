// SPDX-License-Identifier: MIT
import CTendon
import Tendon

typealias CallResult = Result<GripManager.State, FjordenError>

/// A session of the C core and who waits for what. All but `shared` and the feeds' consumers is for the loop's thread.
final class GripCore: Abandonable, @unchecked Sendable {
    // Used only on the loop's thread; the C core's pointers to it are valid while the transport is not idle.
    let loop = Loop.shared
    let block = CBlock<tendon_fjorden_session>()
    private let profile = CBlock<tendon_fjorden_profile>()
    private let table = CTable<tendon_fjorden_grip>(capacity: Int(TENDON_FJORDEN_GRIPS_MAX))
    let shared = GripShared()
    /// Kept by sequences.
    weak var lifetime: Lifetime<GripCore>?
    let states = Feed<GripManager.State>()
    let issues = Feed<GripManager.Issue>()
    let lists = Feed<[ConnectableGrip]>()
    private(set) var configuration: GripManager.Configuration?
    private(set) var transport: (any GripTransport)?
    /// The program's central: no other radio is opened.
    private let given: Central?
    /// The radio of the system mode, once it was needed.
    private(set) var holder: RadioHolder?
    private var waiters: [UInt32: (CallResult) -> Void] = [:]
    private var calling: UInt32?
    private var answered: CallResult?
    private var bonds: BondStore?
    private var storing: Task<Void, Never>?
    var readings = GripReadings()
    private var versions: [Address: FirmwareVersion] = [:]
    private var pairing: Task<Void, Never>?
    /// Calls that wait for the end of the link, which follows that of the session.
    private let ending = Waiters()
    /// The connected grip, or the grip that is being reconnected.
    private var current: ConnectedGrip?
    private var abandoned = false

    var session: CPointer<tendon_fjorden_session> { block.pointer }
    var manager: tendon_fjorden_manager { _read { yield block.pointer.pointee.manager } }

    /// - Parameter central: the program's; nil: a radio of its own.
    init(on central: Central? = nil) {
        given = central
        tendon_fjorden_profile_init(profile.pointer)
        var config = tendon_fjorden_session_config()
        config.link.context = context(of: self)
        config.link.connect = { object(GripCore.self, $0).connectLink() }
        config.link.disconnect = { object(GripCore.self, $0).transport?.disconnect() }
        config.link.pair = { object(GripCore.self, $0).pair() }
        config.link.bonded = { object(GripCore.self, $0).transport?.isBonded() ?? false }
        config.profile = UnsafePointer(profile.pointer)
        config.grips = table.pointer
        config.grip_capacity = table.capacity
        config.context = context(of: self)
        config.on_event = { context, notice, _ in
            guard let notice else { return }
            object(GripCore.self, context).received(notice)
        }
        tendon_fjorden_session_init(block.pointer, &config)
    }

    // MARK: Calls

    private func give(_ input: tendon_fjorden_input) {
        var input = input
        _ = withPointer(to: &input) { tendon_fjorden_session_input(block.pointer, $0, tendon_monotonic_ms()) }
        refresh()
    }

    private static func input(_ kind: tendon_fjorden_input_kind, ok: Bool = true) -> tendon_fjorden_input {
        var input = tendon_fjorden_input()
        input.kind = kind
        input.ok = ok
        return input
    }

    /// Calls the session. The result is returned in this call, or, if `later` is given, when the operation has ended.
    @discardableResult
    func call(_ input: tendon_fjorden_input, later: ((CallResult) -> Void)? = nil) -> CallResult? {
        // The results of earlier operations are reported to their callers, not to this one.
        if transport != nil { fjordenSessionInputs.pointer.pointee.tick(block.pointer, tendon_monotonic_ms()) }
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
        c.timeout_ms = milliseconds(configuration.connectionTimeoutThreshold)
        c.auto_reconnect = configuration.autoReconnect
        write(configuration.minimumFirmware?.description ?? "0", to: &c.minimum_firmware)
        let bonds = BondStore(configuration.persistentStorage)
        if let bond = bonds.bond {
            c.has_bond = true
            write(bond.identifier, to: &c.bond.identifier)
            write(bond.name, to: &c.bond.name)
        }
        let result = withPointer(to: &c) { c in
            var input = GripCore.input(TENDON_FJORDEN_CALL_CONFIGURE)
            input.configuration = c
            return call(input)
        }
        if case .success = result {
            self.configuration = configuration
            self.bonds = bonds
            profile.pointer.pointee = configuration.profile.c
        }
        mirror()
        return result
    }

    /// Whether there is no working transport.
    private var isStopped: Bool {
        switch manager.state {
        case TENDON_FJORDEN_UNINITIALIZED, TENDON_FJORDEN_UNAUTHORIZED, TENDON_FJORDEN_UNAVAILABLE: true
        default: false
        }
    }

    func start(_ mayAsk: Bool, later: @escaping (CallResult) -> Void) {
        if isStopped, configuration != nil { openTransport() }
        call(TENDON_FJORDEN_CALL_START, ok: mayAsk, later: later)
    }

    /// Bond and keys are removed together, then the manager reports it; if one of them stays, nothing has changed.
    func forget() throws(FjordenError) {
        if let bonds, manager.configuration.has_bond {
            // Without a radio the keys cannot be removed.
            if isStopped, !openTransport() { throw .invalidManagerState }
            let address = Address(text(in: manager.configuration.bond.identifier))
            let bond = bonds.bond
            guard bonds.remove() else {
                report(.bondNotRemoved(nil))
                throw .unknown
            }
            do throws(TendonError) {
                if let address { try transport?.forget(address) }
            } catch {
                if let bond { keep(bond) }
                report(.bondNotRemoved(error))
                throw .unknown
            }
        }
        if case .failure(let error) = call(TENDON_FJORDEN_CALL_FORGET) { throw error }
    }

    private func keep(_ bond: BondStore.Bond) {
        guard let bonds else { return }
        let stored = bonds.store(bond)
        storing = Task(executorPreference: LoopPreference.shared) { [weak self] in
            if await !stored.value { await self?.report(.bondNotStored) }
        }
    }

    /// Calls `body` when the bond of a connection was stored, or could not be stored.
    func whenBondIsStored(_ body: @escaping @Sendable () -> Void) {
        guard let storing else { return body() }
        Task(executorPreference: LoopPreference.shared) {
            await storing.value
            await TendonActor.run { body() }
        }
    }

    func report(_ issue: GripManager.Issue) {
        shared.set { $0.issue = issue }
        issues.pushSoon(issue)
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

    /// Ends search and connection; keeps the bond.
    func disconnect() {
        tendon_fjorden_session_disconnect(block.pointer, tendon_monotonic_ms())
        refresh()
    }

    func linkEnded() {
        ending.finish(.success(()))
    }

    /// Waits until there is no link, or until the task is cancelled.
    func linkEnds(isolation: isolated (any Actor)? = #isolation) async {
        if let transport, !transport.isIdle { try? await ending.wait(on: loop) }
    }

    func refresh() { transport?.refresh() }

    // MARK: The transport

    /// Opens the transport. Returns false if it is not permitted or powered off.
    @discardableResult
    private func openTransport() -> Bool {
        guard let configuration else { return false }
        closeTransport()
        var permission = TENDON_FJORDEN_AUTHORIZATION_ALLOWED
        var isOn = true
        switch configuration.operationMode {
        case .simulator:
            let simulator = configuration.simulator ?? GripSimulator()
            shared.set { $0.simulator = simulator }
            let transport = MemoryTransport(simulator, self)
            self.transport = transport
            (permission, isOn) = (transport.permission, transport.isOn)
        case .system:
            do throws(TendonError) {
                transport = try RadioTransport(heldRadio(configuration), self)
            } catch {
                if error.isPermission { permission = TENDON_FJORDEN_AUTHORIZATION_DENIED }
                isOn = error.isPermission
                report(.bluetooth(error))
            }
        }
        setEnvironment(permission, isOn)
        return permission == TENDON_FJORDEN_AUTHORIZATION_ALLOWED && isOn
    }

    private func heldRadio(_ configuration: GripManager.Configuration) -> RadioHolder {
        if let holder { return holder }
        let made =
            given.map { RadioHolder($0.core, keeping: $0) }
            ?? RadioHolder({ configuration.radio }, bonds: { configuration.bonds }, loop: loop)
        made.onFailure = { [unowned self] error in failed(error) }
        holder = made
        return made
    }

    private func setEnvironment(_ permission: tendon_fjorden_authorization, _ isOn: Bool) {
        tendon_fjorden_manager_set_environment(block.member(\.manager), permission, isOn)
    }

    private func closeTransport() {
        transport?.close()
        transport = nil
    }

    /// The adapter was powered on or off, or was removed.
    func powerChanged(_ on: Bool) { give(GripCore.input(TENDON_FJORDEN_ON_POWER, ok: on)) }

    /// The radio failed.
    func failed(_ error: TendonError) {
        report(.bluetooth(error))
        powerChanged(false)
    }

    func permissionDecided(_ allowed: Bool) { give(GripCore.input(TENDON_FJORDEN_ON_PERMISSION, ok: allowed)) }

    func advertised(_ report: CReport, _ now: UInt64) {
        tendon_fjorden_session_on_advertisement(block.pointer, report, now)
        refresh()
    }

    private func connectLink() -> tendon_status {
        let status = transport?.connect() ?? Int32(TENDON_RADIO_ERROR_ADAPTER_DOWN)
        if status < 0 { report(.bluetooth(TendonError(status: status, operation: .connect))) }
        return status
    }

    private func pair() -> tendon_status {
        guard let prompt = configuration?.pairingPrompt else {
            return transport?.pair() ?? Int32(TENDON_RADIO_ERROR_ADAPTER_DOWN)
        }
        let grip = connectable(manager.grip)
        pairing?.cancel()
        pairing = Task { @TendonActor [weak self] in
            let isWanted = await prompt(grip)
            guard let self, !Task.isCancelled else { return }
            let status = isWanted ? self.transport?.pair() ?? -1 : Int32(TENDON_RADIO_ERROR_PAIRING_FAILED)
            if status < 0 {
                fjordenSessionInputs.pointer.pointee.paired(self.session, status, tendon_monotonic_ms())
            }
            self.refresh()
        }
        return 0
    }

    /// The last reference was released: search and connection end, and with them this object.
    func abandon() {
        guard !abandoned else { return }
        abandoned = true
        disconnect()
        pairing?.cancel()
        closeTransport()
        states.close()
        issues.close()
        lists.close()
        holder?.close()
    }

    // MARK: Events of the session

    private func received(_ notice: CNotice) {
        switch notice.pointee.kind {
        case TENDON_FJORDEN_SESSION_EVENT_EVENT:
            guard let record = notice.pointee.record else { return }
            let times = SampleTimes(receivedAt: notice.pointee.received_at)
            shared.connected?.events.take(
                GripRecord(record.pointee, isSynthesized: notice.pointee.synthesized, times: times))
        case TENDON_FJORDEN_SESSION_EVENT_OUTPUT:
            if let output = notice.pointee.output { perform(output.pointee) }
        case TENDON_FJORDEN_SESSION_EVENT_TARGET:
            if let grip = notice.pointee.output?.pointee.grip, let address = Address(text(in: grip.pointee.identifier))
            {
                transport?.setTarget(address)
            }
        case TENDON_FJORDEN_SESSION_EVENT_RESPONSE: responded(notice.pointee)
        case TENDON_FJORDEN_SESSION_EVENT_BATTERY:
            let level = BatteryInfo(level: Int(notice.pointee.level))
            readings.battery.answer(
                notice.pointee.status < 0 ? .failure(.gripUnableToReadBatteryInfo) : .success(level))
            if notice.pointee.status >= 0 { shared.connected?.events.take(level) }
        case TENDON_FJORDEN_SESSION_EVENT_INFO:
            readings.info.answer(notice.pointee.status < 0 ? .failure(.gripUnableToReadGripInfo) : .success(info))
        case TENDON_FJORDEN_SESSION_EVENT_PAIRING:
            if notice.pointee.status < 0 {
                report(.pairing(TendonError(status: notice.pointee.status, operation: .pair)))
            }
        default: break
        }
    }

    /// Called from within the manager, whose functions must not be called now: subscribers are notified afterwards.
    private func perform(_ output: tendon_fjorden_output) {
        switch output.kind {
        case TENDON_FJORDEN_OUT_STATE: enter(output)
        case TENDON_FJORDEN_OUT_RESULT: ended(output)
        case TENDON_FJORDEN_OUT_REQUEST_PERMISSION:
            loop.post { [weak self] in
                guard let self, let transport = self.transport as? MemoryTransport else { return }
                self.permissionDecided(transport.answer)
            }
        case TENDON_FJORDEN_OUT_SCAN_START: transport?.scan(true)
        case TENDON_FJORDEN_OUT_SCAN_STOP: transport?.scan(false)
        case TENDON_FJORDEN_OUT_GRIPS: if !lists.isEmpty { lists.pushSoon(grips) }
        case TENDON_FJORDEN_OUT_STORE_BOND:
            guard let grip = output.grip?.pointee else { return }
            keep(BondStore.Bond(identifier: text(in: grip.identifier), name: text(in: grip.name)))
            mirror()
        case TENDON_FJORDEN_OUT_REMOVE_BOND: mirror()  // it is removed already, see forget()
        default: break
        }
    }

    private func connectable(_ grip: tendon_fjorden_grip) -> ConnectableGrip {
        let address = Address(text(in: grip.identifier)) ?? Address(0, type: .anonymous)
        return ConnectableGrip(
            id: address, name: text(in: grip.name), rssi: grip.rssi, firmwareVersion: versions[address])
    }

    private var grips: [ConnectableGrip] { table.first(manager.grip_count).map(connectable) }

    private func enter(_ output: tendon_fjorden_output) {
        let before = shared.state
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
            let events = current.flatMap { $0.id == grip.id ? $0.events : nil } ?? GripEvents(loop)
            let connected = ConnectedGrip(self, grip, info.firmware, events)
            current = connected
            state = .connected(connected)
        case TENDON_FJORDEN_UNAUTHORIZED: state = .unauthorized
        case TENDON_FJORDEN_UNAVAILABLE: state = .bluetoothUnavailable
        default: state = .uninitialized
        }
        shared.set { $0.state = state }
        mirror()
        if state != before { states.pushSoon(state) }
        if case .connected = state {} else { endEvents() }
        if output.state != TENDON_FJORDEN_SCANNING_FOR_GRIPS { lists.finish(handlersToo: true) }
        if output.state != TENDON_FJORDEN_CONNECTING { pairing?.cancel() }
    }

    /// The grip is not connected: its subscriptions are paused for an automatic reconnection, or end.
    private func endEvents() {
        if manager.reconnecting {
            current?.events.pause()
        } else {
            current?.events.end()
            current = nil
        }
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

/// Infinity and larger values become the maximum of the C core.
private func milliseconds(_ seconds: Double) -> UInt64 {
    let limit = Double(1 << 52)
    return seconds > 0 ? UInt64(min(seconds * 1000, limit)) : 0
}
