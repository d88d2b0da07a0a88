// SPDX-License-Identifier: MIT
import CTendon
@_exported import Tendon

/// A belt that was found, or whose address the program knows.
///
/// ```swift
/// if let address = Address("C0:00:00:00:00:01/random") { manager.connectBelt(FSBelt(address: address)) }
/// ```
public struct FSBelt: Sendable, Hashable {
    /// Where it is reached.
    public let address: Address
    /// As it advertises, safe to print.
    public let name: String?
    /// dBm, when it was found.
    public let rssi: Int?
    /// The newer hardware; its firmware numbers are not comparable with the older one's.
    public let isNewerHardware: Bool?
    /// What the vendor's programs call it.
    public var identifier: Address { address }

    /// A belt that the program knows by its address.
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
    /// Waits for a button or a command.
    case wait
    /// Vibrates towards magnetic North.
    case compass
    /// The vibration is the program's.
    case app
    /// Silent; another press returns to the mode before.
    case pause
    /// The belt's own calibration; cannot be asked for.
    case calibration
    /// Vibrates towards the heading that it had at first.
    case crossing
    /// Not connected, or not known yet.
    case unknown = 0xFF

    init(_ c: UInt8) { self = FSBeltMode(rawValue: c) ?? .unknown }
}

/// The buttons on the belt's box.
public enum FSBeltButton: UInt8, Sendable, CaseIterable {
    /// Short: the battery's signal; long: off.
    case power = 1
    /// To pause mode and back.
    case pause
    /// To compass mode; twice: crossing.
    case compass
    /// The program's.
    case home
}

/// How long a button was held.
public enum FSPressType: Int, Sendable, CaseIterable {
    /// Briefly.
    case short = 1
    /// Held.
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

/// What a channel's motors do in one iteration.
public enum FSVibrationPattern: UInt8, Sendable, CaseIterable {
    /// Nothing.
    case noVibration = 0
    /// All the time.
    case continuous
    /// One short pulse.
    case singleShort
    /// One long pulse.
    case singleLong
    /// Two short pulses.
    case doubleShort
    /// Two long pulses.
    case doubleLong
    /// A wave that warns; its motors are its own, so not with a mask.
    case shortShiftWave
    /// Once around, clockwise; not with a mask.
    case circularRight
    /// Weaker and weaker.
    case fadeOut
    /// The destination's signal; not with a mask.
    case goalReached
    /// Across the front; not with a mask.
    case frontCross
}

/// Signals of `vibrateAtAngle` and `vibrateAtMagneticBearing`.
public enum FSVibrationSignal: UInt8, Sendable, CaseIterable {
    /// All the time.
    case continuous = 0x01
    /// All the time, for guiding.
    case navigation = 0x81
    /// The destination's signal every 5 s; the direction does not matter.
    case destinationReachedRepeated
    /// The destination's signal once; the direction does not matter.
    case destinationReached
    /// A long pulse each second.
    case approachingDestination
    /// One second.
    case directionNotification
    /// A long pulse every 750 ms.
    case ongoingTurn
}

/// Signals that the belt has by itself; they work in every mode.
public enum FSSystemSignal: UInt8, Sendable, CaseIterable {
    /// Something is wrong.
    case warning = 0
    /// The destination is reached.
    case goalReached
    /// The battery's level.
    case battery
}

/// What feeds the belt.
public enum FSPowerStatus: UInt8, Sendable, CaseIterable {
    /// It has not told.
    case unknown = 0
    /// Its battery.
    case onBattery
    /// A supply that charges the battery.
    case charging
    /// A supply that does not charge it.
    case externalPower
}

/// What the belt tells of its battery.
public struct FSBatteryStatus: Sendable, Hashable {
    /// What feeds the belt.
    public var powerStatus = FSPowerStatus.unknown
    /// Percent; -1: unknown.
    public var batteryLevel = -1.0
    /// Seconds to full while charging, else to empty; -1: unknown.
    public var batteryTteTtf = -1.0

    /// Nothing known.
    public init() {}

    init(_ c: tendon_feelspace_battery) {
        powerStatus = FSPowerStatus(rawValue: c.power_status) ?? .unknown
        batteryLevel = c.level_percent
        batteryTteTtf = c.tte_ttf_s
    }
}

/// Where the belt points.
public struct FSBeltOrientation: Sendable, Hashable {
    /// Degrees from magnetic North, clockwise, as the belt tells them.
    public let beltMagHeading: Int
    /// The heading is not to be relied on.
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
    /// In app mode.
    public var inApp: Bool
    /// In compass and crossing mode.
    public var inCompass: Bool

    /// For `change(accuracySignal:persistent:)`.
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
    /// The vendor's number.
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

/// How far a connection has come: the states of the vendor's document. `FSConnectionManager.phase` has the others.
public enum FSConnectionState: UInt32, Sendable, CaseIterable {
    /// There is no connection, and none is being made.
    case notConnected = 0
    /// The connection is being made, or is attempted again after a pause.
    case connecting
    /// The services of the belt are being discovered, pairing included.
    case discoveringServices
    /// Mode and intensity are being read.
    case handshake
    /// Commands can be sent.
    case connected

