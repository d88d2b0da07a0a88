// SPDX-License-Identifier: MIT
import CTendon
import Tendon

/// The connected grip: its events, what it says of itself, its commands.
///
/// ```swift
/// if let grip = GripManager.default.connectedGrip {
///     try await grip.setLED(.blinkSlow, for: .seconds(2))
///     for await record in grip.records() { print(record.event, record.lostBefore) }
/// }
/// ```
@TendonActor
public final class ConnectedGrip {
    /// The grip's address.
    public nonisolated let id: Address
    /// As it advertises.
    public nonisolated let name: String
    /// Read when it was connected; `nil`: the grip tells none that is a version.
    public nonisolated let firmwareVersion: FirmwareVersion?
    private let core: GripCore
    /// Those of the connection before, when this one restored it.
    nonisolated let events: GripEvents
    /// Of the connections before.
    private let base: tendon_fjorden_session_counters

    nonisolated init(_ core: GripCore, _ grip: ConnectableGrip, _ firmware: FirmwareVersion?, _ events: GripEvents) {
        self.core = core
        self.events = events
        base = core.session.pointee.counters
        id = grip.id
        name = grip.name
        firmwareVersion = firmware
    }

    // MARK: Events

    /// Events from the connection on for the first subscriber, from now on for others. A dial event of several detents
    /// is as many elements. The sequence goes on after an automatic reconnection; it ends when the grip is disconnected
    /// without one.
    public nonisolated func subscribeToGripEvents() -> GripSequence<GripEvent> {
        let queue = EventQueue<GripEvent>(core.loop, capacity: 4096, policy: .dropOldest)
        let events = events
        core.run { _ in events.add(queue) }
        return GripSequence(EventSequence(queue))
    }

    /// The same with a handler. It is called again after an automatic reconnection, and released when the grip is
    /// disconnected without one, or by the subscription.
    @discardableResult
    public nonisolated func subscribeToGripEvents(
        _ handler: @escaping @TendonActor (GripEvent) -> Void
    ) -> GripSubscription {
        let (events, handler) = (events, Handler(handler))
        core.run { _ in events.add(handler) }
        return GripSubscription(core.loop) { handler.cancel() }
    }

    /// As the vendor's document calls `subscribeToGripEvents()`.
    public nonisolated func subscribeToEvents() -> GripSequence<GripEvent> { subscribeToGripEvents() }

    /// As the vendor's document calls `subscribeToGripEvents(_:)`.
    @discardableResult
    public nonisolated func subscribeToEvents(
        _ handler: @escaping @TendonActor (GripEvent) -> Void
    ) -> GripSubscription {
        subscribeToGripEvents(handler)
    }

    /// The events of this connection with all that the grip reports about them; ends with the connection.
    public nonisolated func records(
        capacity: Int = 4096, policy: OverflowPolicy = .dropOldest
    ) -> GripSequence<GripRecord> {
        let queue = EventQueue<GripRecord>(core.loop, capacity: capacity, policy: policy)
        let events = events
        core.run { _ in events.add(queue) }
        return GripSequence(EventSequence(queue))
    }

    /// The same with a handler, for as long as that of `subscribeToGripEvents(_:)`.
    @discardableResult
    public nonisolated func subscribeToRecords(
        _ handler: @escaping @TendonActor (GripRecord) -> Void
    ) -> GripSubscription {
        let (events, handler) = (events, Handler(handler))
        core.run { _ in events.add(handler) }
        return GripSubscription(core.loop) { handler.cancel() }
    }

    /// Levels that the grip notifies or that are read; ends with the connection.
    public nonisolated func batteryLevels() -> GripSequence<BatteryInfo> {
        let queue = EventQueue<BatteryInfo>(core.loop, capacity: 16, policy: .dropOldest)
        let events = events
        core.run { _ in events.add(queue) }
        return GripSequence(EventSequence(queue))
    }

