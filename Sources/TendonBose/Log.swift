// SPDX-License-Identifier: MIT
import Synchronization
import Tendon

/// The logs of `BoseWearable`, one bit per category.
final class Log: Sendable {
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
        static let common: Category = [.device, .sensor, .service, .session, .connect]
        static let all: Category = [.common, .sensorData]
    }

    static let shared = Log()
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
        say("tendon: bose: \(line())")
    }
}

extension WearableDeviceEvent {
    /// The log of the event.
    var category: Log.Category {
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
    /// Enables the logs of everything except sensor data: lines on standard error.
    public static func enableCommonLogging() { Log.shared.set(.common, true) }
    /// Enables all logs.
    public static func enableAllLogging() { Log.shared.set(.all, true) }
    /// Disables all logs.
    public static func disableAllLogging() { Log.shared.set(.all, false) }

    /// Logs gestures and other events of devices.
    public static var isDeviceLoggingEnabled: Bool {
        get { Log.shared.isOn(.device) }
        set { Log.shared.set(.device, newValue) }
    }
    /// Logs each notification with its samples.
    public static var isSensorDataLoggingEnabled: Bool {
        get { Log.shared.isOn(.sensorData) }
        set { Log.shared.set(.sensorData, newValue) }
    }
    /// Logs the information and the configuration of sensors.
    public static var isSensorLoggingEnabled: Bool {
        get { Log.shared.isOn(.sensor) }
        set { Log.shared.set(.sensor, newValue) }
    }
    /// Logs suspensions and rejected values.
    public static var isServiceLoggingEnabled: Bool {
        get { Log.shared.isOn(.service) }
        set { Log.shared.set(.service, newValue) }
    }
    /// Logs the events of sessions.
    public static var isSessionLoggingEnabled: Bool {
        get { Log.shared.isOn(.session) }
        set { Log.shared.set(.session, newValue) }
    }
    /// Logs the chosen devices.
    public static var isConnectUILoggingEnabled: Bool {
        get { Log.shared.isOn(.connect) }
        set { Log.shared.set(.connect, newValue) }
    }
}
