// SPDX-License-Identifier: MIT
// Rotations and vectors as programs for the phone use them, with the names of its simd module.
import Tendon

#if canImport(Glibc)
    import Glibc
#else
    import Musl
#endif

extension Quaternion: CustomDebugStringConvertible {
    /// By its parts: a vector and a number.
    public init(real: Double, imag: Vector) {
        self.init(x: imag.x, y: imag.y, z: imag.z, w: real)
    }

    /// Rotation by `angle` (radians) about `axis`, which must have length 1.
    public init(angle: Double, axis: Vector) {
        self.init(real: cos(angle / 2), imag: axis * sin(angle / 2))
    }

    /// The shortest rotation from one vector to another; both must have length 1.
    public init(from: Vector, to: Vector) {
        let half = from + to
        let length = simd_length(half)
        guard length > 1e-9 else {
            // Half a turn, about any axis that is perpendicular to `from`.
            let other: Vector = abs(from.x) < 0.9 ? Vector(1, 0, 0) : Vector(0, 1, 0)
            self.init(real: 0, imag: simd_normalize(simd_cross(from, other)))
            return
        }
        let middle = half / length
        self.init(real: simd_dot(from, middle), imag: simd_cross(from, middle))
    }

    /// Real part.
    public var real: Double {
        get { w }
        set { w = newValue }
    }
    /// Imaginary parts.
    public var imag: Vector {
        get { Vector(x, y, z) }
        set { (x, y, z) = (newValue.x, newValue.y, newValue.z) }
    }
    /// Angle of the rotation, 0 to 2 pi.
    public var angle: Double { 2 * atan2(simd_length(imag), w) }
    /// Axis of the rotation, of length 1; not a number without a rotation.
    public var axis: Vector { simd_normalize(imag) }
    /// With the imaginary parts negated: the inverse of a rotation.
    public var conjugate: Quaternion { Quaternion(x: -x, y: -y, z: -z, w: w) }

    /// Rotates a vector.
    public func act(_ vector: Vector) -> Vector { (self * Quaternion(real: 0, imag: vector) * inverse).imag }

    /// The four parts: "(x, y, z, w)".
    public var debugDescription: String { "(\(x), \(y), \(z), \(w))" }
}

/// A rotation in single precision, for libraries of graphics.
public struct simd_quatf: Sendable, Hashable {
    /// The imaginary parts, then the real part.
    public var vector: SIMD4<Float>

    /// By its parts.
    public init(ix: Float, iy: Float, iz: Float, r: Float) { vector = SIMD4(ix, iy, iz, r) }

    /// Real part.
    public var real: Float { vector.w }
    /// Imaginary parts.
    public var imag: SIMD3<Float> { SIMD3(vector.x, vector.y, vector.z) }
}

extension Quaternion {
    /// The same rotation in single precision.
    public var quatf: simd_quatf { simd_quatf(ix: Float(x), iy: Float(y), iz: Float(z), r: Float(w)) }
}

/// Dot product.
public func simd_dot(_ a: Vector, _ b: Vector) -> Double { (a * b).sum() }
/// Cross product.
public func simd_cross(_ a: Vector, _ b: Vector) -> Vector {
    Vector(a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x)
}
/// Length of a vector.
public func simd_length(_ a: Vector) -> Double { simd_dot(a, a).squareRoot() }
/// The vector with length 1; not a number for the zero vector.
public func simd_normalize(_ a: Vector) -> Vector { a / simd_length(a) }
/// Distance of two points.
public func simd_distance(_ a: Vector, _ b: Vector) -> Double { simd_length(a - b) }
/// Square of the distance of two points.
public func simd_distance_squared(_ a: Vector, _ b: Vector) -> Double { simd_dot(a - b, a - b) }
