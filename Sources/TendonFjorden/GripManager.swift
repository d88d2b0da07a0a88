// SPDX-License-Identifier: MIT
import CTendon
import Tendon

/// Finds grips, stores the bond with one of them, and connects to it.
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

    /// State of a manager.
    public enum State: Sendable, Equatable {
        /// Not configured, or not started.
        case uninitialized
        /// Started: no grip is connected, and no search is in progress.
        case ready
        /// Searching for grips.
        case scanningForGrips
        /// Searching for the bonded grip.
        case scanningForBondedGrip
        /// Connecting, pairing and checking the firmware.
        case connecting(ConnectableGrip)
        /// Connected; events are received.
        case connected(ConnectedGrip)
        /// The program is not permitted to use Bluetooth.
        case unauthorized
        /// There is no adapter, or it is off; `issue` contains the cause. When the adapter is powered on, the state becomes
        /// `ready`. If there was no adapter, call `start` again.
        case bluetoothUnavailable
    }

    /// Takes the result of `start`.
    public typealias StartCompletionHandler = @TendonActor (Result<State, FjordenError>) -> Void
    /// Takes the result of an attempt to connect.
    public typealias ConnectToGripCompletionHandler = @TendonActor (Result<ConnectedGrip, FjordenError>) -> Void
    /// Takes all grips in range.
    public typealias GripFoundHandler = @TendonActor ([ConnectableGrip]) -> Void
    /// Takes each new state.
    public typealias StateChangeHandler = @TendonActor (State) -> Void

    /// Whether there is newer firmware.
    public enum FirmwareCheckOutcome: Sendable, Hashable {
        /// The grip has the latest version, or a later one.
        case upToDate
        /// There is a newer version.
        case updateAvailable(FirmwareVersion)
        /// The latest version is not known.
        case error(FjordenError)
    }

    /// A problem outside the result of a call, with the cause that the error of the call does not contain.
    public enum Issue: Sendable, Hashable, CustomStringConvertible {
        /// The radio could not be opened, or failed. The state is `bluetoothUnavailable`, or `unauthorized`.
        case bluetooth(TendonError)
        /// Pairing could not be started, or failed.
        case pairing(TendonError)
        /// The bond could not be stored: the grip is connected, but `start` will not find it again.
        case bondNotStored
        /// The bond could not be removed from the storage (`nil`), or its keys could not be removed; bond and keys are
        /// kept.
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
    /// The grip of `openAndWait()`.
    var found: ConnectableGrip?
    nonisolated var core: GripCore { lifetime.core }

    /// Creates a manager in addition to `default`, for applications with several grips.
    public nonisolated convenience init() { self.init(GripCore()) }

    /// On a radio that the program opened; no other is opened when it fails.
    public nonisolated convenience init(on central: Central) {
        self.init(GripCore(on: central))
    }

    private nonisolated init(_ core: GripCore) {
        lifetime = Lifetime(core)
        core.lifetime = lifetime
    }

    /// The version of this library.
    public nonisolated static var version: String { String(cString: tendon_version()) }

    /// Configures the manager. Call it once, before other functions. A second call fails with
    /// `managerAlreadyConfigured` and changes nothing; `get()` of the result throws this error.
    @discardableResult
    public func configure(with configuration: Configuration = .default) -> Result<Void, FjordenError> {
        core.configure(configuration)?.map { _ in } ?? .success(())
    }

    // MARK: State, from any thread

    /// The current state.
    public nonisolated var state: State { core.shared.state }
    /// The latest issue; `nil`: none so far.
    public nonisolated var issue: Issue? { core.shared.read { $0.issue } }

    /// Every issue from now on.
    public nonisolated func subscribeToIssues() -> EventStream<Issue> {
        EventStream(core.issues.sequence(capacity: 16, policy: .dropOldest, keeping: lifetime))
    }

    /// The same with a handler; called for as long as the manager lives, or until the subscription is cancelled.
    @discardableResult
    public nonisolated func subscribeToIssues(_ handler: @escaping @TendonActor (Issue) -> Void) -> GripSubscription {
        GripSubscription(core.issues.add(handler))
    }

    /// Whether a search is in progress, for any grip or for the bonded grip.
    public nonisolated var isScanning: Bool { state == .scanningForGrips || state == .scanningForBondedGrip }
    /// Whether a grip is connected.
    public nonisolated var isConnected: Bool { connectedGrip != nil }
    /// The connected grip; `nil` if not connected.
    public nonisolated var connectedGrip: ConnectedGrip? { core.shared.connected }
    /// Whether a bond is stored.
    public nonisolated var hasBondedGrip: Bool { bondedGripName != nil }
    /// The advertised name of the bonded grip; `nil` if there is no bond.
    public nonisolated var bondedGripName: String? { core.shared.read { $0.bondedGripName } }
    /// The stored details of the bonded grip; `nil` if there is no bond.
    public nonisolated var bondedGripDetails: BondedGripDetails? {
        bondedGripName.map { BondedGripDetails(name: $0) }
    }
    /// The firmware version of the connected grip.
    public nonisolated var firmwareVersion: FirmwareVersion? { connectedGrip?.firmwareVersion }
    /// The simulator of the simulated mode, after `start`.
    public nonisolated var simulator: GripSimulator? { core.shared.read { $0.simulator } }

    /// State changes from now on, without the current state.
    public nonisolated func subscribeToStateChanges() -> EventStream<State> {
        EventStream(core.states.sequence(capacity: 64, policy: .dropOldest, keeping: lifetime))
    }

    /// The same with a handler; called for as long as the manager lives, or until the subscription is cancelled. A
    /// handler that captures the manager keeps it alive until then.
    @discardableResult
    public nonisolated func subscribeToStateChanges(
        handler: @escaping StateChangeHandler
    ) -> GripSubscription {
        GripSubscription(core.states.add(handler))
    }

    // MARK: Starting

    /// Connects to the bonded grip if there is one; without it, or when it is not found in time, the state is `ready`.
    /// Never prompts the user, unless the option requests it.
    @discardableResult
    public func start(options: StartOptions = []) async throws(FjordenError) -> State {
        try await result { core, done in core.start(options.contains(.askForBluetoothPermission), later: done) }
    }

    /// The same with a handler, which is called once.
    public nonisolated func start(
        options: StartOptions = [], completionHandler: @escaping StartCompletionHandler
    ) {
        Task { @TendonActor in
            do throws(FjordenError) { completionHandler(.success(try await start(options: options))) } catch {
                completionHandler(.failure(error))
            }
        }
    }

    // MARK: Scanning

    /// Searches for grips. Each advertisement yields the whole list of grips in range, in order of discovery; ends with
    /// the search.
    public func searchForGrips() throws(FjordenError) -> EventStream<[ConnectableGrip]> {
        if case .failure(let error) = core.call(TENDON_FJORDEN_CALL_SCAN) { throw error }
        return lists
    }

    /// The same with a handler, called with the whole list each time until the search ends. Cancelling the subscription
    /// does not end the search.
    @discardableResult
    public func searchForGrips(
        gripFoundHandler: @escaping GripFoundHandler
    ) throws(FjordenError) -> GripSubscription {
        if case .failure(let error) = core.call(TENDON_FJORDEN_CALL_SCAN) { throw error }
        return GripSubscription(core.lists.add(gripFoundHandler))
    }

    /// The vendor's form, without `try`: if the manager cannot search, the sequence has ended. `searchForGrips()` throws the
    /// reason.
    public func scanForFjordenGrips() -> EventStream<[ConnectableGrip]> {
        if let lists = try? searchForGrips() { return lists }
        let ended = lists
        core.lists.finish()
        return ended
    }

    /// The vendor's form, without `try`: if the manager cannot search, the handler is never called.
    @discardableResult
    public func scanForFjordenGrips(gripFoundHandler: @escaping GripFoundHandler) -> GripSubscription {
        (try? searchForGrips(gripFoundHandler: gripFoundHandler)) ?? GripSubscription()
    }

    /// The name of `scanForFjordenGrips()` in the vendor's document.
    public func startScanningForFjordenGrips() -> EventStream<[ConnectableGrip]> { scanForFjordenGrips() }

    private var lists: EventStream<[ConnectableGrip]> {
        EventStream(core.lists.sequence(capacity: 64, policy: .dropOldest, keeping: lifetime))
    }

    /// The name of `scanForFjordenGrips(gripFoundHandler:)` in the vendor's document.
    @discardableResult
    public func startScanningForFjordenGrips(gripFoundHandler: @escaping GripFoundHandler) -> GripSubscription {
        scanForFjordenGrips(gripFoundHandler: gripFoundHandler)
    }

    /// Ends the search and its sequences.
    public func stopScanning() { core.call(TENDON_FJORDEN_CALL_STOP_SCANNING) }

    // MARK: Connecting

    /// Connects: pairs if necessary, checks the firmware, and stores the bond. Cancelling the task ends the attempt.
    @discardableResult
    public func connect(toGrip grip: ConnectableGrip) async throws(FjordenError) -> ConnectedGrip {
        try await connected { core, done in core.connect(grip, later: done) }
    }

    /// The same with a handler, which is called once.
    public nonisolated func connect(
        toGrip grip: ConnectableGrip, completionHandler: @escaping ConnectToGripCompletionHandler
    ) {
        Task { @TendonActor in
            do throws(FjordenError) { completionHandler(.success(try await connect(toGrip: grip))) } catch {
                completionHandler(.failure(error))
            }
        }
    }

    /// Searches for the bonded grip and connects; throws `connectionTimeout` if it is not found in time.
    @discardableResult
    public func connectToBondedGrip() async throws(FjordenError) -> ConnectedGrip {
        try await connected { core, done in core.call(TENDON_FJORDEN_CALL_CONNECT_BONDED, later: done) }
    }

    /// The same with a handler, which is called once.
    public nonisolated func connectToBondedGrip(completionHandler: @escaping ConnectToGripCompletionHandler) {
        Task { @TendonActor in
            do throws(FjordenError) { completionHandler(.success(try await connectToBondedGrip())) } catch {
                completionHandler(.failure(error))
            }
        }
    }

    /// Ends search and connection; keeps the bond.
    public func disconnect() { core.disconnect() }

    /// Removes the bond and its keys, from the storage and from the kernel, or throws and keeps both; `issue` contains
    /// the cause. Before `start` it opens the radio, and throws `invalidManagerState` if that is not possible. The grip
    /// keeps its part of the bond until it is reset: shutter and fn held for 5 s.
    public func disconnectAndForgetBondedGrip() throws(FjordenError) { try core.forget() }

    /// The form of the vendor's document, without `try`; `get()` of the result throws the error.
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
        case .bluetoothUnavailable: "bluetoothUnavailable"
        }
    }
}
