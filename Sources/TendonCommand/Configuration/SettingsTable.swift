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
                setting: Setting("device", key: "name")),
            Option(
                name: "", value: nil, help: "connect to the device; no: leave it alone", standard: "yes",
                setting: Setting("device", key: "serve")),
        ] + Program.settings

    /// All rows.
    static let rows: [Option] = (Command.runAll.common + Command.runAll.options + fileOnly).filter { $0.setting != nil }

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
        var lines: [String] = []
        for section in sections {
            lines += ["### `[\(title(of: section))]`", ""]
            if section == "program" {
                lines += [
                    "Programs that rules execute: see [rules.md](rules.md). They are named here only; nothing that is "
                        + "received can add one.", "",
                ]
            }
            if section == "device" {
                let keys = rows.filter { $0.setting?.isPerDevice ?? false }.map { "`\($0.key)`" }
                lines += Help.wrap(
                    "ADDRESS is written as `AA:BB:CC:DD:EE:FF`, or with its type: `AA:BB:CC:DD:EE:FF random`. The section "
                        + "may also have the following keys of families, for this device only: "
                        + keys.joined(separator: ", ") + ".", 120)
                lines.append("")
            }
            lines += ["| key | value | default | option | meaning |", "| --- | --- | --- | --- | --- |"]
            lines += rows.filter { $0.setting?.section == section }.map(documentation)
            lines.append("")
        }
        return lines.joined(separator: "\n")
    }

    private static func documentation(of row: Option) -> String {
        var meaning = row.help
        if row.setting?.isInverted ?? false { meaning = "no: " + meaning }
        if row.setting?.isRepeated ?? false { meaning += "; may be given several times" }
        if row.setting?.isFixed ?? false { meaning += ". Takes effect at a restart" }
        let cells = [
            "`\(row.key)`", row.isSwitch ? "yes or no" : row.value ?? "", row.standardSetting ?? "",
            row.name.isEmpty ? "" : "`\(row.name)`", meaning,
        ]
        return "| " + cells.map { $0.replacing("|", with: "\\|") }.joined(separator: " | ") + " |"
    }
}
