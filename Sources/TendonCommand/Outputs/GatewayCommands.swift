// SPDX-License-Identifier: MIT
// What comes from outside through an output: actions of devices, from the same table as those of rules, and requests to
// the gateway. Programs cannot be started from here: an action of a family is all that a command can name.
import CTendon
import Synchronization
import Tendon
import TendonOutputs
import TendonSupport

final class GatewayCommands: CommandHandler {
    private struct Seen {
        var family: String
        var name: String?
        var rssi: Int?
        var time: UInt64
    }

    private struct State {
        var centrals: [Central] = []
        var pairing: PairingPolicy
        var seen: [Address: Seen] = [:]
        var links: [Address: Int] = [:]
        var disconnect: (@Sendable (Address) -> Void)?
        var forget: Forget?
        var recenter: Recenter?
    }

    /// Returns how many devices have an orientation; nil: of all devices.
    typealias Recenter = @Sendable (OutputDevice?) -> Int

    /// Returns whether there was a bond.
    typealias Forget = @Sendable (Address) async throws(CommandError) -> Bool

    private let rules: RuleBoard
    private let turns: Turns
    private let state: Mutex<State>
    /// Devices that `scan` reports at most; the one that was received longest ago is forgotten.
    private static let seenLimit = 256

    /// - Parameter pairing: who may pair until a request changes it. A reload does not: its window has begun with the run.
    init(_ rules: RuleBoard, pairing: PairingPolicy = PairingPolicy(), turns: Turns = Turns()) {
        (self.rules, self.turns) = (rules, turns)
        state = Mutex(State(pairing: pairing))
    }

    /// A radio that requests use, until it is lost; who may pair now may pair over it.
    func use(_ central: Central) async {
        state.withLock { $0.centrals.append(central) }
        await applyPairing(to: central)
    }

    func leave(_ central: Central) { state.withLock { $0.centrals.removeAll { $0 === central } } }

    /// The radios are closed.
    func leaveAll() { state.withLock { $0.centrals = [] } }

    /// A request at the same time applies the same: what is newest.
    private func applyPairing(to central: Central) async {
        await central.core.loop.run { [self] in state.withLock { $0.pairing }.apply(to: central.core) }
    }

    /// How a device is disconnected that another gateway takes.
    func onDisconnect(_ body: (@Sendable (Address) -> Void)?) { state.withLock { $0.disconnect = body } }

    /// How a device is forgotten.
    func onForget(_ body: Forget?) { state.withLock { $0.forget = body } }

    /// How the present orientation becomes the one that looks straight ahead.
    func onRecenter(_ body: Recenter?) { state.withLock { $0.recenter = body } }

    func disconnect(_ address: String, _ addressType: String) async {
        let (seen, disconnect) = state.withLock { ($0.seen.keys, $0.disconnect) }
        let device = seen.first { $0.description == address && $0.typeName == addressType }
        if let device { disconnect?(device) }
    }

    /// A device of a known family was received.
    func saw(_ address: Address, _ family: String, _ name: String?, _ rssi: Int?) {
        state.withLock { state in
            if state.seen[address] == nil, state.seen.count >= GatewayCommands.seenLimit,
                let oldest = state.seen.min(by: { $0.value.time < $1.value.time })
            {
                state.seen[oldest.key] = nil
            }
            state.seen[address] = Seen(family: family, name: name, rssi: rssi, time: tendon_monotonic_ms())
        }
    }

    /// A device that is connected advertises all the same.
    func hear(_ address: Address, rssi: Int) {
        state.withLock { state in
            state.seen[address]?.rssi = rssi
            state.seen[address]?.time = tendon_monotonic_ms()
        }
    }

    /// dBm of the connections, in place of those before.
    func hear(_ signals: [Address: Int]) { state.withLock { $0.links = signals } }

    /// dBm by device: of its connection, or of its newest advertisement.
    func signals() -> [Address: Int] {
        state.withLock { $0.seen.compactMapValues(\.rssi).merging($0.links) { _, connection in connection } }
    }

    /// What means something else in a rule or a topic. A name that has blanks is in topics alone, where it may.
    func refusal(ofName name: String) -> String? {
        do throws(CommandError) {
            try DeviceNames.checkMeaning(of: name)
            return nil
        } catch {
            return error.message
        }
    }

