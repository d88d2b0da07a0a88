// SPDX-License-Identifier: MIT
import CTendon
import Synchronization
import Tendon

/// The entry point: finds a wearable, opens it, and returns the session.
///
/// ```swift
/// let session = try await BoseWearable.shared.startConnection()
/// ```
public final class BoseWearable: Sendable {
    /// Configuration, set once before the first use.
    public struct Configuration: Sendable {
        /// The radio to use.
        public var radio = RadioChoice.automatic
        /// Selects the device, in place of the SDK's picker.
        public var deviceChoice = DeviceChoice.strongestSignal(within: .seconds(1))
        /// Timeout of searching and opening; `nil`: no timeout. It is paused while the device waits for pairing mode
        /// and while it pairs, because that depends on the user.
        public var timeout: Duration? = .seconds(60)
        /// The device that `connectToLast` tries first, for example from an earlier run of the application.
        public var lastDevice: Address?
        /// The pairing service for devices that require pairing.
        public var pairing = PairingService.radio
        /// Prompts the wearer to put the device into pairing mode. Without a handler, connecting to a device that
        /// requires pairing and is not in pairing mode fails with `pairingDelegateMissing`.
        public var pairingHandler: PairingHandler?
        /// Checks if newer firmware exists; `nil`: no check.
        public var firmwareChecker: FirmwareChecker?
        /// Devices with a weaker signal (dBm) are ignored by searches; `nil`: none.
        public var rssiCutoff: Int?

        /// Defaults: the strongest wearable within one second, 60 s timeout.
        public init() {}
    }

    /// The instance of the program.
    public static let shared = BoseWearable()

    private struct Settings {
        var configuration = Configuration()
        var isSet = false

        /// Returns the configuration; after this call it can no longer be set.
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

    /// Creates an instance in addition to `shared`, for applications with several radios.
    public convenience init(_ configuration: Configuration) {
        self.init()
        stored.settings.withLock { $0 = Settings(configuration: configuration, isSet: true) }
    }

    /// Options of the vendor's SDK.
    public enum ConfigOption: String, Sendable {
        /// An `Int`: devices with a weaker signal (dBm) are ignored.
        case rssiCutoff
    }

    /// Sets the options, and keeps the rest of the configuration; `configure(_:)` with a `Configuration` throws afterwards. A
    /// function of the vendor's SDK, which can be called any number of times.
    public static func configure(_ options: [ConfigOption: Any] = [:]) {
        shared.stored.settings.withLock { settings in
            if let cutoff = options[.rssiCutoff] as? Int { settings.configuration.rssiCutoff = cutoff }
            settings.isSet = true
        }
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

    /// "Tendon " and the version of the library.
    public static var formattedVersion: String { "Tendon " + String(cString: tendon_version()) }
    /// The version of the library, for example "0.3.0".
    public static var releaseVersion: String? { String(cString: tendon_version()) }
    /// Always `nil`: builds of the library are not numbered.
    public static var buildNumber: String? { nil }

    /// Separate functions for searching and for sessions.
    @TendonActor public var bluetoothManager: BluetoothManager { manager }

    // MARK: Connecting

    /// Finds a device with the configured choice, opens it and checks the intents.
    public func startConnection(
        mode: ConnectUIMode = .alwaysShow, sensorIntent: SensorIntent? = nil, gestureIntent: GestureIntent? = nil
    ) async throws(BoseWearableError) -> WearableDeviceSession {
        // The attempt's own task could end before this task has cancelled it.
        guard !Task.isCancelled else { throw .cancelled }
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

    /// The spelling of the vendor's document.
    @_disfavoredOverload
    @discardableResult
    public func startConnection(
        mode: ConnectUIMode, sensorIntent: SensorIntent? = nil, gestureIntent: GestureIntent? = nil,
        completionHander: @escaping @TendonActor (CancellableResult<WearableDeviceSession>) -> Void
    ) -> ConnectionTask {
        start(opens: true, mode, sensorIntent, gestureIntent, completionHander)
    }

    /// Finds a device and returns a session that is not open yet.
    @available(*, deprecated, message: "use startConnection, which opens the session and sees to pairing")
    @discardableResult
    public func startDeviceSearch(
        mode: ConnectUIMode,
        completionHandler: @escaping @TendonActor (CancellableResult<WearableDeviceSession>) -> Void
    ) -> ConnectionTask {
        start(opens: false, mode, nil, nil, completionHandler)
    }

    /// The vendor's modes of a search, before version 4.
    @available(*, deprecated, message: "use startConnection, which opens the session and sees to pairing")
    @discardableResult
    public func startDeviceSearch(
        mode: DeviceSearchMode,
        completionHandler: @escaping @TendonActor (CancellableResult<WearableDeviceSession>) -> Void
    ) -> ConnectionTask {
        let modern: ConnectUIMode =
            switch mode {
            case .alwaysShowUI: .alwaysShow
            case .automaticallySelectMostRecentlyConnectedDevice(let timeout): .connectToLast(timeout: timeout)
            }
        return start(opens: false, modern, nil, nil, completionHandler)
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

/// Result of an operation that can be cancelled.
public enum CancellableResult<Success> {
    /// The operation succeeded.
    case success(Success)
    /// The operation failed, with the error.
    case failure(BoseWearableError)
    /// The operation was cancelled, by the application or by the device choice.
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

    /// Cancels the attempt; the result is `.cancelled` unless the attempt has ended already.
    public func cancel() { task.cancel() }

    func value() async throws(BoseWearableError) -> WearableDeviceSession {
        try await withTaskCancellationHandler {
            await task.value
        } onCancel: {
            task.cancel()
        }.get()
    }
}
