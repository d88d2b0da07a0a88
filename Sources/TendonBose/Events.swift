// SPDX-License-Identifier: MIT
import Tendon

/// What happens on an open device.
public enum WearableDeviceEvent: Sendable {
    case didUpdateDeviceInformation(DeviceInformation)
    case didUpdateWearableDeviceInformation(WearableDeviceInformation)
    case didUpdateSensorInformation(SensorInformation)
    case didUpdateSensorConfiguration(SensorConfiguration)
    case didWriteSensorConfiguration
    case didFailToWriteSensorConfiguration(BoseWearableError)
    case didReceiveSensorData(SensorData)
    case didUpdateGestureInformation(GestureInformation)
    case didUpdateGestureConfiguration(GestureConfiguration)
    case didWriteGestureConfiguration
    case didFailToWriteGestureConfiguration(BoseWearableError)
    case didReceiveGestureData(GestureData)
    case didSuspendWearableSensorService(SuspensionReason)
    case didResumeWearableSensorService
    /// A value of the device was rejected; nothing changed.
    case didRejectValue(BoseWearableError)
}

/// What happens to a session: the delegates' calls, as values.
public enum WearableDeviceSessionEvent: Sendable {
    case didOpen
    case didFailToOpen(BoseWearableError)
    /// `nil`: as asked.
    case didClose(BoseWearableError?)
    case requiresPairingMode
    case startedPairing
    case finishedPairing(BoseWearableError?)
}

/// Told about a session; kept weakly. Called on the loop's thread.
@TendonActor
public protocol WearableDeviceSessionDelegate: AnyObject {
    func sessionDidOpen(_ session: WearableDeviceSession)
    func session(_ session: WearableDeviceSession, didFailToOpenWithError error: BoseWearableError)
    /// `nil`: as asked.
    func session(_ session: WearableDeviceSession, didCloseWithError error: BoseWearableError?)
}

/// Asked to have the device put into pairing mode; kept weakly. Must be set before a session is opened to a device
/// that needs pairing.
@TendonActor
public protocol WearableDeviceSessionPairingDelegate: AnyObject {
    /// Prompt the wearer to put the device into pairing mode. The opening waits until it is.
    func sessionRequiresPairingMode(_ session: WearableDeviceSession)
    /// Take the prompt away.
    func session(
        _ session: WearableDeviceSession, finishedPairingWithResult result: Result<Void, BoseWearableError>)
}
