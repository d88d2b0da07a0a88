// SPDX-License-Identifier: MIT
// run and stream: find the wearables, connect, stream every event, connect again.
import CTendon
import Tendon
import TendonSupport

/// The stream options.
struct StreamSettings: Sendable {
    /// At least one.
    var radios: [RadioChoice]
    var address: WantedAddress?
    var served: ServedFamilies
    /// Sensor notifications after which all ends.
    var notifications: UInt64?
    var reconnects: Bool
    /// A run waits for adapters that are missing; a command that does one thing fails.
    var waitsForAdapters: Bool { reconnects && capture == nil }
    var gattCache: GATTCacheStorage
    /// Devices that advertise on LE Coded are searched for and connected to.
    var includesCodedPHY: Bool
    /// Nil: the kernel's.
    var connection: ConnectionParameters?
    /// Lines that wait for the reader at most; a sample that finds more is dropped.
    var capacity: Int
    var capture: CaptureFile?
    var json: Bool
    var compact: Bool
    /// Lines of JSON, or the table, on standard output.
    var printsLines: Bool
    var logLevel: LogLevel
    var pairing: PairingPolicy
    var pairingChoice: PairingChoice

    /// - Parameter choice: of a command that pairs one device; nil: without a user.
    /// - Parameter file: of a command that captures by itself.
    init(
        _ arguments: Arguments, pairing choice: PairingChoice? = nil, capture file: CaptureFile? = nil
    ) throws(CommandError) {
        radios = try arguments.radios()
        address = try arguments.address()
        served = try ServedFamilies(arguments)
        notifications = try arguments.integer(Self.notifications).map(UInt64.init)
        reconnects = !arguments.has("--no-reconnect")
        gattCache = arguments.gattCache()
        includesCodedPHY = arguments.has(Option.coded.name)
        try Option.coded.check(arguments, on: radios)
        connection = arguments.value(Self.connection.name).flatMap(ConnectionParameters.init)
        capacity = try arguments.integer(Self.queueSize) ?? 1
        capture = file ?? arguments.value("--capture").map { .named($0) }
        // Handles of connections are numbers of one adapter.
        guard radios.count == 1 || capture == nil else {
            throw file != nil
                ? .usage("a capture is of one adapter", next: "--adapter hci0")
                : .usage("--capture is for one adapter", next: "tendon capture --radio bluez --adapter hci0 FILE")
        }
        json = arguments.has("--json")
        compact = !arguments.has("--exact")
        printsLines = !arguments.has(Self.noLines.name)
        logLevel = arguments.value(Log.option).flatMap(LogLevel.named) ?? .warning
        pairing = try PairingPolicy(arguments)
        if let choice {
            pairingChoice = choice
        } else {
            pairingChoice = try PairingChoice(arguments, asks: false)
        }
    }

    private static let notifications = Option(
        name: "--notifications", value: "N", help: "end after N sensor notifications", takes: .integer(1...Int.max),
        setting: Setting("gateway", isFixed: true))
    private static let queueSize = Option(
        name: "--queue-size", value: "N",
        help: "maximum number of lines buffered for standard output; further samples are dropped and counted",
        standard: "16384", takes: .integer(1...(1 << 20)), setting: Setting("output", isFixed: true))

    private static let connection = Option(
        name: "--connection", value: "PARAMETERS",
        help: "request these connection parameters: fast, balanced, low-power, or MIN-MAX[,LATENCY[,TIMEOUT]] in ms; "
            + "then [,phy=PHY][,length=BYTES][,links=N], PHY: 1m, 2m or coded; N: connections that share the adapter",
        takes: .parsed { (text) throws(CommandError) in
            guard ConnectionParameters(text) == nil else { return }
            throw CommandError(
                .usage,
                "'\(sanitized(text))' are no connection parameters: fast, balanced, low-power, or "
                    + "MIN-MAX[,LATENCY[,TIMEOUT]] in ms", next: "--connection fast; --connection 15-30,0,4000")
        },
        setting: Setting("gateway", isFixed: true))

