// SPDX-License-Identifier: MIT
// Messages that wait on disk until they are acknowledged: bounded, in order, each with a number that is never used twice.
#if canImport(Glibc)
    import Glibc
#else
    import Musl
#endif

/// One message.
package struct QueueEntry: Sendable, Equatable {
    /// Greater than that of every message before it, over all runs of the gateway.
    package var number: UInt64
    /// Microseconds since 1970.
    package var time: UInt64
    package var topic: String
    package var payload: [UInt8]
    /// A state: a newer one of the same topic takes its place.
    package var isState: Bool

    package init(number: UInt64, time: UInt64, topic: String, payload: [UInt8], isState: Bool) {
        self.number = number
        self.time = time
        self.topic = topic
        self.payload = payload
        self.isState = isState
    }
}

/// The queue in a file. Used by one thread.
package final class DiskQueue {
    private let path: String
    /// Messages that are stored at most; the oldest that is no state is dropped for a new one.
    private let limit: Int
    private let pages: Int
    private var database: Database
    /// The stored states, by topic.
    private var states: [String: UInt64] = [:]
    private var reserved: UInt64 = 0
    private var isDirty = false

    /// Messages that are stored.
    package private(set) var count = 0
    /// Messages that were dropped because the queue was full, since the file was made.
    package private(set) var dropped: UInt64 = 0
    /// The number of the next message.
    package private(set) var next: UInt64 = 1
    /// Commits since the file was opened, and how often the disk was waited for.
    package var commits: UInt64 { database.commits }
    package private(set) var syncs: UInt64 = 0
    /// What was found wrong with the file, and done about it; nil: nothing.
    package private(set) var repair: String?
    /// Why nothing can be stored: the disk was full, or read-only, when the file was to be opened. Nil: the file is used.
    package private(set) var failure: QueueError?

    /// Numbers that are reserved on disk at a time, so that a number needs no write of its own.
    private static let block: UInt64 = 4096
    /// Small pages: a message is small, and flash is written page by page.
    private static let pageSize = 1024
    private static let version: Int64 = 1
    /// Of a message; at 1000 per second reached in a hundred million years.
    private static let greatest: Int64 = 1 << 62
    /// SQLITE_CORRUPT.
    private static let corrupted: Int32 = 11

    /// Opens or creates the file. A file that cannot be read is kept beside it, and the queue starts empty. A disk that is full
    /// or read-only must not keep a gateway from its devices: `failure` says so, and `attach` tries again.
    /// - Parameters:
    ///   - limit: messages at most
    ///   - bytes: size of the file at most
    package init(_ path: String, limit: Int, bytes: Int) throws(QueueError) {
        self.path = path
        self.limit = max(1, limit)
        pages = max(16, bytes / DiskQueue.pageSize)
        database = try Database()
        do throws(QueueError) {
            try openFile()
        } catch {
            guard error.kind == .full else { throw error }
            failure = error
            database = try Database()
            try load()
            recall()
        }
    }

    private func openFile() throws(QueueError) {
        // SQLite reads nothing yet.
        database = try Database(path)
        do throws(QueueError) {
            try load()
        } catch {
            guard error.kind == .corrupted else { throw error }
            database.close()
            database = try DiskQueue.replaced(path)
            repair = "the queue \(path) was corrupted (\(error.text)); it is kept as \(path).corrupted"
            try load()
        }
    }

    /// Numbers and notes of a file that can only be read. What numbers this run takes is not stored, so they begin with the
    /// microseconds since 1970: a run takes fewer than one in each.
    private func recall() {
        let name = path.reduce(into: "") {
            $0 += "?#%".contains($1) ? "%" + String($1.asciiValue!, radix: 16) : String($1)
        }
        try? database.execute("ATTACH 'file:\(name.replacing("'", with: "''"))?immutable=1' AS old")
        try? database.execute("INSERT OR REPLACE INTO notes SELECT * FROM old.notes")
        try? database.run("SELECT value FROM old.facts WHERE name='reserved'") { row in
            self.next = UInt64(min(max(1, row.integer(0)), DiskQueue.greatest))
        }
        var now = timespec()
        clock_gettime(CLOCK_REALTIME, &now)
        next = max(next, UInt64(max(0, now.tv_sec)) * 1_000_000 + UInt64(now.tv_nsec) / 1000)
        reserved = next
        try? database.execute("DETACH old")
    }

    /// Uses the file from now on, if it can be opened, with what it has of an earlier run.
    package func attach() throws(QueueError) {
        guard failure != nil else { return }
        let (memory, numbers, drops) = (database, next, dropped)
        do throws(QueueError) {
            try openFile()
        } catch {
            database = memory
            (count, states, next, dropped) = (0, [:], numbers, drops)
            reserved = numbers
            throw error
        }
        memory.close()
        next = max(next, numbers)
        failure = nil
        if drops > 0 { countDropped(Int(drops)) }
    }

    /// The old file is kept, with its log: what is in the log alone was committed as well. The log is moved first: beside a new
    /// file SQLite would take it for the new one's.
    private static func replaced(_ path: String) throws(QueueError) -> Database {
        for suffix in ["-shm", "-journal"] { unlink(path + suffix) }
        for suffix in ["-wal", ""] {
            let kept = path + ".corrupted" + suffix
            guard rename(path + suffix, kept) != 0 else { continue }
            guard !suffix.isEmpty, errno == ENOENT else {
                throw QueueError(0, "\(path) is corrupted and cannot be renamed: \(String(cString: strerror(errno)))")
            }
            // Of an earlier file.
            unlink(kept)
        }
        return try Database(path)
    }

    private func load() throws(QueueError) {
        // One process: no shared memory file, and a second process gets an error instead of half of the messages.
        try database.execute("PRAGMA page_size=\(DiskQueue.pageSize)")
        try database.execute("PRAGMA locking_mode=EXCLUSIVE")
        try database.execute("PRAGMA journal_mode=WAL")
        // A commit is in the kernel's memory, where it survives the end of this process; sync() is for a power cut.
        try database.execute("PRAGMA synchronous=NORMAL")
        try database.execute("PRAGMA cache_size=-256")
        try database.execute("PRAGMA max_page_count=\(pages)")
        try database.transaction { () throws(QueueError) in
            try database.execute(
                """
                CREATE TABLE IF NOT EXISTS queue(number INTEGER PRIMARY KEY, time INTEGER NOT NULL, topic TEXT NOT NULL,
                    payload BLOB NOT NULL, state INTEGER NOT NULL);
                CREATE TABLE IF NOT EXISTS facts(name TEXT PRIMARY KEY, value INTEGER NOT NULL) WITHOUT ROWID;
                CREATE TABLE IF NOT EXISTS notes(name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID
                """)
            let found = try fact("version")
            let version = found ?? DiskQueue.version
            guard version == DiskQueue.version else {
                throw QueueError(
                    0, "the queue \(path) is of version \(version), this program knows \(DiskQueue.version)")
            }
            // A full disk takes nothing; what waits there can be sent all the same.
            if found == nil { try set("version", DiskQueue.version) }
        }
        (count, states) = (0, [:])
        // SQLite checks the structure of its pages, not what is in them.
        try check("SELECT count(*) FROM queue WHERE number NOT BETWEEN 1 AND \(DiskQueue.greatest) OR time<0")
        try check("SELECT count(*) FROM facts WHERE value NOT BETWEEN 0 AND \(DiskQueue.greatest)")
        try database.run("SELECT number, topic, state FROM queue") { row in
            self.count += 1
            if row.integer(2) != 0 { self.states[row.text(1)] = UInt64(row.integer(0)) }
        }
        dropped = UInt64(max(0, try fact("dropped") ?? 0))
        next = UInt64(max(1, try fact("reserved") ?? 1))
        reserved = next
    }

    private func check(_ countOfFaults: String) throws(QueueError) {
        var faults: Int64 = 0
        try database.run(countOfFaults) { faults = $0.integer(0) }
        guard faults == 0 else { throw QueueError(DiskQueue.corrupted, "it has numbers that no queue has") }
    }

    private func fact(_ name: String) throws(QueueError) -> Int64? {
        var value: Int64?
        try database.run("SELECT value FROM facts WHERE name=?", [.text(name)]) { value = $0.integer(0) }
        return value
    }

    private func set(_ name: String, _ value: Int64) throws(QueueError) {
        try database.run("INSERT OR REPLACE INTO facts VALUES(?, ?)", [.text(name), .integer(value)])
    }

    // MARK: Numbers

    /// A number for a message. Those of a block that a killed process had reserved are skipped. If the disk takes no
    /// reservation, the numbers continue without one; it is tried again with each number.
    package func number() -> UInt64 {
        defer { next += 1 }
        if next >= reserved { try? reserve(next + DiskQueue.block) }
        return next
    }

    /// With a sync of its own: a number that was seen outside must not come again after a power cut.
    private func reserve(_ end: UInt64) throws(QueueError) {
        try database.execute("PRAGMA synchronous=FULL")
        defer { try? database.execute("PRAGMA synchronous=NORMAL") }
        try database.transaction { () throws(QueueError) in try set("reserved", Int64(end)) }
        syncs += 1
        reserved = end
        // Into the file itself: a run that finds a disk that is read-only does not see the log.
        try? database.run("PRAGMA wal_checkpoint(PASSIVE)")
    }

    // MARK: Messages

    /// Stores messages and removes acknowledged ones, in one commit. What exceeds the limits of messages and of bytes is
    /// dropped, the oldest first, states last.
    /// Returns the numbers of what was dropped, or replaced by a newer state.
    @discardableResult
    package func store(_ entries: [QueueEntry], removing acknowledged: [UInt64]) throws(QueueError) -> [UInt64] {
        guard !entries.isEmpty || !acknowledged.isEmpty else { return [] }
        if let failure { throw failure }
        var gone: [UInt64] = []
        while true {
            do throws(QueueError) {
                return gone + (try put(entries, removing: acknowledged))
            } catch {
                // The limit of the file, or the disk? What would need most of the file alone drops nothing.
                let size = entries.reduce(0) { $0 + $1.payload.count }
                guard error.kind == .full, count > 0, size < pages * DiskQueue.pageSize / 2, try isAtLimit() else {
                    throw error
                }
                gone += try drop(removing: acknowledged)
            }
        }
    }

    private func isAtLimit() throws(QueueError) -> Bool {
        var used: Int64 = 0
        try database.run("PRAGMA page_count") { used = $0.integer(0) }
        return used >= Int64(pages)
    }

    /// A part of the messages, the oldest first, for what needs their place. Acknowledged ones are not counted.
    private func drop(removing acknowledged: [UInt64]) throws(QueueError) -> [UInt64] {
        var (count, dropped) = (count, dropped)
        var surplus: [UInt64] = []
        try database.transaction { () throws(QueueError) in
            for number in acknowledged { count -= try remove(number) }
            surplus = try oldest(max(1, count / 16), sparing: Set(states.values))
            for number in surplus { count -= try remove(number) }
            dropped += UInt64(surplus.count)
            try set("dropped", Int64(dropped))
        }
        (self.count, self.dropped) = (count, dropped)
        isDirty = true
        return surplus
    }

    private func put(_ entries: [QueueEntry], removing acknowledged: [UInt64]) throws(QueueError) -> [UInt64] {
        var (states, count, dropped) = (states, count, dropped)
        var gone: [UInt64] = []
        try database.transaction { () throws(QueueError) in
            for number in acknowledged { count -= try remove(number) }
            for entry in entries {
                if entry.isState, let old = states[entry.topic], try remove(old) == 1 {
                    count -= 1
                    gone.append(old)
                }
                try database.run(
                    "INSERT INTO queue VALUES(?, ?, ?, ?, ?)",
                    [
                        .integer(Int64(entry.number)), .integer(Int64(entry.time)), .text(entry.topic),
                        .blob(entry.payload), .integer(entry.isState ? 1 : 0),
                    ])
                if entry.isState { states[entry.topic] = entry.number }
                count += 1
            }
            guard count > limit else { return }
            let surplus = try oldest(count - limit, sparing: Set(states.values))
            for number in surplus { count -= try remove(number) }
            gone += surplus
            dropped += UInt64(surplus.count)
            try set("dropped", Int64(dropped))
        }
        (self.states, self.count, self.dropped) = (states, count, dropped)
        isDirty = true
        return gone
    }

    /// The oldest messages, states last: a state is what the broker keeps, or keeps no longer, of a device.
    private func oldest(_ count: Int, sparing states: Set<UInt64>) throws(QueueError) -> [UInt64] {
        var (events, spared): ([UInt64], [UInt64]) = ([], [])
        try database.run(
            "SELECT number FROM queue ORDER BY number LIMIT ?", [.integer(Int64(count + states.count))]
        ) { row in
            let number = UInt64(row.integer(0))
            if states.contains(number) { spared.append(number) } else { events.append(number) }
        }
        return Array((events + spared).prefix(count))
    }

    private func remove(_ number: UInt64) throws(QueueError) -> Int {
        try database.run("DELETE FROM queue WHERE number=?", [.integer(Int64(number))])
        return database.changes
    }

    /// Counts messages that were dropped before they were stored.
    package func countDropped(_ number: Int) {
        dropped += UInt64(number)
        let total = Int64(dropped)
        try? database.transaction { () throws(QueueError) in try set("dropped", total) }
    }

    /// The stored messages after a number, the oldest first.
    package func entries(after number: UInt64, limit: Int) throws(QueueError) -> [QueueEntry] {
        var entries: [QueueEntry] = []
        try database.run(
            "SELECT number, time, topic, payload, state FROM queue WHERE number>? ORDER BY number LIMIT ?",
            [.integer(Int64(clamping: number)), .integer(Int64(limit))]
        ) { row in
            entries.append(
                QueueEntry(
                    number: UInt64(row.integer(0)), time: UInt64(row.integer(1)), topic: row.text(2),
                    payload: row.bytes(3), isState: row.integer(4) != 0))
        }
        return entries
    }

    /// Brings what was stored since the last time to the disk.
    package func sync() throws(QueueError) {
        guard isDirty else { return }
        try database.run("PRAGMA wal_checkpoint(PASSIVE)")
        syncs += 1
        isDirty = false
    }

    /// After an error of the kind `corrupted`: a new file. Returns the number of messages that are lost with the old one.
    /// - Parameter delivered: stored messages that were only to be removed.
    package func startAgain(delivered: Int = 0) throws(QueueError) -> Int {
        let (lost, numbers, drops) = (count - delivered, next, dropped)
        database.close()
        database = try DiskQueue.replaced(path)
        try load()
        next = max(next, numbers)
        try reserve(next + DiskQueue.block)
        dropped = drops
        countDropped(lost)
        return lost
    }

    // MARK: Notes: small facts that the owner keeps, such as the names of devices

    package func notes() throws(QueueError) -> [String: String] {
        var notes: [String: String] = [:]
        try database.run("SELECT name, value FROM notes") { notes[$0.text(0)] = $0.text(1) }
        return notes
    }

    /// Nil removes it.
    package func setNote(_ name: String, _ value: String?) throws(QueueError) {
        if let failure { throw failure }
        try database.transaction { () throws(QueueError) in
            if let value {
                try database.run("INSERT OR REPLACE INTO notes VALUES(?, ?)", [.text(name), .text(value)])
            } else {
                try database.run("DELETE FROM notes WHERE name=?", [.text(name)])
            }
        }
        isDirty = true
    }

    /// Nothing may be called after it.
    package func close() {
        try? sync()
        database.close()
    }
}
