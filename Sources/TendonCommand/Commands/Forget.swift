// SPDX-License-Identifier: MIT
// forget: removes a bond.
import Tendon
import TendonSupport

extension Command {
    static let forget = forget("forget")
    static let bondsForget = forget("bonds forget")

    /// With each type that the address may have. False: none of them has a bond.
    private static func forget(_ wanted: WantedAddress, _ central: Central) async throws(TendonError) -> Bool {
        var types: [Address.AddressType] = [.public, .random]
        if wanted.saysType, let type = wanted.address.type { types = [type] }
        var isForgotten = false
        for type in types where try await central.forget(Address(wanted.address.value, type: type)) {
            isForgotten = true
        }
        return isForgotten
    }

    private static func forget(_ name: String) -> Command {
        Command(
            name,
            summary: "remove the bond with a device",
            details: [
                "Removes the keys and the GATT cache; the device must be paired again. Use it if the device was reset: "
                    + "it has lost its key and ends every connection. Needs the adapter of the bond, because the kernel "
                    + "has its keys, too. Bonds are stored in "
                    + "$XDG_STATE_HOME/tendon/bonds, or ~/.local/state/tendon/bonds."
            ],
            options: [StateDirectory.option],
            common: Command.once,
            examples: [
                ("tendon \(name) --address AA:BB:CC:DD:EE:FF", "remove the bond with this device"),
                ("sudo tendon \(name) --state /var/lib/tendon --address AA:BB:CC:DD:EE:FF", "the bond of the service"),
            ]
        ) { (arguments: Arguments) throws(CommandError) in
            guard arguments.operands.isEmpty else { throw .usage("\(name) takes no operands") }
            guard let wanted = try arguments.address() else {
                throw .usage("\(name) needs --address", next: "tendon bonds list")
            }
            let radio = try arguments.radio()
            let central = try await translating { () throws(TendonError) in
                try await Central(radio: radio, gattCache: .standard)
            }
            let forgotten: Bool
            do throws(TendonError) {
                forgotten = try await forget(wanted, central)
                await central.close()
            } catch {
                await central.close()
                throw error.isOfBondFile ? CommandError(ofBonds: error) : CommandError(error)
            }
            let name = arguments.value("--address").flatMap { Address($0) == nil ? sanitized($0) : nil }
            let device = name.map { "\($0) (\(wanted.address))" } ?? "\(wanted.address)"
            guard forgotten else {
                let place = radio.isVirtual ? "the virtual radio" : "this adapter"
                throw CommandError(
                    .noDevice, "\(place) has no bond with \(device)", next: "tendon bonds list" + StateDirectory.words)
            }
            Events(json: arguments.has("--json")).result(
                "forgotten", nil, ["address": .string(wanted.address.description)], text: "\(device) is forgotten\n")
            return .done
        }
    }
}
