// SPDX-License-Identifier: MIT
// simulate: wearables made of software, for phones, other stacks and ourselves.
import CTendon
import Tendon
import TendonSupport

/// The options of the simulated devices.
struct SimulationSettings: Sendable {
    enum Pairing: String, Sendable, CaseIterable {
        /// Not needed.
        case none
        /// Needed; the device is not in pairing mode.
        case required
        /// Needed; the device is in pairing mode.
        case ready
    }

    var count = 1
    var name: String?
    var firmware: String?
    var flatOut = false
    var legacy = false
    var generation: Int?
    var pairing = Pairing.none
    /// It has the service Generic Attribute.
    var hasDatabaseHash = false
    /// What the device shows and enters; nil: nothing.
    var inputOutput: PairingAgent.InputOutput?
    var passkey: Passkey?
    /// The pairing option; default: that of the family.
    var saysPairing = false
    var notifications: UInt64?
    /// Milliseconds from one sample to the next.
    var period: Int?
    var faults: tendon_fault_options?
    var scenario: ScenarioFile?
    var scenarioFromConnection = false
    let obvious: ObviousDeviceSettings
    let events: Events

    init(_ arguments: Arguments) throws(CommandError) {
        count = try arguments.integer("--count", in: 1...64) ?? 1
        name = arguments.value("--name")
        guard (name?.utf8.count ?? 0) <= SimulationSettings.longestName else {
            throw .usage(
                "--name takes at most \(SimulationSettings.longestName) bytes: what a scan response has room for")
        }
        firmware = arguments.value("--firmware")
        flatOut = arguments.has("--flat-out")
        legacy = arguments.has("--legacy")
        generation = try arguments.integer("--generation", in: 1...2)
        saysPairing = arguments.has("--pairing")
        pairing = arguments.value("--pairing").flatMap(Pairing.init) ?? .none
        inputOutput = arguments.value("--io").flatMap { SimulationSettings.inputOutputs[$0] }
        passkey = arguments.value("--passkey").flatMap(Passkey.init)
        guard passkey == nil || [.keyboardOnly, .keyboardDisplay].contains(inputOutput) else {
            throw .usage("--passkey needs a device that enters it", next: "--io keyboard")
        }
        hasDatabaseHash = arguments.has("--database-hash")
        notifications = try arguments.integer("--notifications", in: 1...Int.max).map(UInt64.init)
        period = try arguments.milliseconds("--period", in: 1...65535)
        scenarioFromConnection = arguments.value("--scenario-from") == "connection"
        events = Events(json: arguments.has("--json"))
        obvious = try ObviousDeviceSettings(arguments)
        faults = try SimulationSettings.faults(arguments)
        if let path = arguments.value("--scenario") {
            do throws(CommandError) {
                scenario = try ScenarioFile(path)
            } catch {
                throw CommandError(error.status, "--scenario \(error.message)", next: error.next)
            }
        } else if arguments.has("--scenario-from") {
            throw .usage("--scenario-from needs --scenario")
        }
    }

    /// Without the two bytes of the element's length and type.
    private static let longestName = 29

    static let inputOutputs: [String: PairingAgent.InputOutput] = [
        "display": .displayOnly, "yes-no": .displayYesNo, "keyboard": .keyboardOnly,
        "keyboard-display": .keyboardDisplay,
    ]

    private static func faults(_ arguments: Arguments) throws(CommandError) -> tendon_fault_options? {
        let seed = try arguments.integer("--seed", in: 1...Int(UInt32.max))
        guard arguments.has("--fault") else {
            if seed != nil { throw .usage("--seed is for --fault") }
            return nil
        }
        var options = tendon_fault_options()
        for word in arguments.all("--fault") {
            var offset = 0
            let status = word.withCString { tendon_fault_parse(&options, $0, word.utf8.count, &offset) }
            guard status >= 0 else {
                let setting = word.utf8.prefix(offset).split(separator: UInt8(ascii: ",")).last
                let isTime = setting?.starts(with: "delay_ms".utf8) ?? false
                guard status != Int32(TENDON_ERROR_OVERFLOW) || isTime else {
                    throw .usage(
                        "--fault \(sanitized(word)): probabilities are 0 to 100 %, also their sum", next: "drop=1%")
                }
                throw .usage(
                    "--fault \(sanitized(word)): wrong at character \(offset + 1)",
                    next:
                        "drop=1%, delay=0.01, duplicate, truncate, garbage, disconnect; delay_ms=250; notifications_only"
                )
            }
        }
        if let seed { options.seed = UInt32(seed) }
        return options
    }
}

extension SimulationSettings {
    /// What the device of this number is called: numbered when there are several. C may point to it while it lives.
    func name(of number: Int, usually usual: String) -> CText {
        let title = name ?? usual
        return CText(count > 1 ? "\(title) \(number + 1)" : title)
    }

