// SPDX-License-Identifier: MIT
import CTendon

/// A connection of the C core. All of it is for the loop's thread.
final class PeripheralCore: @unchecked Sendable {
    // Used only on the loop's thread; the C core's pointer to it is valid until `closed`, see `abandon()`.
    let radio: RadioCore
    let address: Address
    let block = CBlock<tendon_connection>()
    /// Requests that the program starts at the same time, and the two of the cache; the C
    /// core's own table is for one session.
    private let requests = CTable<tendon_gatt_request>(capacity: 10)
    /// What earlier connections have discovered; `nil`: every connection discovers.
    let cache: CBlock<tendon_gatt_table>?
    private(set) var state = Peripheral.State.disconnected(nil)
    /// Number of attempts to connect so far. The next one may begin before a task that waits for the end of this one runs.
    private(set) var connections: UInt64 = 0
    /// Why the last connection, or attempt, ended.
    private(set) var ending: TendonError?
    private var waiters: [Parking] = []
    private var states: [EventQueue<Peripheral.State>] = []
    private var subscriptions: [UInt16: Subscription] = [:]
    private let writers = Waiters()
    private var changes: [EventQueue<ClosedRange<AttributeHandle>>] = []
    /// Some unused subscriptions could not be ended, because the request queue was full.
    private var hasLeftovers = false
    private var keptAlive: PeripheralCore?
    private var abandoned = false
    private var disconnecting = false
    /// Not empty: this object waits for the result of a pairing.
    private var pairingWaits: [PairingWait] = []

    var loop: Loop { radio.loop }
    var client: CPointer<tendon_gatt_client> { block.member(\.client) }
    var mtu: Int { Int(block.pointer.pointee.bearer.mtu) }
    var counters: tendon_bearer_counters { block.pointer.pointee.bearer.counters }

    init(radio: RadioCore, address: Address) {
        self.radio = radio
        self.address = address
        cache = radio.gattStore.map { _ in CBlock<tendon_gatt_table>() }
        radio.retain()
        var peer = address.c
        var callbacks = tendon_connection_callbacks()
        callbacks.context = context(of: self)
        callbacks.connected = { context, _ in object(PeripheralCore.self, context).connected() }
        callbacks.closed = { context, reason, _ in object(PeripheralCore.self, context).closed(reason) }
        callbacks.service_changed = { context, start, end, _ in
            let handles = AttributeHandle(rawValue: start)...AttributeHandle(rawValue: end)
            object(PeripheralCore.self, context).servicesChanged(handles)
        }
        callbacks.paired = { context, status, _ in object(PeripheralCore.self, context).paired(status) }
        tendon_connection_init(block.pointer, radio.radio, &peer, radio.pairing, &callbacks)
        tendon_connection_use_requests(block.pointer, requests.pointer, requests.capacity)
        if let cache, let store = radio.gattStore {
            var functions = tendon_gatt_store_table_functions(store.pointer)
            tendon_gatt_table_init(cache.pointer, &peer, &functions)
            tendon_connection_use_cache(block.pointer, cache.member(\.cache))
        }
    }

    // MARK: Pairing

    /// A task that waits for the result of a pairing.
    private final class PairingWait: @unchecked Sendable {
        // Used only on the loop's thread.
        let parking: Parking
        var status: tendon_status?

        init(_ loop: Loop) { parking = Parking(loop) }

        func finish(_ status: tendon_status) {
            self.status = status
            parking.resume()
        }
    }

    /// Tasks that wait for a pairing.
    var pairingWaitCount: Int { pairingWaits.count }

    /// Pairs. If a request or another task is pairing already, this waits for the same result.
    func pair(isolation: isolated (any Actor)? = #isolation) async throws(TendonError) {
        guard !Task.isCancelled else { throw .cancelled }
        guard radio.pairing != nil else {
            throw radio.bondFailure
                ?? TendonError(status: Int32(TENDON_RADIO_ERROR_NO_PAIRING_SERVICE), operation: .pair)
        }
        guard state == .connected else { throw .disconnected(.pair) }
        if pairingWaits.isEmpty {
            try check(tendon_connection_pair(block.pointer), .pair)
            loop.core.touched()
        }
        let wait = PairingWait(loop)
        pairingWaits.append(wait)
        await withTaskCancellationHandler {
            _ = isolation  // Only a closure that captures it stays on the loop.
            if wait.status == nil { await wait.parking.wait() }
        } onCancel: {
            loop.post { self.leavePairing(wait) }
        }
        if let status = wait.status, status < 0, Task.isCancelled { throw .cancelled }
        try check(wait.status ?? 0, .pair)
    }