    func start(_ work: @escaping @Sendable () async -> Void) {
        Task(executorPreference: LoopPreference.shared, operation: work)
    }

    // MARK: Actions

    func set(_ actions: JSON, of device: OutputDevice) async -> CommandResult {
        guard !actions.all.isEmpty else { return .failed("no action") }
        do throws(CommandError) {
            if actions.all.map(\.key) == [GatewayCommands.recenter] {
                return .done(["devices": JSON(try recenter(device))])
            }
            // All are checked before the first is carried out.
            var calls: [RuleBoard.Call] = []
            for action in actions.all { calls.append(try GatewayCommands.call(action, device.family)) }
            guard let areQueued = rules.order(calls, of: device) else {
                return .failed("the device is not connected")
            }
            guard areQueued else {
                return .failed("too many actions wait for the device; none of these is carried out")
            }
            return .done(["actions": JSON(calls.map { JSON.string($0.text) })])
        } catch {
            return .failed(error.message)
        }
    }

    func takesArguments(_ action: String, _ family: String) -> Bool {
        guard action != GatewayCommands.recenter else { return false }
        return Family.named(family)?.stream.actions.first { $0.name == action }?.arguments.isEmpty != true
    }

    static func call(_ action: JSON.Member, _ family: String) throws(CommandError) -> RuleBoard.Call {
        try call(action, family, Family.named(family)?.stream.actions ?? [])
    }

    static func call(
        _ action: JSON.Member, _ family: String, _ known: [RuleAction]
    ) throws(CommandError) -> RuleBoard.Call {
        guard let row = known.first(where: { $0.name == action.key }) else {
            throw .unknown("action of \(family)", sanitized(action.key), among: known.map(\.name))
        }
        let words = try words(action.value, row.takesOne)
        let text = (["\(family).\(row.name)"] + words.map(\.actionWord)).joined(separator: " ")
        return RuleBoard.Call(text: sanitized(text), call: try row.parse(words))
    }

    /// The arguments: a number is one, a list has more; null and true mean none. A text is split at white space, unless the
    /// action takes one argument, or it is in a list.
    private static func words(_ value: JSON, _ isOne: Bool) throws(CommandError) -> [String] {
        switch value {
        case .null, .bool(true): return []
        case .string(let text): return isOne ? [text] : text.split(whereSeparator: \.isWhitespace).map(String.init)
        case .integer(let number): return ["\(number)"]
        case .real(let number): return [Int(exactly: number).map { "\($0)" } ?? "\(number)"]
        case .array(let values):
            var all: [String] = []
            for value in values {
                if case .array = value { throw .usage("a list in a list") }
                all += try words(value, true)
            }
            return all
        case .bool(false), .object: throw .usage("arguments are a text, a number, a list of these, true, or null")
        }
    }

    // MARK: Requests

    static let requests = ["forget", "health", "pair", "recenter", "rename", "restart", "scan"]
    /// Of those that take some.
    private static let members = [
        "scan": ["seconds"], "pair": ["seconds"], "forget": ["device", "address", "address_type"],
        "recenter": ["device", "address", "address_type"], "restart": [],
    ]
    /// An action of each device whose orientation is sent, and a request about all of them.
    static let recenter = "recenter"

    func request(_ name: String, _ data: JSON) async -> CommandResult {
        do throws(CommandError) {
            if let known = GatewayCommands.members[name], let other = data.all.first(where: { !known.contains($0.key) })
            {
                guard !known.isEmpty else { throw .usage("\(name) takes no members, so not '\(sanitized(other.key))'") }
                throw .unknown("member of \(name)", sanitized(other.key), among: known)
            }
            switch name {
            case "scan": return .done(try seen(data["seconds"]))
            case "pair": return .done(try await pair(data["seconds"]))
            case "forget": return .done(try await forget(data))
            case GatewayCommands.recenter: return .done(["devices": JSON(try recenterNamed(data))])
            case "restart": return .done(try restart())
            default: throw .unknown("request", sanitized(name), among: GatewayCommands.requests)
            }
        } catch {
            return .failed(error.message)
        }
    }

