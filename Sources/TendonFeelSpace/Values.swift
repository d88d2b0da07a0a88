// SPDX-License-Identifier: MIT
import CTendon
import Tendon

/// A belt that was found, or whose address the program knows.
public struct FSBelt: Sendable, Hashable {
    public let address: Address
    /// As it advertises, safe to print.
    public let name: String?
    /// dBm, when it was found.
    public let rssi: Int?
    /// The newer hardware; its firmware numbers are not comparable with the older one's.
    public let isNewerHardware: Bool?
    /// What the vendor's programs call it.
    public var identifier: Address { address }

    public init(address: Address, name: String? = nil) {
        self.address = address
        self.name = name
        rssi = nil
        isNewerHardware = nil
    }

    init(_ event: tendon_feelspace_event) {
        let found = event.found
        address = Address(found.address.pointee)
        name = text(found.name, found.name_length)
        rssi = found.rssi == Int8(TENDON_RSSI_UNKNOWN) ? nil : Int(found.rssi)
        isNewerHardware = found.newer_hardware
    }

    public static func == (a: FSBelt, b: FSBelt) -> Bool { a.address == b.address }
    public func hash(into hasher: inout Hasher) { hasher.combine(address) }
}

/// What the belt is doing.
public enum FSBeltMode: UInt8, Sendable, CaseIterable {
    /// Everything is off; the link ends right after this is told.
    case standby = 0
    case wait, compass
    /// The vibration is the program's.
    case app
    case pause, calibration, crossing
    /// Not connected, or not known yet.
    case unknown = 0xFF

    init(_ c: UInt8) { self = FSBeltMode(rawValue: c) ?? .unknown }
}

public enum FSBeltButton: UInt8, Sendable, CaseIterable {
    case power = 1
    case pause, compass, home
}

public enum FSPressType: Int, Sendable, CaseIterable {
    case short = 1
    case long
}

/// What the orientation of a vibration means.
public enum FSOrientationType: UInt8, Sendable, CaseIterable {
    /// Bit i: motor i; six at most.
    case binaryMask = 0
    /// 0 to 15, clockwise from the front.
    case vibromotorIndex
    /// Degrees from the front, clockwise.
    case angle
    /// Degrees from magnetic North.
    case magneticBearing
}

public enum FSVibrationPattern: UInt8, Sendable, CaseIterable {
    case noVibration = 0
    case continuous, singleShort, singleLong, doubleShort, doubleLong
    case shortShiftWave, circularRight, fadeOut, goalReached, frontCross
}

/// Signals of `vibrateAtAngle` and `vibrateAtMagneticBearing`.
public enum FSVibrationSignal: UInt8, Sendable, CaseIterable {
    case continuous = 0x01
    case navigation = 0x81
    case destinationReachedRepeated, destinationReached, approachingDestination, directionNotification, ongoingTurn
}

/// Signals that the belt has by itself; they work in every mode.
public enum FSSystemSignal: UInt8, Sendable, CaseIterable {
    case warning = 0
    case goalReached, battery
}

public enum FSPowerStatus: UInt8, Sendable, CaseIterable {
    case unknown = 0
    case onBattery, charging, externalPower
}

public struct FSBatteryStatus: Sendable, Hashable {
    public var powerStatus = FSPowerStatus.unknown
    /// Percent; -1: unknown.
    public var batteryLevel = -1.0
    /// Seconds to full while charging, else to empty; -1: unknown.
    public var batteryTteTtf = -1.0

    public init() {}

    init(_ c: tendon_feelspace_battery) {
        powerStatus = FSPowerStatus(rawValue: c.power_status) ?? .unknown
        batteryLevel = c.level_percent
        batteryTteTtf = c.tte_ttf_s
    }
}

public struct FSBeltOrientation: Sendable, Hashable {
    /// Degrees from magnetic North, clockwise, as the belt tells them.
    public let beltMagHeading: Int
    public let beltCompassInaccurate: Bool
    /// Degrees.
    public let accuracy: Int

    init(_ c: tendon_feelspace_orientation) {
        beltMagHeading = Int(c.heading)
        beltCompassInaccurate = !c.accurate
        accuracy = Int(c.accuracy_deg)
    }
}

/// In which modes the belt signals that its compass is inaccurate.
public struct FSAccuracySignal: Sendable, Hashable {
    public var inApp: Bool
    public var inCompass: Bool

    public init(inApp: Bool, inCompass: Bool) {
        self.inApp = inApp
        self.inCompass = inCompass
    }

    init?(_ state: Int8) {
        guard state >= 0 else { return nil }
        self.init(inApp: state & 2 != 0, inCompass: state & 1 != 0)
    }
}

/// An entry of the belt's error log.
public struct FSBeltError: Sendable, Hashable {
    public let code: UInt32
    /// Milliseconds of the belt's clock.
    public let time: UInt32
    /// Counts the belt's switching on.
    public let session: Int

