// SPDX-License-Identifier: MIT
// The one table of settings: options of `run`, keys of the configuration file, help, `config show` and the tables of
// docs/configuration.md are made from it.
import TendonSupport

enum SettingsTable {
    /// Settings that an option cannot express.
    static let fileOnly: [Option] =
        [
            Option(
                name: "", value: "NAME",
                help:
                    "name of the device in every output, and wherever an address is accepted: letters, digits, - and _",
                takes: .parsed { (word) throws(CommandError) in try DeviceNames.check(word) },
                setting: Setting("device", key: "name", isPrivate: true)),
            Option(
                name: "", value: nil, help: "connect to the device; no: leave it alone", standard: "yes",
                setting: Setting("device", key: "serve")),
        ] + Program.settings

    /// All rows.
    static let rows: [Option] = (Command.runAll.common + Command.runAll.options + fileOnly).filter { $0.setting != nil }

    /// What a reload does not change: it takes effect at a restart.
    static let fixed: [Option] = rows.filter { $0.setting?.isFixed ?? false }

    /// What may stand in a section: the first word of its name for sections of devices and programs, else its name.
    static func rows(of section: String) -> [Option] {
        rows.filter { row in
            guard let setting = row.setting else { return false }
            return setting.section == section || section == "device" && setting.isPerDevice
        }
    }

    /// Sections in the order of the documentation.
    static let sections: [String] = Help.once(rows.compactMap { $0.setting?.section })

    /// A section's name as documentation shows it.
    static func title(of section: String) -> String {
        switch section {
        case "device": "device ADDRESS"
        case "program": "program NAME"
        default: section
        }
    }

    /// "yes" and its like as a truth; nil: it is none.
    static func truth(_ text: String) -> Bool? {
        switch text.lowercased() {
        case "yes", "true", "on": true
        case "no", "false", "off": false
        default: nil
        }
    }
}

extension Option {
    /// Throws if the configuration file must not have this value.
    func checkSetting(_ text: String) throws(CommandError) {
        if isSwitch {
            guard SettingsTable.truth(text) != nil else {
                throw .usage("\(key) takes yes or no, not '\(sanitized(text))'")
            }
        } else if !isValueOptional || SettingsTable.truth(text) == nil {
            guard !text.isEmpty else { throw .usage("\(key) needs a value: \(key) = \(value ?? "")") }
            try check(text, called: key)
            // Of the file, the sections of devices are read first.
            if case .parsedWithNames(let parse) = takes { try Option.check(text, called: key, parse) }
        }
    }

    /// The values that the option would have had on the command line, given that of the file. Nil: it would be absent.
    func argument(_ text: String) -> String? {
        if isSwitch { return SettingsTable.truth(text) == !(setting?.isInverted ?? false) ? "" : nil }
        if isValueOptional, let isOn = SettingsTable.truth(text) { return isOn ? "" : nil }
        return text
    }

    /// A value of the command line as the file would have it.
    func settingText(_ argument: String) -> String {
        if isSwitch { return setting?.isInverted ?? false ? "no" : "yes" }
        return argument.isEmpty ? "yes" : argument
    }

    /// The option beside the key, whose value is in a column of its own unless `=` must be before it.
    fileprivate var optionTitle: String { isValueOptional ? title : name }

    /// Placeholder of its value in the file.
    var settingValue: String { isSwitch ? "yes or no" : value ?? "" }

    /// What the key means.
    var settingMeaning: String {
        var meaning = help
        if setting?.isInverted ?? false { meaning = "no: " + meaning }
        if setting?.isRepeated ?? false { meaning += "; may be given several times" }
        if setting?.isFixed ?? false { meaning += ". Takes effect at a restart" }
        return meaning
    }

    /// What holds without it, as the file would have it; nil: nothing does.
    var standardSetting: String? {
        if let standard { return standard }
        guard isSwitch else { return nil }
        return setting?.isInverted ?? false ? "yes" : "no"
    }
}

// MARK: - Documentation