    /// The gateway always scans: this is what it received in the last seconds.
    private func seen(_ seconds: JSON?) throws(CommandError) -> JSON {
        let milliseconds = UInt64((try time(seconds, "scan", or: 15) * 1000).rounded())
        let now = tendon_monotonic_ms()
        let all = state.withLock { $0.seen.filter { $0.value.time + milliseconds >= now } }
        let devices = all.sorted { $0.key.description < $1.key.description }.map { (address, seen) -> JSON in
            let device: JSON = [
                "address": .string(address.description), "address_type": .string(address.typeName),
                "family": .string(seen.family),
            ]
            return device.merging(seen.name.map { ["name": .string($0)] } ?? [:])
                .merging(seen.rssi.map { ["rssi_dbm": JSON($0)] } ?? [:])
        }
        return ["devices": .array(devices)]
    }

    private var centrals: [Central] {
        get throws(CommandError) {
            let centrals = state.withLock { $0.centrals }
            guard !centrals.isEmpty else { throw CommandError(.noRadio, "the radio is not open") }
            return centrals
        }
    }

    private func time(_ seconds: JSON?, _ request: String, or standard: Double) throws(CommandError) -> Double {
        let time = seconds == nil ? standard : seconds?.number ?? -1
        guard (0...3600).contains(time) else { throw .usage("\(request) takes seconds from 0 to 3600") }
        return time
    }

    private func device(_ text: String) throws(CommandError) -> WantedAddress {
        guard WantedAddress.isMeant(by: text) else { throw CommandError(.noDevice, "no device '\(sanitized(text))'") }
        return try WantedAddress(named: text, option: "device")
    }

    /// Opens the window for pairing; 0 closes it.
    private func pair(_ seconds: JSON?) async throws(CommandError) -> JSON {
        let time = try time(seconds, "pair", or: 60)
        let centrals = state.withLock { state in
            // A radio that comes later takes it from here.
            if !state.centrals.isEmpty { state.pairing = state.pairing.with(window: time) }
            return state.centrals
        }
        guard !centrals.isEmpty else { throw CommandError(.noRadio, "the radio is not open") }
        for central in centrals { await applyPairing(to: central) }
        if time > 0 { await turns.recallAll() }
        return ["seconds": Int(exactly: time).map { JSON($0) } ?? .real(time)]
    }

    private func forget(_ data: JSON) async throws(CommandError) -> JSON {
        guard let text = data["address"]?.string ?? data["device"]?.string else {
            throw .usage(#"forget takes {"device": NAME or ADDRESS}"#)
        }
        var wanted = try device(text)
        if let name = data["address_type"]?.string {
            guard let type = Address.AddressType(named: name) else {
                throw .usage("unknown address_type '\(sanitized(name))'")
            }
            wanted = WantedAddress(Address(wanted.address.value, type: type))
        }
        _ = try centrals
        guard let forget = state.withLock({ $0.forget }) else { throw CommandError(.noRadio, "the radio is not open") }
        var wasBonded = false
        for address in wanted.addresses.map({ Address($0) }) where try await forget(address) { wasBonded = true }
        return ["address": .string(wanted.address.description), "bonded": .bool(wasBonded)]
    }

    /// `{}`: all devices; `{"device": NAME or ADDRESS}`.
    private func recenterNamed(_ data: JSON) throws(CommandError) -> Int {
        guard let text = data["address"]?.string ?? data["device"]?.string else { return try recenter(nil) }
        let wanted = try self.device(text)
        let seen = state.withLock { $0.seen }
        var count = 0, failure: CommandError?
        for address in wanted.addresses.map({ Address($0) }) where seen[address] != nil {
            let device = OutputDevice(
                family: seen[address]?.family ?? "", address: address.description, addressType: address.typeName)
            do throws(CommandError) { count += try recenter(device) } catch { failure = error }
        }
        guard count > 0 else { throw failure ?? CommandError(.failed, "the device was not received") }
        return count
    }

    /// Nil: all devices.
    private func recenter(_ device: OutputDevice?) throws(CommandError) -> Int {
        let count = state.withLock { $0.recenter }?(device) ?? 0
        guard count > 0 else {
            throw CommandError(.failed, "no orientation of the device is sent; see --osc")
        }
        return count
    }

    /// A moment later, so that the response is on its way before.
    private func restart() throws(CommandError) -> JSON {
        guard !Configuration.isOfPipe else {
            throw CommandError(.failed, "the configuration came out of a pipe, which has nothing for another start")
        }
        Task { @TendonActor in
            try? await Loop.shared.sleep(for: .milliseconds(200))
            Termination.shared.requestRestart()
        }
        return [:]
    }
}
