// SPDX-License-Identifier: MIT
//
// The cloud's part of a firmware check and of an upgrade: the newest release, its image, the report.

import CTendon
import Tendon

extension OcelotCore {
    /// Asks the cloud for the newest firmware, and downloads its image.
    func offer(_ operation: OcelotOperation, _ query: FirmwareQuery, withImage: Bool) {
        let (cloud, key, cache) = (operation.cloud, operation.key, operation.cache)
        let cryptography = ring.cryptography
        task = Task { @TendonActor [weak self] in
            let result: Result<Offer?, ObviousCloudError>
            do throws(ObviousCloudError) {
                let service = try cloud.get()
                let release = try await service.latestFirmware(query, key: key)
                operation.release = release
                var offer = release.map { Offer(release: $0) }
                if withImage, let release {
                    offer?.image = try await Self.image(of: release, service, key, cache, cryptography)
                }
                result = .success(offer)
            } catch {
                result = .failure(error)
            }
            guard !Task.isCancelled else { return }
            self?.give(result, to: operation)
        }
    }

    private struct Offer: Sendable {
        let release: FirmwareRelease
        var image: (file: FirmwareImage, crc32: UInt32, sha256: [UInt8])?
    }

    /// The image in the cache, if it is that of the release; else downloaded.
    private nonisolated static func image(
        of release: FirmwareRelease, _ service: any ObviousCloudService, _ key: ObviousAPIKey?, _ cache: FileCache,
        _ cryptography: any ObviousCryptography
    ) async throws(ObviousCloudError) -> (file: FirmwareImage, crc32: UInt32, sha256: [UInt8]) {
        let path = cache.imagePath(release.sha256)
        if let file = FirmwareImage(path) {
            let sums = file.sums(cryptography)
            if sums.sha256 == release.sha256 { return (file, sums.crc32, sums.sha256) }
            cache.remove(path)
        }
        try await service.downloadImage(of: release, to: path, key: key, progress: nil)
        guard let file = FirmwareImage(path) else {
            throw ObviousCloudError(.storage, "the image cannot be read")
        }
        let sums = file.sums(cryptography)
        return (file, sums.crc32, sums.sha256)
    }

    private func give(_ result: Result<Offer?, ObviousCloudError>, to operation: OcelotOperation) {
        guard current === operation else { return }
        var answer = tendon_obvious_answer()
        switch result {
        case .success(nil): answer.kind = TENDON_OBVIOUS_ANSWER_NOTHING
        case .success(let offer?):
            let (manifest, hash) = (CBytes(offer.release.manifest), CBytes(offer.image?.sha256 ?? []))
            (package, imageHash, image) = (manifest, hash, offer.image?.file)
            answer.kind = TENDON_OBVIOUS_ANSWER_GIVEN
            (answer.data, answer.length) = (UnsafePointer(manifest.pointer), manifest.count)
            if let image = offer.image, hash.count == Int(TENDON_OBVIOUS_SHA256_SIZE) {
                answer.image_length = UInt64(image.file.count)
                answer.image_crc32 = image.crc32
                answer.image_sha256 = UnsafePointer(hash.pointer)
            }
        case .failure(let error):
            operation.cloudError = error
            answer.kind = TENDON_OBVIOUS_ANSWER_FAILED
            answer.status = Int32(TENDON_ERROR_NOT_FOUND)
        }
        tendon_obvious_manager_give(manager.pointer, &answer, tendon_monotonic_ms())
        transport.refresh()
    }

    func reportFirmware(_ operation: OcelotOperation) {
        guard case .success(let cloud) = operation.cloud else { return }
        let (serial, version) = (serialText(manager.pointer.pointee.serial), manager.pointer.pointee.record.version)
        let key = operation.key
        Task {
            try? await cloud.reportFirmware(
                serialNumber: serial, versionCode: Int64(version), status: "SUCCESS", key: key)
        }
    }
}
