// SPDX-License-Identifier: MIT
// Rules of `run`: an event or a value of one device triggers actions.
//
//     activ5.double_squeeze => feelspace.signal warning
//     activ5.force > 50 for 1 s every 2 s => living-belt.vibrate 90, publish squeezed yes, exec doorbell
//
// docs/rules.md describes the syntax.
import TendonOutputs
import TendonSupport

/// One rule, checked.
struct Rule: Sendable {
    let text: String
    let subject: RuleSubject
    let condition: RuleCondition
    /// Milliseconds that a condition must hold before the actions are executed.
    private(set) var hold: UInt64 = 0
    /// Milliseconds in which the actions are executed once at most, for each device.
    private(set) var pause: UInt64 = 0
    private(set) var steps: [(step: RuleStep, text: String)] = []

    static let example = "--rule 'activ5.double_squeeze => feelspace.signal warning'"

    init(_ text: String) throws(CommandError) {
        var parser = RuleParser(text)
        self.text = parser.words.reduce("") { line, word in
            line.isEmpty || word.isSign(",") ? line + word.written : line + " " + word.written
        }
        let arrow = try parser.arrow()
        (subject, condition) = try parser.condition()
        while parser.next < arrow {
            let word = parser.words[parser.next]
            switch word.text {
            case "for" where hold == 0:
                guard case .value = condition else { throw parser.wrong("'for' follows a comparison", word) }
                hold = try parser.duration()
            case "every" where pause == 0: pause = try parser.duration()
            default: throw parser.unexpected(word)
            }
        }
        parser.next = arrow + 1
        repeat { steps.append(try parser.step()) } while parser.comma()
    }

    /// Families that the rule names.
    var families: [String] {
        var subjects = [subject]
        for (step, _) in steps {
            if case .device(let subject, _) = step { subjects.append(subject) }
        }
        return subjects.compactMap { subject in
            if case .family(let name) = subject { return name }
            return nil
        }
    }

    /// Programs that the rule executes.
    var programs: [String] {
        steps.compactMap { step in
            if case .execute(let name) = step.step { return name }
            return nil
        }
    }

    /// What is wrong with the first program that it has and the configuration has not; nil: the configuration has all.
    func mistake(amongPrograms known: [String]) -> String? {
        guard let name = programs.first(where: { !known.contains($0) }) else { return nil }
        let reason =
            known.isEmpty
            ? "no program '\(sanitized(name))': the configuration needs a section [program \(sanitized(name))]"
            : CommandError.unknown("program", name, among: known.sorted()).message
        return "the rule '\(text)': \(reason)"
    }

    /// All that the command line names: `--rule`, and lines of the files of `--rules`; `#` starts a comment.
    static func all(_ arguments: Arguments) throws(CommandError) -> [Rule] {
        var rules: [Rule] = []
        for text in arguments.all("--rule") { rules.append(try Rule(text)) }
        for path in arguments.all("--rules") { rules += try all(inFile: path) }
        return rules
    }

    static func all(inFile path: String) throws(CommandError) -> [Rule] {
        var rules: [Rule] = []
        // Windows ends lines with CR LF, which Swift sees as one character.
        let lines = String(decoding: try readText(path, limit: 1 << 16), as: UTF8.self)
            .split(omittingEmptySubsequences: false, whereSeparator: \.isNewline)
        for (index, line) in lines.enumerated() {
            let text = line.beforeComment { sign, _ in sign == "#" }
            guard text.contains(where: { !$0.isWhitespace }) else { continue }
            do throws(CommandError) {
                rules.append(try Rule(String(text)))
            } catch {
                throw .usage("\(sanitized(path)), line \(index + 1): \(error.message)", next: error.next)
            }
        }
        return rules
    }

    /// For help: what may stand in a rule.
    static var vocabulary: String {
        var events: [String] = [], values: [String] = [], actions: [String] = []
        for row in TendonCommand.families {
            let (family, stream) = (row.name, row.stream)
            events += stream.happenings.map {
                "\(family).\($0.name)" + ($0.details.isEmpty ? "" : " [\($0.details.joined(separator: " | "))]")
            }
            values += stream.values.map { "\(family).\($0.name)" }
            actions += stream.actions.map {
                "\(family).\($0.name)" + ($0.arguments.isEmpty ? "" : " \($0.arguments)")
            }
        }
        events += ["FAMILY.connected", "FAMILY.disconnected"]
        actions += ["publish NAME VALUE", "exec NAME", "osc.recenter [NAME]"]
        return
            "Rules are CONDITION [for TIME] [every TIME] => ACTION[, ACTION...]. A condition is an event, or a value "
            + "compared with a number; a family may be the name of a device. Events: \(events.joined(separator: ", ")). "
            + "Values: \(values.joined(separator: ", ")). Actions: \(actions.joined(separator: ", "))."
    }
}

