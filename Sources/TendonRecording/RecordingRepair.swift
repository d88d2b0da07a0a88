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
        /// Those of sensors.
        package let sensorFiles: Set<String>
        /// Bytes of its files; what others have put into its folder is not counted.
        package let size: Int
        /// No process writes it.
        package let isOver: Bool
    }

    /// The recordings of a folder, the oldest first. Those of a program that was killed are made whole.
    ///
    /// By their ends, because a clock that is set later stands at 1970 when they begin; their names have that.
    /// - Parameter repaired: called with the name of each of them.
    package static func all(in directory: String, repaired: (String) -> Void = { _ in }) -> [Found] {
        let found = fileNames(in: directory).compactMap { name -> (end: String, recording: Found)? in
            let path = directory + "/" + name
            guard let bytes = read(path), var description = try? JSON(parsing: bytes),
                description["format"]?.string == "tendon recording"
            else { return nil }
            var isOver = description["ended"] != .null
            if !isOver, let lock = lock(path) {
                description = repair(path, description)
                systemClose(lock)
                repaired(name)
                isOver = true
            }
            let sensorFiles = sensorFiles(description)
            let recording = Found(
                name: name, sensorFiles: sensorFiles,
                size: files(in: path, sensorFiles).reduce(0) { $0 + WholeFile.size(of: path + "/" + $1) },
                isOver: isOver)
            return (description["ended"]?.string ?? "of now", recording)
        }
        return found.sorted { ($0.end, $0.recording.name) < ($1.end, $1.recording.name) }.map(\.recording)
    }

    /// The names that a description has.
    private static func sensorFiles(_ description: JSON) -> Set<String> {
        let devices = description["devices"]?.array ?? []
        let sensors = devices.flatMap { $0["sensors"]?.array ?? [] }
        return Set((sensors.map { $0["file"] } + (description["files"]?.array ?? [])).compactMap { $0?.string })
    }

    /// The files in a folder that its recording has made; the description, without which they are not found, is the last one.
    private static func files(in path: String, _ sensorFiles: Set<String>) -> [String] {
        let others: Set = [longName, eventsName, DescriptionRoom.name, descriptionName + ".new"]
        let names = fileNames(in: path)
        return names.filter { sensorFiles.contains($0) || others.contains($0) } + names.filter { $0 == descriptionName }
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

    /// Returns the new description.
    private static func repair(_ path: String, _ description: JSON) -> JSON {
        var description = description
        var last = description["began"]?.string ?? ""
        var ends: [String: (rows: Int, last: String)] = [:]
        let known = sensorFiles(description).union([longName, eventsName])
        for name in fileNames(in: path)
        where known.contains(name) || (name.hasSuffix(".csv") && isWide(path + "/" + name)) {
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
        // Of sensors that came at the very end: the description does not have them.
        let unknown = ends.keys.filter { !known.contains($0) }
        if !unknown.isEmpty { description["files"] = JSON(unknown.sorted().map { .string($0) }) }
        DescriptionRoom(in: path).giveBack()
        _ = WholeFile.replace(
            path + "/" + descriptionName, with: Array(LineWriter.text(description).utf8) + [UInt8(ascii: "\n")],
            mode: 0o600, synchronizes: true)
        return description
    }

    /// Whether a file begins as those of sensors do, or is empty.
    private static func isWide(_ path: String) -> Bool {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
        guard descriptor >= 0 else { return false }
        defer { systemClose(descriptor) }
        let header = Array(RecordedRows.wideTimes.utf8)
        var bytes = [UInt8](repeating: 0, count: header.count)
        let count = systemRead(descriptor, &bytes, bytes.count)
        return header.starts(with: bytes.prefix(max(0, count)))
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

    /// Removes the files of a recording that is over, and its folder if nothing else is in it. A removal that was interrupted
    /// goes on the next time.
    /// - Parameter files: those of sensors.
    /// - Returns: whether they are gone.
    package static func remove(_ name: String, in directory: String, files sensorFiles: Set<String>) -> Bool {
        let path = directory + "/" + name
        let files = files(in: path, sensorFiles)
        let removed = files.count { unlink(path + "/" + $0) == 0 }
        rmdir(path)
        return removed == files.count
    }
}
