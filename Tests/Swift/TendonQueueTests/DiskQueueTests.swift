// SPDX-License-Identifier: MIT
// The queue on disk: order, numbers, bounds, and each way in which a file fails.
import CSystemSQLite
import Foundation
import TestSupport
import Testing

@testable import TendonQueue

@Suite struct DiskQueueTests {
    /// A directory that goes away with its files.
    final class Place {
        let directory: String
        var path: String { directory + "/queue.db" }

        init() {
            directory = NSTemporaryDirectory() + "tendon-queue-\(UUID().uuidString)"
            try! FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
        }

        deinit { try? FileManager.default.removeItem(atPath: directory) }
    }

    private func open(_ place: Place, limit: Int = 100, bytes: Int = 1 << 20) throws -> DiskQueue {
        try DiskQueue(place.path, limit: limit, bytes: bytes)
    }

    private func event(_ queue: DiskQueue, _ text: String, size: Int = 0) -> QueueEntry {
        let payload = Array(text.utf8) + [UInt8](repeating: 0x78, count: size)
        return QueueEntry(number: queue.number(), time: 1, topic: "t/event", payload: payload, isState: false)
    }

    private func state(_ queue: DiskQueue, _ topic: String, _ text: String) -> QueueEntry {
        QueueEntry(number: queue.number(), time: 2, topic: topic, payload: Array(text.utf8), isState: true)
    }

    private func texts(_ queue: DiskQueue, after number: UInt64 = 0) throws -> [String] {
        try queue.entries(after: number, limit: 1000).map { String(decoding: $0.payload, as: UTF8.self) }
    }

    /// What the queue opens for the rights of its file does not stay open.
    @Test func aQueueHasOneDescriptorOfItsFile() throws {
        let place = Place()
        var queue: DiskQueue? = try open(place)
        #expect(descriptors(of: place.path) == 1)
        queue = nil
        #expect(queue == nil && descriptors(of: place.path) == 0)
    }

    /// A connection that is closed with statements in it stays until these are finalized.
    @Test func nothingOfSQLiteIsLeft() throws {
        let place = Place()
        var database: Database? = try Database(place.path)
        try database?.execute("CREATE TABLE t(a)")
        for text in ["INSERT INTO t VALUES(?)", "SELECT a FROM t WHERE a=?"] {
            for _ in 0..<2 {
                for name in ["sqlite3_reset", "sqlite3_clear_bindings"] {
                    let count = try calls(of: name) { try database?.run(text, [.integer(1)]) }
                    #expect(count == 1)
                }
            }
        }
        var finalized = 0
        let closed = calls(of: "sqlite3_close_v2") {
            finalized = calls(of: "sqlite3_finalize") { database?.close() }
        }
        // The table's own statement was not prepared by run().
        #expect(closed == 1 && finalized == 2)
        // Once: the handles are not used again.
        #expect(calls(of: "sqlite3_finalize") { database = nil } == 0)
        // One that cannot be opened is closed, too.
        let failed = calls(of: "sqlite3_close_v2") {
            _ = failing("sqlite3_open_v2", with: SQLITE_NOMEM) {
                #expect(throws: QueueError(SQLITE_NOMEM, "no memory")) { try Database(place.path) }
            }
        }
        #expect(failed == 1)
    }

    @Test func messagesStayInOrderOverACloseAndUntilTheyAreRemoved() throws {
        let place = Place()
        var queue = try open(place)
        let entries = ["a", "b", "c", ""].map { event(queue, $0) }
        try queue.store(entries, removing: [])
        queue.close()
        queue = try open(place)
        #expect(try queue.entries(after: 0, limit: 10) == entries)
        #expect(try queue.entries(after: entries[1].number, limit: 1) == [entries[2]])
        try queue.store([], removing: [entries[0].number, entries[2].number, 999])
        #expect(queue.count == 2)
        queue.close()
        queue = try open(place)
        #expect(try texts(queue) == ["b", ""])
        #expect(queue.count == 2)
    }

    /// A commit is in the file without close() and without sync().
    @Test func aCommitSurvivesTheEndOfTheProcess() throws {
        let place = Place()
        let queue = try open(place)
        try queue.store([event(queue, "kept")], removing: [])
        let copy = Place()
        for suffix in ["", "-wal"] {
            try FileManager.default.copyItem(atPath: place.path + suffix, toPath: copy.path + suffix)
        }
        #expect(try texts(try open(copy)) == ["kept"])
        queue.close()
    }

    @Test func onlyTheOwnerCanReadTheFiles() throws {
        let place = Place()
        let queue = try open(place)
        try queue.store([event(queue, "a")], removing: [])
        for suffix in ["", "-wal"] {
            let rights = try FileManager.default.attributesOfItem(atPath: place.path + suffix)[.posixPermissions]
            #expect(rights as? Int == 0o600)
        }
    }

