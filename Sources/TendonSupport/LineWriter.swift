// SPDX-License-Identifier: MIT
// Lines of JSON, written member by member into one buffer that is used again. No heap call per line once the buffer has
// its size. The schema of the lines: docs/events.md.
import CTendon

#if canImport(Glibc)
    import Glibc
#else
    import Musl
#endif

/// The buffer and the line that is being written.
@usableFromInline
package struct LineWriter: Sendable {
    /// Numbers have the decimals that the sensor resolves, instead of all that read back as the same number.
    package var isCompact = false
    package private(set) var bytes: [UInt8] = []
    private var clock = WallClock()
    /// No comma before the next member or element.
    private var isFirst = true

    package init(capacity: Int = 0) {
        bytes.reserveCapacity(capacity)
        clock.reserve()
    }

    package var count: Int { bytes.count }

    package mutating func removeAll() { bytes.removeAll(keepingCapacity: true) }

    /// Takes the other's bytes and gives its own; both keep their memory.
    package mutating func swapBytes(_ other: inout [UInt8]) { swap(&bytes, &other) }

    /// A value alone.
    package static func text(_ value: JSON) -> String {
        var writer = LineWriter()
        writer.write(value)
        return String(decoding: writer.bytes, as: UTF8.self)
    }

    // MARK: Lines

    /// Begins a line: its time and its event.
    package mutating func begin(_ event: EventName, at microseconds: UInt64? = nil) {
        begin(at: microseconds)
        event.withUTF8Buffer { put($0) }
        quote()
    }

    package mutating func begin(_ event: String, at microseconds: UInt64? = nil) {
        begin(at: microseconds)
        put(text: event)
        quote()
    }

    private mutating func begin(at microseconds: UInt64?) {
        put("{\"time\":\"")
        clock.write(microseconds ?? tendon_realtime_us(), to: &bytes)
        put("\",\"event\":\"")
        isFirst = false
    }

    package mutating func end() { put("}\n") }

    /// Members that are ready, comma first: `,"family":"bose"`.
    package mutating func prepared(_ members: [UInt8]) {
        bytes.append(contentsOf: members)
        isFirst = false
    }

    /// Text for people, as it is.
    package mutating func raw(_ text: String) { put(text: text) }

    // MARK: Members

    package mutating func key(_ key: StaticString) {
        separate()
        quote()
        key.withUTF8Buffer { put($0) }
        quote()
        bytes.append(UInt8(ascii: ":"))
    }

    /// A word of the C library.
    package mutating func key(word: UnsafePointer<CChar>) {
        separate()
        quote()
        put(word)
        quote()
        bytes.append(UInt8(ascii: ":"))
    }

    package mutating func key(_ key: String) {
        separate()
        string(key)
        put(":")
    }

    private mutating func separate() {
        if isFirst { isFirst = false } else { comma() }
    }

    package mutating func member(_ name: StaticString, _ value: Double, decimals: Int) {
        key(name)
        number(value, decimals: decimals)
    }

    // Compiled with its caller, which knows the type: a conversion that does not costs as much as the line's numbers.
    @inlinable
    package mutating func member(_ name: StaticString, _ value: some BinaryInteger) {
        member(name, integer: Int64(clamping: value))
    }

    @usableFromInline
    package mutating func member(_ name: StaticString, integer value: Int64) {
        key(name)
        integer(value)
    }

    package mutating func member(_ name: StaticString, _ value: Bool) {
        key(name)
        put(value)
    }

    /// Text of any kind: escaped.
    package mutating func member(_ name: StaticString, _ value: String) {
        key(name)
        string(value)
    }

    /// A word of ours that needs no escapes.
    package mutating func member(_ name: StaticString, word: StaticString) {
        key(name)
        quote()
        word.withUTF8Buffer { put($0) }
        quote()
    }

    /// A word of the C library.
    package mutating func member(_ name: StaticString, word: UnsafePointer<CChar>) {
        key(name)
        quote()
        put(word)
        quote()
    }

    package mutating func member(_ name: StaticString, _ x: Double, _ y: Double, _ z: Double, decimals: Int) {
        key(name)
        bytes.append(UInt8(ascii: "["))
        number(x, decimals: decimals)
        comma()
        number(y, decimals: decimals)
        comma()
        number(z, decimals: decimals)
        bytes.append(UInt8(ascii: "]"))
    }

    package mutating func member(
        _ name: StaticString, _ x: Double, _ y: Double, _ z: Double, _ w: Double, decimals: Int
    ) {
        key(name)
        bytes.append(UInt8(ascii: "["))
        number(x, decimals: decimals)
        comma()
        number(y, decimals: decimals)
        comma()
        number(z, decimals: decimals)
        comma()
        number(w, decimals: decimals)
        bytes.append(UInt8(ascii: "]"))
    }

    // MARK: Values of any shape; these are for rare lines

    /// An element of an array follows.
    package mutating func element() { separate() }

    package mutating func open(_ bracket: UnicodeScalar) {
        bytes.append(UInt8(ascii: bracket))
        isFirst = true
    }

    /// Ends what `open` began, with the same kind of bracket.
    package mutating func close(_ bracket: UnicodeScalar) {
        bytes.append(UInt8(ascii: bracket))
        isFirst = false
    }

    package mutating func any(_ name: String, _ value: JSON) {
        key(name)
        write(value)
    }

    package mutating func members(_ values: JSON) {
        guard case .object(let all) = values else { return }
        for one in all { any(one.key, one.value) }
    }

    package mutating func write(_ value: JSON) {
        switch value {
        case .null: put("null")
        case .bool(let flag): put(flag)
        case .integer(let number): integer(number)
        case .real(let value): number(value, decimals: 6)
        case .string(let text): string(text)
        case .array(let values):
            bytes.append(UInt8(ascii: "["))
            isFirst = true
            for value in values {
                separate()
                write(value)
            }
            isFirst = false
            bytes.append(UInt8(ascii: "]"))
        case .object:
            put("{")
            isFirst = true
            members(value)
            isFirst = false
            put("}")
        }
    }
}

