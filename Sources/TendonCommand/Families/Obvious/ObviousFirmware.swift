// SPDX-License-Identifier: MIT
// obvious firmware check, upgrade: over the air, with a trial of the new firmware.
import Tendon
import TendonObvious
import TendonSupport

#if canImport(Glibc)
    import Glibc
#else
    import Musl
#endif

private let firmwareOptions: [Option] =
    ObviousAccess.options + CloudAccess.options + [
        Option(name: "--app-version", value: "X.Y.Z", help: "version of the application, for the cloud; default 1.0.0")
    ]

extension Command {
    static let obviousFirmwareCheck = Command(
        "obvious firmware check",
        summary: "check whether there is newer firmware for an Obvious device",
        details: [
            "Prints the device's version, and the newer one with its release notes. Its manifest must be signed with a key of "
                + "--keys-file and permit this device. A firmware on trial is tested and confirmed first."
        ],
        options: firmwareOptions,
        common: ["--radio", "--adapter", "--address", "--json"],
        examples: [("tendon obvious firmware check --keys-file keys", "the first device in range")]
    ) { (arguments: Arguments) throws(CommandError) in
        guard arguments.operands.isEmpty else { throw .usage("obvious firmware check takes no operands") }
        let access = try ObviousAccess(arguments, cloud: true)
        let upgrade = try FirmwareUpgrade(arguments)
        try await access.withDevice { (open) throws(CommandError) in
            _ = try await upgrade.check(open, access.events)
        }
        return .done
    }

    static let obviousFirmwareUpgrade = Command(
        "obvious firmware upgrade",
        summary: "write the newest firmware to an Obvious device",
        details: [
            "Downloads the image, verifies it, sends it, and starts it on trial; confirms it after a self test, else the "
                + "device returns to the old firmware. An upgrade that was interrupted, by Ctrl-C, a lost connection or a "
                + "restart of this machine, continues where it ended when the command is given again. Images are in "
                + "$XDG_CACHE_HOME/obvious, and the journal is in $XDG_STATE_HOME/tendon/journal."
        ],
        options: firmwareOptions + [
            Option(name: "--resume", value: nil, help: "continue an interrupted upgrade; this is the default"),
            Option(name: "--no-resume", value: nil, help: "start again: download and send the whole image"),
            Option(
                name: "--dry-run", value: nil, help: "check everything, say what would be done, and do nothing"),
        ],
        common: ["--radio", "--adapter", "--address", "--json"],
        examples: [
            ("tendon obvious firmware upgrade --keys-file keys", "upgrade the first device in range"),
            ("tendon obvious firmware upgrade --keys-file keys --dry-run", "say what would be written"),
        ]
    ) { (arguments: Arguments) throws(CommandError) in
        guard arguments.operands.isEmpty else { throw .usage("obvious firmware upgrade takes no operands") }
        guard !(arguments.has("--resume") && arguments.has("--no-resume")) else {
            throw .usage("--resume and --no-resume contradict each other")
        }
        let isDry = arguments.has("--dry-run")
        let access = try ObviousAccess(arguments, cloud: true)
        let upgrade = try FirmwareUpgrade(arguments)
        defer { upgrade.removeFolder() }
        try await access.withDevice { (open) throws(CommandError) in
            guard let new = try await upgrade.check(open, access.events) else { return }
            if isDry {
                access.events.dryRun(
                    "obvious firmware upgrade", "would write firmware \(sanitized(new.versionName))", open.label)
                return
            }
            try await upgrade.run(open, access.events)
        }
        return .done
    }
}

private struct FirmwareUpgrade: Sendable {
    let appVersion: String
    /// Of an upgrade that starts again: an empty one; nil: the usual one.
    private let folder: String?

    init(_ arguments: Arguments) throws(CommandError) {
        appVersion = arguments.value("--app-version") ?? "1.0.0"
        guard ObviousVersion.code(appVersion) != nil else {
            throw .usage("--app-version is of the form 1.2.3, not '\(sanitized(appVersion))'")
        }
        guard !(try CloudAccess.keys(arguments)).isEmpty else {
            throw .usage("without public keys no firmware can be verified", next: "--keys-file FILE")
        }
        guard arguments.has("--no-resume") else {
            folder = nil
            return
        }
        folder = try FirmwareUpgrade.emptyFolder()
    }

