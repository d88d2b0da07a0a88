// SPDX-License-Identifier: MIT

/// Notices that this machine's clock was set, as that of a gateway without a battery is when the network comes up.
struct WallClock {
    /// Microseconds of 1970 minus those of CLOCK_MONOTONIC.
    private var offset: Int64

    /// Microseconds: a clock that is only corrected goes 500 ppm too fast or too slow at most.
    private static let limit: UInt64 = 1_000_000

    init(_ time: UInt64, monotonic: UInt64) { offset = Int64(clamping: time) - Int64(clamping: monotonic) }

    /// What it would show if it had not been set since the call before; nil: it has not.
    mutating func expected(_ time: UInt64, monotonic: UInt64) -> UInt64? {
        let before = offset
        self = WallClock(time, monotonic: monotonic)
        guard (offset - before).magnitude > WallClock.limit else { return nil }
        return UInt64(clamping: Int64(clamping: monotonic) + before)
    }
}
