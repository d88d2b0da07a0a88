// SPDX-License-Identifier: MIT
import CTendon
import Tendon

/// A connection and a Bose session of the C core, and who listens. All of it is for the loop's thread.
final class SessionCore: @unchecked Sendable {
    // Touched on the loop's thread alone; the C core's pointers to it are valid until `closed`, see `abandon()`.
    let radio: RadioCore
    let address: Address
    private let connection = CBlock<tendon_connection>()
    private let block = CBlock<tendon_bose_session>()
    private let checker: FirmwareChecker?
    private let pairing: PairingScript?
    private var keptAlive: SessionCore?
    private var abandoned = false
    private var hasIntent = false

    weak var session: WearableDeviceSession?
    /// Takes the part of the pairing delegate where there is none.
    var pairingHandler: PairingHandler?
    private var listeners: [Int: (WearableDeviceEvent) -> Void] = [:]
    private var nextListener = 0
    private var samples: [EventQueue<SensorValue>] = []
    private var gestures: [EventQueue<GestureData>] = []
    private var deviceEvents: [EventQueue<WearableDeviceEvent>] = []
    private var sessionEvents: [EventQueue<WearableDeviceSessionEvent>] = []

    var loop: Loop { radio.loop }
    /// What may be read of the C core's session.
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
        self.pairing = PairingScript(pairing, radio.loop)
        radio.retain()
        var peer = address.c
        var callbacks = tendon_connection_callbacks()
        callbacks.context = context(of: self)
        callbacks.closed = { context, _, _ in object(SessionCore.self, context).closed() }
        tendon_connection_init(
            connection.pointer, radio.radio, &peer,
            self.pairing?.service ?? (pairing == .radio ? radio.pairing : nil), &callbacks)
        var config = tendon_bose_session_config()
        config.link = tendon_connection_session_link(connection.pointer)
        config.context = context(of: self)
        config.on_event = { context, event, now in
            guard let event else { return }
            object(SessionCore.self, context).received(event, now)
        }
        config.old_firmware = isOldFirmware
        if checker != nil {
            config.firmware.context = context(of: self)
            config.firmware.check = { context, product, installed, length in
                object(SessionCore.self, context).judge(product, text(installed, length))
            }
        }
        setUp(&config, intent)
        tendon_connection_attach(connection.pointer, boseSessionInputs.pointer, block.pointer)
    }

    private func setUp(_ config: inout tendon_bose_session_config, _ intent: tendon_bose_intent?) {
        guard var intent else {
            tendon_bose_session_init(block.pointer, &config)
            return
        }
        withPointer(to: &intent) {
            config.intent = $0
            tendon_bose_session_init(block.pointer, &config)
        }
        config.intent = nil
    }

    private func judge(_ product: UInt16, _ installed: String) -> tendon_bose_firmware {
        tendon_bose_firmware(rawValue: (checker?(product, installed) ?? .unknown).rawValue)
    }

    // MARK: Opening and closing

    func open(hasPairingDelegate: Bool) {
        block.pointer.pointee.config.pairing_delegate = hasPairingDelegate || pairingHandler != nil
        let status = tendon_bose_session_open(block.pointer, tendon_now_ms())
        refresh()
        keepAlive()
        if status < 0 { emit(.didFailToOpen(BoseWearableError(status, .connect))) }
    }

    func close() {
        tendon_bose_session_close(block.pointer, tendon_now_ms())
        refresh()
    }

    /// Nobody can ask for anything any more: the link ends, and with it this object.
    func abandon() {
        guard !abandoned else { return }
        abandoned = true
        if state != TENDON_BOSE_CLOSED { close() }
        if keptAlive == nil { finalise() }
    }

    private func closed() {
        keepAlive()
        if abandoned && keptAlive == nil { finalise() }
    }

    /// The C core has pointers to us while the connection is not idle. A delegate that is told of the end may have
    /// opened again before the connection says `closed`.
    private func keepAlive() {
        keptAlive = connection.pointer.pointee.state == UInt8(TENDON_CONNECTION_IDLE.rawValue) ? nil : self
    }

    private func finalise() {
        tendon_loop_remove(loop.core.block.pointer, connection.member(\.timer))
        finishDevice(nil)
        for queue in sessionEvents { queue.finish() }
        sessionEvents.removeAll()
        listeners.removeAll()
        pairing?.remove()
        radio.release()
    }

    private func refresh() {
        tendon_connection_refresh(connection.pointer)
    }

    // MARK: Asking the device

    func configure(_ configuration: SensorConfiguration) {
        var c = configuration.c
        let status = tendon_bose_session_configure_sensors(block.pointer, &c, tendon_now_ms())
        refresh()
        if status < 0 { emit(.didFailToWriteSensorConfiguration(BoseWearableError(status, .write))) }
    }

    func configure(_ configuration: GestureConfiguration) {
        var c = configuration.c
        let status = tendon_bose_session_configure_gestures(block.pointer, &c, tendon_now_ms())
        refresh()
        if status < 0 { emit(.didFailToWriteGestureConfiguration(BoseWearableError(status, .write))) }
    }

    func refresh(_ which: tendon_bose_characteristic) throws(BoseWearableError) {
        let status = tendon_bose_session_refresh(block.pointer, which, tendon_now_ms())
        refresh()
        if status < 0 { throw BoseWearableError(status, .read) }
    }

    func refreshStrings() throws(BoseWearableError) {
        let status = tendon_bose_session_refresh_strings(block.pointer, tendon_now_ms())
        refresh()
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

    // MARK: Who listens

    func listen(_ body: @escaping (WearableDeviceEvent) -> Void) -> ListenerToken {
        nextListener += 1
        let number = nextListener
        listeners[number] = body
        return ListenerToken { [loop] in
            loop.post { [weak self] in self?.listeners[number] = nil }
        }
    }

    private func queue<Element>(
        _ list: ReferenceWritableKeyPath<SessionCore, [EventQueue<Element>]>, _ capacity: Int, _ policy: OverflowPolicy,
        _ lifetime: SessionLifetime
    ) -> EventSequence<Element> {
        let queue = EventQueue<Element>(loop, capacity: capacity, policy: policy)
        self[keyPath: list].append(queue)
        queue.onTermination { [unowned queue] in
            lifetime.core[keyPath: list].removeAll { $0 === queue }
        }
        return EventSequence(queue)
    }

    func observeSamples(
        _ capacity: Int, _ policy: OverflowPolicy, _ lifetime: SessionLifetime
    ) -> EventSequence<SensorValue> {
        queue(\.samples, capacity, policy, lifetime)
    }

    func observeGestures(
        _ capacity: Int, _ policy: OverflowPolicy, _ lifetime: SessionLifetime
    ) -> EventSequence<GestureData> {
        queue(\.gestures, capacity, policy, lifetime)
    }

    func observeDevice(
        _ capacity: Int, _ policy: OverflowPolicy, _ lifetime: SessionLifetime
    ) -> EventSequence<WearableDeviceEvent> {
        queue(\.deviceEvents, capacity, policy, lifetime)
    }

    func observeSession(_ lifetime: SessionLifetime) -> EventSequence<WearableDeviceSessionEvent> {
        queue(\.sessionEvents, 32, .dropOldest, lifetime)
    }

    private func finishDevice(_ error: TendonError?) {
        let (samples, gestures, events) = (samples, gestures, deviceEvents)
        self.samples.removeAll()
        self.gestures.removeAll()
        deviceEvents.removeAll()
        for queue in samples { queue.finish(error) }
        for queue in gestures { queue.finish(error) }
        for queue in events { queue.finish(error) }
    }

    // MARK: What the device says

    private func received(_ event: CEvent, _ now: UInt64) {
        switch event.pointee.kind {
        case TENDON_BOSE_EVENT_SAMPLE: sample(event.pointee)
        case TENDON_BOSE_EVENT_SENSOR_DATA: sensorData(event.pointee, now)
        case TENDON_BOSE_EVENT_GESTURE: gesture(event.pointee)
        default: stateChange(event.pointee)
        }
    }

    private func sample(_ event: tendon_bose_event) {
        guard let value = SensorValue(event.sample.pointee, deviceTime: event.device_ms) else { return }
        for queue in samples { queue.push(value) }
        DispatchTable.shared.deliver(value)
    }

    /// The whole notification, before its samples; made only when somebody wants it.
    private func sensorData(_ event: tendon_bose_event, _ now: UInt64) {
        guard !deviceEvents.isEmpty || !listeners.isEmpty || DispatchTable.shared.wantsData else { return }
        var clock = block.pointer.pointee.clock
        var values: [SensorValue] = []
        var data = tendon_bose_sensor_data_begin(
            event.value, event.length, c.has_sensors ? block.member(\.sensors) : nil,
            c.has_sensors ? TENDON_BOSE_PROFILE_REPORTED : TENDON_BOSE_PROFILE_FIXED)
        var sample = tendon_bose_sample()
        while true {
            let step = tendon_bose_sensor_data_next(&data, &sample, nil)
            if step == TENDON_BOSE_STEP_END { break }
            guard step == TENDON_BOSE_STEP_SAMPLE else { continue }
            let time = tendon_bose_unwrap(&clock, sample.timestamp, now)
            if let value = SensorValue(sample, deviceTime: time) { values.append(value) }
        }
        let all = SensorData(values: values)
        DispatchTable.shared.deliver(all)
        emit(.didReceiveSensorData(all))
    }

    private func gesture(_ event: tendon_bose_event) {
        let data = GestureData(
            type: GestureType(id: event.gesture.gesture_id), timestamp: event.gesture.timestamp,
            deviceTime: event.device_ms)
        for queue in gestures { queue.push(data) }
        DispatchTable.shared.deliver(data)
        emit(.didReceiveGestureData(data))
    }

    private func emit(_ event: WearableDeviceEvent) {
        for queue in deviceEvents { queue.push(event) }
        for listener in listeners.sorted(by: { $0.key < $1.key }) { listener.value(event) }
    }

    /// An attempt that could not even start.
    func fail(_ event: WearableDeviceEvent) { emit(event) }

    private func emit(_ event: WearableDeviceSessionEvent) {
        for queue in sessionEvents { queue.push(event) }
        TendonActor.assumeIsolated { session?.deliver(event) }
    }

    private func stateChange(_ event: tendon_bose_event) {
        switch event.kind {
        case TENDON_BOSE_EVENT_OPENED: emit(.didOpen)
        case TENDON_BOSE_EVENT_OPEN_FAILED: emit(.didFailToOpen(BoseWearableError(event, .connect)))
        case TENDON_BOSE_EVENT_CLOSED: didClose(event.status)
        case TENDON_BOSE_EVENT_REQUIRES_PAIRING_MODE: emit(.requiresPairingMode)
        case TENDON_BOSE_EVENT_PAIRING_STARTED: emit(.startedPairing)
        case TENDON_BOSE_EVENT_PAIRING_FINISHED:
            emit(.finishedPairing(event.status < 0 ? BoseWearableError(event.status, .pair) : nil))
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
        finishDevice(status < 0 ? TendonError(status: status, operation: .receive) : nil)
        emit(.didClose(status < 0 ? BoseWearableError(status, .receive) : nil))
    }

    var sensorConfiguration: SensorConfiguration? {
        guard c.has_sensor_configuration else { return nil }
        return SensorConfiguration(c.sensor_configuration, c.has_sensors ? SensorInformation(c.sensors) : nil)
    }
}
