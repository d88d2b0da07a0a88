// SPDX-License-Identifier: MIT
// Lines of standard input, and text of a peer made safe to print.
#if canImport(Glibc)
    import Glibc
#else
    import Musl
#endif

/// Lines of standard input, of any length up to a limit that keeps a broken writer from filling memory.
package struct InputLines {
    private let descriptor: Int32
    private let limit: Int
    private var buffer: [UInt8] = []
    private var start = 0
    private var ended = false

    /// Of standard input, or of another descriptor, which stays the caller's.
    /// - Parameter limit: maximum length of a line in bytes, without its end.
    package init(_ descriptor: Int32 = STDIN_FILENO, limit: Int = 1 << 24) {
        self.descriptor = descriptor
        self.limit = limit
    }

    package enum Line {
        case text([UInt8])
        case tooLong
    }

    /// The next line without its end; nil at the end of the input.
    package mutating func next() -> Line? {
        var searched = start
        var skipping = false
        while true {
            if let end = buffer[searched...].firstIndex(of: 0x0A) {
                if end - start > limit { skipping = true }
                defer { start = end + 1 }
                return skipping ? .tooLong : .text(Array(buffer[start..<end]))
            }
            if buffer.count - start > limit { skipping = true }
            if skipping { start = buffer.count }
            if ended {
                guard start < buffer.count || skipping else { return nil }
                let line = Array(buffer[start...])
                start = buffer.count
                return skipping ? .tooLong : .text(line)
            }
            buffer.removeFirst(start)
            start = 0
            searched = buffer.count
            fill()
        }
    }

    private mutating func fill() {
        var chunk = [UInt8](repeating: 0, count: 1 << 16)
        let count = read(descriptor, &chunk, chunk.count)
        if count > 0 {
            buffer.append(contentsOf: chunk[..<count])
        } else if count == 0 || errno != EINTR {
            ended = true
        }
    }
}

/// Without the byte order mark that some editors write before UTF-8.
package func withoutByteOrderMark(_ bytes: [UInt8]) -> ArraySlice<UInt8> {
    let mark: [UInt8] = [0xEF, 0xBB, 0xBF]
    return bytes.starts(with: mark) ? bytes.dropFirst(mark.count) : bytes[...]
}

/// Text from a peer, made safe to print: control characters and what could reorder a line become U+FFFD.
package func sanitized(_ text: String) -> String {
    String(
        String.UnicodeScalarView(
            text.unicodeScalars.map { scalar in
                switch scalar.properties.generalCategory {
                case .control, .format, .lineSeparator, .paragraphSeparator, .privateUse, .surrogate, .unassigned:
                    return "\u{FFFD}"
                default: return scalar
                }
            }))
}
