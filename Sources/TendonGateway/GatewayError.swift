// SPDX-License-Identifier: MIT
import CTendon
import Tendon

/// Why something of a gateway failed.
///
/// ```swift
/// do throws(GatewayError) {
///     try await gateway.perform("mode", ["compass"], on: device)
/// } catch {
///     print(error.reason, error.detail)   // refused unknown mode 'compas'; known: …
/// }
/// ```
public struct GatewayError: CancellableError, Hashable {
    /// For programs.
    public enum Reason: Sendable, Hashable, CaseIterable {
        /// Something in the settings, or in a device file, is not possible.
        case settings
        /// The radio does not open, and waiting would not help.
        case radio
        /// No such device was connected in time.
        case timeout
        /// The device is not connected, or was lost before it confirmed the action.
        case notConnected
        /// The words are no action of the device, or too many actions wait.
        case refused
        /// The device did not carry out the action.
        case failed
        /// The gateway was closed.
        case closed
        /// The task was cancelled.
        case cancelled
    }

    /// What kind of failure it is.
    public let reason: Reason
    /// What of it, for people: a sentence without its end. Errors that differ in this alone are equal.
    public let detail: String
    /// The status of the C library behind it; `nil`: there is none.
    public let cause: TendonError?

    init(_ reason: Reason, _ detail: String, cause: TendonError? = nil) {
        self.reason = reason
        self.detail = detail
        self.cause = cause
    }

    public static func == (a: GatewayError, b: GatewayError) -> Bool { a.reason == b.reason && a.cause == b.cause }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(reason)
        hasher.combine(cause)
    }

    /// The error that a function throws because its task was cancelled.
    public static let cancelled = GatewayError(.cancelled, "the task was cancelled")
    /// Whether the operation ended because its task was cancelled.
    public var isCancelled: Bool { reason == .cancelled }

    static let closed = GatewayError(.closed, "the gateway was closed")

    /// - Parameter obstacle: the last event that says why.
    static func noDevice(after obstacle: GatewayEvent?) -> GatewayError {
        let who = obstacle?.device.map { "\($0.name ?? $0.address.description): " } ?? ""
        let why = obstacle?["text"]?.text.map { "; \(who)\($0)" } ?? ""
        return GatewayError(.timeout, "no such device was connected in time\(why)", cause: obstacle?.cause)
    }
}

extension GatewayError: CustomStringConvertible {
    /// One line of plain English.
    public var description: String {
        switch reason {
        case .settings: "settings: \(detail)"
        case .radio: "no radio: \(detail)"
        default: detail
        }
    }
}
