// SPDX-License-Identifier: MIT
import CTendon
import Tendon

/// Finds grips, keeps the bond with one of them, and connects to it.
///
/// ```swift
/// try GripManager.default.configure()
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
        /// No adapter that is switched on.
        case bluetoothUnavailable
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

    /// Once, before anything else.
    public func configure(with configuration: Configuration = .default) throws(FjordenError) {
        if case .failure(let error) = core.configure(configuration) { throw error }
    }

    // MARK: State, from any thread

    /// The present state.
    public nonisolated var state: State { core.shared.state }
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

    /// The same with a handler; called for as long as the manager lives.
    public nonisolated func subscribeToStateChanges(_ handler: @escaping @TendonActor (State) -> Void) {
        core.run { $0.observeStates(handler) }
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

    /// The same with a handler, called with the whole list each time.
    public func scanForFjordenGrips(
        gripFoundHandler: @escaping @TendonActor ([ConnectableGrip]) -> Void
    ) throws(FjordenError) {
        if case .failure(let error) = core.call(TENDON_FJORDEN_CALL_SCAN) { throw error }
        core.observeLists(gripFoundHandler)
    }

    /// Another published name.
    public func startScanningForFjordenGrips() throws(FjordenError) -> GripSequence<[ConnectableGrip]> {
        try scanForFjordenGrips()
    }

    /// Another published name.
    public func startScanningForFjordenGrips(
        gripFoundHandler: @escaping @TendonActor ([ConnectableGrip]) -> Void
    ) throws(FjordenError) {
        try scanForFjordenGrips(gripFoundHandler: gripFoundHandler)
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

    /// Removes the bond with its keys. The grip itself keeps its part until it is reset: shutter and fn held for 5 s.
    public func disconnectAndForgetBondedGrip() throws(FjordenError) {
        if case .failure(let error) = core.call(TENDON_FJORDEN_CALL_FORGET) { throw error }
    }

    /// As the vendor's document spells it.
    @available(*, deprecated, renamed: "disconnectAndForgetBondedGrip()")
    public func disconnectAndForgotBondedGrip() throws(FjordenError) { try disconnectAndForgetBondedGrip() }

    private func connected(
        _ body: (GripCore, @escaping (CallResult) -> Void) -> Void
    ) async throws(FjordenError) -> ConnectedGrip {
        guard case .connected(let grip) = try await result(body) else { throw .unknown }
        return grip
    }

    private func result(
        _ body: (GripCore, @escaping (CallResult) -> Void) -> Void
    ) async throws(FjordenError) -> State {
        let core = core
        let result: CallResult = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                body(core) { continuation.resume(returning: $0) }
            }
        } onCancel: {
            core.loop.post { if case .connected = core.shared.state {} else { core.disconnect() } }
        }
        return try result.get()
    }

    // MARK: Firmware

    /// Compares with what `latest` brings, which is asked only while connected.
    public func checkForFirmwareUpdate(
        using latest: @Sendable () async throws -> String?
    ) async -> FirmwareCheckOutcome {
        guard let grip = connectedGrip else { return .error(.connectionTimeout) }
        let answer = (try? await latest()) ?? nil
        let version = answer.flatMap { FirmwareVersion(string: $0) }
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
