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
        lines = try readFile(path, limit: 1 << 20).split(separator: 0x0A, omittingEmptySubsequences: false).map(
            Array.init)
    }

    /// Refuses a line that no family of the simulation knows.
    func check(_ actors: [tendon_scenario_actor]) throws(CommandError) {
        for (number, line) in lines.enumerated() {
            var first: tendon_scenario_error?
            var isKnown = actors.isEmpty
            for actor in actors where !isKnown {
                if let error = ScenarioFile.parse(line, actor) { first = first ?? error } else { isKnown = true }
            }
            guard !isKnown, var error = first else { continue }
            error.line = UInt32(number + 1)
            throw failure(error)
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

    /// The file, the place, the word and what may stand there.
    func failure(_ error: tendon_scenario_error) -> CommandError {
        let number = Int(error.line), column = max(1, Int(error.column))
        let line = number >= 1 && number <= lines.count ? lines[number - 1] : []
        let word = line.dropFirst(column - 1).prefix { $0 > 0x20 }
        let name = sanitized(String(decoding: word, as: UTF8.self))
        return .usage(
            "\(sanitized(path)), line \(number), column \(column): \(text(error.text))"
                + (name.isEmpty ? "" : ": '\(name)'"),
            next: "tendon simulate --help, which lists the commands of each family")
    }
}
