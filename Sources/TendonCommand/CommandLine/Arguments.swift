// SPDX-License-Identifier: MIT
// The command line: options anywhere, `--` ends them.
import CTendon
import Tendon
import TendonSupport

#if canImport(Glibc)
    import Glibc
#else
    import Musl
#endif

/// A parsed command line, with the settings of a configuration file below it.
struct Arguments: Sendable {
    /// Where a value comes from.
    enum Source: Sendable, Equatable {
        case option
        /// Of the configuration file.
        case line(Int)
    }

    struct Given: Sendable, Equatable {
        var text: String
        var source = Source.option
    }

    private(set) var operands: [String] = []
    /// "--pair=60" for the words "--pair 60", of which the second is an operand.
    fileprivate var separated: [String] = []
    private var values: [String: [Given]] = [:]
    /// By the name of the option: how it was written, if differently.
    private var spelled: [String: String] = [:]

    func has(_ option: String) -> Bool { values[option] != nil }

    /// Whether it is given, and as something else than what holds without it: `config show` prints that too.
    func changes(_ option: Option) -> Bool { has(option.name) && value(option.name) != option.standard }

    /// The last value given.
    func value(_ option: String) -> String? { values[option]?.last?.text }

    func all(_ option: String) -> [String] { given(option).map(\.text) }

    func given(_ option: String) -> [Given] { values[option] ?? [] }

    /// Of the last value; nil: there is none.
    func source(_ option: String) -> Source? { values[option]?.last?.source }

    mutating func prepend(_ option: String, _ given: [Given]) {
        if !given.isEmpty { values[option] = given + self.given(option) }
    }

    mutating func remove(_ option: String) { values[option] = nil }

    /// Has these options as the other arguments have them.
    mutating func take(_ options: [Option], from other: Arguments) {
        for option in options { values[option.name] = other.values[option.name] }
    }

    /// The last value given, or the one that holds without the option.
    func value(_ option: Option) -> String? { value(option.name) ?? option.standard }

    /// A whole number in the range of the option.
    func integer(_ option: Option) throws(CommandError) -> Int? {
        guard let text = value(option) else { return nil }
        try option.check(text, called: option.name)
        return parseInteger(text)
    }

    func number(_ option: Option) throws(CommandError) -> Double? {
        guard let text = value(option) else { return nil }
        if case .seconds(let range) = option.takes {
            return try TendonCommand.seconds(text, in: range, called: option.name)
        }
        try option.check(text, called: option.name)
        return Double(text)
    }

    func seconds(_ option: String, in range: ClosedRange<Double>) throws(CommandError) -> Double? {
        guard let text = value(option) else { return nil }
        return try TendonCommand.seconds(text, in: range, called: option)
    }

    func milliseconds(_ option: Option) throws(CommandError) -> Int? {
        guard let text = value(option), case .milliseconds(let range) = option.takes else { return nil }
        return try TendonCommand.milliseconds(text, in: range, called: option.name)
    }

    func milliseconds(_ option: String, in range: ClosedRange<Int>) throws(CommandError) -> Int? {
        guard let text = value(option) else { return nil }
        return try TendonCommand.milliseconds(text, in: range, called: option)
    }

    func integer(_ option: String, in range: ClosedRange<Int>) throws(CommandError) -> Int? {
        guard let text = value(option) else { return nil }
        guard let number = parseInteger(text), range.contains(number) else {
            throw .usage(
                "\(option) takes a whole number from \(range.lowerBound) to \(range.upperBound), not '\(text)'")
        }
        return number
    }

    func number(_ option: String, in range: ClosedRange<Double>) throws(CommandError) -> Double? {
        guard let text = value(option) else { return nil }
        guard let number = Double(text), range.contains(number) else {
            throw .usage(
                "\(option) takes a number from \(plain(range.lowerBound)) to \(plain(range.upperBound)), not '\(text)'")
        }
        return number
    }

    func droppingOperands(_ count: Int) -> Arguments {
        var arguments = self
        arguments.operands.removeFirst(min(count, operands.count))
        return arguments
    }

    /// `--for` in milliseconds; nil: no end.
    func duration() throws(CommandError) -> UInt64? {
        try number(Option.duration).map { UInt64(($0 * 1000).rounded()) }
    }
}

