// SPDX-License-Identifier: MIT
// Messages from the moment they exist until the broker has acknowledged them. While the broker answers, nothing is
// written to disk; what it does not acknowledge soon is stored.
import TendonQueue
import TendonSupport

/// On the worker's thread only.
struct Delivery {
    /// Messages that wait in memory: young ones.
    private var fresh: [(entry: QueueEntry, arrived: UInt64)] = []
    private let queue: DiskQueue
    /// Greatest number that is stored, and greatest that libmosquitto has.
    private var storedThrough: UInt64 = 0
    private var sentThrough: UInt64 = 0
    /// What libmosquitto has, by its numbers.
    private var inFlight: [Int32: Sent] = [:]
    /// Stored messages that are acknowledged and not yet removed.
    private var acknowledged: [UInt64] = []
    private var removalAt = UInt64.max
    private var syncAt = UInt64.max
    /// After a failure of the disk: when it is written, and read, again.
    private var retryAt: UInt64 = 0
    private var readAt: UInt64 = 0
    private var cannotWrite = false
    private var cannotRead = false
    private var (writing, reading) = (DiskReport(), DiskReport())
    /// All notes, and the names of those that the disk has not taken yet.
    private var kept: [String: String]
    private var unwritten: Set<String> = []

    private struct Sent {
        var number: UInt64
        var topic: String
        var size: Int
        /// It still waits: it was neither replaced by a newer state nor dropped.
        var isKept = true
    }

    /// Messages that the broker refused.
    private(set) var refused: UInt64 = 0
    /// Messages that neither the memory nor the file had room for.
    private var overflow: UInt64 = 0

    /// Messages that libmosquitto has and the broker has not acknowledged. Fewer than libmosquitto sends at a time (20)
    /// and the broker takes: a message that libmosquitto had to hold back could be overtaken by the next one.
    private static let longestWindow = 16
    private var window = Delivery.longestWindow
    /// Milliseconds after which a message is stored: while the broker is connected, and while it is not.
    private static let patience: UInt64 = 500
    private static let gathering: UInt64 = 50
    /// Stored messages that are acknowledged are removed after this time, or when there are so many: after a kill they
    /// are sent again.
    private static let removalPause: UInt64 = 1000
    private static let removalBatch = 256
    private static let syncPause: UInt64 = 10_000
    private static let retryPause: UInt64 = 5000
    /// Messages in memory; with more they are stored. While the disk takes none the oldest is dropped for a new one, as on
    /// disk: states last, and a newer state takes the place of the older of its topic.
    private static let memoryLimit = 4096

    /// Tells people about failures of the disk.
    private let report: (String) -> Void

    init(_ queue: DiskQueue, now: UInt64, report: @escaping (String) -> Void) {
        self.queue = queue
        self.report = report
        kept = (try? queue.notes()) ?? [:]
        storedThrough = queue.next - 1
        if let failure = queue.failure { cannotStore(failure, now) }
    }

    var isFailing: Bool { cannotWrite || cannotRead }
    /// Messages that the broker has not acknowledged. Each acknowledged number is of a message that is stored.
    var waiting: Int { queue.count - acknowledged.count + fresh.count }
    var dropped: UInt64 { queue.dropped }
    var commits: UInt64 { queue.commits }
    var syncs: UInt64 { queue.syncs }
    /// The number of the next message.
    var next: UInt64 { queue.next }
    var isIdle: Bool { waiting == 0 }
    /// After the last `store`: what the file has for the next start, and what no start will find.
    var stored: Int { queue.count - acknowledged.count }
    var lost: UInt64 { UInt64(fresh.count) + overflow }

    /// A message; `payload` gets its number.
    mutating func add(
        _ topic: String, isState: Bool, time: UInt64, now: UInt64, payload: (UInt64) -> [UInt8]
    ) {
        let number = queue.number()
        if isState, cannotWrite { replace(topic) }
        if fresh.count >= Delivery.memoryLimit, !(now >= retryAt && write(now, storesFresh: true)) { dropOldest() }
        let entry = QueueEntry(
            number: number, time: time, topic: topic, payload: payload(number), isState: isState)
        fresh.append((entry, now))
    }