    /// What has come and what went wrong; of the connection.
    public var counters: Counters {
        let session = core.session.pointee
        let counters = session.counters
        return Counters(
            notifications: counters.notifications - base.notifications, records: counters.events - base.events,
            rejected: counters.rejected - base.rejected, lost: session.stream.lost,
            duplicates: session.stream.duplicates, outOfOrder: session.stream.out_of_order,
            resynchronizations: counters.resyncs - base.resyncs, strayResponses: counters.strays - base.strays)
    }

    /// Of one connection.
    public struct Counters: Sendable, Hashable {
        /// Of events.
        public let notifications: UInt64
        /// Events given out, detents not counted one by one.
        public let records: UInt64
        /// Values that broke their rules.
        public let rejected: UInt64
        /// Records whose numbers are missing.
        public let lost: UInt64
        /// Records that came twice; not given out again.
        public let duplicates: UInt64
        /// Records with a number far from what was due.
        public let outOfOrder: UInt64
        /// Times that the control state was read after a loss.
        public let resynchronizations: UInt64
        /// Answers that nobody waited for.
        public let strayResponses: UInt64
    }

    /// This connection, or the one that restored it, is there.
    private var isConnected: Bool { core.shared.connected?.events === events }

    // MARK: Reading

    /// The level that is known, read when there is none or when told to.
    public func readBatteryInfo(forceRefresh: Bool = false) async throws(FjordenError) -> BatteryInfo {
        if !forceRefresh, let known = core.battery { return known }
        guard isConnected else { throw .gripUnableToReadBatteryInfo }
        let read: Result<BatteryInfo, FjordenError>? = await answered(core.loop) { answer in
            core.whenBatteryIsRead { answer.resume($0) }
        } onCancel: {
        }
        guard let read else { throw .cancelled }
        return try read.get()
    }

    /// The same with a handler, which is called once.
    public nonisolated func readBatteryInfo(
        forceRefresh: Bool = false, completion: @escaping @TendonActor (Result<BatteryInfo, FjordenError>) -> Void
    ) {
        Task { @TendonActor in
            do throws(FjordenError) {
                completion(.success(try await readBatteryInfo(forceRefresh: forceRefresh)))
            } catch {
                completion(.failure(error))
            }
        }
    }

    /// What the grip says of itself, read once, or when told to.
    public func readGripInfo(forceRefresh: Bool = false) async throws(FjordenError) -> GripInfo {
        if !forceRefresh, core.hasInfo { return core.info }
        guard isConnected else { throw .gripUnableToReadGripInfo }
        let read: Result<GripInfo, FjordenError>? = await answered(core.loop) { answer in
            core.whenInfoIsRead { answer.resume($0) }
        } onCancel: {
        }
        guard let read else { throw .cancelled }
        return try read.get()
    }

    /// The same with a handler, which is called once.
    public nonisolated func readGripInfo(
        forceRefresh: Bool = false, completion: @escaping @TendonActor (Result<GripInfo, FjordenError>) -> Void
    ) {
        Task { @TendonActor in
            do throws(FjordenError) {
                completion(.success(try await readGripInfo(forceRefresh: forceRefresh)))
            } catch {
                completion(.failure(error))
            }
        }
    }

    // MARK: Commands

    private func send(
        _ opcode: tendon_fjorden_opcode, _ payload: [UInt8] = [],
        _ change: (inout tendon_fjorden_command) -> Void = { _ in }
    ) async throws(GripCommandError) -> GripResponse {
        guard isConnected else {
            throw .host(TendonError(status: Int32(TENDON_ERROR_WRONG_STATE), operation: .write))
        }
        var command = tendon_fjorden_command()
        command.opcode = opcode
        change(&command)
        let core = core
        let response: Result<GripResponse, GripCommandError>? = await answered(core.loop) { answer in
            lending(payload) { bytes, count in
                command.payload = bytes
                command.payload_length = count
                core.request(command) { answer.resume($0) }
            }
        } onCancel: {
            core.cancelRequest()
        }
        guard let response else { throw .cancelled }
        return try response.get()
    }

