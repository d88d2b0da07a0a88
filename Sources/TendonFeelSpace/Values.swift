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