    @Test func aNumberIsNeverUsedTwice() throws {
        let place = Place()
        var queue = try open(place)
        #expect([queue.number(), queue.number()] == [1, 2])
        let copy = Place()
        for suffix in ["", "-wal"] {
            try FileManager.default.copyItem(atPath: place.path + suffix, toPath: copy.path + suffix)
        }
        // As after kill -9: the block that was reserved is skipped.
        let killed = try open(copy)
        #expect(killed.number() == 4097)
        for _ in 0..<5000 { _ = queue.number() }
        let last = queue.number()
        queue.close()
        queue = try open(place)
        #expect(queue.number() > last)
    }

    /// A number that was seen outside must outlive a power cut; messages and notes are synced when sync() says so.
    @Test func numbersAreSyncedAtOnce() throws {
        let place = Place()
        let queue = try open(place)
        func disk(_ body: () throws -> Void) rethrows -> Int { try calls(of: "fdatasync", body) }
        #expect(try disk { try queue.setNote("a", "1") } == 0)
        #expect(disk { _ = queue.number() } >= 1)
        #expect(disk { _ = queue.number() } == 0)
        // The file itself has the numbers: the log begins anew, once.
        let entries = [event(queue, "a"), event(queue, "b")]
        #expect(try disk { try queue.store([entries[0]], removing: []) } == 1)
        #expect(try disk { try queue.store([entries[1]], removing: []) } == 0)
        for (body, syncs) in [({}, 1), ({ try queue.setNote("a", "2") }, 1), ({}, 0)] as [(() throws -> Void, UInt64)] {
            try body()
            let before = queue.syncs
            let reached = try disk { try queue.sync() }
            #expect(queue.syncs == before + syncs && (reached >= 1) == (syncs == 1))
        }
    }

    @Test func aNewerStateTakesThePlaceOfTheOlderOfItsTopic() throws {
        let place = Place()
        var queue = try open(place)
        try queue.store([state(queue, "a", "1"), event(queue, "e"), state(queue, "b", "1")], removing: [])
        try queue.store([state(queue, "a", "2"), state(queue, "a", "3")], removing: [])
        #expect(try texts(queue) == ["e", "1", "3"])
        queue.close()
        queue = try open(place)
        try queue.store([state(queue, "b", "4")], removing: [])
        #expect(try texts(queue) == ["e", "3", "4"])
        #expect(queue.dropped == 0)
    }

    @Test func theOldestIsDroppedForANewOneAndCounted() throws {
        let place = Place()
        var queue = try open(place, limit: 3)
        try queue.store((1...5).map { event(queue, "\($0)") }, removing: [])
        #expect(try texts(queue) == ["3", "4", "5"])
        try queue.store([event(queue, "6")], removing: [])
        #expect((queue.count, queue.dropped) == (3, 3))
        queue.close()
        queue = try open(place, limit: 3)
        #expect((queue.count, queue.dropped) == (3, 3))
        queue.countDropped(2)
        queue.close()
        queue = try open(place, limit: 3)
        #expect((queue.count, queue.dropped) == (3, 5))
        #expect(try texts(queue) == ["4", "5", "6"])
    }

    /// The limit of bytes is like that of messages: the oldest are dropped, states last.
    @Test func aFullFileDropsTheOldest() throws {
        let place = Place()
        let queue = try open(place, limit: 100_000, bytes: 64 * 1024)
        try queue.store([state(queue, "s", "1")], removing: [])
        var gone: [UInt64] = []
        var last: UInt64 = 0
        for _ in 0..<200 {
            let entry = event(queue, "x", size: 900)
            gone += try queue.store([entry], removing: [])
            last = entry.number
        }
        let entries = try queue.entries(after: 0, limit: 1000)
        #expect(entries.count == queue.count && queue.count > 20)
        #expect(queue.dropped == UInt64(gone.count) && gone.count + queue.count == 201)
        #expect(entries.first?.isState == true && entries.last?.number == last)
        #expect(gone == gone.sorted() && Set(gone).isDisjoint(with: entries.map(\.number)))
        // What is acknowledged makes place, and is not counted.
        let before = queue.dropped
        try queue.store([event(queue, "y", size: 900)], removing: entries.suffix(8).map(\.number))
        #expect(queue.dropped == before)
        // What would need most of the file is an error, and takes nothing away.
        let count = queue.count
        #expect(throws: QueueError.self) { try queue.store([event(queue, "z", size: 60_000)], removing: []) }
        #expect(queue.count == count && queue.dropped == before)
    }

