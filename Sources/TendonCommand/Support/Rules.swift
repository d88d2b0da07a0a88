// SPDX-License-Identifier: MIT Rules of `run`: an event of one device triggers an action of another.
//
//     activ5.double_squeeze => feelspace.signal warning
//     FAMILY.EVENT [DETAIL] => FAMILY.ACTION [ARGUMENTS...]
import Synchronization
import Tendon
import TendonSupport

/// Something that happens to a family's devices, as rules name it.
struct RuleEvent: Sendable {
    var name: String
    /// The words that may follow it, to mean only that one; empty: none may.
    var details: [String] = []

    /// Events of all families.
    static let common = [RuleEvent(name: "connected"), RuleEvent(name: "disconnected")]
}

/// An action of a family, checked.
protocol RuleCall: Sendable {}

/// Something that a family's devices can do, as rules name it.
struct RuleAction: Sendable {
    var name: String
    /// As help shows them.
    var arguments: String
    var parse: @Sendable ([String]) throws(CommandError) -> any RuleCall
}

/// One rule, checked.
struct Rule: Sendable {
    var text: String
    var family: String
    var event: String
    var detail: String?
    var target: String
    var action: String
    var call: any RuleCall

    static let example = "--rule 'activ5.double_squeeze => feelspace.signal warning'"

    init(_ text: String) throws(CommandError) {
        let words = text.split(whereSeparator: \.isWhitespace).map(String.init)
        guard let arrow = words.firstIndex(of: "=>"), arrow > 0, arrow + 1 < words.count,
            !words[(arrow + 1)...].contains("=>")
        else { throw Rule.wrong(text, "a rule is EVENT => ACTION") }
        let (family, name) = try Rule.name(words[0], in: text)
        guard let stream = Family.named(family)?.stream else { throw Rule.wrong(text, "\(family) cannot be streamed") }
        let events = RuleEvent.common + stream.happenings
        guard let event = events.first(where: { $0.name == name }) else {
            throw Rule.wrong(text, CommandError.unknown("event of \(family)", name, among: events.map(\.name)).message)
        }
        if arrow > 2 { throw Rule.wrong(text, "at most one word may follow the event") }
        detail = arrow == 2 ? words[1] : nil
        if let detail, !event.details.contains(detail) {
            throw Rule.wrong(
                text,
                event.details.isEmpty
                    ? "nothing may follow \(words[0])"
                    : CommandError.unknown("\(words[0])", detail, among: event.details).message)
        }
        let (target, actionName) = try Rule.name(words[arrow + 1], in: text)
        let actions = Family.named(target)?.stream.actions ?? []
        guard let action = actions.first(where: { $0.name == actionName }) else {
            throw Rule.wrong(
                text,
                actions.isEmpty
                    ? "\(target) has no actions"
                    : CommandError.unknown("action of \(target)", actionName, among: actions.map(\.name)).message)
        }
        do throws(CommandError) {
            call = try action.parse(Array(words[(arrow + 2)...]))
        } catch {
            throw Rule.wrong(text, error.message)
        }
        self.text = words.joined(separator: " ")
        (self.family, self.event, self.target) = (family, name, target)
        self.action = words[(arrow + 1)...].joined(separator: " ")
    }

    private static func name(_ word: String, in text: String) throws(CommandError) -> (String, String) {
        let parts = word.split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        guard parts.count == 2, !parts[1].isEmpty else {
            throw wrong(text, "'\(sanitized(word))' is not FAMILY.NAME")
        }
        do throws(CommandError) {
            return (try familyName(parts[0]), parts[1])
        } catch {
            throw wrong(text, error.message)
        }
    }

    private static func wrong(_ text: String, _ what: String) -> CommandError {
        .usage("the rule '\(sanitized(text))': \(what)", next: "tendon run \(example)")
    }

    /// All that the command line names: `--rule`, and lines of the files of `--rules`; `#` starts a comment.
    static func all(_ arguments: Arguments) throws(CommandError) -> [Rule] {
        var rules: [Rule] = []
        for text in arguments.all("--rule") { rules.append(try Rule(text)) }
        for path in arguments.all("--rules") {
            // Windows ends lines with CR LF, which Swift sees as one character.
            let lines = String(decoding: try readFile(path, limit: 1 << 16), as: UTF8.self)
                .split(omittingEmptySubsequences: false, whereSeparator: \.isNewline)
            for (index, line) in lines.enumerated() {
                let text = line.prefix { $0 != "#" }
                guard text.contains(where: { !$0.isWhitespace }) else { continue }
                do throws(CommandError) {
                    rules.append(try Rule(String(text)))
                } catch {
                    throw .usage("\(sanitized(path)), line \(index + 1): \(error.message)", next: error.next)
                }
            }
        }
        return rules
    }

    /// For help: what may stand in a rule.
    static var vocabulary: String {
        var events: [String] = [], actions: [String] = []
        for row in families {
            let (family, stream) = (row.name, row.stream)
            for event in stream.happenings {
                events.append("\(family).\(event.name)" + (event.details.isEmpty ? "" : " [WHICH]"))
            }
            for action in stream.actions {
                actions.append("\(family).\(action.name)" + (action.arguments.isEmpty ? "" : " \(action.arguments)"))
            }
        }
        events.append("FAMILY.connected")
        events.append("FAMILY.disconnected")
        return "Rules are EVENT => ACTION. Events: \(events.joined(separator: ", ")). Actions: "
            + "\(actions.isEmpty ? "none yet" : actions.joined(separator: ", "))."
    }
}

/// The rules of a run, and the open devices that can carry them out.
final class RuleBoard: Sendable {
    struct Call: Sendable {
        var text: String
        var call: any RuleCall
    }

    /// An open device with its queue of actions. If more than `waiting` actions are queued, the newest is dropped and
    /// reported.
    struct Place: Sendable {
        fileprivate let number: Int
        fileprivate let family: String
        fileprivate let input: AsyncStream<Call>.Continuation
        let calls: AsyncStream<Call>
    }

    private struct State {
        var places: [Place] = []
        var next = 0
        var rules: [Rule] = []
    }

    private let state = Mutex(State())
    private static let waiting = 16

    init(_ rules: [Rule]) { replace(rules) }

    func replace(_ rules: [Rule]) { state.withLock { $0.rules = rules } }

    func join(_ device: ServedDevice) -> Place {
        let (calls, input) = AsyncStream.makeStream(
            of: Call.self, bufferingPolicy: .bufferingOldest(RuleBoard.waiting))
        return state.withLock { state in
            let place = Place(number: state.next, family: device.family, input: input, calls: calls)
            state.next += 1
            state.places.append(place)
            return place
        }
    }

    func leave(_ place: Place) {
        state.withLock { state in state.places.removeAll { $0.number == place.number } }
        place.input.finish()
    }

    func happened(_ event: String, _ detail: String?, to device: ServedDevice) {
        for rule in state.withLock({ $0.rules })
        where rule.family == device.family && rule.event == event && (rule.detail == nil || rule.detail == detail) {
            let places = state.withLock { state in state.places.filter { $0.family == rule.target } }
            var started = 0
            for place in places {
                if case .enqueued = place.input.yield(Call(text: rule.action, call: rule.call)) { started += 1 }
            }
            device.event(
                "rule",
                ["rule": .string(rule.text), "devices": JSON(started), "missed": JSON(places.count - started)])
        }
    }
}
