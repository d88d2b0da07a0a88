// SPDX-License-Identifier: MIT
// Messages between their birth and their acknowledgement, with a broker that the test plays and a time that it sets.
import Foundation
import TestSupport
import Testing
import TendonQueue

@testable import TendonMQTT

@Suite struct DeliveryTests {
    final class Site {
        let directory = NSTemporaryDirectory() + "tendon-delivery-\(UUID().uuidString)"
        var path: String { directory + "/queue.db" }
        var reports: [String] = []
        /// What libmosquitto got, and its number of each.
        var sent: [(number: Int32, text: String)] = []
        private var last: Int32 = 0

        init() { try! FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true) }
        deinit { try? FileManager.default.removeItem(atPath: directory) }

        func delivery(limit: Int = 1000, bytes: Int = 1 << 20) throws -> Delivery {
            Delivery(try DiskQueue(path, limit: limit, bytes: bytes), now: 0) { self.reports.append($0) }
        }

        func publish(_ entry: QueueEntry) -> PublishResult {
            last += 1
            sent.append((last, String(decoding: entry.payload, as: UTF8.self)))
            return .taken(last)
        }

        var texts: [String] { sent.map(\.text) }
    }

    private func add(_ delivery: inout Delivery, _ text: String, now: UInt64 = 0, size: Int = 0) {
        delivery.add("t/event", isState: false, time: 1, now: now) { _ in
            Array(text.utf8) + [UInt8](repeating: 0x20, count: size)
        }
    }

    @Test func whatIsAcknowledgedSoonIsNeverStored() throws {
        let site = Site()
        var delivery = try site.delivery()
        add(&delivery, "a")
        delivery.pump(now: 0, site.publish)
        delivery.store(now: 400, isConnected: true)
        delivery.finished(1, isRefused: false, now: 410)
        #expect(delivery.isIdle)
        #expect(delivery.deadline(isConnected: true) == .max)
        delivery.close()
        #expect(try DiskQueue(site.path, limit: 1, bytes: 1 << 20).count == 0)
    }

    @Test func whatIsNotAcknowledgedIsStoredAndSentByTheNextRun() throws {
        let site = Site()
        var delivery = try site.delivery()
        for text in ["a", "b", "c"] { add(&delivery, text) }
        delivery.pump(now: 0, site.publish)
        delivery.finished(2, isRefused: false, now: 10)
        delivery.store(now: 499, isConnected: true)
        #expect(delivery.deadline(isConnected: true) == 500)
        delivery.store(now: 500, isConnected: true)
        // Within the run libmosquitto sends them again; the next run does it from the file.
        delivery.pump(now: 0, site.publish)
        #expect(site.texts == ["a", "b", "c"])
        delivery.close()
        site.sent = []
        delivery = try site.delivery()
        add(&delivery, "d")
        delivery.pump(now: 0, site.publish)
        #expect(site.texts == ["a", "c", "d"])
    }

    /// The gateway starts, sends what comes, and stores again when there is room: what the file has from before goes then.
    @Test func aDiskThatTakesNothingAtTheStart() throws {
        let site = Site()
        var delivery = try site.delivery()
        add(&delivery, "old")
        for name in ["kept", "changed", "gone"] { delivery.setNote(name, "old", now: 900) }
        delivery.store(now: 1000, isConnected: false, isLast: true)
        delivery.close()
        delivery = try failing("open", with: EROFS, all: true) { try site.delivery() }.result
        #expect(delivery.isFailing && delivery.deadline(isConnected: true) == 5000)
        delivery.setNote("changed", "new", now: 90)
        delivery.setNote("gone", nil, now: 90)
        add(&delivery, "a", now: 100)
        add(&delivery, "b", now: 100)
        delivery.pump(now: 100, site.publish)
        delivery.finished(1, isRefused: false, now: 110)
        #expect(site.texts == ["a", "b"] && delivery.waiting == 1)
        failing("open", with: EROFS, all: true) { delivery.store(now: 5000, isConnected: true) }
        delivery.store(now: 10_000, isConnected: true)
        #expect(!delivery.isFailing)
        delivery.pump(now: 10_000, site.publish)
        #expect(site.texts == ["a", "b", "old", "b"])
        for number in Int32(2)...4 { delivery.finished(number, isRefused: false, now: 10_010) }
        #expect(delivery.isIdle)
        #expect(
            site.reports == [
                "the queue cannot be written (Read-only file system): up to 4096 messages wait in memory",
                "the queue is written again",
            ])
        let notes = ["kept": "old", "changed": "new"]
        #expect(delivery.notes() == notes)
        delivery.close()
        #expect(try site.delivery().notes() == notes)
    }

    @Test func withoutABrokerItIsStoredAtOnce() throws {
        let site = Site()
        var delivery = try site.delivery()
        add(&delivery, "a", now: 100)
        #expect(delivery.deadline(isConnected: false) == 150)
        delivery.store(now: 150, isConnected: false)
        #expect(delivery.waiting == 1)
        delivery.pump(now: 0) { _ in .later }
        add(&delivery, "b", now: 160)
        delivery.pump(now: 0, site.publish)
        #expect(site.texts == ["a", "b"])
        delivery.finished(1, isRefused: false, now: 200)
        delivery.finished(2, isRefused: true, now: 200)
        #expect((delivery.waiting, delivery.refused) == (0, 1))
        delivery.store(now: 1200, isConnected: true)
        delivery.close()
        #expect(try DiskQueue(site.path, limit: 1, bytes: 1 << 20).count == 0)
    }

    @Test func theWindowKeepsTheOrder() throws {
        let site = Site()
        var delivery = try site.delivery()
        for number in 0..<40 {
            add(&delivery, "\(number)", now: UInt64(number))
            if number == 20 { delivery.store(now: 1000, isConnected: false) }
        }
        delivery.pump(now: 0, site.publish)
        #expect(site.sent.count == 16)
        delivery.limit(2)
        while site.sent.count < 40 {
            let oldest = site.sent[site.sent.count - 1].number
            for number in 1...oldest { delivery.finished(number, isRefused: false, now: 2000) }
            delivery.pump(now: 0, site.publish)
        }
        #expect(site.texts == (0..<40).map { "\($0)" })
    }

    /// Stored, sent and acknowledged.
    private func storedAndAcknowledged(_ count: Int, _ delivery: inout Delivery, _ site: Site) {
        for number in 0..<count { add(&delivery, "\(number)") }
        delivery.store(now: 100, isConnected: false)
        var done = 0
        while done < count {
            delivery.pump(now: 0, site.publish)
            for sent in site.sent[done...] { delivery.finished(sent.number, isRefused: false, now: 1000) }
            done = site.sent.count
        }
    }

    @Test(arguments: [(255, 2000), (256, 1000)])
    func manyAcknowledgedMessagesAreRemovedAtOnce(_ count: Int, _ deadline: UInt64) throws {
        let site = Site()
        var delivery = try site.delivery()
        storedAndAcknowledged(count, &delivery, site)
        #expect(delivery.deadline(isConnected: true) == deadline)
        delivery.store(now: deadline, isConnected: true)
        delivery.close()
        #expect(try DiskQueue(site.path, limit: 1000, bytes: 1 << 20).count == 0)
    }

    @Test func aRemovalStoresNoYoungMessage() throws {
        let site = Site()
        var delivery = try site.delivery()
        storedAndAcknowledged(1, &delivery, site)
        add(&delivery, "young", now: 1900)
        delivery.pump(now: 0, site.publish)
        let before = delivery.commits
        delivery.store(now: 2000, isConnected: true)
        delivery.finished(2, isRefused: false, now: 2100)
        #expect(delivery.isIdle)
        // What remains to be done is to sync.
        #expect(delivery.deadline(isConnected: true) == 10_100)
        #expect(delivery.commits == before + 1)
    }

    /// What is stored is synced after ten seconds, and at the end at once.
    @Test(arguments: [(false, UInt64(10_499), UInt64(0)), (false, 10_500, 1), (true, 600, 1)])
    func aSyncIsDue(_ isLast: Bool, _ now: UInt64, _ syncs: UInt64) throws {
        let site = Site()
        var delivery = try site.delivery()
        add(&delivery, "a")
        let before = delivery.syncs
        delivery.store(now: 500, isConnected: true)
        #expect(delivery.syncs == before && delivery.deadline(isConnected: true) == 10_500)
        delivery.store(now: now, isConnected: true, isLast: isLast)
        #expect(delivery.syncs == before + syncs)
        #expect((delivery.deadline(isConnected: true) == .max) == (syncs == 1))
    }

    /// One message a second, and the worker's work every 50 ms, for an hour.
    private func anHour(
        _ delivery: inout Delivery, _ site: Site, isConnected: Bool
    ) -> (commits: UInt64, syncs: UInt64) {
        let before = (delivery.commits, delivery.syncs)
        for now in stride(from: UInt64(0), to: 3_600_000, by: 50) {
            if now % 1000 == 0 { add(&delivery, "\(now)", now: now, size: 250) }
            if isConnected {
                delivery.pump(now: 0, site.publish)
                for sent in site.sent { delivery.finished(sent.number, isRefused: false, now: now) }
                site.sent = []
            }
            delivery.store(now: now, isConnected: isConnected)
        }
        return (delivery.commits - before.0, delivery.syncs - before.1)
    }

    @Test func commitsPerHour() throws {
        let site = Site()
        var delivery = try site.delivery(limit: 100_000, bytes: 16 << 20)
        // The reservation of numbers.
        let connected = anHour(&delivery, site, isConnected: true)
        #expect(connected == (1, 1))
        // And one more reservation, when 4096 numbers are used.
        let away = anHour(&delivery, site, isConnected: false)
        #expect(away == (3600 + 1, 327 + 1))
    }

    @Test func aFullDiskIsReportedOnceAndMessagesWaitInMemory() throws {
        let site = Site()
        var delivery = try site.delivery(limit: 100_000, bytes: 32 << 10)
        for number in 0..<40 { add(&delivery, "\(number)", size: 900) }
        delivery.store(now: 100, isConnected: false)
        #expect(delivery.isFailing)
        #expect(site.reports.count == 1)
        #expect(delivery.deadline(isConnected: false) == 5100)
        delivery.store(now: 5100, isConnected: false)
        #expect(site.reports.count == 1)
        #expect(delivery.waiting == 40)
        // The broker takes them from memory.
        for _ in 0..<10 {
            delivery.pump(now: 0, site.publish)
            for sent in site.sent { delivery.finished(sent.number, isRefused: false, now: 6000) }
        }
        #expect(site.sent.count == 40)
        add(&delivery, "small", now: 20_000)
        delivery.store(now: 20_050, isConnected: false)
        #expect(!delivery.isFailing)
        #expect(site.reports.count == 2)
    }

    /// Nothing is due after it: what was acknowledged went with the file.
    @Test func aQueueThatIsCorruptedStartsAgain() throws {
        let site = Site()
        var delivery = try site.delivery(limit: 10_000, bytes: 8 << 20)
        // More than SQLite keeps in memory.
        for number in 0..<2000 { add(&delivery, "\(number)", size: 500) }
        delivery.store(now: 50, isConnected: false)
        delivery.close()
        delivery = try site.delivery(limit: 10_000, bytes: 8 << 20)
        for number in 1...Int32(1000) {
            delivery.pump(now: 0, site.publish)
            delivery.finished(number, isRefused: false, now: 1000)
        }
        for number in 1001...Int32(site.sent.count) { delivery.finished(number, isRefused: false, now: 1000) }
        #expect(delivery.deadline(isConnected: true) == 1000 && delivery.waiting == 2000 - site.sent.count)
        let file = try FileHandle(forWritingTo: URL(fileURLWithPath: site.path))
        for page in stride(from: UInt64(1024), to: try file.seekToEnd(), by: 1024) {
            try file.seek(toOffset: page)
            try file.write(contentsOf: Data(repeating: 0xA5, count: 1024))
        }
        try file.close()
        delivery.store(now: 1000, isConnected: true)
        // What the broker has is not lost.
        let lost = 2000 - site.sent.count
        #expect(site.reports.count == 1 && site.reports[0].hasSuffix("starts again; \(lost) messages are lost"))
        #expect(!delivery.isFailing && delivery.waiting == 0 && delivery.dropped == lost)
        #expect(delivery.deadline(isConnected: true) == .max)
        site.sent = []
        add(&delivery, "after it", now: 3000)
        delivery.pump(now: 0, site.publish)
        #expect(site.texts == ["after it"])
        delivery.store(now: 3500, isConnected: true)
        #expect(delivery.waiting == 1 && !delivery.isFailing)
    }

    /// Pages of the file, from the second one on, are overwritten.
    private func corrupt(_ site: Site) throws {
        let file = try FileHandle(forWritingTo: URL(fileURLWithPath: site.path))
        for page in stride(from: UInt64(1024), to: try file.seekToEnd(), by: 1024) {
            try file.seek(toOffset: page)
            try file.write(contentsOf: Data(repeating: 0xA5, count: 1024))
        }
        try file.close()
    }

    /// Sixteen are in flight when the file is found to be corrupted, with young messages behind them: each acknowledgement counts
    /// once, nothing is sent twice, and notes are written to the new file.
    @Test func aQueueThatIsCorruptedWhileMessagesAreInFlight() throws {
        let site = Site()
        var delivery = try site.delivery(limit: 10_000, bytes: 8 << 20)
        delivery.setNote("device/a", "old", now: 0)
        for number in 0..<2000 { add(&delivery, "\(number)", size: 500) }
        delivery.store(now: 50, isConnected: false)
        delivery.close()
        delivery = try site.delivery(limit: 10_000, bytes: 8 << 20)
        delivery.setNote("device/b", "new", now: 50)
        delivery.pump(now: 100, site.publish)
        #expect(site.sent.count == 16)
        for text in ["x", "y"] { add(&delivery, text, now: 100) }
        try corrupt(site)
        delivery.finished(1, isRefused: false, now: 200)
        delivery.pump(now: 200, site.publish)
        #expect(site.reports.count == 1 && site.reports[0].contains("starts again; 1999 messages are lost"))
        for number in Int32(2)...16 { delivery.finished(number, isRefused: false, now: 201) }
        #expect(delivery.waiting == 2 && delivery.dropped == 1999)
        delivery.pump(now: 202, site.publish)
        #expect(site.texts.suffix(2) == ["x", "y"] && site.sent.count == 18)
        for number in Int32(17)...18 { delivery.finished(number, isRefused: false, now: 203) }
        #expect(delivery.isIdle)
        delivery.store(now: 5000, isConnected: true)
        delivery.close()
        delivery = try site.delivery(limit: 10_000, bytes: 8 << 20)
        #expect(delivery.notes() == ["device/a": "old", "device/b": "new"])
        #expect(delivery.dropped == 1999)
    }

    /// A name, or that a name is no more, is not lost because the disk was full just then.
    @Test func notesThatTheDiskDoesNotTake() throws {
        let site = Site()
        var delivery = try site.delivery(limit: 100_000, bytes: 32 << 10)
        delivery.setNote("gone", "x", now: 0)
        for number in 0..<16 { add(&delivery, "\(number)", size: 900) }
        delivery.store(now: 50, isConnected: false)
        var number = 0
        while !delivery.isFailing {
            delivery.setNote("device/\(number)", String(repeating: "n", count: 500), now: 100)
            number += 1
            guard number < 1000 else { break }
        }
        delivery.setNote("gone", nil, now: 200)
        #expect(site.reports.count == 1 && site.reports[0].hasPrefix("the queue cannot be written"))
        #expect(delivery.deadline(isConnected: false) == 5100)
        // Messages are removed: there is room.
        for _ in 0..<4 {
            delivery.pump(now: 300, site.publish)
            for sent in site.sent { delivery.finished(sent.number, isRefused: false, now: 300) }
        }
        delivery.store(now: 5099, isConnected: true)
        #expect(delivery.isFailing)
        delivery.store(now: 5100, isConnected: true)
        #expect(!delivery.isFailing && site.reports.last == "the queue is written again")
        // As after a kill: nothing more is written.
        delivery.close()
        let notes = try site.delivery().notes()
        #expect(notes.count == number && notes["gone"] == nil)
    }

    /// The disk is tried again for a note, too, once its pause is over.
    @Test func aNoteTriesTheDiskAgain() throws {
        let site = Site()
        var delivery = try site.delivery()
        failing("pwrite64", with: ENOSPC, all: true) { delivery.setNote("a", "x", now: 1000) }
        #expect(delivery.isFailing)
        delivery.setNote("b", "y", now: 6000)
        // As after a kill: nothing more is written.
        delivery.close()
        #expect(try site.delivery().notes() == ["a": "x", "b": "y"])
    }

    /// No broker, no room, and the end of the process, in each order: what comes for the first time comes in order, and all that
    /// was sent before comes.
    @Test(arguments: [[0, 1, 2], [1, 0, 2], [0, 2, 1], [1, 2, 0], [2, 0, 1], [2, 1, 0]])
    func awayAndFullAndKilled(order: [Int]) throws {
        let site = Site()
        var delivery = try site.delivery(limit: 100_000, bytes: 32 << 10)
        var (isConnected, isFull, now, count) = (true, false, UInt64(0), 0)
        var acknowledged: Set<Int32> = []
        func live(_ steps: Int) {
            for _ in 0..<steps {
                now += 100
                count += 1
                add(&delivery, "\(count)", now: now, size: isFull ? 3000 : 0)
                if isConnected { delivery.pump(now: now, site.publish) }
                for sent in site.sent where isConnected && acknowledged.insert(sent.number).inserted {
                    delivery.finished(sent.number, isRefused: false, now: now)
                }
                delivery.store(now: now, isConnected: isConnected)
            }
        }
        live(5)
        for fault in order {
            switch fault {
            case 0: isConnected = false
            case 1: isFull = true
            default:
                // The process ends; what it had in memory is gone.
                delivery.close()
                delivery = try site.delivery(limit: 100_000, bytes: 32 << 10)
            }
            live(20)
        }
        isConnected = true
        for _ in 0..<10 { live(20) }
        var first: [Int] = []
        for number in site.texts.map({ Int($0.trimmingCharacters(in: .whitespaces))! }) where !first.contains(number) {
            first.append(number)
        }
        #expect(first == first.sorted(), "\(first)")
        #expect(first.prefix(5) == [1, 2, 3, 4, 5] && first.suffix(200) == Array(count - 199...count)[...])
        #expect(delivery.isIdle)
    }

    /// The clock of the day is set back, and forward by years: the order is that of the numbers.
    @Test func aClockThatIsSet() throws {
        let site = Site()
        var delivery = try site.delivery()
        let times: [UInt64] = [
            1_900_000_000_000_000, 5, 0, 9_000_000_000_000_000_000, 1_000_000, 1_800_000_000_000_000,
        ]
        for (index, time) in times.enumerated() {
            delivery.add("t/event", isState: false, time: time, now: UInt64(index)) { _ in Array("\(index)".utf8) }
            delivery.add("t/state", isState: true, time: time, now: UInt64(index)) { _ in Array("state \(index)".utf8) }
            delivery.store(now: UInt64(index) + 50, isConnected: false)
        }
        delivery.close()
        delivery = try site.delivery()
        delivery.pump(now: 100, site.publish)
        #expect(site.texts == ["0", "1", "2", "3", "4", "5", "state 5"])
    }

    @Test func memoryIsBoundedAndWhatIsDroppedIsCounted() throws {
        let site = Site()
        var delivery = try site.delivery(limit: 100_000, bytes: 16 << 10)
        for number in 0..<5000 { add(&delivery, "\(number)", size: 20) }
        #expect(delivery.waiting == 4096)
        #expect(delivery.dropped == 904)
        #expect(delivery.lost + UInt64(delivery.stored) == 5000, "at an end now")
    }

    /// A burst that is larger than the memory for it goes to the disk, which has room.
    @Test func atTheLimitOfTheMemoryMessagesAreStored() throws {
        let site = Site()
        var delivery = try site.delivery(limit: 100_000, bytes: 16 << 20)
        for number in 0..<10_000 { add(&delivery, "\(number)") }
        #expect((delivery.waiting, delivery.dropped) == (10_000, 0))
        while site.sent.count < 10_000 {
            let before = site.sent.count
            delivery.pump(now: 0, site.publish)
            guard site.sent.count > before else { break }
            for sent in site.sent[before...] { delivery.finished(sent.number, isRefused: false, now: 0) }
        }
        #expect(site.texts == (0..<10_000).map { "\($0)" })
        #expect(delivery.isIdle)
    }

    private func state(_ delivery: inout Delivery, _ text: String) {
        delivery.add("t", isState: true, time: 1, now: 0) { _ in Array(text.utf8) }
    }

    /// A newer state takes its place on disk: its acknowledgement says nothing about the newer one.
    @Test func aStateThatIsReplacedInFlight() throws {
        let site = Site()
        var delivery = try site.delivery()
        state(&delivery, "first")
        delivery.pump(now: 0, site.publish)
        delivery.store(now: 500, isConnected: true)
        state(&delivery, "second")
        delivery.store(now: 1000, isConnected: true)
        #expect(delivery.waiting == 1)
        delivery.finished(1, isRefused: false, now: 1001)
        #expect(delivery.waiting == 1 && !delivery.isIdle)
        delivery.pump(now: 1001, site.publish)
        delivery.finished(2, isRefused: false, now: 1002)
        #expect(delivery.isIdle)
        delivery.store(now: 9999, isConnected: true)
        #expect(delivery.waiting == 0 && site.texts == ["first", "second"])
    }

    /// The limit drops what is in flight: it is counted once.
    @Test func whatTheLimitDropsInFlight() throws {
        let site = Site()
        var delivery = try site.delivery(limit: 2)
        for text in ["a", "b"] { add(&delivery, text) }
        delivery.store(now: 50, isConnected: false)
        delivery.pump(now: 50, site.publish)
        for text in ["c", "d"] { add(&delivery, text) }
        delivery.store(now: 1000, isConnected: false)
        #expect((delivery.waiting, delivery.dropped) == (2, 2))
        for number in Int32(1)...2 { delivery.finished(number, isRefused: false, now: 1001) }
        #expect(delivery.waiting == 2)
        delivery.pump(now: 1001, site.publish)
        for number in Int32(3)...4 { delivery.finished(number, isRefused: false, now: 1002) }
        delivery.store(now: 3000, isConnected: true)
        #expect(delivery.waiting == 0 && site.texts == ["a", "b", "c", "d"])
    }

    /// The message goes, and those behind it are sent.
    @Test func aMessageThatTheBrokerCannotTake() throws {
        let site = Site()
        var delivery = try site.delivery()
        for text in ["a", "large", "b"] { add(&delivery, text) }
        delivery.pump(now: 0) { $0.payload.count > 3 ? .refused("too large") : site.publish($0) }
        #expect(site.texts == ["a", "b"])
        #expect((delivery.waiting, delivery.refused) == (2, 1))
    }

    /// An error of the disk is not an empty queue: nothing overtakes what is stored, and it is read again.
    @Test func aQueueThatCannotBeReadForATime() throws {
        let site = Site()
        var delivery = try site.delivery(limit: 10_000, bytes: 8 << 20)
        // More than SQLite keeps in memory.
        for number in 0..<1000 { add(&delivery, "\(number)", size: 500) }
        delivery.store(now: 50, isConnected: false)
        delivery.close()
        delivery = try site.delivery(limit: 10_000, bytes: 8 << 20)
        add(&delivery, "young", now: 100)
        // Reading from a descriptor that is only for writing fails with EBADF: SQLITE_IOERR.
        let file = try #require((3..<1024).map(Int32.init).first { descriptor(of: $0) == site.path })
        let saved = dup(file)
        let other = open("/dev/null", O_WRONLY)
        dup2(other, file)
        delivery.pump(now: 1000, site.publish)
        #expect(site.sent.isEmpty && delivery.isFailing)
        #expect(delivery.deadline(isConnected: true) <= 6000)
        delivery.pump(now: 5999, site.publish)
        #expect(site.reports.count == 1)
        #expect(site.reports.first?.hasPrefix("the queue cannot be read") == true)
        #expect(delivery.waiting == 1001)
        dup2(saved, file)
        for descriptor in [saved, other] { close(descriptor) }
        delivery.pump(now: 5999, site.publish)
        #expect(site.sent.isEmpty)
        delivery.pump(now: 6000, site.publish)
        #expect(!delivery.isFailing && site.reports.last == "the queue is read again")
        for number in 1...Int32(1001) {
            delivery.finished(number, isRefused: false, now: 6000)
            delivery.pump(now: 6000, site.publish)
        }
        #expect(site.texts.map { $0.filter { $0 != " " } } == (0..<1000).map { "\($0)" } + ["young"])
        #expect(delivery.isIdle)
    }

    /// The file of a descriptor of this process.
    private func descriptor(of number: Int32) -> String? {
        try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\(number)")
    }

    /// Stored messages come from the file; while there are none, it is not read.
    @Test func theFileIsReadForStoredMessagesAlone() throws {
        let site = Site()
        var delivery = try site.delivery()
        func reads() -> Int { calls(of: "sqlite3_reset") { delivery.pump(now: 100, site.publish) } }
        add(&delivery, "young")
        #expect(reads() == 0)
        delivery.finished(1, isRefused: false, now: 100)
        add(&delivery, "stored")
        delivery.store(now: 100, isConnected: false)
        #expect(reads() > 0)
        add(&delivery, "young again", now: 100)
        #expect(reads() == 0)
        #expect(site.texts == ["young", "stored", "young again"])
    }
}