    private func paired(_ status: tendon_status) {
        let waits = pairingWaits
        pairingWaits = []
        for wait in waits { wait.finish(status) }
    }

    /// The pairing goes on for the other tasks, and for requests.
    private func leavePairing(_ wait: PairingWait) {
        guard let index = pairingWaits.firstIndex(where: { $0 === wait }) else { return }
        pairingWaits.remove(at: index)
        if pairingWaits.isEmpty {
            tendon_connection_leave_pairing(block.pointer)
            loop.core.touched()
        }
        wait.finish(Int32(TENDON_ERROR_CANCELLED))
    }

    // MARK: The link

    func connect(_ options: ConnectOptions) throws(TendonError) {
        guard case .disconnected = state else {
            throw TendonError(status: Int32(TENDON_ERROR_WRONG_STATE), operation: .connect)
        }
        disconnecting = false
        block.pointer.pointee.connect_attempts = UInt32(clamping: max(options.attempts, 1))
        block.pointer.pointee.connect_timeout_ms =
            options.timeout.map { UInt32(clamping: $0.milliseconds) }
            ?? UInt32(TENDON_CONNECTION_TIMEOUT_MS)
        block.pointer.pointee.background = options.isInBackground
        if let cache { tendon_gatt_table_begin(cache.pointer) }
        try check(tendon_connection_connect(block.pointer), .connect)
        loop.core.touched()
        keptAlive = self
        connections += 1
        enter(.connecting)
    }

    func isConnecting(_ connection: UInt64) -> Bool { connection == connections && state == .connecting }

    /// Whether this connection has ended, even if the next one has begun.
    func hasEnded(_ connection: UInt64) -> Bool {
        if connection != connections { return true }
        if case .disconnected = state { return true }
        return false
    }

    /// Does nothing if that connection has ended.
    func disconnect(_ connection: UInt64) {
        if connection == connections { disconnect() }
    }

    private func disconnect() {
        guard keptAlive != nil else { return }
        disconnecting = true
        tendon_connection_close(block.pointer)
        loop.core.touched()
    }

    /// Called when the last reference was released: ends the connection; then this object is released.
    func abandon() {
        guard !abandoned else { return }
        abandoned = true
        if keptAlive != nil {
            disconnect()
        } else {
            finalise()
        }
    }

    private func finalise() {
        tendon_loop_remove(loop.core.block.pointer, block.member(\.timer))
        for queue in states {
            queue.finish()
        }
        states.removeAll()
        radio.release()
    }

    func setConnectionParameters(_ parameters: ConnectionParameters) throws(TendonError) {
        guard state == .connected else { throw .disconnected(.connect) }
        var c = parameters.c
        try check(tendon_link_set_parameters(block.member(\.link), &c), .connect)
    }

    private func connected() {
        let writable: @convention(c) (UnsafeMutableRawPointer?, UInt64) -> Void = { context, _ in
            object(PeripheralCore.self, context).writers.finish(.success(()))
        }
        tendon_gatt_client_set_on_writable(client, writable, context(of: self))
        enter(.connected)
    }

    /// Waits until the socket takes PDUs again.
    func ready(
        within timeout: Duration?, isolation: isolated (any Actor)? = #isolation
    ) async throws(TendonError) {
        let deadline = Duration.deadline(timeout)
        guard !Task.isCancelled else { throw .cancelled }
        guard state == .connected else { throw .disconnected(.write) }
        while block.pointer.pointee.link.blocked {
            try await writers.wait(until: deadline, .write, on: loop)
        }
    }

    private func closed(_ reason: tendon_status) {
        let error: TendonError? =
            disconnecting || reason >= 0 ? nil : TendonError(status: reason, operation: .receive)
        let wasConnected = state == .connected
        paired(Int32(TENDON_ERROR_DISCONNECTED))
        writers.finish(.failure(.disconnected(.write)))
        let ended = subscriptions
        subscriptions.removeAll()
        hasLeftovers = false
        for subscription in ended.values {
            subscription.finish(error)
        }
        let changed = changes
        changes.removeAll()
        for queue in changed {
            queue.finish(error)
        }
        enter(.disconnected(wasConnected ? error : TendonError(status: min(reason, -1), operation: .connect)))
        keptAlive = nil
        if abandoned {
            finalise()
        }
    }

    private func enter(_ next: Peripheral.State) {
        state = next
        if case .disconnected(let error) = next { ending = error }
        for queue in states {
            queue.push(next)
        }
        let all = waiters
        waiters.removeAll()
        for waiter in all {
            waiter.resume()
        }
    }

    /// Suspends until the state changes.
    func change(isolation: isolated (any Actor)? = #isolation) async {
        let parking = Parking(loop)
        waiters.append(parking)
        await parking.wait()
    }

