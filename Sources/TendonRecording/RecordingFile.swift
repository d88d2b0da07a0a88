// SPDX-License-Identifier: MIT
// One file of a recording: whole rows are added at its end.
import TendonSupport

#if canImport(Glibc)
    import Glibc
#else
    import Musl
#endif

/// Rows wait in `rows` until `write()`. Used by one thread.
final class RecordingFile {
    let name: String
    var rows: [UInt8] = []
    /// Rows that wait.
    var count: UInt64 = 0
    /// Bytes that the file has; a row that did not fit is not among them.
    private(set) var size: Int
    private let descriptor: Int32
    /// 0: its file system does not count names.
    private let links: Int
    private var isDirty = false
    /// The first row, with its line feed, until the file has it.
    private var header: [UInt8]

    /// - Parameter header: the first row, with its line feed.
    init(_ name: String, in folder: String, header: String) throws(RecordingError) {
        descriptor = open(
            folder + "/" + name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC | O_APPEND, 0o600)
        guard descriptor >= 0 else { throw RecordingError(folder + "/" + name, errno) }
        self.name = name
        links = RecordingFile.links(of: descriptor)
        size = 0
        self.header = Array(header.utf8)
    }

    deinit { systemClose(descriptor) }

    /// Whether another process can tell that this one still writes.
    func lock() -> Bool { flock(descriptor, LOCK_EX | LOCK_NB) == 0 }

    /// Adds what waits. An error number: the file is as it was before, and the rows are lost; 0: done.
    func write() -> Int32 {
        guard !rows.isEmpty || !header.isEmpty else { return 0 }
        if !header.isEmpty { rows.insert(contentsOf: header, at: 0) }
        defer {
            rows.removeAll(keepingCapacity: true)
            count = 0
        }
        var written = 0
        while written < rows.count {
            let count = rows.withUnsafeBytes {
                systemWrite(descriptor, $0.baseAddress! + written, rows.count - written)
            }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else {
                let error = errno
                // Half a row would be read as a wrong one.
                ftruncate(descriptor, off_t(size))
                return error
            }
            written += count
        }
        size += written
        isDirty = true
        header = []
        return isRemoved ? ENOENT : 0
    }

    /// It has no name: what is written to it cannot be found.
    private var isRemoved: Bool { links > 0 && RecordingFile.links(of: descriptor) == 0 }

    private static func links(of descriptor: Int32) -> Int {
        var status = stat()
        return fstat(descriptor, &status) == 0 ? Int(status.st_nlink) : 1
    }

    /// To the disk: a power cut takes nothing of it any more.
    func synchronize() -> Int32 {
        guard isDirty else { return 0 }
        isDirty = false
        return fdatasync(descriptor) == 0 ? 0 : errno
    }
}

/// Why a recording cannot be made, in a sentence.
package struct RecordingError: Error, Sendable {
    package let text: String
    let number: Int32

    init(_ path: String, _ number: Int32) {
        text = "\(sanitized(path)): \(String(cString: strerror(number)))"
        self.number = number
    }
}
