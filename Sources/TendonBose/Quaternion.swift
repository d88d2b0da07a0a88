// SPDX-License-Identifier: MIT
import CTendon
// Rotations are the host's: a program that imports this module alone has them with their operators.
@_exported import Tendon

/// Additions of the vendor's interface.
extension Quaternion {
    /// As the vendor computes it from the device's quaternion: the rotation about X plus π, in -π to π radians. It is not
    /// the rotation around X that the vendor's document describes.
    @available(*, deprecated, message: "only for the raw quaternion of the device; use headAngles or xRotation")
    public var pitch: Double { tendon_euler_legacy(c).pitch }
    /// As the vendor computes it from the device's quaternion: the rotation about Y with its sign changed, in radians.
    @available(*, deprecated, message: "only for the raw quaternion of the device; use headAngles or yRotation")
    public var roll: Double { tendon_euler_legacy(c).roll }
    /// As the vendor computes it from the device's quaternion: the rotation about Z with its sign changed, in radians.
    @available(*, deprecated, message: "only for the raw quaternion of the device; use headAngles or zRotation")
    public var yaw: Double { tendon_euler_legacy(c).yaw }

    /// Head angles of the device's quaternion: pitch up, roll to the left shoulder, yaw to the right.
    public var headAngles: Angles { Angles(tendon_euler_head(c)) }
    /// Angles as computed by the vendor's guide: `headAngles` with roll to the right shoulder.
    public var guideAngles: Angles { Angles(tendon_euler_guide(c)) }
}

/// Angles in radians unless stated otherwise.
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

/// Accuracy of a rotation.
public struct QuaternionAccuracy: Sendable, Hashable {
    /// Radians; infinite if the device does not know it.
    public var estimatedAccuracy: Double

    /// An accuracy of an application's own.
    public init(estimatedAccuracy: Double) { self.estimatedAccuracy = estimatedAccuracy }
}

/// Three numbers in the sensor's unit, on the device's axes.
public typealias Vector = SIMD3<Double>

extension SIMD3 where Scalar == Double {
    init(_ c: tendon_bose_vector) { self.init(c.x, c.y, c.z) }

    /// The same numbers in single precision.
    public var float3: SIMD3<Float> { SIMD3<Float>(self) }
}

/// Accuracy of a vector, from low to high.
public enum VectorAccuracy: UInt8, Sendable, Hashable, Comparable {
    /// Do not use the value.
    case unreliable = 0
    /// The sensor is not calibrated yet.
    case low
    /// Sufficient for most applications.
    case medium
    /// The highest accuracy.
    case high

    public static func < (a: VectorAccuracy, b: VectorAccuracy) -> Bool { a.rawValue < b.rawValue }
}

extension VectorAccuracy: CustomStringConvertible {
    /// The name of the case.
    public var description: String {
        switch self {
        case .unreliable: "unreliable"
        case .low: "low"
        case .medium: "medium"
        case .high: "high"
        }
    }
}
