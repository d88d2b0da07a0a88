// SPDX-License-Identifier: MIT
import Tendon

/// Told what happens to search and connection. Kept weakly, called on the loop's thread.
@TendonActor
public protocol FSConnectionDelegate: AnyObject {
    func onBeltFound(device: FSBelt)
    func onBeltScanFinished(cause: FSScanTerminationCause)
    func onConnectionStateChanged(
        previousState: FSConnectionState, newState: FSConnectionState, event: FSConnectionEvent)
    /// As release 2.2 tells it.
    func onConnectionStateChanged(
        previousState: FSConnectionState, newState: FSConnectionState, error: FSConnectionError?)
}

extension FSConnectionDelegate {
    public func onBeltScanFinished(cause: FSScanTerminationCause) {}
    public func onConnectionStateChanged(
        previousState: FSConnectionState, newState: FSConnectionState, event: FSConnectionEvent
    ) {}
    public func onConnectionStateChanged(
        previousState: FSConnectionState, newState: FSConnectionState, error: FSConnectionError?
    ) {}
}

/// Told what the connected belt says. A change of mode is told by one of the first two, never by both.
@TendonActor
public protocol FSCommandDelegate: AnyObject {
    func onBeltModeChanged(_ newBeltMode: FSBeltMode)
    func onBeltButtonPressed(
        button: FSBeltButton, pressType: FSPressType, previousMode: FSBeltMode, newMode: FSBeltMode)
    func onDefaultIntensityChanged(_ defaultIntensity: Int)
    func onHeadingOffsetChanged(_ headingOffset: Int)
    func onBeltBatteryStatusUpdated(_ status: FSBatteryStatus)
    /// As the vendor's document labels it.
    func onBeltBatteryStatusUpdated(status: FSBatteryStatus)
    func onBeltOrientationNotified(beltOrientation: FSBeltOrientation)
    func onBeltCompassAccuracySignalStateNotified(_ enabled: Bool)
}

extension FSCommandDelegate {
    public func onDefaultIntensityChanged(_ defaultIntensity: Int) {}
    public func onHeadingOffsetChanged(_ headingOffset: Int) {}
    public func onBeltBatteryStatusUpdated(_ status: FSBatteryStatus) {}
    public func onBeltBatteryStatusUpdated(status: FSBatteryStatus) {}
    public func onBeltOrientationNotified(beltOrientation: FSBeltOrientation) {}
    public func onBeltCompassAccuracySignalStateNotified(_ enabled: Bool) {}
}

/// As the vendor's document once spells it.
@available(*, deprecated, renamed: "FSCommandDelegate")
public typealias FSComandDelegate = FSCommandDelegate

/// Told what happens to navigation, belt and connection.
@TendonActor
public protocol FSNavigationControllerDelegate: AnyObject {
    func onNavigationStateChange(state: FSNavigationState)
    func onBeltHomeButtonPressed(navigating: Bool)
    func onBeltDefaultVibrationIntensityChanged(intensity: Int)
    func onBeltOrientationUpdated(beltHeading: Int, accurate: Bool)
    func onBeltBatteryLevelUpdated(batteryLevel: Int, status: FSPowerStatus)
    func onCompassAccuracySignalStateUpdated(enabled: Bool)
    func onBeltConnectionStateChanged(state: FSBeltConnectionState)
    func onBluetoothNotAvailable()
    func onBluetoothPoweredOff()
    func onBeltConnectionLost()
    func onBeltConnectionFailed()
    func onNoBeltFound()
    // From 2.0.5 on.
    func onBeltConnectionFailed(checkPairing: Bool)
    func onBeltFound(belt: FSBelt)
    func onBeltSearchFinished()
    // From 2.2 on.
    func onBeltFound(belt: FSBelt, status: FSBeltConnectionStatus)
    func onConnectionStateChanged(state: FSBeltConnectionState, error: FSBeltConnectionError)
}

extension FSNavigationControllerDelegate {
    public func onNavigationStateChange(state: FSNavigationState) {}
    public func onBeltHomeButtonPressed(navigating: Bool) {}
    public func onBeltDefaultVibrationIntensityChanged(intensity: Int) {}
    public func onBeltOrientationUpdated(beltHeading: Int, accurate: Bool) {}
    public func onBeltBatteryLevelUpdated(batteryLevel: Int, status: FSPowerStatus) {}
    public func onCompassAccuracySignalStateUpdated(enabled: Bool) {}
    public func onBeltConnectionStateChanged(state: FSBeltConnectionState) {}
    public func onBluetoothNotAvailable() {}
    public func onBluetoothPoweredOff() {}
    public func onBeltConnectionLost() {}
    public func onBeltConnectionFailed() {}
    public func onNoBeltFound() {}
    public func onBeltConnectionFailed(checkPairing: Bool) {}
    public func onBeltFound(belt: FSBelt) {}
    public func onBeltSearchFinished() {}
    public func onBeltFound(belt: FSBelt, status: FSBeltConnectionStatus) {}
    public func onConnectionStateChanged(state: FSBeltConnectionState, error: FSBeltConnectionError) {}
}