    /// As the vendor's document once spells it.
    @available(*, deprecated, renamed: "handshake")
    public static var hanshake: FSConnectionState { .handshake }

    init(_ c: tendon_feelspace_state) {
        self =
            switch FSConnectionPhase(c) {
            case .notConnected, .scanning: .notConnected
            case .connecting, .reconnecting: .connecting
            case .discoveringServices: .discoveringServices
            case .handshake: .handshake
            case .connected: .connected
            }
    }
}

/// All states of search and connection.
public enum FSConnectionPhase: UInt32, Sendable, CaseIterable {
    /// There is no connection.
    case notConnected = 0
    /// A search is in progress.
    case scanning
    /// The connection is being made.
    case connecting
    /// The services of the belt are being discovered, pairing included.
    case discoveringServices
    /// Mode and intensity are being read.
    case handshake
    /// Commands can be sent.
    case connected
    /// The pause before another attempt.
    case reconnecting

    init(_ c: tendon_feelspace_state) { self = FSConnectionPhase(rawValue: c.rawValue) ?? .notConnected }
}

/// What caused a change of state.
public enum FSConnectionEvent: UInt32, Sendable, CaseIterable {
    /// A search was asked for.
    case scanStarted = 0
    /// Its time is over.
    case scanTimeout
    /// The radio does not search.
    case scanFailed
    /// It was stopped, or a connection began.
    case scanCanceled
    /// A connection was asked for.
    case connectionStarted
    /// The link is up.
    case connectionEstablished
    /// What the belt has is known.
    case servicesDiscovered
    /// Mode and intensity are known.
    case handshakeFinished
    /// As asked, or the belt was switched off.
    case connectionClosed
    /// The link ended by itself.
    case connectionLost
    /// The link could not be made.
    case connectionFailed
    /// The belt lacks something, or did not answer.
    case serviceDiscoveryFailed
    /// The belt did not answer, or refused.
    case handshakeFailed
    /// Another attempt after a loss.
    case reconnectionStarted
    /// The last attempt failed.
    case reconnectionFailed
}

/// Why a connection ended or did not come about, as the vendor's release 2.2 has it.
public enum FSConnectionError: UInt32, Error, Sendable, CaseIterable {
    /// The radio is switched off.
    case btPoweredOff = 1
    /// The radio is not permitted.
    case btUnauthorized
    /// There is no radio.
    case btUnsupported
    /// The radio does not tell its state.
    case btStateNotificationFailed
    /// The radio's state is not known.
    case btStateUnknown
    /// The radio is being reset.
    case btStateResetting
    /// The link was not made in time.
    case connectionTimeout
    /// Discovery was not done in time.
    case serviceDiscoveryTimeout
    /// The handshake was not done in time.
    case handshakeTimeout
    /// The link was not made again in time.
    case reconnectionTimeout
    /// The link could not be made.
    case connectionFailed
    /// The controller takes no more links.
    case connectionLimitReached
    /// The belt ended the link.
    case peripheralDisconnected
    /// The belt was switched off.
    case powerOff
    /// The link was lost.
    case unexpectedDisconnection
    /// Pairing failed.
    case pairingFailed
    /// The belt wants pairing before it tells what it has.
    case gattDiscoveryPermissionError
    /// The belt lacks something that every belt has.
    case serviceDiscoveryFailed
    /// The belt wants pairing before it answers.
    case handshakePermissionError
    /// The belt refused, or answered what it may not answer.
    case handshakeFailed
    /// The program cancelled the task that waited, or ended the attempt.
    case cancelled = 0xFFFF

