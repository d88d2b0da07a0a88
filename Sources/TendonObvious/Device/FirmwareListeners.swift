// SPDX-License-Identifier: MIT
import CTendon
import Tendon

/// Receives progress and result of a firmware upgrade. A weak reference; called on the loop's thread.
///
/// ```swift
/// final class Host: OcelotFirmwareEventListener {
///     func onFirmwareProgressUpdate(_ serialNumber: String, _ percent: Int) { print(percent) }
///     func onFirmwareUpgradeStatus(_ status: OcelotFirmwareManager.OcelotFirmwareUpgradeStatus) { print(status) }
/// }
/// ```
@TendonActor
public protocol OcelotFirmwareEventListener: AnyObject {
    /// Percent, which may fall after a reconnection, or one of ``OcelotFirmwareManager/FIRMWARE_PROGRESS_PREPARING`` and
    /// ``OcelotFirmwareManager/FIRMWARE_PROGRESS_RESETTING``.
    func onFirmwareProgressUpdate(_ serialNumber: String, _ percent: Int)
    /// The result.
    func onFirmwareUpgradeStatus(_ status: OcelotFirmwareManager.OcelotFirmwareUpgradeStatus)
    /// The result of the vendor's other document: `SUCCESS`.
    func onFirmwareUpgradeSuccessful()
    /// The result of the vendor's other document: `FAILED`, `BOND_CANCELLED` or `UNAVAILABLE`.
    func onFirmwareUpgradeFailed()
    /// The result of the vendor's other document: `DOWNLOAD_FAILED`.
    func onFirmwareDownloadFailed()
}

extension OcelotFirmwareEventListener {
    public func onFirmwareUpgradeStatus(_ status: OcelotFirmwareManager.OcelotFirmwareUpgradeStatus) {}
    public func onFirmwareUpgradeSuccessful() {}
    public func onFirmwareUpgradeFailed() {}
    public func onFirmwareDownloadFailed() {}
}

/// Receives the result of a firmware check. Called once, on the loop's thread.
///
/// ```swift
/// final class Host: OcelotFirmwareAvailableListener {
///     func onFirmwareUpgradeAvailable(currentVersion: Int64, newFirmwareInfo: OcelotFirmwareInfo?) {
///         print(currentVersion, newFirmwareInfo?.versionName ?? "nothing newer")
///     }
/// }
/// ```
@TendonActor
public protocol OcelotFirmwareAvailableListener: AnyObject {
    /// `currentVersion`: XXX,XXX,XXX, or `OcelotServiceConstants.INVALID_FIRMWARE_VERSION`. `newFirmwareInfo`: `nil`:
    /// nothing newer.
    func onFirmwareUpgradeAvailable(currentVersion: Int64, newFirmwareInfo: OcelotFirmwareInfo?)
}

/// A step of an upgrade, with more than the listener receives.
public enum OcelotUpgradeStep: Sendable, Hashable {
    /// The upgrade begins.
    case preparing(serialNumber: String)
    /// What the cloud has for the device, whose manifest is verified; `nil`: nothing newer. `size`: bytes of its image.
    case found(currentVersion: Int64, newFirmware: OcelotFirmwareInfo?, size: Int)
    /// So many bytes of the image are in the cache. An image that was there before is not downloaded again.
    case downloading(bytes: Int)
    /// So many percent of the image are on the device; fewer after a reconnection.
    case sending(percent: Int)
    /// The device restarts.
    case resetting
}

/// What a firmware manager reports to its listener, as a value.
public enum OcelotFirmwareUpdate: Sendable, Hashable {
    /// Serial number, and percent or a special value.
    case progress(String, Int)
    /// The result.
    case status(OcelotFirmwareManager.OcelotFirmwareUpgradeStatus)

    @TendonActor func deliver(to listener: any OcelotFirmwareEventListener) {
        switch self {
        case .progress(let serial, let percent): listener.onFirmwareProgressUpdate(serial, percent)
        case .status(let status):
            listener.onFirmwareUpgradeStatus(status)
            switch status {
            case .SUCCESS: listener.onFirmwareUpgradeSuccessful()
            case .DOWNLOAD_FAILED: listener.onFirmwareDownloadFailed()
            case .FAILED, .BOND_CANCELLED, .UNAVAILABLE: listener.onFirmwareUpgradeFailed()
            }
        }
    }
}