/// Reads the words of a rule from left to right.
struct RuleParser {
    let text: String
    let words: [RuleWord]
    var next = 0

    init(_ text: String) {
        self.text = text
        words = RuleWord.all(in: text)
    }

    func wrong(_ what: String, _ word: RuleWord?) -> CommandError {
        let column = word.map { " (column \($0.column))" } ?? ""
        return .usage("the rule '\(sanitized(text))': \(what)\(column)", next: "tendon run \(Rule.example)")
    }

    func unexpected(_ word: RuleWord) -> CommandError {
        wrong("'\(sanitized(word.text))' is unexpected here: for TIME, every TIME or => may follow", word)
    }

    func arrow() throws(CommandError) -> Int {
        let arrows = words.indices.filter { words[$0].isSign("=>") }
        guard let arrow = arrows.first, arrow > 0, arrow + 1 < words.count, arrows.count == 1 else {
            throw wrong("a rule is EVENT => ACTION", arrows.count > 1 ? words[arrows[1]] : words.last)
        }
        return arrow
    }

    private mutating func take() -> RuleWord? {
        guard next < words.count else { return nil }
        next += 1
        return words[next - 1]
    }

    /// FAMILY.NAME or DEVICE.NAME.
    private func subject(_ word: RuleWord) throws(CommandError) -> (RuleSubject, name: String) {
        let parts = word.text.split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        guard parts.count == 2, !parts[1].isEmpty else {
            throw wrong("'\(sanitized(word.text))' is not FAMILY.NAME", word)
        }
        if DeviceNames.shared.address(of: parts[0]) != nil { return (.device(parts[0]), parts[1]) }
        do throws(CommandError) {
            return (.family(try familyName(parts[0])), parts[1])
        } catch {
            let names = DeviceNames.shared.all
            let file = "; that of a device file needs --define FILE"
            guard !names.isEmpty else {
                throw wrong(error.message + ", or the name of a device in the configuration (--config)" + file, word)
            }
            throw wrong(
                CommandError.unknown("family or device", parts[0], among: familyNames() + names).message + file, word)
        }
    }

    /// Of the family, or of all families for a device.
    private func streams(_ subject: RuleSubject) -> [(family: String, stream: StreamForm)] {
        families.filter { subject == .family($0.name) || { if case .device = subject { true } else { false } }() }
            .map { ($0.name, $0.stream) }
    }

    private func title(_ subject: RuleSubject) -> String {
        switch subject {
        case .family(let name), .device(let name): name
        }
    }

    mutating func condition() throws(CommandError) -> (RuleSubject, RuleCondition) {
        guard let first = take() else { throw wrong("a rule is EVENT => ACTION", nil) }
        let (subject, name) = try subject(first)
        let streams = streams(subject)
        let following = words[next]
        if let comparison = RuleComparison(rawValue: following.text) {
            let values = Help.once(streams.flatMap { $0.stream.values.map(\.name) })
            guard values.contains(name) else {
                throw wrong(
                    values.isEmpty
                        ? "\(title(subject)) has no values"
                        : CommandError.unknown("value of \(title(subject))", name, among: values).message, first)
            }
            next += 1
            let word = words[next]
            guard let number = Double(word.text), number.isFinite else {
                throw wrong(
                    "'\(sanitized(word.text))' is no number; words of values are compared by their numbers", word)
            }
            next += 1
            return (subject, .value(name, comparison, number))
        }
        let events = RuleEvent.common + streams.flatMap { $0.stream.happenings }
        guard let event = events.first(where: { $0.name == name }) else {
            let values = streams.flatMap { $0.stream.values.map(\.name) }
            if values.contains(name) {
                let operators = RuleComparison.allCases.map(\.rawValue).joined(separator: " ")
                throw wrong("\(name) is a value: one of \(operators) and a number follow", following)
            }
            guard !name.contains(where: { "<>=!".contains($0) }) else {
                throw wrong("words are separated by white space: '\(sanitized(name))'", first)
            }
            let known = Help.once(events.map(\.name))
            throw wrong(CommandError.unknown("event of \(title(subject))", name, among: known).message, first)
        }
        return (subject, .event(name, detail: try detail(of: event, named: first)))
    }

