// SPDX-License-Identifier: MIT
// Bose: one sample as the line that `run`, `stream` and `replay` print.
import CTendon
import TendonSupport

/// A sample, whoever decoded it.
struct BoseSampleLine {
    var address: String
    var sensor: UInt8
    var deviceTime: UInt64
    var vector: [Double]?
    var quaternion: tendon_quaternion?
    var bias: [Double]?
    /// Vector sensors: 0 to 3.
    var accuracy: UInt8?
    /// Rotation: estimated error in radians.
    var accuracyRadians: Double?

    init(address: String, sensor: UInt8, deviceTime: UInt64) {
        self.address = address
        self.sensor = sensor
        self.deviceTime = deviceTime
    }

    init(_ sample: tendon_bose_sample, address: String, deviceTime: UInt64) {
        self.init(address: address, sensor: sample.sensor_id, deviceTime: deviceTime)
        if sample.has_vector { vector = components(sample.vector) }
        if sample.has_quaternion { quaternion = sample.quaternion }
        if sample.has_bias { bias = components(sample.bias) }
        guard sample.has_accuracy else { return }
        if sample.has_quaternion {
            accuracyRadians = sample.accuracy_unknown ? nil : sample.accuracy_rad
        } else {
            accuracy = sample.accuracy
        }
    }

    static let degrees = 180 / Double.pi

    /// Pitch, roll and yaw of the head in degrees.
    var headAngles: (pitch: Double, roll: Double, yaw: Double)? {
        quaternion.map { quaternion in
            let angles = tendon_euler_head(quaternion)
            let degrees = BoseSampleLine.degrees
            return (angles.pitch * degrees, angles.roll * degrees, angles.yaw * degrees)
        }
    }

    var json: JSON {
        var line: JSON = [
            "event": "sample", "family": "bose", "address": .string(address),
            "sensor": .string(text(tendon_bose_sensor_name(sensor))), "device_ms": JSON(deviceTime),
        ]
        if let vector { line[vectorKey] = JSON(vector) }
        if let bias { line["bias"] = JSON(bias) }
        if let quaternion, let angles = headAngles {
            line["quaternion"] = JSON([quaternion.x, quaternion.y, quaternion.z, quaternion.w])
            line["pitch_deg"] = .real(angles.pitch)
            line["roll_deg"] = .real(angles.roll)
            line["yaw_deg"] = .real(angles.yaw)
        }
        if let accuracy { line["accuracy"] = .string(text(tendon_bose_accuracy_name(accuracy))) }
        if let accuracyRadians { line["accuracy_rad"] = .real(accuracyRadians) }
        return line
    }

    /// The vector's name says its unit where there is one.
    private var vectorKey: String {
        switch Int(sensor) {
        case Int(TENDON_BOSE_ACCELEROMETER.rawValue): "g"
        case Int(TENDON_BOSE_GYROSCOPE.rawValue): "deg_s"
        default: "vector"
        }
    }
}

extension BoseSampleLine {
    static func gestureEvent(_ gesture: UInt8, address: String, deviceTime: UInt64) -> JSON {
        [
            "event": "gesture", "family": "bose", "address": .string(address),
            "gesture": .string(text(tendon_bose_gesture_name(gesture))), "gesture_id": JSON(gesture),
            "device_ms": JSON(deviceTime),
        ]
    }
}

private func components(_ vector: tendon_bose_vector) -> [Double] { [vector.x, vector.y, vector.z] }
