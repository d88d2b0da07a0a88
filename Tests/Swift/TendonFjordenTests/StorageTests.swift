// SPDX-License-Identifier: MIT
import Foundation
import TendonFjorden
import TestSupport
import Testing

/// The file of the bond: as it was, or as it is after the change.
@Suite struct StorageTests {
    private final class Place {
        let folder = NSTemporaryDirectory() + "tendon-storage-\(UUID().uuidString)"
        var path: String { folder + "/a/grip" }
        var storage: FileStorage { FileStorage(path: path) }
        var names: [String] { (try? FileManager.default.contentsOfDirectory(atPath: folder + "/a")) ?? [] }

        deinit { try? FileManager.default.removeItem(atPath: folder) }
    }

    @Test func foldersAndTheirRights() throws {
        let place = Place()
        place.storage.set("value", forKey: "key")
        #expect(place.names == ["grip"])
        #expect(try FileManager.default.attributesOfItem(atPath: place.folder)[.posixPermissions] as? Int == 0o700)
        #expect(try FileManager.default.attributesOfItem(atPath: place.path)[.posixPermissions] as? Int == 0o600)
    }

    @Test(arguments: [("open", EMFILE), ("write", ENOSPC), ("fsync", EIO), ("rename", EROFS)] as [(String, Int32)])
    func aCallThatFails(_ name: String, _ error: Int32) {
        let place = Place()
        place.storage.set("old", forKey: "key")
        // The call before that of the change opens the file for reading.
        let first = name == "open" ? 1 : 0
        let closed = calls(of: "close") {
            _ = failing(name, with: error, first: first) { place.storage.set("new", forKey: "key") }
        }
        #expect(closed == (name == "open" ? 1 : 2))
        #expect(place.names == ["grip"])
        #expect(place.storage.string(forKey: "key") == "old")
        place.storage.set("new", forKey: "key")
        #expect(place.storage.string(forKey: "key") == "new")
    }

    /// It is on the disk before it takes the old one's name.
    @Test func aChangeIsSynchronized() {
        let place = Place()
        #expect(calls(of: "fsync") { place.storage.set("value", forKey: "key") } == 1)
        #expect(calls(of: "close") { _ = place.storage.string(forKey: "key") } == 1)
    }

    @Test func theLastValueIsRemoved() throws {
        let place = Place()
        place.storage.set("value", forKey: "key")
        place.storage.removeObject(forKey: "key")
        #expect(place.storage.string(forKey: "key") == nil)
        #expect(try FileManager.default.attributesOfItem(atPath: place.path)[.size] as? Int == 0)
    }
}