    private mutating func dropOldest() {
        // Those that libmosquitto has are not lost.
        let isLost = { [sentThrough] (item: (entry: QueueEntry, arrived: UInt64)) in item.entry.number > sentThrough }
        let event = fresh.firstIndex { isLost($0) && !$0.entry.isState }
        guard let index = event ?? fresh.firstIndex(where: isLost) else { return }
        fresh.remove(at: index)
        overflow += 1
        queue.countDropped(1)
    }

    private mutating func replace(_ topic: String) {
        let index = fresh.firstIndex { [sentThrough] item in
            item.entry.isState && item.entry.topic == topic && item.entry.number > sentThrough
        }
        if let index { fresh.remove(at: index) }
    }

    /// What the broker takes unacknowledged; nil: it does not say.
    mutating func limit(_ window: Int?) { self.window = max(1, min(window ?? .max, Delivery.longestWindow)) }

    /// Hands over as much as the window takes, in order.
    mutating func pump(now: UInt64, _ publish: (QueueEntry) -> PublishResult) {
        while inFlight.count < window {
            let entries = following(window - inFlight.count, now)
            if entries.isEmpty { return }
            for entry in entries {
                switch publish(entry) {
                case .taken(let number):
                    inFlight[number] =
                        Sent(number: entry.number, topic: entry.topic, size: entry.payload.count)
                case .refused: done(entry.number, isRefused: true, now)
                case .later: return
                }
                sentThrough = entry.number
            }
        }
    }

    /// The next messages that libmosquitto does not have: the stored ones are older. While those cannot be read, nothing
    /// overtakes them.
    private mutating func following(_ limit: Int, _ now: UInt64) -> [QueueEntry] {
        if sentThrough < storedThrough {
            guard now >= readAt else { return [] }
            do throws(QueueError) {
                let entries = try queue.entries(after: sentThrough, limit: limit)
                if reading.works(now) { report("the queue is read again") }
                (cannotRead, readAt) = (false, 0)
                if !entries.isEmpty { return entries }
                // What was removed or replaced leaves gaps.
                sentThrough = storedThrough
            } catch {
                guard startAgain(after: error) else {
                    if reading.failed(now) { report("the queue cannot be read (\(error.text)): what is stored waits") }
                    (cannotRead, readAt) = (true, now + Delivery.retryPause)
                    return []
                }
            }
        }
        return fresh.lazy.map(\.entry).filter { [sentThrough] in $0.number > sentThrough }.prefix(limit).map(\.self)
    }

    /// The broker has it, or will not take it. Returns its topic; nil: it is none of these messages.
    @discardableResult
    mutating func finished(_ number: Int32, isRefused: Bool, now: UInt64) -> String? {
        guard let message = inFlight.removeValue(forKey: number) else { return nil }
        if message.isKept { done(message.number, isRefused: isRefused, now) } else if isRefused { refused += 1 }
        return message.topic
    }

    private mutating func done(_ number: UInt64, isRefused: Bool, _ now: UInt64) {
        if isRefused { refused += 1 }
        if let index = fresh.firstIndex(where: { $0.entry.number == number }) {
            fresh.remove(at: index)
            return
        }
        if acknowledged.isEmpty { removalAt = now + Delivery.removalPause }
        acknowledged.append(number)
        if acknowledged.count >= Delivery.removalBatch { removalAt = now }
    }

    /// The oldest message that libmosquitto has: the first one that it repeats with the next connection.
    var oldestSent: (number: UInt64, topic: String, size: Int)? {
        inFlight.values.min { $0.number < $1.number }.map { ($0.number, $0.topic, $0.size) }
    }

    /// Messages that are not stored any more: their acknowledgements remove nothing.
    private mutating func lost(where isLost: (UInt64) -> Bool) {
        for (number, message) in inFlight where isLost(message.number) { inFlight[number]?.isKept = false }
    }

    /// When `store` or `pump` has something to do.
    func deadline(isConnected: Bool) -> UInt64 {
        cannotRead && isConnected ? min(storeDeadline(isConnected), readAt) : storeDeadline(isConnected)
    }

    private func storeDeadline(_ isConnected: Bool) -> UInt64 {
        let notes: UInt64 = unwritten.isEmpty ? .max : 0
        return queue.failure == nil ? max(min(freshDeadline(isConnected), removalAt, syncAt, notes), retryAt) : retryAt
    }

