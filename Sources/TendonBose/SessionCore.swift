// SPDX-License-Identifier: MIT
import CTendon
import Synchronization
import Tendon

/// A Bose session of the C core, its connection and its consumers. For the loop's thread.
final class SessionCore: Abandonable, @unchecked Sendable {
    // Used only on the loop's thread.
    let radio: RadioCore
    let address: Address
    private let block = CBlock<tendon_bose_session>()
    private lazy var link = SessionLink(
        radio, to: address, pairing: script.map { .service($0.service) } ?? (pairs ? .radio : .none), owner: self)
    private let checker: FirmwareChecker?
    private let pairs: Bool
    private let script: PairingScript?
    private var isAbandoned = false
    /// Of a simulated session that opens by itself: its configurations until it is open.
    var draft: ConfigurationDraft? { didSet { readsDevice.store(draft != nil || c.has_device, ordering: .relaxed) } }
    /// It opens as soon as its simulated device advertises.
    var isWaitingForSimulation = false

    weak var session: WearableDeviceSession?
    /// Replaces the pairing delegate if there is none.
    var pairingHandler: PairingHandler?
    private var prompting: PairingHandler?
    let events = Feed<WearableDeviceEvent>()
    let sessionEvents = Feed<WearableDeviceSessionEvent>()
    let samples = Feed<SensorValue>()
    let gestures = Feed<GestureData>()
    let sensors = SensorFeeds()
    private let readsDevice = Atomic<Bool>(false)
    /// Whether there is something to know of the device; from any thread.
    var hasDevice: Bool { readsDevice.load(ordering: .relaxed) }
    /// Samples of the notification that is being delivered, and of those before it. Their memory is used again, in turn:
    /// no heap call for consumers that keep a notification for less than `rotation` others.
    private var notifications = [[SensorValue]](repeating: [], count: SessionCore.rotation)
    private var current = 0
    private static let rotation = 64
    private var collects = false
    private var sensorWrites = ConfigurationWrites()
    private var gestureWrites = ConfigurationWrites()

    var loop: Loop { radio.loop }
    /// The readable state of the C core's session.
    var c: tendon_bose_session { _read { yield block.pointer.pointee } }
    var counters: tendon_bose_counters { block.pointer.pointee.counters }
    var state: tendon_bose_state { block.pointer.pointee.state }

    init(
        radio: RadioCore, address: Address, isOldFirmware: Bool, intent: tendon_bose_intent?,
        checker: FirmwareChecker?, pairing: PairingService
    ) {
        self.radio = radio
        self.address = address
        self.checker = checker
        pairs = pairing == .radio
        script = PairingScript(pairing, radio.loop)
        var config = tendon_bose_session_config()
        config.link = link.c
        config.context = context(of: self)
        config.on_event = { context, event, _ in
            guard let event else { return }
            object(SessionCore.self, context).received(event)
        }
        config.old_firmware = isOldFirmware
        if checker != nil {
            config.firmware.context = context(of: self)
            config.firmware.check = { context, product, installed, length in
                object(SessionCore.self, context).judge(product, text(installed, length))
            }
        }
        setUp(config, intent)
        link.attach(boseSessionInputs, block)
    }

    private func setUp(_ config: tendon_bose_session_config, _ intent: tendon_bose_intent?) {
        var config = config
        guard var intent else {
            tendon_bose_session_init(block.pointer, &config)
            return
        }
        withPointer(to: &intent) {
            config.intent = $0
            tendon_bose_session_init(block.pointer, &config)
        }
    }

    private func judge(_ product: UInt16, _ installed: String) -> tendon_bose_firmware {
        tendon_bose_firmware(rawValue: (checker?(product, installed) ?? .unknown).rawValue)
    }

    // MARK: Opening and closing

    func open(hasPairingDelegate: Bool) {
        block.pointer.pointee.config.pairing_delegate = hasPairingDelegate || pairingHandler != nil
        let status = tendon_bose_session_open(block.pointer, tendon_monotonic_ms())
        link.refresh()
        if status < 0 { emit(.didFailToOpen(BoseWearableError(status, .connect))) }
    }

    /// The simulated device advertises, or could not be started.
    func simulationStarted(_ error: BoseWearableError?) {
        guard isWaitingForSimulation else { return }
        isWaitingForSimulation = false
        if let error { return failedToStart(error) }
        TendonActor.assumeIsolated { open(hasPairingDelegate: session?.pairingDelegate != nil) }
    }

