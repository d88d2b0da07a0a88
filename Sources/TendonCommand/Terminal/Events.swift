// SPDX-License-Identifier: MIT
// Events: lines of JSON by the schema of docs/events.md, or the same as text for people.
import CTendon
import Synchronization
import Tendon
import TendonOutputs
import TendonSupport

/// A device as the lines about it name it: family, address with its type, name where one is given.
final class DeviceLabel: Sendable {
    let family: String?
    let address: Address
    private struct State {
        var members: [UInt8]
        var device: OutputDevice

        init(_ family: String?, _ address: Address, _ advertised: String?) {
            let given = DeviceNames.shared.name(of: address)
            let name = given ?? advertised
            members = DeviceLabel.members(family, address, name)
            device = OutputDevice(
                family: family ?? "", address: address.description, addressType: address.typeName, name: name,
                isNamed: given != nil)
        }
    }
    private let state: Mutex<State>

    /// The name that the configuration gives to the device, else `name`.
    init(_ family: String?, _ address: Address, name: String? = nil) {
        self.family = family
        self.address = address
        state = Mutex(State(family, address, name))
    }

    /// The members of each line, ready to be copied.
    var members: [UInt8] { state.withLock { $0.members } }

    /// As outputs name it.
    var device: OutputDevice { state.withLock { $0.device } }

    var name: String? {
        get { state.withLock { $0.device.name } }
        set {
            let new = State(family, address, newValue)
            state.withLock { $0 = new }
        }
    }

    /// Takes the name that the configuration gives now, else `advertised`. True: outputs name the device differently.
    func rename(_ advertised: String?) -> Bool {
        let new = State(family, address, advertised)
        return state.withLock { state in
            defer { state = new }
            return state.device != new.device
        }
    }

    /// The members of each line as a value.
    var json: JSON {
        var all: JSON = ["address": .string(address.description), "address_type": .string(address.typeName)]
        if let name { all["name"] = .string(name) }
        return all
    }

    private static func members(_ family: String?, _ address: Address, _ name: String?) -> [UInt8] {
        var writer = LineWriter()
        var members: JSON = ["address": .string(address.description), "address_type": .string(address.typeName)]
        if let name, !name.isEmpty { members["name"] = .string(name) }
        if let family { members = .object([JSON.Member(key: "family", value: .string(family))] + members.all) }
        writer.write(members)
        return [UInt8(ascii: ",")] + writer.bytes.dropFirst().dropLast()
    }
}

extension DeviceLabel: SampleSource {}

/// Hands events to the outputs; on standard output they are lines of JSON, text for people, or nothing.
struct Events: Sendable {
    enum Style: Sendable {
        case json
        case text
        case none
    }

    let style: Style
    private let outputs: [any EventOutput]
    /// Of these, JSON on standard output, and the others than standard output.
    private let lines: JSONLines?
    private let others: [any EventOutput]
    /// Of the others those that want numbers.
    private let numeric: [any EventOutput]

    static let none = Events(style: .none)

    /// People see a picture that is drawn again in its place, not a line for each event.
    var draws: Bool { style == .text && Output.standard.isDrawable }

    /// JSON when it is requested, and when standard output is no terminal.
    init(json: Bool, waits: Bool = false) {
        self.init(style: json || !Output.standard.isTerminal ? .json : .text, waits: waits)
    }

    /// - Parameters:
    ///   - waits: lines wait for the reader instead of being dropped. Not for what runs on the loop.
    ///   - sampleLimit: number of lines that may wait when a sample is added.
    init(style: Style, waits: Bool = false, sampleLimit: Int = .max, others: [any EventOutput] = []) {
        self.style = style
        self.others = others
        numeric = others.filter(\.takesNumbers)
        guard style != .none, let output = Output.standard.lines else {
            lines = nil
            outputs = others
            return
        }
        lines = style == .json ? JSONLines(output, waits: waits, sampleLimit: sampleLimit) : nil
        outputs = [lines ?? TextLines(output: output, waits: waits)] + others
    }

    /// One event. Never blocks; a line that finds a buffer full is dropped and counted.
    /// - Parameter numbers: of a sample, what outputs were given before; nil: nothing.
    func event(
        _ name: EventName, _ device: DeviceLabel? = nil, at microseconds: UInt64? = nil, numbers: OutputSample? = nil,
        _ body: (inout LineWriter) -> Void = { _ in }
    ) {
        guard !outputs.isEmpty else { return }
        let described = device?.device
        // The same time in each output.
        let time = outputs.count == 1 ? microseconds : microseconds ?? tendon_realtime_us()
        for output in outputs
        where output.takes(name, of: described) || numbers.map(output.takesLine(of:)) ?? false {
            output.event(name, of: described) { Events.compose(&$0, name, device, time, body) }
        }
    }

    /// Events that can come many times per second: they are reported with `sample`.
    static let sampled: [EventName] = ["sample", "grip"]

