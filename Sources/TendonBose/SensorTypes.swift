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

    /// Of a number on the wire.
    public init(id: UInt8) {
        self = Int(id) < Self.known.count ? Self.known[Int(id)] : .unknown(id)
    }

    /// Number on the wire.
    public var id: UInt8 {
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

extension SensorType: CaseIterable, CustomStringConvertible {
    /// Those with a name.
    public static var allCases: [SensorType] { known }

    public var description: String { String(cString: tendon_bose_sensor_name(id)) }
}

/// Time between two samples, in milliseconds. All enabled sensors of a device share one.
public enum SamplePeriod: UInt16, Sendable, Hashable, CaseIterable {
    case _320ms = 320
    case _160ms = 160
    case _80ms = 80
    case _40ms = 40
    case _20ms = 20
    case _10ms = 10
    case _5ms = 5

    /// 5 to 320.
    public var milliseconds: Int { Int(rawValue) }

    /// Bit in a sensor's mask.
    var bit: UInt16 { UInt16(1) << UInt16(tendon_bose_bit_of_period(rawValue)) }

    /// Longest first.
    init?(bit: Int) {
        self.init(rawValue: tendon_bose_period_of_bit(UInt32(bit)))
    }

    static func all(in mask: UInt16) -> [SamplePeriod] {
        (0..<16).filter { mask & (1 << $0) != 0 }.compactMap { SamplePeriod(bit: $0) }
    }
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

    private static let known: [(id: UInt8, type: GestureType)] = [
        (0x80, .singleTap), (0x81, .doubleTap), (0x82, .headNod), (0x83, .headShake), (0x84, .touchAndHold),
        (0xC0, .input), (0xC1, .affirmative), (0xC2, .negative),
    ]

    /// Of a number on the wire.
    public init(id: UInt8) {
        self = Self.known.first { $0.id == id }?.type ?? .unknown(id)
    }

    /// Number on the wire.
    public var id: UInt8 {
        if case .unknown(let id) = self { return id }
        return Self.known.first { $0.type == self }?.id ?? 0
    }
}

extension GestureType: CaseIterable, CustomStringConvertible {
    /// Those with a name.
    public static var allCases: [GestureType] { known.map(\.type) }

    public var description: String { String(cString: tendon_bose_gesture_name(id)) }

    static func all(in mask: UInt32) -> [GestureType] {
        (0..<32).filter { mask & (1 << $0) != 0 }.compactMap { bit in
            let id = tendon_bose_gesture_of_bit(UInt32(bit))
            return id < 0 ? nil : GestureType(id: UInt8(id))
        }
    }

    /// Bit in the device information, if it has one.
    var bit: UInt32 {
        let bit = tendon_bose_gesture_bit(id)
        return bit < 0 ? 0 : UInt32(1) << UInt32(bit)
    }
}