    private func failedToStart(_ error: BoseWearableError) {
        draft = nil
        emit(.didFailToOpen(error))
    }

    func close() {
        if isWaitingForSimulation {
            isWaitingForSimulation = false
            return failedToStart(.cancelled)
        }
        tendon_bose_session_close(block.pointer, tendon_monotonic_ms())
        link.refresh()
    }

    /// Nothing uses the session any more: it is closed, then its connection.
    func abandon() {
        isAbandoned = true
        isWaitingForSimulation = false
        if state != TENDON_BOSE_CLOSED {
            close()
        } else {
            abandonLink()
        }
        events.close()
        samples.close()
        sensors.close()
        gestures.close()
        sessionEvents.close()
    }

    private func abandonLink() {
        link.abandon { [script] in script?.remove() }
    }

    /// The C core is in a callback of the connection.
    private func ended() {
        if isAbandoned { loop.post { [self] in abandonLink() } }
    }

    // MARK: Asking the device

    /// Writes a configuration; of a simulated session that is not open yet, when it is.
    func change(_ configuration: SensorConfiguration) {
        if draft == nil { configure(configuration) } else { draft?.changeSensors { $0 = configuration } }
    }

    func change(_ configuration: GestureConfiguration) {
        if draft == nil { configure(configuration) } else { draft?.changeGestures { $0 = configuration } }
    }

    private func writeDraft() {
        guard let draft else { return }
        self.draft = nil
        if draft.hasSensors { configure(draft.sensors) }
        if draft.hasGestures { configure(draft.gestures) }
    }

    /// The result is the configuration's number, or why there will be no outcome, which is an event as well.
    @discardableResult
    func configure(_ configuration: SensorConfiguration) -> Result<UInt16, BoseWearableError> {
        var c = configuration.c
        let status = tendon_bose_session_configure_sensors(block.pointer, &c, tendon_monotonic_ms())
        return accepted(status) { .didFailToWriteSensorConfiguration($0) }
    }

    @discardableResult
    func configure(_ configuration: GestureConfiguration) -> Result<UInt16, BoseWearableError> {
        var c = configuration.c
        let status = tendon_bose_session_configure_gestures(block.pointer, &c, tendon_monotonic_ms())
        return accepted(status) { .didFailToWriteGestureConfiguration($0) }
    }

    private func accepted(
        _ status: tendon_status, _ event: (BoseWearableError) -> WearableDeviceEvent
    ) -> Result<UInt16, BoseWearableError> {
        let number = block.pointer.pointee.configurations
        link.refresh()
        guard status < 0 else { return .success(number) }
        let error = BoseWearableError(status, .write)
        emit(event(error))
        return .failure(error)
    }

    /// Waits for the outcome of a configuration: of its own write, or of the later one that replaced it.
    func outcome(
        isolation: isolated (any Actor)? = #isolation, ofSensors isOfSensors: Bool,
        _ configuration: Result<UInt16, BoseWearableError>
    ) async throws(BoseWearableError) {
        let outcome = Pending<Void, BoseWearableError>(loop)
        let number = try configuration.get()
        if isOfSensors { sensorWrites.add(number, outcome) } else { gestureWrites.add(number, outcome) }
        defer { if isOfSensors { sensorWrites.remove(outcome) } else { gestureWrites.remove(outcome) } }
        try await outcome.value()
    }

    private func written(_ event: tendon_bose_event) {
        let result: Result<Void, BoseWearableError> =
            event.status < 0 ? .failure(BoseWearableError(event.status, .write)) : .success(())
        switch event.kind {
        case TENDON_BOSE_EVENT_SENSOR_CONFIGURATION_WRITTEN, TENDON_BOSE_EVENT_SENSOR_CONFIGURATION_FAILED:
            sensorWrites.decided(event.configuration, result)
        default: gestureWrites.decided(event.configuration, result)
        }
    }

    func refresh(_ which: tendon_bose_characteristic) throws(BoseWearableError) {
        let status = tendon_bose_session_refresh(block.pointer, which, tendon_monotonic_ms())
        link.refresh()
        if status < 0 { throw BoseWearableError(status, .read) }
    }

    func refreshStrings() throws(BoseWearableError) {
        let status = tendon_bose_session_refresh_strings(block.pointer, tendon_monotonic_ms())
        link.refresh()
        if status < 0 { throw BoseWearableError(status, .read) }
    }

