// SPDX-License-Identifier: MIT
// The times of a sample in a line.
import Tendon
import TendonSupport

extension SampleTimes {
    /// Seconds of `CLOCK_MONOTONIC`, which other processes of this machine can read. Nothing for what was not received.
    func write(to line: inout LineWriter) {
        guard receivedAt != 0 else { return }
        line.member("received_at", Double(receivedAt) / 1e9, decimals: 6)
        guard let sampledAt, let errorMilliseconds else { return }
        line.member("sampled_at", Double(sampledAt) / 1e9, decimals: 6)
        line.member("error_ms", errorMilliseconds, decimals: 1)
    }
}
