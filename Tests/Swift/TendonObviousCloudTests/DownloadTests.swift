// SPDX-License-Identifier: MIT
import Foundation
import Synchronization
import TendonObvious
import TendonSupport
import Testing

@testable import TendonObviousCloud

/// Values for a test's closures.
final class Values: Sendable {
    private let values: Mutex<[Double]>
    init(_ values: [Double]) { self.values = Mutex(values) }
    func next() -> Double { values.withLock { $0.isEmpty ? 1 : $0.removeFirst() } }
}

/// Images: capped, continued, and from permitted origins only.
@Suite(.serialized) struct DownloadTests {
    private let query = FirmwareQuery(
        productId: "1234", serialNumber: serial, currentVersion: "1.3.0", appVersion: "1.0.0")

    private func release(_ cloud: HTTPSCloud) async throws -> FirmwareRelease {
        try #require(try await cloud.latestFirmware(query, key: nil))
    }

    private func changed(_ release: FirmwareRelease, size: Int? = nil, url: String? = nil) -> FirmwareRelease {
        FirmwareRelease(
            info: release.info, size: size ?? release.size, crc32: release.crc32, sha256: release.sha256,
            manifest: release.manifest, url: url ?? release.url)
    }

    private func file(_ server: ReferenceCloud) -> String { server.folder + "/image.bin" }

    private func content(_ path: String) -> [UInt8] {
        (try? Data(contentsOf: URL(fileURLWithPath: path))).map { Array($0) } ?? []
    }

    private func ranges(_ server: ReferenceCloud) async throws -> [String?] {
        try await server.requests().filter { $0["target"]?.string?.contains("/firmware/") == true }
            .filter { $0["target"]?.string?.hasSuffix(".bin") == true }.map { $0["headers"]?["range"]?.string }
    }

    @Test func whole() async throws {
        let server = try await ReferenceCloud()
        let cloud = try server.client()
        let release = try await release(cloud)
        let last = Mutex(0)
        try await cloud.downloadImage(of: release, to: file(server), key: nil) { count in
            last.withLock { last in
                #expect(count > last)
                last = count
            }
        }
        #expect(content(file(server)).count == release.size && last.withLock { $0 } == release.size)
        let attributes = try FileManager.default.attributesOfItem(atPath: file(server))
        #expect((attributes[.posixPermissions] as? Int) == 0o600)
        #expect(!FileManager.default.fileExists(atPath: file(server) + ".part"))
        #expect(!FileManager.default.fileExists(atPath: file(server) + ".etag"))
    }