    private static let noLines = Option(
        name: "--no-lines", value: nil, help: "print neither JSON lines nor the table on standard output",
        setting: Setting("output", key: "lines", isInverted: true, isFixed: true))

    static let options = ServedFamilies.options + further
    static let optionsOfOneFamily = ServedFamilies.optionsOfOne + further

    private static let further: [Option] =
        [
            Option(
                name: "--rule", value: "'EVENT => ACTION'",
                help: "when EVENT happens or a value passes a limit, execute actions: see docs/rules.md",
                takes: .parsedWithNames { (text) throws(CommandError) in _ = try Rule(text) },
                setting: Setting("rules", isRepeated: true)),
            Option(
                name: "--rules", value: "FILE", help: "read rules from a file, one per line",
                setting: Setting("rules", key: "file", isRepeated: true)),
            notifications,
            Option(
                name: "--no-reconnect", value: nil, help: "do not reconnect when a connection is lost",
                setting: Setting("gateway", key: "reconnect", isInverted: true, isFixed: true)),
            .gattCache(
                help:
                    "keep the attribute handles of devices that have a Database Hash, in this directory; --gatt-cache "
                    + "alone: in $XDG_STATE_HOME/tendon/gatt", setting: Setting("gateway", isFixed: true)),
            .coded,
            .adapterUse(
                ["shared", "sole"],
                help: "sole: only if no other program uses the adapter, bluetoothd among them; shared: beside them"),
            connection, queueSize, .exact, noLines, Log.option,
            Option(
                name: "--capture", value: "FILE",
                help: "also write the traffic of the connections to a btsnoop file; an existing file is replaced",
                takes: .file, setting: Setting("output", isFixed: true)),
        ] + PairingPolicy.options + PairingChoice.options + OutputChoice.options
}

/// Families that are taken and left.
struct ServedFamilies: Sendable {
    private let names: Set<String>
    /// Devices without a section in the configuration are left alone.
    let knownOnly: Bool

    private static let words = TendonCommand.familyNames() + ["all", "none"]
    private static let list = Option.words { (word) throws(CommandError) in
        if word != "all", word != "none" { _ = try familyName(word) }
    }
    private static let taken = Option(
        name: "--families", value: "LIST", help: "serve these families, separated by commas",
        choices: words, isList: true, standard: "all", takes: list, setting: Setting("gateway", isFixed: true))
    private static let ignored = Option(
        name: "--ignore", value: "LIST", help: "leave these families alone, separated by commas",
        choices: words, isList: true, standard: "none", takes: list, setting: Setting("gateway", isFixed: true))
    private static let known = Option(
        name: "--known-only", value: nil, help: "leave devices alone that have no section in the configuration",
        setting: Setting("gateway"))
    static let options = [taken, ignored, known]
    /// Of a command whose operand is the family.
    static let optionsOfOne = [known]

    init(_ arguments: Arguments) throws(CommandError) {
        let taken = try ServedFamilies.names(arguments.value(ServedFamilies.taken))
        names = taken.subtracting(try ServedFamilies.names(arguments.value(ServedFamilies.ignored)))
        let options = [ServedFamilies.taken, ServedFamilies.ignored].map(\.name)
        if names.isEmpty, !taken.isEmpty, options.allSatisfy(arguments.has) {
            throw .usage("\(options[1]) leaves none of the families that \(options[0]) takes")
        }
        knownOnly = arguments.has(ServedFamilies.known.name)
    }

    func contains(_ family: String) -> Bool { names.contains(family) }

    private static func names(_ list: String?) throws(CommandError) -> Set<String> {
        var names: Set<String> = []
        for word in listWords(list ?? "") {
            switch word {
            case "none": break
            case "all": names.formUnion(TendonCommand.families.map(\.name))
            case let name: names.insert(try familyName(name))
            }
        }
        return names
    }
}

/// Makes the sessions of a family's devices. One value serves all of them.
protocol ServerSource: Sendable {
    /// The session of one device; `DeviceServer.serve` drives it.
    @TendonActor func server(of device: ServedDevice) async -> any DeviceServer
}

