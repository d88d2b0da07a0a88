// SPDX-License-Identifier: MIT
import Synchronization
import Tendon

/// The logs of `BoseWearable`, one bit per category.
final class LogSwitches: Sendable {
    struct Category: OptionSet, Sendable {
        let rawValue: UInt8

        /// Events of a device that are not in another category.
        static let device = Category(rawValue: 1)
        /// Whole notifications, sample by sample.
        static let sensorData = Category(rawValue: 2)
        /// Information and configuration of sensors.
        static let sensor = Category(rawValue: 4)
        /// Suspension, and rejected values.
        static let service = Category(rawValue: 8)
        /// Events of sessions.
        static let session = Category(rawValue: 16)
        /// Search and choice of a device.
        static let connect = Category(rawValue: 32)
        /// Devices that a search finds and loses.
        static let discovery = Category(rawValue: 64)
        static let common: Category = [.device, .sensor, .service, .session, .connect]
        static let all: Category = [.common, .sensorData]
        /// The switches of the vendor's BLECore.
        static let bleCore: Category = [.device, .discovery, .service, .session]
    }

    static let shared = LogSwitches()
    private let enabled = Atomic<UInt8>(0)

    func isOn(_ category: Category) -> Bool { enabled.load(ordering: .relaxed) & category.rawValue != 0 }

    func set(_ category: Category, _ isOn: Bool) {
        if isOn {
            enabled.bitwiseOr(category.rawValue, ordering: .relaxed)
        } else {
            enabled.bitwiseAnd(~category.rawValue, ordering: .relaxed)
        }
    }

    func write(_ category: Category, _ line: @autoclosure () -> String) {
        guard isOn(category) else { return }
        Self.write(line())
    }

    static func write(_ line: String) { Message("bose", line).send() }
}

extension WearableDeviceEvent {
    /// The log of the event.
    var category: LogSwitches.Category {
        switch self {
        case .didReceiveSensorData: .sensorData
        case .didUpdateSensorInformation, .didUpdateSensorConfiguration, .didWriteSensorConfiguration,
            .didFailToWriteSensorConfiguration:
            .sensor
        case .didSuspendWearableSensorService, .didResumeWearableSensorService, .didRejectValue, .didFailToRefresh:
            .service
        default: .device
        }
    }
}

extension BoseWearable {
    /// Enables the logs of everything except sensor data: messages to `Tendon.onMessage`.
    public static func enableCommonLogging() { LogSwitches.shared.set(.common, true) }
    /// Enables all logs.
    public static func enableAllLogging() { LogSwitches.shared.set(.all, true) }
    /// Disables all logs.
    public static func disableAllLogging() { LogSwitches.shared.set(.all, false) }

    /// Logs gestures and other events of devices.
    public static var isDeviceLoggingEnabled: Bool {
        get { LogSwitches.shared.isOn(.device) }
        set { LogSwitches.shared.set(.device, newValue) }
    }
    /// Logs each notification with its samples.
    public static var isSensorDataLoggingEnabled: Bool {
        get { LogSwitches.shared.isOn(.sensorData) }
        set { LogSwitches.shared.set(.sensorData, newValue) }
    }
    /// Logs the information and the configuration of sensors.
    public static var isSensorLoggingEnabled: Bool {
        get { LogSwitches.shared.isOn(.sensor) }
        set { LogSwitches.shared.set(.sensor, newValue) }
    }
    /// Logs suspensions and rejected values.
    public static var isServiceLoggingEnabled: Bool {
        get { LogSwitches.shared.isOn(.service) }
        set { LogSwitches.shared.set(.service, newValue) }
    }
    /// Logs the events of sessions.
    public static var isSessionLoggingEnabled: Bool {
        get { LogSwitches.shared.isOn(.session) }
        set { LogSwitches.shared.set(.session, newValue) }
    }
    /// Logs the chosen devices.
    public static var isConnectUILoggingEnabled: Bool {
        get { LogSwitches.shared.isOn(.connect) }
        set { LogSwitches.shared.set(.connect, newValue) }
    }
}