// MARK: - Scalars

extension LineWriter {
    private mutating func put(_ text: StaticString) {
        text.withUTF8Buffer { put($0) }
    }

    private mutating func put(_ word: UnsafePointer<CChar>) {
        let length = strlen(word)
        word.withMemoryRebound(to: UInt8.self, capacity: length) {
            put(UnsafeBufferPointer(start: $0, count: length))
        }
    }

    private mutating func put(_ flag: Bool) {
        if flag { put("true") } else { put("false") }
    }

    @inline(__always) private mutating func quote() { bytes.append(UInt8(ascii: "\"")) }
    @inline(__always) private mutating func comma() { bytes.append(UInt8(ascii: ",")) }

    private mutating func put(_ text: UnsafeBufferPointer<UInt8>) { bytes.append(contentsOf: text) }

    /// With a label: a literal is a StaticString, which needs no String.
    private mutating func put(text: String) {
        var text = text
        text.withUTF8 { put($0) }
    }

    private mutating func integer(_ value: Int64) {
        if value < 0 { bytes.append(UInt8(ascii: "-")) }
        digits(value.magnitude, atLeast: 1)
    }

    /// Decimal digits, zeros in front up to a length.
    private mutating func digits(_ value: UInt64, atLeast length: Int) {
        withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 20) { buffer in
            var rest = value
            var start = 20
            repeat {
                start -= 1
                buffer[start] = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest % 10)
                rest /= 10
            } while rest > 0 || 20 - start < length
            bytes.append(contentsOf: UnsafeBufferPointer(rebasing: buffer[start..<20]))
        }
    }

    /// What JSON does not have (infinities, not a number) becomes null.
    package mutating func number(_ value: Double, decimals: Int) {
        guard value.isFinite else { return put("null") }
        guard isCompact, value.magnitude < 1e9 else {
            var stream = ASCIIStream(bytes: [])
            swap(&stream.bytes, &bytes)
            value.write(to: &stream)
            swap(&stream.bytes, &bytes)
            return
        }
        var scale: UInt64 = 1
        for _ in 0..<decimals { scale *= 10 }
        let scaled = UInt64((value.magnitude * Double(scale)).rounded())
        if value < 0, scaled != 0 { bytes.append(UInt8(ascii: "-")) }
        digits(scaled / scale, atLeast: 1)
        var fraction = scaled % scale
        guard fraction != 0 else { return }
        var length = decimals
        while fraction % 10 == 0 {
            fraction /= 10
            length -= 1
        }
        bytes.append(UInt8(ascii: "."))
        digits(fraction, atLeast: length)
    }

    /// Quotes, backslashes and control characters are escaped; all else is UTF-8 as it is.
    private mutating func string(_ text: String) {
        var text = text
        bytes.append(UInt8(ascii: "\""))
        text.withUTF8 { characters in
            for character in characters {
                switch character {
                case UInt8(ascii: "\""), UInt8(ascii: "\\"):
                    bytes.append(UInt8(ascii: "\\"))
                    bytes.append(character)
                case 0..<0x20:
                    put("\\u00")
                    hexadecimal(character >> 4)
                    hexadecimal(character & 15)
                default: bytes.append(character)
                }
            }
        }
        bytes.append(UInt8(ascii: "\""))
    }

    private mutating func hexadecimal(_ digit: UInt8) {
        bytes.append(digit < 10 ? UInt8(ascii: "0") + digit : UInt8(ascii: "a") + digit - 10)
    }
}

