// SPDX-License-Identifier: MIT
import Foundation
import TendonObvious
import TestSupport
import Testing

@testable import TendonObviousCloud

/// Public keys in a text: a product, a number, 64 digits, and `revoked`.
@Suite struct KeyFileTests {
    private static let digits = String(repeating: "03a1", count: 16)
    private static let bytes = [UInt8]((0..<32).map { $0 % 2 == 0 ? 0x03 : 0xA1 })

    @Test func keys() throws {
        let text = """
            # product, number, key
            1234 1 \(Self.digits)

            ABCD\t255   \(Self.digits.uppercased())  revoked # since May
            """
        let keys = try ObviousCloudConfiguration.keys(text: text)
        #expect(
            keys == [
                try #require(ObviousKey(productId: "1234", id: 1, bytes: Self.bytes, isRevoked: false)),
                try #require(ObviousKey(productId: "ABCD", id: 255, bytes: Self.bytes, isRevoked: true)),
            ])
        #expect(try ObviousCloudConfiguration.keys(text: text.replacing("\n", with: "\r\n")) == keys)
        #expect(try ObviousCloudConfiguration.keys(text: "") == [])
        let path = NSTemporaryDirectory() + "obvious-keys-\(UUID().uuidString)"
        defer { try? FileManager.default.removeItem(atPath: path) }
        try Data(text.utf8).write(to: URL(fileURLWithPath: path))
        #expect(try ObviousCloudConfiguration.keys(file: path) == keys)
    }

    @Test(arguments: [
        "1234", "1234 1", "1234 1 \(digits) withdrawn", "1234 1 \(digits) revoked more", "1234 256 \(digits)",
        "1234 0 \(digits)", "1234 x \(digits)", "1234 1 \(digits.dropLast())", "1234 1 \(digits)00",
        "1234 1 \(digits.dropLast())g",
    ])
    func lineOfAFileThatIsNoKey(line: String) {
        let error = #expect(throws: ObviousCloudError.self) {
            try ObviousCloudConfiguration.keys(text: "# first\n\(line)\n")
        }
        #expect(error?.kind == .argument)
        #expect(error?.description.contains("line 2 is not a key") == true)
    }

    /// Which of the two is meant is not known: the older line of a key that is revoked below it must not be believed.
    @Test(arguments: ["1234 1 \(digits) revoked", "1234 1 \(digits)", "1234 01 \(String(digits.reversed())) revoked"])
    func twoKeysWithOneNumber(second: String) {
        let error = #expect(throws: ObviousCloudError.self) {
            try ObviousCloudConfiguration.keys(text: "1234 1 \(Self.digits)\n1235 1 \(Self.digits)\n\(second)\n")
        }
        #expect(error?.kind == .argument)
        #expect(error?.description.contains("line 3 is of a key that another line has") == true)
    }

    /// Who can change the file decides which packages are accepted.
    @Test func filesThatOthersCanChange() throws {
        let path = NSTemporaryDirectory() + "obvious-keys-\(UUID().uuidString)"
        defer { try? FileManager.default.removeItem(atPath: path) }
        try Data("1234 1 \(Self.digits)".utf8).write(to: URL(fileURLWithPath: path))
        let others = ObviousCloudError(.storage, "the file of public keys can be changed by others: chmod go-w")
        for mode: mode_t in [0o620, 0o602, 0o666] {
            chmod(path, mode)
            #expect(throws: others) { try ObviousCloudConfiguration.keys(file: path) }
        }
        for mode: mode_t in [0o644, 0o400, 0o755] {
            chmod(path, mode)
            #expect(try ObviousCloudConfiguration.keys(file: path).count == 1)
        }
        // The superuser's identity is not asked for: the call that fails would be that of another test.
        if getuid() != 0 {
            failNextCall(of: "geteuid", with: EPERM)
            #expect(throws: others) { try ObviousCloudConfiguration.keys(file: path) }
        }
        #expect(throws: ObviousCloudError(.storage, "the file of public keys is not a file")) {
            try ObviousCloudConfiguration.keys(file: "/dev/zero")
        }
    }

    @Test func filesThatCannotBeRead() throws {
        func refusal(_ path: String) -> ObviousCloudError? {
            #expect(throws: ObviousCloudError.self) { try ObviousCloudConfiguration.keys(file: path) }
        }
        let unreadable = ObviousCloudError(.storage, "the file of public keys cannot be read")
        #expect(refusal(missingPath()) == ObviousCloudError(.storage, "the file of public keys cannot be opened"))
        #expect(refusal(NSTemporaryDirectory())?.reason == "the file of public keys is not a file")
        let path = NSTemporaryDirectory() + "obvious-keys-\(UUID().uuidString)"
        defer { try? FileManager.default.removeItem(atPath: path) }
        // One line more than fits.
        try Data(repeating: 0x0A, count: 65_536).write(to: URL(fileURLWithPath: path))
        #expect(refusal(path) == unreadable)
        try Data(repeating: 0x0A, count: 65_535).write(to: URL(fileURLWithPath: path))
        #expect(try ObviousCloudConfiguration.keys(file: path) == [])
    }
}
