// SPDX-License-Identifier: MIT
// The description of an option. The same rows are the settings of the configuration file: see `SettingsTable`.
import TendonSupport

/// What the value of an option must be.
enum ValueRule: Sendable {
    case text
    case integer(ClosedRange<Int>)
    case number(ClosedRange<Double>)
    /// A time: a number of seconds, or a number with a unit.
    case seconds(ClosedRange<Double>)
    /// A time: a number of milliseconds, or a number with a unit.
    case milliseconds(ClosedRange<Int>)
    /// An address, or the name of a device. Names are known when all of the file is read.
    case device
    /// The function throws if the value is wrong; its message says what is allowed.
    case parsed(@Sendable (String) throws(CommandError) -> Void)
    /// The same for a text with names of devices: on the command line it is checked by what uses it, because the names of
    /// `--config` are known only then.
    case parsedWithNames(@Sendable (String) throws(CommandError) -> Void)

    /// Whether there is such a file is seen when it is opened.
    static let file = ValueRule.parsed { (text) throws(CommandError) in
        guard !text.isEmpty else { throw .usage("it takes the path of a file") }
    }
}

/// Where the configuration file has an option.
struct Setting: Sendable {
    /// "gateway", "family bose"; of "device" and "program" the name of the section has more words.
    var section: String
    /// Nil: as the option, without its dashes.
    var key: String?
    /// A section of a device may have it too, for this device only.
    var isPerDevice = false
    /// It may be given several times; the values of the options are added to those of the file.
    var isRepeated = false
    /// The option switches off what the key switches on.
    var isInverted = false
    /// It takes effect when the program starts, not when the file is read again.
    var isFixed = false
    /// A report has no value of it.
    var isPrivate = false

    init(
        _ section: String, key: String? = nil, isPerDevice: Bool = false, isRepeated: Bool = false,
        isInverted: Bool = false, isFixed: Bool = false, isPrivate: Bool = false
    ) {
        self.section = section
        self.key = key
        self.isPerDevice = isPerDevice
        self.isRepeated = isRepeated
        self.isInverted = isInverted
        self.isFixed = isFixed
        self.isPrivate = isPrivate
    }
}

struct Option: Sendable {
    /// Empty: of the configuration file only.
    let name: String
    /// Placeholder of its value in help, such as "SECONDS"; nil for a switch.
    let value: String?
    /// Without the standard value and without the families; see `helpText`.
    var help: String
    /// What a shell may complete the value with.
    var choices: [String] = []
    /// The value is a list, or may be of other kinds; the choices are for the shell alone.
    var isList = false
    /// For tests; not in help.
    var hidden = false
    /// The option may stand alone; its value follows `=`.
    var isValueOptional = false
    /// Families that have the option; empty: it is of no family.
    var families: [String] = []
    /// What holds without the option, as its value would be written; nil: nothing, or `help` says what.
    var standard: String?
    var takes = ValueRule.text
    /// Nil: it is of the command line alone.
    var setting: Setting?

    /// The same for some families.
    func only(of families: [String]) -> Option {
        var option = self
        option.families = families
        return option
    }
}

extension Option {
    var isSwitch: Bool { value == nil }

    /// As it is written: "--for SECONDS", "--pair[=SECONDS]".
    var title: String {
        guard let value else { return name }
        return isValueOptional ? "\(name)[=\(value)]" : "\(name) \(value)"
    }

    /// As help prints it.
    var helpText: String {
        let prefix = families.count == 1 ? families[0] + ": " : ""
        let times = setting?.isRepeated ?? false ? "; may be given several times" : ""
        return prefix + help + times + (standard.map { "; default: \($0)" } ?? "")
    }

    /// The key of the configuration file.
    var key: String { setting?.key ?? String(name.drop { $0 == "-" }) }

    /// Throws if the value is not allowed.
    /// - Parameter title: the option or the key as the user wrote it.
    func check(_ text: String, called title: String) throws(CommandError) {
        if !isList, !choices.isEmpty, !choices.contains(text) {
            let meant = CommandError.nearest(text, among: choices).map { "; did you mean '\($0)'?" } ?? ""
            throw .usage("\(title) takes \(choices.joined(separator: " or ")), not '\(sanitized(text))'\(meant)")
        }
        if isList, listWords(text).allSatisfy(\.isEmpty) {
            throw .usage(
                choices.isEmpty
                    ? "\(title) needs a value: \(value ?? "")"
                    : "\(title) needs at least one of: \(choices.joined(separator: ", "))")
        }
        switch takes {
        case .text, .device, .parsedWithNames: break
        case .integer(let range):
            guard let number = parseInteger(text), range.contains(number) else {
                throw .usage(
                    "\(title) takes a whole number from \(range.lowerBound) to \(range.upperBound), not "
                        + "'\(sanitized(text))'")
            }
        case .number(let range):
            guard let number = Double(text), range.contains(number) else {
                throw .usage(
                    "\(title) takes a number from \(plain(range.lowerBound)) to \(plain(range.upperBound)), not "
                        + "'\(sanitized(text))'")
            }
        case .seconds(let range):
            _ = try seconds(text, in: range, called: title)
        case .milliseconds(let range):
            _ = try milliseconds(text, in: range, called: title)
        case .parsed(let parse):
            try Option.check(text, called: title, parse)
        }
    }

