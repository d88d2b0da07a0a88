// SPDX-License-Identifier: MIT
// What a recording needs whose program was killed, or whose machine lost its power: files that end with a whole row, and a
// description that says so.
import TendonSupport

#if canImport(Glibc)
    import Glibc
#else
    import Musl
#endif

extension Recording {
    /// A recording of a folder.
    package struct Found {
        package let name: String
        /// Bytes of its files.
        package let size: Int
        /// No process writes it.
        package let isOver: Bool
    }

    /// The recordings of a folder, the oldest first. Those of a program that was killed are made whole.
    /// - Parameter repaired: called with the name of each of them.
    package static func all(in directory: String, repaired: (String) -> Void = { _ in }) -> [Found] {
        fileNames(in: directory).sorted().compactMap { name in
            let path = directory + "/" + name
            guard let description = read(path), let bytes = try? JSON(parsing: description),
                bytes["format"]?.string == "tendon recording"
            else { return nil }
            var isOver = bytes["ended"] != .null
            if !isOver, let lock = lock(path) {
                repair(path, bytes)
                systemClose(lock)
                repaired(name)
                isOver = true
            }
            return Found(
                name: name,
                size: fileNames(in: path).reduce(0) { $0 + WholeFile.size(of: path + "/" + $1) }, isOver: isOver)
        }
    }

    /// Nil: the process that writes it still runs.
    private static func lock(_ path: String) -> Int32? {
        let descriptor = open(path + "/" + longName, O_RDWR | O_CLOEXEC | O_NOFOLLOW)
        guard descriptor >= 0 else { return nil }
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
            systemClose(descriptor)
            return nil
        }
        return descriptor
    }

    /// Never more than this is read of a description.
    private static var descriptionLimit: Int { 16 << 20 }

    private static func read(_ path: String) -> [UInt8]? {
        let file = path + "/" + descriptionName
        let count = WholeFile.size(of: file)
        let descriptor = open(file, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
        guard descriptor >= 0 else { return nil }
        defer { systemClose(descriptor) }
        guard count > 0, count <= descriptionLimit else { return nil }
        var bytes = [UInt8](repeating: 0, count: count)
        let taken = systemRead(descriptor, &bytes, count)
        return taken == count ? bytes : nil
    }

    private static func repair(_ path: String, _ description: JSON) {
        var description = description
        var last = description["began"]?.string ?? ""
        var ends: [String: (rows: Int, last: String)] = [:]
        for name in fileNames(in: path) where name.hasSuffix(".csv") || name == eventsName {
            guard let end = cut(path + "/" + name) else { continue }
            ends[name] = end
            // Of a line of events the time is within.
            if name.hasSuffix(".csv"), end.last > last { last = end.last }
        }
        description["ended"] = .string(last)
        let gap: JSON = ["reason": "killed", "from": .string(last), "to": .null, "samples": .null]
        description["gaps"] = JSON((description["gaps"]?.array ?? []) + [gap])
        description["devices"] = JSON(
            (description["devices"]?.array ?? []).map { device in
                var device = device
                device["sensors"] = JSON(
                    (device["sensors"]?.array ?? []).map { sensor in
                        guard let end = ends[sensor["file"]?.string ?? ""] else { return sensor }
                        var sensor = sensor
                        sensor["samples"] = JSON(end.rows)
                        if end.rows > 0 { sensor["last"] = .string(end.last) }
                        return sensor
                    })
                return device
            })
        DescriptionRoom(in: path).giveBack()
        _ = WholeFile.replace(
            path + "/" + descriptionName, with: Array(LineWriter.text(description).utf8) + [UInt8(ascii: "\n")],
            mode: 0o600, synchronizes: true)
    }

    /// Takes away what follows the last line feed. Returns the rows behind the header, and the first cell of the last.
    private static func cut(_ path: String) -> (rows: Int, last: String)? {
        let descriptor = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW)
        guard descriptor >= 0 else { return nil }
        defer { systemClose(descriptor) }
        var (lines, end, position) = (0, 0, 0)
        var previous = 0
        var piece = [UInt8](repeating: 0, count: 1 << 16)
        while case let count = systemRead(descriptor, &piece, piece.count), count > 0 {
            for index in 0..<count where piece[index] == UInt8(ascii: "\n") {
                lines += 1
                (previous, end) = (end, position + index + 1)
            }
            position += count
        }
        if end != position { ftruncate(descriptor, off_t(end)) }
        fsync(descriptor)
        let count = pread(descriptor, &piece, min(piece.count, end - previous), off_t(previous))
        let cell = piece.prefix(max(0, count)).prefix { $0 != UInt8(ascii: ",") && $0 != UInt8(ascii: "\n") }
        return (max(0, lines - 1), lines > 1 ? String(decoding: cell, as: UTF8.self) : "")
    }

    /// Removes the files of a recording that is over, and its folder if nothing else is in it.
    package static func remove(_ name: String, in directory: String) -> Bool {
        let path = directory + "/" + name
        for file in fileNames(in: path) where file.hasSuffix(".csv") || file == eventsName { unlink(path + "/" + file) }
        unlink(path + "/" + DescriptionRoom.name)
        // The last one: a removal that was interrupted goes on the next time.
        unlink(path + "/" + descriptionName)
        return rmdir(path) == 0
    }
}
