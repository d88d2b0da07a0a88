// SPDX-License-Identifier: MIT
// A scenario for devices of several families: each line goes to the families that know its command.
import CTendon
import Tendon
import TendonSupport

/// The lines of a file. The C core parses them, with the commands of one family at a time.
struct ScenarioFile: Sendable {
    let path: String
    private let lines: [[UInt8]]

    init(_ path: String) throws(CommandError) {
        self.path = path
        lines = try readText(path, limit: 1 << 20).split(separator: 0x0A, omittingEmptySubsequences: false).map(
            Array.init)
    }

    /// Rejects a line that no family of the simulation accepts.
    func check(_ actors: [tendon_scenario_actor]) throws(CommandError) {
        for (number, line) in lines.enumerated() {
            let errors = actors.map { ScenarioFile.parse(line, $0) }
            // The family that has the command reports the error.
            guard !errors.contains(where: { $0 == nil }), let first = errors.first ?? nil else { continue }
            var error = errors.compactMap(\.self).first { !$0.of_command } ?? first
            error.line = UInt32(number + 1)
            throw failure(error, commands: errors.flatMap { $0.map(ScenarioFile.names) ?? [] })
        }
    }

    /// The text of a family: lines that it does not know are empty, so that the numbers of the lines stay.
    func lines(of family: String, _ actor: tendon_scenario_actor) throws(CommandError) -> [UInt8] {
        Array(lines.map { ScenarioFile.parse($0, actor) == nil ? $0 : [] }.joined(separator: [0x0A]))
    }

    /// Nil: the family knows the line.
    private static func parse(_ line: [UInt8], _ actor: tendon_scenario_actor) -> tendon_scenario_error? {
        let text = CBytes(line)
        let event = CTable<tendon_scenario_event>(capacity: 4)
        var actor = actor
        var error = tendon_scenario_error()
        let count = text.lendText {
            tendon_scenario_parse($0, text.count, &actor, event.pointer, event.capacity, &error)
        }
        return count >= 0 ? nil : error
    }

    private static func names(_ error: tendon_scenario_error) -> [String] {
        var expected = error.expected
        return (0..<expected.count).map { text(tendon_scenario_choice_name(&expected, $0)) }
    }

    /// The file, the place, the word and what is accepted there; `commands`: of all families.
    func failure(_ error: tendon_scenario_error, commands: [String] = []) -> CommandError {
        let number = Int(error.line), column = max(1, Int(error.column))
        let line = number >= 1 && number <= lines.count ? lines[number - 1] : []
        let word = line.dropFirst(column - 1).prefix { $0 > 0x20 }
        let name = sanitized(String(decoding: word, as: UTF8.self))
        var names = error.of_command ? ["advertise", "disconnect", "stop"] : []
        for name in error.of_command && !commands.isEmpty ? commands : ScenarioFile.names(error)
        where !names.contains(name) { names.append(name) }
        if error.expected.number { names.append("a number up to \(error.expected.maximum)") }
        return .usage(
            "\(sanitized(path)), line \(number), column \(column): \(text(error.text))"
                + (name.isEmpty ? "" : ": '\(name)'")
                + (names.isEmpty ? "" : "; accepted: \(names.sorted().joined(separator: ", "))"),
            next: "tendon simulate --help, which lists the commands of each family")
    }
}
