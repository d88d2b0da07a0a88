// SPDX-License-Identifier: MIT
import CTendon
import Synchronization
import Tendon

/// A device of the C core: an entry of a manager's table, or a separate device. Use it only on the loop's thread.
final class DeviceCore: Abandonable, @unchecked Sendable {
    // Used only on the loop's thread; the C core's pointers to it are valid until `abandon()` has ended the connection.
    let loop: Loop
    let pointer: CPointer<tendon_activ5_device>
    private let memory: AnyObject
    /// The state of the device after its last change: what remains when its entry is reused for another device.
    private var kept: tendon_activ5_device?
    private var isDetached = false
    private let openRadio: () throws(TendonError) -> RadioCore
    private var link: SessionLink?
    /// The reason why the radio could not be opened for the last connection.
    private var radioFailure: TendonError?
    weak var object: A5Device?
    /// Kept by sequences: the manager, or the device without one. From any thread.
    private var keeper: AnyObject? { (memory as? ManagerCore)?.lifetime ?? object }
    /// Events go there as well: to the manager's consumers and delegate, or to the device's own delegate.
    private let reports: Feed<A5Event>
    private let force: Feed<A5Force>
    private let motion: Feed<IMUObject>
    private let events: Feed<A5Event>
    /// For consumers of all events except samples and messages.
    private let happenings: Feed<A5Event>
    private var waiters: [Waiter] = []
    /// Whether no further events will occur for this device.
    private var isEnded = false
    private var whenAbandoned: (() -> Void)?
    /// Forces and motions so far; from any thread.
    let samples = Atomic<UInt64>(0)

    init(
        _ pointer: CPointer<tendon_activ5_device>, in memory: AnyObject, loop: Loop, reports: Feed<A5Event>,
        openRadio: @escaping () throws(TendonError) -> RadioCore, whenAbandoned: (() -> Void)? = nil
    ) {
        self.pointer = pointer
        self.memory = memory
        self.loop = loop
        self.reports = reports
        self.openRadio = openRadio
        self.whenAbandoned = whenAbandoned
        force = Feed(loop)
        motion = Feed(loop)
        events = Feed(loop)
        happenings = Feed(loop)
    }

    /// The readable state of the C core's device.
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

    /// The entry is reused for another device from now on.
    func detach() {
        isDetached = true
        finish()
    }

    /// Changes the members that an application may change.
    func change(_ body: (inout tendon_activ5_device) -> Void) {
        guard !isDetached else { return }
        body(&pointer.pointee)
        kept = pointer.pointee
        refresh()
    }

    // MARK: Calls

    /// `body` gets the device and the time.
    func call(
        _ operation: TendonError.Operation,
        _ body: (CPointer<tendon_activ5_device>, UInt64) -> tendon_status
    ) -> Result<Int, A5Error> {
        guard !isDetached else { return .failure(.notReady) }
        let status = body(pointer, tendon_monotonic_ms())
        refresh()
        if operation == .connect, status < 0 { return .failure(connectFailure(status)) }
        return status < 0 ? .failure(A5Error(status, operation)) : .success(Int(status))
    }

    /// The radio's own error if the connection failed because of it.
    private func connectFailure(_ status: tendon_status) -> A5Error {
        if let radioFailure, radioFailure.status == status { return .host(radioFailure) }
        return A5Error(status, .connect)
    }

    func has(_ which: tendon_activ5_characteristic) -> Bool {
        !isDetached && tendon_activ5_device_has(pointer, which)
    }

    // MARK: The connection

    /// Of the latest connection, which keeps it.
    private weak var session: CBlock<tendon_activ5_session>?
    /// Requests to the device that have not ended. They end in order.
    var pendingRequests: Int { session.map { Int($0.pointer.pointee.waiting) } ?? 0 }

    /// The connection that the device requested. Its end comes through the session, also when it cannot begin.
    func startLink() -> tendon_status {
        let radio: RadioCore
        do throws(TendonError) {
            radioFailure = nil
            radio = try openRadio()
        } catch {
            radioFailure = error
            return error.status
        }
        let session = CBlock<tendon_activ5_session>()
        self.session = session
        let link = SessionLink(radio, to: Address(pointer.pointee.peer), pairing: .none, owner: self)
        var calls = link.c
        let taken = tendon_activ5_session_init(session.pointer, &calls, pointer)
        guard taken >= 0 else { return taken }
        link.attach(activ5SessionInputs, session)
        self.link = link
        let status = link.connect()
        if status < 0 {
            // The session is attached to the device; it detaches when it is notified that there is no connection.
            loop.post {
                activ5SessionInputs.pointer.pointee.disconnected(session.pointer, status, tendon_monotonic_ms())
            }
        }
        return 0
    }

    func refresh() {
        link?.refresh()
    }

    /// Called when the last reference was released: ends the connection and all waiting calls.
    func abandon() {
        if !isDetached, pointer.pointee.link != TENDON_ACTIV5_LINK_NONE {
            tendon_activ5_device_disconnect(pointer, tendon_monotonic_ms())
        }
        refresh()
        link?.abandon()
        finish()
        whenAbandoned?()
        whenAbandoned = nil
    }

    // MARK: Waiting calls

