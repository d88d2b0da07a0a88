// SPDX-License-Identifier: MIT
import CTendon
import Synchronization
import Tendon

#if canImport(Glibc)
    import Glibc
#else
    import Musl
#endif

/// The way in: finds a wearable, opens it, and hands over the session.
///
/// ```swift
/// let session = try await BoseWearable.shared.startConnection()
/// ```
public final class BoseWearable: Sendable {
    /// What an application sets once, before first use.
    public struct Configuration: Sendable {
        /// What wearables are reached with.
        public var radio = RadioChoice.automatic
        /// In place of the picker.
        public var deviceChoice = DeviceChoice.strongestSignal(within: .seconds(1))
        /// Limit of the search and of opening the session; `nil`: none. It is paused while the device waits for pairing
        /// mode and while it pairs, which can take the wearer any time.
        public var timeout: Duration? = .seconds(60)
        /// What `connectToLast` begins with, when the program knows it from an earlier run.
        public var lastDevice: Address?
        /// How a device that needs pairing gets it.
        public var pairing = PairingService.radio
        /// Prompts the wearer to put the device into pairing mode. Without a handler, connecting to a device that
        /// requires pairing and is not in pairing mode fails with `pairingDelegateMissing`.
        public var pairingHandler: PairingHandler?
        /// Says whether newer firmware is there; `nil`: nobody is asked.
        public var firmwareChecker: FirmwareChecker?

        /// The strongest wearable within a second, 60 s for all of it.
        public init() {}
    }

    /// The instance of the program.
    public static let shared = BoseWearable()

    private struct Settings {
        var configuration = Configuration()
        var isSet = false

        /// From here on it cannot be set any more.
        mutating func use() -> Configuration {
            isSet = true
            return configuration
        }
    }

    /// Shared with the manager, which may outlive this object.
    private final class Shared: Sendable {
        let settings = Mutex(Settings())
    }

    private let stored: Shared
    let manager: BluetoothManager

    private init() {
        let stored = Shared()
        self.stored = stored
        manager = BluetoothManager { stored.settings.withLock { $0.use() } }
    }

    /// One beside `shared`, for programs with several radios.
    public convenience init(_ configuration: Configuration) {
        self.init()
        stored.settings.withLock { $0 = Settings(configuration: configuration, isSet: true) }
    }

    /// Keeps the default configuration, or the one that is set. The vendor's call; any number of times.
    public static func configure() {
        shared.stored.settings.withLock { $0.isSet = true }
    }

    /// Sets the configuration of `shared`: once, before first use. Throws `alreadyConfigured` afterwards.
    public static func configure(_ configuration: Configuration) throws(BoseWearableError) {
        let isFirst = shared.stored.settings.withLock { settings in
            defer { settings.isSet = true }
            guard !settings.isSet else { return false }
            settings.configuration = configuration
            return true
        }
        guard isFirst else { throw .alreadyConfigured }
    }

    var configuration: Configuration { stored.settings.withLock { $0.use() } }

    /// Sessions tell on standard error what happens to them.
    public static func enableCommonLogging() { Log.shared.enable() }

    /// "Tendon 0.1.0".
    public var formattedVersion: String { "Tendon " + String(cString: tendon_version()) }

    /// Search and sessions one by one.
    @TendonActor public var bluetoothManager: BluetoothManager { manager }

    // MARK: Connecting

    /// Finds a device by the configured choice, opens it, checks the intents.
    public func startConnection(
        mode: ConnectUIMode = .alwaysShow, sensorIntent: SensorIntent? = nil, gestureIntent: GestureIntent? = nil
    ) async throws(BoseWearableError) -> WearableDeviceSession {
        let attempt = ConnectionTask { () async throws(BoseWearableError) in
            try await Connector(self).connect(mode, sensorIntent, gestureIntent, opens: true)
        }
        return try await attempt.value()
    }