/// How a family's devices are served.
protocol FamilyStream: ServerSource {
    static var options: [Option] { get }
    /// What rules may wait for, in addition to `connected` and `disconnected`, and what they may have done.
    static var happenings: [RuleEvent] { get }
    static var actions: [RuleAction] { get }
    /// What rules may compare with numbers.
    static var values: [RuleValue] { get }
    init(_ arguments: Arguments) throws(CommandError)
    /// What the user can do if a device did not connect because of this. A device that rejects pairing is not bonded.
    static func advice(on cause: TendonError) -> String?
}

extension FamilyStream {
    static func advice(on cause: TendonError) -> String? { nil }
    static var values: [RuleValue] { [] }
}

/// The same as values: those of a family that a file defines are not known to the compiler.
struct StreamForm: Sendable {
    var options: [Option] = []
    var happenings: [RuleEvent] = []
    var actions: [RuleAction] = []
    var values: [RuleValue] = []
    var advice: @Sendable (TendonError) -> String? = { _ in nil }
    let make: @Sendable (Arguments) throws(CommandError) -> any ServerSource
}

extension StreamForm {
    init<Stream: FamilyStream>(_ type: Stream.Type) {
        self.init(
            options: type.options, happenings: type.happenings, actions: type.actions, values: type.values,
            advice: { Stream.advice(on: $0) }, make: { (arguments) throws(CommandError) in try Stream(arguments) })
    }
}

extension StreamSettings {
    /// Of all families.
    static var familyOptions: [Option] {
        families.flatMap { family in
            family.stream.options.map { option in
                var option = option
                option.families = [family.name]
                option.setting = option.setting ?? Setting("family \(family.name)", isPerDevice: true)
                return option
            }
        }
    }
}

extension Command {
    static let runAll = Command(
        "run",
        summary: "find the wearables in range, connect, stream every event",
        details: [
            "JSON lines in a pipe, a live table on a terminal. Reconnects when a connection is lost, with increasing "
                + "pauses: see 'reconnect' in docs/configuration.md. Ends on Ctrl-C or after --for, and prints counters of received, printed "
                + "and dropped events. Exits with status 4 if no device was found.", Rule.vocabulary,
        ],
        options: StreamSettings.options + StreamSettings.familyOptions,
        examples: [
            ("tendon run", "show all devices in range as a live table"),
            ("tendon run \(Rule.example)", "react to events of one device with another device"),
            ("tendon run --json --for 20 | grep '\"sample\"'", "print the samples of 20 seconds as JSON lines"),
            (
                "tendon run --radio virtual --sensors rotation,accelerometer --period 40",
                "select the sensors of a simulated device"
            ),
        ]
    ) { (arguments: Arguments) throws(CommandError) in
        guard arguments.operands.isEmpty else {
            let isFamily = (try? familyName(arguments.operands[0])) != nil
            throw .usage(
                "run takes no operands, such as '\(sanitized(arguments.operands[0]))'",
                next: isFamily ? "tendon stream \(sanitized(arguments.operands[0]))" : "tendon run --help")
        }
        return try await Gateway.run(arguments, family: nil)
    }

    static let stream = Command(
        "stream", operands: "FAMILY",
        summary: "stream sensor data and events from one device family (like run, for one family)",
        details: ["Does the same as run, but connects only to devices of the family."],
        options: StreamSettings.optionsOfOneFamily + StreamSettings.familyOptions,
        examples: [
            ("tendon stream bose", "show head motion as a live table"),
            ("tendon stream bose --sensors all --gestures all --json", "print all sensors and gestures as JSON lines"),
        ]
    ) { (arguments: Arguments) throws(CommandError) in
        guard arguments.operands.count == 1 else {
            throw .usage(
                "stream takes one family: \(familyNames().joined(separator: ", "))", next: "tendon stream bose")
        }
        let family = try familyName(arguments.operands[0])
        try arguments.refuseOptions(notOf: [family], in: StreamSettings.familyOptions)
        return try await Gateway.run(arguments, family: family)
    }
}
