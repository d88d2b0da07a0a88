// SPDX-License-Identifier: MIT
import CTendon
import Synchronization
import Tendon

/// A device of the C core: an entry of a manager's table, or one of its own. All of it is for the loop's thread.
final class DeviceCore: @unchecked Sendable {
    // Touched on the loop's thread alone; the C core's pointers to it are valid until `abandon()` has ended the link.
    let loop: Loop
    private(set) var pointer: CPointer<tendon_activ5_device>
    private let memory: AnyObject
    /// What it was when its entry was given to another device.
    private var kept: tendon_activ5_device?
    private var isDetached = false
    private var link: DeviceLink?
    weak var object: A5Device?
    /// Where events go besides the sequences of this device.
    private let report: (A5Event) -> Void
    /// True when somebody wants events that cost something to make.
    private let isHeard: () -> Bool
    private var force: [EventQueue<A5Force>] = []
    private var motion: [EventQueue<IMUObject>] = []
    private var events: [EventQueue<A5Event>] = []
    /// Those that want all but samples and messages.
    private var happenings: [EventQueue<A5Event>] = []
    /// Those that wait for one event.
    private var waiters: [Waiter] = []
    /// Nothing will happen to this device any more.
    private var isEnded = false
    /// Forces and motions so far; from any thread.
    let samples = Atomic<UInt64>(0)

    init(
        _ pointer: CPointer<tendon_activ5_device>, in memory: AnyObject, loop: Loop,
        isHeard: @escaping () -> Bool, report: @escaping (A5Event) -> Void
    ) {
        self.pointer = pointer
        self.memory = memory
        self.loop = loop
        self.isHeard = isHeard
        self.report = report
    }

    /// What may be read of the C core's device.
    var c: tendon_activ5_device {
        _read {
            if isDetached, let kept {
                yield kept
            } else {
                yield pointer.pointee
            }
        }
    }

    var name: String { string(c.name, Int(c.name_length)) }

    /// The same device in a fresh entry.
    func rebind(_ pointer: CPointer<tendon_activ5_device>) {
        self.pointer = pointer
        pointer.pointee.program = context(of: self)
    }

    /// The entry is another device's from now on.
    func detach() {
        isDetached = true
        finish(nil)
    }

    // MARK: Calls

    /// `body` gets the device and the time.
    func call(
        _ operation: TendonError.Operation,
        _ body: (CPointer<tendon_activ5_device>, UInt64) -> tendon_status
    ) -> Result<Int, A5Error> {
        guard !isDetached else { return .failure(.notReady) }
        let status = body(pointer, tendon_now_ms())
        refresh()
        return status < 0 ? .failure(A5Error(status, operation)) : .success(Int(status))
    }

    func has(_ which: tendon_activ5_characteristic) -> Bool {
        !isDetached && tendon_activ5_device_has(pointer, which)
    }

    // MARK: The link

    /// The connection that the device asked for. Its end comes through the session, also when it cannot begin.
    func startLink(_ radio: RadioCore) -> tendon_status {
        let link = DeviceLink(radio, self)
        self.link = link
        return link.connect()
    }

    /// For a device without a manager, whose session stays.
    func attach(_ radio: RadioCore) {
        link = DeviceLink(radio, self)
    }

    func refresh() {
        link?.refresh()
    }

    /// Nobody can ask for anything any more.
    func abandon() {
        if !isDetached, pointer.pointee.link != TENDON_ACTIV5_LINK_NONE {
            tendon_activ5_device_disconnect(pointer, tendon_now_ms())
        }
        refresh()
        link = nil
        finish(nil)
    }

    // MARK: Who waits

    /// One task that waits for one event. For the loop's thread.
    private final class Waiter: @unchecked Sendable {
        // Touched on the loop's thread alone.
        let parking: Parking
        private let accepts: (tendon_activ5_event) -> Result<Int, A5Error>?
        private(set) var outcome: Result<Int, A5Error>?

        init(_ loop: Loop, _ accepts: @escaping (tendon_activ5_event) -> Result<Int, A5Error>?) {
            parking = Parking(loop)
            self.accepts = accepts
        }

        func received(_ event: tendon_activ5_event) {
            if outcome == nil, let outcome = accepts(event) { end(outcome) }
        }

        func end(_ outcome: Result<Int, A5Error>) {
            guard self.outcome == nil else { return }
            self.outcome = outcome
            parking.resume()
        }
    }

