// SPDX-License-Identifier: MIT
import CTendon
import Tendon

/// How a trainer is held, from its motion: the vendor's add-on, with a filter of our own.
///
/// Rates of turn are integrated, and pulled towards gravity within a second or so. The heading drifts, as nothing in a
/// trainer knows North; a tare while it lies still keeps that small.
///
/// ```swift
/// let provider = OrientationProvider()
/// provider.tare(duration: 1)
/// for try await motion in device.motion { print(provider.update(motion), provider.eulerAngles) }
/// ```
///
/// For one trainer, and one task or actor at a time.
public final class OrientationProvider {
    private var filter = tendon_activ5_orientation()

    /// Level and heading 0 until the first motion.
    public init() { tendon_activ5_orientation_init(&filter) }

    /// Takes one motion, as the device sends it: the vendor's correction of the gyro is done here. What runs backwards
    /// in time, or is no number, changes nothing. After a gap of more than a second only gravity is taken from it.
    @discardableResult
    public func update(_ imu: IMUObject) -> Quaternion {
        var c = imu.c
        _ = tendon_activ5_orientation_update(&filter, &c)
        return orientation
    }

    /// From the trainer's axes to the room's, whose Z points up; norm 1.
    public var orientation: Quaternion { Quaternion(filter.q) }

    /// Degrees: pitch (about Y), yaw (about Z), roll (about X), right-handed.
    public var eulerAngles: [Double] {
        let orientation = orientation
        return [orientation.yRotation, orientation.zRotation, orientation.xRotation].map { $0 * 180 / .pi }
    }

    /// From the next motion on, for so many seconds, the trainer lies still: the mean of its rates is what is taken off
    /// them afterwards.
    public func tare(duration: Double = 1.0) { tendon_activ5_orientation_tare(&filter, duration) }

    /// A tare runs.
    public var isTaring: Bool { filter.taring }

    /// Heading 0 with the next motion; what a tare has found stays.
    public func resetOrientation() { tendon_activ5_orientation_reset(&filter) }

    /// Radians between two orientations of norm 1, 0 to 2 pi.
    public static func angularDifference(_ a: Quaternion, _ b: Quaternion) -> Double {
        tendon_activ5_orientation_difference(a.c, b.c)
    }
}