/// Takes the digits of a number without a String in between.
private struct ASCIIStream: TextOutputStream {
    var bytes: [UInt8]

    mutating func write(_ text: String) { bytes.append(contentsOf: text.utf8) }
    // The standard library calls this requirement for ASCII; without it, it would make a String first.
    mutating func _writeASCII(_ text: UnsafeBufferPointer<UInt8>) { bytes.append(contentsOf: text) }
}

/// RFC 3339 in UTC with microseconds. The calendar is asked once per second.
private struct WallClock {
    private var second = UInt64.max
    private var text: [UInt8] = []

    mutating func reserve() { text.reserveCapacity(32) }

    /// The year has four digits there: what is later becomes its last microsecond.
    private static let latest: UInt64 = 253_402_300_799_999_999

    mutating func write(_ microseconds: UInt64, to bytes: inout [UInt8]) {
        let microseconds = min(microseconds, WallClock.latest)
        let now = microseconds / 1_000_000
        if now != second { calendar(now) }
        bytes.append(contentsOf: text)
        var rest = UInt32(microseconds % 1_000_000)
        var divisor: UInt32 = 100_000
        while divisor > 0 {
            bytes.append(UInt8(ascii: "0") + UInt8(rest / divisor))
            rest %= divisor
            divisor /= 10
        }
        bytes.append(UInt8(ascii: "Z"))
    }

    private mutating func calendar(_ now: UInt64) {
        second = now
        var seconds = time_t(clamping: now)
        var parts = tm()
        gmtime_r(&seconds, &parts)
        text.removeAll(keepingCapacity: true)
        let year = parts.tm_year + 1900
        add(year / 100)
        add(year)
        add(parts.tm_mon + 1, after: "-")
        add(parts.tm_mday, after: "-")
        add(parts.tm_hour, after: "T")
        add(parts.tm_min, after: ":")
        add(parts.tm_sec, after: ":")
        text.append(UInt8(ascii: "."))
    }

    /// Two digits.
    private mutating func add(_ number: Int32, after separator: Unicode.Scalar? = nil) {
        if let separator { text.append(UInt8(ascii: separator)) }
        text.append(UInt8(ascii: "0") + UInt8(number / 10 % 10))
        text.append(UInt8(ascii: "0") + UInt8(number % 10))
    }
}