extension Arguments {
    /// Splits words into operands and options; an option's value is the next word or follows `=`.
    /// - Parameter command: that the words are for, if it is known: its options may be meant by those that are unknown.
    init(_ words: [String], options: [Option], of command: Command? = nil) throws(CommandError) {
        let known = (command.map { $0.options + $0.common } ?? options).filter { !$0.hidden }.map(\.name)
        var rest = words[...]
        while let word = rest.popFirst() {
            if word == "--" {
                operands += rest
                return
            }
            guard word.hasPrefix("-"), word.count > 1, !isNegative(word) else {
                try Arguments.checkDash(word, options)
                operands.append(word)
                continue
            }
            let parts = word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            let written = String(parts[0])
            let name = Spellings.accepted[written] ?? written
            if name != written { spelled[name] = written }
            guard let option = options.first(where: { $0.name == name }) else {
                throw .unknown(
                    "option", name, among: known, meant: Spellings.option(name, among: Set(known)))
            }
            var value = parts.count > 1 ? String(parts[1]) : nil
            if option.isValueOptional {
                guard value != "" else { throw .usage("\(name)= needs a value; without '=' it stands alone") }
                values[name, default: []].append(Given(text: value ?? ""))
                if value == nil, let next = rest.first, (try? option.check(next, called: name)) != nil {
                    separated.append("\(name)=\(next)")
                }
                continue
            }
            if let placeholder = option.value {
                if value == nil { value = try Arguments.value(&rest, of: written, placeholder, options) }
            } else if value != nil {
                throw .usage("\(name) takes no value")
            }
            values[name, default: []].append(Given(text: value ?? ""))
        }
    }

    /// Word processors and web pages make one long dash of two.
    private static func checkDash(_ word: String, _ options: [Option]) throws(CommandError) {
        let rest = word.drop { "\u{2010}\u{2011}\u{2012}\u{2013}\u{2014}\u{2015}\u{2212}".contains($0) }
        let meant = "--" + rest.prefix { $0 != "=" }
        guard rest.startIndex != word.startIndex, options.contains(where: { $0.name == meant }) else { return }
        throw .usage("'\(sanitized(word))' begins with a dash of another kind than -", next: meant)
    }

    /// The next word, which is no option: the value of one was forgotten then.
    private static func value(
        _ rest: inout ArraySlice<String>, of name: String, _ placeholder: String, _ options: [Option]
    ) throws(CommandError) -> String {
        let next = rest.first.map { String($0.prefix { $0 != "=" }) }
        let isOption = next.map { next in options.contains { $0.name == next } || Spellings.accepted[next] != nil }
        guard isOption == false, let value = rest.popFirst() else {
            let hint = next.map { ", and '\($0)' is an option; a value that begins so follows =" } ?? ""
            throw .usage("\(name) needs a value: \(name) \(placeholder)\(hint)")
        }
        return value
    }

    /// Arguments without the words of the command; rejects options that the command does not have.
    func dropping(_ count: Int, for command: Command) throws(CommandError) -> Arguments {
        let allowed = Set((command.options + command.common).map(\.name))
        for name in values.keys.sorted() where !allowed.contains(name) {
            let written = spelled[name] ?? name
            let isOperand = name == "--families" && command.operands.hasPrefix("FAMILY")
            let meant =
                isOperand
                ? "; the family is no option: 'tendon \(command.name) FAMILY'"
                : Spellings.option(written, among: allowed).map { "; did you mean '\($0)'?" } ?? ""
            throw .usage(
                "'tendon \(command.name)' has no option \(written)\(meant)", next: "tendon \(command.name) --help")
        }
        for option in command.options + command.common {
            for text in all(option.name) where !option.isSwitch && !(text.isEmpty && option.isValueOptional) {
                try option.check(text, called: option.name)
            }
            try checkGivenOnce(option)
        }
        try checkAdapter()
        return droppingOperands(count)
    }

    /// Of two lists one would be ignored. Adapters may be several options.
    private func checkGivenOnce(_ option: Option) throws(CommandError) {
        let texts = all(option.name)
        let mayRepeat = option.setting?.isRepeated ?? false || option.name == "--adapter"
        guard option.isList, !mayRepeat, texts.count > 1 else { return }
        let list = sanitized(texts.joined(separator: ","))
        throw .usage("\(option.name) is given twice; a list has commas", next: "\(option.name) \(list)")
    }
}

extension Arguments {
    /// Rejects options that none of the families has.
    func refuseOptions(notOf names: [String], in options: [Option]) throws(CommandError) {
        for option in options where has(option.name) && !option.families.isEmpty {
            guard option.families.contains(where: names.contains) else {
                throw .usage("\(option.name) is an option of \(option.families.joined(separator: ", "))")
            }
        }
    }
}

extension Arguments {
    /// Rejects a file that exists, without `--replace`.
    func checkReplaces(_ path: String) throws(CommandError) {
        guard !isDirectory(path) else {
            throw CommandError(.failed, "\(sanitized(path)): \(text(strerror(EISDIR)))", next: "a file in it")
        }
        guard has(Option.replaces.name) || !isReplaceable(path) else {
            throw CommandError(.failed, "\(sanitized(path)) exists", next: "--replace, or another name")
        }
    }
}

