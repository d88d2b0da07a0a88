// SPDX-License-Identifier: MIT
import CTendon

/// Motion of a trainer: g, rad/s and seconds.
public struct IMUObject: Sendable, Hashable {
    public var accelerationX: Double
    public var accelerationY: Double
    public var accelerationZ: Double
    public var gyroX: Double
    public var gyroY: Double
    public var gyroZ: Double
    /// Turns negative after 9.1 hours; see `ticks` for intervals.
    public var timestamp: Double

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
        var c = tendon_activ5_imu()
        c.acceleration = (accelerationX, accelerationY, accelerationZ)
        c.gyro = (gyroX, gyroY, gyroZ)
        c.timestamp = timestamp
        return IMUObject(tendon_activ5_scaled(&c))
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

/// Numbers of the wire in units.
extension BinaryInteger {
    public var toGForce: Double { tendon_activ5_to_g(Double(self)) }
    public var toRadPerSec: Double { tendon_activ5_to_rad_per_s(Double(self)) }
    public var toSec: Double { tendon_activ5_to_s(Double(self)) }
    public var toNewtons: Double { Double(self).toNewtons }
    public var toNewtonsLegacy: Double { Double(self).toNewtonsLegacy }
    public var toLBF: Float { Double(self).toLBF }
    public var toLBFLegacy: Float { Double(self).toLBFLegacy }
    public var fromGForce: Int { Double(self).fromGForce }
    public var fromRadPerSec: Int { Double(self).fromRadPerSec }
    public var fromSec: Int { Double(self).fromSec }
}

/// And back: towards zero, within the range of `Int`.
extension Double {
    public var fromGForce: Int { Int(tendon_activ5_from_g(self)) }
    public var fromRadPerSec: Int { Int(tendon_activ5_from_rad_per_s(self)) }
    public var fromSec: Int { Int(tendon_activ5_from_s(self)) }
    public var toNewtons: Double { tendon_activ5_to_newtons(self) }
    public var toNewtonsLegacy: Double { tendon_activ5_to_newtons_legacy(self) }
    public var toLBF: Float { tendon_activ5_to_lbf(self) }
    public var toLBFLegacy: Float { tendon_activ5_to_lbf_legacy(self) }
}
