// SPDX-License-Identifier: MIT
import CTendon
import Tendon

/// The connected grip: its events, information and commands.
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
    /// The advertised name.
    public nonisolated let name: String
    /// The firmware version, read after connecting; `nil` if the grip reports no valid version.
    public nonisolated let firmwareVersion: FirmwareVersion?
    private let core: GripCore
    /// Shared with the previous connection if this one is its reconnection.
    nonisolated let events: GripEvents
    /// Counters of the previous connections.
    private let base: tendon_fjorden_session_counters

    nonisolated init(_ core: GripCore, _ grip: ConnectableGrip, _ firmware: FirmwareVersion?, _ events: GripEvents) {
        self.core = core
        self.events = events
        base = core.session.pointee.counters
        id = grip.id
        name = grip.name
        firmwareVersion = firmware
    }

    /// Takes the events of a grip.
    public typealias EventHandler = @TendonActor (GripEvent) -> Void
    /// Takes the battery level.
    public typealias ReadBatteryInfoCompletionHandler = @TendonActor (Result<BatteryInfo, FjordenError>) -> Void
    /// Takes the information about a grip.
    public typealias ReadGripInfoCompletionHandler = @TendonActor (Result<GripInfo, FjordenError>) -> Void

    // MARK: Events

    /// Events, since the connection for the first subscriber, from now on for others. A dial event of several detents
    /// results in one element per detent. The sequence continues after an automatic reconnection; it ends when the grip
    /// is disconnected without a reconnection.
    public nonisolated func subscribeToGripEvents() -> EventStream<GripEvent> {
        events.begun(events.events.sequence(capacity: 4096, policy: .dropOldest, keeping: core.lifetime))
    }

    /// The same with a handler. It continues after an automatic reconnection, and is released when the grip is
    /// disconnected without a reconnection, or when the subscription is cancelled.
    @discardableResult
    public nonisolated func subscribeToGripEvents(handler: @escaping EventHandler) -> GripSubscription {
        events.begun(events.events.add(handler))
    }

    /// The name of `subscribeToGripEvents()` in the vendor's document.
    public nonisolated func subscribeToEvents() -> EventStream<GripEvent> { subscribeToGripEvents() }

    /// The name of `subscribeToGripEvents(handler:)` in the vendor's document.
    @discardableResult
    public nonisolated func subscribeToEvents(handler: @escaping EventHandler) -> GripSubscription {
        subscribeToGripEvents(handler: handler)
    }

    /// The events of this connection with all reported details; ends with the connection.
    public nonisolated func records(
        capacity: Int = 4096, policy: OverflowPolicy = .dropOldest
    ) -> EventStream<GripRecord> {
        events.begun(events.records.sequence(capacity: capacity, policy: policy, keeping: core.lifetime))
    }

    /// The same with a handler, for as long as that of `subscribeToGripEvents(handler:)`.
    @discardableResult
    public nonisolated func subscribeToRecords(
        _ handler: @escaping @TendonActor (GripRecord) -> Void
    ) -> GripSubscription {
        events.begun(events.records.add(handler))
    }

    /// Battery levels that were notified or read; ends with the connection.
    public nonisolated func batteryLevels() -> EventStream<BatteryInfo> {
        EventStream(events.levels.sequence(capacity: 16, policy: .dropOldest, keeping: core.lifetime))
    }

    /// Counters of this connection.
    public var counters: Counters {
        let session = core.session.pointee
        let counters = session.counters
        return Counters(
            notifications: counters.notifications - base.notifications, records: counters.events - base.events,
            rejected: counters.rejected - base.rejected, lost: session.stream.lost,
            duplicates: session.stream.duplicates, outOfOrder: session.stream.out_of_order,
            resynchronizations: counters.resyncs - base.resyncs, strayResponses: counters.strays - base.strays,
            droppedBeforeFirstConsumer: events.earlyDropped)
    }

    /// Counters of one connection.
    public struct Counters: Sendable, Hashable {
        /// Event notifications received.
        public let notifications: UInt64
        /// Records reported; a record with several detents counts once.
        public let records: UInt64
        /// Rejected values.
        public let rejected: UInt64
        /// Lost records, from missing sequence numbers.
        public let lost: UInt64
        /// Duplicate records, which are not reported again.
        public let duplicates: UInt64
        /// Records out of order.
        public let outOfOrder: UInt64
        /// Number of reads of the control state after a loss.
        public let resynchronizations: UInt64
        /// Responses without an outstanding request.
        public let strayResponses: UInt64
        /// Records before the first consumer that were dropped: the first 8192 are kept for it.
        public let droppedBeforeFirstConsumer: UInt64
    }

    /// Whether this connection, or its reconnection, is open.
    private var isConnected: Bool { core.shared.connected?.events === events }

    // MARK: Reading

    /// Returns the battery level; reads it if it is unknown or if `forceRefresh` is true.
    public func readBatteryInfo(forceRefresh: Bool = false) async throws(FjordenError) -> BatteryInfo {
        guard isConnected else { throw .gripUnableToReadBatteryInfo }
        if !forceRefresh, let known = core.battery { return known }
        guard !Task.isCancelled else { throw .cancelled }
        let read = Pending<BatteryInfo, FjordenError>(core.loop)
        core.whenBatteryIsRead { read.finish($0) }
        return try await read.value()
    }

    /// The same with a handler, which is called once.
    public nonisolated func readBatteryInfo(
        forceRefresh: Bool = false, completionHandler: @escaping ReadBatteryInfoCompletionHandler
    ) {
        Task { @TendonActor in
            do throws(FjordenError) {
                completionHandler(.success(try await readBatteryInfo(forceRefresh: forceRefresh)))
            } catch {
                completionHandler(.failure(error))
            }
        }
    }

    /// Returns the information about the grip; reads it if it is unknown or if `forceRefresh` is true.
    public func readGripInfo(forceRefresh: Bool = false) async throws(FjordenError) -> GripInfo {
        guard isConnected else { throw .gripUnableToReadGripInfo }
        if !forceRefresh, core.hasInfo { return core.info }
        guard !Task.isCancelled else { throw .cancelled }
        let read = Pending<GripInfo, FjordenError>(core.loop)
        core.whenInfoIsRead { read.finish($0) }
        return try await read.value()
    }

    /// The same with a handler, which is called once.
    public nonisolated func readGripInfo(
        forceRefresh: Bool = false, then completion: @escaping ReadGripInfoCompletionHandler
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
        guard !Task.isCancelled else { throw .cancelled }
        var command = tendon_fjorden_command()
        command.opcode = opcode
        change(&command)
        let response = Pending<GripResponse, GripCommandError>(core.loop)
        lending(payload) { bytes, count in
            command.payload = bytes
            command.payload_length = count
            core.request(command) { response.finish($0) }
        }
        return try await response.value { [core] in core.cancelRequest() }
    }

    /// Sends up to 17 bytes, which the grip returns.
    public func ping(_ payload: [UInt8] = []) async throws(GripCommandError) -> [UInt8] {
        try await send(TENDON_FJORDEN_PING, payload).payload
    }

    /// Sets the LED for 1 ms to 65 s; `nil`: until it is changed.
    public func setLED(_ mode: LEDMode, for duration: Duration? = nil) async throws(GripCommandError) {
        _ = try await send(TENDON_FJORDEN_SET_LED) {
            $0.led_mode = mode.rawValue
            // 0 is "until it is changed".
            $0.led_duration_ms = duration.map { UInt16(clamping: max(1, $0.milliseconds)) } ?? 0
        }
    }

    /// Reads the current gesture limits.
    public func readLimits() async throws(GripCommandError) -> GestureLimits {
        GestureLimits(try await send(TENDON_FJORDEN_GET_CONFIG).config)
    }

    /// Sets the gesture limits; throws `outOfRange` if a value is out of range.
    public func setLimits(_ limits: GestureLimits) async throws(GripCommandError) {
        _ = try await send(TENDON_FJORDEN_SET_CONFIG) { $0.config = limits.c }
    }

    /// Reads the current positions of the controls.
    public func readControlState() async throws(GripCommandError) -> ControlState {
        guard let state = ControlState(try await send(TENDON_FJORDEN_GET_STATE).state) else {
            throw .host(TendonError(status: Int32(TENDON_FJORDEN_ERROR_VALUE), operation: .parse))
        }
        return state
    }

    /// Removes the bond from the grip, which then disconnects.
    public func clearBond() async throws(GripCommandError) { _ = try await send(TENDON_FJORDEN_CLEAR_BOND) }

    /// Switches the grip off; it disconnects.
    public func powerOff() async throws(GripCommandError) { _ = try await send(TENDON_FJORDEN_POWER_OFF) }
}

