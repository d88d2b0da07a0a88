// SPDX-License-Identifier: MIT
// One Obvious device for one command: found, connected, with its product and the keys that verify.
import Tendon
import TendonObvious
import TendonObviousCloud
import TendonSupport

/// An open device.
@TendonActor
final class OpenObvious: Sendable {
    let manager = OcelotFeatureManager()
    let connector: OcelotDeviceConnector
    let label: DeviceLabel
    let product: String

    init(_ address: Address, _ label: DeviceLabel, product: String, on central: Central) {
        connector = OcelotDeviceConnector(to: address, productId: product, on: central)
        self.label = label
        self.product = product
        manager.setDeviceConnector(connector)
    }

    /// Runs calls of the manager, with their errors as those of the command.
    func ask<Result: Sendable>(
        _ body: @TendonActor (OcelotFeatureManager) async throws(OcelotError) -> Result
    ) async throws(CommandError) -> Result {
        do throws(OcelotError) {
            return try await body(manager)
        } catch {
            throw CommandError(error)
        }
    }
}

struct ObviousAccess: Sendable {
    let events: Events
    let product: String
    private let access: DeviceAccess

    static let options: [Option] = DeviceAccess.options + [CloudAccess.product, CloudAccess.keysFile]

    /// Installs the keys, and the cloud if the command needs it.
    init(_ arguments: Arguments, cloud: Bool) throws(CommandError) {
        events = Events(json: arguments.has("--json"))
        access = try DeviceAccess(arguments, family: "obvious")
        let keys = try CloudAccess.keys(arguments)
        guard let product = try arguments.product(or: keys) else {
            throw .usage("the product of the device is not known", next: "--product ID, or --keys-file FILE")
        }
        self.product = product
        if cloud { try CloudAccess.install(arguments) }
    }

    /// Finds the device, connects, calls `body`, disconnects. Ctrl-C ends it; `limited`: --timeout, too.
    func withDevice<Result: Sendable>(
        _ body: @escaping @TendonActor @Sendable (OpenObvious) async throws(CommandError) -> Result
    ) async throws(CommandError) -> Result {
        try await access.withDevice { (central, found) throws(CommandError) in
            let open = await OpenObvious(found.address, found.label, product: product, on: central)
            try await access.inTime { () throws(CommandError) in
                do throws(OcelotError) {
                    try await open.connector.openAndWait()
                } catch {
                    throw error.isCancelled && !Termination.shared.isRequested
                        ? CommandError(.noDevice, "the device did not respond in time", next: "--timeout SECONDS")
                        : CommandError(error)
                }
            }
            let result = try await Termination.task(for: nil) { () throws(CommandError) in try await body(open) }
            await open.connector.disconnect()
            return result
        }
    }
}

extension ObviousAccess {
    /// Which device a purchase is for: that of --serial, else the one in range.
    static func identity(_ arguments: Arguments) async throws(CommandError) -> (serial: String, product: String) {
        guard let product = try arguments.product(or: CloudAccess.keys(arguments)) else {
            throw .usage(
                "the product of the device is not known",
                next: "--serial and --product, or --keys-file FILE with the device in range")
        }
        if let serial = try arguments.serial() { return (serial, product) }
        let access = try ObviousAccess(arguments, cloud: false)
        do throws(CommandError) {
            let serial = try await access.withDevice { (open) throws(CommandError) in
                try await open.ask { (manager) throws(OcelotError) in try await manager.deviceInfo().serialNumber }
            }
            guard let serial else { throw CommandError(.failed, "the device has no serial number") }
            return (serial, product)
        } catch {
            var error = error
            // Without a message it was Ctrl-C.
            if error.status == .noDevice, !error.message.isEmpty { error.next = "--serial SERIAL --product ID" }
            throw error
        }
    }
}

extension Arguments {
    /// `--product`; else the one product that the keys are for.
    func product(or keys: [ObviousKey]) throws(CommandError) -> String? {
        if let product = try product() { return product }
        let products = Set(keys.map(\.productId))
        return products.count == 1 ? products.first : nil
    }
}

extension CommandError {
    /// What happened, and what to do next.
    init(_ error: OcelotError) {
        switch error {
        case .cancelled: self = .interrupted
        case .cloud(let error): self.init(error)
        case .noProduct: self.init(.usage, "the product of the device is not known", next: "--product ID")
        case .busy, .argument: self.init(.failed, "\(error)")
        case .device(let cause): self.init(.failed, "\(cause)", next: CommandError.advice(cause.name))
        case .upgrade(.DOWNLOAD_FAILED, let cause?) where cause.name == "DOWNGRADE":
            // The status of the API, for what the cloud has; nothing was downloaded.
            self.init(
                .failed, "the firmware of the cloud is rejected: \(cause)", next: CommandError.advice(cause.name))
        case .upgrade(let status, let cause):
            let what =
                status == .UNAVAILABLE ? "there is no firmware for this device" : "the upgrade ended with \(status)"
            self.init(
                .failed, what + (cause.map { ": \($0)" } ?? ""),
                next: cause.flatMap { CommandError.advice($0.name) } ?? "the same command, which continues")
        case .update(let status, let cause):
            let name = FeatureUpdateConstants.name(status) ?? "\(status)"
            self.init(
                .failed, "the update ended with \(name)" + (cause.map { ": \($0)" } ?? ""),
                next: cause.flatMap { CommandError.advice($0.name) } ?? CommandError.advice(name))
        }
    }

    /// What the user can do about a status of OGP/1.
    private static func advice(_ name: String) -> String? {
        switch name {
        case "WRONG_PRODUCT": "--product with the product of this device"
        case "UNKNOWN_KEY", "SIG_INVALID": "check --keys-file: the package is not signed with a key of it"
        case "DOWNGRADE": "another release in the cloud: this one has a lower version or security epoch than the device"
        case "NOT_PROVISIONED": "provision the device at the factory, or permit it in the cloud"
        case "UNKNOWN_FEATURE": "tendon obvious features, which lists the features of the product"
        case "TOGGLE_UNSUPPORTED": "tendon obvious features, which says what can be switched"
        case "FEATURE_DISABLED": "tendon obvious catalog, then checkout, pay and update"
        case "UNSUPPORTED_PROFILE": "another device: this one does not speak OGP/1"
        case "UNAUTHORIZED": "put the device into pairing mode, then tendon pair obvious"
        case "LOW_POWER": "charge the device, then the same command again"
        case "TOO_LARGE": "a smaller image: this one is larger than the memory of the device"
        case "NOT_SUPPORTED":
            "a release that the device can install: this one needs another version before it, or other hardware"
        case "BAD_FORMAT", "HASH_MISMATCH": "another package: this one is damaged"
        case "FLASH_FAILED": "the same command once more; if it fails again, the memory of the device is broken"
        case "DOWNLOAD_FAILED", "WRITE_FAILED", "TIMEOUT", "LINK_ERROR": "the same command again"
        default: nil
        }
    }
}