extension SettingsTable {
    /// The tables of docs/configuration.md.
    static func documentation() -> String {
        var lines = reloadDocumentation
        for section in sections {
            lines += ["### `[\(title(of: section))]`", ""]
            if section == "program" {
                lines += [programs.replacing("docs/rules.md", with: "[rules.md](rules.md)"), ""]
            }
            if section == "device" {
                lines += Help.wrap(devices(marking: "`"), 120) + [""]
            }
            lines += ["| key | value | default | option | meaning |", "| --- | --- | --- | --- | --- |"]
            lines += rows.filter { $0.setting?.section == section }.map(documentation)
            lines.append("")
        }
        return lines.joined(separator: "\n")
    }

    /// What takes effect at once when the file is read again, and what needs a restart.
    private static var reloadDocumentation: [String] {
        var lines = [
            "### What takes effect when", "", "| section | at a reload | at a restart |", "| --- | --- | --- |",
        ]
        for section in sections {
            let keys = rows.filter { $0.setting?.section == section }
            let texts = [false, true].map { isFixed in
                keys.filter { $0.setting?.isFixed == isFixed }.map { "`\($0.key)`" }.joined(separator: ", ")
            }
            lines.append("| `[\(title(of: section))]` | \(texts[0]) | \(texts[1]) |")
        }
        return lines + [""]
    }

    private static let programs =
        "Programs that rules execute: see docs/rules.md. They are named here only; nothing that is received can add one."

    /// About sections of devices. `mark`: before and after what is written literally.
    private static func devices(marking mark: String) -> String {
        let keys = rows.filter { $0.setting?.isPerDevice ?? false }.map { mark + $0.key + mark }
        return "ADDRESS is written as \(mark)AA:BB:CC:DD:EE:FF\(mark), or with its type: "
            + "\(mark)AA:BB:CC:DD:EE:FF random\(mark). The section may also have the following keys of families, for this "
            + "device only: " + keys.joined(separator: ", ") + "."
    }

    /// tendon.conf(5).
    static func manPage() -> String {
        let escape = Help.escape
        var lines = [
            ".\\\" Generated by tendon --generate-man tendon.conf",
            ".TH TENDON.CONF 5 \"\" \"tendon \(version)\" \"File Formats\"", ".SH NAME",
            "tendon.conf \\- configuration of tendon run", ".SH SYNOPSIS", ".B \(escape(Configuration.standardPath))",
            ".PP", "\\fBtendon run \\-\\-config\\fR \\fIFILE\\fR", ".SH DESCRIPTION",
            "The file has sections and lines \\fIkey\\fR = \\fIvalue\\fR. A line that begins with # or ; is a comment; after "
                + "white space, ; also begins one within a line; "
                + "a line that begins with white space continues the value before it. Unknown keys, values that are not "
                + "allowed and keys that are set twice are mistakes, which", ".B tendon config check",
            "names with their lines.", ".B tendon config show", "prints every setting, its value and where it is from.",
            ".PP", "An option of the command line is above the file, the section of a device above that of its family.",
        ]
        for section in sections {
            lines.append(".SH [\(escape(title(of: section)))]")
            if section == "program" { lines += [escape(programs)] }
            if section == "device" { lines += [escape(devices(marking: ""))] }
            for row in rows where row.setting?.section == section {
                lines += [".TP", "\\fB\(escape(row.key))\\fR = \\fI\(escape(row.settingValue))\\fR"]
                var text = row.settingMeaning
                if let standard = row.standardSetting { text += "; default: \(standard)" }
                if !row.name.isEmpty { text += " (\(row.optionTitle))" }
                lines.append(escape(text))
            }
        }
        let example = [
            "[gateway]", "families = feelspace, activ5", "[device AA:BB:CC:DD:EE:FF random]", "name = living-belt",
            "[rules]", "rule = activ5.double_squeeze => living-belt.signal warning",
        ]
        lines += [".SH EXAMPLE", ".nf"] + example.map(escape) + [".fi"]
        lines += [".SH SEE ALSO", ".BR tendon (1)"]
        return lines.joined(separator: "\n") + "\n"
    }

    private static func documentation(of row: Option) -> String {
        let cells = [
            "`\(row.key)`", row.settingValue, row.standardSetting ?? "", row.name.isEmpty ? "" : "`\(row.optionTitle)`",
            row.settingMeaning,
        ]
        return "| " + cells.map { $0.replacing("|", with: "\\|") }.joined(separator: " | ") + " |"
    }
}
