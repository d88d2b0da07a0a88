// SPDX-License-Identifier: MIT
// Bose: one sample as numbers, for outputs that want numbers.
import CTendon
import Tendon
import TendonOutputs

extension BoseSampleLine {
    /// By the number of the sensor.
    private static let forms: [SampleForm] = BoseNames.sensors.indices.map { sensor in
        let axes = { (prefix: String, unit: String) in ["x", "y", "z"].map { SampleChannel(prefix + $0, unit) } }
        let channels: [SampleChannel]
        switch sensor {
        case Int(TENDON_BOSE_ACCELEROMETER.rawValue): channels = axes("", "g") + [SampleChannel("accuracy")]
        case Int(TENDON_BOSE_GYROSCOPE.rawValue): channels = axes("", "deg/s") + [SampleChannel("accuracy")]
        case Int(TENDON_BOSE_ROTATION.rawValue): channels = rotation + [SampleChannel("accuracy", "rad")]
        case Int(TENDON_BOSE_GAME_ROTATION.rawValue): channels = rotation
        case Int(TENDON_BOSE_UNCALIBRATED_MAGNETOMETER.rawValue): channels = axes("", "") + axes("bias_", "")
        default: channels = axes("", "") + [SampleChannel("accuracy")]
        }
        return SampleForm(BoseNames.sensors[sensor], channels)
    }

    private static let rotation =
        ["x", "y", "z", "w"].map { SampleChannel($0) } + ["pitch", "roll", "yaw"].map { SampleChannel($0, "deg") }

    /// Nil: a sensor that is not known.
    var numbers: OutputSample? {
        guard Int(sensor) < BoseSampleLine.forms.count else { return nil }
        var sample = OutputSample(BoseSampleLine.forms[Int(sensor)])
        sample.take(times)
        sample.deviceTime = deviceTime
        if let quaternion {
            (sample[0], sample[1], sample[2], sample[3]) = (quaternion.x, quaternion.y, quaternion.z, quaternion.w)
            if let angles = headAngles { (sample[4], sample[5], sample[6]) = (angles.pitch, angles.roll, angles.yaw) }
            if let accuracyRadians, sample.count > 7 { sample[7] = accuracyRadians }
            sample.head = tendon_head_from_bose(quaternion)
        } else if let vector {
            (sample[0], sample[1], sample[2]) = (vector.x, vector.y, vector.z)
            if let bias {
                (sample[3], sample[4], sample[5]) = (bias.x, bias.y, bias.z)
            } else if let accuracy {
                sample[3] = Double(accuracy)
            }
        }
        return sample
    }
}

extension OutputSample {
    mutating func take(_ times: SampleTimes) {
        (receivedAt, sampledAt, errorMilliseconds) = (times.receivedAt, times.sampledAt, times.errorMilliseconds)
    }
}
