// SPDX-License-Identifier: MIT
import CTendon
import Tendon
@_exported import Tendon

/// A belt that was found, or whose address the program knows.
///
/// ```swift
/// if let address = Address("C0:00:00:00:00:01/random") { manager.connectBelt(FSBelt(address: address)) }
/// ```
public struct FSBelt: Sendable, Hashable {
    /// The address of the belt.
    public let address: Address
    /// The advertised name, safe to print.
    public let name: String?
    /// Signal strength when it was found, in dBm.
    public let rssi: Int?
    /// Whether it is the newer hardware. Its firmware versions are not comparable with those of older hardware.
    public let isNewerHardware: Bool?
    /// The name of the address in the vendor's API.
    public var identifier: Address { address }

    /// A belt whose address is known.
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

#if MainActorLoop
    /// The name of a belt in programs for the phone.
    public typealias CBPeripheral = FSBelt
#endif

/// Mode of the belt.
public enum FSBeltMode: UInt8, Sendable, CaseIterable {
    /// Switched off; the belt disconnects right after reporting this mode.
    case standby = 0
    /// Waits for a button or a command.
    case wait
    /// Vibrates towards magnetic north.
    case compass
    /// The application controls the vibration.
    case app
    /// No vibration; pressing the button again returns to the previous mode.
    case pause
    /// Calibration of the belt; cannot be requested.
    case calibration
    /// Vibrates towards the heading at the start of this mode.
    case crossing
    /// Not connected, or not known yet.
    case unknown = 0xFF

    init(_ c: UInt8) { self = FSBeltMode(rawValue: c) ?? .unknown }
}

/// The buttons of the belt.
public enum FSBeltButton: UInt8, Sendable, CaseIterable {
    /// Short press: battery signal; long press: off.
    case power = 1
    /// Switches to pause mode and back.
    case pause
    /// Switches to compass mode; pressed twice, to crossing mode.
    case compass
    /// For the application.
    case home
}

/// How long a button was held.
public enum FSPressType: UInt8, Sendable, CaseIterable {
    /// Briefly.
    case shortPress = 1
    /// Held.
    case longPress
}

/// Meaning of the orientation of a vibration.
public enum FSOrientationType: UInt8, Sendable, CaseIterable {
    /// Bit i: motor i; at most six.
    case binaryMask = 0
    /// 0 to 15, clockwise from the front.
    case vibromotorIndex
    /// Degrees from the front, clockwise.
    case angle
    /// Degrees from magnetic north.
    case magneticBearing
}

/// Vibration of a channel's motors in one iteration.
public enum FSVibrationPattern: UInt8, Sendable, CaseIterable {
    /// No vibration.
    case noVibration = 0
    /// Continuous.
    case continuous
    /// One short pulse.
    case singleShort
    /// One long pulse.
    case singleLong
    /// Two short pulses.
    case doubleShort
    /// Two long pulses.
    case doubleLong
    /// A warning wave; it determines its own motors, so it cannot be used with a mask.
    case shortShiftWave
    /// Once around, clockwise; not with a mask.
    case circularRight
    /// Decreasing intensity.
    case fadeOut
    /// The destination signal; not with a mask.
    case goalReached
    /// Across the front; not with a mask.
    case frontCross
}

/// Signals of `vibrateAtAngle` and `vibrateAtMagneticBearing`.
public enum FSVibrationSignal: UInt8, Sendable, CaseIterable {
    /// Continuous.
    case continuous = 0x01
    /// Continuous, for navigation.
    case navigation = 0x81
    /// The destination signal every 5 s; the direction is ignored.
    case destinationReachedRepeated
    /// The destination signal once; the direction is ignored.
    case destinationReached
    /// A long pulse every second.
    case approachingDestination
    /// One second.
    case directionNotification
    /// A long pulse every 750 ms.
    case ongoingTurn
}

/// The belt's own signals; they work in every mode.
public enum FSSystemSignal: UInt8, Sendable, CaseIterable {
    /// A warning.
    case warning = 0
    /// The destination is reached.
    case goalReached
    /// The battery level.
    case battery
}

/// Power supply of the belt.
public enum FSPowerStatus: UInt8, Sendable, CaseIterable {
    /// Not reported yet.
    case unknown = 0
    /// The battery.
    case onBattery
    /// An external supply that charges the battery.
    case charging
    /// An external supply that does not charge the battery.
    case externalPower
}

/// Battery status of the belt.
public struct FSBatteryStatus: Sendable, Hashable {
    /// Power supply of the belt.
    public var powerStatus = FSPowerStatus.unknown
    /// Percent; -1: unknown.
    public var batteryLevel = -1.0
    /// Seconds to full while charging, otherwise to empty; -1: unknown.
    public var batteryTteTtf = -1.0

