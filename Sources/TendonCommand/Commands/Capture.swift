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
            "On the radio bluez: every HCI packet of the machine's controllers, whoever sends it, without taking part. "
                + "On the virtual radio there is nobody to listen to: there it does what run does and writes what "
                + "passes over its own links."
        ],
        options: StreamSettings.options.filter { $0.name != "--capture" } + StreamSettings.familyOptions,
        examples: [
            ("sudo tendon capture head.btsnoop --for 10", "ten seconds of all controllers"),
            ("tendon capture head.btsnoop --radio virtual --for 5", "a simulated device, served and written"),
        ]
    ) { (arguments: Arguments) throws(CommandError) in
        guard arguments.operands.count == 1 else { throw .usage("capture takes one file", next: "tendon capture FILE") }
        let path = arguments.operands[0]
        guard path != "-" else { throw .usage("capture takes the name of a file; '-' is none") }
        let choice = try arguments.radio()
        if case .virtual = choice {
            var settings = try StreamSettings(arguments)
            settings.capture = path
            let gateway = try Gateway(settings, arguments, quiet: true)
            let status = try await gateway.run(for: try arguments.duration())
            report(path, json: arguments.has("--json"))
            return status
        }
        #if BlueZ
            let lost = try MonitorCapture(path, adapter: arguments.value("--adapter")).run(
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