    /// Truncated in the middle: within the call it continues, with the tag of the part.
    @Test func truncatedInTheMiddle() async throws {
        let server = try await ReferenceCloud()
        let (clock, good) = (TestClock(), file(server) + ".good")
        let cloud = try server.client(clock)
        let release = try await release(cloud)
        try await cloud.downloadImage(of: release, to: good, key: nil, progress: nil)
        try await server.clear()
        try await server.fault(#"{"do": "cut", "after": 20000, "match": "GET /v1/firmware/"}"#)
        try await server.fault(#"{"do": "cut", "after": 1000, "match": "GET /v1/firmware/"}"#)
        try await cloud.downloadImage(of: release, to: file(server), key: nil, progress: nil)
        #expect(content(file(server)) == content(good))
        #expect(try await ranges(server) == [nil, "bytes=20000-", "bytes=21000-"])
        #expect(clock.sleeps == [1000, 2000])
    }

    /// The program ended in the middle: the next one continues.
    @Test func inAnotherCall() async throws {
        let server = try await ReferenceCloud()
        let cloud = try server.client { $0.limits.retries = [] }
        let release = try await release(cloud)
        try await server.fault(#"{"do": "cut", "after": 20000, "match": "GET /v1/firmware/"}"#)
        let error = await error {
            try await cloud.downloadImage(of: release, to: file(server), key: nil, progress: nil)
        }
        #expect(error?.kind == .network && content(file(server) + ".part").count == 20000)
        try await server.client().downloadImage(of: release, to: file(server), key: nil, progress: nil)
        #expect(try await ranges(server) == [nil, "bytes=20000-"])
        #expect(content(file(server)).count == release.size)
    }

    /// The image changed since: If-Range makes the answer a whole one.
    @Test func aChangedImageStartsOver() async throws {
        let server = try await ReferenceCloud()
        let cloud = try server.client()
        let release = try await release(cloud)
        let part = file(server) + ".part"
        try Data(repeating: 9, count: 100).write(to: URL(fileURLWithPath: part))
        try Data("\"another\"".utf8).write(to: URL(fileURLWithPath: file(server) + ".etag"))
        try await cloud.downloadImage(of: release, to: file(server), key: nil, progress: nil)
        #expect(try await ranges(server) == ["bytes=100-"])
        #expect(content(file(server)).count == release.size && content(file(server)).first != 9)
    }

    /// A part without a tag, or with one that is none, is not continued.
    @Test(arguments: ["", "W/\"weak\"", "\"a\"b\"", "\"line\r\nX: 1\""])
    func aPartWithoutATag(_ tag: String) async throws {
        let server = try await ReferenceCloud()
        let cloud = try server.client()
        let release = try await release(cloud)
        try Data(repeating: 9, count: 100).write(to: URL(fileURLWithPath: file(server) + ".part"))
        try Data(tag.utf8).write(to: URL(fileURLWithPath: file(server) + ".etag"))
        try await cloud.downloadImage(of: release, to: file(server), key: nil, progress: nil)
        #expect(try await ranges(server) == [nil])
        #expect(content(file(server)).first != 9)
    }

    /// A cloud that sends another part than the requested one, or more than announced, or less.
    @Test func lyingAnswers() async throws {
        let server = try await ReferenceCloud()
        let cloud = try server.client()
        let release = try await release(cloud)
        let path = file(server)
        let more = await error {
            try await cloud.downloadImage(of: changed(release, size: 1000), to: path, key: nil, progress: nil)
        }
        #expect(more?.kind == .format && content(path + ".part").count <= 1000)
        let less = await error {
            try await cloud.downloadImage(of: changed(release, size: 65537), to: path + "2", key: nil, progress: nil)
        }
        #expect(less?.kind == .format)
        try await server.fault(
            #"{"do": "status", "status": 206, "headers": {"Content-Range": "bytes 5-9/65536"}, "body": "xxxxx"}"#)
        let wrong = await error {
            try await cloud.downloadImage(of: release, to: path + "3", key: nil, progress: nil)
        }
        #expect(wrong?.kind == .format && content(path + "3").isEmpty)
        for file in [path, path + "2", path + "3"] { #expect(!FileManager.default.fileExists(atPath: file)) }
    }

    @Test(arguments: [403, 404, 302])
    func refusedImages(_ status: Int) async throws {
        let server = try await ReferenceCloud()
        let cloud = try server.client()
        let release = try await release(cloud)
        try await server.fault(#"{"do": "status", "status": \#(status), "body": "no", "match": "GET /v1/firmware/"}"#)
        let error = await error {
            try await cloud.downloadImage(of: release, to: file(server), key: nil, progress: nil)
        }
        #expect(error?.httpStatus == status && content(file(server) + ".part").isEmpty)
    }

    /// 30 seconds without a byte, here one and a half.
    @Test func withoutProgress() async throws {
        let server = try await ReferenceCloud()
        let cloud = try server.client {
            $0.limits.withoutProgress = 1500
            $0.limits.retries = []
        }
        let release = try await release(cloud)
        try await server.fault(#"{"do": "drip", "bytes": 1000, "pause": 60, "match": "GET /v1/firmware/"}"#)
        let error = await error {
            try await cloud.downloadImage(of: release, to: file(server), key: nil, progress: nil)
        }
        #expect(error?.kind == .timeout && cloud.engine.active == 0)
    }

    @Test func aFileThatIsALink() async throws {
        let server = try await ReferenceCloud()
        let cloud = try server.client()
        let release = try await release(cloud)
        try FileManager.default.createSymbolicLink(
            atPath: file(server) + ".part", withDestinationPath: server.folder + "/victim")
        let error = await error {
            try await cloud.downloadImage(of: release, to: file(server), key: nil, progress: nil)
        }
        #expect(error?.kind == .storage)
        #expect(!FileManager.default.fileExists(atPath: server.folder + "/victim"))
    }

    // MARK: Origins

    @Test func otherOriginsMustBePermittedAndGetNoKey() async throws {
        let (server, other) = (try await ReferenceCloud(), try await ReferenceCloud())
        let release = try await release(try server.client())
        let elsewhere = changed(release, url: other.url + release.url)
        let refused = await error {
            try await server.client().downloadImage(of: elsewhere, to: file(server), key: nil, progress: nil)
        }
        #expect(refused?.kind == .format)
        #expect(try await other.requests().isEmpty)
        // One file with the authorities of both.
        let authorities = server.folder + "/both.pem"
        try Data(content(server.authorityFile) + content(other.authorityFile)).write(
            to: URL(fileURLWithPath: authorities))
        let cloud = try server.client {
            $0.imageOrigins = [other.url]
            $0.authorityFile = authorities
            $0.publicKeySHA256 = server.pin
        }
        try await cloud.downloadImage(of: elsewhere, to: file(server), key: nil, progress: nil)
        let headers = try await other.requests().first?["headers"]
        #expect(headers != nil && headers?["x-obvious-api-key"] == nil)
    }

    @Test(arguments: [
        "//elsewhere.test/x", "http://127.0.0.1:1/x", "https://127.0.0.1.elsewhere.test/x",
        "https://user@127.0.0.1/x", "file:///etc/passwd", "x", "/a b", "https://127.0.0.1:2/x", "/\u{0}",
    ])
    func urlsThatAreRefused(_ url: String) throws {
        let site = try Site(ObviousCloudConfiguration(baseURL: "https://127.0.0.1:1/api"))
        let error = #expect(throws: ObviousCloudError.self) { try site.imageURL(url) }
        #expect(error?.kind == .format)
    }

    @Test func urlsThatArePermitted() throws {
        var configuration = ObviousCloudConfiguration(baseURL: "https://Example.com/api/")
        configuration.imageOrigins = ["https://images.example.com"]
        let site = try Site(configuration)
        #expect(try site.imageURL("/v1/firmware/a.bin").text == "https://Example.com/api/v1/firmware/a.bin")
        #expect(try site.imageURL("https://example.com:443/a").origin == site.base.origin)
        #expect(try site.imageURL("https://images.example.com/a").origin != site.base.origin)
        #expect(throws: ObviousCloudError(.format, "the image's URL is of an origin that is not permitted")) {
            try site.imageURL("https://images.example.com:444/a")
        }
    }
}
