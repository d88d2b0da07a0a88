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
    ObviousAccess.options + CloudAccess.options + [CloudAccess.appVersion]

extension Command {
    static let obviousFirmwareCheck = Command(
        "obvious firmware check",
        summary: "check whether there is newer firmware for an Obvious device",
        details: [
            "Prints the device's version, and the newer one with its release notes. Its manifest must be signed with a key of "
                + "--keys-file and permit this device. A firmware on trial is tested and confirmed first."
        ],
        options: firmwareOptions,
        common: Command.once,
        examples: [("tendon obvious firmware check --keys-file keys", "the first device in range")]
    ) { (arguments: Arguments) throws(CommandError) in
        guard arguments.operands.isEmpty else { throw .usage("obvious firmware check takes no operands") }
        let access = try ObviousAccess(arguments, cloud: true)
        let upgrade = try FirmwareUpgrade(arguments)
        try await access.withDevice { (open) throws(CommandError) in
            _ = try await upgrade.check(open.connector, UpgradeReport(open.label, access.events))
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
        common: Command.once,
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
            let report = UpgradeReport(open.label, access.events)
            guard isDry else { return try await upgrade.run(open.connector, report) }
            guard let new = try await upgrade.check(open.connector, report) else { return }
            access.events.dryRun(
                "obvious firmware upgrade", "would write firmware \(sanitized(new.versionName))", open.label)
        }
        return .done
    }
}

/// Where the steps of an upgrade go.
struct UpgradeReport: Sendable {
    let label: DeviceLabel
    let events: Events
    /// `run`: everything is an event. A command prints results in its own words, and draws a bar.
    private let isService: Bool

    init(_ label: DeviceLabel, _ events: Events, isService: Bool = false) {
        (self.label, self.events, self.isService) = (label, events, isService)
    }

    func bar(_ what: String, total: Int) -> ProgressBar {
        ProgressBar(what, total: total, label, events, mayDraw: !isService)
    }

    /// Both versions; `new`: nil: nothing newer.
    func found(_ version: String, _ new: OcelotFirmwareInfo?) {
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
        result("firmware_check", members, text: words)
    }

    func firmware(_ status: String) {
        result("update", ["step": "firmware", "status": .string(status)], text: "firmware: \(status)\n")
    }

    /// How an upgrade ended that did not succeed; a command says it with its error.
    func ended(_ status: String) { if isService { firmware(status) } }

    private func result(_ name: EventName, _ members: JSON, text: String) {
        if isService { events.event(name, label, members) } else { events.result(name, label, members, text: text) }
    }
}

struct FirmwareUpgrade: Sendable {
    let appVersion: String
    /// Of an upgrade that starts again: an empty one; nil: the usual one.
    private let folder: String?
    private let makeManager: @TendonActor @Sendable () -> OcelotFirmwareManager

    /// - Parameter makeManager: of another cloud than the installed one.
    init(
        appVersion: String, folder: String?, makeManager: @escaping @TendonActor @Sendable () -> OcelotFirmwareManager
    ) {
        (self.appVersion, self.folder, self.makeManager) = (appVersion, folder, makeManager)
    }

    init(_ arguments: Arguments) throws(CommandError) {
        appVersion = arguments.value(CloudAccess.appVersion) ?? ""
        makeManager = { OcelotFirmwareManager() }
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
            for name in fileNames(in: below) { unlink(below + "/" + name) }
            rmdir(below)
        }
    }

    @TendonActor
    private func manager(_ connector: OcelotDeviceConnector) -> OcelotFirmwareManager {
        let manager = makeManager()
        manager.setDeviceConnector(connector)
        if let folder { manager.setFileCacheDirectory(folder) }
        return manager
    }

    /// Reports both versions; nil: nothing newer.
    @TendonActor
    func check(
        _ connector: OcelotDeviceConnector, _ report: UpgradeReport
    ) async throws(CommandError) -> OcelotFirmwareInfo? {
        let manager = manager(connector)
        do throws(OcelotError) {
            let (current, new) = try await manager.availableFirmware(appVersion: appVersion)
            // Nothing newer, or why it is not known.
            if new == nil, let error = manager.lastError { throw error }
            report.found(ObviousVersion.text(UInt32(clamping: current)), new)
            if manager.isTrialOfAnother {
                Output.error.line(
                    "tendon: this firmware is on trial, and another gateway has installed it: it is left alone, and no "
                        + "upgrade can begin before the trial has ended")
            }
            return new
        } catch {
            throw CommandError(error)
        }
    }

    @TendonActor
    func run(_ connector: OcelotDeviceConnector, _ report: UpgradeReport) async throws(CommandError) {
        let manager = manager(connector)
        let progress = UpgradeProgress(report)
        do throws(OcelotError) {
            try await manager.upgradeFirmware(appVersion: appVersion, onStep: progress.take)
        } catch {
            progress.finish()
            switch error {
            case .cancelled:
                report.ended("INTERRUPTED")
                throw CommandError(
                    .failed, "interrupted: the device keeps what it has received",
                    next: "the same command, which continues")
            case .upgrade(.UNAVAILABLE, cause: nil):  // nothing newer, which is reported
                return report.ended("UNAVAILABLE")
            case .upgrade(let status, cause: _): report.ended("\(status)")
            case .busy: break  // it has not begun
            default: report.ended("FAILED")
            }
            throw CommandError(error)
        }
        progress.finish()
        report.firmware("SUCCESS")
    }
}

/// What the user sees of an upgrade: a bar for the download, then one for the transfer.
@TendonActor
private final class UpgradeProgress {
    private let report: UpgradeReport
    private var size = 0
    private var bar: (what: String, bar: ProgressBar)?

    init(_ report: UpgradeReport) { self.report = report }

    func take(_ step: OcelotUpgradeStep) {
        switch step {
        case .preparing: report.firmware("PREPARING")
        case .found(let version, let new, let size):
            report.found(ObviousVersion.text(UInt32(clamping: version)), new)
            self.size = size
        case .downloading(let bytes): show("download", bytes)
        case .sending(let percent): show("transfer", size * percent / 100)
        case .resetting:
            finish()
            report.firmware("RESETTING")
        }
    }

    /// Without a size the image was sent by an earlier run.
    private func show(_ what: String, _ bytes: Int) {
        guard size > 0 else { return }
        if bar?.what != what {
            finish()
            bar = (what, report.bar(what, total: size))
        }
        bar?.bar.update(bytes)
    }

    func finish() { bar?.bar.finish() }
}
