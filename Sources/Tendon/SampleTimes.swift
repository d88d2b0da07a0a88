// SPDX-License-Identifier: MIT

/// When a sample arrived and when it was measured, in nanoseconds of `CLOCK_MONOTONIC` of this machine.
///
/// ```swift
/// func show(_ times: SampleTimes) {
///     if let sampledAt = times.sampledAt { print(sampledAt, "±", times.errorMilliseconds ?? 0, "ms") }
/// }
/// ```
public struct SampleTimes: Sendable, Hashable {
    /// When its notification arrived, by the kernel's stamp where the adapter's socket gives one; 0: it was not received.
    public let receivedAt: UInt64
    /// When it was measured, by a model of the device's clock; nil: the device has none, or it is not known yet.
    public let sampledAt: UInt64?
    /// Bound of the error of `sampledAt`.
    public let errorMilliseconds: Double?

    /// Times of an application's own values: not received.
    public init() {
        (receivedAt, sampledAt, errorMilliseconds) = (0, nil, nil)
    }

    /// As the sessions in C report them; 0: not known.
    package init(receivedAt: UInt64, sampledAt: UInt64 = 0, errorMicroseconds: UInt32 = 0) {
        self.receivedAt = receivedAt
        self.sampledAt = sampledAt == 0 ? nil : sampledAt
        errorMilliseconds = sampledAt == 0 ? nil : Double(errorMicroseconds) / 1000
    }
}