    /// A task that waits for one event.
    private final class Waiter {
        let result: Pending<Int, A5Error>
        let accepts: (tendon_activ5_event) -> Result<Int, A5Error>?

        init(_ loop: Loop, _ accepts: @escaping (tendon_activ5_event) -> Result<Int, A5Error>?) {
            result = Pending(loop)
            self.accepts = accepts
        }
    }

    /// Starts something, then waits for the event that `accepts` takes, for the end of the connection or of the device,
    /// or for the cancellation of the task.
    func wait(
        isolation: isolated (any Actor)? = #isolation,
        accepts: @escaping (tendon_activ5_event) -> Result<Int, A5Error>?, start: () throws(A5Error) -> Void
    ) async throws(A5Error) -> Int {
        guard !Task.isCancelled else { throw .cancelled }
        guard !isEnded else { throw .host(Self.ended) }
        let waiter = Waiter(loop, accepts)
        waiters.append(waiter)
        defer { waiters.removeAll { $0 === waiter } }
        try start()
        return try await waiter.result.value()
    }

    private static let ended = TendonError(status: Int32(TENDON_ERROR_DISCONNECTED), operation: .wait)

    private func informWaiters(_ event: tendon_activ5_event) {
        for waiter in waiters {
            if let outcome = waiter.accepts(event) { waiter.result.finish(outcome) }
        }
        guard
            event.kind == TENDON_ACTIV5_EVENT_DISCONNECTED || event.kind == TENDON_ACTIV5_EVENT_CONNECT_FAILED
        else { return }
        let reason = event.status < 0 ? event.status : Int32(TENDON_ERROR_DISCONNECTED)
        for waiter in waiters { waiter.result.finish(.failure(connectFailure(reason))) }
    }

    // MARK: Consumers

    // From any thread.
    func observeForce(_ capacity: Int, _ policy: OverflowPolicy) -> EventStream<A5Force> {
        EventStream(force.sequence(capacity: capacity, policy: policy, keeping: keeper))
    }
    func observeMotion(_ capacity: Int, _ policy: OverflowPolicy) -> EventStream<IMUObject> {
        EventStream(motion.sequence(capacity: capacity, policy: policy, keeping: keeper))
    }
    /// The same as closures, until the tokens are cancelled.
    func observeSamples(
        force: @escaping @TendonActor (A5Force) -> Void, motion: @escaping @TendonActor (IMUObject) -> Void
    ) -> [FeedToken] {
        [self.force.add(force), self.motion.add(motion)]
    }
    func observeEvents(_ capacity: Int, samples: Bool = false) -> EventStream<A5Event> {
        EventStream(
            (samples ? events : happenings).sequence(capacity: capacity, policy: .dropOldest, keeping: keeper))
    }

    private func finish() {
        isEnded = true
        for waiter in waiters { waiter.result.finish(.failure(.host(Self.ended))) }
        force.close()
        motion.close()
        events.close()
        happenings.close()
    }

    // MARK: Events of the device

    func received(_ event: CEvent, _ now: UInt64) {
        guard let object, !isDetached else { return }
        if !waiters.isEmpty { informWaiters(event.pointee) }
        switch event.pointee.kind {
        case TENDON_ACTIV5_EVENT_ISOMETRIC:
            guard let message = event.pointee.message else { return }
            samples.add(1, ordering: .relaxed)
            let value = A5Force(
                newtons: message.pointee.newtons, time: now,
                times: SampleTimes(receivedAt: event.pointee.received_at))
            latestSqueeze.follow(self)
            force.push(value)
            if hasListeners { emit(sample: .didReceiveIsometric(object, value)) }
        case TENDON_ACTIV5_EVENT_IMU:
            guard let message = event.pointee.message else { return }
            samples.add(1, ordering: .relaxed)
            let value = IMUObject(
                message.pointee.imu,
                times: SampleTimes(
                    receivedAt: event.pointee.received_at, sampledAt: event.pointee.sampled_at,
                    errorMicroseconds: event.pointee.error_us))
            motion.push(value)
            if hasListeners { emit(sample: .didReceiveIMUData(object, value)) }
        case TENDON_ACTIV5_EVENT_MESSAGE:
            if hasListeners, let message = event.pointee.message { received(message.pointee, object) }
        default:
            stateChange(event.pointee, object)
        }
    }

    private var hasListeners: Bool { !events.isEmpty || !reports.isEmpty }

    private func emit(_ event: A5Event) {
        happenings.push(event)
        emit(sample: event)
    }

    private func emit(sample event: A5Event) {
        events.push(event)
        reports.push(event)
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
        kept = pointer.pointee
        switch event.kind {
        case TENDON_ACTIV5_EVENT_DEVICE_FOUND:
            if event.on { emit(.deviceFound(object)) }
        case TENDON_ACTIV5_EVENT_CONNECTED: emit(.deviceConnected(object))
        case TENDON_ACTIV5_EVENT_CONNECT_FAILED:
            let error = TendonError(status: event.status, operation: .connect)
            emit(.didFailToConnect(object, radioFailure.flatMap { $0.status == error.status ? $0 : nil } ?? error))
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
        let asked = pointer.pointee.disconnect_requested || status >= 0
        let error = asked ? nil : TendonError(status: status, operation: .receive)
        force.finish(error)
        motion.finish(error)
        emit(.deviceDisconnected(object, error))
    }
}
