// SPDX-License-Identifier: MIT
import CTendon

/// A rotation. Hamilton convention, scalar last; applied as it is, without a hidden normalisation.
///
/// ```swift
/// let mapped = quaternion * Quaternion(ix: 1, iy: 0, iz: 0, r: 0)
/// print(mapped.xRotation, quaternion.headAngles.pitch)
/// ```
public struct Quaternion: Sendable, Hashable {
    /// First imaginary part.
    public var x: Double
    /// Second imaginary part.
    public var y: Double
    /// Third imaginary part.
    public var z: Double
    /// Real part.
    public var w: Double

    /// By its parts, as they are.
    public init(x: Double, y: Double, z: Double, w: Double) {
        (self.x, self.y, self.z, self.w) = (x, y, z, w)
    }

    /// By its parts, with the vendor's labels.
    public init(ix: Double, iy: Double, iz: Double, r: Double) {
        self.init(x: ix, y: iy, z: iz, w: r)
    }

    init(_ c: tendon_quaternion) {
        self.init(x: c.x, y: c.y, z: c.z, w: c.w)
    }

    var c: tendon_quaternion { tendon_quaternion(x: x, y: y, z: z, w: w) }

    /// Rotation `b` first, then `a`.
    public static func * (a: Quaternion, b: Quaternion) -> Quaternion {
        Quaternion(tendon_quaternion_multiply(a.c, b.c))
    }

    /// Conjugate by squared norm; of a zero quaternion: not a number.
    public var inverse: Quaternion {
        var out = tendon_quaternion()
        guard tendon_quaternion_inverse(c, &out) >= 0 else {
            return Quaternion(x: .nan, y: .nan, z: .nan, w: .nan)
        }
        return Quaternion(out)
    }

    /// Of norm 1; `nil` for a quaternion that is zero or not finite.
    public var normalized: Quaternion? {
        var out = tendon_quaternion()
        return tendon_quaternion_normalize(c, &out) >= 0 ? Quaternion(out) : nil
    }

    /// Length: 1 for a rotation.
    public var norm: Double { tendon_quaternion_norm(c) }
}

extension Quaternion {
    /// Right-handed rotation about X, radians, -pi to pi.
    public var xRotation: Double { tendon_euler_rotations(c).x }
    /// About Y, -pi/2 to pi/2.
    public var yRotation: Double { tendon_euler_rotations(c).y }
    /// About Z, -pi to pi.
    public var zRotation: Double { tendon_euler_rotations(c).z }
    /// X and Z rotation are not well defined here.
    public var isNearGimbalLock: Bool { tendon_euler_rotations(c).near_gimbal_lock }

    /// Radians about X.
    @available(*, deprecated, message: "only for the raw quaternion of the device; use headAngles or xRotation")
    public var pitch: Double { tendon_euler_legacy(c).pitch }
    /// Radians about Y.
    @available(*, deprecated, message: "only for the raw quaternion of the device; use headAngles or yRotation")
    public var roll: Double { tendon_euler_legacy(c).roll }
    /// Radians about Z.
    @available(*, deprecated, message: "only for the raw quaternion of the device; use headAngles or zRotation")
    public var yaw: Double { tendon_euler_legacy(c).yaw }

    /// Of the device's quaternion: pitch up, roll to the left shoulder, yaw to the right.
    public var headAngles: Angles { Angles(tendon_euler_head(c)) }
    /// As the vendor's guide computes them: `headAngles` with roll to the right shoulder.
    public var guideAngles: Angles { Angles(tendon_euler_guide(c)) }
}

/// Radians, where nothing else is said.
public struct Angles: Sendable, Hashable {
    /// Up and down.
    public let pitch: Double
    /// To the shoulders.
    public let roll: Double
    /// To the sides.
    public let yaw: Double
    /// Pitch and yaw are not well defined here.
    public let isNearGimbalLock: Bool

    init(_ c: tendon_angles) {
        (pitch, roll, yaw, isNearGimbalLock) = (c.pitch, c.roll, c.yaw, c.near_gimbal_lock)
    }

    /// For people: rounded to a tenth of a degree.
    public var degrees: (pitch: Double, roll: Double, yaw: Double) {
        func rounded(_ angle: Double) -> Double { (angle * 1800 / .pi).rounded() / 10 }
        return (rounded(pitch), rounded(roll), rounded(yaw))
    }
}

/// How good a rotation is.
public struct QuaternionAccuracy: Sendable, Hashable {
    /// Radians; `nil` when the device does not know it.
    public let estimatedAccuracy: Double?
}

/// Three numbers in the sensor's unit, on the device's axes.
public struct Vector: Sendable, Hashable {
    /// Along or about X.
    public var x: Double
    /// Along or about Y.
    public var y: Double
    /// Along or about Z.
    public var z: Double

    /// A vector of a program's own.
    public init(x: Double, y: Double, z: Double) {
        (self.x, self.y, self.z) = (x, y, z)
    }

    init(_ c: tendon_bose_vector) {
        (x, y, z) = (c.x, c.y, c.z)
    }
}

/// How good a vector is, from bad to good.
public enum VectorAccuracy: UInt8, Sendable, Hashable, Comparable {
    /// Not to be used.
    case unreliable = 0
    /// The sensor is not calibrated yet.
    case low
    /// Good enough for most.
    case medium
    /// As good as it gets.
    case high

    public static func < (a: VectorAccuracy, b: VectorAccuracy) -> Bool { a.rawValue < b.rawValue }
}