    /// `nil`: another debug output.
    init?(_ packet: UnsafePointer<UInt8>?, _ count: Int) {
        var c = tendon_feelspace_debug()
        guard tendon_feelspace_decode_debug(packet, count, &c, nil) >= 0, c.kind == TENDON_FEELSPACE_DEBUG_LOG_ENTRY
        else { return nil }
        code = c.error
        time = c.time_ms
        session = Int(c.session)
    }
}

// MARK: Connection

public enum FSConnectionState: UInt32, Sendable, CaseIterable {
    case notConnected = 0
    case scanning, connecting, discoveringServices, handshake, connected, reconnecting

    /// As the vendor's document once spells it.
    @available(*, deprecated, renamed: "handshake")
    public static var hanshake: FSConnectionState { .handshake }

    init(_ c: tendon_feelspace_state) { self = FSConnectionState(rawValue: c.rawValue) ?? .notConnected }
}

/// What caused a change of state.
public enum FSConnectionEvent: UInt32, Sendable, CaseIterable {
    case scanStarted = 0
    case scanTimeout, scanFailed, scanCanceled, connectionStarted, connectionEstablished, servicesDiscovered
    case handshakeFinished, connectionClosed, connectionLost, connectionFailed, serviceDiscoveryFailed
    case handshakeFailed, reconnectionStarted, reconnectionFailed
}

/// Why a connection ended or did not come about, as the vendor's release 2.2 has it.
public enum FSConnectionError: UInt32, Error, Sendable, CaseIterable {
    case btPoweredOff = 1
    case btUnauthorized, btUnsupported, btStateNotificationFailed, btStateUnknown, btStateResetting
    case connectionTimeout, serviceDiscoveryTimeout, handshakeTimeout, reconnectionTimeout
    case connectionFailed, connectionLimitReached, peripheralDisconnected, powerOff, unexpectedDisconnection
    case pairingFailed, gattDiscoveryPermissionError, serviceDiscoveryFailed, handshakePermissionError
    case handshakeFailed

    init?(_ c: tendon_feelspace_connection_error) { self.init(rawValue: c.rawValue) }
}

public enum FSScanTerminationCause: UInt32, Sendable, CaseIterable {
    case timeout = 0
    case btNotAvailable, btNotActive, alreadyConnected, canceled
}

// MARK: Navigation

public enum FSNavigationState: UInt32, Sendable, CaseIterable {
    case stopped = 0
    case paused, navigating
}

/// Signals of the navigation controller.
public enum FSBeltVibrationSignal: Int32, Sendable, CaseIterable {
    case noVibration = 0
    case continuous, navigation, approachingDestination, turnOngoing
    case directionNotification
    case nextWaypointLongDistance, nextWaypointMediumDistance, nextWaypointShortDistance, nextWaypointAreaReached
    case destinationReachedRepeated, destinationReachedSingle, operationWarning, criticalWarning, batteryLevel

    /// Can be navigated with; the others are temporary.
    public var isRepeated: Bool { tendon_feelspace_navigation_signal_repeated(rawValue) }
    public var isDirectional: Bool { tendon_feelspace_navigation_signal_directional(rawValue) }
}

/// The connection as the navigation controller tells of it.
public enum FSBeltConnectionState: UInt32, Sendable, CaseIterable {
    case disconnected = 0
    case scanning, connecting, discoveringServices, handshake, connected, reconnecting

    public static var notConnected: FSBeltConnectionState { .disconnected }
    public static var searching: FSBeltConnectionState { .scanning }

    init(_ c: tendon_feelspace_state) { self = FSBeltConnectionState(rawValue: c.rawValue) ?? .disconnected }
}

/// What is known of a belt that a search finds.
public enum FSBeltConnectionStatus: Sendable {
    case unknown, connected, known, knownAdvertising, advertising
}

/// Why a connection ended, as the navigation controller of release 2.2 tells it.
public enum FSBeltConnectionError: Error, Sendable, CaseIterable {
    case noError, btPoweredOff, btUnauthorized, btUnsupported, btStateError, unexpectedDisconnection, noBeltFound
    case connectionTimeout, connectionFailed, connectionLimitReached, beltDisconnection, beltPoweredOff
    case pairingPermissionError

    init(_ c: tendon_feelspace_connection_error) {
        self =
            switch FSConnectionError(c) {
            case nil: .noError
            case .btPoweredOff: .btPoweredOff
            case .btUnauthorized: .btUnauthorized
            case .btUnsupported: .btUnsupported
            case .btStateNotificationFailed, .btStateUnknown, .btStateResetting: .btStateError
            case .unexpectedDisconnection: .unexpectedDisconnection
            case .connectionTimeout, .serviceDiscoveryTimeout, .handshakeTimeout, .reconnectionTimeout:
                .connectionTimeout
            case .connectionFailed, .serviceDiscoveryFailed, .handshakeFailed: .connectionFailed
            case .connectionLimitReached: .connectionLimitReached
            case .peripheralDisconnected: .beltDisconnection
            case .powerOff: .beltPoweredOff
            case .pairingFailed, .gattDiscoveryPermissionError, .handshakePermissionError: .pairingPermissionError
            }
    }
}
