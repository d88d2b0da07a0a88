// SPDX-License-Identifier: MIT
import Dispatch
import TendonSupport
import Testing

#if canImport(Glibc)
    import Glibc
#else
    import Musl
#endif

@Suite struct InputTests {
    /// The lines of a file; nil: longer than the limit. The file is read in pieces of 64 KiB.
    private func lines(_ text: [UInt8], limit: Int = 1 << 24) -> [[UInt8]?] {
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
        errno = EINTR  // of an earlier call; the end of the input sets none
        var input = InputLines(file, limit: limit)
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

    /// By one byte, by less than one read and by several reads, in the middle and at the end of the input.
    @Test func aLineLongerThanTheLimitIsSkippedAsAWhole() {
        for limit in [0, 1, 5, 65535, 65536, 65537, 100_000] {
            let longest = [UInt8](repeating: 0x78, count: limit)
            #expect(lines(longest + [0x0A] + longest, limit: limit) == [longest] + (limit == 0 ? [] : [longest]))
            for excess in [1, 2, 1000, 65536, 200_000] {
                let long = longest + [UInt8](repeating: 0x79, count: excess)
                let next: [UInt8] = limit == 0 ? [] : [0x7A]
                #expect(lines(long + [0x0A] + next + [0x0A], limit: limit) == [nil, next], "\(limit) + \(excess)")
                #expect(lines(long, limit: limit) == [nil], "\(limit) + \(excess) at the end")
            }
        }
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
