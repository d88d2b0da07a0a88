// SPDX-License-Identifier: MIT
// config check, config show: the configuration file before a gateway runs with it.
import TendonSupport

extension Command {
    static let configCheck = Command(
        "config check", operands: "[FILE]", summary: "check a configuration file, or a device file",
        details: [
            "Prints each mistake with file and line, and what is allowed; status 2 if the file has any. A device file has the "
                + "name *.json; its first mistake is printed. '-' is standard input. Without FILE: the file of --config, of $TENDON_CONFIG, or \(Configuration.standardPath)."
        ],
        common: ["--json"],
        examples: [
            ("tendon config check tendon.conf", "print what is wrong in the file"),
            ("tendon config check strap.json", "check a device file"),
        ]
    ) { (arguments: Arguments) throws(CommandError) in
        if let path = arguments.operands.first, path.hasSuffix(".json"), arguments.operands.count == 1 {
            return try Definitions.check(path, Events(style: arguments.has("--json") ? .json : .text))
        }
        let file = try arguments.configurationFile(isRequired: true) ?? ""
        let configuration = try Configuration(reading: file)
        guard configuration.problems.isEmpty || !configuration.isJSON else {
            throw .usage("\(sanitized(file)) begins as a device file: the name of one ends in .json")
        }
        let events = Events(style: arguments.has("--json") ? .json : .text)
        var problems = configuration.problems
        var unchecked: [String] = []
        if problems.isEmpty {
            configuration.installNames()
            (problems, unchecked) = SettingsCheck.problemsAndUnchecked(arguments.droppingOperands(1), configuration)
        }
        for problem in problems {
            var members: JSON = ["file": .string(configuration.path)]
            if problem.line > 0 { members["line"] = JSON(problem.line) }
            members["text"] = .string(problem.text)
            events.result("mistake", nil, members, text: configuration.place(problem.line) + problem.text + "\n")
        }
        guard problems.isEmpty else { return .usage }
        let unused = SettingsCheck.notes(arguments.droppingOperands(1), configuration)
        let notes = unchecked.map { "\(sanitized($0)) is there only while the service runs, and was not read" } + unused
        var members: JSON = ["file": .string(configuration.path), "devices": JSON(configuration.devices.count)]
        if !unchecked.isEmpty { members["unchecked"] = JSON(unchecked.map(JSON.string)) }
        if !unused.isEmpty { members["notes"] = JSON(unused.map(JSON.string)) }
        let shown = sanitized(configuration.path)
        events.result(
            "configuration_file", nil, members,
            text: notes.map { "\(shown): note: \($0)\n" }.joined() + "\(shown): no mistakes\n")
        return .done
    }

    static let configShow = Command(
        "config show", operands: "[FILE]", summary: "print the settings that run would have",
        details: [
            "Prints every setting with its value, and where the value comes from: default, a line of the file, or an "
                + "option. The output is a configuration file. Accepts all options of run."
        ],
        options: StreamSettings.options + StreamSettings.familyOptions,
        examples: [
            ("tendon config show", "print the defaults, or the settings of \(Configuration.standardPath)"),
            ("tendon config show tendon.conf --period 40", "show the effect of a file together with an option"),
        ]
    ) { (arguments: Arguments) throws(CommandError) in
        let path = try arguments.configurationFile(isRequired: false)
        let configuration = try path.map { (path) throws(CommandError) in
            try Configuration(reading: path).checked()
        }
        configuration?.installNames()
        let options = arguments.droppingOperands(1)
        _ = try GatewayPlan(options, configuration, family: nil)
        let listing = SettingsListing(options, configuration)
        guard arguments.has("--json") else {
            Output.standard.write(listing.text)
            return .done
        }
        for entry in listing.entries { Events(style: .json).event("setting", nil, entry.json) }
        return .done
    }
}

extension Arguments {
    /// The file that a command of `config` is about; nil: there is none, and none is required.
    fileprivate func configurationFile(isRequired: Bool) throws(CommandError) -> String? {
        guard operands.count <= 1 else { throw .usage("one file at most", next: "tendon config check FILE") }
        if let operand = operands.first { return inputPath(operand) }
        if let path = value("--config") ?? Configuration.fromEnvironment { return path }
        return isRequired || isReadable(Configuration.standardPath) ? Configuration.standardPath : nil
    }
}

/// The effective settings.
struct SettingsListing {
    struct Entry {
        var section: String
        var key: String
        /// Nil: it is not set.
        var value: String?
        /// "default", "option", "FILE:LINE".
        var origin: String
        var isPrivate: Bool

        var json: JSON {
            [
                "section": .string(section), "key": .string(key), "value": value.map(JSON.string) ?? .null,
                "origin": .string(origin),
            ]
        }
    }

    private(set) var entries: [Entry] = []

    init(_ options: Arguments, _ configuration: Configuration?) {
        let arguments = options.configured(by: configuration)
        for section in SettingsTable.sections {
            if section == "device" {
                for device in configuration?.devices ?? [] { add(device, configuration) }
                continue
            }
            if section == "program" {
                for (name, values) in (configuration?.programs ?? [:]).sorted(by: { $0.key < $1.key }) {
                    for row in Program.settings {
                        let value = values[row.key]
                        add(
                            "program \(name)", row, value?.text ?? row.standard,
                            value.map { configuration?.origin($0.line) ?? "" } ?? "default")
                    }
                }
                continue
            }
            for row in SettingsTable.rows where row.setting?.section == section {
                let given =
                    row.setting?.isRepeated ?? false ? arguments.given(row.name) : arguments.given(row.name).suffix(1)
                for item in given {
                    add(section, row, row.settingText(item.text), SettingsListing.origin(item.source, configuration))
                }
                guard given.isEmpty else { continue }
                // A switch that the file has at its standard leaves no argument.
                let line = configuration?.values[row.name]?.last?.line
                add(section, row, row.standardSetting, line.map { configuration?.origin($0) ?? "" } ?? "default")
            }
        }
    }

    private mutating func add(_ section: String, _ row: Option, _ value: String?, _ origin: String) {
        entries.append(
            Entry(
                section: section, key: row.key, value: value, origin: origin,
                isPrivate: row.setting?.isPrivate ?? false))
    }

    private mutating func add(_ device: Configuration.Device, _ configuration: Configuration?) {
        for row in SettingsTable.rows(of: "device") {
            for value in device.values[row.key] ?? [] {
                add(device.section, row, value.text, configuration?.origin(value.line) ?? "")
            }
        }
    }

    private static func origin(_ source: Arguments.Source, _ configuration: Configuration?) -> String {
        switch source {
        case .option: "option"
        case .line(let line): configuration?.origin(line) ?? ""
        }
    }

    /// A configuration file.
    var text: String {
        var lines: [String] = []
        var section = ""
        for entry in entries {
            if entry.section != section {
                section = entry.section
                lines += (lines.isEmpty ? [] : [""]) + ["[\(section)]"]
            }
            guard let value = entry.value else {
                lines.append("; \(entry.key) is not set")
                continue
            }
            // What follows white space and a semicolon is a comment. Wrapped lines are joined again with one blank.
            let line = "\(entry.key) = \(sanitized(value))  ; \(entry.origin)"
            let isOneLine = value.contains("  ") || value.contains("\"")
            lines += (isOneLine ? [line] : Help.wrap(line, 98))
                .enumerated().map { $0.offset == 0 ? $0.element : "    " + $0.element }
        }
        return lines.joined(separator: "\n") + "\n"
    }
}

extension Configuration {
    fileprivate func origin(_ line: Int) -> String { "\(sanitized(path)):\(line)" }
}
