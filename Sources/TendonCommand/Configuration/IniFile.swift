// SPDX-License-Identifier: MIT
// Reads an ini file: sections with their entries and lines, nothing of what they mean. A parser of our own, because the file
// must mean the same on every distribution, and each of its lines must be accounted for.
import TendonSupport

/// One `key = value`.
struct IniEntry: Sendable, Equatable {
    var key: String
    /// Further lines that begin with white space continue the value; they are joined by one space.
    var value: String
    var line: Int
}

/// `[NAME]`, with or without entries.
struct IniSection: Sendable, Equatable {
    /// Empty: what stands before the first section.
    var name: String
    var line: Int
    var entries: [IniEntry] = []
}

/// A line that is wrong.
struct IniProblem: Sendable, Equatable {
    var line: Int
    var text: String
}

/// What a file contains.
struct IniFile: Sendable {
    private(set) var sections: [IniSection] = []
    private(set) var problems: [IniProblem] = []

    init(_ bytes: [UInt8]) {
        let content = withoutByteOrderMark(bytes)
        // The line before was an entry, or continued one.
        var continues = false
        for (index, line) in content.split(separator: 0x0A, omittingEmptySubsequences: false).enumerated() {
            guard !line.contains(0), let text = String(validating: line, as: UTF8.self) else {
                let what = line.contains(0) ? "a zero byte" : "this is not UTF-8"
                problems.append(IniProblem(line: index + 1, text: what))
                continue
            }
            take(text, index + 1, &continues)
        }
    }

    private mutating func take(_ text: String, _ line: Int, _ continues: inout Bool) {
        let content = trimmed(text)
        guard let first = content.first, first != "#", first != ";" else { return }
        if continues, text.first?.isWhitespace ?? false {
            return extend(IniFile.withoutComment(content[...]))
        }
        continues = false
        if first == "[" {
            let rest = content.dropFirst()
            let end = rest.firstIndex(of: "]")
            let name = end.map { trimmed(rest[..<$0]) } ?? IniFile.withoutComment(rest)
            // What follows is meant to be in it.
            if end == nil { problems.append(IniProblem(line: line, text: "] is missing: [\(sanitized(name))]")) }
            if let end, let first = trimmed(rest[rest.index(after: end)...]).first, first != ";", first != "#" {
                problems.append(IniProblem(line: line, text: "what follows ] goes to the next line"))
            }
            sections.append(IniSection(name: name, line: line))
        } else if let equals = content.firstIndex(of: "="), equals > content.startIndex {
            if sections.isEmpty { sections.append(IniSection(name: "", line: line)) }
            let value = IniFile.withoutComment(content[content.index(after: equals)...])
            sections[sections.count - 1].entries.append(
                IniEntry(key: trimmed(content[..<equals]), value: value, line: line))
            continues = true
        } else {
            problems.append(IniProblem(line: line, text: "this is neither [SECTION] nor KEY = VALUE"))
        }
    }

    private mutating func extend(_ more: String) {
        let section = sections.count - 1, entry = sections[section].entries.count - 1
        let value = sections[section].entries[entry].value
        sections[section].entries[entry].value += (value.isEmpty || more.isEmpty ? "" : " ") + more
    }

    /// A comment within a line begins with `;` after white space.
    private static func withoutComment(_ value: Substring) -> String {
        trimmed(value.beforeComment { $0 == ";" && $1.isWhitespace })
    }
}

extension Substring {
    /// What stands before a comment. None begins between quotation marks, of which the first stands after white space.
    ///
    /// - Parameter begins: whether a character begins one, given the character before.
    func beforeComment(_ begins: (Character, Character) -> Bool) -> Substring {
        var (index, before) = (startIndex, Character(" "))
        while index < endIndex {
            if begins(self[index], before) { return self[..<index] }
            let isWord = before.isWhitespace || before == "="
            let next = (isWord ? self[index...].quotedWord?.written.endIndex : nil) ?? self.index(after: index)
            before = self[self.index(before: next)]
            index = next
        }
        return self
    }
}
