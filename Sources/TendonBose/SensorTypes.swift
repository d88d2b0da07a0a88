// SPDX-License-Identifier: MIT
import CTendon
import Tendon

/// Sensor types of wearables.
public enum SensorType: Sendable, Hashable {
    /// g: (0, 0, -1) at rest.
    case accelerometer
    /// Degrees per second.
    case gyroscope
    /// Quaternion that refers to magnetic north.
    case rotation
    /// Quaternion of an arbitrary heading.
    case gameRotation
    /// Three angles in the unit that the device reports; no released firmware has it on.
    case orientation
    /// The magnetic field in the unit that the device reports; no released firmware has it on.
    case magnetometer
    /// The magnetic field with an offset; no released firmware has it on.
    case uncalibratedMagnetometer
    /// An unknown type, with its number.
    case unknown(UInt8)

    private static let known: [SensorType] = [
        .accelerometer, .gyroscope, .rotation, .gameRotation, .orientation, .magnetometer, .uncalibratedMagnetometer,
    ]

    init(id: UInt8) {
        self = Int(id) < Self.known.count ? Self.known[Int(id)] : .unknown(id)
    }
}

extension SensorType: RawRepresentable {
    /// The type with this number on the wire; `nil` if no type with a name has it.
    public init?(rawValue: UInt8) {
        guard Int(rawValue) < Self.known.count else { return nil }
        self = Self.known[Int(rawValue)]
    }

    /// Number on the wire.
    public var rawValue: UInt8 {
        switch self {
        case .accelerometer: 0
        case .gyroscope: 1
        case .rotation: 2
        case .gameRotation: 3
        case .orientation: 4
        case .magnetometer: 5
        case .uncalibratedMagnetometer: 6
        case .unknown(let id): id
        }
    }
}

extension SensorType: CaseIterable, CustomStringConvertible, Codable {
    /// Those with a name.
    public static var allCases: [SensorType] { known }
    /// Those with a name; the vendor's word for `allCases`.
    public static var all: [SensorType] { known }

    public var description: String { String(cString: tendon_bose_sensor_name(rawValue)) }
}

/// Time between two samples. All enabled sensors of a device share one. Raw values are those of the vendor's SDK: bits of
/// a sensor's mask, from the longest period to the shortest.
public enum SamplePeriod: UInt8, Sendable, Hashable, CaseIterable, Codable {
    case _320ms = 0
    case _160ms
    case _80ms
    case _40ms
    case _20ms
    case _10ms
    case _5ms

    /// 5 to 320.
    public var milliseconds: UInt16 { tendon_bose_period_of_bit(UInt32(rawValue)) }

    /// Bit in a sensor's mask.
    var bit: UInt16 { UInt16(1) << UInt16(rawValue) }

    /// Longest first.
    init?(bit: Int) {
        self.init(rawValue: UInt8(clamping: bit))
    }

    /// Returns `nil` if no period has this duration.
    public init?(milliseconds: UInt16) {
        guard let period = Self.allCases.first(where: { $0.milliseconds == milliseconds }) else { return nil }
        self = period
    }

    static func all(in mask: UInt16) -> [SamplePeriod] {
        (0..<16).filter { mask & (1 << $0) != 0 }.compactMap { SamplePeriod(bit: $0) }
    }
}

extension SamplePeriod: CustomStringConvertible {
    /// All of them; the vendor's word for `allCases`.
    public static let all = allCases

    /// "320 ms" to "5 ms".
    public var description: String { "\(milliseconds) ms" }
}

/// A movement that a wearable recognizes.
public enum GestureType: Sendable, Hashable {
    /// Part of the specification; no product has it.
    case singleTap
    /// Two taps on the device.
    case doubleTap
    /// Up and down.
    case headNod
    /// Left and right.
    case headShake
    /// A finger is held on the device.
    case touchAndHold
    /// Input, yes and no; the device chooses the movements.
    case input, affirmative, negative
    /// An unknown type, with its number.
    case unknown(UInt8)

    private static let known: [GestureType] = [
        .singleTap, .doubleTap, .headNod, .headShake, .touchAndHold, .input, .affirmative, .negative,
    ]

    init(id: UInt8) {
        self = GestureType(rawValue: id) ?? .unknown(id)
    }
}

extension GestureType: RawRepresentable {
    /// The type with this number on the wire; `nil` if no type with a name has it.
    public init?(rawValue: UInt8) {
        guard let type = Self.known.first(where: { $0.rawValue == rawValue }) else { return nil }
        self = type
    }

    /// Number on the wire.
    public var rawValue: UInt8 {
        // By cases: `==` compares raw values.
        switch self {
        case .singleTap: 0x80
        case .doubleTap: 0x81
        case .headNod: 0x82
        case .headShake: 0x83
        case .touchAndHold: 0x84
        case .input: 0xC0
        case .affirmative: 0xC1
        case .negative: 0xC2
        case .unknown(let id): id
        }
    }
}

extension GestureType: CaseIterable, CustomStringConvertible, Codable {
    /// Those with a name.
    public static var allCases: [GestureType] { known }
    /// Those with a name; the vendor's word for `allCases`.
    public static var all: [GestureType] { allCases }

    public var description: String { String(cString: tendon_bose_gesture_name(rawValue)) }

    static func all(in mask: UInt32) -> [GestureType] {
        (0..<32).filter { mask & (1 << $0) != 0 }.compactMap { bit in
            let id = tendon_bose_gesture_of_bit(UInt32(bit))
            return id < 0 ? nil : GestureType(id: UInt8(id))
        }
    }

    /// Bit in the device information, if it has one.
    var bit: UInt32 {
        let bit = tendon_bose_gesture_bit(rawValue)
        return bit < 0 ? 0 : UInt32(1) << UInt32(bit)
    }
}