    init?(_ c: tendon_feelspace_connection_error) { self.init(rawValue: c.rawValue) }
}

extension FSConnectionError: CancellableError {
    /// Whether the operation ended because the program cancelled it.
    public var isCancelled: Bool { self == .cancelled }
}

extension FSConnectionError {
    /// What happened, in one line.
    public var localizedDescription: String {
        switch self {
        case .btPoweredOff: "the Bluetooth adapter is powered off"
        case .btUnauthorized: "the program is not permitted to use Bluetooth"
        case .btUnsupported: "this machine has no Bluetooth adapter"
        case .btStateNotificationFailed, .btStateUnknown: "the state of the Bluetooth adapter is not known"
        case .btStateResetting: "the Bluetooth adapter is being reset"
        case .connectionTimeout: "the belt did not respond to the connection request in time"
        case .serviceDiscoveryTimeout: "the services of the belt were not discovered in time"
        case .handshakeTimeout: "the belt did not answer the handshake in time"
        case .reconnectionTimeout: "the belt did not respond in time after the connection was lost"
        case .connectionFailed: "the connection to the belt failed"
        case .connectionLimitReached: "the Bluetooth adapter supports no more connections"
        case .peripheralDisconnected: "the belt disconnected"
        case .powerOff: "the belt was switched off"
        case .unexpectedDisconnection: "the connection to the belt was lost"
        case .pairingFailed:
            "pairing with the belt failed: disconnect it from other devices, hold its home button until it pulses fast, "
                + "then connect again"
        case .gattDiscoveryPermissionError, .handshakePermissionError:
            "the belt requires pairing: hold its home button until it pulses fast, then connect again"
        case .serviceDiscoveryFailed: "the belt lacks a characteristic that this library requires"
        case .handshakeFailed: "the belt rejected the handshake"
        case .cancelled: "the program cancelled the connection attempt"
        }
    }
}

/// Why a search ended.
public enum FSScanTerminationCause: UInt32, Sendable, CaseIterable {
    /// Its time is over.
    case timeout = 0
    /// There is no radio.
    case btNotAvailable
    /// The radio is switched off.
    case btNotActive
    /// There is a connection.
    case alreadyConnected
    /// It was stopped, or a connection began.
    case canceled
}

// MARK: Navigation

/// Whether the belt guides.
public enum FSNavigationState: UInt32, Sendable, CaseIterable {
    /// It does not.
    case stopped = 0
    /// It will go on with the signal that it had.
    case paused
    /// It does, or will as soon as one is connected.
    case navigating
}

/// Signals of the navigation controller.
public enum FSBeltVibrationSignal: Int32, Sendable, CaseIterable {
    /// Silence, while navigating.
    case noVibration = 0
    /// All the time.
    case continuous
    /// All the time, for guiding.
    case navigation
    /// A short pulse every 500 ms.
    case approachingDestination
    /// A long pulse every 750 ms.
    case turnOngoing
    /// One second; temporary.
    case directionNotification
    /// A long pulse every 3 s.
    case nextWaypointLongDistance
    /// A long pulse every 1.5 s.
    case nextWaypointMediumDistance
    /// A long pulse each second.
    case nextWaypointShortDistance
    /// A long pulse every 750 ms.
    case nextWaypointAreaReached
    /// The destination's signal every 5 s; the direction does not matter.
    case destinationReachedRepeated
    /// The destination's signal; temporary.
    case destinationReachedSingle
    /// A light warning; temporary.
    case operationWarning
    /// A strong warning; temporary.
    case criticalWarning
    /// The battery's level; temporary.
    case batteryLevel

    /// Can be navigated with; the others are temporary.
    public var isRepeated: Bool { tendon_feelspace_navigation_signal_repeated(rawValue) }
    /// The direction matters.
    public var isDirectional: Bool { tendon_feelspace_navigation_signal_directional(rawValue) }
}

/// The connection as the navigation controller reports it. `FSNavigationController.connectionPhase` has the steps.
public enum FSBeltConnectionState: UInt32, Sendable, CaseIterable {
    /// There is no connection.
    case notConnected = 0
    /// A search is in progress.
    case searching
    /// The connection is being made, discovery and handshake included, or is attempted again after a pause.
    case connecting
    /// The belt can be used.
    case connected

    /// As release 2.0 calls `notConnected`.
    public static var disconnected: FSBeltConnectionState { .notConnected }
    /// As release 2.0 calls `searching`.
    public static var scanning: FSBeltConnectionState { .searching }

    init(_ c: tendon_feelspace_state) {
        self =
            switch FSConnectionPhase(c) {
            case .notConnected: .notConnected
            case .scanning: .searching
            case .connecting, .discoveringServices, .handshake, .reconnecting: .connecting
            case .connected: .connected
            }
    }
}

/// What is known of a belt that a search finds.
public enum FSBeltConnectionStatus: Sendable {
    /// Nothing.
    case unknown
    /// It is connected.
    case connected
    /// It was connected before.
    case known
    /// It was connected before, and is in reach.
    case knownAdvertising
    /// It is in reach.
    case advertising
}

/// Why a connection ended, as the navigation controller of release 2.2 tells it.
public enum FSBeltConnectionError: Error, Sendable, CaseIterable {
    /// All is well.
    case noError
    /// The radio is switched off.
    case btPoweredOff
    /// The radio is not permitted.
    case btUnauthorized
    /// There is no radio.
    case btUnsupported
    /// The radio's state is not known.
    case btStateError
    /// The link was lost.
    case unexpectedDisconnection
    /// The search's time is over.
    case noBeltFound
    /// It was not done in time.
    case connectionTimeout
    /// The link could not be made, or the belt did not answer as it must.
    case connectionFailed
    /// The controller takes no more links.
    case connectionLimitReached
    /// The belt ended the link.
    case beltDisconnection
    /// The belt was switched off.
    case beltPoweredOff
    /// The belt wants pairing, or its bond was lost.
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
            case .connectionFailed, .serviceDiscoveryFailed, .handshakeFailed, .cancelled: .connectionFailed
            case .connectionLimitReached: .connectionLimitReached
            case .peripheralDisconnected: .beltDisconnection
            case .powerOff: .beltPoweredOff
            case .pairingFailed, .gattDiscoveryPermissionError, .handshakePermissionError: .pairingPermissionError
            }
    }
}
