// SPDX-License-Identifier: MIT
// The rules of a run, the open devices that can carry actions out, and the ways to the other actions.
import CTendon
import Synchronization
import Tendon
import TendonOutputs
import TendonSupport

/// Rules are decided by the lines that outputs receive, so that the board is an output as well, and a dry run on the lines of a
/// capture decides the same.
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
        fileprivate let device: DeviceLabel
        fileprivate let queue: Queue
        /// To be called for each of `calls` that is taken.
        func took() { queue.took() }
        var calls: AsyncStream<Call> { queue.calls }
    }

    /// All of some calls are queued, or none.
    fileprivate final class Queue: Sendable {
        let calls: AsyncStream<Call>
        private let input: AsyncStream<Call>.Continuation
        private let count = Mutex(0)

        init() { (calls, input) = AsyncStream.makeStream(of: Call.self) }

        func add(_ calls: [Call]) -> Bool {
            count.withLock { count in
                guard count + calls.count <= RuleBoard.waiting else { return false }
                for call in calls {
                    guard case .enqueued = input.yield(call) else { return false }  // it has ended
                    count += 1
                }
                return true
            }
        }

        func took() { count.withLock { $0 -= 1 } }
        func finish() { input.finish() }
    }

    private struct State {
        var places: [Place] = []
        var next = 0
        var engine = RuleEngine([])
        var reader = RuleReader([])
        var programs: [String: Program] = [:]
        var events = Events.none
        var onDeadline: (@Sendable () -> Void)?
        var recenter: GatewayCommands.Recenter?
    }

    private let state = Mutex(State())
    /// Whether a rule waits for what comes as samples do: without one, a sample costs no lock.
    private let readsSamples = Atomic(false)
    private let runner = ProgramRunner()
    private static let waiting = 16

    init(_ rules: [Rule], programs: [String: Program] = [:]) { replace(rules, programs) }

    /// Comparisons of other rules begin again.
    func replace(_ rules: [Rule], _ programs: [String: Program]) {
        let reader = RuleReader(rules)
        state.withLock { state in
            (state.engine, state.reader) = (RuleEngine(rules, after: state.engine, isNamed: RuleBoard.isNamed), reader)
            state.programs = programs
        }
        readsSamples.store(reader.takes(anyOf: Events.sampled), ordering: .relaxed)
    }

    private static func isNamed(_ device: RuleDevice, _ name: String) -> Bool {
        guard let address = Address(device.address) else { return false }
        return DeviceNames.shared.address(of: name)?.matches(address) ?? false
    }

    /// Where decisions are reported.
    func report(to events: Events) { state.withLock { $0.events = events } }

    /// The programs that rules have started end, before their results can no longer be reported.
    func finishPrograms() async { await runner.finish() }

    /// How the present orientation becomes the one that looks straight ahead.
    func onRecenter(_ body: GatewayCommands.Recenter?) { state.withLock { $0.recenter = body } }

    func join(_ device: ServedDevice) -> Place {
        state.withLock { state in
            let place = Place(number: state.next, family: device.family, device: device.label, queue: Queue())
            state.next += 1
            state.places.append(place)
            return place
        }
    }

    func leave(_ place: Place) {
        state.withLock { state in state.places.removeAll { $0.number == place.number } }
        place.queue.finish()
    }

    /// Queues actions for one device, all or none. Nil: it is not connected; false: its queue has no room for them.
    func order(_ calls: [Call], of device: OutputDevice) -> Bool? {
        let place = state.withLock { state in
            state.places.first { place in
                let own = place.device.device
                return own.address == device.address && own.addressType == device.addressType
            }
        }
        return place?.queue.add(calls)
    }

    /// When a comparison has held for its time; `.max`: none does.
    var deadline: UInt64 { state.withLock { $0.engine.deadline ?? .max } }

    /// `body` is called when the deadline may have changed; from any thread.
    func onDeadline(_ body: (@Sendable () -> Void)?) { state.withLock { $0.onDeadline = body } }

    /// Comparisons that hold for a time, without a further value.
    func tick() {
        let now = tendon_monotonic_ms()
        decide { state in
            guard let deadline = state.engine.deadline, now >= deadline else { return [] }
            return state.engine.tick(now)
        }
    }

    // MARK: Decisions

    /// What decisions need, as it was when they were made: another configuration may have taken its place meanwhile.
    private struct Context {
        var programs: [String: Program]
        var events: Events
    }

    private func decide(_ body: (inout State) -> [RuleDecision]) {
        let (decisions, context, changed) = state.withLock { state in
            let before = state.engine.deadline
            let decisions = body(&state)
            return (
                decisions, Context(programs: state.programs, events: state.events),
                state.engine.deadline == before ? nil : state.onDeadline
            )
        }
        for decision in decisions { carryOut(decision, context) }
        changed?()
    }

    private func carryOut(_ decision: RuleDecision, _ context: Context) {
        let label = DeviceLabel(decision.device)
        var started = 0, missed = 0
        for (step, text) in decision.rule.steps {
            switch step {
            case .device(let subject, let calls):
                let counts = queue(subject, calls, text)
                started += counts.started
                missed += counts.missed
            case .publish(let name, let value):
                context.events.event("publish", label, ["topic": .string(name), "value": .string(value)])
            case .execute(let name):
                if let program = context.programs[name] { execute(name, program, decision, label, context.events) }
            case .recenter(let name):
                let count = recenter(name, decision.device)
                if count > 0 { started += count } else { missed += 1 }
            }
        }
        context.events.event(
            "rule", label,
            ["rule": .string(decision.rule.text), "devices": JSON(started), "missed": JSON(missed)])
    }

    private func queue(
        _ subject: RuleSubject, _ calls: [String: any RuleCall], _ text: String
    ) -> (started: Int, missed: Int) {
        let places = state.withLock { state in
            state.places.filter { subject.matches(family: $0.family, name: $0.device.name) }
        }
        var started = 0, missed = 0
        for place in places {
            guard let call = calls[place.family] else {
                missed += 1
                continue
            }
            if place.queue.add([Call(text: text, call: call)]) { started += 1 } else { missed += 1 }
        }
        return (started, missed)
    }

    private func recenter(_ name: String?, _ origin: RuleDevice) -> Int {
        let (recenter, places) = state.withLock { ($0.recenter, $0.places) }
        guard let recenter else { return 0 }
        if let name {
            return places.map(\.device.device).filter { $0.name == name }.reduce(0) { $0 + recenter($1) }
        }
        let own = DeviceLabel(origin).map { recenter($0.device) } ?? 0
        return own > 0 ? own : recenter(nil)
    }

    private func execute(
        _ name: String, _ program: Program, _ decision: RuleDecision, _ label: DeviceLabel?, _ events: Events
    ) {
        let variables = [
            "TENDON_RULE": decision.rule.text, "TENDON_FAMILY": decision.device.family,
            "TENDON_ADDRESS": label?.address.description ?? "", "TENDON_NAME": decision.device.name ?? "",
            "TENDON_VALUE": decision.value.map(plain) ?? "",
        ]
        runner.run(program, variables) { result in
            events.event(
                result.failure == nil ? "executed" : "execution_failed", label,
                (["program": .string(name), "duration_ms": JSON(result.milliseconds)] as JSON)
                    .merging(result.failure.map { ["text": .string($0)] } ?? [:]))
        }
    }
}

extension RuleBoard: EventOutput {
    var takesSamples: Bool { readsSamples.load(ordering: .relaxed) }

    func takes(_ event: EventName, of device: OutputDevice?) -> Bool {
        state.withLock { $0.reader.takes(event, family: device?.family) }
    }

    func event(_ event: EventName, of device: OutputDevice?, _ compose: (inout LineWriter) -> Void) {
        guard let device else { return }
        var writer = LineWriter()
        compose(&writer)
        let now = tendon_monotonic_ms()
        let own = RuleDevice(device)
        decide { state in
            state.engine.take(state.reader.inputs(event, family: device.family, writer.bytes), of: own, at: now)
        }
    }
}

extension RuleDevice {
    init(_ device: OutputDevice) {
        self.init(
            family: device.family, address: "\(device.address)/\(device.addressType)", name: device.name)
    }
}

extension DeviceLabel {
    /// Nil: what stands there is no address.
    convenience init?(_ device: RuleDevice) {
        let parts = device.address.split(separator: "/", omittingEmptySubsequences: false).map(String.init)
        guard parts.count == 2, let address = Address(parts[0]), let type = Address.AddressType(named: parts[1]) else {
            return nil
        }
        self.init(device.family, Address(address.value, type: type), name: device.name)
    }
}
