// SPDX-License-Identifier: MIT
import CTendon
import Tendon

/// Finds grips, keeps the bond with one of them, and connects to it.
///
/// ```swift
/// GripManager.default.configure()
/// if case .connected(let grip) = try await GripManager.default.start() {
///     for await event in grip.subscribeToGripEvents() { print(event) }
/// }
/// ```
///
/// Calls and handlers run on the loop's thread; state can be read from any.
@TendonActor
public final class GripManager {
    /// The instance of the program.
    public nonisolated static let `default` = GripManager()

    /// What a manager is doing.
    public enum State: Sendable, Equatable {
        /// Not configured, or not started.
        case uninitialized
        /// Nothing: no grip is connected or looked for.
        case ready
        /// Grips are looked for.
        case scanningForGrips
        /// The bonded grip is looked for.
        case scanningForBondedGrip
        /// A link is being made, paired and checked.
        case connecting(ConnectableGrip)
        /// Its events come.
        case connected(ConnectedGrip)
        /// The radio is not permitted.
        case unauthorized
    }

    /// What went wrong beside the result of a call, with the cause that the call's error does not have.
    public enum Issue: Sendable, Hashable, CustomStringConvertible {
        /// The radio did not open, or failed. The state is `uninitialized`, or `unauthorized`.
        case bluetooth(TendonError)
        /// Pairing did not start, or failed.
        case pairing(TendonError)
        /// The storage did not keep the bond: the grip is connected, but `start` will not find it again.
        case bondNotStored
        /// The bond could not be removed from the storage (`nil`), or its keys could not; both are kept.
        case bondNotRemoved(TendonError?)

        public var description: String {
            switch self {
            case .bluetooth(let error): "Bluetooth is not available: \(error)"
            case .pairing(let error): "pairing failed: \(error)"
            case .bondNotStored: "the bond could not be stored"
            case .bondNotRemoved(let error):
                "the bond could not be removed" + (error.map { ": \($0)" } ?? " from the storage")
            }
        }
    }

    private let lifetime: Lifetime<GripCore>
    nonisolated var core: GripCore { lifetime.core }

    /// One of its own, for programs with several grips.
    public nonisolated convenience init() { self.init(GripCore()) }

    /// On a radio that the program opened; no other is opened when it fails. Throws if the central is not on
    /// `Loop.shared`.
    public nonisolated convenience init(on central: Central) throws(TendonError) {
        self.init(try GripCore(on: central))
    }

    private nonisolated init(_ core: GripCore) {
        lifetime = Lifetime(core)
        core.lifetime = lifetime
    }

    /// This library's.
    public nonisolated static var version: String { String(cString: tendon_version()) }

    /// Once, before anything else. A second time fails with `managerAlreadyConfigured` and changes nothing; `get()` of
    /// the result throws that.
    @discardableResult
    public func configure(with configuration: Configuration = .default) -> Result<Void, FjordenError> {
        core.configure(configuration)?.map { _ in } ?? .success(())
    }

    // MARK: State, from any thread

    /// The present state. Without an adapter that is switched on it is `uninitialized`: see `isBluetoothUnavailable`.
    public nonisolated var state: State { core.shared.state }
    /// There is no adapter, or it is off: `issue` has the cause. When it is switched on, the state becomes `ready`; if
    /// there was none, call `start` again.
    public nonisolated var isBluetoothUnavailable: Bool { core.shared.read { $0.isBluetoothUnavailable } }
    /// The latest issue; `nil`: none so far.
    public nonisolated var issue: Issue? { core.shared.read { $0.issue } }

    /// Every issue from now on.
    public nonisolated func subscribeToIssues() -> GripSequence<Issue> {
        GripSequence(core.issues.sequence(capacity: 16, policy: .dropOldest, keeping: lifetime))
    }

    /// The same with a handler; called for as long as the manager lives, or until the subscription is cancelled.
    @discardableResult
    public nonisolated func subscribeToIssues(_ handler: @escaping @TendonActor (Issue) -> Void) -> GripSubscription {
        GripSubscription(core.issues.add(handler))
    }

