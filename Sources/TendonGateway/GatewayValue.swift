// SPDX-License-Identifier: MIT

/// A value in the line of an event.
public enum GatewayValue: Sendable, Hashable {
    /// Not known.
    case null
    /// Yes or no.
    case flag(Bool)
    /// A number without decimals, if it has less than 19 digits.
    case integer(Int64)
    /// Any other number.
    case number(Double)
    /// A word, or text for people.
    case text(String)
    /// Values in their order.
    case list([GatewayValue])
    /// Values by their names.
    case object([String: GatewayValue])

    /// Of numbers; else `nil`.
    public var number: Double? {
        switch self {
        case .integer(let integer): Double(integer)
        case .number(let number): number
        default: nil
        }
    }

    /// Of numbers without decimals; else `nil`.
    public var integer: Int64? { if case .integer(let integer) = self { integer } else { nil } }
    /// Of texts; else `nil`.
    public var text: String? { if case .text(let text) = self { text } else { nil } }
    /// Of flags; else `nil`.
    public var flag: Bool? { if case .flag(let flag) = self { flag } else { nil } }
    /// Of lists; else `nil`.
    public var list: [GatewayValue]? { if case .list(let list) = self { list } else { nil } }
}

/// Reads a line that the C library has written (tendon/gateway/line.h): JSON without white space. What is not that ends
/// the reading.
struct LineReader {
    private let bytes: [UInt8]
    private var at = 0

    private init(_ bytes: [UInt8]) { self.bytes = bytes }

    /// Only the member is made into a value.
    static func member(_ name: String, of bytes: [UInt8]) -> GatewayValue? {
        var reader = LineReader(bytes)
        guard reader.take("{") else { return nil }
        repeat {
            guard let key = reader.string(), reader.take(":") else { return nil }
            if key == name { return reader.value() }
            reader.skip()
        } while reader.take(",")
        return nil
    }

    static func members(of bytes: [UInt8]) -> [String: GatewayValue] {
        var reader = LineReader(bytes)
        guard case .object(let members)? = reader.value() else { return [:] }
        return members
    }

    private var next: UInt8? { at < bytes.count ? bytes[at] : nil }

    private mutating func take(_ character: Unicode.Scalar) -> Bool {
        guard next == UInt8(ascii: character) else { return false }
        at += 1
        return true
    }

    private mutating func take(word: StaticString) -> Bool {
        let end = at + word.utf8CodeUnitCount
        let isThere = word.withUTF8Buffer { end <= bytes.count && $0.elementsEqual(bytes[at..<end]) }
        if isThere { at = end }
        return isThere
    }

    private mutating func value() -> GatewayValue? {
        switch next {
        case UInt8(ascii: "\""): return string().map { .text($0) }
        case UInt8(ascii: "{"): return object()
        case UInt8(ascii: "["): return list()
        default: break
        }
        if take(word: "null") { return .null }
        if take(word: "true") { return .flag(true) }
        if take(word: "false") { return .flag(false) }
        return number()
    }

    private mutating func list() -> GatewayValue? {
        guard take("[") else { return nil }
        if take("]") { return .list([]) }
        var values: [GatewayValue] = []
        repeat {
            guard let value = value() else { return nil }
            values.append(value)
        } while take(",")
        return take("]") ? .list(values) : nil
    }

    private mutating func object() -> GatewayValue? {
        guard take("{") else { return nil }
        if take("}") { return .object([:]) }
        var members: [String: GatewayValue] = [:]
        repeat {
            guard let key = string(), take(":"), let value = value() else { return nil }
            members[key] = value
        } while take(",")
        return take("}") ? .object(members) : nil
    }

    private mutating func number() -> GatewayValue? {
        let start = at
        var isWhole = true
        while let byte = next {
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"): break
            case UInt8(ascii: "."), UInt8(ascii: "e"), UInt8(ascii: "+"): isWhole = false
            default:
                return number(String(decoding: bytes[start..<at], as: UTF8.self), isWhole: isWhole)
            }
            at += 1
        }
        return number(String(decoding: bytes[start..<at], as: UTF8.self), isWhole: isWhole)
    }

    private func number(_ text: String, isWhole: Bool) -> GatewayValue? {
        if isWhole, let integer = Int64(text) { return .integer(integer) }
        return Double(text).map { .number($0) }
    }

    private mutating func string() -> String? {
        guard take("\"") else { return nil }
        let start = at
        while let byte = next, byte != UInt8(ascii: "\""), byte != UInt8(ascii: "\\") { at += 1 }
        if next == UInt8(ascii: "\"") {  // almost all
            defer { at += 1 }
            return String(decoding: bytes[start..<at], as: UTF8.self)
        }
        return escaped(Array(bytes[start..<at]))
    }

    /// A string, from its first escape on: of a quotation mark, a backslash, or what is unsafe on a terminal, as its number.
    private mutating func escaped(_ before: [UInt8]) -> String? {
        var text = before
        while let byte = next, byte != UInt8(ascii: "\"") {
            at += 1
            guard byte == UInt8(ascii: "\\") else {
                text.append(byte)
                continue
            }
            guard let escape = next else { return nil }
            at += 1
            if escape != UInt8(ascii: "u") {
                text.append(escape)
                continue
            }
            guard at + 4 <= bytes.count,
                let code = UInt16(String(decoding: bytes[at..<at + 4], as: UTF8.self), radix: 16),
                let character = Unicode.Scalar(code)
            else { return nil }
            text += Array(String(Character(character)).utf8)
            at += 4
        }
        return take("\"") ? String(decoding: text, as: UTF8.self) : nil
    }

    /// Moves behind a value.
    private mutating func skip() {
        var depth = 0
        while let byte = next {
            switch byte {
            case UInt8(ascii: "\""): skipString()
            case UInt8(ascii: "["), UInt8(ascii: "{"):
                depth += 1
                at += 1
            case UInt8(ascii: "]"), UInt8(ascii: "}"):
                if depth == 0 { return }
                depth -= 1
                at += 1
            case UInt8(ascii: ",") where depth == 0: return
            default: at += 1
            }
        }
    }

    private mutating func skipString() {
        at += 1
        while let byte = next, byte != UInt8(ascii: "\"") { at += byte == UInt8(ascii: "\\") ? 2 : 1 }
        at += 1
    }
}
