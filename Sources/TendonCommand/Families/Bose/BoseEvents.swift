// SPDX-License-Identifier: MIT
// Bose: one sample as the line that `run`, `stream` and `replay` print.
import CTendon
import Tendon
import TendonSupport

/// A sample, from a session or from a capture.
struct BoseSampleLine {
    var sensor: UInt8
    var deviceTime: UInt64
    var times = SampleTimes()
    var vector: tendon_bose_vector?
    var quaternion: tendon_quaternion?
    var bias: tendon_bose_vector?
    /// Vector sensors: 0 to 3.
    var accuracy: UInt8?
    /// Rotation: estimated error in radians.
    var accuracyRadians: Double?

    init(sensor: UInt8, deviceTime: UInt64) {
        self.sensor = sensor
        self.deviceTime = deviceTime
    }

    init(_ sample: tendon_bose_sample, deviceTime: UInt64) {
        self.init(sensor: sample.sensor_id, deviceTime: deviceTime)
        if sample.has_vector { vector = sample.vector }
        if sample.has_quaternion { quaternion = sample.quaternion }
        if sample.has_bias { bias = sample.bias }
        guard sample.has_accuracy else { return }
        if sample.has_quaternion {
            accuracyRadians = sample.accuracy_unknown ? nil : sample.accuracy_rad
        } else {
            accuracy = sample.accuracy
        }
    }

    static let degrees = 180 / Double.pi

    /// Greatest difference of a quaternion's norm from 1. Its four parts are rounded to 1/16384, which changes the norm by 0.0002
    /// at most; what differs by more than this is no rotation: our design.
    private static let normTolerance = 0.1

    /// Pitch, roll and yaw of the head in degrees; nil: there is no quaternion, or it is no rotation.
    var headAngles: (pitch: Double, roll: Double, yaw: Double, isNearGimbalLock: Bool)? {
        guard let quaternion, isRotation(tendon_quaternion_norm(quaternion)) else { return nil }
        let angles = tendon_euler_head(quaternion)
        let degrees = BoseSampleLine.degrees
        return (angles.pitch * degrees, angles.roll * degrees, angles.yaw * degrees, angles.near_gimbal_lock)
    }

    private func isRotation(_ norm: Double) -> Bool { abs(norm - 1) <= BoseSampleLine.normTolerance }

    private func write(_ quaternion: tendon_quaternion, to line: inout LineWriter) {
        line.member("quaternion", quaternion.x, quaternion.y, quaternion.z, quaternion.w, decimals: 5)
        let angles = headAngles
        line.member("pitch_deg", angles?.pitch ?? .nan, decimals: 2)
        line.member("roll_deg", angles?.roll ?? .nan, decimals: 2)
        line.member("yaw_deg", angles?.yaw ?? .nan, decimals: 2)
        if angles == nil { line.member("norm", tendon_quaternion_norm(quaternion), decimals: 5) }
        if angles?.isNearGimbalLock ?? false { line.member("near_gimbal_lock", true) }
    }

    /// The members of the line. Decimals: one count of the ranges that the devices report, 16 g, 4000 deg/s, 1/16384.
    func write(to line: inout LineWriter) {
        line.member("sensor", word: tendon_bose_sensor_name(sensor))
        line.member("device_time_ms", deviceTime)
        times.write(to: &line)
        if let vector {
            switch Int(sensor) {
            case Int(TENDON_BOSE_ACCELEROMETER.rawValue):
                line.member("acceleration_g", vector.x, vector.y, vector.z, decimals: 4)
                if let bias { line.member("bias_g", bias.x, bias.y, bias.z, decimals: 4) }
            case Int(TENDON_BOSE_GYROSCOPE.rawValue):
                line.member("rotation_deg_per_s", vector.x, vector.y, vector.z, decimals: 2)
                if let bias { line.member("bias_deg_per_s", bias.x, bias.y, bias.z, decimals: 2) }
            default:
                line.member("vector", vector.x, vector.y, vector.z, decimals: 4)
                if let bias { line.member("bias", bias.x, bias.y, bias.z, decimals: 4) }
            }
        }
        if let quaternion { write(quaternion, to: &line) }
        if let accuracy { line.member("accuracy", word: tendon_bose_accuracy_name(accuracy)) }
        if let accuracyRadians { line.member("accuracy_rad", accuracyRadians, decimals: 4) }
    }

    static func writeGesture(
        _ gesture: UInt8, _ deviceTime: UInt64, _ times: SampleTimes = SampleTimes(), to line: inout LineWriter
    ) {
        line.member("gesture", word: tendon_bose_gesture_name(gesture))
        line.member("gesture_id", gesture)
        line.member("device_time_ms", deviceTime)
        times.write(to: &line)
    }
}