    /// Starts something, then waits for the event that `accepts` takes, for the end of the connection or of the device,
    /// or for the cancellation of the task.
    func wait(
        isolation: isolated (any Actor)? = #isolation,
        accepts: @escaping (tendon_activ5_event) -> Result<Int, A5Error>?, start: () throws(A5Error) -> Void
    ) async throws(A5Error) -> Int {
        guard !Task.isCancelled else { throw .cancelled }
        guard !isEnded else { throw .host(TendonError(status: Int32(TENDON_ERROR_DISCONNECTED), operation: .wait)) }
        let waiter = Waiter(loop, accepts)
        waiters.append(waiter)
        defer { waiters.removeAll { $0 === waiter } }
        try start()
        await withTaskCancellationHandler {
            _ = isolation  // Only a closure that captures it stays on the loop.
            if waiter.outcome == nil { await waiter.parking.wait() }
        } onCancel: {
            loop.post { waiter.end(.failure(.cancelled)) }
        }
        return try (waiter.outcome ?? .failure(.cancelled)).get()
    }

    private func informWaiters(_ event: tendon_activ5_event) {
        for waiter in waiters { waiter.received(event) }
        guard
            event.kind == TENDON_ACTIV5_EVENT_DISCONNECTED || event.kind == TENDON_ACTIV5_EVENT_CONNECT_FAILED
        else { return }
        let reason = event.status < 0 ? event.status : Int32(TENDON_ERROR_DISCONNECTED)
        for waiter in waiters { waiter.end(.failure(A5Error(reason, .connect))) }
    }

    // MARK: Who listens

    private func queue<Element>(
        _ list: ReferenceWritableKeyPath<DeviceCore, [EventQueue<Element>]>, _ capacity: Int, _ policy: OverflowPolicy
    ) -> EventSequence<Element> {
        let queue = EventQueue<Element>(loop, capacity: capacity, policy: policy)
        guard !isEnded else {
            queue.finish()
            return EventSequence(queue)
        }
        self[keyPath: list].append(queue)
        // The device's object keeps the link up for as long as somebody listens.
        queue.onTermination { [object, self, unowned queue] in
            _ = object
            self[keyPath: list].removeAll { $0 === queue }
        }
        return EventSequence(queue)
    }

    func observeForce(_ capacity: Int, _ policy: OverflowPolicy) -> EventSequence<A5Force> {
        queue(\.force, capacity, policy)
    }
    func observeMotion(_ capacity: Int, _ policy: OverflowPolicy) -> EventSequence<IMUObject> {
        queue(\.motion, capacity, policy)
    }
    func observeEvents(_ capacity: Int, samples: Bool = false) -> EventSequence<A5Event> {
        queue(samples ? \.events : \.happenings, capacity, .dropOldest)
    }

    private func finish(_ error: TendonError?) {
        isEnded = true
        let ended = TendonError(status: Int32(TENDON_ERROR_DISCONNECTED), operation: .wait)
        for waiter in waiters { waiter.end(.failure(.host(ended))) }
        let (force, motion, events) = (force, motion, events + happenings)
        self.force.removeAll()
        self.motion.removeAll()
        self.events.removeAll()
        happenings.removeAll()
        for queue in force { queue.finish(error) }
        for queue in motion { queue.finish(error) }
        for queue in events { queue.finish(nil) }
    }

    // MARK: What the device says

    func received(_ event: CEvent, _ now: UInt64) {
        guard let object, !isDetached else { return }
        if !waiters.isEmpty { informWaiters(event.pointee) }
        switch event.pointee.kind {
        case TENDON_ACTIV5_EVENT_ISOMETRIC:
            guard let message = event.pointee.message else { return }
            samples.add(1, ordering: .relaxed)
            let value = A5Force(newtons: message.pointee.newtons, time: now)
            for queue in force { queue.push(value) }
            if hasListeners { emit(sample: .didReceiveIsometric(object, value)) }
        case TENDON_ACTIV5_EVENT_IMU:
            guard let message = event.pointee.message else { return }
            samples.add(1, ordering: .relaxed)
            let value = IMUObject(message.pointee.imu)
            for queue in motion { queue.push(value) }
            if hasListeners { emit(sample: .didReceiveIMUData(object, value)) }
        case TENDON_ACTIV5_EVENT_MESSAGE:
            if hasListeners, let message = event.pointee.message { received(message.pointee, object) }
        default:
            stateChange(event.pointee, object)
        }
    }

    private var hasListeners: Bool { !events.isEmpty || isHeard() }

    private func emit(_ event: A5Event) {
        for queue in happenings { queue.push(event) }
        emit(sample: event)
    }

    private func emit(sample event: A5Event) {
        for queue in events { queue.push(event) }
        report(event)
    }

    private func received(_ message: tendon_activ5_message, _ object: A5Device) {
        let type = MessageType(message.type)
        let text: String
        switch type {
        case .isometric: text = "\(message.newtons)"
        case .sn1, .sn2, .uuid1, .uuid2, .serialNumber: text = message.string
        default: text = ""
        }
        emit(sample: .didReceiveMessage(object, message: text, type: type))
    }

