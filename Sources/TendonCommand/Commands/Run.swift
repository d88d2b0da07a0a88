// SPDX-License-Identifier: MIT
// run and stream: find the wearables, connect, stream every event, connect again.
import CTendon
import Tendon
import TendonSupport

/// What the options say about a stream.
struct StreamSettings: Sendable {
    var radio: RadioChoice
    var family: String?
    var address: WantedAddress?
    /// Sensor notifications after which all ends.
    var notifications: UInt64?
    var reconnects: Bool
    /// Events that wait for the consumer at most.
    var capacity: Int
    var pauseAt: Int?
    var pauseFor: Double
    var capture: String?
    var json: Bool

    init(_ arguments: Arguments) throws(CommandError) {
        radio = try arguments.radio()
        address = try arguments.address()
        notifications = try arguments.integer("--notifications", in: 1...Int.max).map(UInt64.init)
        reconnects = !arguments.has("--no-reconnect")
        capacity = try arguments.integer("--capacity", in: 1...(1 << 20)) ?? 16384
        pauseAt = try arguments.integer("--pause-consumer-at", in: 1...Int.max)
        pauseFor = try arguments.number("--pause-for", in: 0...3600) ?? 2
        capture = arguments.value("--capture")
        json = arguments.has("--json")
    }

    static let options: [Option] = [
        Option(
            name: "--rule", value: "'EVENT => ACTION'",
            help: "when EVENT happens to a device, devices of the other family do ACTION; may be given often"),
        Option(name: "--rules", value: "FILE", help: "rules, one a line"),
        Option(name: "--notifications", value: "N", help: "end after N sensor notifications"),
        Option(name: "--no-reconnect", value: nil, help: "do not connect again when a link is lost"),
        Option(
            name: "--capacity", value: "N",
            help: "samples that may wait for the output; more are dropped and counted; default 16384"),
        Option(name: "--capture", value: "FILE", help: "also write what passes over the links, as btsnoop"),
        Option(
            name: "--pause-consumer-at", value: "N", help: "stop taking samples after the Nth", hidden: true),
        Option(name: "--pause-for", value: "SECONDS", help: "for so long", hidden: true),
    ]
}

/// How a family's devices are served. One value serves all of them.
protocol FamilyStream: Sendable {
    static var options: [Option] { get }
    /// What rules may wait for, besides `opened` and `closed`, and what they may have done.
    static var happenings: [RuleEvent] { get }
    static var actions: [RuleAction] { get }
    init(_ arguments: Arguments) throws(CommandError)
    /// The session of one device; `DeviceServer.serve` drives it.
    @TendonActor func server(of device: ServedDevice) async -> any DeviceServer
}

private let familyStreamOptions: [Option] = families.flatMap { $0.stream.options }

extension Command {
    static let runAll = Command(
        "run",
        summary: "find the wearables in reach, connect, stream every event",
        details: [
            "JSON lines in a pipe, a live table on a terminal. Connects again when a link is lost, waiting longer each "
                + "time, 30 seconds at most. Ends on Ctrl-C or after --for, with counters: what came, what was given "
                + "out, what was dropped. Status 4 when no device was found.", Rule.vocabulary,
        ],
        options: StreamSettings.options + familyStreamOptions,
        examples: [
            ("tendon run", "everything in reach, as a live table"),
            ("tendon run \(Rule.example)", "a gateway that reacts"),
            ("tendon run --json --for 20 | grep '\"sample\"'", "samples of 20 seconds as JSON lines"),
            (
                "tendon run --radio virtual --sensors rotation,accelerometer --period 40",
                "other sensors of a simulated device"
            ),
        ]
    ) { (arguments: Arguments) throws(CommandError) in
        guard arguments.operands.isEmpty else {
            throw .usage("run takes no operands", next: "tendon stream \(sanitized(arguments.operands[0]))")
        }
        let runner = try Runner(try StreamSettings(arguments), arguments)
        return try await runner.run(for: try arguments.duration())
    }

