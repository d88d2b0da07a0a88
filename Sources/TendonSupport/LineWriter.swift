// SPDX-License-Identifier: MIT
// Lines of JSON, written member by member into one buffer that is used again. No heap call per line once the buffer has
// its size. The C library writes them (tendon/gateway/line.h). The schema of the lines: docs/events.md.
import CTendon

/// The buffer and the line that is being written.
@usableFromInline
package struct LineWriter: Sendable {
    /// Numbers have the decimals that the sensor resolves, instead of all that read back as the same number.
    package var isCompact = false
    package private(set) var bytes: [UInt8] = []
    /// No comma before the next member or element.
    private var isFirst = true

    package init(capacity: Int = 0) {
        bytes.reserveCapacity(capacity)
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
        begin(event.cString, at: microseconds)
    }

    package mutating func begin(_ event: String, at microseconds: UInt64? = nil) {
        event.withCString { begin($0, at: microseconds) }
    }

    private mutating func begin(_ event: UnsafePointer<CChar>, at microseconds: UInt64?) {
        let time = microseconds ?? tendon_realtime_us()
        members(space: 128) { tendon_line_begin($0, event, time, nil) }
    }

    package mutating func end() { put("}\n") }

    /// Members that are ready, comma first: `,"family":"bose"`.
    package mutating func prepared(_ members: [UInt8]) {
        bytes.append(contentsOf: members)
        isFirst = false
    }

    /// The same that the C library has written elsewhere.
    package mutating func members(_ members: UnsafeBufferPointer<UInt8>) {
        put(members)
        isFirst = false
    }

    /// Text for people, as it is.
    package mutating func raw(_ text: String) { put(text: text) }

    // MARK: Members

    /// Members that the C library writes (tendon/gateway/line.h, lines.h).
    ///
    /// - Parameter space: bytes that are usually enough; `body` is called again with twice as many if they were not.
    package mutating func members(space: Int = 512, by body: (UnsafeMutablePointer<tendon_line>) -> Void) {
        let (start, isExact, wasFirst) = (bytes.count, !isCompact, isFirst)
        var (line, space) = (tendon_line(), space)
        while true {
            bytes.append(contentsOf: repeatElement(0, count: space))
            bytes.withUnsafeMutableBytes { all in
                let out = all.baseAddress?.advanced(by: start).assumingMemoryBound(to: CChar.self)
                tendon_line_init(&line, out, space, isExact)
                line.is_first = wasFirst
                body(&line)
            }
            guard line.writer.status < 0 else { break }
            bytes.removeLast(space)
            space *= 2
        }
        bytes.removeLast(space - line.writer.length)
        isFirst = line.is_first
    }

    /// Those of a whole line that the C library writes (tendon/gateway/lines.h).
    package mutating func membersOfLine(by body: (UnsafeMutablePointer<tendon_line>) -> Void) {
        let start = bytes.count
        var begun = 0
        members {
            body($0)
            begun = $0.pointee.begun
        }
        bytes.removeLast("}\n".utf8.count)
        bytes.removeSubrange(start..<start + begun)
        isFirst = false
    }

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
        case .real(let value): number(value, decimals: Int(TENDON_LINE_DECIMALS))
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
    /// What the C library writes behind a key, or as an element whose comma is there.
    private mutating func value(space: Int = 32, by body: (UnsafeMutablePointer<tendon_line>) -> Void) {
        isFirst = true
        members(space: space, by: body)
    }

    private mutating func put(_ text: StaticString) {
        text.withUTF8Buffer { put($0) }
    }

    private mutating func put(_ word: UnsafePointer<CChar>) {
        bytes.append(
            contentsOf: UnsafeRawBufferPointer(start: word, count: tendon_string_length(word)))
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

    private mutating func integer(_ number: Int64) { value { tendon_line_integer($0, nil, number) } }

    /// What JSON does not have (infinities, not a number) becomes null.
    package mutating func number(_ number: Double, decimals: Int) {
        value { tendon_line_number($0, nil, number, UInt32(decimals)) }
    }

    /// Quotes, backslashes and control characters are escaped; all else is UTF-8 as it is.
    private mutating func string(_ text: String) {
        var text = text
        text.withUTF8 { characters in
            characters.withMemoryRebound(to: CChar.self) { characters in
                value(space: characters.count + 16) {
                    tendon_line_string($0, nil, characters.baseAddress, characters.count)
                }
            }
        }
    }
}
