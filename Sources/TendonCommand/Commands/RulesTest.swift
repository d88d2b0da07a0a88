// SPDX-License-Identifier: MIT
// rules test: what rules would have decided while a capture was written.
import Synchronization
import TendonOutputs
import TendonSupport

extension Command {
    static let rulesTest = Command(
        "rules test", operands: "FILE CAPTURE", summary: "print what rules would do with the events of a capture",
        details: [
            "FILE contains rules, one per line, or is a configuration file (its name ends with .conf), or '-' for rules on standard "
                + "input. Prints each decision "
                + "with the time of the capture; no action is executed. Names of devices come from --config.",
            Rule.vocabulary,
        ],
        common: ["--json", "--config"],
        examples: [("tendon rules test rules.txt head.btsnoop", "print the decisions for a capture")]
    ) { (arguments: Arguments) throws(CommandError) in
        guard arguments.operands.count == 2 else {
            throw .usage("rules test takes two files", next: "tendon rules test FILE CAPTURE")
        }
        let path = inputPath(arguments.operands[0])
        let rules: [Rule]
        if path.hasSuffix(".conf") {
            let configuration = try Configuration(reading: path).checked()
            configuration.installNames()
            rules = try Rule.all(Arguments().configured(by: configuration))
        } else {
            rules = try Rule.all(inFile: path)
        }
        let trial = RuleTrial(rules, Events(json: arguments.has("--json"), waits: true))
        let replay = try Replay.run(arguments.operands[1], Events(style: .none, others: [trial]), att: false)
        guard !Termination.shared.isSignalled else { throw CommandError(.failed, "interrupted") }
        trial.finish(records: replay)
        return .done
    }
}

/// Reads the events of a replay, and reports decisions instead of executing them.
final class RuleTrial: EventOutput {
    private struct State {
        var engine: RuleEngine
        /// Decisions by rule.
        var counts: [Int]
        /// Of the latest line: by the clock of the capture, which may have been set back, and of the engine.
        var written: UInt64?
        var elapsed: UInt64 = 0

        /// Returns the engine's time of a line.
        mutating func pass(to time: UInt64) -> UInt64 {
            elapsed += written.map { time > $0 ? time - $0 : 0 } ?? 0
            written = time
            return elapsed
        }
    }

    private let state: Mutex<State>
    private let reader: RuleReader
    private let rules: [Rule]
    private let events: Events

    init(_ rules: [Rule], _ events: Events) {
        state = Mutex(State(engine: RuleEngine(rules), counts: Array(repeating: 0, count: rules.count)))
        reader = RuleReader(rules)
        self.rules = rules
        self.events = events
    }

    func event(_ event: EventName, of device: OutputDevice?, _ compose: (inout LineWriter) -> Void) {
        guard let device, !device.family.isEmpty else { return }
        var writer = LineWriter()
        compose(&writer)
        guard let time = (try? JSON(parsing: writer.bytes))?["time"]?.string.flatMap(microseconds) else { return }
        let own = RuleDevice(device)
        let elapsed = state.withLock { $0.pass(to: time) }
        // A comparison is decided when its time is over, not with the next event.
        while let deadline = state.withLock({ $0.engine.deadline }), deadline <= elapsed / 1000 {
            report(state.withLock { $0.engine.tick(deadline) }, at: time - (elapsed - deadline * 1000))
        }
        let inputs = reader.inputs(event, family: device.family, writer.bytes)
        report(state.withLock { $0.engine.take(inputs, of: own, at: elapsed / 1000) }, at: time)
    }

    private func report(_ decisions: [RuleDecision], at time: UInt64) {
        for decision in decisions {
            state.withLock { $0.counts[decision.index] += 1 }
            var members: JSON = [
                "rule": .string(decision.rule.text), "actions": JSON(decision.rule.steps.map { .string($0.text) }),
            ]
            if let value = decision.value { members["value"] = .real(value) }
            events.event("decision", DeviceLabel(decision.device), at: time, members)
        }
    }

    func finish(records: UInt64) {
        let counts = state.withLock { $0.counts }
        events.event(
            "summary", nil,
            [
                "records": JSON(records), "rules": JSON(rules.map { .string($0.text) }), "decisions": JSON(counts),
            ])
    }
}

/// Microseconds since 1970 of "2026-11-23T01:02:03.000004Z", as events write it.
func microseconds(_ time: String) -> UInt64? {
    let parts = time.split { !$0.isNumber }.compactMap { Int($0) }
    guard parts.count == 7, time.utf8.count == 27 else { return nil }
    // Days since 1970-01-01 of the proleptic Gregorian calendar; the year begins in March.
    let year = parts[1] <= 2 ? parts[0] - 1 : parts[0]
    let month = (parts[1] + 9) % 12
    let days = year * 365 + year / 4 - year / 100 + year / 400 + (month * 153 + 2) / 5 + parts[2] - 1 - 719_468
    let seconds = ((days * 24 + parts[3]) * 60 + parts[4]) * 60 + parts[5]
    return UInt64(exactly: seconds * 1_000_000 + parts[6])
}
