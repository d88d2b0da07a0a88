// SPDX-License-Identifier: MIT
import Tendon

/// An error of a cloud call. It contains no card data, no API key and no payment secret.
///
/// ```swift
/// do {
///     _ = try await ObviousCloud.installed?.defaultCatalog(productId: nil, key: nil)
/// } catch where error.kind == .network {
///     print("the cloud is not reachable: \(error)")
/// }
/// ```
public struct ObviousCloudError: Error, Sendable, Hashable {
    /// The kind of an error; raw values are those of docs/protocols/obvious.md.
    public enum Kind: Int32, Sendable, CaseIterable {
        /// CLOUD_ARG: an argument, or the configuration, is not valid.
        case argument = -1
        /// TIMEOUT: the cloud did not answer in time.
        case timeout = -5
        /// CLOUD_NET: no connection, no valid certificate, or the connection was lost.
        case network = -9
        /// CLOUD_HTTP: the cloud answered with an error.
        case http = -10
        /// CLOUD_FORMAT: the answer is malformed or exceeds a limit.
        case format = -11
        /// CRYPTO: the answer's hash is not that of its content.
        case crypto = -12
        /// NOT_SUPPORTED: no cloud is installed, or the module was built without one.
        case notSupported = -15
        /// STORAGE: a file or locked memory.
        case storage = -16
        /// CANCELLED: the task was cancelled.
        case cancelled = -17
        /// PAYMENT: the card is not valid, or the result of the payment is not known.
        case payment = -18
        /// NO_API_KEY: no API key is set.
        case noAPIKey = -19
    }

    /// The kind.
    public let kind: Kind
    /// The status of HTTP, of `.http` errors.
    public let httpStatus: Int?
    /// The cloud's own code ("NOT_PROVISIONED"), if it sent one: letters, digits and underscores.
    public let code: String?
    /// One line for people.
    public let reason: String

    /// Text that a cloud sent is made printable and shortened.
    public init(_ kind: Kind, _ reason: String, httpStatus: Int? = nil, code: String? = nil) {
        self.kind = kind
        self.httpStatus = httpStatus
        self.code = code.map { Self.printable($0, atMost: 64) }
        self.reason = Self.printable(reason, atMost: 200)
    }

    /// No API key is set.
    public static let noAPIKey = ObviousCloudError(.noAPIKey, "no api key")
    /// Neither an installed cloud nor one of the manager's own.
    public static let noCloud = ObviousCloudError(.notSupported, "no cloud is installed: call ObviousCloud.install()")
    /// The request was sent, and it is not known whether the card was charged; also with the status of an answer that
    /// does not say so: compare with ``isUnknownResult``.
    public static let unknownResult = ObviousCloudError(.payment, "unknown result")
    package static func unknownResult(httpStatus: Int?) -> ObviousCloudError {
        ObviousCloudError(.payment, unknownResult.reason, httpStatus: httpStatus)
    }
    /// A card that the local checks reject.
    public static let invalidCard = ObviousCloudError(.payment, "invalid card")

    /// Whether the cloud does not permit to provision devices in the field.
    public var isProvisioningForbidden: Bool { httpStatus == 403 && code == "IN_FIELD_NOT_ALLOWED" }

    /// Whether it is not known if a card was charged: the payment is open until the cloud is asked again.
    public var isUnknownResult: Bool { kind == .payment && reason.hasPrefix(Self.unknownResult.reason) }

    /// Whether the cloud says that the cart is paid, by whatever request.
    package var isCartPaid: Bool { httpStatus == 409 && code == "ALREADY_PAID" }

    /// Whether the request that failed so cannot have charged a card: it was never sent, or the cloud rejected it. Of 400
    /// to 499, 402 must say what failed, and the other exceptions are also answered on the way, when the time or the number
    /// of requests is exceeded.
    package var provesNothingWasCharged: Bool {
        switch kind {
        case .argument, .network, .notSupported, .storage, .cancelled, .noAPIKey: true
        case .payment: !isUnknownResult
        case .http: httpStatus.map { (400...499).contains($0) && ![402, 408, 425, 429].contains($0) } ?? false
        case .timeout, .format, .crypto: false
        }
    }

    /// Without control characters, and not longer than a line.
    package static func printable(_ text: String, atMost length: Int) -> String {
        var result = ""
        for scalar in text.unicodeScalars.prefix(length) {
            switch scalar.properties.generalCategory {
            case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate, .privateUse, .unassigned:
                result.unicodeScalars.append("?")
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result
    }
}

extension ObviousCloudError: CancellableError {
    /// The error that a function throws because its task was cancelled.
    public static let cancelled = ObviousCloudError(.cancelled, "cancelled")
    /// Whether the task was cancelled.
    public var isCancelled: Bool { kind == .cancelled }
}

extension ObviousCloudError: CustomStringConvertible {
    /// Reason, and what the cloud sent: "the device is not provisioned (HTTP 404, NOT_PROVISIONED)".
    public var description: String {
        let details = [httpStatus.map { "HTTP \($0)" }, code].compactMap { $0 }
        return details.isEmpty ? reason : "\(reason) (\(details.joined(separator: ", ")))"
    }
}
