// SPDX-License-Identifier: MIT
import Foundation
import ObviousTestSupport
import Tendon
import TendonObvious
import TestSupport
import Testing

/// Firmware checks and upgrades: the orders of callbacks of docs/protocols/obvious.md.
@Suite(.timeLimit(.minutes(1))) struct FirmwareTests {
    private let image = (0..<20_000).map { UInt8(truncatingIfNeeded: $0 * 7) }

    @TendonActor private func checked(
        _ site: OcelotSite, _ cloud: ScriptedCloud, connects: Bool = true
    ) async throws -> (version: Int64, info: OcelotFirmwareInfo?, error: OcelotError?) {
        let log = FirmwareLog()
        let manager = site.firmwareManager(cloud)
        if connects { try await manager.getDeviceConnector().openAndWait() }
        #expect(manager.upgradeCheck("2.1.0", log))
        #expect(log.available.isEmpty)
        await eventually("it is called") { !log.available.isEmpty }
        #expect(log.available.count == 1)
        return (log.available[0].version, log.available[0].info, manager.lastError)
    }

    @Test @TendonActor func newerFirmware() async throws {
        let site = try await OcelotSite()
        let cloud = site.cloud(offering: image)
        let (version, info, error) = try await checked(site, cloud)
        #expect(version == 1_003_000 && error == nil)
        // The version is that of the signed manifest.
        #expect(
            info
                == OcelotFirmwareInfo(
                    versionCode: 1_004_000, versionName: "1.4.0", releaseNotes: "notes", upgradeMessage: "message"))
        #expect(
            cloud.calls.firmware == [
                FirmwareQuery(
                    productId: "1234", serialNumber: "1122334455667788", currentVersion: "1.3.0", appVersion: "2.1.0")
            ])
    }

    /// 999.999.999 is the highest version.
    @Test @TendonActor func theHighestVersion() async throws {
        let site = try await OcelotSite { $0.firmware = 999_999_999 }
        #expect(try await checked(site, ScriptedCloud()).version == 999_999_999)
    }

    @Test @TendonActor func nothingNewer() async throws {
        let site = try await OcelotSite()
        let (version, info, error) = try await checked(site, ScriptedCloud())
        #expect(version == 1_003_000 && info == nil && error == nil)
        let failure = ObviousCloudError(.network, "not reachable")
        let failed = try await checked(site, ScriptedCloud { $0.error = failure })
        #expect(failed.version == 1_003_000 && failed.info == nil && failed.error == .cloud(failure))
    }

    /// The async form: a check without the cloud returns the device's version, and lastError says why it is alone.
    @Test @TendonActor func aCheckWithoutTheCloud() async throws {
        let site = try await OcelotSite()
        let failure = ObviousCloudError(.network, "not reachable")
        let cloud = ScriptedCloud { $0.error = failure }
        let manager = site.firmwareManager(cloud)
        try await manager.getDeviceConnector().openAndWait()
        for expected in [failure, nil] {
            cloud.set { $0.error = expected }
            let (version, firmware) = try await manager.availableFirmware(appVersion: "2.1.0")
            #expect(version == 1_003_000 && firmware == nil)
            #expect(manager.lastError == expected.map { .cloud($0) })
        }
    }

    @Test @TendonActor func aManifestThatIsNotValid() async throws {
        let site = try await OcelotSite()
        let cloud = site.cloud(offering: image)
        cloud.set { script in
            let release = script.release!
            var manifest = release.manifest
            manifest[12] ^= 1
            script.release = FirmwareRelease(
                info: release.info, size: release.size, crc32: release.crc32, sha256: release.sha256,
                manifest: manifest, url: release.url)
        }
        let (version, info, error) = try await checked(site, cloud)
        #expect(version == 1_003_000 && info == nil && error != nil)
    }

    @Test @TendonActor func withoutADevice() async throws {
        let site = try await OcelotSite()
        let (version, info, error) = try await checked(site, ScriptedCloud(), connects: false)
        #expect(version == OcelotServiceConstants.INVALID_FIRMWARE_VERSION && info == nil && error != nil)
    }

    @Test @TendonActor func anUpgrade() async throws {
        let site = try await OcelotSite()
        let cloud = site.cloud(offering: image)
        let log = FirmwareLog()
        let manager = site.firmwareManager(cloud, listener: log)
        #expect(manager.startFirmwareUpgrade("1.0.0"))
        #expect(!manager.startFirmwareUpgrade("1.0.0"))
        await eventually("it ends") { log.lines.last == "successful" }
        #expect(log.lines == ["progress 1122334455667788", "SUCCESS", "successful"])
        #expect(log.progress.first == OcelotFirmwareManager.FIRMWARE_PROGRESS_PREPARING)
        #expect(log.progress.last == OcelotFirmwareManager.FIRMWARE_PROGRESS_RESETTING)
        let percent = log.progress.dropFirst().dropLast()
        #expect(percent.first == 0 && percent.last == 100 && percent.elementsEqual(Set(percent).sorted()))
        #expect(await site.device.firmware == 1_004_000)
        #expect(await !site.device.isOnTrial)
        #expect(manager.lastError == nil)
        await eventually("it is reported") { cloud.calls.firmwareReports == ["SUCCESS"] }
        // The image is no longer needed; the record of the device stays.
        let files = try FileManager.default.contentsOfDirectory(atPath: site.cache)
        #expect(!files.contains { $0.hasSuffix(".bin") }, "\(files)")
    }

    @Test @TendonActor func results() async throws {
        let site = try await OcelotSite()
        let manager = site.firmwareManager(ScriptedCloud())
        await #expect(throws: OcelotError.self) { try await manager.upgradeFirmware(appVersion: "1.0.0") }
        guard case .upgrade(.UNAVAILABLE, _) = manager.lastError else {
            Issue.record("\(String(describing: manager.lastError))")
            return
        }
        var steps: [OcelotUpgradeStep] = []
        await #expect(throws: OcelotError.self) {
            try await manager.upgradeFirmware(appVersion: "1.0.0", onStep: { steps.append($0) })
        }
        #expect(
            steps == [
                .preparing(serialNumber: "1122334455667788"),
                .found(currentVersion: 1_003_000, newFirmware: nil, size: 0),
            ])
        let other = site.cloud(offering: image)
        other.set { $0.image[7] ^= 1 }
        let failing = site.firmwareManager(other)
        var error: OcelotError?
        do throws(OcelotError) {
            try await failing.upgradeFirmware(appVersion: "1.0.0")
        } catch let caught {
            error = caught
        }
        guard case .upgrade(.DOWNLOAD_FAILED, _?) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(await site.device.counters.dataBytes == 0)
    }

    /// Another program continues where the first one was killed.
    @Test @TendonActor func anUpgradeContinuesInAnotherManager() async throws {
        let site = try await OcelotSite()
        let cloud = site.cloud(offering: image)
        let end = await CutShort().upgrade(site.firmwareManager(cloud))
        #expect(throws: OcelotError.self) { try end.get() }
        await eventually("its connection ends") { await site.device.connections == 0 }
        let before = await site.device.counters.dataBytes
        var seen: [Int] = []
        try await site.firmwareManager(cloud).upgradeFirmware(appVersion: "1.0.0") { seen.append($1) }
        #expect(await site.device.firmware == 1_004_000)
        // A page of the flash memory may be sent twice.
        #expect(await site.device.counters.dataBytes <= UInt64(image.count) + 4096 + 4000, "before: \(before)")
    }

    /// The program ends in the middle of an upgrade, after the trial boot, and the application checks before it upgrades: its
    /// own trial is confirmed, one that it knows nothing of is not.
    @Test @TendonActor func aTrialIsConfirmedByTheGatewayThatInstalledIt() async throws {
        let site = try await OcelotSite()
        let cloud = site.cloud(offering: image)
        let first = site.firmwareManager(cloud)
        let task = Task {
            try await first.upgradeFirmware(appVersion: "1.0.0") { (step: OcelotUpgradeStep) in
                if step == .resetting { first.cancel() }
            }
        }
        await #expect(throws: OcelotError.self) { try await task.value }
        await eventually("its connection ends") { await site.device.connections == 0 }
        await eventually("it runs the new firmware") { await site.device.firmware == 1_004_000 }
        #expect(await site.device.isOnTrial)

        let other = site.firmwareManager(cloud)
        other.setFileCacheDirectory(site.cache + "/other")
        try await other.getDeviceConnector().openAndWait()
        #expect(try await other.availableFirmware(appVersion: "1.0.0").currentVersion == 1_004_000)
        #expect(other.isTrialOfAnother)
        await #expect(throws: OcelotError.self) { try await other.upgradeFirmware(appVersion: "1.0.0") }
        #expect(other.isTrialOfAnother)
        #expect(await site.device.isOnTrial)
        other.getDeviceConnector().disconnect()
        await eventually("its connection ends") { await site.device.connections == 0 }

        let again = site.firmwareManager(cloud)
        try await again.getDeviceConnector().openAndWait()
        #expect(try await again.availableFirmware(appVersion: "1.0.0").currentVersion == 1_004_000)
        #expect(!again.isTrialOfAnother)
        #expect(await !site.device.isOnTrial)
        // The upgrade itself still has to be reported.
        try await again.upgradeFirmware(appVersion: "1.0.0")
        #expect(cloud.calls.firmwareReports == ["SUCCESS"])
    }

    /// An image that is in the cache is not downloaded again; one that has other bytes is removed first.
    @Test(arguments: [true, false]) @TendonActor func anImageInTheCache(_ isWhole: Bool) async throws {
        let site = try await OcelotSite()
        let cloud = site.cloud(offering: image)
        let path = try FileCache(folder: site.cache).preparedImagePath(sha256(image))
        #expect(write(isWhole ? image : Array(image.dropLast()), to: path))
        try await site.firmwareManager(cloud).upgradeFirmware(appVersion: "1.0.0")
        #expect(await site.device.firmware == 1_004_000)
        #expect(cloud.calls.downloads == (isWhole ? [] : [false]))
    }

    /// A cloud that names another image than the signed manifest: nothing is downloaded.
    @Test(arguments: ["size", "sha256", "crc32"]) @TendonActor func anotherImageThanThatOfTheManifest(
        _ member: String
    ) async throws {
        let site = try await OcelotSite()
        let cloud = site.cloud(offering: image)
        cloud.set { script in
            let release = script.release!
            script.release = FirmwareRelease(
                info: release.info, size: release.size + (member == "size" ? 1 : 0),
                crc32: release.crc32 ^ (member == "crc32" ? 1 : 0),
                sha256: member == "sha256" ? [UInt8](repeating: 7, count: 32) : release.sha256,
                manifest: release.manifest, url: release.url)
        }
        let manager = site.firmwareManager(cloud)
        await #expect(throws: OcelotError.self) { try await manager.upgradeFirmware(appVersion: "1.0.0") }
        #expect(cloud.calls.downloads == [])
        #expect(await site.device.counters.dataBytes == 0)
        guard case .cloud(let error)? = manager.lastError else {
            Issue.record("\(String(describing: manager.lastError))")
            return
        }
        #expect(error.kind == .crypto)
    }

    /// What is left of other releases is removed before an image is downloaded, unless it is in use, and all of this one
    /// after the upgrade.
    @Test @TendonActor func imagesOfOtherReleases() async throws {
        let site = try await OcelotSite()
        let cache = FileCache(folder: site.cache)
        func other(_ byte: UInt8) throws -> String {
            try cache.preparedImagePath([UInt8](repeating: byte, count: 32))
        }
        let used = try other(2)
        for path in [try other(1), used] {
            for suffix in ["", ".part", ".etag"] { #expect(write([1, 2, 3], to: path + suffix)) }
        }
        for name in ["/own.bin", "/ab.bin.part"] { #expect(write([1], to: site.cache + name)) }
        let use = try cache.use([UInt8](repeating: 2, count: 32))
        let own = try cache.preparedImagePath(sha256(image))
        for suffix in [".part", ".etag"] { #expect(write([1], to: own + suffix)) }
        try await site.firmwareManager(site.cloud(offering: image)).upgradeFirmware(appVersion: "1.0.0")
        let files = try FileManager.default.contentsOfDirectory(atPath: site.cache).filter { $0.contains(".bin") }
            .sorted()
        let two = String(repeating: "02", count: 32)
        #expect(
            files == [two + ".bin", two + ".bin.etag", two + ".bin.lock", two + ".bin.part", "ab.bin.part", "own.bin"])
        withExtendedLifetime(use) {}
    }

    @Test func constants() {
        #expect(
            OcelotFirmwareManager.OcelotFirmwareUpgradeStatus.allCases.map { "\($0)=\($0.rawValue)" } == [
                "SUCCESS=0", "DOWNLOAD_FAILED=1", "FAILED=2", "BOND_CANCELLED=3", "UNAVAILABLE=4",
            ])
        #expect(OcelotFirmwareManager.FIRMWARE_PROGRESS_PREPARING == -1)
        #expect(OcelotFirmwareManager.FIRMWARE_PROGRESS_RESETTING == -2)
        #expect(OcelotFirmwareManager.INVALID_FIRMWARE_VERSION == -1)
    }
}
