// SPDX-License-Identifier: MIT
import CTendon
import Tendon

/// Checks for firmware, and upgrades a device over the air.
///
/// ```swift
/// let manager = OcelotFirmwareManager.getFirmwareManager()
/// manager.setEventListener(self)
/// manager.setAPIKey("Your API Key")
/// manager.startFirmwareUpgrade("1.0.0")
/// ```
///
/// A new firmware is booted on trial, tested and confirmed; otherwise the device returns to the old one. An upgrade that
/// was interrupted, also by a restart of the program, continues where it ended when it is started again.
@TendonActor
public final class OcelotFirmwareManager {
    /// Results of an upgrade.
    public enum OcelotFirmwareUpgradeStatus: Int, Sendable, CaseIterable {
        /// The device runs the new firmware, and it is confirmed.
        case SUCCESS = 0
        /// There is no valid image; nothing was sent to the device.
        case DOWNLOAD_FAILED = 1
        /// The device runs the old firmware, or returns to it by itself.
        case FAILED = 2
        /// The device is not paired.
        case BOND_CANCELLED = 3
        /// There is no newer firmware, or the device cannot be upgraded.
        case UNAVAILABLE = 4
    }

    /// The version of a firmware that cannot be read.
    public nonisolated static let INVALID_FIRMWARE_VERSION = OcelotServiceConstants.INVALID_FIRMWARE_VERSION
    /// Progress before the transfer.
    public nonisolated static let FIRMWARE_PROGRESS_PREPARING = Int(TENDON_OBVIOUS_PROGRESS_PREPARING)
    /// Progress after the transfer: the device restarts.
    public nonisolated static let FIRMWARE_PROGRESS_RESETTING = Int(TENDON_OBVIOUS_PROGRESS_RESETTING)

    private static let production = OcelotFirmwareManager(.installed, nil, .production)
    private static let demo = OcelotFirmwareManager(.demo, nil, .demo)

    private var source: OcelotCloudSource
    private var connector: OcelotDeviceConnector
    private weak var listener: (any OcelotFirmwareEventListener)?
    private let feed = Feed<OcelotFirmwareUpdate>(Loop.shared)
    /// Why the last operation failed; `nil`: it succeeded.
    public private(set) var lastError: OcelotError?
    /// Whether the last check or upgrade found firmware on trial that no upgrade of this program has installed, as far as
    /// its records tell. It is left alone: the gateway that has installed it confirms it, or the device goes back to the
    /// firmware before within 5 minutes. Until then no upgrade can begin.
    public private(set) var isTrialOfAnother = false

    private init(
        _ cloud: OcelotCloudSource.Cloud, _ trust: ObviousTrust?, _ connector: OcelotDeviceConnector
    ) {
        source = OcelotCloudSource(cloud, trust: trust)
        self.connector = connector
        feed.delegate(isSet: { [weak self] in self?.listener != nil }) { [weak self] update in
            if let listener = self?.listener { update.deliver(to: listener) }
        }
    }

    /// A manager of its own, beside the shared ones, for programs with several devices. `trust`: `nil`: the installed
    /// keys.
    public convenience init(cloud: any ObviousCloudService, trust: ObviousTrust? = nil) {
        self.init(.own(cloud), trust, OcelotDeviceConnector())
    }

    /// The same with the installed cloud.
    public convenience init() { self.init(.installed, nil, OcelotDeviceConnector()) }

    /// The manager of the program, with the installed cloud.
    public static func getFirmwareManager() -> OcelotFirmwareManager { production }
    /// The manager of the program with the demo cloud.
    public static func getDemoFirmwareManager() -> OcelotFirmwareManager { demo }

    // MARK: Settings

