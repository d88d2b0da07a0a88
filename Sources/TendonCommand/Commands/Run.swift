// SPDX-License-Identifier: MIT
// run and stream: find the wearables, connect, stream every event, connect again.
import CTendon
import Tendon
import TendonSupport

/// The stream options.
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
    var compact: Bool
    var pairing: PairingPolicy

    init(_ arguments: Arguments) throws(CommandError) {
        radio = try arguments.radio()
        address = try arguments.address()
        notifications = try arguments.integer("--notifications", in: 1...Int.max).map(UInt64.init)
        reconnects = !arguments.has("--no-reconnect")
        capacity = try arguments.integer("--queue-size", in: 1...(1 << 20)) ?? 16384
        pauseAt = try arguments.integer("--pause-consumer-at", in: 1...Int.max)
        pauseFor = try arguments.number("--pause-for", in: 0...3600) ?? 2
        capture = arguments.value("--capture")
        json = arguments.has("--json")
        compact = arguments.has("--compact")
        pairing = try PairingPolicy(arguments)
    }

    static let options: [Option] =
        [
            Option(
                name: "--rule", value: "'EVENT => ACTION'",
                help:
                    "when EVENT happens, execute ACTION on the devices of the family that it names; may be given several times"
            ),
            Option(name: "--rules", value: "FILE", help: "read rules from a file, one per line"),
            Option(name: "--notifications", value: "N", help: "end after N sensor notifications"),
            Option(name: "--no-reconnect", value: nil, help: "do not reconnect when a connection is lost"),
            Option(
                name: "--queue-size", value: "N",
                help:
                    "maximum number of samples buffered for the output; further samples are dropped and counted; default 16384"
            ),
            .compact,
            Option(
                name: "--capture", value: "FILE", help: "also write the traffic of the connections to a btsnoop file"),
            Option(
                name: "--pause-consumer-at", value: "N", help: "stop taking samples after the Nth", hidden: true),
            Option(name: "--pause-for", value: "SECONDS", help: "for so long", hidden: true),
        ] + PairingPolicy.options
}

/// How a family's devices are served. One value serves all of them.
protocol FamilyStream: Sendable {
    static var options: [Option] { get }
    /// What rules may wait for, in addition to `connected` and `disconnected`, and what they may have done.
    static var happenings: [RuleEvent] { get }
    static var actions: [RuleAction] { get }
    init(_ arguments: Arguments) throws(CommandError)
    /// What the user can do if a device did not connect because of this. A device that rejects pairing is not bonded.
    static func advice(on cause: TendonError) -> String?
    /// The session of one device; `DeviceServer.serve` drives it.
    @TendonActor func server(of device: ServedDevice) async -> any DeviceServer
}

extension FamilyStream {
    static func advice(on cause: TendonError) -> String? { nil }
}

extension StreamSettings {
    /// Of all families.
    static var familyOptions: [Option] {
        families.flatMap { family in
            family.stream.options.map { option in
                var option = option
                option.families = [family.name]
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
                + "pauses of at most 30 seconds. Ends on Ctrl-C or after --for, and prints counters of received, printed "
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
                "run takes no operands",
                next: isFamily ? "tendon stream \(sanitized(arguments.operands[0]))" : "tendon run --help")
        }
        let gateway = try Gateway(try StreamSettings(arguments), arguments)
        return try await gateway.run(for: try arguments.duration())
    }

    static let stream = Command(
        "stream", operands: "FAMILY",
        summary: "stream sensor data and events from one device family (like run, for one family)",
        details: ["Does the same as run, but connects only to devices of the family."],
        options: StreamSettings.options + StreamSettings.familyOptions,
        examples: [
            ("tendon stream bose", "show head motion as a live table"),
            ("tendon stream bose --sensors all --gestures all --json", "print all sensors and gestures as JSON lines"),
        ]
    ) { (arguments: Arguments) throws(CommandError) in
        guard arguments.operands.count == 1 else {
            throw .usage(
                "stream takes one family: \(familyNames().joined(separator: ", "))", next: "tendon stream bose")
        }
        var settings = try StreamSettings(arguments)
        settings.family = try familyName(arguments.operands[0])
        try arguments.refuseOptions(notOf: [settings.family ?? ""], in: StreamSettings.familyOptions)
        let gateway = try Gateway(settings, arguments)
        return try await gateway.run(for: try arguments.duration())
    }
}
