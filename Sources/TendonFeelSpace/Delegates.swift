// SPDX-License-Identifier: MIT
import Tendon

/// Told what happens to search and connection. Kept weakly, called on the loop's thread.
///
/// ```swift
/// final class Finder: FSConnectionDelegate {
///     func onBeltFound(device: FSBelt) { FSConnectionManager.instance.connectBelt(device) }
/// }
/// ```
@TendonActor
public protocol FSConnectionDelegate: AnyObject {
    /// Each belt once in a search.
    func onBeltFound(device: FSBelt)
    /// The search ended, whatever the cause.
    func onBeltScanFinished(cause: FSScanTerminationCause)
    /// Each step of a connection, and what caused it.
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
    /// The mode changed, and no button did it.
    func onBeltModeChanged(_ newBeltMode: FSBeltMode)
    /// A button was pressed; both modes are the same where it changed none.
    func onBeltButtonPressed(
        button: FSBeltButton, pressType: FSPressType, previousMode: FSBeltMode, newMode: FSBeltMode)
    /// Percent, 0 to 100.
    func onDefaultIntensityChanged(_ defaultIntensity: Int)
    /// Degrees, 0 to 359.
    func onHeadingOffsetChanged(_ headingOffset: Int)
    /// Each time the belt tells its battery.
    func onBeltBatteryStatusUpdated(_ status: FSBatteryStatus)
    /// As the vendor's document labels it.
    func onBeltBatteryStatusUpdated(status: FSBatteryStatus)
    /// Not before `startOrientationNotifications`.
    func onBeltOrientationNotified(beltOrientation: FSBeltOrientation)
    /// True: the belt signals that its compass is inaccurate, in app mode or its own.
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
///
/// ```swift
/// final class Guide: FSNavigationControllerDelegate {
///     func onBeltHomeButtonPressed(navigating: Bool) { print(navigating ? "stop?" : "go?") }
///     func onBeltOrientationUpdated(beltHeading: Int, accurate: Bool) { print(beltHeading) }
/// }
/// ```
@TendonActor
public protocol FSNavigationControllerDelegate: AnyObject {
    /// Every change, by the program or by a button.
    func onNavigationStateChange(state: FSNavigationState)
    /// The program decides what to do; true: it was navigating.
    func onBeltHomeButtonPressed(navigating: Bool)
    /// Percent.
    func onBeltDefaultVibrationIntensityChanged(intensity: Int)
    /// Every 500 ms; degrees from magnetic North, clockwise.
    func onBeltOrientationUpdated(beltHeading: Int, accurate: Bool)
    /// Whole percent.
    func onBeltBatteryLevelUpdated(batteryLevel: Int, status: FSPowerStatus)
    /// Each time the belt tells it, the first reading included.
    func onCompassAccuracySignalStateUpdated(enabled: Bool)
    /// `connected` and `disconnected` are what most programs look at.
    func onBeltConnectionStateChanged(state: FSBeltConnectionState)
    /// There is no radio.
    func onBluetoothNotAvailable()
    /// The radio is switched off.
    func onBluetoothPoweredOff()
    /// The link ended by itself; offer to connect again.
    func onBeltConnectionLost()
    /// The attempt ended; offer to try again.
    func onBeltConnectionFailed()
    /// The search's time is over.
    func onNoBeltFound()
    // From 2.0.5 on.
    /// As release 2.0.5 tells it; true: the bond may have been lost.
    func onBeltConnectionFailed(checkPairing: Bool)
    /// Each belt that `searchBelt()` finds.
    func onBeltFound(belt: FSBelt)
    /// The search of `searchBelt()` ended.
    func onBeltSearchFinished()
    // From 2.2 on.
    /// As release 2.2 tells it.
    func onBeltFound(belt: FSBelt, status: FSBeltConnectionStatus)
    /// As release 2.2 tells it; `noError` where all is well.
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
