// SPDX-License-Identifier: MIT
import CTendon

/// Time of retries and of payments. Tests replace it, so that none of them waits.
package protocol ObviousClock: Sendable {
    /// Monotonic milliseconds.
    var now: UInt64 { get }
    /// Returns when `now` is at least `time`; throws when the task is cancelled.
    func sleep(until time: UInt64) async throws
}

/// The system's time.
package struct SystemClock: ObviousClock {
    package init() {}

    package var now: UInt64 { tendon_monotonic_ms() }

    package func sleep(until time: UInt64) async throws {
        let now = now
        if time > now { try await Loop.shared.sleep(for: .milliseconds(Int64(time - now))) }
    }
}