extension Arguments {
    /// Operands that continue the list of an option, which has commas instead of blanks; nil: they do not.
    /// - Parameter places: how many operands the command has.
    fileprivate func listMeant(_ command: Command, from places: Int) -> (option: String, list: String)? {
        for option in command.options where option.isList {
            guard let first = value(option.name) else { continue }
            let list = (listWords(first) + operands.dropFirst(places)).joined(separator: ",")
            if (try? option.check(list, called: option.name)) != nil { return (option.name, list) }
        }
        return nil
    }
}

extension CommandError {
    /// Wrong usage without better advice: the help of the command.
    func helped(by command: Command?) -> CommandError {
        guard let command, status == .usage, !message.isEmpty, next == nil || next == "tendon help" else { return self }
        var error = self
        error.next = "tendon help \(command.name)"
        return error
    }

    /// Too many operands: one of them may be meant as the value of an option that takes it after `=` only, or of --address.
    func explained(_ arguments: Arguments, of command: Command) -> CommandError {
        let places = command.operands.split(separator: " ").count
        guard status == .usage, arguments.operands.count > places else { return self }
        if let meant = arguments.separated.first {
            let name = meant.prefix { $0 != "=" }
            return .usage(
                "\(message); a value of \(name) follows =", next: "tendon \(command.name) \(sanitized(meant))")
        }
        if let (option, list) = arguments.listMeant(command, from: places) {
            return .usage("\(message); a list has commas", next: "\(option) \(sanitized(list))")
        }
        let takesAddress = command.common.contains { $0.name == "--address" } && !arguments.has("--address")
        guard takesAddress, let address = arguments.operands.first(where: { WantedAddress.isMeant(by: $0) }) else {
            return self
        }
        let others = arguments.operands.filter { $0 != address }.prefix(places)
        let words = (["tendon", command.name] + others + ["--address", address]).map(sanitized)
        let radio = (try? arguments.radio())?.words ?? ""
        return .usage("\(message); a device follows --address", next: words.joined(separator: " ") + radio)
    }

    /// The command to try is for the radio of the one that failed, if it takes one.
    func onRadio(of arguments: Arguments) -> CommandError {
        guard status != .usage, let next, !next.contains(" --radio "), let radio = try? arguments.radio() else {
            return self
        }
        let first = next.prefix { $0 != ";" }
        let words = first.split(separator: " ").map(String.init)
        guard words.first == "tendon", let found = try? TendonProgram.find(Array(words.dropFirst())),
            found.0.common.contains(where: { $0.name == "--radio" })
        else { return self }
        return CommandError(status, message, next: first + radio.words + next.dropFirst(first.count))
    }

    /// The known word that a mistyped one may be; nil: none is near.
    static func nearest(_ word: String, among known: [String]) -> String? {
        // Dashes do not count as mistyped letters.
        func bare(_ word: String) -> String { String(word.drop { $0 == "-" }) }
        guard bare(word).count > 1 else { return nil }  // each is as near
        let nearest = known.map { ($0, editDistance(bare($0), bare(word))) }.min { $0.1 < $1.1 }
        if let nearest, nearest.1 <= max(1, bare(word).count / 3) { return nearest.0 }
        // "warn" of "warning", "password" of "password-file".
        let begun = known.filter { bare($0).hasPrefix(bare(word)) }
        return bare(word).count > 2 && begun.count == 1 ? begun[0] : nil
    }

    /// "unknown WHAT 'WORD'", with the nearest known word if one is near.
    /// - Parameters:
    ///   - group: the first words of the commands that are known; nil: of all commands, or of something else.
    ///   - meant: what the word is another name for.
    static func unknown(
        _ what: String, _ word: String, among known: [String], of group: String? = nil, meant: String? = nil
    ) -> CommandError {
        var message = "unknown \(what) '\(sanitized(word))'"
        if let meant {
            message += "; did you mean '\(meant)'?"
        } else if word.split(whereSeparator: \.isWhitespace).count > 1 {
            message += "; a list has commas"
        } else if let name = nearest(word, among: known) {
            message += "; did you mean '\(name)'?"
        } else if let group {
            message += " of \(group); known: \(known.joined(separator: ", "))"
        } else if what != "option", what != "command" {
            message += "; known: \(known.joined(separator: ", "))"
        }
        let isOfProgram = what == "command" || what == "option"
        return .usage(message, next: group.map { "tendon help \($0)" } ?? (isOfProgram ? "tendon help" : nil))
    }
}

private func editDistance(_ a: String, _ b: String) -> Int {
    let (a, b) = (a.lowercased(), b.lowercased())
    return Int(tendon_spelling_distance(a, a.utf8.count, b, b.utf8.count))
}

/// A negative number is an operand, and no option.
private func isNegative(_ word: String) -> Bool {
    word.dropFirst().first.map { $0.isNumber || $0 == "." } ?? false && Double(word) != nil
}

/// A number without a needless ".0".
func plain(_ value: Double) -> String {
    Int(exactly: value).map(String.init) ?? "\(value)"
}
