// SPDX-License-Identifier: MIT
#if ObviousCloud
    import Tendon
    import TendonObvious
    import TestSupport

    /// Both listeners of a feature manager: what was called, in order, as lines.
    @TendonActor
    public final class FeatureLog: OcelotFeatureEventListener, OcelotToggleEventListener, OcelotDeviceInfoListener {
        public private(set) var lines: [String] = []
        public private(set) var infos: [OcelotDeviceInfo?] = []
        /// Called after each line.
        public var onLine: ((String) -> Void)?

        public init() {}

        private func note(_ line: String) {
            lines.append(line)
            onLine?(line)
        }

        public func onFeatureUpdateStatus(_ status: Int) {
            note("update \(FeatureUpdateConstants.name(status) ?? "?")")
        }
        public func onProvisioningStatus(_ status: Int) {
            note("provisioning \(ProvisionUpdateConstants.name(status) ?? "?")")
        }
        public func onFeatureList(_ features: [String: Int]?) {
            note(
                "list \(features.map { $0.sorted { $0.value < $1.value }.map { "\($0.key)=\($0.value)" }.joined(separator: " ") } ?? "nil")"
            )
        }
        public func onCheckFeatureStatus(_ featureid: Int, _ status: Int) { note("feature \(featureid) \(status)") }
        public func onCheckFeatureStatus(_ featureid: Int, _ status: OcelotFeatureStatus) {
            note("toggle \(featureid) \(text(status))")
        }
        public func onCheckFeatureStatuses(_ statuses: [Int: OcelotFeatureStatus]) { note("checked \(text(statuses))") }
        public func didToggleFeatureStatus(_ featureId: Int, _ status: OcelotFeatureStatus) {
            note("toggled \(featureId) \(text(status))")
        }
        public func didToggleFeatureStatuses(_ statuses: [Int: OcelotFeatureStatus]) {
            note("toggledAll \(text(statuses))")
        }
        public func featureStatusFailure() { note("failure") }
        public func onDeviceInfoAvailable(_ info: OcelotDeviceInfo?) { infos.append(info) }

        private func text(_ status: OcelotFeatureStatus) -> String { "\(status.enableState) \(status.toggleState)" }
        private func text(_ statuses: [Int: OcelotFeatureStatus]) -> String {
            statuses.sorted { $0.key < $1.key }.map { "\($0.key): \(text($0.value))" }.joined(separator: ", ")
        }
    }

    extension OcelotSite {
        /// A manager with a ready connector to the device.
        @TendonActor public func manager(
            _ cloud: ScriptedCloud = ScriptedCloud(), listener: FeatureLog? = nil, productId: String = "1234"
        ) -> OcelotFeatureManager {
            let manager = OcelotFeatureManager(cloud: cloud, trust: signer.trust)
            manager.setDeviceConnector(
                OcelotDeviceConnector(to: device.address, productId: productId, radio: radio, bonds: .memory))
            manager.setFeatureEventListener(listener)
            manager.setToggleEventListener(listener)
            manager.setFileCacheDirectory(cache)
            return manager
        }

        /// The same for firmware.
        @TendonActor public func firmwareManager(
            _ cloud: ScriptedCloud, listener: FirmwareLog? = nil
        ) -> OcelotFirmwareManager {
            let manager = OcelotFirmwareManager(cloud: cloud, trust: signer.trust)
            manager.setDeviceConnector(
                OcelotDeviceConnector(to: device.address, productId: "1234", radio: radio, bonds: .memory))
            manager.setEventListener(listener)
            manager.setFileCacheDirectory(cache)
            return manager
        }

        /// A cloud that offers an image as version 1.4.0.
        public func cloud(offering image: [UInt8], version: UInt32 = 1_004_000) -> ScriptedCloud {
            let manifest = signer.manifest(of: image, version: version)
            return ScriptedCloud { script in
                script.image = image
                script.release = FirmwareRelease(
                    info: OcelotFirmwareInfo(
                        versionCode: 1, versionName: "1.4.0", releaseNotes: "notes", upgradeMessage: "message"),
                    size: image.count, crc32: crc32(image), sha256: sha256(image), manifest: manifest, url: "/image.bin"
                )
            }
        }
    }

    /// The listeners of a firmware manager: what was called, in order, as lines.
    @TendonActor
    public final class FirmwareLog: OcelotFirmwareEventListener, OcelotFirmwareAvailableListener {
        public private(set) var lines: [String] = []
        public private(set) var progress: [Int] = []
        public private(set) var available: [(version: Int64, info: OcelotFirmwareInfo?)] = []

        public init() {}

        public func onFirmwareProgressUpdate(_ serialNumber: String, _ percent: Int) {
            progress.append(percent)
            if lines.last != "progress \(serialNumber)" { lines.append("progress \(serialNumber)") }
        }
        public func onFirmwareUpgradeStatus(_ status: OcelotFirmwareManager.OcelotFirmwareUpgradeStatus) {
            lines.append("\(status)")
        }
        public func onFirmwareUpgradeSuccessful() { lines.append("successful") }
        public func onFirmwareUpgradeFailed() { lines.append("failed") }
        public func onFirmwareDownloadFailed() { lines.append("download failed") }
        public func onFirmwareUpgradeAvailable(currentVersion: Int64, newFirmwareInfo: OcelotFirmwareInfo?) {
            available.append((currentVersion, newFirmwareInfo))
        }
    }
#endif
