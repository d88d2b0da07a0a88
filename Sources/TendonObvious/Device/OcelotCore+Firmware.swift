// SPDX-License-Identifier: MIT
//
// The cloud's part of a firmware check and of an upgrade: the newest release, its image.

import CTendon
import Synchronization
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
                if withImage, let self, self.accepts(release, for: operation), let release {
                    let progress = self.downloadProgress(operation, size: release.size)
                    operation.imageUse = try cache.use(release.sha256)
                    cache.removeImages(except: release.sha256)
                    offer?.image = try await Self.image(of: release, service, key, cache, cryptography, progress)
                }
                result = .success(offer)
            } catch {
                result = .failure(error)
            }
            guard !Task.isCancelled else { return }
            self?.give(result, to: operation)
        }
    }

    /// Reports what an upgrade will write. False: the manifest is not valid, and its image is not downloaded; the C core
    /// says why. The same if the cloud names another image than the manifest.
    private func accepts(_ release: FirmwareRelease?, for operation: OcelotOperation) -> Bool {
        guard current === operation, !operation.isCancelled else { return false }
        let version = Int64(manager.pointer.pointee.fw)
        guard let release else {
            operation.report(.found(version: version, nil, newVersion: 0))
            return false
        }
        guard let manifest = verified(release.manifest) else { return false }
        guard Int(manifest.size) == release.size, manifest.crc32 == release.crc32,
            elements(manifest.sha256, of: UInt8.self, Int(TENDON_OBVIOUS_SHA256_SIZE)) == release.sha256
        else {
            operation.cloudError = ObviousCloudError(
                .crypto, "the image that the cloud names is not that of the signed manifest")
            return false
        }
        operation.report(.found(version: version, release, newVersion: Int64(manifest.version)))
        return true
    }

    /// As the C core will verify it with the image: what it rejects is not downloaded.
    private func verified(_ bytes: [UInt8]) -> tendon_obvious_manifest? {
        let c = manager.pointer.pointee
        let device = tendon_obvious_manifest_state(product: c.config.product, current: c.active, epoch: c.epoch)
        var manifest = tendon_obvious_manifest()
        let status = withPointer(to: device) {
            tendon_obvious_verify_manifest(bytes, bytes.count, ring.pointer, $0, &manifest)
        }
        return status >= 0 ? manifest : nil
    }

    /// For any thread: reports on the loop, once per percent.
    private func downloadProgress(_ operation: OcelotOperation, size: Int) -> @Sendable (Int) -> Void {
        let last = Mutex(-1)
        return { [weak self, loop] bytes in
            let percent = bytes * 100 / max(1, size)
            let isNew = last.withLock { last in
                defer { last = percent }
                return last != percent
            }
            guard isNew else { return }
            loop.post { [weak self] in
                guard let self, self.current === operation, !operation.isCancelled else { return }
                operation.report(.downloaded(bytes))
            }
        }
    }

    private struct Offer: Sendable {
        let release: FirmwareRelease
        var image: (file: FirmwareImage, crc32: UInt32, sha256: [UInt8])?
    }

    /// The image in the cache, if it is that of the release; else downloaded.
    private nonisolated static func image(
        of release: FirmwareRelease, _ service: any ObviousCloudService, _ key: ObviousAPIKey?, _ cache: FileCache,
        _ cryptography: any ObviousCryptography, _ progress: @escaping @Sendable (Int) -> Void
    ) async throws(ObviousCloudError) -> (file: FirmwareImage, crc32: UInt32, sha256: [UInt8]) {
        let path = try cache.preparedImagePath(release.sha256)
        if let file = FirmwareImage(path) {
            let sums = file.sums(cryptography)
            if sums.sha256 == release.sha256 { return (file, sums.crc32, sums.sha256) }
            cache.remove(path)
        }
        try await service.downloadImage(of: release, to: path, key: key, progress: progress)
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
        }
        tendon_obvious_manager_give(manager.pointer, &answer, tendon_monotonic_ms())
        transport.refresh()
    }
}
