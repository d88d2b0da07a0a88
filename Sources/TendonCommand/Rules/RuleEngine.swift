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

    /// - Parameters:
    ///   - before: what it knows of rules that are written in the same way goes on.
    ///   - isNamed: whether a device has a name of the configuration now; those of before may be of others.
    init(
        _ rules: [Rule], after before: RuleEngine? = nil, isNamed: (RuleDevice, String) -> Bool = { $0.name == $1 }
    ) {
        self.rules = rules
        guard let before else { return }
        var known = Dictionary(grouping: before.rules.indices) { before.rules[$0].text }
        for (index, rule) in rules.enumerated() {
            guard let old = known[rule.text]?.first else { continue }
            known[rule.text]?.removeFirst()
            progress[index] = before.progress[old]?.filter { device, _ in
                if case .device(let name) = rule.subject { isNamed(device, name) } else { true }
            }
        }
    }

    /// What a line about a device says.
    mutating func take(_ inputs: [RuleInput], of device: RuleDevice, at now: UInt64) -> [RuleDecision] {
        inputs.flatMap { input in
            switch input {
            case .value(let name, let value): self.value(name, value, of: device, at: now)
            case .unknown(let name): unknown(name, of: device, at: now)
            case .happened(let event, let details): happened(event, details, to: device, at: now)
            }
        }
    }

    /// Something happened to a device.
    /// - Parameter details: words by which a rule can mean only that.
    mutating func happened(
        _ event: String, _ details: [String] = [], to device: RuleDevice, at now: UInt64
    ) -> [RuleDecision] {
        var decisions = tick(now)
        for (index, rule) in rules.enumerated() where rule.subject.matches(device) {
            guard case .event(event, let wanted) = rule.condition, wanted.map(details.contains) ?? true else {
                continue
            }
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
            guard hasRoom(index, device, now) else { continue }
            progress[index, default: [:]][device] = own
            if let decision = due(index, device, now) { decisions.append(decision) }
        }
        return decisions
    }

    /// A device reported that it does not know the value: what waits for its time begins again. It is not on the other side.
    private mutating func unknown(_ name: String, of device: RuleDevice, at now: UInt64) -> [RuleDecision] {
        let decisions = tick(now)
        for (index, rule) in rules.enumerated() where rule.subject.matches(device) {
            guard case .value(name, _, _) = rule.condition, progress[index]?[device]?.isDone == false else { continue }
            progress[index]?[device]?.since = nil
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
        guard hasRoom(index, device, now) else { return false }
        progress[index, default: [:]][device, default: Progress()].decided = now
        return true
    }

    /// Devices of which nothing matters any more make room for others.
    private mutating func hasRoom(_ index: Int, _ device: RuleDevice, _ now: UInt64) -> Bool {
        guard progress[index]?[device] == nil, (progress[index]?.count ?? 0) >= RuleEngine.limit else { return true }
        let pause = rules[index].pause
        progress[index] = progress[index]?.filter { _, own in
            own.since != nil || own.decided.map { now < $0 + pause } ?? false
        }
        return (progress[index]?.count ?? 0) < RuleEngine.limit
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

/// What a line of docs/events.md means to rules.
enum RuleInput: Sendable, Equatable {
    case value(String, Double)
    /// The device does not know this value.
    case unknown(String)
    /// An event of rules, with each word by which a rule can mean only that one.
    case happened(String, [String])
}

/// Finds what rules wait for in lines of docs/events.md: those of a run and those of a replay.
struct RuleReader: Sendable {
    private enum Kind: Sendable {
        case value(RuleValue)
        case happening(RuleEvent)
    }

    private struct Entry: Sendable {
        var event: EventName
        /// Nil: any.
        var family: String?
        var name: String
        var kind: Kind

        /// For any family. An event of a device file may have the name of a value in its line.
        func isLike(_ other: Entry) -> Bool {
            switch (kind, other.kind) {
            case (.value, .value), (.happening, .happening): event.isEqual(to: other.event) && name == other.name
            default: false
            }
        }
    }
    private var entries: [Entry] = []

    init(_ rules: [Rule]) {
        for rule in rules {
            for row in families where rule.subject == .family(row.name) || rule.subject.isDevice {
                switch rule.condition {
                case .value(let name, _, _):
                    for value in row.stream.values where value.name == name {
                        add(value.event, row.name, name, .value(value))
                    }
                case .event(let name, _): add(RuleEvent.common + row.stream.happenings, name, row.name)
                }
            }
        }
        // A device that disconnects has no values.
        if !rules.isEmpty { add(RuleEvent.common, "disconnected", nil) }
    }

    private mutating func add(_ events: [RuleEvent], _ name: String, _ family: String?) {
        for event in events where event.name == name {
            for source in event.sources { add(source.event, family, name, .happening(event)) }
        }
    }

    private mutating func add(_ event: EventName, _ family: String?, _ name: String, _ kind: Kind) {
        let entry = Entry(event: event, family: family, name: name, kind: kind)
        guard !entries.contains(where: { $0.isLike(entry) && ($0.family == nil || $0.family == family) }) else {
            return
        }
        // One for all families takes the place of theirs.
        if family == nil { entries.removeAll { $0.isLike(entry) } }
        entries.append(entry)
    }

    /// Whether it waits for one of these events.
    func takes(anyOf events: [EventName]) -> Bool {
        entries.contains { entry in events.contains { $0.isEqual(to: entry.event) } }
    }

    /// Cheap: it is called for each sample.
    func takes(_ event: EventName, family: String?) -> Bool {
        for entry in entries where entry.event.isEqual(to: event) && (entry.family ?? family) == family { return true }
        return false
    }

    /// What rules wait for in the line of an event.
    func inputs(_ event: EventName, family: String, _ line: [UInt8]) -> [RuleInput] {
        var found: [RuleInput] = []
        var parsed: JSON?
        for entry in entries where entry.event.isEqual(to: event) && (entry.family ?? family) == family {
            switch entry.kind {
            case .value(let value):
                guard let start = RuleReader.start(of: value.member, in: line) else { continue }
                if line[start...].starts(with: "null".utf8) {
                    found.append(.unknown(value.name))
                } else if let number = RuleReader.number(value, in: line[start...]) {
                    found.append(.value(value.name, number))
                }
            case .happening(let row):
                let json = parsed ?? (try? JSON(parsing: line)) ?? .null
                parsed = json
                let sources = row.sources.filter { $0.event.isEqual(to: event) && $0.matches(json) }
                guard !sources.isEmpty else { continue }
                found.append(.happened(row.name, sources.compactMap { $0.detail.flatMap { json[$0]?.string } }))
            }
        }
        return found
    }

    /// Where the value of a member begins; nil: the line does not have it. The members of lists are others.
    static func start(of member: String, in line: [UInt8]) -> Int? {
        let name = Array("\"\(member)\":".utf8)
        var (at, lists, isText) = (0, 0, false)
        while at < line.count {
            switch line[at] {
            case UInt8(ascii: "\"") where !isText && lists == 0 && line[at...].starts(with: name):
                let end = at + name.count
                return end < line.count ? end : nil
            case UInt8(ascii: "\""): isText.toggle()
            case UInt8(ascii: "\\") where isText: at += 1
            case UInt8(ascii: "[") where !isText: lists += 1
            case UInt8(ascii: "]") where !isText: lists -= 1
            default: break
            }
            at += 1
        }
        return nil
    }

    /// Of a value that is a number, a word for one, or a flag: 1 or 0.
    static func number(_ value: RuleValue, in line: ArraySlice<UInt8>) -> Double? {
        if line.first == UInt8(ascii: "\"") {
            return value.words.first { line.starts(with: "\"\($0.word)\"".utf8) }?.number
        }
        let digits = line.prefix { $0 != UInt8(ascii: ",") && $0 != UInt8(ascii: "}") }
        let text = String(decoding: digits, as: UTF8.self)
        return text == "true" ? 1 : text == "false" ? 0 : Double(text)
    }
}

extension RuleSubject {
    var isDevice: Bool {
        if case .device = self { return true }
        return false
    }
}
