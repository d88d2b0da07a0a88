// SPDX-License-Identifier: MIT
// doctor: checks this machine, and prints a command that fixes each problem.
import CTendon
import Tendon
import TendonSupport

extension Command {
    static let doctor = Command(
        "doctor",
        summary: "check whether this machine can use Bluetooth; print a command that fixes each problem",
        details: [
            "Checks the kernel, the capabilities of this program, adapters, rfkill, a running bluetoothd and the directory of "
                + "the virtual radio; then lists the adapters and, if they are on, the limits of their controllers. Changes "
                + "nothing. Status 3 if the selected radio (bluez unless --radio virtual) cannot work.",
            "--watch and --neighbors show which programs use the adapters, and end with status 1 if they "
                + "interfere with each other.",
        ],
        options: [
            Option(
                name: "--watch", value: "SECONDS",
                help: "watch for this time which programs use the adapters and what they do",
                takes: .seconds(0.1...86400)),
            Option(
                name: "--neighbors", value: "FILE",
                help: "the same from a capture of the kernel's monitor channel, of 'tendon capture' or 'btmon -w'"),
        ],
        common: ["--radio", "--adapter", "--json"],
        examples: [
            ("tendon doctor", "check this machine"),
            ("tendon doctor --radio virtual --json", "check the virtual radio, as JSON lines"),
            ("sudo tendon doctor --watch 10", "show who else uses the adapters"),
        ]
    ) { (arguments: Arguments) throws(CommandError) in
        guard arguments.operands.isEmpty else { throw .usage("doctor takes no operands", next: "tendon doctor") }
        let json = arguments.has("--json")
        if let report = try Neighbors.requested(arguments) { return report.show(Events(json: json)) }
        let radio = try arguments.radioName()
        let findings = Finding.examine()
        let events = Events(json: json)
        for finding in findings {
            events.result("finding", nil, finding.json, text: finding.line(for: .standard) + "\n")
        }
        listAdapters(events)
        let worst = findings.first { finding in
            finding.state == TENDON_FINDING_LACKING
                && (finding.kind == TENDON_FINDING_DIRECTORY) == (radio == "virtual")
        }
        if !builtWithBluez, radio == "bluez" {
            throw CommandError(.noRadio, "this program was built without the radio bluez", next: "--radio virtual")
        }
        return worst == nil ? .done : .noRadio
    }

    private static var builtWithBluez: Bool {
        #if BlueZ || KernelSockets
            true
        #else
            false
        #endif
    }

    private static func listAdapters(_ events: Events) {
        for adapter in adapterFacts() { events.result("adapter", nil, adapter.json, text: adapter.text) }
    }

    /// Each adapter, as an event and in words.
    static func adapterFacts() -> [(json: JSON, text: String)] {
        var facts: [(json: JSON, text: String)] = []
        #if BlueZ || KernelSockets
            var adapters = [tendon_bluez_adapter](repeating: tendon_bluez_adapter(), count: 16)
            let count = tendon_bluez_list(&adapters, adapters.count)
            for adapter in adapters.prefix(max(0, Int(count))) {
                let name = text(of: adapter.name)
                let address = Address(adapter.address).description
                let state = adapter.blocked ? "blocked" : adapter.powered ? "on" : "off"
                if adapter.status < 0 {
                    let error = TendonError(status: adapter.status, operation: .openRadio)
                    facts.append(
                        (
                            (["adapter": .string(name), "address": .string(address)] as JSON).merging(error.members),
                            "   \(left(name, 14))\(error.cause)\n"
                        ))
                    continue
                }
                var line: JSON = [
                    "adapter": .string(name), "address": .string(address), "state": .string(state),
                    "low_energy": .bool(adapter.low_energy), "hci_version": JSON(adapter.version),
                ]
                let usb = text(of: adapter.usb_path)
                if !usb.isEmpty { line = line.merging(["usb_path": .string(usb)]) }
                let detail = adapter.low_energy ? "" : ", without Low Energy"
                var text =
                    "   \(left(name, 14))\(address), \(usb.isEmpty ? "" : "USB \(usb), ")\(state)\(detail), HCI version \(adapter.version)\n"
                if adapter.powered, adapter.low_energy {
                    let limits = ControllerLimits(adapter.index)
                    line = line.merging(limits.json)
                    for item in limits.lines { text += String(repeating: " ", count: 17) + item + "\n" }
                }
                facts.append((line, text))
            }
        #endif
        return facts
    }
}

