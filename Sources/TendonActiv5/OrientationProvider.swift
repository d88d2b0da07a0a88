// SPDX-License-Identifier: MIT
import CTendon
import Tendon

#if canImport(Glibc)
    import Glibc
#else
    import Musl
#endif

/// Orientation of a trainer, computed from its motion, like the vendor's add-on but with a different filter.
///
/// Angular rates are integrated and corrected towards gravity within about one second. The heading drifts, because a
/// trainer has no magnetometer; a tare while it lies still reduces the drift.
///
/// ```swift
/// let provider = OrientationProvider()
/// provider.tare(duration: 1)
/// for await motion in device.motion { print(provider.update(motion), provider.eulerAngles) }
/// ```
///
/// Use one provider per trainer, and only from one task or actor at a time.
public final class OrientationProvider {
    private var filter = tendon_activ5_orientation()
    private var tared: (() -> Void)?

    /// Level, with heading 0, until the first motion.
    public init() { tendon_activ5_orientation_init(&filter) }

    /// Processes one motion as sent by the device; applies the vendor's gyro correction. Ignores a motion with an
    /// earlier time or a value that is not a number. After a gap of more than a second, only the direction of gravity
    /// is used.
    @discardableResult
    public func update(_ imu: IMUObject) -> Quaternion {
        var c = imu.c
        _ = tendon_activ5_orientation_update(&filter, &c)
        if !filter.taring, let tared {
            self.tared = nil
            tared()
        }
        return orientation
    }

    /// The same as an object of the vendor's add-on.
    @discardableResult
    public func update(imuData: IMUObject) -> Orientation { Orientation(quanternion: update(imuData)) }

    /// The same as `orientation`, as an object of the vendor's add-on.
    public var lastOrientation: Orientation { Orientation(quanternion: orientation) }

    /// Rotation from the trainer's axes to fixed axes whose Z points up; norm 1.
    public var orientation: Quaternion { Quaternion(filter.q) }

    /// Degrees: pitch (about Y), yaw (about Z), roll (about X), right-handed.
    public var eulerAngles: [Double] {
        Orientation(quanternion: orientation).getEulerAngelsDouble()
    }

    /// Starts a tare: the trainer must lie still for `duration` seconds from the next motion. The mean of its rates is
    /// then subtracted from later rates.
    public func tare(duration: Double = 1.0) {
        tared = nil
        tendon_activ5_orientation_tare(&filter, duration)
    }

    /// Starts a tare, and calls `completed` once, in the update that ends it. A later tare replaces this one without a call.
    public func tare(duration: Double, completed: @escaping () -> Void) {
        tare(duration: duration)
        tared = completed
    }

    /// Whether a tare is in progress.
    public var isTaring: Bool { filter.taring }

    /// 0, as of the vendor's provider without a Kalman filter: this filter has no noise. Setting it has no effect.
    public var processNoiseScalar: Double {
        get { 0 }
        set {}
    }
    /// The same as `processNoiseScalar`.
    public var measurementNoiseScalar: Double {
        get { 0 }
        set {}
    }

    /// Sets the heading to 0 with the next motion; keeps the result of a tare.
    public func resetOrientation() { tendon_activ5_orientation_reset(&filter) }

    /// The angle between two orientations of norm 1, in radians, 0 to 2 pi.
    public static func angularDifference(_ a: Quaternion, _ b: Quaternion) -> Double {
        tendon_activ5_orientation_difference(a.c, b.c)
    }
}

/// An orientation as an object, as the vendor's add-on has it. `OrientationProvider.orientation` is the same as a value.
///
/// ```swift
/// let provider = OrientationProvider()
/// let first = provider.lastOrientation
/// provider.tare(duration: 1) { print(provider.lastOrientation.getAngularDifferenceInDegrees(with: first)) }
/// ```
public final class Orientation: Sendable {
    /// Rotation from the trainer's axes to fixed axes whose Z points up.
    public let quaternion: Quaternion

    /// By a rotation of length 1; the label is the vendor's.
    public init(quanternion: Quaternion) { quaternion = quanternion }

    /// By rotations about X, Y and Z in radians, applied in this order.
    public convenience init(x: Double, y: Double, z: Double) {
        func half(_ angle: Double, _ axis: (Double, Double, Double)) -> Quaternion {
            let (s, c) = (sin(angle / 2), cos(angle / 2))
            return Quaternion(x: axis.0 * s, y: axis.1 * s, z: axis.2 * s, w: c)
        }
        self.init(quanternion: half(z, (0, 0, 1)) * half(y, (0, 1, 0)) * half(x, (1, 0, 0)))
    }

    /// The angle between two orientations, 0 to 2 pi.
    public func getAngularDifferenceInRadians(with orientation: Orientation) -> Double {
        OrientationProvider.angularDifference(quaternion, orientation.quaternion)
    }

    /// The angle between two orientations, 0 to 360.
    public func getAngularDifferenceInDegrees(with orientation: Orientation) -> Double {
        getAngularDifferenceInRadians(with: orientation) * 180 / .pi
    }

    /// Degrees: pitch (about Y), yaw (about Z), roll (about X), right-handed.
    public func getEulerAngelsDouble() -> [Double] {
        [quaternion.yRotation, quaternion.zRotation, quaternion.xRotation].map { $0 * 180 / .pi }
    }
}