    static let stream = Command(
        "stream", operands: "FAMILY",
        summary: "the same for one family: its sensors, its events",
        details: ["What run does, for one family."],
        options: StreamSettings.options + familyStreamOptions,
        examples: [
            ("tendon stream bose", "head motion, as a live table"),
            ("tendon stream bose --sensors all --gestures all --json", "everything that it has, as JSON lines"),
        ]
    ) { (arguments: Arguments) throws(CommandError) in
        guard arguments.operands.count == 1 else {
            throw .usage(
                "stream takes one family: \(familyNames().joined(separator: ", "))", next: "tendon stream bose")
        }
        var settings = try StreamSettings(arguments)
        settings.family = try familyName(arguments.operands[0])
        let runner = try Runner(settings, arguments)
        return try await runner.run(for: try arguments.duration())
    }
}

/// One run: a radio, a scan, a task for each device.
struct Runner: Sendable {
    private let settings: StreamSettings
    private let streams: [String: any FamilyStream]
    private let reporter: Reporter
    private let rules: RuleBoard
    /// Devices served at once; more are left alone.
    private static let deviceLimit = 32

    init(_ settings: StreamSettings, _ arguments: Arguments, quiet: Bool = false) throws(CommandError) {
        self.settings = settings
        var streams: [String: any FamilyStream] = [:]
        for family in families where settings.family == nil || settings.family == family.name {
            streams[family.name] = try family.stream.init(arguments)
        }
        self.streams = streams
        let rules = try Rule.all(arguments)
        for rule in rules {
            for family in [rule.family, rule.target] where streams[family] == nil {
                throw .usage("the rule '\(rule.text)': \(family) is not streamed here", next: "tendon run")
            }
        }
        self.rules = RuleBoard(rules)
        reporter = quiet ? Reporter(mode: .quiet) : Reporter(json: settings.json)
    }

    func run(for milliseconds: UInt64?) async throws(CommandError) -> ExitStatus {
        let ticker = Task {
            while !Task.isCancelled {
                try await Task.sleep(for: .milliseconds(500))
                reporter.tick()
            }
        }
        defer { ticker.cancel() }
        do {
            try await Stop.task(for: milliseconds) { () throws(CommandError) in
                try await translating { () throws(TendonError) in try await serveAll() }
            }
        } catch {
            reporter.finish()
            throw error
        }
        reporter.finish()
        let rows = reporter.rows
        if rows.isEmpty { throw CommandError(.noDevice, "no device was found", next: "tendon scan; tendon doctor") }
        return rows.contains { $0.wasOpened } ? .done : .failed
    }

    private func serveAll() async throws(TendonError) {
        let central = try await Central(radio: settings.radio)
        var capture: LinkCapture?
        if let path = settings.capture { capture = try await LinkCapture.start(path, on: central) }
        let tap = capture
        let failure = await withTaskGroup(of: Void.self, returning: TendonError?.self) { group in
            do throws(TendonError) {
                try await scan(central, tap) { family, address in
                    guard let stream = streams[family] else { return }
                    let device = ServedDevice(
                        family: family, address: address, central: central, settings: settings, reporter: reporter,
                        rules: rules)
                    group.addTask { await stream.server(of: device).serve() }
                }
            } catch {
                group.cancelAll()
                return error
            }
            return nil
        }
        await capture?.stop()
        await central.close()
        if let failure { throw failure }
    }

    /// Calls `found` for each device once, until it is cancelled or the one that was asked for is there.
    private func scan(
        _ central: Central, _ capture: LinkCapture?, _ found: (String, Address) -> Void
    ) async throws(TendonError) {
        var served: Set<Address> = []
        var names: [Address: String] = [:]
        let advertisements = try await central.scan()
        for try await advertisement in advertisements {
            let address = advertisement.address
            await capture?.write(advertisement)
            if names[address] == nil, names.count < 4096, let name = advertisement.localName.map(sanitized),
                !name.isEmpty
            {
                names[address] = name
                if served.contains(address) { reporter.rename(address.description, name) }
            }
            guard !served.contains(address), served.count < Runner.deviceLimit,
                let family = familyName(advertising: advertisement.data), streams[family] != nil,
                settings.address?.matches(address) ?? true
            else { continue }
            served.insert(address)
            reporter.update(address.description, family: family) { $0.name = names[address] ?? "" }
            reporter.event([
                "event": "found", "family": .string(family), "address": .string(address.description),
                "rssi": advertisement.rssi.map { JSON($0) } ?? .null,
            ])
            found(family, address)
            // Scanning costs air time.
            if settings.address != nil, names[address] != nil { return }
        }
    }
}
