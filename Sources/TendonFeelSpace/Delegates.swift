// SPDX-License-Identifier: MIT
import Tendon

/// Receives the events of search and connection. A weak reference; called on the loop's thread.
///
/// ```swift
/// final class Finder: FSConnectionDelegate {
///     func onBeltFound(device: FSBelt) { FSConnectionManager.instance.connectBelt(device) }
/// }
/// ```
@TendonActor
public protocol FSConnectionDelegate: AnyObject {
    /// A belt was found; called once per belt and search.
    func onBeltFound(device: FSBelt)
    /// The search ended, whatever the cause.
    func onBeltScanFinished(cause: FSScanTerminationCause)
    /// The connection state changed, with the cause.
    func onConnectionStateChanged(
        previousState: FSConnectionState, newState: FSConnectionState, event: FSConnectionEvent)
    /// The form of release 2.2.
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

/// Receives the values and events of the connected belt. A change of mode is reported by one of the first two
/// functions, never by both.
///
/// ```swift
/// final class Buttons: FSCommandDelegate {
///     func onBeltModeChanged(_ newBeltMode: FSBeltMode) { print(newBeltMode) }
///     func onBeltButtonPressed(
///         button: FSBeltButton, pressType: FSPressType, previousMode: FSBeltMode, newMode: FSBeltMode
///     ) { print(button, newMode) }
/// }
/// ```
@TendonActor
public protocol FSCommandDelegate: AnyObject {
    /// The mode changed, but not because of a button.
    func onBeltModeChanged(_ newBeltMode: FSBeltMode)
    /// A button was pressed. Both modes are equal if the button did not change the mode.
    func onBeltButtonPressed(
        button: FSBeltButton, pressType: FSPressType, previousMode: FSBeltMode, newMode: FSBeltMode)
    /// Percent, 0 to 100.
    func onDefaultIntensityChanged(_ defaultIntensity: Int)
    /// Degrees, 0 to 359.
    func onHeadingOffsetChanged(_ headingOffset: Int)
    /// The belt reported its battery status.
    func onBeltBatteryStatusUpdated(_ status: FSBatteryStatus)
    /// The same, with the argument label of the vendor's document.
    func onBeltBatteryStatusUpdated(status: FSBatteryStatus)
    /// The belt reported its orientation; called only after `startOrientationNotifications`.
    func onBeltOrientationNotified(beltOrientation: FSBeltOrientation)
    /// `enabled` is true if the belt signals an inaccurate compass, in app mode or in compass mode.
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

/// A spelling that occurs once in the vendor's document.
@available(*, deprecated, renamed: "FSCommandDelegate")
public typealias FSComandDelegate = FSCommandDelegate

/// Receives the events of navigation, belt and connection.
///
/// ```swift
/// final class Guide: FSNavigationControllerDelegate {
///     func onBeltHomeButtonPressed(navigating: Bool) { print(navigating ? "stop?" : "go?") }
///     func onBeltOrientationUpdated(beltHeading: Int, accurate: Bool) { print(beltHeading) }
/// }
/// ```
@TendonActor
public protocol FSNavigationControllerDelegate: AnyObject {
    /// The navigation state changed, by the application or by a button.
    func onNavigationStateChange(state: FSNavigationState)
    /// The home button was pressed; the application decides what to do. `navigating` is true if navigation was in
    /// progress.
    func onBeltHomeButtonPressed(navigating: Bool)
    /// Percent.
    func onBeltDefaultVibrationIntensityChanged(intensity: Int)
    /// Called every 500 ms; degrees from magnetic north, clockwise.
    func onBeltOrientationUpdated(beltHeading: Int, accurate: Bool)
    /// Whole percent.
    func onBeltBatteryLevelUpdated(batteryLevel: Int, status: FSPowerStatus)
    /// The belt reported the state of its accuracy signal; also called for the first value.
    func onCompassAccuracySignalStateUpdated(enabled: Bool)
    /// The connection state changed. Most applications only need `connected` and `disconnected`.
    func onBeltConnectionStateChanged(state: FSBeltConnectionState)
    /// The machine has no Bluetooth adapter.
    func onBluetoothNotAvailable()
    /// The Bluetooth adapter is powered off.
    func onBluetoothPoweredOff()
    /// The connection was lost; offer to connect again.
    func onBeltConnectionLost()
    /// The attempt ended; offer to try again.
    func onBeltConnectionFailed()
    /// A search found no belt.
    func onNoBeltFound()
    // From 2.0.5 on.
    /// The form of release 2.0.5; `checkPairing` is true if the bond may have been lost.
    func onBeltConnectionFailed(checkPairing: Bool)
    /// `searchBelt()` found a belt.
    func onBeltFound(belt: FSBelt)
    /// The search of `searchBelt()` ended.
    func onBeltSearchFinished()
    // From 2.2 on.
    /// The form of release 2.2.
    func onBeltFound(belt: FSBelt, status: FSBeltConnectionStatus)
    /// The form of release 2.2; `error` is `noError` if there is no error.
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
