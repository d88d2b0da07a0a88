// SPDX-License-Identifier: MIT
// Files that are replaced as a whole.
#if canImport(Glibc)
    import Glibc
#else
    import Musl
#endif

/// A file that a reader sees either as it was or as it is after the change.
package enum WholeFile {
    /// Whether the name is of something that is no file and no folder: a device, a pipe, or a link to one.
    package static func isSpecial(_ path: String) -> Bool {
        var status = stat()
        return stat(path, &status) == 0 && ![S_IFREG, S_IFDIR].contains(status.st_mode & S_IFMT)
    }

    /// Bytes; 0: it is no file.
    package static func size(of path: String) -> Int {
        var status = stat()
        return lstat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFREG ? Int(status.st_size) : 0
    }

    /// Why a file of this name cannot be made or written: an error number; 0: it can.
    package static func obstacle(to path: String) -> Int32 {
        access(path, W_OK) == 0 || access(folder(of: path), W_OK | X_OK) == 0 ? 0 : errno
    }

    /// Makes the folders above a file that are missing, for this user alone. The one that cannot be made, and why; nil: all
    /// exist.
    package static func makeFolders(above path: String) -> (folder: String, error: Int32)? {
        var made = path.hasPrefix("/") ? "/" : ""
        for part in path.split(separator: "/").dropLast() {
            made += (made.isEmpty || made == "/" ? "" : "/") + part
            guard mkdir(made, 0o700) != 0 else { continue }
            // Of a folder that exists, the reason may also be that none may be made.
            let number = errno
            var status = stat()
            guard stat(made, &status) == 0, status.st_mode & S_IFMT == S_IFDIR else { return (made, number) }
        }
        return nil
    }

    /// The folder that a file of this name is in.
    package static func folder(of path: String) -> String {
        path.lastIndex(of: "/").map { $0 == path.startIndex ? "/" : String(path[..<$0]) } ?? "."
    }

    /// Writes a new file and renames it to the old one's name. A device or a pipe is written to and keeps its name.
    /// - Parameters:
    ///   - mode: permissions of the new file.
    ///   - synchronizes: whether it is on the disk before the old one is replaced.
    /// - Returns: 0, or the error number; the old file is unchanged then.
    package static func replace(_ path: String, with bytes: [UInt8], mode: mode_t, synchronizes: Bool) -> Int32 {
        if isSpecial(path) { return write(bytes, into: path) }
        let new = path + ".new"
        // Left by a process that was killed. What the name is instead, such as a link, is not followed.
        unlink(new)
        let descriptor = open(new, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode)
        guard descriptor >= 0 else { return errno }
        var error = write(bytes, to: descriptor)
        if error == 0, synchronizes, fsync(descriptor) != 0 { error = errno }
        systemClose(descriptor)
        if error == 0, rename(new, path) != 0 { error = errno }
        if error != 0 { unlink(new) }
        return error
    }

    private static func write(_ bytes: [UInt8], into path: String) -> Int32 {
        let descriptor = open(path, O_WRONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return errno }
        defer { systemClose(descriptor) }
        return write(bytes, to: descriptor)
    }

    private static func write(_ bytes: [UInt8], to descriptor: Int32) -> Int32 {
        var written = 0
        while written < bytes.count {
            let count = bytes.withUnsafeBytes {
                systemWrite(descriptor, $0.baseAddress! + written, bytes.count - written)
            }
            guard count > 0 || errno == EINTR else { return errno }
            written += max(0, count)
        }
        return 0
    }
}

/// The names in a directory; none if it cannot be read.
package func fileNames(in directory: String) -> [String] {
    guard let entries = opendir(directory) else { return [] }
    defer { closedir(entries) }
    var names: [String] = []
    while let entry = readdir(entries) { names.append(text(of: entry.pointee.d_name)) }
    return names.filter { $0 != "." && $0 != ".." }
}
