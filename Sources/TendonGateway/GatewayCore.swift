// SPDX-License-Identifier: MIT
import CTendon
import Synchronization
import Tendon

/// A fleet of the C core on the shared loop: its life, its consumers, and who waits for what. All of it is for the loop's
/// thread, except what is marked.
final class GatewayCore: Abandonable, @unchecked Sendable {
    // Used only on the loop's thread, except `loop`, which is constant, `devices`, and `queue()`.
    private enum State { case new, open, ending, closed }

    private struct Consumer {
        let queue: EventQueue<GatewayEvent>
        /// `nil`: of all devices.
        let address: Address?
    }

    private struct Search {
        let matches: (GatewayDevice) -> Bool
        let found: Pending<GatewayDevice, GatewayError>
        /// The last event that says why there is none.
        var obstacle: GatewayEvent?
    }

    let loop = Loop.shared
    /// The connected ones. From any thread.
    let devices = Mutex<[GatewayDevice]>([])
    private let plan: GatewayPlan
    private let memory = FleetMemory()
    private var state = State.new
    /// While the C core has pointers to this object.
    private var keptAlive: GatewayCore?
    private let opening = Pending<Void, GatewayError>()
    private var maker = EventMaker()
    private var consumers: [Consumer] = []
    /// What a new consumer begins with: `connected` of the connected devices, and `radio_waiting` by the adapter.
    private var connected: [GatewayEvent] = []
    private var waiting: [(adapter: String, event: GatewayEvent)] = []
    private var searches: [Search] = []
    private var closing: [Pending<Void, GatewayError>] = []
    /// By device, in the order of the calls: the C core reports their ends in this order.
    private(set) var acting: [Address: [Pending<GatewayEvent, GatewayError>]] = [:]
    /// During a call that the C core may refuse, and says why in a line.
    private var isAsking = false
    private var refusal: GatewayEvent?

    private var fleet: CPointer<tendon_fleet> { memory.pointer }

    init(_ plan: GatewayPlan) { self.plan = plan }

    // MARK: Life

    /// Returns when each radio was tried once. After an error all ends by itself.
    @TendonActor
    func open() async throws(GatewayError) {
        begin()
        do throws(GatewayError) {
            try await opening.value()
        } catch {
            end()
            throw error
        }
    }

    private func begin() {
        (keptAlive, state) = (self, .open)
        let options = plan.options.pointer
        options.pointee.run = { _, work, done, radio in runElsewhere(work, done, radio) }
        options.pointee.on_opened = { context, status in object(GatewayCore.self, context).opened(status) }
        let status = tendon_fleet_open(
            fleet, loop.core.block.pointer, options,
            { context, line in line.map { object(GatewayCore.self, context).take($0) } ?? true }, context(of: self))
        loop.core.touched()
        if status < 0 { (state, keptAlive) = (.closed, nil) }
        if status < 0 || options.pointee.is_virtual { opened(status) }
    }

    private func opened(_ status: tendon_status) {
        guard status < 0 else { return opening.finish(.success(())) }
        let cause = TendonError(status: status, operation: .openRadio)
        opening.finish(.failure(GatewayError(.radio, cause.text, cause: cause)))
    }

    func abandon() { end() }

    /// - Parameter pending: ends when all is closed; now, if it is.
    func close(_ pending: Pending<Void, GatewayError>) {
        guard state != .closed else { return pending.finish(.success(())) }
        closing.append(pending)
        end()
    }

    private func end() {
        guard state == .open else { return }
        state = .ending
        // The C core is in a step of the loop when it calls.
        tendon_fleet_end_then(fleet) { context in
            let core = object(GatewayCore.self, context)
            core.loop.post { core.finish() }
        }
        loop.core.touched()
    }

    private func finish() {
        tendon_fleet_summarize(fleet)
        tendon_fleet_close(fleet)
        loop.core.touched()
        state = .closed
        let (ended, pending, actions) = (consumers, closing, Array(acting.values.joined()))
        (consumers, closing, acting) = ([], [], [:])
        for consumer in ended { consumer.queue.finish() }
        for action in actions { action.finish(.failure(.closed)) }
        for search in searches { search.found.finish(.failure(.closed)) }
        for one in pending { one.finish(.success(())) }
        keptAlive = nil
    }

    // MARK: Consumers

    /// From any thread. The queue keeps `lifetime` until its sequence is released, or the gateway is closed.
    func queue(
        of address: Address?, capacity: Int, policy: OverflowPolicy, keeping lifetime: Lifetime<GatewayCore>
    ) -> EventQueue<GatewayEvent> {
        let queue = EventQueue<GatewayEvent>(loop, capacity: capacity, policy: policy)
        loop.runOrPost { self.add(Consumer(queue: queue, address: address), keeping: lifetime) }
        return queue
    }

    private func add(_ consumer: Consumer, keeping lifetime: Lifetime<GatewayCore>) {
        let queue = consumer.queue
        guard state != .closed else { return queue.finish() }
        queue.onTermination { [weak self, unowned queue] in
            self?.consumers.removeAll { $0.queue === queue }
            withExtendedLifetime(lifetime) {}
        }
        consumers.append(consumer)
        for event in waiting.map({ $0.event }) + connected { _ = deliver(event, to: consumer) }
    }

