// SPDX-License-Identifier: MIT
import TendonSupport
import Testing

#if canImport(Glibc)
    import Glibc
#else
    import Musl
#endif

@Suite struct InputTests {
    /// The lines of a file; nil: longer than the limit, which no test reaches. The file is read in pieces of 64 KiB.
    private func lines(_ text: [UInt8]) -> [[UInt8]?] {
        var name = Array("/tmp/tendon-input-XXXXXX".utf8CString)
        let file = mkstemp(&name)
        guard file >= 0 else {
            Issue.record("mkstemp: \(errno)")
            return []
        }
        defer { close(file) }
        unlink(name)
        var written = 0
        while written < text.count {
            let count = text[written...].withUnsafeBytes { write(file, $0.baseAddress, $0.count) }
            guard count > 0 else {
                Issue.record("write: \(errno)")
                return []
            }
            written += count
        }
        lseek(file, 0, SEEK_SET)
        var input = InputLines(file)
        var all: [[UInt8]?] = []
        while let line = input.next() {
            switch line {
            case .text(let bytes): all.append(bytes)
            case .tooLong: all.append(nil)
            }
        }
        return all
    }

    @Test func linesAndTheirEnds() {
        #expect(lines([]) == [])
        #expect(lines(Array("\n".utf8)) == [[]])
        #expect(lines(Array("a\nbc\n\nd".utf8)) == [Array("a".utf8), Array("bc".utf8), [], Array("d".utf8)])
        #expect(lines(Array("last\n".utf8)) == [Array("last".utf8)])
    }

    @Test func aLongLineIsWhole() {
        let long = [UInt8](repeating: 0x78, count: 200_001)
        #expect(lines(long + [0x0A, 0x79]) == [long, [0x79]])
    }

    @Test func aDescriptorThatCannotBeRead() {
        var input = InputLines(-1)
        #expect(input.next() == nil)
    }

    @Test func textOfAPeerIsSafeToPrint() {
        #expect(sanitized("Grip é 😀") == "Grip é 😀")
        let hostile = "a\u{1B}[2J\u{202E}b\u{2028}\u{E000}\u{0}"
        #expect(sanitized(hostile) == "a\u{FFFD}[2J\u{FFFD}b\u{FFFD}\u{FFFD}\u{FFFD}")
    }
}
