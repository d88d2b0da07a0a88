// SPDX-License-Identifier: MIT
// Bose: one sample as the line that `run`, `stream` and `replay` print: the C library writes it.
import CTendon
import Tendon
import TendonSupport

/// A sample, from a session or from a capture.
struct BoseSampleLine {
    var sample: tendon_bose_sample
    var deviceTime: UInt64
    var times = SampleTimes()

    static let degrees = 180 / Double.pi

    /// Pitch, roll and yaw of the head in degrees; nil: there is no quaternion, or it is no rotation.
    var headAngles: tendon_angles? {
        var (quaternion, angles) = (sample.quaternion, tendon_angles())
        return sample.has_quaternion && tendon_bose_head(&quaternion, &angles) ? angles : nil
    }

    func write(to line: inout LineWriter) {
        var sample = sample
        line.members {
            tendon_bose_sample_members(
                $0, &sample, deviceTime, times.receivedAt, times.sampledAt ?? 0, times.errorMicroseconds)
        }
    }

    static func writeGesture(
        _ gesture: UInt8, _ deviceTime: UInt64, _ times: SampleTimes = SampleTimes(), to line: inout LineWriter
    ) {
        line.members {
            tendon_bose_gesture_members(
                $0, gesture, deviceTime, times.receivedAt, times.sampledAt ?? 0, times.errorMicroseconds)
        }
    }
}