    /// Its firmware, as `name(of:usually:)`.
    func firmware(usually usual: String) -> CText { CText(firmware ?? usual) }

    /// A device of the C core cannot be made of these settings.
    static func check(_ status: tendon_status, _ device: String) throws(CommandError) {
        guard status < 0 else { return }
        throw CommandError(.failed, "the simulated \(device): \(text(tendon_status_text(status)))")
    }
}

/// A simulated device of a family.
protocol FamilySimulation: AnyObject {
    var device: tendon_peripheral_device { get }
    var actor: tendon_scenario_actor { get }
    var server: CPointer<tendon_gatt_server> { get }
    var notifications: UInt64 { get }
    var counters: JSON { get }
    /// The events since the last call, one line each.
    func takeNews() -> [JSON]
    /// The state of the device after an event, for people; nil: the members of its line.
    func words(of news: JSON) -> String?
    /// Where a device that survives its process keeps its bonds; nil: in memory.
    var bondFile: String? { get }
    /// The counters in words, at the end; nil: those of sensors.
    var summary: String? { get }
    /// The true values of the device, for comparison.
    func writeTruth(_ line: (String) -> Bool)
}

extension FamilySimulation {
    func takeNews() -> [JSON] { [] }
    func words(of news: JSON) -> String? { nil }
    var bondFile: String? { nil }
    var summary: String? { nil }
}

/// What the simulated devices of most families share: memory of the C core, the texts that its options point to, and the
/// interfaces to the radio and to scenarios.
class SimulatedDevice<Memory> {
    let block = CBlock<Memory>()
    private let texts: (name: CText, firmware: CText)
    let device: tendon_peripheral_device
    let actor: tendon_scenario_actor

    /// `title`: what a person calls the device. `start` fills in the options with the texts, and initializes the memory.
    init(
        _ title: String, name: CText, firmware: CText, device: (CPointer<Memory>) -> tendon_peripheral_device,
        actor: (CPointer<Memory>) -> tendon_scenario_actor,
        start: (CPointer<Memory>, _ name: UnsafePointer<CChar>, _ firmware: UnsafePointer<CChar>) -> tendon_status
    ) throws(CommandError) {
        texts = (name, firmware)
        let status = start(block.pointer, name.pointer, firmware.pointer)
        self.device = device(block.pointer)
        self.actor = actor(block.pointer)
        try SimulationSettings.check(status, title)
    }
}

extension Command {
    static let simulate = Command(
        "simulate", operands: "FAMILY...",
        summary: "simulate wearables, for programs on this machine or for phones",
        details: [
            "Simulates devices on the virtual radio, which is its default, or over an adapter for all devices in range. Prints its counters when it "
                + "ends: after --for, after --notifications, or on Ctrl-C. With --radio bluez, it simulates one device per "
                + "each --adapter.",
            "Scenarios are lines 'at TIME COMMAND': disconnect, advertise on|off, stop, malformed KIND [COUNT]; of bose "
                + "gesture NAME, suspend REASON, resume, pairing_mode on|off; of feelspace press BUTTON "
                + "[short|long|double], mode MODE, battery PERCENT [POWER], heading DEGREES, turn DEGREES_PER_SECOND, "
                + "accurate on|off, error CODE, silent on|off, swapped on|off, deaf on|off; of activ5 squeeze [MS [RAW]], "
                + "double_squeeze, load RAW, battery PERCENT, power on|off, stale_tails on|off, split_frames on|off; of "
                + "fjorden shutter released|half|full, fn up|down, dial_button up|down, dial cw|ccw DETENTS, "
                + "lever left|neutral|right, event CODE [VALUE], battery PERCENT, lose COUNT, duplicate COUNT, "
                + "reset_bond, power_off, pairing on|off; of obvious enable|disable FEATURE, toggle FEATURE on|off, "
                + "battery PERCENT, power_cut [BYTES], watchdog, reboot [recovery], reject STATUS [COUNT], "
                + "wrong crc|offset|session|next|serial|product [COUNT], lose|duplicate|swap|corrupt|ignore COUNT, "
                + "credit SEGMENTS, pause MS, pairing on|off, mute on|off.",
        ],
        options: simulateOptions,
        examples: [
            ("tendon simulate bose --radio virtual", "simulate a wearable for programs on this machine"),
            ("tendon simulate bose --radio bluez --adapter hci1", "simulate a wearable that phones can find"),
            ("tendon simulate bose --fault drop=1%,garbage=0.1% --seed 7", "simulate a wearable with a bad connection"),
            ("tendon simulate feelspace --radio virtual", "simulate a belt that reports the state of its motors"),
            (
                "tendon simulate obvious --radio virtual --keys-file keys --flash device.flash",
                "simulate a device that accepts signed packages, and that keeps its memory in a file"
            ),
        ]
    ) { (arguments: Arguments) throws(CommandError) in
        guard !arguments.operands.isEmpty else {
            throw .usage(
                "simulate needs a family: \(familyNames().joined(separator: ", "))", next: "tendon simulate bose")
        }
        var families: [String] = []
        for word in arguments.operands { families.append(try familyName(word)) }
        try arguments.refuseOptions(notOf: families, in: simulateOptions)
        let settings = try SimulationSettings(arguments)
        let plan = try SimulationPlan(arguments, families: families, settings: settings)
        let simulator = try Simulator(plan, settings)
        plan.tellRadio()
        if let path = arguments.value("--ground-truth") { try simulator.writeTruth(path) }
        Output.endWithReader()
        try simulator.run(for: try arguments.duration())
        return .done
    }
}

