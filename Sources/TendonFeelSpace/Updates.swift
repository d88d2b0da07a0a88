// SPDX-License-Identifier: MIT
import CTendon
import Tendon

/// Events of a search and a connection, as elements of a sequence.
public enum FSConnectionUpdate: Sendable {
    /// A belt was found; once per belt and search.
    case found(FSBelt)
    /// The search ended.
    case scanFinished(FSScanTerminationCause)
    /// The connection state changed; if the connection ended without a request, the error contains the reason.
    case stateChanged(
        from: FSConnectionState, to: FSConnectionState, event: FSConnectionEvent, error: FSConnectionError?)
}

/// Events of a connected belt.
public enum FSCommandUpdate: Sendable {
    /// The mode changed, but not because of a button.
    case modeChanged(FSBeltMode)
    /// A button was pressed. Both modes are equal if the button did not change the mode.
    case buttonPressed(FSBeltButton, FSPressType, previousMode: FSBeltMode, newMode: FSBeltMode)
    /// Percent.
    case defaultIntensityChanged(Int)
    /// Degrees.
    case headingOffsetChanged(Int)
    /// The belt reported its battery status.
    case battery(FSBatteryStatus)
    /// The belt reported its orientation.
    case orientation(FSBeltOrientation)
    /// The modes in which it signals an inaccurate compass.
    case accuracySignal(FSAccuracySignal)
    /// The number is `FSCommandManager.lastCommand` after the call.
    case commandFinished(UInt32, TendonError?)
    /// Bytes of the debug output characteristic.
    case debugOutput([UInt8])
    /// A malformed packet, which was ignored.
    case rejected([UInt8], TendonError)
}

/// Events of a navigation controller.
public enum FSNavigationUpdate: Sendable {
    /// The state of navigation changed.
    case state(FSNavigationState)
    /// The home button was pressed; the application decides what to do.
    case homeButtonPressed(navigating: Bool)
    /// Percent.
    case defaultIntensity(Int)
    /// Degrees from magnetic north, clockwise.
    case orientation(heading: Int, accurate: Bool)
    /// Whole percent and supply.
    case battery(level: Int, FSPowerStatus)
    /// Whether the belt signals an inaccurate compass.
    case accuracySignal(enabled: Bool)
    /// The connection state changed; `noError` if there is no error.
    case connection(FSBeltConnectionState, FSBeltConnectionError)
    /// The machine has no Bluetooth adapter.
    case bluetoothNotAvailable
    /// The Bluetooth adapter is powered off.
    case bluetoothPoweredOff
    /// The connection was lost.
    case connectionLost
    /// A search found no belt.
    case noBeltFound
    /// The search of `searchBelt()` ended.
    case searchFinished
    /// The attempt ended.
    case connectionFailed(FSBeltConnectionError)
    /// A belt that `searchBelt()` found.
    case found(FSBelt)
}

extension FSConnectionUpdate {
    /// Returns `nil` if the event does not belong to the connection.
    init?(_ event: tendon_feelspace_event) {
        switch event.kind {
        case TENDON_FEELSPACE_EVENT_FOUND: self = .found(FSBelt(event))
        case TENDON_FEELSPACE_EVENT_SCAN_FINISHED:
            self = .scanFinished(FSScanTerminationCause(rawValue: event.scan.cause.rawValue) ?? .canceled)
        case TENDON_FEELSPACE_EVENT_STATE:
            let change = event.connection
            self = .stateChanged(
                from: FSConnectionState(change.previous), to: FSConnectionState(change.state),
                event: FSConnectionEvent(rawValue: change.event.rawValue) ?? .connectionFailed,
                error: FSConnectionError(change.error))
        default: return nil
        }
    }

    @TendonActor
    func deliver(to delegate: any FSConnectionDelegate) {
        switch self {
        case .found(let belt): delegate.onBeltFound(device: belt)
        case .scanFinished(let cause): delegate.onBeltScanFinished(cause: cause)
        case .stateChanged(let from, let to, let event, let error):
            delegate.onConnectionStateChanged(previousState: from, newState: to, event: event)
            delegate.onConnectionStateChanged(previousState: from, newState: to, error: error)
        }
    }
}

extension FSCommandUpdate {
    /// Returns `nil` if the event is not reported to applications.
    init?(_ event: tendon_feelspace_event, _ session: tendon_feelspace_session) {
        switch event.kind {
        case TENDON_FEELSPACE_EVENT_MODE: self = .modeChanged(FSBeltMode(session.mode))
        case TENDON_FEELSPACE_EVENT_BUTTON:
            guard let button = FSBeltButton(rawValue: event.press.button) else { return nil }
            self = .buttonPressed(
                button, event.press.is_long ? .longPress : .shortPress,
                previousMode: FSBeltMode(event.press.previous_mode),
                newMode: FSBeltMode(event.press.new_mode))
        case TENDON_FEELSPACE_EVENT_DEFAULT_INTENSITY: self = .defaultIntensityChanged(Int(session.default_intensity))
        case TENDON_FEELSPACE_EVENT_HEADING_OFFSET: self = .headingOffsetChanged(Int(session.heading_offset))
        case TENDON_FEELSPACE_EVENT_BATTERY: self = .battery(FSBatteryStatus(session.battery))
        case TENDON_FEELSPACE_EVENT_ORIENTATION:
            let times = SampleTimes(receivedAt: event.received_at)
            self = .orientation(FSBeltOrientation(session.orientation, times: times))
        case TENDON_FEELSPACE_EVENT_ACCURACY_SIGNAL:
            guard let signal = FSAccuracySignal(session.accuracy_state) else { return nil }
            self = .accuracySignal(signal)
        case TENDON_FEELSPACE_EVENT_COMMAND:
            let error = event.status < 0 ? TendonError(status: event.status, operation: .write) : nil
            self = .commandFinished(event.command.id, error)
        case TENDON_FEELSPACE_EVENT_DEBUG: self = .debugOutput(copied(event.packet.data, event.packet.length))
        case TENDON_FEELSPACE_EVENT_REJECTED:
            self = .rejected(
                copied(event.packet.data, event.packet.length),
                TendonError(status: event.status, operation: .parse))
        default: return nil
        }
    }