    func validate(_ sensor: SensorIntent?, _ gesture: GestureIntent?) throws(IntentsCheckFailed) -> IntentsWarnings {
        var out = tendon_bose_intent_check()
        if var intent = tendon_bose_intent(sensor, gesture) {
            let status = tendon_bose_check_intent(
                &intent, block.member(\.device), block.member(\.sensors), block.member(\.gestures), &out)
            guard status >= 0 else { throw IntentsCheckFailed(out) }
        }
        return IntentsWarnings(tooManySensors: out.too_many_sensors, overPayload: out.over_payload)
    }

    // MARK: Events

    private func received(_ event: CEvent) {
        switch event.pointee.kind {
        case TENDON_BOSE_EVENT_SAMPLE: sample(event.pointee)
        case TENDON_BOSE_EVENT_SENSOR_DATA:
            notifications[current].removeAll(keepingCapacity: true)  // of a notification that did not end
            collects =
                !events.isEmpty || DispatchTable.shared.wantsData || LogSwitches.shared.isOn(.sensorData)
        case TENDON_BOSE_EVENT_SENSOR_DATA_END: endNotification()
        case TENDON_BOSE_EVENT_GESTURE: gesture(event.pointee)
        default: stateChange(event.pointee)
        }
    }

    private func sample(_ event: tendon_bose_event) {
        guard
            let value = SensorValue(event.sample.pointee, deviceTime: event.device_ms, times: SampleTimes(event))
        else { return }
        samples.push(value)
        sensors.push(value)
        if collects {
            notifications[current].append(value)
        } else {
            DispatchTable.shared.deliver(value)
        }
    }

    /// The whole notification, then its samples one by one.
    private func endNotification() {
        guard collects else { return }
        collects = false
        let all = SensorData(values: notifications[current])
        defer {
            current = (current + 1) % Self.rotation
            notifications[current].removeAll(keepingCapacity: true)
        }
        DispatchTable.shared.deliver(all)
        for value in all.values { DispatchTable.shared.deliver(value) }
        LogSwitches.shared.write(.sensorData, "\(address): \(all.debugDescription)")
        events.push(.didReceiveSensorData(all))
    }

    private func gesture(_ event: tendon_bose_event) {
        let data = GestureData(
            GestureType(id: event.gesture.gesture_id), event.gesture.timestamp, deviceTime: event.device_ms,
            times: SampleTimes(event))
        gestures.push(data)
        DispatchTable.shared.deliver(data)
        emit(.didReceiveGestureData(data))
    }

    private func emit(_ event: WearableDeviceEvent) {
        LogSwitches.shared.write(event.category, "\(address): \(event)")
        events.push(event)
    }

    /// An attempt that could not even start.
    func fail(_ event: WearableDeviceEvent) { emit(event) }

    private func emit(_ event: WearableDeviceSessionEvent) {
        TendonActor.assumeIsolated { session?.deliver(event) }
        sessionEvents.push(event)
    }

    private func prompt() {
        emit(.requiresPairingMode)
        guard TendonActor.assumeIsolated({ session?.pairingDelegate == nil }) else { return }
        prompting = pairingHandler
        prompting?(.begin(address))
    }

    private func pairingFinished(_ error: BoseWearableError?) {
        let hasDelegate = TendonActor.assumeIsolated { session?.pairingDelegate != nil }
        let handler = prompting ?? (hasDelegate ? nil : pairingHandler)
        prompting = nil
        handler?(.end(address, error))
        emit(.finishedPairing(error))
    }