    /// The same with a handler, which is called once, on the loop's thread.
    @discardableResult
    public func startConnection(
        mode: ConnectUIMode, sensorIntent: SensorIntent? = nil, gestureIntent: GestureIntent? = nil,
        completionHandler: @escaping @TendonActor (CancellableResult<WearableDeviceSession>) -> Void
    ) -> ConnectionTask {
        start(opens: true, mode, sensorIntent, gestureIntent, completionHandler)
    }

    /// The spelling that the vendor's document prints.
    @_disfavoredOverload
    @discardableResult
    public func startConnection(
        mode: ConnectUIMode, sensorIntent: SensorIntent? = nil, gestureIntent: GestureIntent? = nil,
        completionHander: @escaping @TendonActor (CancellableResult<WearableDeviceSession>) -> Void
    ) -> ConnectionTask {
        start(opens: true, mode, sensorIntent, gestureIntent, completionHander)
    }

    /// Finds a device and hands over a session that is still to be opened.
    @available(*, deprecated, message: "use startConnection, which opens the session and sees to pairing")
    @discardableResult
    public func startDeviceSearch(
        mode: ConnectUIMode,
        completionHandler: @escaping @TendonActor (CancellableResult<WearableDeviceSession>) -> Void
    ) -> ConnectionTask {
        start(opens: false, mode, nil, nil, completionHandler)
    }

    /// A session with a wearable that this program simulates, without hardware. It is closed at first.
    public func createSimulatedWearableDeviceSession(
        _ options: SimulatedWearable.Options = SimulatedWearable.Options()
    ) async throws(BoseWearableError) -> WearableDeviceSession {
        guard !Task.isCancelled else { throw .cancelled }
        do throws(TendonError) {
            let radio = RadioChoice.virtual(directory: "/tmp/tendon-simulated-\(getuid())-\(getpid())")
            let wearable = try await SimulatedWearable(options, radio: radio)
            let central = try await Central(radio: radio)
            return await manager.makeSimulatedSession(wearable, central.core, options.name)
        } catch {
            throw BoseWearableError(error)
        }
    }

    private func start(
        opens: Bool, _ mode: ConnectUIMode, _ sensor: SensorIntent?, _ gesture: GestureIntent?,
        _ completion: @escaping @TendonActor (CancellableResult<WearableDeviceSession>) -> Void
    ) -> ConnectionTask {
        let attempt = ConnectionTask { () async throws(BoseWearableError) in
            try await Connector(self).connect(mode, sensor, gesture, opens: opens)
        }
        Task { @TendonActor in
            do throws(BoseWearableError) {
                completion(.success(try await attempt.value()))
            } catch .cancelled {
                completion(.cancelled)
            } catch {
                completion(.failure(error))
            }
        }
        return attempt
    }
}

/// Outcome of something that can be given up.
public enum CancellableResult<Success> {
    /// It was done.
    case success(Success)
    /// It was not done, and why.
    case failure(BoseWearableError)
    /// It was given up, by the program or by the device choice.
    case cancelled
}

extension CancellableResult: Sendable where Success: Sendable {}

/// An attempt to connect.
///
/// ```swift
/// let attempt = BoseWearable.shared.startConnection(mode: .alwaysShow) { print($0) }
/// attempt.cancel()
/// ```
public final class ConnectionTask: Sendable {
    private let task: Task<Result<WearableDeviceSession, BoseWearableError>, Never>

    init(_ body: @escaping @TendonActor () async throws(BoseWearableError) -> WearableDeviceSession) {
        task = Task { @TendonActor in
            do throws(BoseWearableError) {
                return .success(try await body())
            } catch {
                return .failure(error)
            }
        }
    }

    /// The outcome will be `.cancelled`, unless it is there already.
    public func cancel() { task.cancel() }

    func value() async throws(BoseWearableError) -> WearableDeviceSession {
        try await withTaskCancellationHandler {
            await task.value
        } onCancel: {
            task.cancel()
        }.get()
    }
}