    /// For any grip or for the bonded one.
    public nonisolated var isScanning: Bool { state == .scanningForGrips || state == .scanningForBondedGrip }
    /// A grip is connected.
    public nonisolated var isConnected: Bool { connectedGrip != nil }
    /// `nil` unless connected.
    public nonisolated var connectedGrip: ConnectedGrip? { core.shared.connected }
    /// A bond is kept.
    public nonisolated var hasBondedGrip: Bool { bondedGripName != nil }
    /// As the bonded grip advertised; `nil`: there is none.
    public nonisolated var bondedGripName: String? { core.shared.read { $0.bondedGripName } }
    /// What is kept of the bonded grip; `nil`: there is none.
    public nonisolated var bondedGripDetails: BondedGripDetails? {
        bondedGripName.map { BondedGripDetails(name: $0) }
    }
    /// Of the connected grip.
    public nonisolated var firmwareVersion: FirmwareVersion? { connectedGrip?.firmwareVersion }
    /// What simulated mode runs on, once started.
    public nonisolated var simulator: GripSimulator? { core.shared.read { $0.simulator } }

    /// Every change from now on; not the present state.
    public nonisolated func subscribeToStateChanges() -> GripSequence<State> {
        GripSequence(core.states.sequence(capacity: 64, policy: .dropOldest, keeping: lifetime))
    }

    /// The same with a handler; called for as long as the manager lives, or until the subscription is cancelled. A
    /// handler that captures the manager keeps it alive until then.
    @discardableResult
    public nonisolated func subscribeToStateChanges(
        _ handler: @escaping @TendonActor (State) -> Void
    ) -> GripSubscription {
        GripSubscription(core.states.add(handler))
    }

    // MARK: Starting

    /// Connects to the bonded grip if there is one; without it, or when it is not found in time, the state is `ready`.
    /// Never needs the user, unless the option says so.
    @discardableResult
    public func start(options: StartOptions = []) async throws(FjordenError) -> State {
        try await result { core, done in core.start(options.contains(.askForBluetoothPermission), later: done) }
    }

    /// The same with a handler, which is called once.
    public nonisolated func start(
        options: StartOptions = [], completion: @escaping @TendonActor (Result<State, FjordenError>) -> Void
    ) {
        Task { @TendonActor in
            do throws(FjordenError) { completion(.success(try await start(options: options))) } catch {
                completion(.failure(error))
            }
        }
    }

    // MARK: Scanning

    /// The whole list of grips in range, in order of discovery, on every advertisement; ends with the search.
    public func scanForFjordenGrips() throws(FjordenError) -> GripSequence<[ConnectableGrip]> {
        if case .failure(let error) = core.call(TENDON_FJORDEN_CALL_SCAN) { throw error }
        return lists
    }

    /// The same with a handler, called with the whole list each time until the search ends. Cancelling the subscription
    /// does not end the search.
    @discardableResult
    public func scanForFjordenGrips(
        gripFoundHandler: @escaping @TendonActor ([ConnectableGrip]) -> Void
    ) throws(FjordenError) -> GripSubscription {
        if case .failure(let error) = core.call(TENDON_FJORDEN_CALL_SCAN) { throw error }
        return GripSubscription(core.lists.add(gripFoundHandler))
    }

    /// As the vendor's document calls it, without `try`: if the manager cannot search, the sequence ends at once.
    /// `scanForFjordenGrips()` throws the reason.
    public func startScanningForFjordenGrips() -> GripSequence<[ConnectableGrip]> {
        if let lists = try? scanForFjordenGrips() { return lists }
        let ended = lists
        core.lists.finish()
        return ended
    }

    private var lists: GripSequence<[ConnectableGrip]> {
        GripSequence(core.lists.sequence(capacity: 64, policy: .dropOldest, keeping: lifetime))
    }

    /// As the vendor's document calls it, without `try`: if the manager cannot search, the handler is never called.
    @discardableResult
    public func startScanningForFjordenGrips(
        gripFoundHandler: @escaping @TendonActor ([ConnectableGrip]) -> Void
    ) -> GripSubscription {
        (try? scanForFjordenGrips(gripFoundHandler: gripFoundHandler)) ?? GripSubscription()
    }

    /// Ends the search; the sequences of it end.
    public func stopScanning() { core.call(TENDON_FJORDEN_CALL_STOP_SCANNING) }

    // MARK: Connecting

    /// Pairs if need be, checks the firmware, and keeps the bond. Cancelling the task ends the attempt.
    @discardableResult
    public func connect(toGrip grip: ConnectableGrip) async throws(FjordenError) -> ConnectedGrip {
        try await connected { core, done in core.connect(grip, later: done) }
    }

    /// The same with a handler, which is called once.
    public nonisolated func connect(
        toGrip grip: ConnectableGrip, completion: @escaping @TendonActor (Result<ConnectedGrip, FjordenError>) -> Void
    ) {
        Task { @TendonActor in
            do throws(FjordenError) { completion(.success(try await connect(toGrip: grip))) } catch {
                completion(.failure(error))
            }
        }
    }

