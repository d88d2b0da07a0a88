// SPDX-License-Identifier: MIT
// Files with passwords: which are taken, and what people are told about the others.
import Foundation
import TestSupport
import Testing

@testable import TendonOutputs

@Suite struct SecretFileTests {
    final class Place {
        let path = NSTemporaryDirectory() + "tendon-secret-\(UUID().uuidString)"

        init(_ text: String, _ rights: Int) {
            FileManager.default.createFile(
                atPath: path, contents: Data(text.utf8), attributes: [.posixPermissions: rights])
        }

        deinit { try? FileManager.default.removeItem(atPath: path) }
    }

    private func refusal(_ path: String, limit: Int = 100, credentials: String? = nil) -> String? {
        do throws(SecretFileError) {
            _ = try SecretFile.read(path, limit: limit, credentials: credentials)
            return nil
        } catch {
            return error.text
        }
    }

    private func readable(_ place: Place) -> String {
        "\(place.path): other users can read this file: chmod 600 it, and change what is in it"
    }

    @Test func theFileOfItsOwnerIsRead() throws {
        let place = Place("word\nmore", 0o600)
        #expect(try SecretFile.read(place.path, limit: 100) == Array("word\nmore".utf8))
        #expect(try SecretFile.read(place.path, limit: 2) == Array("wo".utf8))
    }

    /// A password or a token; some editors begin a file with a byte order mark.
    @Test(arguments: ["word", "word\nmore", "word\r\nmore", "\u{FEFF}word\n"])
    func theFirstLine(text: String) throws {
        let place = Place(text, 0o600)
        #expect(try SecretFile.line(place.path, limit: 100) == Array("word".utf8))
        withExtendedLifetime(place) {}
    }

    @Test(arguments: [0o640, 0o604, 0o602, 0o601, 0o660])
    func whatOthersCanReadIsRefused(rights: Int) {
        let place = Place("word", rights)
        #expect(refusal(place.path) == readable(place))
    }

    @Test func whatIsNoSecretIsRefused() {
        let empty = Place("", 0o600)
        #expect(refusal(empty.path) == "\(empty.path): the file is empty")
        let missing = missingPath()
        #expect(refusal(missing) == "\(missing): No such file or directory")
        #expect(refusal("/tmp") == "/tmp: not a file")
        #expect(refusal("/dev/null") == "/dev/null: not a file")
    }

    /// systemd.exec(5), "Credentials": its files may have rights of the group.
    @Test func aCredentialOfSystemdMayHaveRightsOfItsGroup() throws {
        let place = Place("word", 0o640), open = Place("word", 0o644)
        let directory = String(place.path.prefix(upTo: place.path.lastIndex(of: "/")!))
        #expect(try SecretFile.read(place.path, limit: 100, credentials: directory) == Array("word".utf8))
        #expect(refusal(open.path, credentials: directory) == readable(open))
        for other in [directory + "/other", String(directory.dropLast()), nil] {
            #expect(refusal(place.path, credentials: other) == readable(place))
        }
    }
}
