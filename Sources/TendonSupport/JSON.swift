// SPDX-License-Identifier: MIT
// JSON values, read and written by jansson. The only file that talks to it.
import CSystemJansson

/// A JSON value. Objects keep their order; integers and reals stay what they were.
package indirect enum JSON: Equatable, Sendable {
    case null
    case bool(Bool)
    case integer(Int64)
    case real(Double)
    case string(String)
    case array([JSON])
    case object([Member])

    package struct Member: Equatable, Sendable {
        package var key: String
        package var value: JSON

        package init(key: String, value: JSON) {
            self.key = key
            self.value = value
        }
    }

    /// Why a text is not JSON, in jansson's words.
    package struct ParseError: Error {
        package var text: String
        package var position: Int
    }
}

extension JSON: ExpressibleByDictionaryLiteral, ExpressibleByArrayLiteral, ExpressibleByStringLiteral,
    ExpressibleByIntegerLiteral, ExpressibleByFloatLiteral, ExpressibleByBooleanLiteral, ExpressibleByNilLiteral
{
    package init(dictionaryLiteral elements: (String, JSON)...) {
        self = .object(elements.map { Member(key: $0.0, value: $0.1) })
    }
    package init(arrayLiteral elements: JSON...) { self = .array(elements) }
    package init(stringLiteral value: String) { self = .string(value) }
    package init(integerLiteral value: Int64) { self = .integer(value) }
    package init(floatLiteral value: Double) { self = .real(value) }
    package init(booleanLiteral value: Bool) { self = .bool(value) }
    package init(nilLiteral: ()) { self = .null }

    package init<Number: BinaryInteger>(_ value: Number) { self = .integer(Int64(clamping: value)) }
    package init(_ value: Double) { self = .real(value) }
    /// Without a point if it needs none: 100, 0.1.
    package init(figure value: Double) {
        self = Int64(exactly: value).map { .integer($0) } ?? .real(value)
    }
    package init(_ value: Bool) { self = .bool(value) }
    package init(_ value: String) { self = .string(value) }
    package init(_ values: [JSON]) { self = .array(values) }
    package init<Number: BinaryInteger>(_ values: [Number]) { self = .array(values.map { JSON($0) }) }
    package init(_ values: [Double]) { self = .array(values.map { .real($0) }) }
}

extension JSON {
    /// The member of an object; nil for other values and absent keys. Setting nil removes.
    package subscript(key: String) -> JSON? {
        get {
            guard case .object(let members) = self else { return nil }
            return members.first { $0.key == key }?.value
        }
        set {
            guard case .object(var members) = self else { return }
            let index = members.firstIndex { $0.key == key }
            switch (index, newValue) {
            case (let index?, let value?): members[index].value = value
            case (let index?, nil): members.remove(at: index)
            case (nil, let value?): members.append(Member(key: key, value: value))
            case (nil, nil): break
            }
            self = .object(members)
        }
    }

    /// The members of an object.
    package var all: [Member] {
        if case .object(let members) = self { return members }
        return []
    }

    /// With the members of the other one, which replace those of the same name.
    package func merging(_ other: JSON) -> JSON {
        var result = self
        for member in other.all { result[member.key] = member.value }
        return result
    }

    package var string: String? {
        if case .string(let value) = self { return value }
        return nil
    }

    /// An integer, or a real that is one.
    package var integer: Int? {
        switch self {
        case .integer(let value): return Int(exactly: value)
        case .real(let value): return Int(exactly: value)
        default: return nil
        }
    }

    package var number: Double? {
        switch self {
        case .integer(let value): return Double(value)
        case .real(let value): return value
        default: return nil
        }
    }

    package var bool: Bool? {
        if case .bool(let value) = self { return value }
        return nil
    }

    package var array: [JSON]? {
        if case .array(let values) = self { return values }
        return nil
    }
}

// MARK: - Reading

extension JSON {
    /// Values in values that are accepted. Parsing, writing and releasing a value take stack for each level; a thread can
    /// have as little as 128 KiB.
    private static let deepest = 32

    /// Parses one array or object, at most 32 levels deep. Duplicate keys: the last one counts. An integer that 64 bits with
    /// a sign do not have becomes a text with its digits: jansson has no number for it, and a real would lose some.
    package init(parsing text: [UInt8]) throws(ParseError) {
        try self.init(text, quoting: JSON.largeInteger)
    }

    /// As `init(parsing:)`. The words NaN, Infinity and -Infinity, which JSON has not and which many write all the
    /// same, become texts.
    package init(parsingVector text: [UInt8]) throws(ParseError) {
        try self.init(text) { rest in
            let word = ["NaN", "Infinity", "-Infinity"].first { rest.starts(with: $0.utf8) }
            return word.map { ($0.utf8.count, true) } ?? JSON.largeInteger(rest)
        }
    }

    /// The token at the beginning of what stands outside of texts.
    private typealias Token = (length: Int, isQuoted: Bool)

    /// If the text is not accepted as it is, with some of its tokens in quotation marks.
    private init(_ text: [UInt8], quoting token: (ArraySlice<UInt8>) -> Token) throws(ParseError) {
        do {
            try self.init(plain: text)
        } catch {
            let (quoted, marks) = JSON.quoting(text, token)
            guard !marks.isEmpty else { throw error }
            do {
                try self.init(plain: quoted)
            } catch {
                let added = marks.count { $0 < error.position }
                throw ParseError(text: error.text, position: error.position - added)
            }
        }
    }

