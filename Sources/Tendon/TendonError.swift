// SPDX-License-Identifier: MIT
import CTendon

/// What went wrong, in which layer, while doing what.
///
/// ```swift
/// do { try await central.connect(address) } catch where error.isTimeout { print("not in reach") }
/// ```
public struct TendonError: Error, Sendable, Hashable {
    /// Who spoke. Raw values are those of the C core's `tendon_layer`.
    public enum Layer: UInt8, Sendable {
        case base = 0
        case att, hci, l2cap, management, gatt, radio, bose, feelSpace, activ5, fjorden, obvious
        case system = 15
        case unknown = 255
    }

    /// What was being done.
    public struct Operation: RawRepresentable, Sendable, Hashable {
        public let rawValue: String
        public init(rawValue: String) { self.rawValue = rawValue }

        public static let start = Operation(rawValue: "start")
        public static let openRadio = Operation(rawValue: "open radio")
        public static let scan = Operation(rawValue: "scan")
        public static let advertise = Operation(rawValue: "advertise")
        public static let connect = Operation(rawValue: "connect")
        public static let exchangeMTU = Operation(rawValue: "exchange MTU")
        public static let discover = Operation(rawValue: "discover")
        public static let read = Operation(rawValue: "read")
        public static let write = Operation(rawValue: "write")
        public static let subscribe = Operation(rawValue: "subscribe")
        public static let pair = Operation(rawValue: "pair")
        public static let receive = Operation(rawValue: "receive")
        public static let parse = Operation(rawValue: "parse")
    }

    /// The C core's status: below 0, layer and code in one integer.
    public let status: Int32
    public let operation: Operation

    public init(status: Int32, operation: Operation) {
        self.status = status
        self.operation = operation
    }

    public var layer: Layer { Layer(rawValue: UInt8(truncatingIfNeeded: (0 &- status) >> 8)) ?? .unknown }
    /// The layer's own code: of `.att` the byte of the Error Response, of `.system` the errno.
    public var code: UInt8 { UInt8(truncatingIfNeeded: 0 &- status) }
    /// "ERROR_TIMEOUT", "ATT_READ_NOT_PERMITTED" …
    public var name: String { String(cString: tendon_status_name(status)) }
    /// One line of plain English.
    public var text: String { String(cString: tendon_status_text(status)) }
}

extension TendonError {
    public var isTimeout: Bool { status == Int32(TENDON_ERROR_TIMEOUT) }
    public var isCancelled: Bool { status == Int32(TENDON_ERROR_CANCELLED) }

    static func system(_ number: Int32) -> Int32 { -(Int32(Layer.system.rawValue) * 256 + number) }

    static func timeout(_ operation: Operation) -> TendonError {
        TendonError(status: Int32(TENDON_ERROR_TIMEOUT), operation: operation)
    }

    static func cancelled(_ operation: Operation) -> TendonError {
        TendonError(status: Int32(TENDON_ERROR_CANCELLED), operation: operation)
    }

    static func disconnected(_ operation: Operation) -> TendonError {
        TendonError(status: Int32(TENDON_ERROR_DISCONNECTED), operation: operation)
    }
}

extension TendonError: CustomStringConvertible {
    public var description: String {
        "\(operation.rawValue): \(text) (\(String(cString: tendon_status_layer_name(status))) \(name))"
    }
}

/// The status as a result: a count or a length, or thrown.
@discardableResult
package func check(_ status: Int32, _ operation: TendonError.Operation) throws(TendonError) -> Int {
    guard status >= 0 else { throw TendonError(status: status, operation: operation) }
    return Int(status)
}
