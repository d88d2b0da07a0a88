// SPDX-License-Identifier: MIT
import CTendon

/// A rotation. Hamilton convention, scalar last; applied as it is, without a hidden normalisation.
///
/// ```swift
/// let mapped = quaternion * Quaternion(ix: 1, iy: 0, iz: 0, r: 0)
/// print(mapped.xRotation, quaternion.headAngles.pitch)
/// ```
public struct Quaternion: Sendable, Hashable {
    public var x, y, z, w: Double

    public init(x: Double, y: Double, z: Double, w: Double) {
        (self.x, self.y, self.z, self.w) = (x, y, z, w)
    }

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

    @available(*, deprecated, message: "only for the raw quaternion of the device; use headAngles or xRotation")
    public var pitch: Double { tendon_euler_legacy(c).pitch }
    @available(*, deprecated, message: "only for the raw quaternion of the device; use headAngles or yRotation")
    public var roll: Double { tendon_euler_legacy(c).roll }
    @available(*, deprecated, message: "only for the raw quaternion of the device; use headAngles or zRotation")
    public var yaw: Double { tendon_euler_legacy(c).yaw }

    /// Of the device's quaternion: pitch up, roll to the left shoulder, yaw to the right.
    public var headAngles: Angles { Angles(tendon_euler_head(c)) }
    /// As the vendor's guide computes them: `headAngles` with roll to the right shoulder.
    public var guideAngles: Angles { Angles(tendon_euler_guide(c)) }
}

/// Radians, where nothing else is said.
public struct Angles: Sendable, Hashable {
    public let pitch, roll, yaw: Double
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

public struct QuaternionAccuracy: Sendable, Hashable {
    /// Radians; `nil` when the device does not know it.
    public let estimatedAccuracy: Double?
}

public struct Vector: Sendable, Hashable {
    public var x, y, z: Double

    public init(x: Double, y: Double, z: Double) {
        (self.x, self.y, self.z) = (x, y, z)
    }

    init(_ c: tendon_bose_vector) {
        (x, y, z) = (c.x, c.y, c.z)
    }
}

public enum VectorAccuracy: UInt8, Sendable, Hashable, Comparable {
    case unreliable = 0
    case low, medium, high

    public static func < (a: VectorAccuracy, b: VectorAccuracy) -> Bool { a.rawValue < b.rawValue }
}