    private mutating func detail(of event: RuleEvent, named first: RuleWord) throws(CommandError) -> String? {
        let word = words[next]
        guard !["=>", "for", "every"].contains(word.text) else { return nil }
        next += 1
        if words[next].text != "=>", !["for", "every"].contains(words[next].text) {
            throw wrong("at most one word may follow the event", words[next])
        }
        guard event.details.contains(word.text) else {
            throw wrong(
                event.details.isEmpty
                    ? "nothing may follow \(first.text)"
                    : CommandError.unknown("\(first.text)", word.text, among: event.details).message, word)
        }
        return word.text
    }

    /// "for 1 s", "every 500 ms", "every 2min". The words before the arrow end with the arrow, so that there is a next one.
    mutating func duration() throws(CommandError) -> UInt64 {
        let keyword = take()?.text ?? ""
        let first = words[next]
        var text = first.text
        if Double(text) != nil, words[next + 1].text != "=>" {
            next += 1
            text += words[next].text
        }
        next += 1
        guard let time = milliseconds(text), time > 0, time <= 86_400_000 else {
            throw wrong("\(keyword) takes a time such as 500 ms, 2 s or 5 min", first)
        }
        return UInt64(time.rounded(.up))
    }

    /// A comma: another action follows.
    mutating func comma() -> Bool {
        guard next < words.count, words[next].isSign(",") else { return false }
        next += 1
        return true
    }

    /// The words of one action, up to a comma or the end.
    mutating func step() throws(CommandError) -> (step: RuleStep, text: String) {
        let end = words[next...].firstIndex { $0.isSign(",") } ?? words.count
        let own = Array(words[next..<end])
        guard let first = own.first else { throw wrong("an action is missing", words.last) }
        next = end
        let text = own.map(\.written).joined(separator: " ")
        // `publish` takes what follows as it is written.
        let arguments = own.dropFirst().map(\.written)
        switch first.text {
        case "publish":
            if let joined = own.dropFirst().first(where: hidesAction) {
                throw wrong("a blank follows the comma before an action: '\(sanitized(joined.text))'", joined)
            }
            guard arguments.count >= 2 else { throw wrong("publish takes a name and a value", first) }
            if let open = own.first(where: \.isUnclosed) { throw wrong(RuleParser.unclosed(open), open) }
            guard arguments[0].isTopicLevel else {
                throw wrong(
                    "'\(sanitized(arguments[0]))' is no name to publish under: it is one level of a topic, without / + #, 64 "
                        + "bytes at most", own[1])
            }
            return (.publish(name: arguments[0], value: arguments.dropFirst().joined(separator: " ")), text)
        case "exec":
            guard arguments.count == 1 else { throw wrong("exec takes the name of a program", first) }
            return (.execute(program: arguments[0]), text)
        case "osc.recenter":
            guard arguments.count <= 1 else {
                throw wrong("osc.recenter takes the name of a device, or nothing", first)
            }
            return (.recenter(device: arguments.first), text)
        default: return (try call(own), text)
        }
    }

    /// Whether a comma within a word of a value is followed by what begins an action: "yes,publish".
    private func hidesAction(_ word: RuleWord) -> Bool {
        word.text.split(separator: ",").dropFirst().contains { part in
            ["publish", "exec", "osc.recenter"].contains(part)
                || (try? subject(RuleWord(text: String(part), column: word.column))) != nil
        }
    }

    private static func unclosed(_ word: RuleWord) -> String {
        "what begins with a quotation mark ends with one, and its escapes are \\n \\r \\t \\\" \\\\: '\(sanitized(word.text))'"
    }

    private func call(_ own: [RuleWord]) throws(CommandError) -> RuleStep {
        let (subject, name) = try subject(own[0])
        let actions = streams(subject).flatMap { row in row.stream.actions.map { (row.family, $0) } }
        let matching = actions.filter { $0.1.name == name }
        guard !matching.isEmpty else {
            throw wrong(
                actions.isEmpty
                    ? "\(title(subject)) has no actions"
                    : CommandError.unknown(
                        "action of \(title(subject))", name, among: Help.once(actions.map(\.1.name))
                    ).message, own[0])
        }
        if let open = own.first(where: \.isUnclosed) {
            throw wrong(RuleParser.unclosed(open), open)
        }
        var calls: [String: any RuleCall] = [:]
        var failure: CommandError?
        for (family, action) in matching {
            do throws(CommandError) {
                calls[family] = try action.parse(own.dropFirst().map(\.text))
            } catch {
                failure = error
            }
        }
        if calls.isEmpty, let failure { throw wrong(failure.message, own.count > 1 ? own[1] : own[0]) }
        return .device(subject, calls: calls)
    }
}
