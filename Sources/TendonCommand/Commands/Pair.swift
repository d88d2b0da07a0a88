// SPDX-License-Identifier: MIT
// pair: makes a bond with one device.
import CTendon
import Tendon
import TendonSupport

extension Command {
    static let pair = Command(
        "pair", operands: "FAMILY",
        summary: "pair with a device and store the bond",
        details: [
            "Takes the first device of the family in range, or the device of --address. run and stream connect to bonded "
                + "devices; they pair with new devices only with --pair or --allow. Put the device into pairing mode first."
        ],
        options: DeviceAccess.options,
        examples: [
            ("tendon pair feelspace", "pair with the first belt in range"),
            ("tendon pair bose --address AA:BB:CC:DD:EE:FF", "pair with this device"),
        ]
    ) { (arguments: Arguments) throws(CommandError) in
        guard arguments.operands.count == 1 else {
            throw .usage("pair takes one family: \(familyNames().joined(separator: ", "))", next: "tendon pair --help")
        }
        let name = try familyName(arguments.operands[0])
        guard let family = Family.named(name) else { throw .usage("\(name) devices do not pair") }
        let settings = try StreamSettings(arguments)
        let stream = try family.stream.init(arguments)
        let events = Events(json: arguments.has("--json"))
        let access = try DeviceAccess(arguments, family: name)
        try await access.withDevice { (central, found) throws(CommandError) in
            let reporter = Reporter()
            let device = ServedDevice(
                label: found.label, central: central, settings: settings, reporter: reporter, rules: RuleBoard([]),
                admission: Admission(), row: reporter.add(found.label))
            try await access.inTime { () throws(CommandError) in
                let server = await stream.server(of: device)
                do throws(ServingError) {
                    try await server.open()
                } catch {
                    guard case .failed(let what, _) = error else {
                        throw CommandError(.failed, "pairing was cancelled")
                    }
                    throw CommandError(.failed, what)
                }
            }
            guard await central.isBonded(with: found.address) else {
                throw CommandError(.failed, "the device connects without pairing; no bond was stored")
            }
            events.result("paired", found.label, [:], text: "\(found.address) is paired\n")
        }
        return .done
    }
}
