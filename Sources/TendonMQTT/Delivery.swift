// SPDX-License-Identifier: MIT
// Messages from the moment they exist until the broker has acknowledged them. While the broker answers, nothing is
// written to disk; what it does not acknowledge soon is stored.
import TendonQueue

/// On the worker's thread only.
struct Delivery {
    /// Messages that wait in memory: young ones.
    private var fresh: [(entry: QueueEntry, arrived: UInt64)] = []
    private let queue: DiskQueue
    /// Greatest number that is stored, and greatest that libmosquitto has.
    private var storedThrough: UInt64 = 0
    private var sentThrough: UInt64 = 0
    private var inFlight: [Int32: UInt64] = [:]
    /// Stored messages that are acknowledged and not yet removed.
    private var acknowledged: [UInt64] = []
    private var removalAt = UInt64.max
    private var syncAt = UInt64.max
    /// After a failure of the disk.
    private var retryAt: UInt64 = 0
    private(set) var isFailing = false

    /// Messages that the broker refused.
    private(set) var refused: UInt64 = 0

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
    /// Messages in memory while the disk takes none; the oldest is dropped for a new one.
    private static let memoryLimit = 4096

    /// Tells people about failures of the disk.
    private let report: (String) -> Void

    init(_ queue: DiskQueue, report: @escaping (String) -> Void) {
        self.queue = queue
        self.report = report
        storedThrough = queue.next - 1
    }

    var waiting: Int { queue.count - acknowledged.count + fresh.count }
    var dropped: UInt64 { queue.dropped }
    var commits: UInt64 { queue.commits }
    var syncs: UInt64 { queue.syncs }
    /// The number of the next message.
    var next: UInt64 { queue.next }
    var isIdle: Bool { waiting == 0 }

    /// A message; `payload` gets its number.
    mutating func add(
        _ topic: String, isState: Bool, time: UInt64, now: UInt64, payload: (UInt64) -> [UInt8]
    ) {
        let number = queue.number()
        if fresh.count >= Delivery.memoryLimit {
            // Those that libmosquitto has are not lost.
            let index = fresh.firstIndex { $0.entry.number > sentThrough } ?? 0
            fresh.remove(at: index)
            queue.countDropped(1)
        }
        let entry = QueueEntry(
            number: number, time: time, topic: topic, payload: payload(number), isState: isState)
        fresh.append((entry, now))
    }

    /// What the broker takes unacknowledged; nil: it does not say.
    mutating func limit(_ window: Int?) { self.window = max(1, min(window ?? .max, Delivery.longestWindow)) }

    /// Hands over as much as the window takes, in order. `publish` returns libmosquitto's number; nil: not now.
    mutating func pump(_ publish: (QueueEntry) -> Int32?) {
        while inFlight.count < window {
            let free = window - inFlight.count
            var entries: [QueueEntry] = []
            if sentThrough < storedThrough {
                entries = (try? queue.entries(after: sentThrough, limit: free)) ?? []
                // What was removed or replaced leaves gaps.
                if entries.isEmpty { sentThrough = storedThrough }
            }
            if entries.isEmpty {
                entries = fresh.lazy.map(\.entry).filter { [sentThrough] in $0.number > sentThrough }
                    .prefix(free).map(\.self)
            }
            if entries.isEmpty { return }
            for entry in entries {
                guard let number = publish(entry) else { return }
                inFlight[number] = entry.number
                sentThrough = entry.number
            }
        }
    }

    /// The broker has it, or will not take it.
    mutating func finished(_ number: Int32, isRefused: Bool, now: UInt64) {
        guard let message = inFlight.removeValue(forKey: number) else { return }
        if isRefused { refused += 1 }
        if let index = fresh.firstIndex(where: { $0.entry.number == message }) {
            fresh.remove(at: index)
        } else {
            if acknowledged.isEmpty { removalAt = now + Delivery.removalPause }
            acknowledged.append(message)
            if acknowledged.count >= Delivery.removalBatch { removalAt = now }
        }
    }

    /// When `store` has something to do.
    func deadline(isConnected: Bool) -> UInt64 {
        max(min(freshDeadline(isConnected), removalAt, syncAt), retryAt)
    }

    /// When the messages in memory are stored.
    private func freshDeadline(_ isConnected: Bool) -> UInt64 {
        fresh.first.map { $0.arrived + (isConnected ? Delivery.patience : Delivery.gathering) } ?? .max
    }

    /// Writes what is due. `isLast`: all.
    mutating func store(now: UInt64, isConnected: Bool, isLast: Bool = false) {
        guard isLast || now >= deadline(isConnected: isConnected) else { return }
        do throws(QueueError) {
            // A removal stores no young message: its removal would need another commit, and so on, endlessly.
            let storesFresh = isLast || now >= freshDeadline(isConnected)
            try queue.store(storesFresh ? fresh.map(\.entry) : [], removing: acknowledged)
            if storesFresh {
                if let last = fresh.last { storedThrough = last.entry.number }
                fresh.removeAll(keepingCapacity: true)
            }
            acknowledged.removeAll(keepingCapacity: true)
            removalAt = .max
            if syncAt == .max { syncAt = now + Delivery.syncPause }
            if now >= syncAt || isLast {
                try queue.sync()
                syncAt = .max
            }
            if isFailing { report("the queue is written again") }
            (isFailing, retryAt) = (false, 0)
        } catch {
            failed(error, now)
        }
    }

    private mutating func failed(_ error: QueueError, _ now: UInt64) {
        if error.kind == .corrupted, let lost = try? queue.startAgain() {
            acknowledged.removeAll()
            removalAt = .max
            storedThrough = min(storedThrough, sentThrough)
            report("the queue was corrupted (\(error.text)) and starts again; \(lost) messages are lost")
            return
        }
        if !isFailing {
            report(
                "the queue cannot be written (\(error.text)): up to \(Delivery.memoryLimit) messages wait in memory")
        }
        isFailing = true
        retryAt = now + Delivery.retryPause
    }

    func close() { queue.close() }

    // MARK: Notes

    func notes() -> [String: String] { (try? queue.notes()) ?? [:] }
    func setNote(_ name: String, _ value: String?) { try? queue.setNote(name, value) }
    func countDropped(_ number: Int) { queue.countDropped(number) }
}