    /// Sets the listener of upgrades, a weak reference.
    public func setEventListener(_ listener: (any OcelotFirmwareEventListener)?) { self.listener = listener }
    /// Sets the API key of its calls, instead of that of the cloud's configuration.
    public func setAPIKey(_ key: String) { source.setKey(key) }
    /// The folder of images and of what survives a restart; only this user may be able to write to it, else an upgrade
    /// fails. Unless it is set, images are in `$XDG_CACHE_HOME/obvious` (else `~/.cache`, else `/var/cache/tendon`) and
    /// the records of upgrades in `$XDG_STATE_HOME/tendon/journal`.
    public func setFileCacheDirectory(_ path: String) { source.cache = FileCache(folder: path) }
    /// The connector of the next operation. The program's feature manager and firmware manager have the same one.
    public func getDeviceConnector() -> OcelotDeviceConnector { connector }
    /// Sets the connector of the next operation: a ready one, or that of another manager.
    public func setDeviceConnector(_ connector: OcelotDeviceConnector) { self.connector = connector }
    /// The connection of the application has changed; the same as the connector's function.
    public func onConnectionStateChange(_ status: Int, _ state: Int) {
        connector.onConnectionStateChange(status, state)
    }

    /// What the listener receives, from now on. Each access creates a new sequence: keep the one that you iterate.
    public nonisolated var updates: EventStream<OcelotFirmwareUpdate> {
        EventStream(feed.sequence(capacity: 256, policy: .dropOldest, keeping: self))
    }

    /// Ends the operation in progress: its failure is reported.
    public func cancel() { connector.cancel() }

    // MARK: Check

    /// Checks for firmware. Returns false, and does not call the listener, while another operation is in progress. The
    /// listener is kept until it was called.
    @discardableResult
    public func upgradeCheck(_ appVersion: String, _ listener: any OcelotFirmwareAvailableListener) -> Bool {
        let answer = Feed<OcelotOutcome>(Loop.shared)
        answer.add { outcome in
            listener.onFirmwareUpgradeAvailable(
                currentVersion: outcome.error == nil ? outcome.version : Self.INVALID_FIRMWARE_VERSION,
                newFirmwareInfo: outcome.firmware)
        }
        return start(
            OcelotOperation(TENDON_OBVIOUS_CHECK_FIRMWARE, source(appVersion)) { [weak self] outcome in
                self?.lastError = outcome.error ?? outcome.note
                self?.isTrialOfAnother = outcome.isOtherTrial
                answer.pushSoon(outcome)
            })
    }

    /// The same with argument labels.
    @discardableResult
    public func upgradeCheck(appVersion: String, listener: any OcelotFirmwareAvailableListener) -> Bool {
        upgradeCheck(appVersion, listener)
    }

    /// Checks for firmware; returns the device's version, and the newer firmware if there is one.
    public func availableFirmware(
        appVersion: String
    ) async throws(OcelotError) -> (currentVersion: Int64, newFirmware: OcelotFirmwareInfo?) {
        let source = source(appVersion)
        let outcome = try await connector.outcome { OcelotOperation(TENDON_OBVIOUS_CHECK_FIRMWARE, source, onEnd: $0) }
        lastError = outcome.note
        isTrialOfAnother = outcome.isOtherTrial
        return (outcome.version, outcome.firmware)
    }

    // MARK: Upgrade

    /// Upgrades the device to the newest firmware; connects if necessary, and continues an upgrade that was interrupted.
    /// The listener receives progress and result. Returns false, and calls no listener, while another operation is in
    /// progress.
    @discardableResult
    public func startFirmwareUpgrade(_ appVersion: String) -> Bool {
        start(upgrading(appVersion) { [feed] in feed.pushSoon($0) })
    }

    /// The same with an argument label.
    @discardableResult
    public func startFirmwareUpgrade(appVersion: String) -> Bool { startFirmwareUpgrade(appVersion) }

