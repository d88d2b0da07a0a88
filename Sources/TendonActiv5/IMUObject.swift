// SPDX-License-Identifier: MIT
import CTendon

/// Motion of a trainer: g, rad/s and seconds.
///
/// ```swift
/// for try await motion in device.motion { print(motion.accelerationZ, motion.scaledValue.gyroX) }
/// ```
public struct IMUObject: Sendable, Hashable {
    /// g along the trainer's X axis, gravity included.
    public var accelerationX: Double
    /// g along Y.
    public var accelerationY: Double
    /// g along Z; 1 at rest with this axis up.
    public var accelerationZ: Double
    /// rad/s about X.
    public var gyroX: Double
    /// rad/s about Y.
    public var gyroY: Double
    /// rad/s about Z.
    public var gyroZ: Double
    /// Turns negative after 9.1 hours; see `ticks` for intervals.
    public var timestamp: Double

    /// A motion of a program's own: g, rad/s and seconds.
    public init(
        accelerationX: Double, accelerationY: Double, accelerationZ: Double, gyroX: Double, gyroY: Double,
        gyroZ: Double, timestamp: Double
    ) {
        self.accelerationX = accelerationX
        self.accelerationY = accelerationY
        self.accelerationZ = accelerationZ
        self.gyroX = gyroX
        self.gyroY = gyroY
        self.gyroZ = gyroZ
        self.timestamp = timestamp
    }

    package init(_ c: tendon_activ5_imu) {
        self.init(
            accelerationX: c.acceleration.0, accelerationY: c.acceleration.1, accelerationZ: c.acceleration.2,
            gyroX: c.gyro.0, gyroY: c.gyro.1, gyroZ: c.gyro.2, timestamp: c.timestamp)
    }

    /// With the vendor's correction of the gyro.
    public var scaledValue: IMUObject {
        var c = c
        return IMUObject(tendon_activ5_scaled(&c))
    }

    /// Without the numbers of the wire.
    var c: tendon_activ5_imu {
        var c = tendon_activ5_imu()
        c.acceleration = (accelerationX, accelerationY, accelerationZ)
        c.gyro = (gyroX, gyroY, gyroZ)
        c.timestamp = timestamp
        return c
    }

    /// Seconds from an earlier timestamp to this one, over the device's 32-bit wrap (18.2 hours).
    public func seconds(since earlier: IMUObject) -> Double {
        let from = UInt32(truncatingIfNeeded: earlier.timestamp.nearestTick)
        let to = UInt32(truncatingIfNeeded: timestamp.nearestTick)
        return tendon_activ5_to_s(Double(tendon_activ5_tick_delta(from, to)))
    }
}

extension Double {
    /// A timestamp is a whole number of ticks; the conversion back must not fall one short.
    fileprivate var nearestTick: Int64 { tendon_activ5_from_s(self + (self < 0 ? -5e-6 : 5e-6)) }
}

/// The vendor's conversions between numbers of the wire and units, under its names.
///
/// The vendor's library has them as properties of `Int`. A program that uses `4095.toGForce` can declare them, for the
/// types and names that it uses:
///
/// ```
/// extension Int {
///     var toGForce: Double { A5Conversion.toGForce(Double(self)) }
/// }
/// ```
public enum A5Conversion {
    /// g of a raw acceleration.
    public static func toGForce(_ raw: Double) -> Double { tendon_activ5_to_g(raw) }
    /// rad/s of a raw rate of turn.
    public static func toRadPerSec(_ raw: Double) -> Double { tendon_activ5_to_rad_per_s(raw) }
    /// Seconds of ticks of 15.25 µs.
    public static func toSec(_ ticks: Double) -> Double { tendon_activ5_to_s(ticks) }
    /// Newtons of a raw binary force.
    public static func toNewtons(_ raw: Double) -> Double { tendon_activ5_to_newtons(raw) }
    /// Newtons of the number in a force text.
    public static func toNewtonsLegacy(_ number: Double) -> Double { tendon_activ5_to_newtons_legacy(number) }
    /// Pounds-force of a raw binary force.
    public static func toLBF(_ raw: Double) -> Float { tendon_activ5_to_lbf(raw) }
    /// Pounds-force of the number in a force text.
    public static func toLBFLegacy(_ number: Double) -> Float { tendon_activ5_to_lbf_legacy(number) }
    /// Raw acceleration of g. This and the following: towards zero, within the range of `Int`.
    public static func fromGForce(_ g: Double) -> Int { Int(clamping: tendon_activ5_from_g(g)) }
    /// Raw rate of turn of rad/s.
    public static func fromRadPerSec(_ rate: Double) -> Int { Int(clamping: tendon_activ5_from_rad_per_s(rate)) }
    /// Ticks of seconds.
    public static func fromSec(_ seconds: Double) -> Int { Int(clamping: tendon_activ5_from_s(seconds)) }
}