    /// When the messages in memory are stored.
    private func freshDeadline(_ isConnected: Bool) -> UInt64 {
        fresh.first.map { $0.arrived + (isConnected ? Delivery.patience : Delivery.gathering) } ?? .max
    }

    /// Writes what is due. `isLast`: all.
    mutating func store(now: UInt64, isConnected: Bool, isLast: Bool = false) {
        guard isLast || now >= storeDeadline(isConnected) else { return }
        // A removal stores no young message: its removal would need another commit, and so on, endlessly. Notes that wait may say
        // that nothing is left of a name: what ends it comes first.
        let storesFresh = isLast || !unwritten.isEmpty || now >= freshDeadline(isConnected)
        write(now, storesFresh: storesFresh, syncs: isLast)
    }

    /// What waits in memory is stored, so that the end of the process does not lose it.
    mutating func keep(now: UInt64) { write(now, storesFresh: true) }

    @discardableResult
    private mutating func write(_ now: UInt64, storesFresh: Bool, syncs: Bool = false) -> Bool {
        do throws(QueueError) {
            let storesFresh = try attach() || storesFresh
            let gone = Set(try queue.store(storesFresh ? fresh.map(\.entry) : [], removing: acknowledged))
            lost { gone.contains($0) }
            if storesFresh {
                if let last = fresh.last { storedThrough = last.entry.number }
                fresh.removeAll(keepingCapacity: true)
            }
            acknowledged.removeAll(keepingCapacity: true)
            removalAt = .max
            if storesFresh { try writeNotes() }
            if syncAt == .max { syncAt = now + Delivery.syncPause }
            if now >= syncAt || syncs {
                try queue.sync()
                syncAt = .max
            }
            if writing.works(now) { report("the queue is written again") }
            (cannotWrite, retryAt) = (false, 0)
            return true
        } catch {
            if startAgain(after: error) { return false }
            cannotStore(error, now)
            return false
        }
    }

    /// The file that could not be used until now. What it has from before goes first; what libmosquitto has goes once more.
    /// Returns whether there was anything to do.
    private mutating func attach() throws(QueueError) -> Bool {
        guard queue.failure != nil else { return false }
        try queue.attach()
        sentThrough = 0
        lost { _ in true }
        var notes = try queue.notes()
        for name in unwritten { notes[name] = kept[name] }
        kept = notes
        return true
    }

    private mutating func cannotStore(_ error: QueueError, _ now: UInt64) {
        if writing.failed(now) {
            report("the queue cannot be written (\(error.text)): up to \(Delivery.memoryLimit) messages wait in memory")
        }
        (cannotWrite, retryAt) = (true, now + Delivery.retryPause)
    }

    /// A corrupted file is replaced. False: this error is another one.
    private mutating func startAgain(after error: QueueError) -> Bool {
        guard error.kind == .corrupted, let count = try? queue.startAgain(delivered: acknowledged.count) else {
            return false
        }
        let young = Set(fresh.map(\.entry.number))
        lost { !young.contains($0) }
        acknowledged.removeAll()
        removalAt = .max
        unwritten = Set(kept.keys)
        storedThrough = min(storedThrough, sentThrough)
        (cannotRead, readAt) = (false, 0)
        report("the queue was corrupted (\(error.text)) and starts again; \(count) messages are lost")
        return true
    }

    func close() { queue.close() }

    // MARK: Notes

    func notes() -> [String: String] { kept }

    /// Nil removes it. A note that the disk does not take is written when it takes messages again.
    mutating func setNote(_ name: String, _ value: String?, now: UInt64) {
        kept[name] = value
        unwritten.insert(name)
        guard now >= retryAt else { return }
        do throws(QueueError) { try writeNotes() } catch { if !startAgain(after: error) { cannotStore(error, now) } }
    }

    private mutating func writeNotes() throws(QueueError) {
        for name in unwritten.sorted() {
            try queue.setNote(name, kept[name])
            unwritten.remove(name)
        }
    }

    mutating func countRefused() { refused += 1 }
    func countDropped(_ number: Int) { queue.countDropped(number) }
}
