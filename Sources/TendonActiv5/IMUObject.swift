// SPDX-License-Identifier: MIT
import CTendon
import Tendon

/// Motion of a trainer: g, rad/s and seconds.
///
/// ```swift
/// for await motion in device.motion { print(motion.accelerationZ, motion.scaledValue.gyroX) }
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
    /// When it arrived, and when it was measured.
    public private(set) var times = SampleTimes()

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

    package init(_ c: tendon_activ5_imu, times: SampleTimes = SampleTimes()) {
        self.init(
            accelerationX: c.acceleration.0, accelerationY: c.acceleration.1, accelerationZ: c.acceleration.2,
            gyroX: c.gyro.0, gyroY: c.gyro.1, gyroZ: c.gyro.2, timestamp: c.timestamp)
        self.times = times
    }

    /// With the vendor's correction of the gyro.
    public var scaledValue: IMUObject {
        var c = c
        return IMUObject(tendon_activ5_scaled(&c), times: times)
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

/// The vendor's conversions of raw numbers to units.
extension Int {
    /// g of a raw acceleration.
    public var toGForce: Double { tendon_activ5_to_g(Double(self)) }
    /// rad/s of a raw rate of turn.
    public var toRadPerSec: Double { tendon_activ5_to_rad_per_s(Double(self)) }
    /// Seconds of ticks of 15.25 µs.
    public var toSec: Double { tendon_activ5_to_s(Double(self)) }
}

/// The vendor's conversions of forces, and of units to raw numbers. Raw numbers are rounded towards zero, within the range
/// of `Int`.
extension Double {
    /// Newtons of a raw binary force.
    public var toNewtons: Double { tendon_activ5_to_newtons(self) }
    /// Newtons of the number in a force text.
    public var toNewtonsLegacy: Double { tendon_activ5_to_newtons_legacy(self) }
    /// Pounds-force of a raw binary force.
    public var toLBF: Float { tendon_activ5_to_lbf(self) }
    /// Pounds-force of the number in a force text.
    public var toLBFLegacy: Float { tendon_activ5_to_lbf_legacy(self) }
    /// Raw acceleration of g.
    public var fromGForce: Int { Int(clamping: tendon_activ5_from_g(self)) }
    /// Raw rate of turn of rad/s.
    public var fromRadPerSec: Int { Int(clamping: tendon_activ5_from_rad_per_s(self)) }
    /// Ticks of seconds.
    public var fromSec: Int { Int(clamping: tendon_activ5_from_s(self)) }
}