extension ConnectedGrip: Equatable, CustomStringConvertible {
    public nonisolated static func == (a: ConnectedGrip, b: ConnectedGrip) -> Bool {
        a.events === b.events
    }
    public nonisolated var description: String { name.isEmpty ? id.description : "\(name) (\(id))" }
}

/// The consumers of a grip's events, over all its connections up to the last. For the loop's thread.
final class GripEvents: @unchecked Sendable {
    // Used only on the loop's thread.
    let records: Feed<GripRecord>
    let events: Feed<GripEvent>
    let levels: Feed<BatteryInfo>
    /// Records before the first consumer.
    private var early: [GripRecord] = []
    private(set) var earlyDropped: UInt64 = 0
    private var hadConsumer = false
    private static let earlyLimit = 8192

    init(_ loop: Loop) {
        records = Feed(loop)
        events = Feed(loop)
        levels = Feed(loop)
    }

    func take(_ record: GripRecord) {
        if !hadConsumer {
            if early.count < GripEvents.earlyLimit { early.append(record) } else { earlyDropped += 1 }
            return
        }
        records.push(record)
        guard !events.isEmpty else { return }
        for _ in 0..<record.count { events.push(record.event) }
    }

    func take(_ level: BatteryInfo) { levels.push(level) }

    /// The first consumer was added: it receives the records before it. From any thread.
    private func begin() {
        records.loop.runOrPost { [self] in
            guard !hadConsumer else { return }
            hadConsumer = true
            let all = early
            early = []
            for record in all { take(record) }
        }
    }

    func begun<Element>(_ sequence: EventSequence<Element>) -> EventStream<Element> {
        begin()
        return EventStream(sequence)
    }

    func begun(_ token: FeedToken) -> GripSubscription {
        begin()
        return GripSubscription(token)
    }

    /// The connection was lost, and a reconnection is in progress.
    func pause() {
        records.finish()
        levels.finish()
    }

    func end() {
        records.close()
        events.close()
        levels.close()
    }
}
