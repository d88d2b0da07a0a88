// SPDX-License-Identifier: MIT
import Tendon

/// Events of an open device.
public enum WearableDeviceEvent: Sendable {
    /// The strings of the Device Information Service were read.
    case didUpdateDeviceInformation(DeviceInformation)
    /// The device information changed.
    case didUpdateWearableDeviceInformation(WearableDeviceInformation)
    /// The sensor information changed.
    case didUpdateSensorInformation(SensorInformation)
    /// The sensor configuration was read or changed; also after a write.
    case didUpdateSensorConfiguration(SensorConfiguration)
    /// The device accepted the sensor configuration.
    case didWriteSensorConfiguration
    /// The device rejected the sensor configuration, or it could not be written.
    case didFailToWriteSensorConfiguration(BoseWearableError)
    /// A whole notification.
    case didReceiveSensorData(SensorData)
    /// The gesture information changed.
    case didUpdateGestureInformation(GestureInformation)
    /// The gesture configuration was read or changed; also after a write.
    case didUpdateGestureConfiguration(GestureConfiguration)
    /// The device accepted the gesture configuration.
    case didWriteGestureConfiguration
    /// The device rejected the gesture configuration, or it could not be written.
    case didFailToWriteGestureConfiguration(BoseWearableError)
    /// The wearer made a gesture.
    case didReceiveGestureData(GestureData)
    /// The sensor service is suspended: no sensor data until it resumes.
    case didSuspendWearableSensorService(SuspensionReason)
    /// The sensor service has resumed.
    case didResumeWearableSensorService
    /// A value of the device was rejected; nothing changed.
    case didRejectValue(BoseWearableError)
    /// A value could not be requested, because the session is not open.
    case didFailToRefresh(BoseWearableError)
}

/// State of a session.
public enum WearableDeviceSessionState: Sendable, Hashable {
    /// Not connected.
    case closed
    /// Connecting to the device, pairing with it, or reading its information.
    case opening
    /// The device is ready, suspended or not. Also while the session closes.
    case open
}

/// Events of a session: the calls of the delegates, as values.
public enum WearableDeviceSessionEvent: Sendable {
    /// The device is ready.
    case didOpen
    /// The attempt ended.
    case didFailToOpen(BoseWearableError)
    /// The session was closed; `nil` if requested.
    case didClose(BoseWearableError?)
    /// The user must put the device into pairing mode; opening waits for it.
    case requiresPairingMode
    /// The device is in pairing mode, and pairing has started.
    case startedPairing
    /// `nil`: the device is paired.
    case finishedPairing(BoseWearableError?)
}

/// Receives the events of a session; a weak reference. Called on the loop's thread.
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
    /// The device is ready. Not called if `startConnection` opened the session.
    func sessionDidOpen(_ session: WearableDeviceSession)
    /// The attempt ended; the error is a `BoseWearableError`. Not called if `startConnection` opened the session.
    func session(_ session: WearableDeviceSession, didFailToOpenWithError error: (any Error)?)
    /// The session is closed. `nil` if the application closed it, otherwise a `BoseWearableError`.
    func session(_ session: WearableDeviceSession, didCloseWithError error: (any Error)?)
}

/// Prompts the user to put the device into pairing mode; a weak reference. Must be set before a session is opened to a
/// device that requires pairing, unless the device is in pairing mode.
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
