// SPDX-License-Identifier: MIT
import CTendon
import TendonOutputs
import Synchronization
import TendonSupport
import TestSupport
import Testing

@testable import TendonRecording

#if canImport(Glibc)
    import Glibc
#else
    import Musl
#endif

/// 2026-11-29T10:00:00.000000Z
private let ten: UInt64 = 1_795_946_400_000_000

private let head = OutputDevice(
    family: "bose", address: "C0:00:00:00:00:10", addressType: "random", name: "left", isNamed: true)
private let strap = OutputDevice(family: "strap", address: "C0:00:00:00:00:11", addressType: "public")
private let rotation = SampleForm(
    "rotation", [SampleChannel("pitch", "deg"), SampleChannel("yaw_deg", "deg"), SampleChannel("odd", "a,\"b")])
private let level = SampleForm("level", [SampleChannel("level_percent", "%")])

private func sample(_ form: SampleForm, _ values: Double..., received: UInt64 = 0) -> OutputSample {
    var sample = OutputSample(form)
    for (index, value) in values.enumerated() { sample[index] = value }
    sample.receivedAt = received
    return sample
}

private final class Source: SampleSource {
    let device: OutputDevice
    init(_ device: OutputDevice) { self.device = device }
}

/// A directory that goes away with the object, with all recordings.
private final class Place {
    let path: String

    init() {
        var name = Array("/tmp/tendon-recordings-XXXXXX".utf8CString)
        precondition(mkdtemp(&name) != nil)
        path = String(decoding: name.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
    }

    deinit {
        for name in fileNames(in: path) {
            for file in fileNames(in: path + "/" + name) { unlink(path + "/" + name + "/" + file) }
            rmdir(path + "/" + name)
        }
        rmdir(path)
    }
}

struct RecordingTests {
    private let place = Place()

    private func read(_ recording: Recording, _ name: String) -> String {
        String(decoding: (try? contents(recording.path + "/" + name)) ?? [], as: UTF8.self)
    }

    private func description(_ recording: Recording) throws -> JSON {
        try JSON(parsing: contents(recording.path + "/session.json"))
    }

    private func contents(_ path: String) throws -> [UInt8] {
        let descriptor = open(path, O_RDONLY)
        defer { close(descriptor) }
        var bytes = [UInt8](repeating: 0, count: 1 << 16)
        let count = systemRead(descriptor, &bytes, bytes.count)
        try #require(count >= 0)
        return Array(bytes.prefix(count))
    }

    private func line(_ event: String, _ time: UInt64, _ more: String = "") -> ArraySlice<UInt8> {
        Array("{\"time\":\"\(Recording.timeText(time))\",\"event\":\"\(event)\"\(more)}\n".utf8)[...]
    }