    /// False: it, or one before it, was dropped.
    private func deliver(_ event: GatewayEvent, to consumer: Consumer) -> Bool {
        if let address = consumer.address, event.device?.address != address { return true }
        let before = consumer.queue.dropped
        consumer.queue.push(event)
        return consumer.queue.dropped == before
    }

    // MARK: Lines

    /// False: a consumer was too slow, which the C core counts.
    func take(_ line: CLine) -> Bool {
        if line.pointee.is_sample, consumers.isEmpty { return true }
        let event = maker.event(line)
        if !line.pointee.is_sample { note(event) }
        var isDelivered = true
        for consumer in consumers { isDelivered = deliver(event, to: consumer) && isDelivered }
        return isDelivered
    }

    private func note(_ event: GatewayEvent) {
        switch event.kind {
        case .connected: noteConnected(event)
        case .disconnected:
            connected.removeAll { $0.device == event.device }
            publishDevices()
        case .connectFailed: noteObstacle(event)
        case .radioWaiting, .radioLost, .radioRestored:
            if event.kind != .radioRestored { noteObstacle(event) }
            let adapter = event["adapter"]?.text ?? ""
            waiting.removeAll { $0.adapter == adapter }
            if event.kind != .radioRestored { waiting.append((adapter, event)) }
        case .actionFailed where isAsking: refusal = event
        case .action, .actionFailed: endAction(event)
        default: break
        }
    }

    private func noteConnected(_ event: GatewayEvent) {
        guard let device = event.device else { return }
        connected.removeAll { $0.device == device }
        connected.append(event)
        publishDevices()
        for search in searches where search.matches(device) { search.found.finish(.success(device)) }
    }

    /// Of a device that is searched for, or of an adapter.
    private func noteObstacle(_ event: GatewayEvent) {
        for index in searches.indices where event.device.map(searches[index].matches) ?? true {
            searches[index].obstacle = event
        }
    }

    private func publishDevices() {
        let present = connected.compactMap(\.device)
        devices.withLock { $0 = present }
    }

    // MARK: Devices

    func find(_ found: Pending<GatewayDevice, GatewayError>, _ matches: @escaping (GatewayDevice) -> Bool) {
        guard state == .open else { return found.finish(.failure(.closed)) }
        if let device = devices.withLock({ $0.first(where: matches) }) { return found.finish(.success(device)) }
        searches.append(Search(matches: matches, found: found))
    }

    func giveUp(_ found: Pending<GatewayDevice, GatewayError>) {
        found.finish(.failure(.noDevice(after: searches.first { $0.found === found }?.obstacle)))
    }

    func forget(_ found: Pending<GatewayDevice, GatewayError>) { searches.removeAll { $0.found === found } }

    // MARK: Actions

    func act(
        _ action: String, on address: Address, _ done: Pending<GatewayEvent, GatewayError>
    ) throws(GatewayError) {
        guard state == .open else { throw .closed }
        acting[address, default: []].append(done)
        var c = address.c
        (isAsking, refusal) = (true, nil)
        let status = lending(action) { tendon_fleet_act(fleet, &c, $0, $1) }
        isAsking = false
        loop.core.touched()
        guard status < 0 else { return }
        remove(done, of: address)
        let isConnected = connected.contains { $0.device?.address == address }
        throw failure(of: refusal, isConnected ? .refused : .notConnected, status)
    }

    private func endAction(_ event: GatewayEvent) {
        guard let address = event.device?.address, let done = acting[address]?.first else { return }
        remove(done, of: address)
        guard event.kind == .actionFailed else { return done.finish(.success(event)) }
        let status = event.cause?.status ?? Int32(TENDON_ERROR_CANCELLED)
        let isLost = status == Int32(TENDON_ERROR_DISCONNECTED)
        let reason: GatewayError.Reason = state == .ending ? .closed : isLost ? .notConnected : .failed
        done.finish(.failure(failure(of: event, reason, status)))
    }

    private func failure(of event: GatewayEvent?, _ reason: GatewayError.Reason, _ status: Int32) -> GatewayError {
        let cause = TendonError(status: status, operation: .write)
        return GatewayError(reason, event?["text"]?.text ?? cause.text, cause: cause)
    }

    /// Its task was cancelled. An action in progress keeps its turn, until the C core reports its end.
    func withdraw(_ done: Pending<GatewayEvent, GatewayError>, from address: Address) {
        guard state == .open, let index = acting[address]?.firstIndex(where: { $0 === done }) else { return }
        var c = address.c
        if tendon_fleet_withdraw(fleet, &c, index) { remove(done, of: address) }
    }

    private func remove(_ done: Pending<GatewayEvent, GatewayError>, of address: Address) {
        acting[address]?.removeAll { $0 === done }
        if acting[address]?.isEmpty == true { acting[address] = nil }
    }
}
