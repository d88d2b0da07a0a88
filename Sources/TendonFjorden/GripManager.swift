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

    let core: GripCore

    /// One of its own, for programs with several grips.
    public nonisolated init() { core = GripCore() }

    /// On a radio that the program has opened.
    public nonisolated init(on central: Central) { core = GripCore(radio: central.core) }

    deinit {
        let core = core
        core.loop.post { core.abandon() }
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
    public nonisolated func subscribeToIssues() -> GripSequence<Issue> { core.observeIssues() }

    /// The same with a handler; called for as long as the manager lives, or until the subscription is cancelled.
    @discardableResult
    public nonisolated func subscribeToIssues(_ handler: @escaping @TendonActor (Issue) -> Void) -> GripSubscription {
        let handler = Handler(handler)
        core.run { $0.observe(handler) }
        return GripSubscription(core.loop) { handler.cancel() }
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
        core.observeStates()
    }

    /// The same with a handler; called for as long as the manager lives, or until the subscription is cancelled. A
    /// handler that captures the manager keeps it alive until then.
    @discardableResult
    public nonisolated func subscribeToStateChanges(
        _ handler: @escaping @TendonActor (State) -> Void
    ) -> GripSubscription {
        let handler = Handler(handler)
        core.run { $0.observe(handler) }
        return GripSubscription(core.loop) { handler.cancel() }
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

    /// The whole list of grips in reach, in order of discovery, on every advertisement; ends with the search.
    public func scanForFjordenGrips() throws(FjordenError) -> GripSequence<[ConnectableGrip]> {
        if case .failure(let error) = core.call(TENDON_FJORDEN_CALL_SCAN) { throw error }
        return core.observeLists()
    }

    /// The same with a handler, called with the whole list each time until the search ends. Cancelling the subscription
    /// does not end the search.
    @discardableResult
    public func scanForFjordenGrips(
        gripFoundHandler: @escaping @TendonActor ([ConnectableGrip]) -> Void
    ) throws(FjordenError) -> GripSubscription {
        if case .failure(let error) = core.call(TENDON_FJORDEN_CALL_SCAN) { throw error }
        let handler = Handler(gripFoundHandler)
        core.observe(handler)
        return GripSubscription(core.loop) { handler.cancel() }
    }

    /// As the vendor's document calls it, without `try`: if the manager cannot search, the sequence ends at once.
    /// `scanForFjordenGrips()` throws the reason.
    public func startScanningForFjordenGrips() -> GripSequence<[ConnectableGrip]> {
        (try? scanForFjordenGrips()) ?? core.noLists()
    }

    /// As the vendor's document calls it, without `try`: if the manager cannot search, the handler is never called.
    @discardableResult
    public func startScanningForFjordenGrips(
        gripFoundHandler: @escaping @TendonActor ([ConnectableGrip]) -> Void
    ) -> GripSubscription {
        (try? scanForFjordenGrips(gripFoundHandler: gripFoundHandler)) ?? GripSubscription(core.loop) {}
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
        // The connection is there: cancelling ends the waiting alone.
        let core = core
        let _: Void? = await answered(core.loop) { answer in
            core.whenBondIsStored { answer.resume(()) }
        } onCancel: {
        }
        return grip
    }

    private func result(
        _ body: (GripCore, @escaping (CallResult) -> Void) -> Void
    ) async throws(FjordenError) -> State {
        let core = core
        let result: CallResult? = await answered(core.loop) { answer in
            body(core) { answer.resume($0) }
        } onCancel: {
            core.disconnect()
        }
        guard let result else { throw .cancelled }
        return try result.get()
    }

    // MARK: Firmware

    /// Compares the grip's version with the one that `latest` returns; `latest` is called only while a grip is connected.
    /// If the task is cancelled, the outcome is the error `cancelled`.
    public func checkForFirmwareUpdate(
        using latest: @escaping @Sendable () async throws -> String?
    ) async -> FirmwareCheckOutcome {
        guard let grip = connectedGrip else { return .error(.connectionTimeout) }
        let request = Task { (try? await latest()) ?? nil }
        let text: String?? = await answered(core.loop) { answer in
            Task { @TendonActor in answer.resume(.some(await request.value)) }
        } onCancel: {
            request.cancel()
        }
        guard let text else {
            request.cancel()
            return .error(.cancelled)
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