    /// What waits there can be sent all the same.
    @Test func aFileOnADiskThatIsFullAtTheStart() throws {
        let place = Place()
        var queue = try open(place)
        try queue.store([event(queue, "a")], removing: [])
        let last = queue.next
        queue.close()
        queue = try failing("pwrite64", with: ENOSPC, all: true) {
            let queue = try open(place)
            #expect(queue.failure == nil && queue.next >= last)
            #expect(try texts(queue) == ["a"])
            #expect(throws: QueueError.self) { try queue.store([event(queue, "b")], removing: []) }
            return queue
        }.result
        try queue.store([event(queue, "c")], removing: [])
        #expect(try texts(queue) == ["a", "c"])
    }

    @Test(arguments: [("pwrite64", ENOSPC), ("open", EROFS)])
    func aDiskThatTakesNoNewFile(call: String, error: Int32) throws {
        let place = Place()
        let queue = try failing(call, with: error, all: true) {
            let queue = try open(place)
            let first = queue.next
            #expect(queue.failure?.kind == .full && first >= 1_700_000_000_000_000)
            #expect(throws: QueueError.self) { try queue.store([event(queue, "a")], removing: []) }
            #expect(throws: QueueError.self) { try queue.setNote("n", "1") }
            queue.countDropped(2)
            #expect(throws: QueueError.self) { try queue.attach() }
            #expect(try queue.failure?.kind == .full && queue.notes() == [:] && queue.next == first + 1)
            return queue
        }.result
        try queue.attach()
        try queue.store([event(queue, "b")], removing: [])
        try queue.setNote("n", "1")
        queue.close()
        let later = try open(place)
        #expect(try texts(later) == ["b"] && later.notes() == ["n": "1"] && later.dropped == 2)
    }

