// SPDX-License-Identifier: MIT
import CTendon

/// A rotation. Hamilton convention, scalar last; applied as it is, without a hidden normalization.
///
/// ```swift
/// let mapped = quaternion * Quaternion(ix: 1, iy: 0, iz: 0, r: 0)
/// print(mapped.xRotation, mapped.length)
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

    package init(_ c: tendon_quaternion) {
        self.init(x: c.x, y: c.y, z: c.z, w: c.w)
    }

    package var c: tendon_quaternion { tendon_quaternion(x: x, y: y, z: z, w: w) }

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

    /// With length 1; of a quaternion that is zero or not finite: not a number.
    public var normalized: Quaternion {
        var out = tendon_quaternion()
        guard tendon_quaternion_normalize(c, &out) >= 0 else {
            return Quaternion(x: .nan, y: .nan, z: .nan, w: .nan)
        }
        return Quaternion(out)
    }

    /// Length: 1 for a rotation.
    public var length: Double { tendon_quaternion_norm(c) }
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
}
