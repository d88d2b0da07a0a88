// SPDX-License-Identifier: MIT
// Bose: one sample of a capture as the line that `replay` prints: the C library writes it.
import CTendon
import TendonSupport

/// A sample, and the clock of the device.
struct BoseSampleLine {
    var sample: tendon_bose_sample
    var deviceTime: UInt64

    static let degrees = 180 / Double.pi

    func write(to line: inout LineWriter) {
        var sample = sample
        line.members { tendon_bose_sample_members($0, &sample, deviceTime, 0, 0, 0) }
    }

    static func writeGesture(_ gesture: UInt8, _ deviceTime: UInt64, to line: inout LineWriter) {
        line.members { tendon_bose_gesture_members($0, gesture, deviceTime, 0, 0, 0) }
    }
}