    /// The grip sends the same bytes back; 17 at most.
    public func ping(_ payload: [UInt8] = []) async throws(GripCommandError) -> [UInt8] {
        try await send(TENDON_FJORDEN_PING, payload).payload
    }

    /// For a time of up to 65 s; `nil`: until it is changed.
    public func setLED(_ mode: LEDMode, for duration: Duration? = nil) async throws(GripCommandError) {
        _ = try await send(TENDON_FJORDEN_SET_LED) {
            $0.led_mode = mode.rawValue
            $0.led_duration_ms = UInt16(clamping: duration?.milliseconds ?? 0)
        }
    }

    /// The limits that are in force.
    public func readLimits() async throws(GripCommandError) -> GestureLimits {
        GestureLimits(try await send(TENDON_FJORDEN_GET_CONFIG).config)
    }

    /// Sets them; throws `outOfRange` for what no grip takes.
    public func setLimits(_ limits: GestureLimits) async throws(GripCommandError) {
        _ = try await send(TENDON_FJORDEN_SET_CONFIG) { $0.config = limits.c }
    }

    /// Where its controls are now.
    public func readControlState() async throws(GripCommandError) -> ControlState {
        guard let state = ControlState(try await send(TENDON_FJORDEN_GET_STATE).state) else {
            throw .host(TendonError(status: Int32(TENDON_FJORDEN_ERROR_VALUE), operation: .parse))
        }
        return state
    }

    /// The grip forgets us and disconnects.
    public func clearBond() async throws(GripCommandError) { _ = try await send(TENDON_FJORDEN_CLEAR_BOND) }

    /// The grip disconnects and goes off.
    public func powerOff() async throws(GripCommandError) { _ = try await send(TENDON_FJORDEN_POWER_OFF) }
}

extension ConnectedGrip: Equatable, CustomStringConvertible {
    public nonisolated static func == (a: ConnectedGrip, b: ConnectedGrip) -> Bool {
        a.events === b.events
    }
    public nonisolated var description: String { name.isEmpty ? id.description : "\(name) (\(id))" }
}

/// Who gets a grip's events, over all its connections up to the last. For the loop's thread.
final class GripEvents: @unchecked Sendable {
    // Touched on the loop's thread alone.
    private var records = Listeners<GripRecord>()
    private var events = Listeners<GripEvent>()
    private var levels = Listeners<BatteryInfo>()
    /// What came before anybody could subscribe.
    private var early: [GripRecord] = []
    private var hadListener = false
    private var isOver = false
    private static let earlyLimit = 8192

    func take(_ record: GripRecord) {
        if !hadListener {
            if early.count < GripEvents.earlyLimit { early.append(record) }
            return
        }
        records.deliver(record)
        guard !events.isEmpty else { return }
        for _ in 0..<record.count { events.deliver(record.event) }
    }

    func take(_ level: BatteryInfo) { levels.deliver(level) }

    private func begin() {
        guard !hadListener else { return }
        hadListener = true
        let all = early
        early = []
        for record in all { take(record) }
    }

    func add(_ queue: EventQueue<GripRecord>) {
        records.add(queue)
        queue.onTermination { [weak self, unowned queue] in self?.records.remove(queue) }
        settle()
    }

    func add(_ queue: EventQueue<GripEvent>) {
        events.add(queue)
        queue.onTermination { [weak self, unowned queue] in self?.events.remove(queue) }
        settle()
    }

    func add(_ queue: EventQueue<BatteryInfo>) {
        levels.add(queue)
        queue.onTermination { [weak self, unowned queue] in self?.levels.remove(queue) }
        if isOver { end() }
    }

    func add(_ handler: Handler<GripEvent>) {
        events.add(handler)
        settle()
    }

    func add(_ handler: Handler<GripRecord>) {
        records.add(handler)
        settle()
    }

    private func settle() {
        begin()
        if isOver { end() }
    }

    /// The connection was lost, and is to be restored.
    func pause() {
        records.finishSequences()
        levels.finishSequences()
    }

    func end() {
        isOver = true
        records.finish()
        events.finish()
        levels.finish()
    }
}