    @TendonActor
    func deliver(to delegate: any FSCommandDelegate) {
        switch self {
        case .modeChanged(let mode): delegate.onBeltModeChanged(mode)
        case .buttonPressed(let button, let press, let previous, let new):
            delegate.onBeltButtonPressed(button: button, pressType: press, previousMode: previous, newMode: new)
        case .defaultIntensityChanged(let intensity): delegate.onDefaultIntensityChanged(intensity)
        case .headingOffsetChanged(let offset): delegate.onHeadingOffsetChanged(offset)
        case .battery(let status):
            delegate.onBeltBatteryStatusUpdated(status)
            delegate.onBeltBatteryStatusUpdated(status: status)
        case .orientation(let orientation): delegate.onBeltOrientationNotified(beltOrientation: orientation)
        case .accuracySignal(let signal):
            delegate.onBeltCompassAccuracySignalStateNotified(signal.inApp || signal.inCompass)
        case .commandFinished, .debugOutput, .rejected: break
        }
    }
}

extension FSNavigationUpdate {
    init?(_ event: tendon_feelspace_navigation_event, _ navigation: tendon_feelspace_navigation) {
        switch event.kind {
        case TENDON_FEELSPACE_NAVIGATION_EVENT_STATE:
            self = .state(FSNavigationState(rawValue: navigation.state.rawValue) ?? .stopped)
        case TENDON_FEELSPACE_NAVIGATION_EVENT_HOME_BUTTON: self = .homeButtonPressed(navigating: event.navigating)
        case TENDON_FEELSPACE_NAVIGATION_EVENT_INTENSITY: self = .defaultIntensity(Int(event.value))
        case TENDON_FEELSPACE_NAVIGATION_EVENT_ORIENTATION:
            self = .orientation(heading: Int(event.value), accurate: event.accurate)
        case TENDON_FEELSPACE_NAVIGATION_EVENT_BATTERY:
            self = .battery(level: Int(event.value), FSPowerStatus(rawValue: event.power) ?? .unknown)
        case TENDON_FEELSPACE_NAVIGATION_EVENT_ACCURACY: self = .accuracySignal(enabled: event.enabled)
        case TENDON_FEELSPACE_NAVIGATION_EVENT_CONNECTION:
            self = .connection(FSBeltConnectionState(event.connection), FSBeltConnectionError(event.error))
        case TENDON_FEELSPACE_NAVIGATION_EVENT_NOT_AVAILABLE: self = .bluetoothNotAvailable
        case TENDON_FEELSPACE_NAVIGATION_EVENT_POWERED_OFF: self = .bluetoothPoweredOff
        case TENDON_FEELSPACE_NAVIGATION_EVENT_LOST: self = .connectionLost
        case TENDON_FEELSPACE_NAVIGATION_EVENT_FAILED: self = .connectionFailed(FSBeltConnectionError(event.error))
        case TENDON_FEELSPACE_NAVIGATION_EVENT_NO_BELT: self = .noBeltFound
        case TENDON_FEELSPACE_NAVIGATION_EVENT_SEARCHED: self = .searchFinished
        case TENDON_FEELSPACE_NAVIGATION_EVENT_FOUND:
            guard let found = event.found else { return nil }
            self = .found(FSBelt(found.pointee))
        default: return nil
        }
    }

    @TendonActor
    func deliver(to delegate: any FSNavigationControllerDelegate, isKnown: (FSBelt) -> Bool) {
        switch self {
        case .state(let state): delegate.onNavigationStateChange(state: state)
        case .homeButtonPressed(let navigating): delegate.onBeltHomeButtonPressed(navigating: navigating)
        case .defaultIntensity(let value): delegate.onBeltDefaultVibrationIntensityChanged(intensity: value)
        case .orientation(let heading, let accurate):
            delegate.onBeltOrientationUpdated(beltHeading: heading, accurate: accurate)
        case .battery(let level, let status): delegate.onBeltBatteryLevelUpdated(batteryLevel: level, status: status)
        case .accuracySignal(let enabled): delegate.onCompassAccuracySignalStateUpdated(enabled: enabled)
        case .connection(let state, let error):
            delegate.onBeltConnectionStateChanged(state: state)
            delegate.onConnectionStateChanged(state: state, error: error)
        case .bluetoothNotAvailable: delegate.onBluetoothNotAvailable()
        case .bluetoothPoweredOff: delegate.onBluetoothPoweredOff()
        case .connectionLost: delegate.onBeltConnectionLost()
        case .noBeltFound: delegate.onNoBeltFound()
        case .searchFinished: delegate.onBeltSearchFinished()
        case .connectionFailed(let error):
            delegate.onBeltConnectionFailed()
            delegate.onBeltConnectionFailed(checkPairing: error == .pairingPermissionError)
        case .found(let belt):
            delegate.onBeltFound(belt: belt)
            delegate.onBeltFound(belt: belt, status: isKnown(belt) ? .knownAdvertising : .advertising)
        }
    }
}