#if BlueZ || KernelSockets
    /// What a controller can hold, or why it could not be read.
    struct ControllerLimits {
        let json: JSON
        let lines: [String]
        /// With their bits of LE_Features, TENDON_BLUEZ_FEATURE_2M and _CODED, whose macros Swift does not import.
        private static let phys: [(feature: UInt64, name: StaticString, title: String)] = [
            (1 << 8, PHY.le2M.word, "LE 2M"), (1 << 11, PHY.leCoded.word, "LE Coded"),
        ]

        init(_ index: UInt16) {
            var limits = tendon_bluez_limits()
            let status = tendon_bluez_read_limits(index, &limits)
            self =
                status < 0 ? ControllerLimits(TendonError(status: status, operation: .read)) : ControllerLimits(limits)
        }

        init(_ limits: tendon_bluez_limits) {
            // Each LE controller has LE 1M.
            let phys = ControllerLimits.phys.filter { limits.features & $0.feature != 0 }
            json = [
                "phys": JSON(([PHY.le1M.word] + phys.map(\.name)).map { .string($0.description) }),
                "acl_packet_bytes": JSON(limits.packet_length), "acl_packets": JSON(limits.packets),
                "accept_list_entries": JSON(limits.accept_list), "resolving_list_entries": JSON(limits.resolving_list),
                "advertising_sets": JSON(limits.advertising_sets),
                "advertising_data_bytes": JSON(limits.advertising_length),
                "le_states": .string("0x" + hexDigits(limits.states)),
            ]
            lines = [
                "buffers: \(limits.packets) data packets of \(limits.packet_length) bytes, for all connections together",
                "lists: \(limits.accept_list) filter accept list entries, \(limits.resolving_list) resolving list entries",
                limits.advertising_sets == 0
                    ? "advertising: legacy only"
                    : "advertising: \(limits.advertising_sets) sets, \(limits.advertising_length) bytes of data",
                "LE states: 0x" + hexDigits(limits.states),
                "PHYs: " + (["LE 1M"] + phys.map(\.title)).joined(separator: ", "),
            ]
        }

        private init(_ error: TendonError) {
            json = error.members
            lines = ["limits: \(error.cause)"]
        }
    }

    private func hexDigits(_ value: UInt64) -> String {
        let digits = String(value, radix: 16, uppercase: true)
        return String(repeating: "0", count: max(0, 16 - digits.count)) + digits
    }
#endif

/// One finding of the C core.
struct Finding {
    /// Of everything, in the order of the C core.
    static func examine() -> [Finding] {
        var findings = [tendon_finding](repeating: tendon_finding(), count: Int(TENDON_FINDING_COUNT.rawValue))
        tendon_doctor_examine(nil, &findings)
        return findings.map(Finding.init)
    }

    let kind: tendon_finding_kind
    let state: tendon_finding_state
    let name: String
    let what: String
    let remedy: String
    let status: tendon_status

    init(_ c: tendon_finding) {
        kind = c.kind
        state = c.state
        name = text(tendon_finding_name(c.kind))
        what = text(of: c.text)
        remedy = text(of: c.remedy)
        status = c.status
    }

    private var mark: (word: String, sign: String, style: Output.Style) {
        switch state {
        case TENDON_FINDING_GOOD: ("good", "ok", .green)
        case TENDON_FINDING_NOTE: ("note", "!!", .yellow)
        default: ("lacking", "NO", .red)
        }
    }

    var json: JSON {
        var json: JSON = ["check": .string(name), "state": .string(mark.word), "text": .string(what)]
        if !remedy.isEmpty { json["remedy"] = .string(remedy) }
        if status < 0 { json["error"] = .string(text(tendon_status_name(status))) }
        return json
    }

    func line(for output: Output) -> String {
        var line = output.styled(mark.sign, mark.style) + " " + left(name, 14) + what
        if !remedy.isEmpty {
            line += "\n" + String(repeating: " ", count: 17) + output.styled("try: ", .faint) + remedy
        }
        return line
    }
}
