// SPDX-License-Identifier: MIT
import CTendon

/// An error: its layer, its code and the operation that failed.
///
/// ```swift
/// do { try await central.connect(address) } catch where error.isTimeout { print("not in range") }
/// ```
public struct TendonError: Error, Sendable, Hashable {
    /// The layer that reported the error. Raw values are those of the C core's `tendon_layer`; the modules of device
    /// families add theirs.
    public struct Layer: RawRepresentable, Sendable, Hashable {
        public let rawValue: UInt8
        public init(rawValue: UInt8) { self.rawValue = rawValue }

        /// Errors of no specific layer: timeouts, cancellation, invalid arguments.
        public static let base = Layer(rawValue: 0)
        /// The device's Error Response.
        public static let att = Layer(rawValue: 1)
        /// The controller.
        public static let hci = Layer(rawValue: 2)
        /// The channel below ATT.
        public static let l2cap = Layer(rawValue: 3)
        /// The kernel's management of controllers and pairings.
        public static let management = Layer(rawValue: 4)
        /// A response that violates the protocol, found by the client.
        public static let gatt = Layer(rawValue: 5)
        /// The radio that is used: no adapter, no permission, no such device.
        public static let radio = Layer(rawValue: 6)
        /// The operating system; the code is its errno.
        public static let system = Layer(rawValue: 15)
    }

    /// The operation that failed.
    public struct Operation: RawRepresentable, Sendable, Hashable {
        public let rawValue: String
        public init(rawValue: String) { self.rawValue = rawValue }

        /// Starting a loop or a simulated device.
        public static let start = Operation(rawValue: "start")
        /// Opening a radio.
        public static let openRadio = Operation(rawValue: "open radio")
        /// Looking for devices.
        public static let scan = Operation(rawValue: "scan")
        /// Being found.
        public static let advertise = Operation(rawValue: "advertise")
        /// Making a link.
        public static let connect = Operation(rawValue: "connect")
        /// Negotiating the size of packets.
        public static let exchangeMTU = Operation(rawValue: "exchange MTU")
        /// Asking for services, characteristics or descriptors.
        public static let discover = Operation(rawValue: "discover")
        /// Reading a value.
        public static let read = Operation(rawValue: "read")
        /// Writing a value.
        public static let write = Operation(rawValue: "write")
        /// Turning notifications on or off.
        public static let subscribe = Operation(rawValue: "subscribe")
        /// Sending a notification or an indication.
        public static let notify = Operation(rawValue: "notify")
        /// Pairing, or using a bond.
        public static let pair = Operation(rawValue: "pair")
        /// Waiting for notifications or events.
        public static let receive = Operation(rawValue: "receive")
        /// Decoding received data.
        public static let parse = Operation(rawValue: "parse")
        /// Adding a central to a group.
        public static let groupCentrals = Operation(rawValue: "add to a group")
        /// The operation of `TendonError.cancelled`, whatever was cancelled.
        public static let wait = Operation(rawValue: "wait")
    }

    /// The C core's status: below 0, layer and code in one integer.
    public let status: Int32
    /// The operation that failed.
    public let operation: Operation
    /// What of it, for people: the name of an argument, of a service that a device does not have. Errors that differ in
    /// this alone are equal.
    public let detail: String?

    /// An error of the C core's; `status` is below 0.
    public init(status: Int32, operation: Operation, detail: String? = nil) {
        self.status = status
        self.operation = operation
        self.detail = detail
    }

    public static func == (a: TendonError, b: TendonError) -> Bool {
        a.status == b.status && a.operation == b.operation
    }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(status)
        hasher.combine(operation)
    }

    /// Who spoke.
    public var layer: Layer { Layer(rawValue: UInt8(clamping: UInt32(bitPattern: 0 &- status) >> 8)) }
    /// The layer's own code: of `.att` the byte of the Error Response, of `.system` the errno.
    public var code: UInt8 { UInt8(truncatingIfNeeded: 0 &- status) }
    /// "ERROR_TIMEOUT", "ATT_READ_NOT_PERMITTED" …
    public var name: String { String(cString: tendon_family_status_name(status)) }
    /// One line of plain English.
    public var text: String { String(cString: tendon_family_status_text(status)) }
    /// The text with the name, and the number where others define it:
    /// "the disk has no space left (SYSTEM_ENOSPC, 28)".
    public var cause: String { formatted(status, name: name, text: text) }
}

extension TendonError {
    /// Something was not done in its time.
    public var isTimeout: Bool { status == Int32(TENDON_ERROR_TIMEOUT) }

    static func system(_ number: Int32) -> Int32 { -(Int32(Layer.system.rawValue) * 256 + number) }

    static func timeout(_ operation: Operation) -> TendonError {
        TendonError(status: Int32(TENDON_ERROR_TIMEOUT), operation: operation)
    }

    static func disconnected(_ operation: Operation) -> TendonError {
        TendonError(status: Int32(TENDON_ERROR_DISCONNECTED), operation: operation)
    }
}

extension TendonError: CancellableError {
    /// The error that a function throws because its task was cancelled.
    public static let cancelled = TendonError(status: Int32(TENDON_ERROR_CANCELLED), operation: .wait)
    /// Whether the operation ended because the program cancelled it, or closed the connection that it used.
    public var isCancelled: Bool { status == Int32(TENDON_ERROR_CANCELLED) }
}

extension TendonError: CustomStringConvertible {
    public var description: String {
        "\(operation.rawValue)\(detail.map { ", \($0)" } ?? ""): \(cause)"
    }
}

/// The status as a result: a count or a length, or thrown.
@discardableResult
package func check(_ status: Int32, _ operation: TendonError.Operation) throws(TendonError) -> Int {
    guard status >= 0 else { throw TendonError(status: status, operation: operation) }
    return Int(status)
}
