// SPDX-License-Identifier: MIT
// SQLite as the queue uses it: one connection, used by one thread, statements that are prepared once.
import CSystemSQLite

#if canImport(Glibc)
    import Glibc
#else
    import Musl
#endif

/// Why the file of a queue cannot be used.
package struct QueueError: Error, Equatable, Sendable {
    package enum Kind: Sendable {
        /// Another process has the file.
        case locked
        /// The limit of the disk, or of the queue, is reached, or the disk is read-only.
        case full
        /// The file is not a database, or one that cannot be read.
        case corrupted
        /// All else: permissions, a directory that does not exist, input and output errors.
        case system
    }

    package let kind: Kind
    package let text: String

    init(_ code: Int32, _ text: String) {
        switch code & 0xFF {
        case SQLITE_BUSY, SQLITE_LOCKED: kind = .locked
        case SQLITE_FULL, SQLITE_READONLY: kind = .full
        case SQLITE_CORRUPT, SQLITE_NOTADB: kind = .corrupted
        default: kind = .system
        }
        self.text = text
    }
}

final class Database {
    private var handle: OpaquePointer?
    private var statements: [String: OpaquePointer] = [:]
    /// Transactions that were committed.
    private(set) var commits: UInt64 = 0

    /// Opens or creates the file; readable by its owner only.
    init(_ path: String) throws(QueueError) {
        // SQLite would make it readable by all; its other files get the same rights.
        let descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else {
            let isFull = [ENOSPC, EDQUOT, EROFS].contains(errno)
            throw QueueError(isFull ? SQLITE_FULL : SQLITE_CANTOPEN, String(cString: strerror(errno)))
        }
        closeDescriptor(descriptor)
        try connect(path)
    }

    /// One in memory.
    init() throws(QueueError) { try connect(":memory:") }

    private func connect(_ path: String) throws(QueueError) {
        let flags =
            SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE | SQLITE_OPEN_URI
        let code = sqlite3_open_v2(path, &handle, flags, nil)
        guard code == SQLITE_OK else {
            // What is thrown here releases the object, which closes the handle.
            throw QueueError(code, handle.map { String(cString: sqlite3_errmsg($0)) } ?? "no memory")
        }
    }

    deinit { close() }

    func close() {
        for statement in statements.values { sqlite3_finalize(statement) }
        statements = [:]
        sqlite3_close_v2(handle)
        handle = nil
    }

    /// Rows that the last statement changed.
    var changes: Int { Int(sqlite3_changes(handle)) }

    /// Statements without values and results.
    func execute(_ text: String) throws(QueueError) {
        let code = sqlite3_exec(handle, text, nil, nil, nil)
        guard code == SQLITE_OK else { throw error(code) }
    }

    /// All of `body`, or nothing.
    func transaction(_ body: () throws(QueueError) -> Void) throws(QueueError) {
        try execute("BEGIN IMMEDIATE")
        do throws(QueueError) {
            try body()
            try execute("COMMIT")
            commits += 1
        } catch {
            // SQLite may have rolled back by itself.
            try? execute("ROLLBACK")
            throw error
        }
    }

    /// Runs a statement; `row` is called for each row of its result.
    func run(
        _ text: String, _ values: [Value] = [], row: (Row) -> Void = { _ in }
    ) throws(QueueError) {
        let statement = try prepared(text)
        defer {
            sqlite3_reset(statement)
            sqlite3_clear_bindings(statement)
        }
        for (index, value) in values.enumerated() { try bind(value, Int32(index + 1), statement) }
        while true {
            let code = sqlite3_step(statement)
            if code == SQLITE_DONE { return }
            guard code == SQLITE_ROW else { throw error(code) }
            row(Row(statement: statement))
        }
    }

    private func bind(_ value: Value, _ index: Int32, _ statement: OpaquePointer) throws(QueueError) {
        let code: Int32
        switch value {
        case .integer(let number): code = sqlite3_bind_int64(statement, index, number)
        case .text(var text):
            code = text.withUTF8 { bytes in
                bytes.withMemoryRebound(to: CChar.self) {
                    tendon_sqlite_bind_text(statement, index, $0.baseAddress, Int32($0.count))
                }
            }
        case .blob(let bytes):
            code = bytes.withUnsafeBytes {
                tendon_sqlite_bind_blob(statement, index, $0.baseAddress, Int32($0.count))
            }
        }
        guard code == SQLITE_OK else { throw error(code) }
    }

    private func prepared(_ text: String) throws(QueueError) -> OpaquePointer {
        if let known = statements[text] { return known }
        var statement: OpaquePointer?
        let code = sqlite3_prepare_v3(handle, text, -1, UInt32(SQLITE_PREPARE_PERSISTENT), &statement, nil)
        guard code == SQLITE_OK, let statement else { throw error(code) }
        statements[text] = statement
        return statement
    }

    private func error(_ code: Int32) -> QueueError { QueueError(code, String(cString: sqlite3_errmsg(handle))) }

    enum Value {
        case integer(Int64)
        case text(String)
        case blob([UInt8])
    }

    /// One row of a result; valid until `row` returns.
    struct Row {
        fileprivate let statement: OpaquePointer

        func integer(_ column: Int32) -> Int64 { sqlite3_column_int64(statement, column) }

        func text(_ column: Int32) -> String { String(decoding: bytes(column), as: UTF8.self) }

        func bytes(_ column: Int32) -> [UInt8] {
            let start = sqlite3_column_blob(statement, column)
            return Array(UnsafeRawBufferPointer(start: start, count: Int(sqlite3_column_bytes(statement, column))))
        }
    }
}

/// close(2), which a method hides.
private func closeDescriptor(_ descriptor: Int32) { close(descriptor) }