    /// For outputs that want numbers. Returns what they were given; nil: nothing.
    @discardableResult
    func numbers(_ device: DeviceLabel, capturedAt time: UInt64? = nil, _ make: () -> OutputSample?) -> OutputSample? {
        guard !numeric.isEmpty, var sample = make() else { return nil }
        sample.capturedAt = time
        for output in numeric { output.sample(sample, of: device) }
        return sample
    }

    /// A sample. Never blocks. False: standard output has no room for it.
    /// - Parameter numbers: made only if an output wants them; nil: the sample has none.
    func sample(
        _ name: EventName, _ device: DeviceLabel, numbers: () -> OutputSample?, _ body: (inout LineWriter) -> Void
    ) -> Bool {
        // Before any line is composed: what is sent there is about a movement that goes on.
        let numbers = self.numbers(device, numbers)
        guard lines != nil || others.contains(where: \.takesSamples) else { return true }
        let time = tendon_realtime_us()
        let isDelivered = lines?.sample { Events.compose(&$0, name, device, time, body) } ?? true
        var described: OutputDevice?
        for output in others where output.takesSamples {
            let known = described ?? device.device
            described = known
            guard output.takes(name, of: known) || numbers.map(output.takesLine(of:)) ?? false else { continue }
            output.event(name, of: known) { Events.compose(&$0, name, device, time, body) }
        }
        return isDelivered
    }

    /// What becomes of a device; not a line.
    func device(_ label: DeviceLabel, is presence: Presence) {
        for output in outputs { output.device(label.device, is: presence) }
    }

    /// How many radios are open, and a sentence about each that is waited for; not a line.
    func radios(open: Int, waiting: [String]) {
        for output in outputs { output.radios(open: open, waiting: waiting) }
    }

    /// Of all outputs that write files; nil: none does.
    func missingRows() async -> UInt64? {
        var rows: UInt64?
        for output in others { if let more = await output.missingRows() { rows = (rows ?? 0) + more } }
        return rows
    }

    /// After the end.
    var haveLost: Bool { others.contains(where: \.hasLost) }

    /// Ends the other outputs; standard output is ended by the program.
    func ending() {
        for output in outputs { output.ending() }
    }

    func finish() async {
        for output in outputs { await output.finish() }
    }

    private static func compose(
        _ writer: inout LineWriter, _ name: EventName, _ device: DeviceLabel?, _ microseconds: UInt64?,
        _ body: (inout LineWriter) -> Void
    ) {
        writer.begin(name, at: microseconds)
        if let device { writer.prepared(device.members) }
        body(&writer)
        writer.end()
    }

    func event(_ name: EventName, _ device: DeviceLabel? = nil, at microseconds: UInt64? = nil, _ members: JSON) {
        event(name, device, at: microseconds) { $0.members(members) }
    }

    /// The result of a command: as an event, or in the words of the command.
    func result(_ name: EventName, _ device: DeviceLabel?, _ members: JSON, text: @autoclosure () -> String) {
        switch style {
        case .json: event(name, device, members)
        case .text: Output.standard.write(text())
        case .none: break
        }
    }
}

// MARK: - Why a connection ended

/// How a connection ended, in a word and a sentence.
struct Ending: Sendable {
    var reason: tendon_ending
    var text: String
    /// The status behind it; nil: none, or not known.
    var cause: TendonError?

    static let requested = Ending(TENDON_ENDING_REQUESTED)
    static let lost = Ending(TENDON_ENDING_CONNECTION_LOST)

    /// Without a text: the one of the reason.
    init(_ reason: tendon_ending, text: String? = nil) {
        self.reason = reason
        self.text = text ?? TendonSupport.text(tendon_ending_text(reason))
    }

    /// With the radio's reason, if the family's is only that the connection was lost.
    func with(_ cause: TendonError?) -> Ending {
        guard let cause, self.cause == nil else { return self }
        var ending = self
        ending.cause = cause
        if reason == TENDON_ENDING_CONNECTION_LOST { ending.reason = tendon_ending_of(cause.status) }
        if !text.contains(cause.name) { ending.text += ": " + cause.cause }
        return ending
    }

    var members: JSON {
        let members: JSON = ["reason": .string(TendonSupport.text(tendon_ending_name(reason))), "text": .string(text)]
        return members.merging(cause?.members ?? [:])
    }
}

/// The lines about one value of a capture.
struct ReplayLines {
    let events: Events
    let family: String
    /// Nil: bytes of the command line.
    var device: DeviceLabel?
    /// Microseconds since 1970; nil: now.
    var time: UInt64?

    func event(_ name: EventName, numbers: OutputSample? = nil, _ body: (inout LineWriter) -> Void = { _ in }) {
        events.event(name, device, at: time, numbers: numbers) { line in
            if device == nil { line.member("family", family) }
            body(&line)
        }
    }

    func event(_ name: EventName, _ members: JSON) {
        event(name) { $0.members(members) }
    }

    /// A value with numbers.
    func sample(
        _ name: EventName = "sample", numbers: () -> OutputSample?, _ body: (inout LineWriter) -> Void
    ) {
        if let device { events.numbers(device, capturedAt: time, numbers) }
        event(name, body)
    }
}
