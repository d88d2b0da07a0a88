// SPDX-License-Identifier: MIT
// Decides when rules apply. Does no I/O: events, values and the time go in, decisions come out.
import TendonSupport

/// A rule applies.
struct RuleDecision: Sendable {
    /// What is carried out, whatever the rules are by then.
    var rule: Rule
    /// Its index among the rules.
    var index: Int
    var device: RuleDevice
    /// The value that met the condition; nil: an event did.
    var value: Double?
}

/// The device of an event, as rules distinguish devices.
struct RuleDevice: Sendable, Hashable {
    var family: String
    /// With its type: two devices can have the same 48 bits.
    var address: String
    var name: String?

    static func == (a: RuleDevice, b: RuleDevice) -> Bool { a.address == b.address && a.family == b.family }

    func hash(into hasher: inout Hasher) { hasher.combine(address) }
}

/// Times are milliseconds of any clock that does not run backwards.
struct RuleEngine: Sendable {
    private struct Progress: Sendable {
        /// Since when a comparison holds without a break; nil: it does not.
        var since: UInt64?
        /// The actions were executed for this time that it holds.
        var isDone = false
        var value = 0.0
        /// Of the last decision.
        var decided: UInt64?
    }

    let rules: [Rule]
    /// By rule and device.
    private var progress: [Int: [RuleDevice: Progress]] = [:]
    /// Devices that a rule remembers. Devices that disconnected are forgotten.
    private static let limit = 1024

    init(_ rules: [Rule]) { self.rules = rules }

    /// Something happened to a device.
    mutating func happened(_ event: String, _ detail: String?, to device: RuleDevice, at now: UInt64) -> [RuleDecision]
    {
        var decisions = tick(now)
        for (index, rule) in rules.enumerated() where rule.subject.matches(device) {
            guard case .event(event, let wanted) = rule.condition, wanted == nil || wanted == detail else { continue }
            if decide(index, device, now) { decisions.append(RuleDecision(rule: rule, index: index, device: device)) }
        }
        if event == "disconnected" { forget(device) }
        return decisions
    }

    /// A device reported a value.
    mutating func value(_ name: String, _ value: Double, of device: RuleDevice, at now: UInt64) -> [RuleDecision] {
        var decisions = tick(now)
        for (index, rule) in rules.enumerated() where rule.subject.matches(device) {
            guard case .value(name, let comparison, let limit) = rule.condition else { continue }
            guard comparison.holds(value, limit) else {
                progress[index]?[device]?.since = nil
                continue
            }
            var own = progress[index]?[device] ?? Progress()
            if own.since == nil { (own.since, own.isDone) = (now, false) }
            own.value = value
            guard progress[index]?[device] != nil || (progress[index]?.count ?? 0) < RuleEngine.limit else { continue }
            progress[index, default: [:]][device] = own
            if let decision = due(index, device, now) { decisions.append(decision) }
        }
        return decisions
    }

    /// Comparisons that have held for their time.
    mutating func tick(_ now: UInt64) -> [RuleDecision] {
        var decisions: [RuleDecision] = []
        for (index, rule) in rules.enumerated() where rule.hold > 0 {
            for device in (progress[index] ?? [:]).keys.sorted(by: { $0.address < $1.address }) {
                if let decision = due(index, device, now) { decisions.append(decision) }
            }
        }
        return decisions
    }

    /// When `tick` has the next decision; nil: never, unless a value arrives.
    var deadline: UInt64? {
        var next: UInt64?
        for (index, rule) in rules.enumerated() where rule.hold > 0 {
            for own in (progress[index] ?? [:]).values where !own.isDone {
                guard let since = own.since else { continue }
                next = min(next ?? .max, since + rule.hold)
            }
        }
        return next
    }

    private mutating func due(_ index: Int, _ device: RuleDevice, _ now: UInt64) -> RuleDecision? {
        guard let own = progress[index]?[device], let since = own.since, !own.isDone,
            now >= since + rules[index].hold
        else { return nil }
        // Once for each time that it holds, even if "every" suppresses it.
        progress[index]?[device]?.isDone = true
        guard decide(index, device, now) else { return nil }
        return RuleDecision(rule: rules[index], index: index, device: device, value: own.value)
    }

    /// False: "every" suppresses it.
    private mutating func decide(_ index: Int, _ device: RuleDevice, _ now: UInt64) -> Bool {
        let pause = rules[index].pause
        guard pause > 0 else { return true }
        if let last = progress[index]?[device]?.decided, now < last + pause { return false }
        guard progress[index]?[device] != nil || (progress[index]?.count ?? 0) < RuleEngine.limit else { return false }
        progress[index, default: [:]][device, default: Progress()].decided = now
        return true
    }

    /// Its values are unknown; the time of the last decision stays while it can suppress another.
    private mutating func forget(_ device: RuleDevice) {
        for index in rules.indices {
            if rules[index].pause > 0 {
                progress[index]?[device]?.since = nil
            } else {
                progress[index]?[device] = nil
            }
        }
    }
}

extension RuleSubject {
    fileprivate func matches(_ device: RuleDevice) -> Bool { matches(family: device.family, name: device.name) }
}

// MARK: - Lines of events

/// Finds what rules wait for in a line of docs/events.md.
struct RuleReader: Sendable {
    private struct Entry: Sendable {
        var event: StaticString
        var family: String
        var value: RuleValue
    }
    private let values: [Entry]

    init(_ rules: [Rule]) {
        var values: [Entry] = []
        for rule in rules {
            guard case .value(let name, _, _) = rule.condition else { continue }
            for row in families where rule.subject == .family(row.name) || rule.subject.isDevice {
                for value in row.stream.values where value.name == name {
                    values.append(Entry(event: value.event, family: row.name, value: value))
                }
            }
        }
        self.values = values
    }

    var isEmpty: Bool { values.isEmpty }

    /// Cheap: it is called for each sample.
    func takes(_ event: StaticString, family: String?) -> Bool {
        for entry in values where entry.event.isEqual(to: event) && entry.family == family { return true }
        return false
    }

    /// Values of the line that rules compare.
    func values(_ event: StaticString, family: String, _ line: [UInt8]) -> [(name: String, value: Double)] {
        var found: [(name: String, value: Double)] = []
        for entry in values where entry.event.isEqual(to: event) && entry.family == family {
            guard !found.contains(where: { $0.name == entry.value.name }),
                let number = RuleReader.number(entry.value.member, in: line)
            else { continue }
            found.append((entry.value.name, number))
        }
        return found
    }

    /// A member that is a number.
    static func number(_ member: String, in line: [UInt8]) -> Double? {
        // Quotes within a value have a backslash before them, so that this is found in the place of a name only.
        let pattern = Array("\"\(member)\":".utf8)
        guard let start = line.firstRange(of: pattern)?.upperBound else { return nil }
        let digits = line[start...].prefix { $0 != UInt8(ascii: ",") && $0 != UInt8(ascii: "}") }
        return Double(String(decoding: digits, as: UTF8.self))
    }
}

extension RuleSubject {
    var isDevice: Bool {
        if case .device = self { return true }
        return false
    }
}
