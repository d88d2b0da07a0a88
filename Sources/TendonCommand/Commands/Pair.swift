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
                + "devices; they pair with new devices only with --pair or --allow. Put the device into pairing mode first.",
            "On a terminal it asks for what the pairing needs: to enter the passkey that the device shows, to compare two "
                + "passkeys, or to enter the shown passkey at the device. Elsewhere, and with --accept, it pairs without a "
                + "passkey unless an option has one. A device with neither display nor keyboard pairs without a passkey: the "
                + "connection is encrypted, but a device in the middle is not noticed; --require-authentication rejects that. "
                + "While it may ask, the default of --timeout is 60.",
        ],
        options: DeviceAccess.options + PairingChoice.allOptions + [StateDirectory.option],
        common: Command.once,
        examples: [
            ("tendon pair feelspace", "pair with the first belt in range"),
            ("tendon pair bose --address AA:BB:CC:DD:EE:FF", "pair with this device"),
            ("tendon pair fjorden --passkey 123456", "pair with a device that has this passkey on its label"),
        ]
    ) { (arguments: Arguments) throws(CommandError) in
        guard arguments.operands.count == 1 else {
            throw .usage("pair takes one family: \(familyNames().joined(separator: ", "))", next: "tendon pair --help")
        }
        let name = try familyName(arguments.operands[0])
        guard let family = Family.named(name) else { throw .usage("\(name) devices do not pair") }
        let choice = try PairingChoice(arguments, asks: true)
        let settings = try StreamSettings(arguments, pairing: choice)
        try choice.check()
        let stream = try family.stream.make(arguments)
        let events = Events(json: arguments.has("--json"))
        let access = try DeviceAccess(arguments, family: name, timeout: choice.asksUser ? 60 : 15)
        try await access.withDevice { (central, found) throws(CommandError) in
            if let failure = await central.bondFailure { throw CommandError(ofBonds: failure) }
            try await choice.apply(to: central)
            let reporter = Reporter()
            let device = ServedDevice(
                label: found.label, central: central, settings: settings, reporter: reporter, rules: RuleBoard([]),
                turns: Turns(), row: reporter.add(found.label))
            try await access.inTime { () throws(CommandError) in
                let server = await stream.server(of: device)
                do throws(ServingError) {
                    try await server.open()
                } catch {
                    throw failure(error, of: name)
                }
            }
            guard await central.isBonded(with: found.address) else {
                throw CommandError(
                    .failed, "the device connects without pairing; no bond was stored", next: "tendon stream \(name)")
            }
            events.result("paired", found.label, [:], text: "\(found.address) is paired\n")
        }
        return .done
    }

    /// Why the session of `pair` did not open. What the user did, or did not do, is why before anything that the device says.
    private static func failure(_ error: ServingError, of family: String) -> CommandError {
        var failure: CommandError
        if Termination.shared.isSignalled {
            failure = CommandError(.failed, "pairing was cancelled")
        } else if let unanswered = PairingQuestions.unanswered {
            let next = "tendon pair \(family) again, and an answer within the 30 s that a device waits"
            failure = CommandError(.failed, unanswered, next: next)
        } else if case .failed(let what, _) = error {
            return CommandError(.failed, what)
        } else {
            failure = CommandError(.failed, "the device did not pair in time", next: "--timeout SECONDS")
        }
        failure.isComplete = true
        return failure
    }
}
