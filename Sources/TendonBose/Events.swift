// SPDX-License-Identifier: MIT
import Tendon

/// What happens on an open device.
public enum WearableDeviceEvent: Sendable {
    /// The strings of the Device Information Service were read.
    case didUpdateDeviceInformation(DeviceInformation)
    /// The device information changed.
    case didUpdateWearableDeviceInformation(WearableDeviceInformation)
    /// The sensor information changed.
    case didUpdateSensorInformation(SensorInformation)
    /// The device said which sensors are on; also after a write.
    case didUpdateSensorConfiguration(SensorConfiguration)
    /// It took the configuration.
    case didWriteSensorConfiguration
    /// It refused the configuration, or it could not be written.
    case didFailToWriteSensorConfiguration(BoseWearableError)
    /// A whole notification.
    case didReceiveSensorData(SensorData)
    /// The gesture information changed.
    case didUpdateGestureInformation(GestureInformation)
    /// The device said which gestures are on; also after a write.
    case didUpdateGestureConfiguration(GestureConfiguration)
    /// It took the configuration.
    case didWriteGestureConfiguration
    /// It refused the configuration, or it could not be written.
    case didFailToWriteGestureConfiguration(BoseWearableError)
    /// The wearer made a gesture.
    case didReceiveGestureData(GestureData)
    /// No sensor data until it resumes.
    case didSuspendWearableSensorService(SuspensionReason)
    /// Sensor data comes again.
    case didResumeWearableSensorService
    /// A value of the device was rejected; nothing changed.
    case didRejectValue(BoseWearableError)
}

/// What happens to a session: the delegates' calls, as values.
public enum WearableDeviceSessionEvent: Sendable {
    /// The device is ready.
    case didOpen
    /// The attempt ended.
    case didFailToOpen(BoseWearableError)
    /// `nil`: as asked.
    case didClose(BoseWearableError?)
    /// The wearer has to put the device into pairing mode; the opening waits.
    case requiresPairingMode
    /// It is in pairing mode, and pairing runs.
    case startedPairing
    /// `nil`: the device is paired.
    case finishedPairing(BoseWearableError?)
}

/// Told about a session; a weak reference. Called on the loop's thread.
///
/// ```swift
/// final class Owner: WearableDeviceSessionDelegate {
///     func sessionDidOpen(_ session: WearableDeviceSession) {}
///     func session(_ session: WearableDeviceSession, didFailToOpenWithError error: (any Error)?) { print(error as Any) }
///     func session(_ session: WearableDeviceSession, didCloseWithError error: (any Error)?) {}
/// }
/// ```
@TendonActor
public protocol WearableDeviceSessionDelegate: AnyObject {
    /// The device is ready. Not for the opening by `startConnection`.
    func sessionDidOpen(_ session: WearableDeviceSession)
    /// The attempt ended; the error is a `BoseWearableError`. Not for the opening by `startConnection`.
    func session(_ session: WearableDeviceSession, didFailToOpenWithError error: (any Error)?)
    /// The session is closed. `nil` if the program closed it, else a `BoseWearableError`.
    func session(_ session: WearableDeviceSession, didCloseWithError error: (any Error)?)
}

/// Asked to have the device put into pairing mode; a weak reference. Must be set before a session is opened to a device
/// that requires pairing, unless the device is in pairing mode.
///
/// ```swift
/// final class Prompt: WearableDeviceSessionPairingDelegate {
///     func sessionRequiresPairingMode(_ session: WearableDeviceSession) { print("press the button") }
///     func session(
///         _ session: WearableDeviceSession, finishedPairingWithResult result: Result<Void, any Error>
///     ) { print(result) }
/// }
/// ```
@TendonActor
public protocol WearableDeviceSessionPairingDelegate: AnyObject {
    /// Prompt the wearer to put the device into pairing mode. The opening waits until it is.
    func sessionRequiresPairingMode(_ session: WearableDeviceSession)
    /// Dismiss the prompt. Called for each prompt, also if the session is closed or the connection is lost, and after
    /// each pairing; an error is a `BoseWearableError`.
    func session(
        _ session: WearableDeviceSession, finishedPairingWithResult result: Result<Void, any Error>)
}