    private func upgrading(
        _ appVersion: String, _ report: @escaping @TendonActor (OcelotFirmwareUpdate) -> Void
    ) -> OcelotOperation {
        upgrading(
            appVersion,
            onStep: { step in
                if case .progress(let serial, let percent) = step { report(.progress(serial, percent)) }
            },
            onEnd: { report(.status(OcelotFirmwareUpgradeStatus(rawValue: $0.code) ?? .FAILED)) })
    }

    private func upgrading(
        _ appVersion: String, onStep: @escaping @TendonActor (OcelotStep) -> Void,
        onEnd: @escaping @TendonActor (OcelotOutcome) -> Void
    ) -> OcelotOperation {
        OcelotOperation(TENDON_OBVIOUS_UPGRADE_FIRMWARE, source(appVersion), onStep: onStep) { [weak self] outcome in
            self?.lastError = outcome.error
            self?.isTrialOfAnother = outcome.isOtherTrial
            onEnd(outcome)
        }
    }

    /// Upgrades the device to the newest firmware; connects if necessary, and continues an upgrade that was interrupted.
    /// `onProgress`: serial number, and percent or a special value.
    public func upgradeFirmware(
        appVersion: String, onProgress: @escaping @TendonActor (String, Int) -> Void = { _, _ in }
    ) async throws(OcelotError) {
        try await upgrade(appVersion) {
            if case .progress(let serial, let percent) = $0 { onProgress(serial, percent) }
        }
    }

    /// The same with all that is known of the steps: for a program that shows them.
    ///
    /// ```swift
    /// try await OcelotFirmwareManager.getFirmwareManager().upgradeFirmware(appVersion: "1.0.0") { step in
    ///     if case .found(_, let firmware?, let size) = step { print(firmware.versionName, size) }
    /// }
    /// ```
    public func upgradeFirmware(
        appVersion: String, onStep: @escaping @TendonActor (OcelotUpgradeStep) -> Void
    ) async throws(OcelotError) {
        try await upgrade(appVersion) { if let step = OcelotUpgradeStep($0) { onStep(step) } }
    }

    private func upgrade(
        _ appVersion: String, _ onStep: @escaping @TendonActor (OcelotStep) -> Void
    ) async throws(OcelotError) {
        let steps = Feed<OcelotStep>(Loop.shared)
        steps.add(onStep)
        _ = try await connector.outcome { onEnd in
            upgrading(appVersion, onStep: { steps.pushSoon($0) }, onEnd: onEnd)
        }
    }

    // MARK: Information

    /// Reads the information about the device. Returns false, and does not call the listener, while another operation is
    /// in progress. The listener is kept until it was called.
    @discardableResult
    public func getDeviceInfo(delegate listener: any OcelotDeviceInfoDelegate) -> Bool {
        start(connector.information(source, listener) { [weak self] in self?.lastError = $0 })
    }

    private func source(_ appVersion: String) -> OcelotCloudSource {
        var source = source
        source.appVersion = appVersion
        return source
    }

    private func start(_ operation: OcelotOperation) -> Bool {
        lastError = connector.start(operation)
        return lastError == nil
    }
}

extension OcelotUpgradeStep {
    /// `nil`: of an update of features.
    init?(_ step: OcelotStep) {
        switch step {
        case .progress(let serial, OcelotFirmwareManager.FIRMWARE_PROGRESS_PREPARING):
            self = .preparing(serialNumber: serial)
        case .progress(_, OcelotFirmwareManager.FIRMWARE_PROGRESS_RESETTING): self = .resetting
        case .progress(_, let percent): self = .sending(percent: percent)
        case .found(let version, let release, let newVersion):
            let info = release?.info
            self = .found(
                currentVersion: version,
                newFirmware: info.map {
                    OcelotFirmwareInfo(
                        versionCode: newVersion, versionName: $0.versionName, releaseNotes: $0.releaseNotes,
                        upgradeMessage: $0.upgradeMessage)
                }, size: release?.size ?? 0)
        case .downloaded(let bytes): self = .downloading(bytes: bytes)
        case .update, .provisioning: return nil
        }
    }
}
