// SPDX-License-Identifier: MIT
// What only becomes wrong when all settings of a configuration file meet: files that they name, rules without their families, a
// page without its token. By the code of `run`; nothing is opened.
import TendonOutputs
import TendonSupport

#if canImport(Glibc)
    import Glibc
#else
    import Musl
#endif

enum SettingsCheck {
    /// Each mistake with the line of a setting that has a part in it; line 0: none has. After a mistake the check goes on
    /// without its section, or without this one of several values, so that it finds the others too.
    static func problems(_ arguments: Arguments, _ configuration: Configuration) -> [IniProblem] {
        var rest = configuration
        var problems: [IniProblem] = []
        while true {
            do throws(CommandError) {
                try check(arguments, rest)
                return problems.sorted { $0.line < $1.line }
            } catch {
                guard let option = option(of: error.message, in: rest), let setting = option.setting else {
                    return problems + [IniProblem(line: 0, text: error.message)]
                }
                // Of several rules the one that the message has.
                let one = setting.isRepeated ? rest.values[option.name]?.first { error.message.contains($0.text) } : nil
                let line = one?.line ?? rest.line(of: option) ?? 0
                problems.append(IniProblem(line: line, text: words(error.message, option)))
                rest = one == nil ? rest.without(SettingsTable.rows(of: setting.section)) : rest.without(option, line)
            }
        }
    }

    /// The same, and the names of files that only the service has, and that were not there to be read.
    static func problemsAndUnchecked(
        _ arguments: Arguments, _ configuration: Configuration
    ) -> (problems: [IniProblem], unchecked: [String]) {
        let absent = AbsentFiles()
        let problems = SecretFile.$absent.withValue(absent) { SettingsCheck.problems(arguments, configuration) }
        return (problems, absent.names)
    }

    /// Of settings without a mistake: what is permitted, and does nothing.
    static func notes(_ arguments: Arguments, _ configuration: Configuration) -> [String] {
        guard let plan = try? GatewayPlan(arguments, configuration, family: nil) else { return [] }
        let warnings = OutputChoice.warnings(arguments.configured(by: configuration), plan)
            .map { $0.replacing("see --osc", with: "see [osc]") }
        return (plan.obstacle.map { [$0.message] } ?? []) + warnings
    }

    /// Makes what a run needs. A mistake in a value of the file has its place.
    static func placing<Result>(
        _ arguments: Arguments, _ configuration: Configuration?, _ body: () throws(CommandError) -> Result
    ) throws(CommandError) -> Result {
        do throws(CommandError) {
            return try body()
        } catch {
            guard error.status == .usage, let configuration, let option = option(of: error.message, in: configuration),
                case .line(let line)? = arguments.configured(by: configuration).source(option.name)
            else { throw error }
            throw .usage(
                configuration.place(line) + words(error.message, option),
                next: "tendon config check \(sanitized(configuration.path))")
        }
    }

    private static func check(_ arguments: Arguments, _ configuration: Configuration) throws(CommandError) {
        let plan = try GatewayPlan(arguments, configuration, family: nil)
        try plan.settings.pairingChoice.check()
        if case .named(let path)? = plan.settings.capture { try checkPlace(of: path) }
        try OutputChoice.check(arguments.configured(by: configuration))
    }

    /// Whether an option names a file, which is replaced or has others beside it.
    static func checkFile(_ path: String, of option: Option) throws(CommandError) {
        guard WholeFile.isSpecial(path) else { return }
        throw .usage("\(option.name) takes a file; \(sanitized(path)) is a device or a pipe")
    }

    /// Whether a file can be made or written.
    static func checkPlace(of path: String) throws(CommandError) {
        let number = WholeFile.obstacle(to: path)
        guard number == 0 else { throw CommandError(.failed, "\(sanitized(path)): \(text(strerror(number)))") }
    }

    /// The setting of the file that a message is about: one that it names, or whose value it has, or of the section that it
    /// begins with.
    private static func option(of message: String, in configuration: Configuration) -> Option? {
        let given = SettingsTable.rows.filter { configuration.line(of: $0) != nil }
        // What stands first is what is wrong; the rest says why.
        let words = words(of: message)
        let named = words.lazy.compactMap { word in given.first { $0.name == word } }.first
        let valued = given.first { row in
            configuration.values[row.name]?.contains { $0.text.count > 2 && message.contains($0.text) } ?? false
        }
        let section = given.filter { message.lowercased().hasPrefix("\($0.setting?.section ?? "-"): ") }
        let keyed = words.lazy.compactMap { word in section.first { word == $0.key || word == $0.key + "s" } }.first
        return named ?? valued ?? keyed ?? section.first
    }

    private static func words(of message: String) -> [Substring] {
        message.split { !$0.isLetter && !$0.isNumber && $0 != "-" }
    }

    /// Whether a message has the name of an option, and not only that of a longer one.
    private static func names(_ message: String, _ option: Option) -> Bool {
        words(of: message).contains { $0 == option.name }
    }

    /// With the keys of the file in the place of options.
    private static func words(_ message: String, _ option: Option) -> String {
        var text = message
        let title = "\(option.setting?.section ?? ""): "
        if text.lowercased().hasPrefix(title) { text.removeFirst(title.count) }
        for row in SettingsTable.rows.sorted(by: { $0.name.count > $1.name.count }) where !row.name.isEmpty {
            text = text.replacing(row.name, with: row.key)
        }
        return names(message, option) ? text : "\(option.key): \(text)"
    }
}

extension Configuration {
    /// Of the last value of an option; nil: the file has none.
    fileprivate func line(of option: Option) -> Int? { option.name.isEmpty ? nil : values[option.name]?.last?.line }
}
