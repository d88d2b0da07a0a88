// SPDX-License-Identifier: MIT
import CTendon
import Foundation
import ObviousTestSupport
import Tendon
import TestSupport
import Testing

@testable import TendonObvious

/// Where images are: no folder that somebody else could have made.
@Suite(.timeLimit(.minutes(1))) struct FileCacheTests {
    private let image = (0..<8000).map { UInt8(truncatingIfNeeded: $0 * 7) }
    private let hash = [UInt8](repeating: 0xAB, count: 32)

    @Test(arguments: [
        (["XDG_CACHE_HOME": "/x", "HOME": "/h"], "/x/obvious"), (["HOME": "/h"], "/h/.cache/obvious"),
        (["XDG_CACHE_HOME": "x", "HOME": "h"], "/var/cache/tendon/obvious"), ([:], "/var/cache/tendon/obvious"),
    ])
    func theStandardFolder(_ variables: [String: String], _ folder: String) {
        #expect(FileCache.standard { variables[$0] }.folder == folder)
    }

    /// In a folder of the application's choice they are beside the images; in the standard one, which is of a cache, they are
    /// not: what empties it would take them.
    @Test func recordsAreNotInTheCache() throws {
        let top = NSTemporaryDirectory() + "file-cache-" + UUID().uuidString
        defer { try? FileManager.default.removeItem(atPath: top) }
        let own = FileCache(folder: top + "/obvious")
        _ = try own.preparedImagePath(hash)
        var record = tendon_obvious_record()
        record.serial = .random(in: 0...UInt64.max)
        #expect(own.store(record) >= 0 && own.record(of: record.serial)?.serial == record.serial)
        let standard = FileCache.standard { ["XDG_CACHE_HOME": top][$0] }
        #expect(standard.folder == own.folder && standard.record(of: record.serial) == nil)
    }

    private func others(_ folder: String) -> ObviousCloudError {
        ObviousCloudError(.storage, "others may change the folder of images: \(folder)")
    }

    @Test func foldersThatAreNotUsed() throws {
        let top = NSTemporaryDirectory() + "file-cache-" + UUID().uuidString
        defer { try? FileManager.default.removeItem(atPath: top) }
        let path = try FileCache(folder: top + "/a/b").preparedImagePath(hash)
        #expect(path == top + "/a/b/" + String(repeating: "ab", count: 32) + ".bin")
        let mode = try FileManager.default.attributesOfItem(atPath: top + "/a")[.posixPermissions] as? Int
        #expect(mode == 0o700)
        for mode in [0o720, 0o702, 0o777] {
            try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: top + "/a/b")
            #expect(throws: others(top + "/a/b")) { try FileCache(folder: top + "/a/b").preparedImagePath(hash) }
        }
        try FileManager.default.createSymbolicLink(atPath: top + "/link", withDestinationPath: top + "/a")
        #expect(FileManager.default.createFile(atPath: top + "/file", contents: nil))
        for folder in [top + "/link", top + "/file", "/proc/none"] {
            let error = ObviousCloudError(.storage, "the folder of images cannot be opened: \(folder)")
            #expect(throws: error) { try FileCache(folder: folder).preparedImagePath(hash) }
        }
    }

    @Test func aFolderOfSomebodyElse() throws {
        let top = NSTemporaryDirectory() + "file-cache-" + UUID().uuidString
        defer { try? FileManager.default.removeItem(atPath: top) }
        _ = try FileCache(folder: top).preparedImagePath(hash)
        failNextCall(of: "geteuid", with: EPERM)
        #expect(throws: others(top)) { try FileCache(folder: top).preparedImagePath(hash) }
        _ = try FileCache(folder: top).preparedImagePath(hash)
    }

    @Test @TendonActor func anUpgradeSaysWhichFolder() async throws {
        let site = try await OcelotSite()
        try FileManager.default.createDirectory(
            atPath: site.cache, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o777])
        chmod(site.cache, 0o777)
        let manager = site.firmwareManager(site.cloud(offering: image))
        var error: OcelotError?
        do throws(OcelotError) {
            try await manager.upgradeFirmware(appVersion: "1.0.0")
        } catch let caught {
            error = caught
        }
        guard case .cloud(let cause) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(cause.kind == .storage && cause.reason.contains(site.cache))
        #expect(await site.device.counters.dataBytes == 0)
    }
}
