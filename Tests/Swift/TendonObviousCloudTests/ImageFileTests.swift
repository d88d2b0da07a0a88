// SPDX-License-Identifier: MIT
import Foundation
import TendonObvious
import TestSupport
import Testing

@testable import TendonObvious
@testable import TendonObviousCloud

/// The file of a download, and an image in the cache: what the disk does not do.
@Suite struct ImageFileTests {
    private final class Place {
        let path = NSTemporaryDirectory() + "tendon-image-\(UUID().uuidString)"
        private var others: [String] { [path, path + ".part", path + ".etag"] }
        var names: [String] { others.filter { FileManager.default.fileExists(atPath: $0) } }

        deinit { for name in others { unlink(name) } }

        func file(_ size: Int = 8, _ progress: (@Sendable (Int) -> Void)? = nil) throws -> ImageFile {
            try ImageFile(path: path, size: size, progress: progress)
        }
    }

    private let tag = #""v1""#

    private func append(_ text: String, _ file: ImageFile) throws(TransferFailure) {
        let bytes = Array(text.utf8)
        var failure: TransferFailure?
        bytes.withUnsafeBytes { bytes in
            do throws(TransferFailure) { try file.append(bytes) } catch { failure = error }
        }
        if let failure { throw failure }
    }

    private func begin(_ file: ImageFile) throws {
        try file.beginAnswer(isPart: false, rangeStart: nil, entityTag: tag)
    }

    @Test func aFileThatCannotBeUsed() throws {
        let place = Place()
        let none = calls(of: "close") {
            #expect(throws: ImageFile.failed) { try failing("open", with: EMFILE) { try place.file() } }
        }
        #expect(none == 0)
        let closed = calls(of: "close") {
            #expect(throws: ImageFile.failed) { try failing("fstat", with: EIO) { try place.file() } }
        }
        #expect(closed == 1)
        // Something else of that name.
        unlink(place.path + ".part")
        #expect(mkfifo(place.path + ".part", 0o600) == 0)
        let refused = calls(of: "close") { #expect(throws: ImageFile.failed) { try place.file() } }
        #expect(refused == 1)
    }

    @Test func descriptorsAreClosed() throws {
        let place = Place()
        var file: ImageFile? = try place.file()
        // That of the tag.
        #expect(try calls(of: "close") { try begin(file!) } == 1)
        #expect(calls(of: "close") { file = nil } == 1)
        // The part's stays open, the tag's does not.
        #expect(try calls(of: "close") { file = try place.file() } == 1)
        #expect(file?.entityTag == tag)
    }

    @Test func aDiskThatTakesNoMore() throws {
        let place = Place()
        let file = try place.file()
        for name in ["ftruncate", "open", "write"] {
            #expect(throws: TransferFailure.storage) { try failing(name, with: ENOSPC) { try begin(file) } }
            file.prepareForAnswer()
        }
        try begin(file)
        try append("123", file)
        // One byte is what a disk that is nearly full may take.
        try append("4", file)
        #expect(throws: TransferFailure.storage) { try failing("pwrite", with: ENOSPC) { try append("5678", file) } }
        #expect(file.count == 4)
        try append("5678", file)
        for name in ["ftruncate", "rename"] {
            #expect(throws: ImageFile.failed) { try failing(name, with: EIO) { try file.complete() } }
            #expect(place.names == [place.path + ".part", place.path + ".etag"])
        }
        try file.complete()
        #expect(place.names == [place.path])
    }

    /// Without its tag nothing is continued.
    @Test func whatIsStartedOver() throws {
        let place = Place()
        var file = try place.file()
        try begin(file)
        try append("1234", file)
        file = try place.file()
        #expect(file.count == 4 && file.rangeHeaders == ["Range: bytes=4-", "If-Range: \(tag)"])
        try file.startOver()
        #expect(file.count == 0 && file.entityTag.isEmpty && file.rangeHeaders.isEmpty)
        #expect(place.names == [place.path + ".part"])
        #expect(try FileManager.default.attributesOfItem(atPath: place.path + ".part")[.size] as? Int == 0)
    }

    // MARK: The cache

    @Test func anImageInTheCache() throws {
        let place = Place()
        #expect(FirmwareImage(place.path) == nil)
        #expect(FileManager.default.createFile(atPath: place.path, contents: Data("12345678".utf8)))
        let closed = calls(of: "close") {
            _ = failing("fstat", with: EIO) { #expect(FirmwareImage(place.path) == nil) }
        }
        #expect(closed == 1)
        var image: FirmwareImage? = FirmwareImage(place.path)
        #expect(image?.count == 8)
        #expect(image?.part(at: 6, count: 4) == Array("78".utf8))
        #expect(failing("pread", with: EIO) { image?.part(at: 6, count: 4) }.result == [])
        #expect(calls(of: "close") { image = nil } == 1)
        let folder = calls(of: "close") { #expect(FirmwareImage(NSTemporaryDirectory()) == nil) }
        #expect(folder == 1)
    }

    @Test func aFolderThatCannotBeRead() throws {
        let folder = NSTemporaryDirectory() + "tendon-images-\(UUID().uuidString)"
        defer { rmdir(folder) }
        let cache = FileCache(folder: folder)
        #expect(try calls(of: "close") { _ = try cache.preparedImagePath([1]) } == 1)
        let closed = calls(of: "close") {
            #expect(throws: ObviousCloudError(.storage, "others may change the folder of images: \(folder)")) {
                try failing("fstat", with: EIO) { try cache.preparedImagePath([1]) }
            }
        }
        #expect(closed == 1)
        #expect(throws: ObviousCloudError(.storage, "the folder of images cannot be opened: \(folder)")) {
            try failing("open", with: EMFILE) { try cache.preparedImagePath([1]) }
        }
    }

    // MARK: The engine

    /// The call fails; the next one tries again.
    @Test func anEngineWithoutAThread() async throws {
        let engine = try TransferEngine()
        let request = HTTPRequest(
            url: try #require(CloudURL("http://127.0.0.1:1/")), headers: [],
            limits: TransferLimits())
        failNextCall(of: "pthread_create", with: EAGAIN)
        guard case .failure(.storage) = await engine.run(request) else {
            Issue.record("there is a thread")
            return
        }
        guard case .failure(.network) = await engine.run(request) else {
            Issue.record("it tries again")
            return
        }
    }

    @Test func libcurlWithoutMemory() throws {
        #expect(throws: ObviousCloudError(.storage, "libcurl cannot be initialized")) {
            try failing("curl_multi_init", with: ENOMEM) { try TransferEngine() }
        }
        // One that was never used releases its handle.
        var engine: TransferEngine? = try TransferEngine()
        #expect(calls(of: "curl_multi_cleanup") { engine = nil } == 1)
        _ = engine
    }
}
