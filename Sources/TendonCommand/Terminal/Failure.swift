// SPDX-License-Identifier: MIT
// Why a device did not connect: the words of its family, the cause with its name and number, what the user can do.
import CTendon
import Tendon
import TendonSupport

#if canImport(Glibc)
    import Glibc
#else
    import Musl
#endif

/// One failure, complete.
struct Failure: Sendable {
    /// A sentence for people.
    let text: String
    /// The status behind it; nil: only the family's words are known.
    let cause: TendonError?

    /// - Parameters:
    ///   - what: the words of the family's module.
    ///   - isAttempt: the device did not connect; false: a command failed, or a connection was lost.
    @TendonActor
    init(_ what: String, _ device: DeviceLabel, on central: Central, isAttempt: Bool = false) {
        let address = device.address
        let isBonded = central.core.isBonded(with: address)
        let isPairing = ["pair", "bond", "encrypt"].contains { what.lowercased().contains($0) }
        cause = central.core.peerFailure(of: address) ?? (isPairing && !isBonded ? central.core.bondFailure : nil)
        if cause?.status == Int32(TENDON_RADIO_ERROR_NO_PAIRING_SERVICE) {
            let family = device.family ?? ""
            text =
                "the connection is not encrypted, because devices of the family \(family) do not pair: use them without "
                + "--require-encryption, or leave them alone with --ignore \(family)"
            return
        }
        if !isBonded, let cause, cause.status == central.core.storeFailure?.status {
            let unstored = Failure.unstored(central, cause)
            text = isPairing ? "\(what); \(unstored)" : unstored
            return
        }
        let isRefusedHere = cause?.status == Int32(TENDON_RADIO_ERROR_PAIRING_NOT_ALLOWED)
        // The device itself has ended the attempt, for example because it has another connection.
        let isClosed =
            isAttempt && cause.map { tendon_ending_of($0.status) == TENDON_ENDING_DEVICE_DISCONNECTED } ?? false
        let advice = cause.flatMap { cause in
            isPairing || isRefusedHere || isClosed || cause.status == central.core.bondFailure?.status
                ? Failure.advice(
                    on: cause, device, isBonded: isBonded, central.core.choice.words + StateDirectory.words)
                    ?? Failure.place(of: cause, central) : nil
        }
        if let advice, isRefusedHere {
            text = "the device is not paired; \(advice)"
            return
        }
        text = [cause.map { $0.added(to: what) } ?? what, advice].compactMap(\.self).joined(separator: "; ")
    }

    var members: JSON { (["text": .string(text)] as JSON).merging(cause?.members ?? [:]) }

    /// - Parameter radio: the options that name the radio and the bonds, for the commands that the text has.
    private static func advice(
        on cause: TendonError, _ device: DeviceLabel, isBonded: Bool, _ radio: String
    ) -> String? {
        let family = device.family ?? ""
        switch Int(cause.status) {
        case TENDON_RADIO_ERROR_PAIRING_NOT_ALLOWED:
            return "pairing with new devices is not enabled: use --pair, --allow or 'tendon pair \(family)\(radio)'"
        case TENDON_RADIO_ERROR_PAIRING_FAILED where isBonded:
            return "the device does not have the key of its bond: it was reset, or another device has this address; "
                + "use 'tendon forget --address \(device.address)/\(device.address.typeName)\(radio)', then pair again"
        case TENDON_RADIO_ERROR_PAIRING_FAILED where PairingChoice.fileWithoutPasskey(of: device.address) != nil:
            let file = PairingChoice.fileWithoutPasskey(of: device.address) ?? ""
            return
                "\(sanitized(file)) has no passkey for \(device.address): add a line with this address, or one with *"
        case TENDON_RADIO_ERROR_PAIRING_FAILED where PairingChoice.usesPasskey:
            return "the passkey is wrong, or the device does not pair now"
        case TENDON_RADIO_ERROR_PAIRING_TOO_WEAK:
            return
                "it pairs without a passkey, without Secure Connections, or with a short key: use 'tendon pair \(family)\(radio)' "
                + "without options such as --passkey and --require-authentication if that is good enough"
        case TENDON_RADIO_ERROR_BONDS_FULL:
            return "'tendon bonds list\(StateDirectory.words)' shows the \(TENDON_BONDS_MAX) bonds, "
                + "'tendon forget --address ADDRESS\(radio)' removes one"
        case TENDON_RADIO_ERROR_IDENTITY_TAKEN:
            return
                "'tendon bonds list\(StateDirectory.words)' shows the bonds, 'tendon forget --address ADDRESS\(radio)' removes "
                + "the old one if it is the same device"
        case TENDON_RADIO_ERROR_OTHER_BOND_STORE where isBonded:
            return
                "the kernel does not have the key of its bond, because bluetoothd has replaced the keys: stop bluetoothd, "
                + "or use an adapter that it does not have"
        default: return Family.named(family)?.stream.advice(cause)
        }
    }

    /// Why the bond was not stored: what is in the way of its file, or what happened when it was written.
    @TendonActor
    private static func unstored(_ central: Central, _ cause: TendonError) -> String {
        let path = central.core.bondPath ?? ""
        let folder = WholeFile.makeFolders(above: path)
        let (place, number) = folder ?? (path, WholeFile.obstacle(to: path))
        let why = number == 0 ? cause.cause : "\(sanitized(place)): \(TendonSupport.text(strerror(number)))"
        return "the bond cannot be stored in \(sanitized(path)): \(why)"
    }

    /// Which file, if the store of bonds failed.
    @TendonActor
    private static func place(of cause: TendonError, _ central: Central) -> String? {
        let isPermission = cause.status == Int32(TENDON_ERROR_FILE_PERMISSION)
        let isOfFile = cause.layer == .system || isPermission || central.core.bondFailure != nil
        guard isOfFile, let path = central.core.bondPath else { return nil }
        return "the bonds are in \(sanitized(path))"
    }
}

extension RadioChoice {
    /// As options: " --radio virtual".
    var words: String {
        switch self {
        case .virtual: " --radio virtual"
        case .bluez(let adapter?, _): " --adapter \(adapter)"
        case .bluez, .automatic: ""
        }
    }
}

extension TendonError {
    /// `what`, then the cause if it is missing there.
    fileprivate func added(to what: String) -> String { what.contains(name) ? what : "\(what): \(cause)" }

    /// Members of an event: the name of the status, and its number if another specification defines it.
    var members: JSON {
        let hasNumber = [Layer.att, .hci, .l2cap, .management, .system].contains(layer)
        return hasNumber ? ["error": .string(name), "error_number": JSON(Int(code))] : ["error": .string(name)]
    }
}

extension CommandError {
    /// The same with the cause below it, if the radio reported one for this device.
    @TendonActor
    func explained(_ device: DeviceLabel, on central: Central) -> CommandError {
        guard status != .usage, !message.isEmpty, !isComplete else { return self }
        var error = self
        error.message = Failure(message, device, on: central).text
        return error
    }
}