    private func stateChange(_ event: tendon_bose_event) {
        if event.configuration > 0 { written(event) }
        if c.has_device { readsDevice.store(true, ordering: .relaxed) }
        switch event.kind {
        case TENDON_BOSE_EVENT_OPENED:
            emit(.didOpen)
            if draft != nil { loop.post { [weak self] in self?.writeDraft() } }
        case TENDON_BOSE_EVENT_OPEN_FAILED:
            ended()
            draft = nil
            emit(.didFailToOpen(BoseWearableError(event, .connect)))
        case TENDON_BOSE_EVENT_CLOSED: didClose(event.status)
        case TENDON_BOSE_EVENT_REQUIRES_PAIRING_MODE: prompt()
        case TENDON_BOSE_EVENT_PAIRING_STARTED: emit(.startedPairing)
        case TENDON_BOSE_EVENT_PAIRING_FINISHED:
            pairingFinished(event.status < 0 ? BoseWearableError(event.status, .pair) : nil)
        case TENDON_BOSE_EVENT_DEVICE_STRINGS: emit(.didUpdateDeviceInformation(DeviceInformation(c.strings)))
        case TENDON_BOSE_EVENT_DEVICE_INFORMATION:
            emit(.didUpdateWearableDeviceInformation(WearableDeviceInformation(c.device)))
        case TENDON_BOSE_EVENT_SENSOR_INFORMATION: emit(.didUpdateSensorInformation(SensorInformation(c.sensors)))
        case TENDON_BOSE_EVENT_SENSOR_CONFIGURATION:
            if let configuration = sensorConfiguration { emit(.didUpdateSensorConfiguration(configuration)) }
        case TENDON_BOSE_EVENT_SENSOR_CONFIGURATION_WRITTEN: emit(.didWriteSensorConfiguration)
        case TENDON_BOSE_EVENT_SENSOR_CONFIGURATION_FAILED:
            emit(.didFailToWriteSensorConfiguration(BoseWearableError(event.status, .write)))
        case TENDON_BOSE_EVENT_GESTURE_INFORMATION: emit(.didUpdateGestureInformation(GestureInformation(c.gestures)))
        case TENDON_BOSE_EVENT_GESTURE_CONFIGURATION:
            emit(.didUpdateGestureConfiguration(GestureConfiguration(c.gesture_configuration)))
        case TENDON_BOSE_EVENT_GESTURE_CONFIGURATION_WRITTEN: emit(.didWriteGestureConfiguration)
        case TENDON_BOSE_EVENT_GESTURE_CONFIGURATION_FAILED:
            emit(.didFailToWriteGestureConfiguration(BoseWearableError(event.status, .write)))
        case TENDON_BOSE_EVENT_SUSPENDED: emit(.didSuspendWearableSensorService(SuspensionReason(event.reason)))
        case TENDON_BOSE_EVENT_RESUMED: emit(.didResumeWearableSensorService)
        case TENDON_BOSE_EVENT_MALFORMED: emit(.didRejectValue(BoseWearableError(event.status, .parse)))
        default: break
        }
    }

    private func didClose(_ status: tendon_status) {
        ended()
        let error = status < 0 ? TendonError(status: status, operation: .receive) : nil
        events.finish(error)
        samples.finish(error)
        sensors.finish(error)
        gestures.finish(error)
        emit(.didClose(status < 0 ? BoseWearableError(status, .receive) : nil))
    }

    var sensorConfiguration: SensorConfiguration? {
        guard c.has_sensor_configuration else { return draft?.sensors }
        return SensorConfiguration(c.sensor_configuration, c.has_sensors ? SensorInformation(c.sensors) : nil)
    }

    var gestureConfiguration: GestureConfiguration? {
        guard c.has_gesture_configuration else { return draft?.gestures }
        return GestureConfiguration(c.gesture_configuration)
    }
}

/// Tasks that wait for the outcome of configurations of one kind. For the loop's thread.
struct ConfigurationWrites {
    typealias Outcome = Pending<Void, BoseWearableError>

    private var waiting: [(number: UInt16, outcome: Outcome)] = []
    /// The latest: it may be known before the call that started the write returns.
    private var latest: (number: UInt16, result: Result<Void, BoseWearableError>)?

    mutating func add(_ number: UInt16, _ outcome: Outcome) {
        if let latest, Self.isOutcome(latest.number, of: number) { return outcome.finish(latest.result) }
        waiting.append((number, outcome))
    }

    mutating func remove(_ outcome: Outcome) { waiting.removeAll { $0.outcome === outcome } }

    /// Of the configuration with this number, and of earlier ones that it replaced.
    mutating func decided(_ number: UInt16, _ result: Result<Void, BoseWearableError>) {
        guard number != 0 else { return }  // a read that failed is the outcome of no write
        latest = (number, result)
        for write in waiting where Self.isOutcome(number, of: write.number) { write.outcome.finish(result) }
    }

    /// Numbers begin again after 65535.
    private static func isOutcome(_ decided: UInt16, of number: UInt16) -> Bool {
        Int16(bitPattern: decided &- number) >= 0
    }
}

extension SampleTimes {
    fileprivate init(_ event: tendon_bose_event) {
        self.init(receivedAt: event.received_at, sampledAt: event.sampled_at, errorMicroseconds: event.error_us)
    }
}