    /// Looks for the bonded grip and connects; throws `connectionTimeout` when it is not found in time.
    @discardableResult
    public func connectToBondedGrip() async throws(FjordenError) -> ConnectedGrip {
        try await connected { core, done in core.call(TENDON_FJORDEN_CALL_CONNECT_BONDED, later: done) }
    }

    /// The same with a handler, which is called once.
    public nonisolated func connectToBondedGrip(
        completion: @escaping @TendonActor (Result<ConnectedGrip, FjordenError>) -> Void
    ) {
        Task { @TendonActor in
            do throws(FjordenError) { completion(.success(try await connectToBondedGrip())) } catch {
                completion(.failure(error))
            }
        }
    }

    /// Ends search and link; the bond stays.
    public func disconnect() { core.disconnect() }

    /// Removes the bond and its keys, from the storage and from the kernel, or throws and keeps both: `issue` has the
    /// cause. Before `start` it opens the radio, and throws `invalidManagerState` if that is not possible. The grip
    /// keeps its part of the bond until it is reset: shutter and fn held for 5 s.
    public func disconnectAndForgetBondedGrip() throws(FjordenError) { try core.forget() }

    /// As the vendor's document spells it, without `try`; `get()` of the result throws what went wrong.
    @discardableResult
    public func disconnectAndForgotBondedGrip() -> Result<Void, FjordenError> {
        Result { () throws(FjordenError) in try core.forget() }
    }

    private func connected(
        _ body: (GripCore, @escaping (CallResult) -> Void) -> Void
    ) async throws(FjordenError) -> ConnectedGrip {
        guard case .connected(let grip) = try await result(body) else { throw .unknown }
        // Connected: a cancellation ends only the wait.
        let stored = Pending<Void, FjordenError>(core.loop)
        core.whenBondIsStored { stored.finish(.success(())) }
        try? await stored.value()
        return grip
    }

    private func result(
        _ body: (GripCore, @escaping (CallResult) -> Void) -> Void
    ) async throws(FjordenError) -> State {
        guard !Task.isCancelled else { throw .cancelled }
        let result = Pending<State, FjordenError>(core.loop)
        body(core) { result.finish($0) }
        return try await result.value { [core] in core.disconnect() }
    }

    // MARK: Firmware

    /// Compares the grip's version with the one that `latest` returns; `latest` is called only while a grip is connected.
    /// If the task is cancelled, the outcome is the error `cancelled`.
    public func checkForFirmwareUpdate(
        using latest: @escaping @Sendable () async throws -> String?
    ) async -> FirmwareCheckOutcome {
        guard let grip = connectedGrip else { return .error(.connectionTimeout) }
        guard !Task.isCancelled else { return .error(.cancelled) }
        let request = Task { (try? await latest()) ?? nil }
        let answer = Pending<String?, FjordenError>(core.loop)
        Task { @TendonActor in answer.finish(.success(await request.value)) }
        let text: String?
        do throws(FjordenError) {
            text = try await answer.value { request.cancel() }
        } catch {
            return .error(error)
        }
        let version = text.flatMap { FirmwareVersion(string: $0) }
        let outcome: tendon_status
        switch (grip.firmwareVersion, version) {
        case (let current?, let version?):
            outcome = current.withC { current in
                version.withC { tendon_fjorden_firmware_check(true, current, $0) }
            }
        case (let current?, nil): outcome = current.withC { tendon_fjorden_firmware_check(true, $0, nil) }
        case (nil, _): return .error(.gripUnableToReadFirmwareVersion)
        }
        if outcome < 0 { return .error(FjordenError(outcome)) }
        return outcome > 0 ? version.map { .updateAvailable($0) } ?? .upToDate : .upToDate
    }

    /// The same with a handler, which is called once.
    public nonisolated func checkForFirmwareUpdate(
        using latest: @escaping @Sendable () async throws -> String?,
        completion: @escaping @TendonActor (FirmwareCheckOutcome) -> Void
    ) {
        Task { @TendonActor in completion(await checkForFirmwareUpdate(using: latest)) }
    }
}

extension GripManager.State: CustomStringConvertible {
    public var description: String {
        switch self {
        case .uninitialized: "uninitialized"
        case .ready: "ready"
        case .scanningForGrips: "scanningForGrips"
        case .scanningForBondedGrip: "scanningForBondedGrip"
        case .connecting(let grip): "connecting(\(grip))"
        case .connected(let grip): "connected(\(grip))"
        case .unauthorized: "unauthorized"
        }
    }
}