    func observe(keeping owner: Peripheral) -> EventQueue<Peripheral.State> {
        let queue = EventQueue<Peripheral.State>(loop, capacity: 16, policy: .dropOldest)
        queue.push(state)
        states.append(queue)
        queue.onTermination { [unowned self, unowned queue] in
            self.states.removeAll { $0 === queue }
            withExtendedLifetime(owner) {}
        }
        return queue
    }

    /// After using the client from outside its callbacks.
    func refresh() {
        tendon_connection_refresh(block.pointer)
        loop.core.touched()
    }

    // MARK: Changes of the services

    private func servicesChanged(_ handles: ClosedRange<AttributeHandle>) {
        for queue in changes {
            queue.push(handles)
        }
    }

    func observeChanges() -> EventQueue<ClosedRange<AttributeHandle>> {
        let queue = EventQueue<ClosedRange<AttributeHandle>>(loop, capacity: 16, policy: .dropNewest)
        changes.append(queue)
        queue.onTermination { [unowned self, unowned queue] in self.changes.removeAll { $0 === queue } }
        return queue
    }

    /// The sequence of indications keeps them enabled, and the connection open, until the queue is released.
    func keep(_ indications: EventSequence<AttributeValue>, for queue: EventQueue<ClosedRange<AttributeHandle>>) {
        queue.onTermination { [unowned self, unowned queue] in
            self.changes.removeAll { $0 === queue }
            withExtendedLifetime(indications) {}
        }
    }

    // MARK: Values that come by themselves

    /// One value handle and who listens to it.
    final class Subscription: @unchecked Sendable {
        // Used only on the loop's thread.
        let handle: UInt16
        let isIndication: Bool
        /// The device has confirmed it.
        private(set) var isActive = false
        var queues: [EventQueue<AttributeValue>] = []
        private let waiters = Waiters()

        init(_ handle: UInt16, isIndication: Bool) {
            self.handle = handle
            self.isIndication = isIndication
        }

        func received(_ value: AttributeValue) {
            for queue in queues {
                queue.push(value)
            }
        }

        func activate() {
            isActive = true
            settle()
        }

        func finish(_ error: TendonError?) {
            for queue in queues {
                queue.finish(error)
            }
            settle()
        }

        /// Returns once it is active or has failed; for those who did not start it.
        func settled(
            within timeout: Duration?, on loop: Loop, isolation: isolated (any Actor)? = #isolation
        ) async throws(TendonError) {
            try await waiters.wait(until: Duration.deadline(timeout), .subscribe, on: loop)
        }

        private func settle() { waiters.finish(.success(())) }
    }

    func subscription(_ handle: UInt16) -> Subscription? { subscriptions[handle] }

    func add(_ subscription: Subscription) {
        subscriptions[subscription.handle] = subscription
    }

    /// A queue fed by `subscription`, which keeps the connection open; when the last queue is released, notifications
    /// are disabled.
    func listen(
        to subscription: Subscription, capacity: Int, policy: OverflowPolicy, for owner: Peripheral
    ) -> EventQueue<AttributeValue> {
        let queue = EventQueue<AttributeValue>(loop, capacity: capacity, policy: policy)
        subscription.queues.append(queue)
        queue.onTermination { [owner, unowned queue] in
            // The owner keeps the connection open as long as a consumer exists.
            subscription.queues.removeAll { $0 === queue }
            if subscription.queues.isEmpty { owner.core.unsubscribe(subscription) }
        }
        return queue
    }

    /// It was rejected or cancelled; the C core has removed it.
    func remove(_ subscription: Subscription) {
        guard subscriptions[subscription.handle] === subscription else { return }
        subscriptions[subscription.handle] = nil
        subscription.finish(nil)
    }

    func unsubscribe(_ subscription: Subscription) {
        guard subscriptions[subscription.handle] === subscription, subscription.isActive else { return }
        let status = tendon_gatt_unsubscribe(client, subscription.handle, nil, nil, tendon_monotonic_ms())
        if status == Int32(TENDON_GATT_ERROR_QUEUE_FULL) {
            // The C core still has it: it stays, for a new listener or until there is a free request.
            hasLeftovers = true
            return
        }
        subscriptions[subscription.handle] = nil
        unsubscribed(subscription)
        refresh()
    }

    /// A request has completed: there is a free one.
    func sweep() {
        guard hasLeftovers else { return }
        loop.post { [self] in
            hasLeftovers = false
            for subscription in Array(subscriptions.values) where subscription.queues.isEmpty {
                unsubscribe(subscription)
            }
        }
    }
}