    /// Numbers and notes go on from those of the file, which can be read.
    @Test func aFileOnADiskThatIsReadOnlyAtTheStart() throws {
        let place = Place()
        var queue = try open(place)
        try queue.store([event(queue, "a")], removing: [])
        try queue.setNote("device", "old")
        let last = queue.next
        queue.close()
        // A number is given once, also by runs that cannot store how far they came.
        var seen = Set<UInt64>()
        for _ in 0..<3 {
            queue = try failing("open", with: EROFS, all: true) { try open(place) }.result
            #expect(queue.failure != nil && queue.next >= last)
            for _ in 0..<5 { #expect(seen.insert(queue.number()).inserted) }
            queue.close()
        }
        queue = try failing("open", with: EROFS, all: true) { try open(place) }.result
        #expect(try queue.notes() == ["device": "old"])
        let young = event(queue, "b")
        try queue.attach()
        #expect(try queue.notes() == ["device": "old"])
        try queue.setNote("device", "new")
        try queue.store([young, event(queue, "c")], removing: [])
        #expect(try texts(queue) == ["a", "b", "c"] && queue.notes() == ["device": "new"])
        #expect(descriptors(of: place.path) == 1)
    }

    /// Nor do numbers come again that were given by a process that was killed: without the log, as such a disk has it.
    @Test func numbersOfAKilledRunOnADiskThatIsReadOnlyAtTheStart() throws {
        let place = Place()
        let killed = try open(place)
        let last = (0..<20).map { _ in killed.number() }.last!
        let copy = Place()
        try Data(contentsOf: URL(fileURLWithPath: place.path)).write(to: URL(fileURLWithPath: copy.path))
        let queue = try failing("open", with: EROFS, all: true) { try open(copy) }.result
        #expect(queue.failure != nil && queue.number() > last)
        killed.close()
    }

    @Test func aFileThatAnotherConnectionHasIsAnError() throws {
        let place = Place()
        let queue = try open(place)
        let error = #expect(throws: QueueError.self) { try open(place) }
        #expect(error?.kind == .locked)
        // The first one goes on.
        try queue.store([event(queue, "a")], removing: [])
        #expect(try texts(queue) == ["a"])
        queue.close()
        _ = try open(place)
    }

    @Test func aFileThatIsNoDatabaseIsKeptAndTheQueueStartsEmpty() throws {
        let place = Place()
        let garbage = Data((0..<8192).map { UInt8(truncatingIfNeeded: $0 &* 37) })
        try garbage.write(to: URL(fileURLWithPath: place.path))
        let queue = try open(place)
        #expect(queue.repair?.contains("corrupted") == true)
        #expect(queue.count == 0)
        try queue.store([event(queue, "a")], removing: [])
        #expect(try texts(queue) == ["a"])
        #expect(try Data(contentsOf: URL(fileURLWithPath: place.path + ".corrupted")) == garbage)
        let good = try open(Place())
        #expect(good.repair == nil)
    }

    /// What is in the log alone was committed, too: it is kept with the file that cannot be read.
    @Test func theLogOfACorruptedFileIsKept() throws {
        let (used, place) = (Place(), Place())
        var queue = try open(used, limit: 10_000, bytes: 8 << 20)
        try queue.store((0..<2000).map { event(queue, "\($0)", size: 500) }, removing: [])
        queue.close()
        queue = try open(used, limit: 10_000, bytes: 8 << 20)
        try queue.store([event(queue, "in the log alone")], removing: [])
        for suffix in ["", "-wal"] {
            try FileManager.default.copyItem(atPath: used.path + suffix, toPath: place.path + suffix)
        }
        queue.close()
        let file = try FileHandle(forWritingTo: URL(fileURLWithPath: place.path))
        let size = try file.seekToEnd()
        for page in stride(from: UInt64(1024), to: size, by: 1024) {
            try file.seek(toOffset: page)
            try file.write(contentsOf: Data(repeating: 0xA5, count: 1024))
        }
        try file.close()
        let fresh = try open(place, limit: 10_000, bytes: 8 << 20)
        #expect(fresh.repair != nil && fresh.count == 0)
        let kept = ["", "-wal"].compactMap { FileManager.default.contents(atPath: place.path + ".corrupted" + $0) }
        #expect(kept.contains { $0.range(of: Data("in the log alone".utf8)) != nil })
        try fresh.store([event(fresh, "a")], removing: [])
        #expect(try texts(fresh) == ["a"])
    }

    /// Pages after the first are overwritten: what cannot be read starts again, and the count of what is lost is known.
    @Test func aFileThatIsCorruptedWhileItIsUsedStartsAgainWithTheCount() throws {
        let place = Place()
        var queue = try open(place, limit: 10_000, bytes: 8 << 20)
        // More than SQLite keeps in memory.
        try queue.store((0..<2000).map { event(queue, "\($0)", size: 500) }, removing: [])
        let last = queue.number()
        queue.countDropped(3)
        queue.close()
        queue = try open(place, limit: 10_000, bytes: 8 << 20)
        let file = try FileHandle(forWritingTo: URL(fileURLWithPath: place.path))
        let size = try file.seekToEnd()
        for page in stride(from: UInt64(1024), to: size, by: 1024) {
            try file.seek(toOffset: page)
            try file.write(contentsOf: Data(repeating: 0xA5, count: 1024))
        }
        try file.close()
        var failure: QueueError?
        do throws(QueueError) {
            _ = try queue.entries(after: 0, limit: 5000)
        } catch {
            failure = error
        }
        #expect(failure?.kind == .corrupted)
        #expect(try queue.startAgain() == 2000)
        #expect(queue.dropped == 2003)
        #expect(queue.number() > last)
        #expect(queue.count == 0)
        try queue.store([event(queue, "a")], removing: [])
        #expect(try texts(queue) == ["a"])
    }

    @Test func aFileOfAnotherVersionOrNoDirectoryIsAnError() throws {
        let place = Place()
        try open(place).close()
        var handle: OpaquePointer?
        sqlite3_open(place.path, &handle)
        sqlite3_exec(handle, "UPDATE facts SET value=7 WHERE name='version'", nil, nil, nil)
        sqlite3_close(handle)
        do throws(QueueError) {
            _ = try DiskQueue(place.path, limit: 1, bytes: 1 << 20)
            Issue.record("a queue of version 7 was opened")
        } catch {
            #expect(error.kind == .system)
            #expect(error.text.contains("version 7"))
        }
        let error = #expect(throws: QueueError.self) { try DiskQueue(missingPath(), limit: 1, bytes: 1 << 20) }
        #expect(error?.kind == .system)
        #expect(error?.text == "No such file or directory")
    }

    /// SQLite does not check what stands in a row: numbers that no queue has, after which counting on would end the program.
    @Test(arguments: [
        "UPDATE queue SET number=-5 WHERE number=2", "UPDATE queue SET number=9223372036854775807 WHERE number=2",
        "UPDATE queue SET time=-1 WHERE number=2", "UPDATE facts SET value=9223372036854775807 WHERE name='reserved'",
        "UPDATE facts SET value=-7 WHERE name='dropped'",
    ])
    func numbersThatNoQueueHas(_ change: String) throws {
        let place = Place()
        let queue = try open(place, limit: 2)
        try queue.store([event(queue, "a"), state(queue, "t", "b"), event(queue, "c")], removing: [])
        queue.close()
        let database = try Database(place.path)
        try database.execute(change)
        database.close()
        let after = try open(place, limit: 2)
        #expect(after.repair?.contains("it has numbers that no queue has") == true)
        try after.store([event(after, "d"), event(after, "e"), event(after, "f")], removing: [])
        #expect(try texts(after) == ["e", "f"])
    }

    @Test func notesAreKept() throws {
        let place = Place()
        var queue = try open(place)
        try queue.setNote("a", "1")
        try queue.setNote("b", "2")
        try queue.setNote("b", "3")
        try queue.setNote("a", nil)
        queue.close()
        queue = try open(place)
        #expect(try queue.notes() == ["b": "3"])
    }
}