    /// - Parameter parse: throws if the value is not allowed.
    static func check(
        _ text: String, called title: String, _ parse: (String) throws(CommandError) -> Void
    ) throws(CommandError) {
        do throws(CommandError) {
            try parse(text)
        } catch {
            throw .usage("\(title): \(error.message)", next: error.next)
        }
    }

    /// A rule for lists of words separated by commas.
    static func words(_ parse: @escaping @Sendable (String) throws(CommandError) -> Void) -> ValueRule {
        .parsed { (text) throws(CommandError) in
            for word in listWords(text) { try parse(word) }
        }
    }
}

/// Milliseconds of a unit of time: one list for options, the configuration file and rules; scenarios have it in C.
private let units: [String: Double] = ["ms": 1, "s": 1000, "min": 60_000, "m": 60_000, "h": 3_600_000]

/// A time with its unit, in milliseconds; white space may stand between them. Nil: it is none.
func milliseconds(_ text: String) -> Double? {
    let digits = text.prefix { "0123456789.".contains($0) }
    guard let number = Double(digits), let unit = units[trimmed(text.dropFirst(digits.count))] else { return nil }
    return number * unit
}

/// A time in seconds; a number without a unit is of seconds.
func seconds(_ text: String, in range: ClosedRange<Double>, called title: String) throws(CommandError) -> Double {
    guard let number = Double(text) ?? milliseconds(text).map({ $0 / 1000 }), range.contains(number) else {
        throw .usage(
            "\(title) takes a time from \(plain(range.lowerBound)) to \(plain(range.upperBound)) s, such as 90, 500ms, "
                + "2min or 1h, not '\(sanitized(text))'")
    }
    return number
}

/// A time in milliseconds; a number without a unit is of milliseconds.
func milliseconds(_ text: String, in range: ClosedRange<Int>, called title: String) throws(CommandError) -> Int {
    guard let number = parseInteger(text) ?? milliseconds(text).flatMap({ Int(exactly: $0.rounded()) }),
        range.contains(number)
    else {
        throw .usage(
            "\(title) takes a time from \(range.lowerBound) to \(range.upperBound) ms, such as 500, 500ms or 2s, not "
                + "'\(sanitized(text))'")
    }
    return number
}

/// The words of a list separated by commas. A list in the configuration file usually has white space after the commas.
func listWords(_ text: String) -> [String] { text.split(separator: ",").map(trimmed) }

/// Rejects a list in which one of these words, which stand for a whole list, is not the only one.
func check(_ words: [String], standingAlone: Set<String>) throws(CommandError) {
    if words.count > 1, let word = words.first(where: standingAlone.contains) {
        throw .usage("'\(word)' stands alone, without other words")
    }
}

/// Without white space at both ends.
func trimmed(_ text: some StringProtocol) -> String {
    var rest = text[...]
    while rest.first?.isWhitespace ?? false { rest = rest.dropFirst() }
    while rest.last?.isWhitespace ?? false { rest = rest.dropLast() }
    return String(rest)
}

extension Option {
    static let exact = Option(
        name: "--exact", value: nil,
        help: "JSON: all digits of a number, instead of the decimals that the sensor resolves",
        setting: Setting("output", key: "compact", isInverted: true, isFixed: true))
    /// For commands that write a file.
    static let replaces = Option(name: "--replace", value: nil, help: "replace the file if it exists")
    static let duration = Option(
        name: "--for", value: "SECONDS", help: "end after this time: 90, 500ms, 2min", takes: .seconds(0...1e9),
        setting: Setting("gateway", isFixed: true))

    /// - Parameter choices: the uses that make sense for the command.
    static func adapterUse(_ choices: [String], help: String) -> Option {
        Option(
            name: "--adapter-use", value: choices.joined(separator: "|"), help: help, choices: choices,
            standard: "shared", setting: choices.contains("observer") ? nil : Setting("gateway", isFixed: true))
    }

    static let common: [Option] = [
        Option(
            name: "--radio", value: "bluez|virtual",
            help: "bluez: Bluetooth adapters; virtual: simulated devices on this machine; default: $TENDON_RADIO, else "
                + "bluez",
            choices: ["bluez", "virtual"], setting: Setting("gateway", isFixed: true)),
        Option(
            name: "--adapter", value: "ADAPTER",
            help:
                "which adapter of the radio bluez: hciN, its address, or its USB path (1-1.4), which stay the same when "
                + "it is plugged in again; run, stream and simulate take several: hci0,hci1; default: the first",
            isList: true,
            takes: Option.words { (word) throws(CommandError) in
                guard word.isAdapterName else {
                    throw .usage(
                        "it takes a name such as hci0, an address, or a USB path such as 1-1.4, not '\(sanitized(word))'"
                    )
                }
            }, setting: Setting("gateway", isFixed: true)),
        Option(
            name: "--address", value: "ADDRESS",
            help: "this device only: AA:BB:CC:DD:EE:FF, or with its type AA:BB:CC:DD:EE:FF/random, or its name in the "
                + "configuration; without a type, both types match. simulate: the address it gets; without a type, public",
            takes: .device, setting: Setting("gateway", isFixed: true)),
        Option(
            name: "--config", value: "FILE",
            help: "configuration: settings of run, names of devices; default: $TENDON_CONFIG; names only: "
                + Configuration.standardPath),
        Option(
            name: "--json", value: nil, help: "JSON, one object a line", setting: Setting("output", isFixed: true)),
        Definitions.option,
        .duration,
        Option(name: "--help", value: nil, help: "this text"),
        Option(name: "--version", value: nil, help: "print the version"),
    ]
}