    private static func emptyFolder() throws(CommandError) -> String {
        var template = Array(((environment("TMPDIR") ?? "/tmp") + "/tendon-XXXXXX").utf8CString)
        guard mkdtemp(&template) != nil else {
            throw CommandError(.failed, "a temporary folder: \(text(strerror(errno)))", next: "TMPDIR=FOLDER")
        }
        return String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    /// The image and the journal are of no use any more.
    func removeFolder() {
        guard let folder else { return }
        for below in [folder + "/journal", folder] {
            for name in names(in: below) { unlink(below + "/" + name) }
            rmdir(below)
        }
    }

    private func names(in folder: String) -> [String] {
        guard let entries = opendir(folder) else { return [] }
        defer { closedir(entries) }
        var names: [String] = []
        while let entry = readdir(entries) {
            let name = entry.pointee.d_name
            names.append(text(of: name))
        }
        return names.filter { $0 != "." && $0 != ".." }
    }

    @TendonActor
    private func manager(_ open: OpenObvious) -> OcelotFirmwareManager {
        let manager = OcelotFirmwareManager()
        manager.setDeviceConnector(open.connector)
        if let folder { manager.setFileCacheDirectory(folder) }
        return manager
    }

    /// Reports both versions; nil: nothing newer.
    @TendonActor
    func check(_ open: OpenObvious, _ events: Events) async throws(CommandError) -> OcelotFirmwareInfo? {
        let manager = manager(open)
        let (current, new) = try await open.ask { (_) throws(OcelotError) in
            try await manager.availableFirmware(appVersion: appVersion)
        }
        // Nothing newer, or why it is not known.
        if new == nil, let error = manager.lastError { throw CommandError(error) }
        let version = ObviousVersion.text(UInt32(clamping: current))
        var members: JSON = ["firmware": .string(version), "available": .null]
        var words = "firmware \(version)"
        if let new {
            members["available"] = .string(sanitized(new.versionName))
            members["release_notes"] = .string(sanitized(new.releaseNotes))
            members["text"] = .string(sanitized(new.upgradeMessage))
            words += ", \(sanitized(new.versionName)) is available\n  \(sanitized(new.releaseNotes))\n"
            if !new.upgradeMessage.isEmpty { words += "  \(sanitized(new.upgradeMessage))\n" }
        } else {
            words += ", nothing newer\n"
        }
        events.result("firmware_check", open.label, members, text: words)
        return new
    }

    @TendonActor
    func run(_ open: OpenObvious, _ events: Events) async throws(CommandError) {
        let manager = manager(open)
        let bar = ProgressBar("transfer", total: try await size(open), open.label, events)
        let total = bar.total
        defer { bar.finish() }
        do throws(OcelotError) {
            try await manager.upgradeFirmware(appVersion: appVersion) { _, percent in
                switch percent {
                case OcelotFirmwareManager.FIRMWARE_PROGRESS_PREPARING: events.firmware("PREPARING", open.label)
                case OcelotFirmwareManager.FIRMWARE_PROGRESS_RESETTING:
                    bar.finish()
                    events.firmware("RESETTING", open.label)
                default: bar.update(total * percent / 100)
                }
            }
        } catch {
            bar.finish()
            guard !error.isCancelled else {
                throw CommandError(
                    .failed, "interrupted: the device keeps what it has received",
                    next: "the same command, which continues")
            }
            throw CommandError(error)
        }
        bar.finish()
        events.firmware("SUCCESS", open.label)
    }

    /// Of the image, as the cloud announces it: for rate and time left.
    @TendonActor
    private func size(_ open: OpenObvious) async throws(CommandError) -> Int {
        let info = try await open.ask { (manager) throws(OcelotError) in try await manager.deviceInfo() }
        let query = FirmwareQuery(
            productId: open.product, serialNumber: info.serialNumber ?? "",
            currentVersion: info.firmwareVersion ?? "0.0.0", appVersion: appVersion)
        let release = try await CloudAccess.call { () throws(ObviousCloudError) in
            guard let cloud = ObviousCloud.installed else { throw .noCloud }
            return try await cloud.latestFirmware(query, key: nil)
        }
        return release?.size ?? 0
    }
}

extension Events {
    fileprivate func firmware(_ status: String, _ label: DeviceLabel) {
        result("update", label, ["step": "firmware", "status": .string(status)], text: "firmware: \(status)\n")
    }
}
