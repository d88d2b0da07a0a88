// SPDX-License-Identifier: MIT
// One recording: a folder with rows of samples, lines of events, and a description. See docs/recording.md.
import CTendon
import TendonOutputs
import TendonSupport

#if canImport(Glibc)
    import Glibc
#else
    import Musl
#endif

/// A folder that is being written. Used by one thread. All times are microseconds since 1970.
package final class Recording {
    package let path: String
    package let name: String
    private(set) var samples: UInt64 = 0
    /// Rows, and lines of events, that are in none of its files.
    private(set) var missing: UInt64 = 0
    private var description: RecordingDescription
    private let long: RecordingFile
    private let events: RecordingFile
    private let room: DescriptionRoom
    private var longLoss = Loss()
    private var eventsLoss = Loss()
    /// Samples of sensors whose file could not be made.
    private var unfiled = Loss()
    private var wide: [String: WideFile] = [:]
    private var rows = RecordedRows()
    private var isChanged = false
    private var isOver = false
    /// After the end: its description says so.
    private(set) var isComplete = false
    /// Files of sensors.
    var sensorFiles: Set<String> { Set(wide.values.map(\.file.name)) }
    /// Bytes of all files but the description.
    package var size: Int { wide.values.reduce(long.size + events.size) { $0 + $1.file.size } }

    /// Rows of a file that could not be written.
    private struct Loss {
        var since: UInt64?
        var rows: UInt64 = 0
    }

    private final class WideFile {
        let file: RecordingFile
        var sensor: RecordedSensor
        var loss = Loss()

        init(_ file: RecordingFile, _ sensor: RecordedSensor) { (self.file, self.sensor) = (file, sensor) }
    }

    static let longName = "samples.csv"
    static let eventsName = "events.jsonl"
    static let descriptionName = "session.json"

    /// Makes the folder, which has the name of its first second.
    /// - Parameters:
    ///   - information: what the description says of the program and its settings.
    ///   - previous: the recording that this one continues.
    package init(
        in directory: String, at time: UInt64, information: JSON, previous: String? = nil
    ) throws(RecordingError) {
        (name, path) = try Recording.makeFolder(in: directory, time)
        do throws(RecordingError) {
            room = DescriptionRoom(in: path)
            long = try RecordingFile(Recording.longName, in: path, header: RecordedRows.longHeader)
            events = try RecordingFile(Recording.eventsName, in: path, header: "")
            _ = long.lock()
            description = RecordingDescription(
                began: Recording.timeText(time), information: information, previous: previous)
            try writeDescription()
        } catch {
            // No later run would find a folder without a description.
            _ = Recording.remove(name, in: directory, files: [])
            throw error
        }
        Recording.synchronize(folder: path)
        Recording.synchronize(folder: directory)
    }

    /// The recording that continues this one: devices that are connected are in its description.
    func next(in directory: String, at time: UInt64, information: JSON) throws(RecordingError) -> Recording {
        let next = try Recording(in: directory, at: time, information: information, previous: name)
        next.description.continues(description, at: Recording.timeText(time))
        next.isChanged = true
        return next
    }

    private static func makeFolder(
        in directory: String, _ time: UInt64
    ) throws(RecordingError) -> (name: String, path: String) {
        let second = timeText(time).prefix(19).map { $0 == ":" ? "-" : String($0) }.joined() + "Z"
        for number in 1...1000 {
            let name = number == 1 ? second : "\(second)-\(number)"
            let path = directory + "/" + name
            if mkdir(path, 0o700) == 0 { return (name, path) }
            guard errno == EEXIST else { throw RecordingError(path, errno) }
        }
        throw RecordingError(directory + "/" + second, EEXIST)
    }

    /// So that the names in it survive a power cut.
    static func synchronize(folder path: String) {
        let descriptor = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { return }
        fsync(descriptor)
        systemClose(descriptor)
    }

    static func timeText(_ time: UInt64) -> String {
        var bytes: [UInt8] = []
        RecordedRows.time(time, to: &bytes)
        return String(decoding: bytes, as: UTF8.self)
    }

    // MARK: What happens

    /// - Parameter sample: with the records of its lists.
    package func take(_ sample: OutputSample, of device: OutputDevice, at time: UInt64) throws(RecordingError) {
        var failure: RecordingError?
        func attempt(_ row: OutputSample) {
            do throws(RecordingError) { try add(row, device, time) } catch { failure = failure ?? error }
        }
        attempt(sample)
        if failure == nil { samples += 1 }
        for var record in sample.records {
            record.takeTimes(of: sample)
            attempt(record)
        }
        if let failure { throw failure }
    }

    private func add(_ sample: OutputSample, _ device: OutputDevice, _ time: UInt64) throws(RecordingError) {
        let key = device.key + "/" + sample.form.sensor
        let file: WideFile
        do throws(RecordingError) {
            if let known = wide[key] { file = known } else { file = try addSensor(sample.form, device, key, time) }
        } catch {
            lost(1, &unfiled, time)
            throw error
        }
        file.sensor.take(sample, at: time)
        rows.long(sample, description.label(of: device), time, to: &long.rows)
        rows.wide(sample, time, to: &file.file.rows)
        file.file.count += 1
        long.count += UInt64(sample.form.columns.count)
    }

    private func addSensor(
        _ form: SampleForm, _ device: OutputDevice, _ key: String, _ time: UInt64
    ) throws(RecordingError) -> WideFile {
        let label = description.label(of: device)
        let file = try RecordingFile(
            "\(label).\(fileWords(form.sensor)).csv", in: path, header: RecordedRows.wideHeader(form))
        let added = WideFile(file, RecordedSensor(form, file: file.name))
        wide[key] = added
        isChanged = true
        return added
    }

    /// A line of docs/events.md with its line feed.
    package func event(_ name: EventName, _ line: ArraySlice<UInt8>, of device: OutputDevice?) {
        events.rows.append(contentsOf: line)
        events.count += 1
        let begins = name.isEqual(to: "connected")
        guard let device, begins || name.isEqual(to: "disconnected"),
            let event = try? JSON(parsing: Array(line))
        else { return }
        if begins { description.connected(device, event) } else { description.disconnected(device, event) }
        isChanged = true
    }

    /// Samples, and lines of events, that found no room in the memory between the loop and the writer.
    package func dropped(_ samples: UInt64, lines: UInt64, from: UInt64, to time: UInt64) {
        description.add(
            RecordedGap(
                reason: "writer_behind", from: Recording.timeText(from), to: Recording.timeText(time),
                samples: samples, lines: lines))
        missing += samples + lines
        isChanged = true
    }

    /// The clock of the wall jumped: nothing is missing, but rows after it have times that do not follow those before.
    func clockWasSet(from expected: UInt64, to time: UInt64) {
        description.add(
            RecordedGap(reason: "clock_set", from: Recording.timeText(expected), to: Recording.timeText(time)))
        isChanged = true
    }

    // MARK: To the disk

    /// Adds what waits to the files. An error number: rows are lost, which the description says; 0: none are.
    package func write(at time: UInt64) -> Int32 {
        var failure = write(events, &eventsLoss, time)
        var error = write(long, &longLoss, time)
        failure = failure != 0 ? failure : error
        for wide in wide.values {
            error = write(wide.file, &wide.loss, time)
            failure = failure != 0 ? failure : error
        }
        return failure
    }

    private func write(_ file: RecordingFile, _ loss: inout Loss, _ time: UInt64) -> Int32 {
        let rows = file.count
        let error = file.write()
        if error != 0 {
            lost(rows, &loss, time)
        } else if rows > 0 {
            endLoss(of: file.name, &loss, time)
        }
        return error
    }

    private func lost(_ rows: UInt64, _ loss: inout Loss, _ time: UInt64) {
        guard rows > 0 else { return }
        // The description says so now: the program may not live to see the end of it.
        if loss.since == nil { (loss.since, isChanged) = (time, true) }
        loss.rows += rows
        missing += rows
    }

    /// - Parameter file: nil: there is none.
    private func endLoss(of file: String?, _ loss: inout Loss, _ time: UInt64) {
        guard let since = loss.since else { return }
        description.add(
            RecordedGap(
                file: file, reason: "not_written", from: Recording.timeText(since), to: Recording.timeText(time),
                samples: loss.rows))
        loss = Loss()
        isChanged = true
    }

    /// What was written survives a power cut afterwards; the description is written if it has changed, or is not there any more.
    package func synchronize() -> Int32 {
        var failure = events.synchronize()
        for file in [long] + wide.values.map(\.file) {
            let error = file.synchronize()
            failure = failure != 0 ? failure : error
        }
        guard isChanged || !hasDescription else { return failure }
        do throws(RecordingError) {
            try writeDescription()
            isChanged = false
        } catch {
            failure = failure != 0 ? failure : error.number
        }
        return failure
    }

    /// False: it was removed, or the folder was moved. Without the description, no run finds the recording.
    private var hasDescription: Bool { access(path + "/" + Recording.descriptionName, F_OK) == 0 }

    private func writeDescription() throws(RecordingError) {
        let sensors = wide.map { (key: $0.key, sensor: $0.value.sensor) }
        var present = description
        var losses: [(file: String?, loss: Loss)] = wide.values.map { ($0.file.name, $0.loss) }
        losses += [(events.name, eventsLoss), (long.name, longLoss), (nil, unfiled)]
        for (file, loss) in losses {
            guard let since = loss.since else { continue }
            present.add(RecordedGap(file: file, reason: "not_written", from: Recording.timeText(since)))
        }
        var text = present.text(sensors)
        text.append(UInt8(ascii: "\n"))
        let file = path + "/" + Recording.descriptionName
        let error = room.used { WholeFile.replace(file, with: text, mode: 0o600, synchronizes: true) }
        guard error == 0 else { throw RecordingError(file, error) }
        if !isOver { room.keep(for: text.count) }
    }

    /// The end: writes what waits, and the description as it stays. An error number, or 0.
    /// - Parameters:
    ///   - span: the beginning and the end, as in the lines; nil: from the making of the recording until now.
    ///   - ending: when the program began to end: it has sent the devices away since; nil: it goes on.
    package func end(
        at time: UInt64, covering span: ClosedRange<String>? = nil, ending: UInt64? = 0
    ) -> Int32 {
        let failure = write(at: time)
        endLoss(of: events.name, &eventsLoss, time)
        endLoss(of: long.name, &longLoss, time)
        endLoss(of: nil, &unfiled, time)
        for wide in wide.values { endLoss(of: wide.file.name, &wide.loss, time) }
        isOver = true
        description.end(
            at: span?.upperBound ?? Recording.timeText(time), since: span?.lowerBound,
            ending: ending.map { Recording.timeText($0) })
        isChanged = true
        let error = synchronize()
        isComplete = !isChanged
        room.giveBack()
        return failure != 0 ? failure : error
    }
}

/// What of a text can be in the name of a file.
func fileWord(_ text: String) -> String {
    let word = text.unicodeScalars.map { scalar -> Character in
        let isPlain =
            scalar.isASCII && (scalar.properties.isAlphabetic || ("0"..."9").contains(scalar) || scalar == "_")
        return isPlain ? Character(scalar) : "-"
    }
    return String(word.prefix(48))  // as many as a name of a device file has
}

/// Likewise, of the name of a sensor, or of an event and its list.
private func fileWords(_ sensor: String) -> String {
    sensor.split(separator: ".", omittingEmptySubsequences: false).map { fileWord(String($0)) }.joined(separator: ".")
}