/// The logging switches of the vendor's module of this name. Those that `BoseWearable` has too are the same switches.
///
/// ```swift
/// BLECore.isDiscoveryLoggingEnabled = true
/// ```
public enum BLECore {
    /// Enables the logs of devices, discovery, services and sessions.
    public static func enableCommonLogging() { LogSwitches.shared.set(.bleCore, true) }
    /// Enables all logs of BLECore.
    public static func enableAllLogging() { LogSwitches.shared.set([.bleCore, .sensorData], true) }
    /// Disables all logs of BLECore.
    public static func disableAllLogging() { LogSwitches.shared.set([.bleCore, .sensorData], false) }

    /// The same as `BoseWearable.isDeviceLoggingEnabled`.
    public static var isDeviceLoggingEnabled: Bool {
        get { BoseWearable.isDeviceLoggingEnabled }
        set { BoseWearable.isDeviceLoggingEnabled = newValue }
    }
    /// Logs the devices that the search of a `BluetoothManager` finds and loses.
    public static var isDiscoveryLoggingEnabled: Bool {
        get { LogSwitches.shared.isOn(.discovery) }
        set { LogSwitches.shared.set(.discovery, newValue) }
    }
    /// The same as `BoseWearable.isServiceLoggingEnabled`.
    public static var isServiceLoggingEnabled: Bool {
        get { BoseWearable.isServiceLoggingEnabled }
        set { BoseWearable.isServiceLoggingEnabled = newValue }
    }
    /// The same as `BoseWearable.isSessionLoggingEnabled`.
    public static var isSessionLoggingEnabled: Bool {
        get { BoseWearable.isSessionLoggingEnabled }
        set { BoseWearable.isSessionLoggingEnabled = newValue }
    }
    /// The same as `BoseWearable.isSensorDataLoggingEnabled`. `tendon capture` records every packet.
    public static var isTrafficLoggingEnabled: Bool {
        get { BoseWearable.isSensorDataLoggingEnabled }
        set { BoseWearable.isSensorDataLoggingEnabled = newValue }
    }
}

/// A log of the application's own, of the vendor's module Logging. Lines go where the other logs go.
///
/// ```swift
/// let log = Log(subsystem: "com.example.heading", category: "location", isEnabled: true)
/// log.info("authorized")
/// Log.debug("written to the default log")
/// ```
public final class Log: Sendable {
    /// The application.
    public let subsystem: String
    /// The part of the application.
    public let category: String
    private let enabled: Atomic<Bool>

    /// The log that the static functions write to; enabled.
    public static let `default` = Log(subsystem: "", category: "default", isEnabled: true)

    /// Creates a log.
    public init(subsystem: String, category: String, isEnabled: Bool) {
        self.subsystem = subsystem
        self.category = category
        enabled = Atomic(isEnabled)
    }

    /// Whether lines are written.
    public var isEnabled: Bool {
        get { enabled.load(ordering: .relaxed) }
        set { enabled.store(newValue, ordering: .relaxed) }
    }

    /// Writes a line of the default level.
    public func msg(_ message: @autoclosure () -> String) { write("notice", message()) }
    /// Writes a line for developers.
    public func debug(_ message: @autoclosure () -> String) { write("debug", message()) }
    /// Writes a line about normal operation.
    public func info(_ message: @autoclosure () -> String) { write("info", message()) }
    /// Writes a line about a failure.
    public func error(_ message: @autoclosure () -> String) { write("error", message()) }
    /// Writes a line about a failure of the system.
    public func fault(_ message: @autoclosure () -> String) { write("fault", message()) }

    private func write(_ level: String, _ message: @autoclosure () -> String) {
        guard isEnabled else { return }
        LogSwitches.write("\(category): \(level): \(message())")
    }
}

extension Log {
    /// Writes a line of the default level to the default log.
    public static func msg(_ message: @autoclosure () -> String) { Log.default.msg(message()) }
    /// Writes a line for developers to the default log.
    public static func debug(_ message: @autoclosure () -> String) { Log.default.debug(message()) }
    /// Writes a line about normal operation to the default log.
    public static func info(_ message: @autoclosure () -> String) { Log.default.info(message()) }
    /// Writes a line about a failure to the default log.
    public static func error(_ message: @autoclosure () -> String) { Log.default.error(message()) }
    /// Writes a line about a failure of the system to the default log.
    public static func fault(_ message: @autoclosure () -> String) { Log.default.fault(message()) }
}