    /// Unknown values.
    public init() {}

    init(_ c: tendon_feelspace_battery) {
        powerStatus = FSPowerStatus(rawValue: c.power_status) ?? .unknown
        batteryLevel = c.level_percent
        batteryTteTtf = c.tte_ttf_s
    }
}

/// Orientation of the belt.
public struct FSBeltOrientation: Sendable, Hashable {
    /// Degrees from magnetic north, clockwise, as reported by the belt.
    public let beltMagHeading: Int
    /// Whether the heading is unreliable.
    public let beltCompassInaccurate: Bool
    /// Degrees.
    public let accuracy: Int
    /// When it arrived; a belt has no clock. Not part of the value: orientations at different times can be equal.
    public let times: SampleTimes

    package init(_ c: tendon_feelspace_orientation, times: SampleTimes = SampleTimes()) {
        beltMagHeading = Int(c.heading)
        beltCompassInaccurate = !c.accurate
        accuracy = Int(c.accuracy_deg)
        self.times = times
    }

    public static func == (one: FSBeltOrientation, other: FSBeltOrientation) -> Bool {
        one.beltMagHeading == other.beltMagHeading && one.beltCompassInaccurate == other.beltCompassInaccurate
            && one.accuracy == other.accuracy
    }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(beltMagHeading)
        hasher.combine(beltCompassInaccurate)
        hasher.combine(accuracy)
    }
}

/// The modes in which the belt signals that its compass is inaccurate.
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
    /// The error number of the vendor.
    public let code: UInt32
    /// Milliseconds of the belt's clock.
    public let time: UInt32
    /// Counter that the belt increments when it is switched on.
    public let session: Int

    /// Returns `nil` for other debug output.
    init?(_ packet: UnsafePointer<UInt8>?, _ count: Int) {
        var c = tendon_feelspace_debug()
        guard tendon_feelspace_decode_debug(packet, count, &c, nil) >= 0, c.kind == TENDON_FEELSPACE_DEBUG_LOG_ENTRY
        else { return nil }
        code = c.error
        time = c.time_ms
        session = Int(c.session)
    }
}

/// The belt's error log.
///
/// ```swift
/// commandManager.requestBeltErrorLog { result in print((try? result.get().toString()) ?? "no log") }
/// ```
public final class FSBeltErrorLog: Sendable {
    /// In the belt's order.
    public let entries: [FSBeltError]

    init(_ entries: [FSBeltError]) { self.entries = entries }

    /// One line per entry: session, milliseconds and number of the error.
    public func toString() -> String {
        entries.map { "\($0.session) \($0.time) \($0.code)" }.joined(separator: "\n")
    }
}

// MARK: Navigation

/// State of navigation.
public enum FSNavigationState: UInt32, Sendable, CaseIterable {
    /// Navigation is stopped.
    case stopped = 0
    /// Navigation is paused and keeps its signal.
    case paused
    /// Navigation is in progress, or starts as soon as a belt is connected.
    case navigating
}

/// Signals of the navigation controller.
public enum FSBeltVibrationSignal: Int32, Sendable, CaseIterable {
    /// No vibration while navigating.
    case noVibration = 0
    /// Continuous.
    case continuous
    /// Continuous, for navigation.
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
    /// A long pulse every second.
    case nextWaypointShortDistance
    /// A long pulse every 750 ms.
    case nextWaypointAreaReached
    /// The destination signal every 5 s; the direction is ignored.
    case destinationReachedRepeated
    /// The destination signal; temporary.
    case destinationReachedSingle
    /// A light warning; temporary.
    case operationWarning
    /// A strong warning; temporary.
    case criticalWarning
    /// The battery level; temporary.
    case batteryLevel

    /// Whether the signal is repeated. Navigation requires a repeated signal; the others are temporary.
    public var isRepeated: Bool { tendon_feelspace_navigation_signal_repeated(rawValue) }
    /// Whether the signal uses the direction.
    public var isDirectional: Bool { tendon_feelspace_navigation_signal_directional(rawValue) }

    /// The vendor's form of `isRepeated`.
    public static func isRepeated(_ signal: FSBeltVibrationSignal) -> Bool { signal.isRepeated }
    /// The vendor's form of `isDirectional`.
    public static func isDirectional(_ signal: FSBeltVibrationSignal) -> Bool { signal.isDirectional }
}
