// SPDX-License-Identifier: MIT
// Lines on a terminal that are drawn again and again in their place.
import CTendon
import TendonSupport

#if canImport(Glibc)
    import Glibc
#else
    import Musl
#endif

/// The area below the cursor. A line is clipped to the columns, the area to the rows, never wrapped. Messages stand above it,
/// whole: they move up as text on a terminal does, and the area leaves room for the latest ones.
struct LiveArea: Sendable {
    private var drawn = 0
    private var lastSize = (rows: 0, columns: 0)
    private var latest: [String] = []
    private static let latestCount = 3

    /// False while the terminal has not taken the picture before.
    static var isFree: Bool { Output.standard.lines?.isIdle ?? true }

    /// How many lines there is room for, without messages.
    static var rows: Int { max(1, Output.standard.size.rows - 1) }

    /// The same below the latest messages, which get half of the terminal at most.
    var rows: Int {
        let columns = max(1, Output.standard.size.columns)
        let taken = latest.reduce(0) { $0 + max(1, (columnWidth($1) + columns - 1) / columns) }
        return max(1, LiveArea.rows - min(taken, LiveArea.rows / 2))
    }

    /// Messages that the next `draw` prints above the lines.
    private var due: [String] = []

    mutating func add(_ message: String) {
        due.append(message)
        latest = (latest + [message]).suffix(LiveArea.latestCount)
        if due.count > LiveArea.rows { due.removeFirst() }
    }

    /// Messages that no `draw` has printed: the terminal did not take the picture before them.
    mutating func takeDue() -> [String] {
        defer { due = [] }
        return due
    }

    /// Replaces the lines that were drawn before. The styles are added after clipping.
    mutating func draw(_ lines: [(text: String, style: Output.Style?)]) {
        let output = Output.standard
        let size = output.size
        // A resized terminal wraps its lines, so their positions are unknown.
        let isResized = drawn > 0 && size != lastSize
        var frame = "\u{1B}[?7l"
        if drawn > 0 { frame += isResized ? "\u{1B}[H\u{1B}[2J" : "\u{1B}[\(drawn)A\r" }
        let messages = isResized ? latest : due
        if !messages.isEmpty {
            // They wrap.
            frame += "\u{1B}[J\u{1B}[?7h" + messages.map { output.styled($0, .yellow) + "\n" }.joined() + "\u{1B}[?7l"
        }
        due = []
        let shown = lines.prefix(rows)
        for line in shown {
            let text = clipped(line.text, size.columns)
            frame += "\r\u{1B}[2K" + (line.style.map { output.styled(text, $0) } ?? text) + "\n"
        }
        frame += "\u{1B}[J\u{1B}[?7h"
        (drawn, lastSize) = (shown.count, size)
        output.lines?.append { $0.raw(frame) }
    }
}

/// Truncates a text to a number of columns.
func clipped(_ text: String, _ columns: Int) -> String {
    var used = 0
    var result = ""
    for character in text {
        let width = columnWidth(character)
        guard used + width <= columns else { break }
        used += width
        result.append(character)
    }
    return result
}

/// Columns of a terminal that a text takes.
func columnWidth(_ text: String) -> Int { text.reduce(0) { $0 + columnWidth($1) } }

private func columnWidth(_ character: Character) -> Int {
    if character.isASCII { return 1 }
    return character.unicodeScalars.reduce(0) { max($0, columnWidth($1)) }
}

private func columnWidth(_ scalar: Unicode.Scalar) -> Int {
    switch scalar.properties.generalCategory {
    case .nonspacingMark, .enclosingMark, .format: return 0
    default: break
    }
    switch scalar.value {
    case 0x1100...0x115F, 0x2E80...0x303E, 0x3041...0xA4CF, 0xAC00...0xD7A3, 0xF900...0xFAFF, 0xFE30...0xFE6F,
        0xFF00...0xFF60, 0xFFE0...0xFFE6, 0x1F300...0x1F64F, 0x1F680...0x1F6FF, 0x1F900...0x1F9FF, 0x20000...0x3FFFD:
        return 2
    default: return scalar.properties.isEmojiPresentation ? 2 : 1
    }
}
