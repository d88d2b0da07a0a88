// SPDX-License-Identifier: MIT
// Reads an ini file with libinih: entries with their lines, nothing of what they mean.
import CSystemInih
import TendonSupport

/// One `key = value`.
struct IniEntry: Sendable, Equatable {
    var section: String
    var key: String
    /// Further lines that begin with white space continue the value; they are joined by one space.
    var value: String
    var line: Int
}

/// A line that is wrong.
struct IniProblem: Sendable, Equatable {
    var line: Int
    var text: String
}

/// What a file contains.
struct IniFile: Sendable {
    private(set) var entries: [IniEntry] = []
    private(set) var problems: [IniProblem] = []

    /// libinih has a buffer of 200 bytes with the line's end, and one of 50 for the name of a section; it cuts silently
    /// what is longer.
    static let longestLine = 196
    private static let longestSection = 48

    init(_ bytes: [UInt8]) {
        let reader = Reader(bytes)
        let pointer = Unmanaged.passUnretained(reader).toOpaque()
        let failed = ini_parse_stream(
            { buffer, capacity, stream in
                guard let stream, let buffer else { return nil }
                return Reader.at(stream).copyLine(to: buffer, Int(capacity)) ? buffer : nil
            }, pointer,
            { stream, section, key, value in
                guard let stream, let section, let key, let value else { return 0 }
                Reader.at(stream).add(String(cString: section), String(cString: key), String(cString: value))
                return 1
            }, pointer)
        withExtendedLifetime(reader) {}
        entries = reader.entries
        problems = reader.problems
        let line = Int(failed)
        // A line that was discarded is reported already.
        if line > 0, !problems.contains(where: { $0.line == line }) {
            problems.append(IniProblem(line: line, text: "this is neither [SECTION] nor KEY = VALUE"))
        }
        problems.sort { $0.line < $1.line }
    }

    /// Hands lines to libinih and counts them: the handler of libinih receives no number.
    private final class Reader {
        private let lines: [ArraySlice<UInt8>]
        private var next = 0
        private var isContinuation = false
        var entries: [IniEntry] = []
        var problems: [IniProblem] = []

        init(_ bytes: [UInt8]) {
            lines = bytes.split(separator: 0x0A, omittingEmptySubsequences: false)
        }

        static func at(_ pointer: UnsafeMutableRawPointer) -> Reader {
            Unmanaged<Reader>.fromOpaque(pointer).takeUnretainedValue()
        }

        /// One line without its end; a wrong one as an empty line.
        func copyLine(to buffer: UnsafeMutablePointer<CChar>, _ capacity: Int) -> Bool {
            guard next < lines.count else { return false }
            var line = lines[next]
            next += 1
            if line.last == 0x0D { line.removeLast() }
            if IniFile.isComment(line) { line = [] }
            if let problem = IniFile.problem(of: line) {
                problems.append(IniProblem(line: next, text: problem))
                line = []
            }
            isContinuation = line.first == 0x20 || line.first == 0x09
            for (index, byte) in line.prefix(capacity - 1).enumerated() { buffer[index] = CChar(bitPattern: byte) }
            buffer[min(line.count, capacity - 1)] = 0
            return true
        }

        func add(_ section: String, _ key: String, _ value: String) {
            if isContinuation, let last = entries.last, last.section == section, last.key == key {
                let rest = IniFile.withoutComment(value)
                entries[entries.count - 1].value += (last.value.isEmpty || rest.isEmpty ? "" : " ") + rest
            } else {
                entries.append(IniEntry(section: section, key: key, value: value, line: next))
            }
        }
    }

    /// libinih removes comments from the first line of a value only.
    private static func withoutComment(_ value: String) -> String {
        var before: Character = " "
        for index in value.indices {
            if value[index] == ";", before.isWhitespace { return trimmed(value[..<index]) }
            before = value[index]
        }
        return value
    }

    /// A comment may be longer than other lines.
    private static func isComment(_ line: ArraySlice<UInt8>) -> Bool {
        guard let first = line.first(where: { $0 != 0x20 && $0 != 0x09 }) else { return false }
        return first == UInt8(ascii: "#") || first == UInt8(ascii: ";")
    }

    private static func problem(of line: ArraySlice<UInt8>) -> String? {
        if line.contains(0) { return "a zero byte" }
        let text = line.drop { $0 == 0x20 || $0 == 0x09 }
        if line.count > longestLine {
            return "the line has \(line.count) bytes, \(longestLine) at most; continue the value on a line that begins "
                + "with white space"
        }
        if text.first == UInt8(ascii: "["), text.count > longestSection {
            return "the name of the section is too long"
        }
        if String(validating: line, as: UTF8.self) == nil { return "this is not UTF-8" }
        return nil
    }
}
