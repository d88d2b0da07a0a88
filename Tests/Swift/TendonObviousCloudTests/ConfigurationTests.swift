// SPDX-License-Identifier: MIT
import Foundation
import TendonObvious
import Testing

@testable import TendonObviousCloud

/// Where configuration comes from, and what of it is refused.
@Suite struct ConfigurationTests {
    private let folder: String

    init() throws {
        folder = NSTemporaryDirectory() + "obvious-configuration-" + UUID().uuidString
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    }

    private func keyFile(_ text: String, mode: Int) throws -> String {
        let path = folder + "/key-\(mode)-\(UUID().uuidString)"
        try Data(text.utf8).write(to: URL(fileURLWithPath: path))
        try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path)
        return path
    }

    @Test(arguments: [0o600, 0o400])
    func keyFiles(_ mode: Int) throws {
        #expect(
            try ObviousCloudConfiguration.apiKey(file: keyFile(" the-key \r\n", mode: mode)) == ObviousAPIKey("the-key")
        )
    }

    @Test(arguments: [0o644, 0o640, 0o604, 0o660, 0o666, 0o610])
    func keyFilesThatOthersMayUse(_ mode: Int) throws {
        let path = try keyFile("the-key", mode: mode)
        let error = #expect(throws: ObviousCloudError.self) { try ObviousCloudConfiguration.apiKey(file: path) }
        #expect(error?.kind == .storage)
    }

    @Test func keyFilesThatAreNone() throws {
        for (path, reason) in [
            (folder, "the API key file is not a file"), (folder + "/missing", "the API key file cannot be opened"),
            ("/dev/null", "the API key file is not a file"), ("", "the API key file cannot be opened"),
        ] {
            #expect(throws: ObviousCloudError(.storage, reason)) { try ObviousCloudConfiguration.apiKey(file: path) }
        }
        for text in ["", "two words", "ä", String(repeating: "k", count: 300)] {
            let path = try keyFile(text, mode: 0o600)
            let error = #expect(throws: ObviousCloudError.self) { try ObviousCloudConfiguration.apiKey(file: path) }
            #expect(error?.kind == .argument && error?.description.contains("words") == false)
        }
    }

    @Test func environment() throws {
        let file = try keyFile("file-key", mode: 0o600)
        let pin = String(repeating: "0aF1", count: 16)
        var values = [
            "TENDON_OBVIOUS_BASE_URL": "https://example.com", "TENDON_OBVIOUS_API_KEY": "text-key",
            "TENDON_OBVIOUS_CA_FILE": "/ca.pem", "TENDON_OBVIOUS_SPKI_SHA256": pin,
            "TENDON_OBVIOUS_IMAGE_ORIGINS": "https://a https://b",
        ]
        func read() throws -> ObviousCloudConfiguration {
            try ObviousCloudConfiguration.environment("TENDON_OBVIOUS_BASE_URL") { values[$0] }
        }
        var configuration = try read()
        #expect(configuration.baseURL == "https://example.com" && configuration.apiKey == ObviousAPIKey("text-key"))
        #expect(configuration.authorityFile == "/ca.pem" && configuration.imageOrigins == ["https://a", "https://b"])
        #expect(configuration.publicKeySHA256?.count == 32 && configuration.publicKeySHA256?[1] == 0xF1)
        #expect(!configuration.allowsInsecureLoopback && !configuration.allowsPaymentOverInsecureLoopback)
        values["TENDON_OBVIOUS_API_KEY_FILE"] = file
        values["TENDON_OBVIOUS_INSECURE_LOOPBACK"] = "1"
        values["TENDON_OBVIOUS_PAYMENT_TEST_LOOPBACK"] = "1"
        configuration = try read()
        #expect(configuration.apiKey == ObviousAPIKey("file-key"))
        #expect(configuration.allowsInsecureLoopback && configuration.allowsPaymentOverInsecureLoopback)
        let digits = ObviousCloudError(.argument, "TENDON_OBVIOUS_SPKI_SHA256 is not 64 hexadecimal digits")
        for (name, value, error) in [
            ("TENDON_OBVIOUS_SPKI_SHA256", "0a", digits),
            ("TENDON_OBVIOUS_SPKI_SHA256", String(repeating: "x", count: 64), digits),
            (
                "TENDON_OBVIOUS_API_KEY_FILE", folder + "/missing",
                ObviousCloudError(.storage, "the API key file cannot be opened")
            ),
            ("TENDON_OBVIOUS_BASE_URL", nil, ObviousCloudError(.argument, "TENDON_OBVIOUS_BASE_URL is not set")),
        ] {
            let before = values[name]
            values[name] = value
            #expect(throws: error) { try read() }
            values[name] = before
        }
        values["TENDON_OBVIOUS_API_KEY_FILE"] = nil
        values["TENDON_OBVIOUS_API_KEY"] = "not a key"
        #expect(throws: ObviousCloudError(.argument, "TENDON_OBVIOUS_API_KEY is not a key")) { try read() }
    }

    @Test func sites() throws {
        func site(_ change: (inout ObviousCloudConfiguration) -> Void) throws -> Site {
            var configuration = ObviousCloudConfiguration(baseURL: "https://example.com/api/")
            change(&configuration)
            return try Site(configuration)
        }
        #expect(try site { _ in }.prefix == "https://example.com/api")
        #expect(throws: ObviousCloudError(.argument, "the SHA-256 of a public key has 32 bytes")) {
            try site { $0.publicKeySHA256 = [1] }
        }
        for origin in ["http://images.example.com", "x", "https://a?b"] {
            #expect(throws: ObviousCloudError(.argument, "an image origin is not a URL of https")) {
                try site { $0.imageOrigins = [origin] }
            }
        }
    }

    /// The one line of a ported program. Without a configuration it does not fail: the calls do.
    @Test func install() async throws {
        let error = ObviousCloud.install { _ in nil }
        #expect(error?.reason == "TENDON_OBVIOUS_BASE_URL is not set")
        let service = try #require(ObviousCloud.installed)
        let thrown = await TendonObviousCloudTests.error { try await service.defaultCatalog(productId: nil, key: nil) }
        #expect(thrown == error)
        let values = [
            "TENDON_OBVIOUS_BASE_URL": "https://example.com",
            "TENDON_OBVIOUS_DEMO_BASE_URL": "https://demo.example.com",
        ]
        #expect(ObviousCloud.install { values[$0] } == nil)
        #expect((ObviousCloud.installed as? HTTPSCloud)?.site.prefix == "https://example.com")
        #expect((ObviousCloud.demo as? HTTPSCloud)?.site.prefix == "https://demo.example.com")
        #expect(throws: ObviousCloudError(.argument, "the base URL is not a URL of https")) {
            try ObviousCloud.install(ObviousCloudConfiguration(baseURL: "http://example.com"))
        }
    }
}

func unlinked(_ path: String) { try? FileManager.default.removeItem(atPath: path) }