    /// Returns the positions of the marks, too.
    private static func quoting(_ text: [UInt8], _ token: (ArraySlice<UInt8>) -> Token) -> ([UInt8], marks: [Int]) {
        let (quote, backslash) = (UInt8(ascii: "\""), UInt8(ascii: "\\"))
        var (result, marks, inText, index): ([UInt8], [Int], Bool, Int) = ([], [], false, 0)
        func mark() {
            marks.append(result.count)
            result.append(quote)
        }
        while index < text.count {
            let isEscape = inText && text[index] == backslash && index + 1 < text.count
            let (length, isQuoted) = inText ? (isEscape ? 2 : 1, false) : token(text[index...])
            if isQuoted { mark() }
            result += text[index..<index + length]
            if isQuoted { mark() }
            if text[index] == quote { inText.toggle() }
            index += length
        }
        return (result, marks)
    }

    private static func largeInteger(_ rest: ArraySlice<UInt8>) -> Token {
        let number = rest.prefix { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) || "+-.eE".utf8.contains($0) }
        guard number.count > 18 else { return (max(1, number.count), false) }
        let digits = String(decoding: number.drop { $0 == UInt8(ascii: "-") }, as: UTF8.self)
        let isInteger = !digits.hasPrefix("0") && digits.allSatisfy(\.isNumber)
        return (number.count, isInteger && Int64(String(decoding: number, as: UTF8.self)) == nil)
    }

    private init(plain text: [UInt8]) throws(ParseError) {
        if let position = JSON.firstTooDeep(text) {
            throw ParseError(text: "nested more than \(JSON.deepest) levels deep", position: position)
        }
        var error = json_error_t()
        let root = text.withUnsafeBytes { bytes in
            json_loadb(bytes.baseAddress?.assumingMemoryBound(to: CChar.self), bytes.count, Int(JSON_ALLOW_NUL), &error)
        }
        guard let root else {
            let text = withUnsafeBytes(of: error.text) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
            throw ParseError(text: text, position: Int(error.position))
        }
        defer { json_decref(root) }
        self = JSON(borrowing: root)
    }

    /// Number of bytes up to the bracket that is one level too deep; `nil`: there is none. Whatever is not JSON is for the
    /// parser.
    private static func firstTooDeep(_ text: [UInt8]) -> Int? {
        var (depth, inText, isEscaped) = (0, false, false)
        for (index, byte) in text.enumerated() {
            switch byte {
            case _ where isEscaped: isEscaped = false
            case UInt8(ascii: "\\"): isEscaped = inText
            case UInt8(ascii: "\""): inText.toggle()
            case _ where inText: break
            case UInt8(ascii: "["), UInt8(ascii: "{"):
                depth += 1
                if depth > deepest { return index + 1 }
            case UInt8(ascii: "]"), UInt8(ascii: "}"): depth -= 1
            default: break
            }
        }
        return nil
    }

    private init(borrowing value: UnsafeMutablePointer<json_t>) {
        switch value.pointee.type {
        case JSON_TRUE: self = .bool(true)
        case JSON_FALSE: self = .bool(false)
        case JSON_INTEGER: self = .integer(Int64(json_integer_value(value)))
        case JSON_REAL: self = .real(json_real_value(value))
        case JSON_STRING:
            let bytes = UnsafeRawBufferPointer(start: json_string_value(value), count: json_string_length(value))
            self = .string(String(decoding: bytes, as: UTF8.self))
        case JSON_ARRAY:
            self = .array(
                (0..<json_array_size(value)).compactMap { json_array_get(value, $0).map(JSON.init(borrowing:)) })
        case JSON_OBJECT:
            var members: [Member] = []
            var iterator = json_object_iter(value)
            while let current = iterator {
                if let key = json_object_iter_key(current), let item = json_object_iter_value(current) {
                    members.append(Member(key: String(cString: key), value: JSON(borrowing: item)))
                }
                iterator = json_object_iter_next(value, current)
            }
            self = .object(members)
        default: self = .null
        }
    }
}

// MARK: - Writing

extension JSON {
    /// Compact text; reals with 17 significant digits, so that they read back as they were. What JSON cannot say
    /// (infinities, not a number) becomes null.
    package var text: String {
        guard let root = retained() else { return "null" }
        defer { json_decref(root) }
        let realPrecision17 = 17 << 11
        guard let characters = json_dumps(root, realPrecision17 | Int(JSON_COMPACT) | Int(JSON_ENCODE_ANY)) else {
            return "null"
        }
        defer { free(characters) }
        return String(cString: characters)
    }

    /// A new jansson value that the caller owns.
    private func retained() -> UnsafeMutablePointer<json_t>? {
        switch self {
        case .null: return json_null()
        case .bool(let value): return value ? json_true() : json_false()
        case .integer(let value): return json_integer(json_int_t(value))
        case .real(let value): return value.isFinite ? json_real(value) : json_null()
        case .string(let value):
            var value = value
            return value.withUTF8 { bytes in
                bytes.withMemoryRebound(to: CChar.self) { json_stringn($0.baseAddress, $0.count) ?? json_null() }
            }
        case .array(let values):
            let array = json_array()
            for value in values { json_array_append_new(array, value.retained()) }
            return array
        case .object(let members):
            let object = json_object()
            for member in members { json_object_set_new(object, member.key, member.value.retained()) }
            return object
        }
    }
}