/// Assignment of devices to radios.
struct SimulationPlan {
    struct Item {
        var family: String
        /// Nil: the virtual radio.
        var adapter: String?
        var isVirtual: Bool
        var address: Address?
    }
    private(set) var items: [Item] = []

    init(_ arguments: Arguments, families: [String], settings: SimulationSettings) throws(CommandError) {
        let adapters = try arguments.adapters()
        if !adapters.isEmpty { _ = try arguments.radios() }
        let isVirtual = try arguments.radioName("virtual") == "virtual"
        let base = try arguments.address()?.address
        if !isVirtual, base != nil {
            throw .usage("an adapter has its own address: --address is for --radio virtual")
        }
        for family in families {
            for _ in 0..<settings.count {
                let number = items.count
                let adapter = adapters.isEmpty ? nil : number < adapters.count ? adapters[number] : nil
                if !isVirtual, number > 0, adapter == nil {
                    throw .usage("one device for each adapter: give --adapter once for each device")
                }
                let address = base.map { Address($0.value + UInt64(number), type: $0.type ?? .random) }
                items.append(Item(family: family, adapter: adapter, isVirtual: isVirtual, address: address))
            }
        }
        isChosenForUser = isVirtual && arguments.value("--radio") == nil
    }

    /// No option names a radio. Said once all devices are there.
    private let isChosenForUser: Bool

    func tellRadio() {
        guard isChosenForUser else { return }
        Output.error.line(
            "tendon: on the virtual radio, for programs with --radio virtual; --radio bluez serves over an adapter")
    }
}

/// Those whose devices can pair, and have a firmware of their own.
private let builtIn = ["activ5", "bose", "feelspace", "fjorden", "obvious"]

private let simulateOptions: [Option] =
    [
        Option(name: "--count", value: "N", help: "number of devices per family; default 1"),
        Option(name: "--name", value: "TEXT", help: "name in the scan response"),
        Option(name: "--firmware", value: "TEXT", help: "firmware revision that it reports", families: builtIn),
        Option(name: "--scenario", value: "FILE", help: "timed events; they happen once"),
        Option(
            name: "--scenario-from", value: "start|connection",
            help: "event at which the time of the scenario starts; default: start", choices: ["start", "connection"]),
        Option(
            name: "--fault", value: "SPEC",
            help: "inject faults: drop, delay, duplicate, truncate, garbage, disconnect, each =RATE; "
                + "separate delay_ms=MS, default 100; "
                + "notifications_only: responses are not affected; several with commas"),
        Option(name: "--seed", value: "N", help: "seed of the faults; the same seed results in the same faults"),
        Option(name: "--flat-out", value: nil, help: "send samples as fast as the connection accepts them"),
        Option(
            name: "--period", value: "MS", help: "time between two force values; default 100",
            families: ["activ5"]),
        Option(name: "--notifications", value: "N", help: "stop after N sensor notifications, then end"),
        Option(
            name: "--pairing", value: "none|required|ready",
            help: "whether it requires pairing; ready: it is in pairing mode",
            choices: SimulationSettings.Pairing.allCases.map(\.rawValue), families: builtIn),
        Option(
            name: "--io", value: "display|yes-no|keyboard|keyboard-display",
            help: "what it shows and enters when it pairs; it confirms every comparison; default: nothing (Just Works)",
            choices: SimulationSettings.inputOutputs.keys.sorted(), families: builtIn),
        PairingChoice.passkeyToEnter.only(of: builtIn),
        Option(
            name: "--database-hash", value: nil,
            help: "it has a Database Hash, so that a client with a GATT cache discovers its attributes only once"),
        Option(
            name: "--legacy", value: nil,
            help: "bose: gesture information as in 2018; activ5: only the text protocol", families: ["activ5", "bose"]),
        Option(
            name: "--generation", value: "1|2", help: "hardware generation of the belt; default 1",
            choices: ["1", "2"],
            families: ["feelspace"]),
        Option(
            name: "--ground-truth", value: "FILE",
            help:
                "write the true values (bose: head angles, activ5: force; by device time) as JSON lines; an existing file is "
                + "replaced", families: builtIn),
    ] + ObviousDeviceSettings.options
