// SPDX-License-Identifier: MIT

/// An error type that represents the cancellation of a task. Every error type of Tendon's modules conforms to it.
///
/// The contract of every public asynchronous function of Tendon, in all modules:
/// - If its task is cancelled, the function throws `cancelled` within 100 milliseconds, also if the device does not
///   respond. A function that was about to succeed may return its result instead.
/// - It releases what it used: the connection attempt, the search and the request to the device end with it.
/// - If the task is already cancelled when the function is called, the function throws before it starts anything.
///
/// A sequence ends when the task of its consumer is cancelled; it does not throw.
///
/// ```swift
/// func isWorthReporting<Failure: CancellableError>(_ error: Failure) -> Bool { !error.isCancelled }
/// ```
public protocol CancellableError: Error {
    /// The error that a function throws because its task was cancelled.
    static var cancelled: Self { get }
    /// Whether the operation ended because the program cancelled it.
    var isCancelled: Bool { get }
}
