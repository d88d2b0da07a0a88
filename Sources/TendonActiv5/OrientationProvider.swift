// SPDX-License-Identifier: MIT
import CTendon
import Tendon

/// Orientation of a trainer, computed from its motion, like the vendor's add-on but with a different filter.
///
/// Angular rates are integrated and corrected towards gravity within about one second. The heading drifts, because a
/// trainer has no magnetometer; a tare while it lies still reduces the drift.
///
/// ```swift
/// let provider = OrientationProvider()
/// provider.tare(duration: 1)
/// for try await motion in device.motion { print(provider.update(motion), provider.eulerAngles) }
/// ```
///
/// Use one provider per trainer, and only from one task or actor at a time.
public final class OrientationProvider {
    private var filter = tendon_activ5_orientation()

    /// Level, with heading 0, until the first motion.
    public init() { tendon_activ5_orientation_init(&filter) }

    /// Processes one motion as sent by the device; applies the vendor's gyro correction. Ignores a motion with an
    /// earlier time or a value that is not a number. After a gap of more than a second, only the direction of gravity
    /// is used.
    @discardableResult
    public func update(_ imu: IMUObject) -> Quaternion {
        var c = imu.c
        _ = tendon_activ5_orientation_update(&filter, &c)
        return orientation
    }

    /// Rotation from the trainer's axes to fixed axes whose Z points up; norm 1.
    public var orientation: Quaternion { Quaternion(filter.q) }

    /// Degrees: pitch (about Y), yaw (about Z), roll (about X), right-handed.
    public var eulerAngles: [Double] {
        let orientation = orientation
        return [orientation.yRotation, orientation.zRotation, orientation.xRotation].map { $0 * 180 / .pi }
    }

    /// Starts a tare: the trainer must lie still for `duration` seconds from the next motion. The mean of its rates is
    /// then subtracted from later rates.
    public func tare(duration: Double = 1.0) { tendon_activ5_orientation_tare(&filter, duration) }

    /// Whether a tare is in progress.
    public var isTaring: Bool { filter.taring }

    /// Sets the heading to 0 with the next motion; keeps the result of a tare.
    public func resetOrientation() { tendon_activ5_orientation_reset(&filter) }

    /// The angle between two orientations of norm 1, in radians, 0 to 2 pi.
    public static func angularDifference(_ a: Quaternion, _ b: Quaternion) -> Double {
        tendon_activ5_orientation_difference(a.c, b.c)
    }
}
