// SPDX-License-Identifier: MIT
// What a log says of a disk that fails and works again.

/// The disk. Its failure is a line, and so is its return; one that fails again and again has to work for a time before that is
/// said, and the time doubles.
package struct DiskReport {
    private var isReported = false
    private var worksSince: UInt64?
    private var patience: UInt64
    package static let firstPatience: UInt64 = 10_000
    private static let longestPatience: UInt64 = 3_600_000

    /// - Parameter patience: milliseconds for which it has to work the first time.
    package init(patience: UInt64 = 0) { self.patience = patience }

    /// Whether this failure is worth a line. `now`: monotonic milliseconds.
    package mutating func failed(_ now: UInt64) -> Bool {
        if let worksSince, now - worksSince >= DiskReport.longestPatience { patience = 0 }
        worksSince = nil
        defer { isReported = true }
        return !isReported
    }

    /// Whether it is worth a line that the disk works.
    package mutating func works(_ now: UInt64) -> Bool {
        worksSince = worksSince ?? now
        guard isReported, now - worksSince! >= patience else { return false }
        patience = min(max(2 * patience, DiskReport.firstPatience), DiskReport.longestPatience)
        isReported = false
        return true
    }
}