    @Test func rows() throws {
        let recording = try Recording(in: place.path, at: ten, information: ["program": "test"])
        var first = sample(rotation, 1.5, -0.25, .nan, received: 12_345_678_900)
        (first.sampledAt, first.errorMilliseconds, first.deviceTime) = (12_340_000_000, 2.04, 77)
        try recording.take(first, of: head, at: ten)
        try recording.take(sample(level, 80), of: strap, at: ten + 1)
        #expect(recording.write(at: ten + 2) == 0)
        #expect(
            read(recording, "left-C00000000010.rotation.csv")
                == "time,received_at,sampled_at,error_ms,device_time_ms,pitch_deg,yaw_deg,odd\n"
                + "2026-11-29T10:00:00.000000Z,12.345679,12.34,2,77,1.5,-0.25,\n")
        #expect(
            read(recording, "strap-C00000000011.level.csv")
                == "time,received_at,sampled_at,error_ms,device_time_ms,level_percent\n"
                + "2026-11-29T10:00:00.000001Z,,,,,80\n")
        #expect(
            read(recording, "samples.csv")
                == "time,device,sensor,channel,unit,value,received_at,sampled_at,error_ms\n"
                + "2026-11-29T10:00:00.000000Z,left-C00000000010,rotation,pitch,deg,1.5,12.345679,12.34,2\n"
                + "2026-11-29T10:00:00.000000Z,left-C00000000010,rotation,yaw_deg,deg,-0.25,12.345679,12.34,2\n"
                + "2026-11-29T10:00:00.000000Z,left-C00000000010,rotation,odd,\"a,\"\"b\",,12.345679,12.34,2\n"
                + "2026-11-29T10:00:00.000001Z,strap-C00000000011,level,level_percent,%,80,,,\n")
        #expect(recording.name == "2026-11-29T10-00-00Z")
        #expect(recording.end(at: ten + 3) == 0)
    }

    /// Words, texts and bytes are in the column of their name, beside numbers without a word.
    @Test func words() throws {
        let form = SampleForm(
            "mode", [SampleChannel("state", "", .word), SampleChannel("level", "%")],
            texts: [SampleChannel("note", "", .text)])
        let recording = try Recording(in: place.path, at: ten, information: [:])
        var first = sample(form, .nan, 80)
        first.words = ["Off position", nil, "a,\"b\"\n"]
        try recording.take(first, of: strap, at: ten)
        try recording.take(sample(form, 2, 81), of: strap, at: ten + 1)
        #expect(recording.end(at: ten + 2) == 0)
        #expect(
            read(recording, "strap-C00000000011.mode.csv")
                == "time,received_at,sampled_at,error_ms,device_time_ms,state,level_percent,note\n"
                + "2026-11-29T10:00:00.000000Z,,,,,Off position,80,\"a,\"\"b\"\" \"\n"
                + "2026-11-29T10:00:00.000001Z,,,,,2,81,\n")
        #expect(
            read(recording, "samples.csv").split(separator: "\n").dropFirst().map { String($0.dropFirst(28)) } == [
                "strap-C00000000011,mode,state,,Off position,,,", "strap-C00000000011,mode,level,%,80,,,",
                "strap-C00000000011,mode,note,,\"a,\"\"b\"\" \",,,", "strap-C00000000011,mode,state,,2,,,",
                "strap-C00000000011,mode,level,%,81,,,", "strap-C00000000011,mode,note,,,,,",
            ])
        let sensor = try description(recording)["devices"]?.array?.first?["sensors"]?.array?.first
        #expect(sensor?["channels"]?.array?.compactMap { $0["column"]?.string } == ["state", "level_percent", "note"])
        #expect(sensor?["channels"]?.array?.compactMap { $0["kind"]?.string } == ["word", "number", "text"])
    }

    /// Each record of a list has a row, with the times of its sample.
    @Test func lists() throws {
        let list = SampleForm("pulse.beats", [SampleChannel("index"), SampleChannel("interval", "s")])
        let pulse = SampleForm("pulse", [SampleChannel("bpm")], lists: [list])
        let recording = try Recording(in: place.path, at: ten, information: [:])
        var one = sample(pulse, 61)
        (one.receivedAt, one.deviceTime, one.records) = (1_500_000_000, 7, [sample(list, 0, 0.9), sample(list, 1, 1)])
        try recording.take(one, of: strap, at: ten)
        #expect(recording.samples == 1)
        #expect(recording.end(at: ten + 1) == 0)
        let time = "2026-11-29T10:00:00.000000Z,1.5,,,7"
        #expect(
            read(recording, "strap-C00000000011.pulse.beats.csv")
                == "time,received_at,sampled_at,error_ms,device_time_ms,index,interval_s\n\(time),0,0.9\n\(time),1,1\n")
        let sensors = try description(recording)["devices"]?.array?.first?["sensors"]?.array
        #expect(sensors?.map { $0["samples"] } == [1, 2] && sensors?.allSatisfy { $0["in_lines"] == nil } == true)
    }

    /// A field of a record may have the name of a column that all tables have.
    @Test func namesOfTimes() throws {
        let list = SampleForm(
            "pulse.beats", [SampleChannel("time", "s"), SampleChannel("received_at"), SampleChannel("at", "s")])
        #expect(RecordedRows.columns(list) == ["time_s", "beats_received_at", "at_s"])
        #expect(RecordedRows.columns(SampleForm("v.rec", [SampleChannel("time")])) == ["rec_time"])
    }

    /// Records that wait take room, too; those of a sample that finds none are missing with it.
    @Test func recordsThatWait() async throws {
        let list = SampleForm("alone.values", [SampleChannel("values")])
        let output = try RecordingOutput(RecordingSettings(directory: place.path)) { _ in }
        var large = sample(SampleForm("alone", [], lists: [list]))
        large.records = Array(repeating: sample(list, 1), count: 1 << 13)
        // The thread may take the first ones away; it cannot take all of them as fast as they come.
        var dropped = 0.0
        for _ in 0..<1000 where dropped == 0 {
            output.sample(large, of: Source(strap))
            dropped = output.metrics[1].samples[0].value
        }
        await output.finish()
        let name = try #require(Recording.all(in: place.path).first?.name), path = place.path + "/" + name
        let gaps = try JSON(parsing: contents(path + "/session.json"))["gaps"]?.array
        #expect(dropped == 1 && gaps?.first?["samples"] == 8193)
    }

    /// What no table has is in the lines of such samples, and the description names it.
    @Test func inLinesAlone() async throws {
        let pulse = SampleForm("pulse", [SampleChannel("bpm")], inLinesAlone: ["samples"])
        let alone = SampleForm("alone", [], inLinesAlone: ["values"])
        let many = SampleForm("many", (0...SampleForm.limit).map { SampleChannel("n\($0)") })
        #expect(many.inLinesAlone == ["n\(SampleForm.limit)"] && !alone.isEmpty && SampleForm("none", []).isEmpty)
        let output = try RecordingOutput(RecordingSettings(directory: place.path)) { _ in }
        #expect(output.takesLine(of: sample(pulse, 1)) && !output.takesLine(of: sample(level, 1)))
        #expect(RecordingExport(place.path, information: [:]).takesLine(of: sample(alone)))
        output.sample(sample(pulse, 61), of: Source(strap))
        output.sample(sample(alone), of: Source(strap))
        output.event("sample", of: strap) { line in
            line.begin("sample")
            line.end()
        }
        await output.finish()
        let name = try #require(Recording.all(in: place.path).first?.name), path = place.path + "/" + name
        #expect(
            String(decoding: try contents(path + "/events.jsonl"), as: UTF8.self).contains("\"event\":\"sample\"}\n"))
        let sensors = try JSON(parsing: contents(path + "/session.json"))["devices"]?.array?.first?["sensors"]?.array
        #expect(sensors?.map { $0["in_lines"] } == [["values"], ["samples"]])
        let rows = String(decoding: try contents(path + "/strap-C00000000011.alone.csv"), as: UTF8.self).split(
            separator: "\n")
        #expect(rows.count == 2 && rows[0].hasSuffix(",device_time_ms") && rows[1].hasSuffix("Z,,,,"))
    }

    /// Whole numbers look whole, whatever their size: a column with one `2147483647.0` is another one to readers.
    @Test func wholeNumbers() throws {
        let recording = try Recording(in: place.path, at: ten, information: [:])
        let values = [999_999_999, 1e9, 4_294_967_295, -2_147_483_648, 9_007_199_254_740_991, 1e9 + 0.5, -0.0]
        for value in values {
            var one = sample(level, value)
            one.deviceTime = value
            try recording.take(one, of: strap, at: ten)
        }
        #expect(recording.end(at: ten + 1) == 0)
        let texts = [
            "999999999", "1000000000", "4294967295", "-2147483648", "9007199254740991", "1000000000.5", "0",
        ]
        let rows = read(recording, "strap-C00000000011.level.csv").split(separator: "\n").dropFirst()
        #expect(rows.map { $0.split(separator: ",").suffix(2).map(String.init) } == texts.map { [$0, $0] })
        #expect(
            read(recording, "samples.csv").split(separator: "\n").dropFirst().map { $0.split(separator: ",")[5] }
                == texts.map { $0[...] })
    }

    /// A file whose first rows found no room has its header before the next ones.
    @Test func theHeaderIsNotLost() throws {
        let recording = try Recording(in: place.path, at: ten, information: [:])
        try recording.take(sample(level, 1), of: strap, at: ten)
        #expect(failing("write", with: ENOSPC, all: true) { recording.write(at: ten + 1) }.result == ENOSPC)
        #expect(failing("write", with: ENOSPC, all: true) { recording.write(at: ten + 1) }.result == ENOSPC)
        #expect(recording.missing == 2, "a header is no row")
        try recording.take(sample(level, 2), of: strap, at: ten + 2)
        #expect(recording.end(at: ten + 3) == 0)
        #expect(
            read(recording, "strap-C00000000011.level.csv")
                == "time,received_at,sampled_at,error_ms,device_time_ms,level_percent\n"
                + "2026-11-29T10:00:00.000002Z,,,,,2\n")
        #expect(read(recording, "samples.csv").hasPrefix("time,device,sensor,channel,unit,value,"))
    }

    /// A gap goes on while nothing is written, and ends with the first rows that are in the file again.
    @Test func aLossEndsWithTheNextRows() throws {
        let recording = try Recording(in: place.path, at: ten, information: [:])
        recording.event("note", line("note", ten), of: nil)
        try recording.take(sample(level, 1), of: strap, at: ten)
        #expect(failing("write", with: ENOSPC, all: true) { recording.write(at: ten + 1) }.result == ENOSPC)
        #expect(recording.write(at: ten + 2) == 0 && recording.write(at: ten + 3) == 0)
        recording.event("note", line("note", ten + 4), of: nil)
        try recording.take(sample(level, 2), of: strap, at: ten + 4)
        #expect(recording.write(at: ten + 5) == 0 && recording.write(at: ten + 6) == 0)
        #expect(recording.end(at: ten + 7) == 0)
        let gaps = try #require(try description(recording)["gaps"]?.array)
        #expect(
            Set(gaps.compactMap { $0["file"]?.string }) == [
                "events.jsonl", "samples.csv", "strap-C00000000011.level.csv",
            ])
        for gap in gaps {
            #expect(gap["from"] == .string(Recording.timeText(ten + 1)) && gap["samples"] == 1)
            #expect(gap["to"] == .string(Recording.timeText(ten + 5)))
        }
    }

    /// Without a row nothing is lost.
    @Test func aHeaderThatIsNotWrittenIsNoGap() throws {
        let recording = try Recording(in: place.path, at: ten, information: [:])
        #expect(failing("write", with: ENOSPC, all: true) { recording.write(at: ten + 1) }.result == ENOSPC)
        #expect(recording.synchronize() == 0 && recording.end(at: ten + 2) == 0)
        #expect(recording.missing == 0)
        #expect(try description(recording)["gaps"]?.array?.isEmpty == true)
        #expect(read(recording, "samples.csv").hasPrefix("time,"))
    }

    /// The device's clock began again, or this machine was suspended: the drift is that of the time since then.
    @Test func driftAfterAJump() throws {
        let recording = try Recording(in: place.path, at: ten, information: [:])
        for (start, device) in [(0, 50_000), (60, 3000), (200, 90_000)] as [(UInt64, Double)] {
            for step in 0...20 as ClosedRange<UInt64> {
                var one = sample(rotation, 1, 2, 3)
                one.deviceTime = device + Double(step * 1000)
                one.sampledAt = (start + 1) * 1_000_000_000 + step * 1_000_100_000
                try recording.take(one, of: head, at: ten + start + step)
            }
        }
        #expect(recording.end(at: ten + 300) == 0)
        let clock = try description(recording)["devices"]?.array?.first?["sensors"]?.array?.first?["clock"]
        #expect(abs((clock?["drift_ppm"]?.number ?? 0) - 100) < 0.01)
    }

    /// Rows of a file that was removed are in no file.
    @Test func aFileThatWasRemoved() throws {
        let recording = try Recording(in: place.path, at: ten, information: [:])
        try recording.take(sample(level, 1), of: strap, at: ten)
        #expect(recording.write(at: ten) == 0)
        unlink(recording.path + "/strap-C00000000011.level.csv")
        try recording.take(sample(level, 2), of: strap, at: ten + 1)
        #expect(recording.write(at: ten + 1) == ENOENT && recording.missing == 1)
        unlink(recording.path + "/session.json")
        #expect(recording.synchronize() == 0)
        #expect(
            try description(recording)["gaps"]?.array?.first?["file"] == "strap-C00000000011.level.csv", "made again")
        #expect(recording.end(at: ten + 2) == 0 && recording.isComplete)
    }

    @Test func aFolderThatWasMoved() async throws {
        let reports = Mutex<[String]>([])
        let output = try RecordingOutput(RecordingSettings(directory: place.path)) { text in
            reports.withLock { $0.append(text) }
        }
        let name = try #require(fileNames(in: place.path).first), path = place.path + "/" + name
        #expect(await output.missingRows() == 0)
        #expect(rename(path, path + "-moved") == 0)
        output.sample(sample(level, 1), of: Source(strap))
        _ = await output.missingRows()
        await output.finish()
        #expect(output.hasLost)
        #expect(reports.withLock { $0 }.first?.contains(": No such file or directory; ") == true)
        #expect(
            reports.withLock { $0 }.contains(
                "recording: \(path)/session.json could not be completed: nothing there says what is missing"))
    }

    /// What others have put into a folder is not counted, not cut, and not removed.
    @Test func filesOfOthers() throws {
        var recording: Recording? = try Recording(in: place.path, at: ten, information: [:])
        let path = try #require(recording?.path), name = try #require(recording?.name)
        try recording?.take(sample(level, 1), of: strap, at: ten)
        #expect(recording?.write(at: ten) == 0 && recording?.synchronize() == 0)
        // A sensor that the description does not know yet.
        try recording?.take(sample(rotation, 1, 2, 3), of: head, at: ten)
        #expect(recording?.write(at: ten) == 0)
        recording = nil
        let descriptor = open(path + "/mine.csv", O_WRONLY | O_CREAT, 0o600)
        #expect(systemWrite(descriptor, "a,b\n1,2", 7) == 7)
        close(descriptor)
        let found = try #require(Recording.all(in: place.path).first)
        #expect(found.isOver)
        #expect(found.sensorFiles == ["strap-C00000000011.level.csv", "left-C00000000010.rotation.csv"])
        #expect(try contents(path + "/mine.csv").count == 7)
        let files = ["samples.csv", "events.jsonl", "session.json"] + found.sensorFiles
        #expect(found.size == files.reduce(0) { $0 + WholeFile.size(of: path + "/" + $1) })
        #expect(Recording.all(in: place.path).first?.sensorFiles == found.sensorFiles)
        #expect(Recording.remove(name, in: place.path, files: found.sensorFiles.union(["../../\(name)/mine.csv"])))
        #expect(fileNames(in: path) == ["mine.csv"])
    }

    /// What tables alone have can be a number: it is behind those of the channels.
    @Test func numbersBeside() throws {
        let form = SampleForm("rotation", [SampleChannel("x")], texts: [SampleChannel("accuracy_rad", "rad")])
        let recording = try Recording(in: place.path, at: ten, information: [:])
        var known = sample(form, 1)
        known[1] = 0.25
        try recording.take(known, of: head, at: ten)
        try recording.take(sample(form, 2), of: head, at: ten)
        #expect(recording.end(at: ten + 1) == 0)
        let rows = read(recording, "left-C00000000010.rotation.csv").split(separator: "\n")
        #expect(rows[0].hasSuffix(",x,accuracy_rad") && rows[1].hasSuffix(",1,0.25") && rows[2].hasSuffix(",2,"))
    }

    /// What is in no file is counted, and said at the end, however it was lost.
    @Test func whatIsMissing() async throws {
        let recording = try Recording(in: place.path, at: ten, information: [:])
        try recording.take(sample(level, 1), of: strap, at: ten)
        #expect(failing("write", with: ENOSPC, all: true) { recording.write(at: ten + 1) }.result == ENOSPC)
        #expect(recording.missing == 2)
        recording.dropped(3, lines: 4, from: ten, to: ten + 2)
        #expect(recording.missing == 9)
        #expect(throws: RecordingError.self) {
            try failing("open", with: ENOSPC, all: true) { try recording.take(sample(rotation, 1), of: head, at: ten) }
        }
        #expect(recording.missing == 10)
        let list = SampleForm("many.values", [SampleChannel("values")])
        var many = sample(SampleForm("many", [], lists: [list]))
        many.records = [sample(list, 1), sample(list, 2)]
        #expect(throws: RecordingError.self) {
            try failing("open", with: ENOSPC, all: true) { try recording.take(many, of: head, at: ten) }
        }
        #expect(recording.missing == 13 && recording.samples == 1)
        #expect(recording.end(at: ten + 3) == 0)
        let gaps = try #require(try description(recording)["gaps"]?.array)
        #expect(gaps.reduce(0) { $0 + ($1["samples"]?.number ?? 0) + ($1["lines"]?.number ?? 0) } == 13)
    }

    @Test func anOutputThatLacksRowsSaysSo() async throws {
        let reports = Mutex<[String]>([])
        let output = try RecordingOutput(RecordingSettings(directory: place.path)) { text in
            reports.withLock { $0.append(text) }
        }
        #expect(await output.missingRows() == 0)
        // More than the memory between the loop and the writer has room for, before the writer has its turn.
        let source = Source(strap)
        for _ in 0..<200_000 { output.sample(sample(level, 1), of: source) }
        let missing = try #require(await output.missingRows())
        #expect(missing > 0)
        await output.finish()
        #expect(output.hasLost)
        let name = try #require(Recording.all(in: place.path).first?.name)
        #expect(
            reports.withLock { $0 }.last
                == "recording: the recording \(place.path)/\(name) lacks \(missing) rows: see gaps in session.json")
    }

    @Test func anOutputThatLacksNothingIsSilent() async throws {
        let reports = Mutex<[String]>([])
        let output = try RecordingOutput(RecordingSettings(directory: place.path)) { text in
            reports.withLock { $0.append(text) }
        }
        output.sample(sample(level, 1), of: Source(strap))
        #expect(await output.missingRows() == 0)
        await output.finish()
        #expect(await output.missingRows() == 0, "nobody writes any more")
        #expect(!output.hasLost && reports.withLock { $0 } == [])
    }

    /// A device that was sent away long before the end is missing from then on; one that the end sends away is not.
    @Test func theEndIsNoGap() throws {
        let recording = try Recording(in: place.path, at: ten, information: [:])
        let minute: UInt64 = 60_000_000
        for device in [strap, head] { recording.event("connected", line("connected", ten), of: device) }
        let requested = ",\"reason\":\"requested\""
        recording.event("disconnected", line("disconnected", ten + minute / 2, requested), of: strap)
        recording.event("disconnected", line("disconnected", ten + minute - 1, requested), of: head)
        #expect(recording.end(at: ten + minute, ending: ten + minute - 2) == 0)
        let gaps = try description(recording)["gaps"]?.array
        #expect(gaps?.map { $0["device"] } == ["strap-C00000000011"] && gaps?[0]["to"] == .null)
        // A part, after which the program goes on: both are.
        let part = try Recording(in: place.path, at: ten, information: [:])
        part.event("connected", line("connected", ten), of: strap)
        part.event("disconnected", line("disconnected", ten + 1, requested), of: strap)
        #expect(part.end(at: ten + 2, ending: nil) == 0)
        let both = try description(part)["gaps"]?.array
        #expect(both?.count == 1)
    }

    @Test func linesThatFindNoRoomAreCounted() async throws {
        let output = try RecordingOutput(RecordingSettings(directory: place.path)) { _ in }
        #expect(await output.missingRows() == 0)
        let text = String(repeating: "x", count: 4000)
        for _ in 0..<10_000 {
            output.event("note", of: nil) { line in
                line.begin("note")
                line.member("text", text)
                line.end()
            }
        }
        #expect((await output.missingRows() ?? 0) > 0)
        await output.finish()
    }

    /// A batch has what came since the one before, and nothing of it.
    @Test func eachLineIsWrittenOnce() async throws {
        let output = try RecordingOutput(RecordingSettings(directory: place.path)) { _ in }
        for _ in 0..<3 {
            output.event("battery", of: strap) { line in
                line.begin("battery")
                line.end()
            }
            #expect(await output.missingRows() == 0)
        }
        await output.finish()
        let path = place.path + "/" + (try #require(Recording.all(in: place.path).first?.name))
        let lines = String(decoding: try contents(path + "/events.jsonl"), as: UTF8.self)
        #expect(lines.split(separator: "\n").filter { $0.contains("battery") }.count == 3)
    }

    /// One sample wakes the writer: nothing else may come.
    @Test func aSampleIsWrittenWithoutAnother() async throws {
        let output = try RecordingOutput(RecordingSettings(directory: place.path)) { _ in }
        let path = place.path + "/" + (try #require(fileNames(in: place.path).first))
        // Nothing is due any more once the description was made again.
        unlink(path + "/session.json")
        #expect(await output.missingRows() == 0)
        await eventually("it is on the disk") { access(path + "/session.json", F_OK) == 0 }
        output.sample(sample(level, 1), of: Source(strap))
        await eventually("it is in its file") {
            fileNames(in: path).contains("strap-C00000000011.level.csv")
                && WholeFile.size(of: path + "/strap-C00000000011.level.csv") > 0
        }
        await output.finish()
    }

    /// And so does one line.
    @Test func aLineIsWrittenWithoutAnother() async throws {
        let output = try RecordingOutput(RecordingSettings(directory: place.path)) { _ in }
        let path = place.path + "/" + (try #require(fileNames(in: place.path).first))
        unlink(path + "/session.json")
        #expect(await output.missingRows() == 0)
        await eventually("nothing is due any more") { access(path + "/session.json", F_OK) == 0 }
        output.event("battery", of: strap) { line in
            line.begin("battery")
            line.end()
        }
        await eventually("it is in its file") { WholeFile.size(of: path + "/events.jsonl") > 0 }
        await output.finish()
    }

    /// The recording is larger than a part, and its directory is not there: it goes on, which is said once.
    @Test func aPartThatCannotBeMade() async throws {
        let reports = Mutex<[String]>([])
        let output = try RecordingOutput(RecordingSettings(directory: place.path, limit: 8)) { text in
            reports.withLock { $0.append(text) }
        }
        let end = "; the next part cannot be made, and the present one goes on until it can"
        #expect(rename(place.path, place.path + "-moved") == 0)
        output.event("battery", of: strap) { line in
            line.begin("battery")
            line.end()
        }
        await eventually("it is said") { reports.withLock { $0.contains { $0.hasSuffix(end) } } }
        #expect(rename(place.path + "-moved", place.path) == 0)
        await output.finish()
        let said = reports.withLock { $0.filter { $0.hasSuffix(end) } }
        #expect(said.count == 1 && said.first?.hasPrefix("recording: \(place.path)/") == true)
        #expect(Recording.all(in: place.path).count == 1)
    }

    private func export(_ samples: [UInt64?], lines: [UInt64]) -> RecordingExport {
        let export = RecordingExport(place.path, information: [:])
        for time in samples {
            var one = sample(level, 80)
            one.capturedAt = time
            export.sample(one, of: Source(strap))
        }
        for time in lines {
            export.event("battery", of: strap) { $0.raw(String(decoding: line("battery", time), as: UTF8.self)) }
        }
        return export
    }

    /// It is as long as its capture, whose samples and lines have times of their own.
    @Test(
        arguments: [
            ([3, 2, 5], [], 2, 5), ([3], [1, 9], 1, 9), ([1, 9], [3], 1, 9), ([], [4, 2], 2, 4),
            ([nil, 3, 5], [], 3, 5),
        ] as [([UInt64?], [UInt64], UInt64, UInt64)])
    func anExportIsAsLongAsItsCapture(samples: [UInt64?], lines: [UInt64], from: UInt64, to: UInt64) throws {
        let export = export(samples.map { $0.map { ten + $0 } }, lines: lines.map { ten + $0 })
        export.end()
        #expect(export.failure == nil && export.samples == UInt64(samples.count))
        let path = try #require(export.path)
        let found = try JSON(parsing: contents(path + "/session.json"))
        #expect(found["began"] == .string(Recording.timeText(ten + from)))
        #expect(found["ended"] == .string(Recording.timeText(ten + to)))
    }

    @Test func anExportThatIsDiscarded() throws {
        let export = export([ten], lines: [ten])
        #expect(export.path != nil)
        for _ in 0..<2 { export.discard() }
        #expect(export.path == nil && export.samples == 0)
        export.end()
        #expect(fileNames(in: place.path).isEmpty)
    }

    /// What the system says of any of the files is the answer, and a loss that goes on is in the description.
    @Test func errorsOfEachFile() throws {
        let recording = try Recording(in: place.path, at: ten, information: [:])
        try recording.take(sample(level, 1), of: strap, at: ten)
        #expect(recording.write(at: ten) == 0)
        #expect(failing("fdatasync", with: EIO, all: true) { recording.synchronize() }.result == EIO)
        #expect(recording.synchronize() == 0)
        #expect(calls(of: "fdatasync") { _ = recording.synchronize() } == 0, "nothing was written since")
        unlink(recording.path + "/samples.csv")
        try recording.take(sample(level, 2), of: strap, at: ten + 1)
        #expect(recording.write(at: ten + 1) == ENOENT)
        #expect(recording.synchronize() == 0)
        #expect(try description(recording)["gaps"]?.array?.map { $0["file"] } == ["samples.csv"])
        let file = try RecordingFile("byte", in: recording.path, header: "")
        file.rows = [UInt8(ascii: "\n")]
        #expect(file.write() == 0 && file.size == 1)
        #expect(recording.end(at: ten + 2) == 0)
    }

    @Test func theDescription() throws {
        let recording = try Recording(in: place.path, at: ten, information: ["program": "test"])
        #expect(try description(recording)["ended"] == JSON.null)
        recording.event("connected", line("connected", ten, ",\"firmware\":\"1.2\",\"family\":\"bose\""), of: head)
        for step in 0...20 as ClosedRange<UInt64> {
            var one = sample(rotation, 1, 2, 3, received: step * 1_000_000_000 + 1)
            (one.deviceTime, one.sampledAt, one.errorMilliseconds) = (
                Double(step * 1000), step * 1_000_100_000 + 1, Double(step)
            )
            try recording.take(one, of: head, at: ten + step * 1_000_000)
        }
        recording.event("disconnected", line("disconnected", ten + 5, ",\"reason\":\"connection_lost\""), of: head)
        recording.event("connected", line("connected", ten + 9), of: head)
        recording.event("disconnected", line("disconnected", ten + 11, ",\"reason\":\"requested\""), of: head)
        recording.dropped(7, lines: 3, from: ten + 6, to: ten + 8)
        #expect(recording.end(at: ten + 12) == 0)
        let found = try description(recording)
        #expect(found["began"] == "2026-11-29T10:00:00.000000Z" && found["ended"] == "2026-11-29T10:00:00.000012Z")
        let device = try #require(found["devices"]?.array?.first)
        #expect(device["firmware"] == "1.2" && device["name"] == "left" && device["address"] == "C0:00:00:00:00:10")
        #expect(device["connections"]?.array?.count == 2)
        #expect(device["connections"]?.array?[0]["reason"] == "connection_lost")
        let sensor = try #require(device["sensors"]?.array?.first)
        #expect(sensor["samples"] == 21 && sensor["file"] == "left-C00000000010.rotation.csv")
        #expect(
            sensor["channels"]?.array?[0] == ["name": "pitch", "unit": "deg", "column": "pitch_deg", "kind": "number"])
        // The device's clock is slow by 100 ppm.
        #expect(abs((sensor["clock"]?["drift_ppm"]?.number ?? 0) - 100) < 0.01)
        #expect(sensor["clock"]?["largest_error_ms"]?.number == 20)
        let gaps = try #require(found["gaps"]?.array)
        #expect(gaps.map { $0["reason"]?.string } == ["disconnected", "writer_behind"])
        #expect(gaps[0]["to"] == "2026-11-29T10:00:00.000009Z" && gaps[1]["samples"] == 7)
        #expect(gaps[1]["lines"] == 3 && gaps[0]["lines"] == nil)
        #expect(read(recording, "events.jsonl").split(separator: "\n").count == 4)
    }

    /// From a battery that was empty to the network's time, an hour back, and what is a correction alone.
    @Test func aClockThatIsSet() throws {
        let second: UInt64 = 1_000_000
        var clock = WallClock(1000 * second, monotonic: 10 * second)
        #expect(clock.expected(1010 * second, monotonic: 20 * second) == nil)
        #expect(clock.expected(1021 * second, monotonic: 30 * second) == nil, "one second is none")
        #expect(clock.expected(9000 * second, monotonic: 40 * second) == 1031 * second)
        #expect(clock.expected(9001 * second, monotonic: 41 * second) == nil, "it is said once")
        #expect(clock.expected(3, monotonic: 42 * second) == 9002 * second)
        #expect(clock.expected(.max, monotonic: .max) != nil)

        let recording = try Recording(in: place.path, at: ten, information: [:])
        recording.clockWasSet(from: ten + 2, to: ten - 3_600_000_000)
        // They are in the order in which they happened, whatever the clock said.
        recording.dropped(1, lines: 0, from: ten - 3_599_000_000, to: ten - 3_598_000_000)
        recording.clockWasSet(from: ten - 3_597_000_000, to: ten + 7_200_000_000)
        #expect(recording.end(at: ten + 7_200_000_000) == 0)
        let gaps = try #require(try description(recording)["gaps"]?.array)
        #expect(gaps.map { $0["reason"]?.string } == ["clock_set", "writer_behind", "clock_set"])
        let gap = try #require(gaps.first)
        #expect(gap["reason"] == "clock_set" && gap["from"] == "2026-11-29T10:00:00.000002Z")
        #expect(gap["to"] == "2026-11-29T09:00:00.000000Z" && gap["samples"] == JSON.null)
    }

    /// As long as a device file permits, and different at the end only.
    @Test func namesThatAreLong() throws {
        let recording = try Recording(in: place.path, at: ten, information: [:])
        for last in ["a", "b"] {
            let form = SampleForm(String(repeating: "n", count: 47) + last, [SampleChannel("x")])
            try recording.take(sample(form, 1), of: strap, at: ten)
        }
        #expect(recording.end(at: ten + 1) == 0)
        #expect(recording.missing == 0 && recording.sensorFiles.count == 2)
    }

    /// A file that lost rows first and takes some again last stands first.
    @Test func gapsAreInTheOrderInWhichTheyBegan() {
        var description = RecordingDescription(began: "0", information: [:], previous: nil)
        for (file, from) in [("b", 2), ("c", 2), ("d", 3), ("a", 1)] as [(String, UInt64)] {
            description.add(RecordedGap(file: file, reason: "not_written", from: Recording.timeText(ten + from)))
        }
        #expect(description.gaps.map(\.file) == ["a", "b", "c", "d"])
    }

    /// A name with anything in it, two devices of one address, a folder that exists.
    @Test func names() throws {
        let first = try Recording(in: place.path, at: ten, information: [:])
        let second = try Recording(in: place.path, at: ten, information: [:])
        #expect(second.name == "2026-11-29T10-00-00Z-2")
        var odd = head
        odd.name = "../ä b"
        try second.take(sample(level, 1), of: odd, at: ten)
        odd.addressType = "public"
        try second.take(sample(level, 1), of: odd, at: ten)
        #expect(
            Set(fileNames(in: second.path)) == [
                "-----b-C00000000010-public.level.csv", "-----b-C00000000010.level.csv", "events.jsonl", "samples.csv",
                "session.json", "session.room",
            ])
        #expect(first.end(at: ten) == 0 && second.end(at: ten) == 0)
    }

    /// A recording whose process is gone: half a row is taken away, and the description says from when on nothing is there.
    @Test func killed() throws {
        var recording: Recording? = try Recording(in: place.path, at: ten, information: [:])
        let path = try #require(recording?.path)
        for step in 0..<3 as Range<UInt64> { try recording?.take(sample(level, 1), of: strap, at: ten + step) }
        #expect(recording?.write(at: ten) == 0 && recording?.synchronize() == 0)
        #expect(Recording.all(in: place.path).map(\.isOver) == [false], "its process is alive")
        recording = nil
        for name in ["samples.csv", "strap-C00000000011.level.csv", "events.jsonl"] {
            let descriptor = open(path + "/" + name, O_WRONLY | O_APPEND)
            #expect(systemWrite(descriptor, "2026-11-29T10:00", 16) == 16)
            close(descriptor)
        }
        var repaired: [String] = []
        #expect(Recording.all(in: place.path) { repaired.append($0) }.map(\.isOver) == [true])
        #expect(repaired == ["2026-11-29T10-00-00Z"])
        let rows = String(decoding: try contents(path + "/strap-C00000000011.level.csv"), as: UTF8.self)
        #expect(rows.hasSuffix(",1\n"))
        #expect(rows.split(separator: "\n").count == 4)
        #expect(try contents(path + "/events.jsonl").isEmpty)
        let found = try JSON(parsing: contents(path + "/session.json"))
        #expect(found["ended"] == "2026-11-29T10:00:00.000002Z")
        #expect(found["gaps"]?.array?.last?["reason"] == "killed" && found["gaps"]?.array?.last?["to"] == .null)
        let sensor = found["devices"]?.array?.first?["sensors"]?.array?.first
        #expect(sensor?["samples"] == 3 && sensor?["last"] == "2026-11-29T10:00:00.000002Z")
        repaired = []
        _ = Recording.all(in: place.path) { repaired.append($0) }
        #expect(repaired.isEmpty, "once")
    }

    /// The next part has the devices that are connected.
    @Test func parts() throws {
        let first = try Recording(in: place.path, at: ten, information: [:])
        first.event("connected", line("connected", ten, ",\"firmware\":\"1.2\""), of: head)
        let second = try first.next(in: place.path, at: ten + 1_000_000, information: [:])
        #expect(first.end(at: ten + 1_000_000) == 0 && second.end(at: ten + 2_000_000) == 0)
        let found = try description(second)
        #expect(found["previous"] == .string(first.name))
        #expect(found["devices"]?.array?.first?["firmware"] == "1.2")
        #expect(found["devices"]?.array?.first?["connections"]?.array?.count == 1)
    }

    /// Two devices exchange their names: the next part has the new ones.
    @Test func namesAreThoseOfTheNextPart() throws {
        var (left, right) = (strap, head)
        (left.name, left.isNamed, right.name, right.isNamed) = ("left", true, "right", true)
        let first = try Recording(in: place.path, at: ten, information: [:])
        for device in [left, right] { first.event("connected", line("connected", ten), of: device) }
        (left.name, right.name) = ("right", "left")
        for device in [left, right] { try first.take(sample(level, 1), of: device, at: ten) }
        let second = try first.next(in: place.path, at: ten + 1_000_000, information: [:])
        for device in [left, right] { try second.take(sample(level, 1), of: device, at: ten) }
        #expect(first.end(at: ten + 1_000_000) == 0 && second.end(at: ten + 2_000_000) == 0)
        func words(_ recording: Recording) throws -> [JSON?] {
            try description(recording)["devices"]!.array!.flatMap { [$0["label"], $0["name"]] }
        }
        let (a, b) = ("C00000000011", right.address.filter { $0 != ":" })
        #expect(try words(first).first == .string("left-" + a))
        #expect(
            try words(second) == [.string("right-" + a), "right", .string("left-" + b), "left"])
    }

    /// Over the output: what was given to it is in the files when it has finished; the oldest make room.
    @Test func theOutput() async throws {
        for step in 0..<3 as Range<UInt64> {
            let old = try Recording(in: place.path, at: ten + step * 1_000_000, information: [:])
            for _ in 0..<4000 { try old.take(sample(level, 1), of: strap, at: ten) }
            #expect(old.end(at: ten) == 0)
        }
        let output = try RecordingOutput(RecordingSettings(directory: place.path, limit: 1_000_000)) { _ in }
        let source = Source(strap)
        for _ in 0..<100 { output.sample(sample(level, 1), of: source) }
        output.event("battery", of: strap) { line in
            line.begin("battery")
            line.end()
        }
        #expect(!output.takes("sample", of: strap) && output.takes("grip", of: strap))
        await output.finish()
        let all = Recording.all(in: place.path)
        #expect(!all.contains { !$0.isOver })
        #expect(all.reduce(0) { $0 + $1.size } < 1_000_000 && all.count == 3, "no more than needed")
        let path = place.path + "/" + (try #require(all.last?.name))
        let rows = String(decoding: try contents(path + "/strap-C00000000011.level.csv"), as: UTF8.self)
        #expect(rows.split(separator: "\n").count == 101)
    }

    /// A clock that is set later stands at 1970 when a recording begins, and its name says so.
    @Test func theOldestRecordingIsTheOneThatEndedFirst() throws {
        let place = Place()
        for (name, ended) in [
            ("1970-01-01T00-00-20Z", #""2026-11-30T19:20:00Z""#), ("2026-11-30T19-00-00Z", #""2026-11-30T19:10:00Z""#),
            ("2026-11-30T18-00-00Z", #""2026-11-30T18:10:00Z""#),
        ] {
            let path = place.path + "/" + name
            #expect(mkdir(path, 0o700) == 0)
            let text = Array(#"{"format":"tendon recording","version":1,"ended":\#(ended)}"#.utf8)
            let descriptor = open(path + "/session.json", O_WRONLY | O_CREAT, 0o600)
            #expect(Glibc.write(descriptor, text, text.count) == text.count)
            close(descriptor)
        }
        #expect(
            Recording.all(in: place.path).map(\.name)
                == ["2026-11-30T18-00-00Z", "2026-11-30T19-00-00Z", "1970-01-01T00-00-20Z"])
    }
}
