// SPDX-License-Identifier: MIT
// The times of a sample in a line.
import CTendon
import Tendon
import TendonSupport

extension SampleTimes {
    /// As the C library takes it; 0: not known.
    var errorMicroseconds: UInt32 { UInt32(((errorMilliseconds ?? 0) * 1000).rounded()) }

    /// Seconds of `CLOCK_MONOTONIC`, which other processes of this machine can read. Nothing for what was not received.
    func write(to line: inout LineWriter) {
        line.members { tendon_line_times($0, receivedAt, sampledAt ?? 0, errorMicroseconds) }
    }
}
