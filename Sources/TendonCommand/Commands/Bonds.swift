// SPDX-License-Identifier: MIT
// bonds: what the store of bonds contains.
import CTendon
import Tendon
import TendonSupport

#if canImport(Glibc)
    import Glibc
#else
    import Musl
#endif

extension Command {
    private static let place = "Bonds are stored in $XDG_STATE_HOME/tendon/bonds, or ~/.local/state/tendon/bonds."

    static let bondsList = Command(
        "bonds list",
        summary: "list the devices that are bonded",
        details: [
            "Prints one line for each key, without the key: the device, the adapter, and how it was paired. Does not use a "
                + "radio. 'tendon bonds forget' removes a bond. " + place
        ],
        options: [StateDirectory.option], common: ["--json"],
        examples: [
            ("tendon bonds list", "list the bonds"),
            ("sudo tendon bonds list --state /var/lib/tendon", "list those of the service"),
        ]
    ) { (arguments: Arguments) throws(CommandError) in
        guard arguments.operands.isEmpty else { throw .usage("bonds list takes no operands") }
        let events = Events(json: arguments.has("--json"))
        let bonds = try Bond.stored()
        if bonds.isEmpty { Output.error.line("no device is bonded; 'tendon pair' makes a bond") }
        for bond in bonds { events.result("bond", bond.label, bond.members, text: bond.line) }
        return .done
    }

    static let bondsExport = Command(
        "bonds export", operands: "FILE",
        summary: "write the bonds with their keys to a file",
        details: [
            "Writes a JSON file that only its owner can read, whole or not at all. Who has the "
                + "keys can read the traffic of the devices and take the place of this machine: delete the file after use. "
                + "Does not use a radio. " + place
        ],
        options: [.replaces, StateDirectory.option], common: ["--json"],
        examples: [("tendon bonds export keys.json", "write the bonds and their keys")]
    ) { (arguments: Arguments) throws(CommandError) in
        guard arguments.operands.count == 1 else {
            throw .usage("bonds export takes one file", next: "tendon bonds export keys.json")
        }
        let path = arguments.operands[0]
        guard path != "-" else { throw .usage("bonds export writes to a named file; '-' is not supported") }
        try arguments.checkReplaces(path)
        let bonds = try Bond.stored()
        let document: JSON = [
            "format": "tendon bonds", "version": 1,
            "bonds": .array(bonds.map { $0.label.json.merging($0.members).merging($0.secrets) }),
        ]
        var writer = LineWriter()
        writer.write(document)
        let number = WholeFile.replace(path, with: writer.bytes + [0x0A], mode: 0o600, synchronizes: true)
        guard number == 0 else { throw CommandError(.failed, "\(sanitized(path)): \(text(strerror(number)))") }
        Events(json: arguments.has("--json")).result(
            "exported", nil, ["file": .string(path), "bonds": JSON(bonds.count)],
            text: "\(bonds.count) bonds are in \(sanitized(path)), with their keys\n")
        return .done
    }
}

extension CommandError {
    /// The file of bonds cannot be used: which file, and what to do about it.
    init(ofBonds error: TendonError) {
        let path = BondStorage.standardPath.map(sanitized) ?? "the file of bonds"
        let away = "mv \(path) \(path).old; then pair the devices again"
        switch Int(error.status) {
        case _ where isDirectory(path): self.init(.failed, "\(path): it is a directory", next: away)
        case TENDON_ERROR_TRUNCATED, TENDON_ERROR_MALFORMED, TENDON_ERROR_OVERFLOW:
            self.init(.failed, "\(path): the file is damaged, or it is no file of bonds", next: away)
        case TENDON_ERROR_FILE_PERMISSION:
            self.init(
                .failed, "\(path): \(error.cause)",
                next: isReadable(path)
                    ? "chmod 600 \(path), as the user that it belongs to" : "the same as the user that it belongs to")
        default:
            self.init(
                .failed, "\(path): \(error.cause)",
                next: "XDG_STATE_HOME=DIR, with a directory that this user can write")
        }
    }
}

extension TendonError {
    /// An error of reading or writing the file of bonds, and not of a device.
    var isOfBondFile: Bool {
        layer == .system
            || [TENDON_ERROR_TRUNCATED, TENDON_ERROR_MALFORMED, TENDON_ERROR_OVERFLOW, TENDON_ERROR_FILE_PERMISSION]
                .contains(Int(status))
    }
}

extension Bond {
    fileprivate static func stored() throws(CommandError) -> [Bond] {
        do throws(TendonError) {
            return try BondStorage.standard.bonds()
        } catch {
            throw CommandError(ofBonds: error)
        }
    }

    fileprivate var label: DeviceLabel { DeviceLabel(nil, address) }

    /// As it is in a line of JSON, without its device.
    fileprivate var members: JSON {
        [
            "role": role == .peripheral ? "peripheral" : "central",
            "adapter": adapter.map { .string($0.description) } ?? .null,
            "authenticated": .bool(isAuthenticated), "secure_connections": .bool(usesSecureConnections),
            "key_size_bytes": JSON(keySize), "private_addresses": .bool(hasIdentityKey),
        ]
    }

    fileprivate var line: String {
        let pairing = isAuthenticated ? "with a passkey" : "without a passkey"
        let radio = adapter.map { "adapter \($0)" } ?? "virtual radio"
        let kind = usesSecureConnections ? "Secure Connections" : "legacy pairing"
        let name = label.name.map { " '\($0)'" } ?? ""
        return "\(address)/\(address.typeName)\(name): \(role == .peripheral ? "peripheral" : "central"), \(radio), "
            + "\(kind) \(pairing), key of \(keySize) bytes\n"
    }

    /// The bytes of the keys in the order of the Core Specification's fields: the least significant first.
    fileprivate var secrets: JSON {
        let key: [UInt8] = elements(of: c.key, 16)
        let random: [UInt8] = elements(of: c.random, 8)
        let identity: [UInt8] = elements(of: c.identity_key, 16)
        return [
            "key": .string(hexText(key)), "random": .string(hexText(random)), "diversifier": JSON(Int(c.diversifier)),
            "identity_key": hasIdentityKey ? .string(hexText(identity)) : .null,
        ]
    }
}