    private func stateChange(_ event: tendon_activ5_event, _ object: A5Device) {
        switch event.kind {
        case TENDON_ACTIV5_EVENT_DEVICE_FOUND:
            kept = pointer.pointee
            emit(.deviceFound(object))
        case TENDON_ACTIV5_EVENT_CONNECTED: emit(.deviceConnected(object))
        case TENDON_ACTIV5_EVENT_CONNECT_FAILED:
            kept = pointer.pointee
            emit(.didFailToConnect(object, TendonError(status: event.status, operation: .connect)))
        case TENDON_ACTIV5_EVENT_DISCONNECTED: disconnected(event.status, object)
        case TENDON_ACTIV5_EVENT_INITIALIZED: emit(.deviceInitialized(object))
        case TENDON_ACTIV5_EVENT_SERIAL_NUMBER:
            if let message = event.message { emit(.didReceiveSerialNumber(object, message.pointee.string)) }
        case TENDON_ACTIV5_EVENT_BATTERY:
            if let message = event.message { emit(.didReceiveBattery(object, UInt64(message.pointee.percent))) }
        case TENDON_ACTIV5_EVENT_SQUEEZE: emit(.squeezeStateChanged(event.on ? .squeezed : .depressed, object))
        case TENDON_ACTIV5_EVENT_DOUBLE_SQUEEZE: emit(.didDetectDoubleSqueeze(object))
        case TENDON_ACTIV5_EVENT_ERROR:
            emit(
                .didReceiveError(
                    object, A5Device.Characteristic(event.characteristic), A5Error(event.status, .parse)))
        case TENDON_ACTIV5_EVENT_DONE:
            guard let request = event.request.flatMap({ A5Request($0.pointee) }) else { return }
            let error = event.status < 0 ? A5Error(event.status, request.operation) : nil
            emit(.didComplete(object, request, error))
        default: break
        }
    }

    private func disconnected(_ status: tendon_status, _ object: A5Device) {
        kept = pointer.pointee
        let asked = pointer.pointee.disconnect_requested || status >= 0
        let error = asked ? nil : TendonError(status: status, operation: .receive)
        let (force, motion) = (force, motion)
        self.force.removeAll()
        self.motion.removeAll()
        for queue in force { queue.finish(error) }
        for queue in motion { queue.finish(error) }
        emit(.deviceDisconnected(object, error))
    }
}

/// A connection and a session of the C core that carry a device's requests. For the loop's thread.
final class DeviceLink: @unchecked Sendable {
    // Touched on the loop's thread alone; keeps itself and the device alive while the connection is not idle.
    private let radio: RadioCore
    private let connection = CBlock<tendon_connection>()
    private let session = CBlock<tendon_activ5_session>()
    private var keptAlive: (DeviceLink, DeviceCore)?
    private weak var device: DeviceCore?

    init(_ radio: RadioCore, _ device: DeviceCore) {
        self.radio = radio
        self.device = device
        radio.retain()
        var peer = device.pointer.pointee.peer
        var callbacks = tendon_connection_callbacks()
        callbacks.context = context(of: self)
        callbacks.closed = { context, _, _ in object(DeviceLink.self, context).closed() }
        tendon_connection_init(connection.pointer, radio.radio, &peer, nil, &callbacks)
        var link = tendon_connection_session_link(connection.pointer)
        tendon_activ5_session_init(session.pointer, &link, device.pointer)
        tendon_connection_attach(connection.pointer, activ5SessionInputs.pointer, session.pointer)
    }

    deinit {
        // Still to be found by the loop's timer until then.
        radio.loop.post { [radio, connection, session] in
            tendon_loop_remove(radio.loop.core.block.pointer, connection.member(\.timer))
            radio.release()
            withExtendedLifetime(session) {}
        }
    }

    func connect() -> tendon_status {
        let status = tendon_connection_connect(connection.pointer)
        if status < 0 {
            // The session has the device; it gives it back when it is told that there is no link.
            radio.loop.post { [self] in
                activ5SessionInputs.pointer.pointee.disconnected(session.pointer, status, tendon_now_ms())
            }
        }
        keepAlive()
        return 0
    }

    func refresh() {
        tendon_connection_refresh(connection.pointer)
        keepAlive()
    }

    /// The C core has pointers to us while the connection is not idle.
    private func keepAlive() {
        let isIdle = connection.pointer.pointee.state == UInt8(TENDON_CONNECTION_IDLE.rawValue)
        keptAlive = isIdle ? nil : device.map { (self, $0) }
    }

    private func closed() {
        radio.loop.post { [self] in keepAlive() }
    }
}
