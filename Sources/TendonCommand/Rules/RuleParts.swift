// SPDX-License-Identifier: MIT
// What rules consist of: the events, values and actions that families declare, and the parts of one rule.
import CTendon
import Tendon
import TendonSupport

/// How an event of a rule is found in the lines of docs/events.md.
struct RuleSource: Sendable {
    var event: EventName
    /// The member that is the detail; nil: there is none.
    var detail: String?
    /// The member that must have one value, and that value.
    var only: (member: String, value: String)?
    /// The member that must differ from the detail.
    var unlike: String?

    init(
        _ event: EventName, detail: String? = nil, only: (member: String, value: String)? = nil,
        unlike: String? = nil
    ) {
        self.event = event
        self.detail = detail
        self.only = only
        self.unlike = unlike
    }

    /// Whether a line of the event is meant.
    func matches(_ line: JSON) -> Bool {
        if let only, line[only.member]?.string != only.value { return false }
        guard let unlike else { return true }
        return line[unlike]?.string != detail.flatMap { line[$0]?.string }
    }
}

/// Something that happens to a family's devices, as rules name it.
struct RuleEvent: Sendable {
    var name: String
    /// The words that may follow it, to mean only that one; empty: none may.
    var details: [String] = []
    var sources: [RuleSource] = []

    /// Events of all families.
    static let common = [
        RuleEvent(name: "connected", sources: [RuleSource("connected")]),
        RuleEvent(name: "disconnected", sources: [RuleSource("disconnected")]),
    ]
}

/// A number that a family's devices report, as rules compare it.
struct RuleValue: Sendable {
    var name: String
    var event: EventName
    var member: String
    /// Numbers that lines have a word for.
    var words: [(word: String, number: Double)] = []

    static let battery = RuleValue(name: "battery", event: "battery", member: "battery_percent")
}

/// An action of a family, checked.
protocol RuleCall: Sendable {}

/// Something that a family's devices can do, as rules name it.
struct RuleAction: Sendable {
    var name: String
    /// As help shows them.
    var arguments: String
    /// One argument: a text with white space in it is that one.
    var takesOne = false
    var parse: @Sendable ([String]) throws(CommandError) -> any RuleCall
}

/// Which devices a part of a rule means.
enum RuleSubject: Sendable, Equatable {
    case family(String)
    /// By the name that the configuration gives.
    case device(String)

    func matches(family: String, name: String?) -> Bool {
        switch self {
        case .family(let wanted): wanted == family
        case .device(let wanted): wanted == name
        }
    }
}

/// What a rule waits for.
enum RuleCondition: Sendable {
    case event(String, detail: String?)
    case value(String, RuleComparison, Double)
}

enum RuleComparison: String, Sendable, CaseIterable {
    case greater = ">"
    case atLeast = ">="
    case less = "<"
    case atMost = "<="
    case equal = "=="
    case unequal = "!="

    func holds(_ a: Double, _ b: Double) -> Bool {
        switch self {
        case .greater: a > b
        case .atLeast: a >= b
        case .less: a < b
        case .atMost: a <= b
        case .equal: a == b
        case .unequal: a != b
        }
    }
}

/// One action of a rule.
enum RuleStep: Sendable {
    /// Calls by family: of a device that is meant by its name the family is not known before it connects.
    case device(RuleSubject, calls: [String: any RuleCall])
    case publish(name: String, value: String)
    case execute(program: String)
    /// By its name; nil: the device of the event if it has an orientation, else all that have one.
    case recenter(device: String?)
}

/// A word of a rule. Columns are counted from 1.
struct RuleWord: Sendable, Equatable {
    /// Without quotation marks.
    var text: String
    var column: Int
    /// With them, as it was written; nil: it has none.
    var quoted: String?

    var written: String { quoted ?? text }

    var isUnclosed: Bool { quoted == nil && text.hasPrefix("\"") }

    func isSign(_ sign: String) -> Bool { quoted == nil && text == sign }

    /// Commas at the end of a word are words of their own.
    static func all(in text: String) -> [RuleWord] {
        var words: [RuleWord] = []
        var (rest, column) = (text[...], 1)
        while let first = rest.first {
            guard !first.isWhitespace else {
                rest = rest.dropFirst()
                column += 1
                continue
            }
            let quoted = quoted(at: rest)
            let written = quoted?.written ?? rest.prefix { !$0.isWhitespace }
            let hasComma = quoted == nil && written.count > 1 && written.hasSuffix(",")
            let plain = hasComma ? written.dropLast() : written
            words.append(
                RuleWord(
                    text: quoted?.text ?? String(plain), column: column, quoted: quoted.map { String($0.written) }))
            column += written.count
            if hasComma { words.append(RuleWord(text: ",", column: column - 1)) }
            rest = rest[written.endIndex...]
        }
        return words
    }

    /// The word in quotation marks that the text begins with. Nil: there is none, or more follows than a comma.
    private static func quoted(at rest: Substring) -> (text: String, written: Substring)? {
        guard let word = rest.quotedWord else { return nil }
        let behind = rest[word.written.endIndex...]
        let next = behind.hasPrefix(",") ? behind.dropFirst().first : behind.first
        return next?.isWhitespace != false ? word : nil
    }
}

extension Substring {
    /// The word in quotation marks that it begins with, without them and with them. Nil: it begins with none that ends.
    var quotedWord: (text: String, written: Substring)? {
        guard hasPrefix("\"") else { return nil }
        let bytes = CBytes(Array(utf8))
        var (out, length) = ([CChar](repeating: 0, count: bytes.count), 0)
        let end = bytes.lendText { tendon_act_unquote($0, bytes.count, &out, &length) }
        guard end > 0 else { return nil }
        let text = String(decoding: out.prefix(length).map(UInt8.init(bitPattern:)), as: UTF8.self)
        return (text, self[..<utf8.index(startIndex, offsetBy: end)])
    }
}
