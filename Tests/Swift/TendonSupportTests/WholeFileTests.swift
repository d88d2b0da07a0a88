// SPDX-License-Identifier: MIT
//
// A file that is replaced as a whole, or not at all.
import Foundation
import TendonSupport
import TestSupport
import Testing

@Suite struct WholeFileTests {
    private final class Place {
        let directory = NSTemporaryDirectory() + "tendon-whole-\(UUID().uuidString)"
        var path: String { directory + "/file" }
        var names: [String] { (try? FileManager.default.contentsOfDirectory(atPath: directory).sorted()) ?? [] }
        var text: String? { FileManager.default.contents(atPath: path).map { String(decoding: $0, as: UTF8.self) } }

        init() { try? FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true) }

        deinit { try? FileManager.default.removeItem(atPath: directory) }

        func replace(_ text: String, synchronizes: Bool = true) -> Int32 {
            WholeFile.replace(path, with: Array(text.utf8), mode: 0o640, synchronizes: synchronizes)
        }
    }

    @Test func aFileIsReplaced() throws {
        let place = Place()
        #expect(place.replace("old") == 0)
        #expect(place.text == "old")
        let rights = try FileManager.default.attributesOfItem(atPath: place.path)[.posixPermissions] as? Int
        #expect(rights.map { $0 & ~0o640 } == 0)
        // Left by a process that was killed.
        #expect(FileManager.default.createFile(atPath: place.path + ".new", contents: Data("half of a text".utf8)))
        #expect(place.replace("new") == 0)
        #expect(place.text == "new" && place.names == ["file"])
        #expect(descriptors(of: place.path) == 0)
    }

    /// What the name is instead is removed, not followed.
    @Test func aLinkIsNotFollowed() throws {
        let place = Place()
        let other = place.directory + "/other"
        #expect(FileManager.default.createFile(atPath: other, contents: Data("other".utf8)))
        try FileManager.default.createSymbolicLink(atPath: place.path + ".new", withDestinationPath: other)
        #expect(place.replace("new") == 0)
        #expect(place.text == "new" && place.names == ["file", "other"])
        #expect(FileManager.default.contents(atPath: other) == Data("other".utf8))
    }

    /// The old file stays, the new one goes, its descriptor is closed.
    @Test(arguments: [("open", EMFILE), ("write", ENOSPC), ("fsync", EIO), ("rename", EROFS)] as [(String, Int32)])
    func aCallThatFails(_ name: String, _ error: Int32) {
        let place = Place()
        #expect(place.replace("old") == 0)
        var result: Int32 = 0
        let closed = calls(of: "close") {
            result = failing(name, with: error) { place.replace("new") }.result
        }
        #expect(result == error)
        #expect(place.text == "old" && place.names == ["file"])
        #expect(closed == (name == "open" ? 0 : 1))
    }

    @Test func aSignalInterruptsAWrite() {
        let place = Place()
        #expect(failing("write", with: EINTR) { place.replace("new") }.result == 0)
        #expect(place.text == "new")
    }

    @Test func whatIsNotSynchronizedDoesNotWaitForTheDisk() {
        let place = Place()
        #expect(calls(of: "fsync") { _ = place.replace("new", synchronizes: false) } == 0)
        #expect(calls(of: "fsync") { _ = place.replace("new") } == 1)
    }

    /// What the thread would have used is released.
    @Test func aThreadThatIsNotPermitted() {
        final class Object: Sendable {}
        weak var kept: Object?
        let (number, _) = failing("pthread_create", with: EAGAIN) {
            let object = Object()
            kept = object
            return startThread { _ = object }
        }
        #expect(number == EAGAIN)
        #expect(kept == nil)
    }
}
