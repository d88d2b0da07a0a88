// SPDX-License-Identifier: MIT
// capture: btsnoop files that Wireshark opens.
import CTendon
import Tendon
import TendonSupport

extension Command {
    static let capture = Command(
        "capture", operands: "FILE",
        summary: "write Bluetooth traffic to a btsnoop file for Wireshark",
        details: [
            "With --radio bluez: captures every HCI packet of the machine's adapters, from all programs. "
                + "With --radio virtual there is no HCI traffic: the command connects as run does and captures its "
                + "own connections."
        ],
        options: [.replaces] + StreamSettings.options.filter { $0.name != "--capture" } + StreamSettings.familyOptions,
        examples: [
            ("sudo tendon capture head.btsnoop --for 10", "capture all adapters for ten seconds"),
            (
                "tendon capture head.btsnoop --radio virtual --for 5",
                "connect to simulated devices and capture the traffic"
            ),
        ]
    ) { (arguments: Arguments) throws(CommandError) in
        guard arguments.operands.count == 1 else { throw .usage("capture takes one file", next: "tendon capture FILE") }
        let path = arguments.operands[0]
        guard path != "-" else { throw .usage("capture writes to a named file; '-' is not supported") }
        try arguments.checkReplaces(path)
        let choice = try arguments.radio()
        if case .virtual = choice {
            let status = try await Gateway.run(arguments, family: nil, capture: .named(path))
            report(path, json: arguments.has("--json"))
            return status
        }
        #if BlueZ || KernelSockets
            let lost = try MonitorCapture(path, adapter: try arguments.adapter()).run(
                for: try arguments.duration())
            report(path, json: arguments.has("--json"), lost: lost)
            return .done
        #else
            throw CommandError(.noRadio, "this program was built without the radio bluez", next: "--radio virtual")
        #endif
    }

    private static func report(_ path: String, json: Bool, lost: UInt32 = 0) {
        let reader = CaptureReader()
        var status = reader.open(path)
        while status >= 0 {
            status = reader.next { _, _ in }
            if status == 0 { break }
        }
        Events(json: json).result(
            "summary", nil,
            ["file": .string(path), "records": JSON(reader.records), "lost": JSON(lost)],
            text: "\(reader.records) records in \(sanitized(path)), \(lost) lost\n")
    }
}
