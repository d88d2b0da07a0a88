// SPDX-License-Identifier: MIT
// pair: makes a bond with one device.
import CTendon
import Tendon
import TendonSupport

private let showOutOfBand = Option(
    name: "--show-out-of-band", value: nil,
    help: "print data of this machine for a device that pairs out of band, and end; without FAMILY")

/// Makes the data of this machine, and prints them.
private func showData(_ arguments: Arguments) async throws(CommandError) -> ExitStatus {
    guard arguments.operands.isEmpty else {
        throw .usage("--show-out-of-band takes no family", next: "tendon pair --show-out-of-band")
    }
    let radio = try arguments.radio()
    let central = try await translating { () throws(TendonError) in try await Central(radio: radio) }
    do throws(CommandError) {
        let data = try await translating { () throws(TendonError) in try await central.makeOutOfBandData() }
        if arguments.has("--json") {
            Events(json: true).result("out_of_band", nil, ["data": .string(data.description)], text: "")
        } else {
            Output.standard.write("\(data)\n")  // in a file too: --out-of-band takes it
        }
        await central.close()
        return .done
    } catch {
        await central.close()
        throw error
    }
}

extension Command {
    static let pair = Command(
        "pair", operands: "FAMILY",
        summary: "pair with a device and store the bond",
        details: [
            "Takes the first device of the family in range, or the device of --address. run and stream connect to bonded "
                + "devices; they pair with new devices only with --pair or --allow. Put the device into pairing mode first.",
            "On a terminal it asks for what the pairing needs: to enter the passkey that the device shows, to compare two "
                + "passkeys, or to enter the shown passkey at the device. Elsewhere, and with --accept, it pairs without a "
                + "passkey unless an option has one. A device with neither display nor keyboard pairs without a passkey: the "
                + "connection is encrypted, but a device in the middle is not noticed; --require-authentication rejects that. "
                + "While it may ask, the default of --timeout is 60.",
            "Out of band: the device gives its data to this machine by another way, for example in a file, or this machine "
                + "gives its own to the device, with --show-out-of-band. They take the place of a passkey, and must be kept as "
                + "secret as one. The data of this machine are valid until they are made again, or the adapter is powered off.",
        ],
        options: DeviceAccess.options + PairingChoice.allOptions + [showOutOfBand],
        examples: [
            ("tendon pair feelspace", "pair with the first belt in range"),
            ("tendon pair bose --address AA:BB:CC:DD:EE:FF", "pair with this device"),
            ("tendon pair fjorden --passkey 123456", "pair with a device that has this passkey on its label"),
            ("tendon pair feelspace --out-of-band belt.data", "pair with the device whose data are in this file"),
            (
                "tendon pair --show-out-of-band",
                "print data of this machine, for a device that pairs with it out of band"
            ),
        ]
    ) { (arguments: Arguments) throws(CommandError) in
        if arguments.has(showOutOfBand.name) { return try await showData(arguments) }
        guard arguments.operands.count == 1 else {
            throw .usage("pair takes one family: \(familyNames().joined(separator: ", "))", next: "tendon pair --help")
        }
        let name = try familyName(arguments.operands[0])
        guard let family = Family.named(name) else { throw .usage("\(name) devices do not pair") }
        let choice = try PairingChoice(arguments, asks: true)
        let settings = try StreamSettings(arguments, pairing: choice)
        let stream = try family.stream.init(arguments)
        let events = Events(json: arguments.has("--json"))
        let access = try DeviceAccess(
            arguments, family: name, timeout: choice.asksUser ? 60 : 15, only: choice.onlyDevice)
        try await access.withDevice { (central, found) throws(CommandError) in
            try await choice.apply(to: central)
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
