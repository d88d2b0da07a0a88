// SPDX-License-Identifier: MIT
// The output of `run` and `stream` that records. The loop puts samples and lines into memory; a thread writes them.
import CTendon
import TendonOutputs
import TendonSupport

#if canImport(Glibc)
    import Glibc
#else
    import Musl
#endif

package struct RecordingSettings: Sendable {
    package var directory: String
    /// Milliseconds after which another recording begins; nil: none does.
    package var part: UInt64?
    /// Bytes of all recordings of the folder: the oldest ones that are over are removed. Nil: none is.
    package var limit: Int?
    /// What descriptions say of the program and its settings.
    package var information: JSON

    package init(directory: String, part: UInt64? = nil, limit: Int? = nil, information: JSON = [:]) {
        (self.directory, self.part, self.limit, self.information) = (directory, part, limit, information)
    }
}

package final class RecordingOutput: EventOutput, @unchecked Sendable {
    private let settings: RecordingSettings
    private let report: @Sendable (String) -> Void
    private let end = OutputEnd()
    // Guarded by `lock`.
    private let lock = ThreadLock()
    private var batch = Batch()
    private var isOver = false
    /// When the program began to end, microseconds since 1970; nil: it goes on.
    private var endingSince: UInt64?
    private var figures = (samples: UInt64(0), dropped: UInt64(0), failures: UInt64(0), missing: UInt64(0), bytes: 0)
    // Used by the thread, which alone changes them.
    private var recording: Recording
    private var spare = Batch()
    private var partEnds: UInt64
    /// When another part may be begun, after one that could not be.
    private var nextAttempt: UInt64 = 0
    /// It is past its end.
    private var isPartLate = false
    /// That a few rows fit is no return: they may be the last ones that do.
    private var disk = DiskReport(patience: DiskReport.firstPatience)
    private var removable: [Recording.Found] = []
    /// Rows that the recordings before the present one lack, and which of them do.
    private var (earlierMissing, lacking) = (UInt64(0), [String]())
    /// Those whose description could not be completed.
    private var incomplete: [String] = []
    private var clock = WallClock(tendon_realtime_us(), monotonic: monotonicMicroseconds())

    /// What waits. Its arrays keep their memory.
    private struct Batch {
        var samples: [(sample: OutputSample, source: any SampleSource, time: UInt64)] = []
        var lines: [(event: EventName, device: OutputDevice?, bytes: Range<Int>)] = []
        var text = LineWriter(capacity: 1 << 12)
        /// Of the samples and of the records of their lists.
        var rows = 0
        var dropped = (samples: UInt64(0), lines: UInt64(0))
        /// Microseconds since 1970; 0: nothing was dropped.
        var droppedSince: UInt64 = 0
        /// Those who wait until it is written.
        var waiting: [CheckedContinuation<Void, Never>] = []

        var isEmpty: Bool { samples.isEmpty && lines.isEmpty && droppedSince == 0 && waiting.isEmpty }
    }

    /// Rows that wait: 2.6 s of 100 sensors with 50 Hz.
    private static let capacity = 1 << 13
    /// Bytes of lines that wait.
    private static let textCapacity = 1 << 20
    /// Milliseconds for which samples are collected, and after which what was written is on the disk.
    private static let pause: UInt64 = 250
    private static let synchronization: UInt64 = 1000
    private static let attemptPause: UInt64 = 10_000
    /// With a limit and without a length, a recording is at most this part of the limit: so much can be removed at a time.
    private static let partsOfLimit = 8

    /// Makes the first recording; makes those whole whose program was killed.
    /// - Parameter report: takes sentences for people, from any thread.
    package init(
        _ settings: RecordingSettings, report: @escaping @Sendable (String) -> Void
    ) throws(RecordingError) {
        (self.settings, self.report) = (settings, report)
        if mkdir(settings.directory, 0o700) != 0, errno != EEXIST { throw RecordingError(settings.directory, errno) }
        removable = Recording.all(in: settings.directory) {
            report("\(sanitized(settings.directory))/\($0): its program was killed; it is whole up to then")
        }
        recording = try Recording(
            in: settings.directory, at: tendon_realtime_us(), information: settings.information)
        partEnds = settings.part.map { tendon_monotonic_ms() + $0 } ?? .max
        makeRoom()
        let number = startThread { self.run() }
        guard number == 0 else { throw RecordingError(settings.directory, number) }
    }

    // MARK: On the loop

    package var takesNumbers: Bool { true }

    package func sample(_ sample: OutputSample, of source: any SampleSource) {
        let time = RecordingOutput.arrival(of: sample)
        let rows = 1 + sample.records.count
        lock.locked {
            guard batch.rows < RecordingOutput.capacity else {
                if batch.droppedSince == 0 { batch.droppedSince = time }
                batch.dropped.samples += UInt64(rows)
                figures.dropped += 1
                return
            }
            batch.samples.append((sample, source, time))
            batch.rows += rows
            if batch.samples.count == 1 { lock.wakeAll() }
        }
    }

    /// By the clock of the wall, in microseconds.
    private static func arrival(of sample: OutputSample) -> UInt64 {
        let now = tendon_realtime_us()
        guard sample.receivedAt != 0 else { return now }
        let (arrived, monotonic) = (sample.receivedAt / 1000, monotonicMicroseconds())
        return now - min(now, monotonic - min(monotonic, arrived))
    }

    /// Samples come as numbers.
    package func takes(_ event: EventName, of device: OutputDevice?) -> Bool { !event.isEqual(to: "sample") }

    package func takesLine(of sample: OutputSample) -> Bool { !sample.form.inLinesAlone.isEmpty }

    package func event(_ event: EventName, of device: OutputDevice?, _ compose: (inout LineWriter) -> Void) {
        lock.locked {
            let start = batch.text.count
            guard start < RecordingOutput.textCapacity else {
                if batch.droppedSince == 0 { batch.droppedSince = tendon_realtime_us() }
                batch.dropped.lines += 1
                return
            }
            compose(&batch.text)
            batch.lines.append((event, device, start..<batch.text.count))
            if batch.lines.count == 1 { lock.wakeAll() }
        }
    }

    package var metrics: [Metric] {
        let figures = lock.locked { self.figures }
        return [
            Metric(
                "tendon_recording_samples", .counter, "Samples that were passed to the files of the recording.",
                Double(figures.samples)),
            Metric(
                "tendon_recording_dropped_samples", .counter, "Samples that were not recorded: the disk is too slow.",
                Double(figures.dropped)),
            Metric(
                "tendon_recording_failures", .counter, "Times that the files of a recording could not be written.",
                Double(figures.failures)),
            Metric(
                "tendon_recording_bytes", .gauge, unit: "bytes", "Size of the present recording.",
                [.init(Double(figures.bytes))]),
        ]
    }

    package func missingRows() async -> UInt64? {
        await withCheckedContinuation { continuation in
            let isWritten = lock.locked {
                if !isOver { batch.waiting.append(continuation) }
                lock.wakeAll()
                return isOver
            }
            if isWritten { continuation.resume() }
        }
        return lock.locked { figures.missing }
    }

    package var hasLost: Bool { lock.locked { figures.missing > 0 || !incomplete.isEmpty } }

    package func ending() { lock.locked { endingSince = endingSince ?? tendon_realtime_us() } }

    package func finish() async {
        ending()
        lock.locked {
            isOver = true
            lock.wakeAll()
        }
        await end.wait()
    }

    // MARK: On the thread

    private func run() {
        var synchronizeAt = UInt64.max
        while true {
            let isOver = take(until: min(synchronizeAt, partEnds))
            if !spare.isEmpty {
                record()
                for continuation in spare.waiting { continuation.resume() }
                if synchronizeAt == .max { synchronizeAt = tendon_monotonic_ms() + RecordingOutput.synchronization }
            }
            let now = tendon_monotonic_ms()
            if now >= synchronizeAt {
                note(recording.synchronize(), hasWritten: false)
                synchronizeAt = .max
            }
            if isOver { break }
            if now >= nextAttempt, now >= partEnds || isTooLarge { beginPart(at: now) }
        }
        endRecording(at: tendon_realtime_us())
        reportMissing()
        end.reach()
    }

    private func endRecording(at time: UInt64) {
        let ending = lock.locked { endingSince }
        note(recording.end(at: time, ending: ending), hasWritten: false)
        if recording.missing > 0 { lacking.append(recording.path) }
        if !recording.isComplete { lock.locked { incomplete.append(recording.path) } }
        earlierMissing += recording.missing
    }

    private func reportMissing() {
        if let first = lacking.first {
            let place =
                lacking.count == 1 ? "the recording \(sanitized(first)) lacks" : "\(lacking.count) recordings lack"
            report("recording: \(place) \(earlierMissing) rows: see gaps in session.json")
        }
        for path in incomplete {
            report(
                "recording: \(sanitized(path))/session.json could not be completed: nothing there says what is missing")
        }
    }

    /// Waits until something was collected, or until the time. Returns whether it is over.
    private func take(until time: UInt64) -> Bool {
        lock.locked {
            while !isOver, batch.isEmpty, tendon_monotonic_ms() < time {
                if time == .max { lock.wait() } else { _ = lock.wait(until: time) }
            }
            let collected = min(time, tendon_monotonic_ms() + RecordingOutput.pause)
            while !isOver, !batch.isEmpty, batch.waiting.isEmpty, tendon_monotonic_ms() < collected {
                _ = lock.wait(until: collected)
            }
            spare.samples.removeAll(keepingCapacity: true)
            spare.lines.removeAll(keepingCapacity: true)
            spare.text.removeAll()
            (spare.rows, spare.dropped, spare.droppedSince) = (0, (0, 0), 0)
            spare.waiting.removeAll()
            swap(&spare, &batch)
            figures.samples += UInt64(spare.samples.count)
            figures.bytes = recording.size
            return isOver
        }
    }

    private func record() {
        let now = tendon_realtime_us()
        if let expected = clock.expected(now, monotonic: monotonicMicroseconds()) {
            recording.clockWasSet(from: expected, to: now)
        }
        for line in spare.lines {
            recording.event(line.event, spare.text.bytes[line.bytes], of: line.device)
        }
        for (sample, source, time) in spare.samples {
            do throws(RecordingError) {
                try recording.take(sample, of: source.device, at: time)
            } catch {
                fail(error.text)
            }
        }
        if spare.droppedSince > 0 {
            recording.dropped(spare.dropped.samples, lines: spare.dropped.lines, from: spare.droppedSince, to: now)
        }
        note(recording.write(at: now), hasWritten: !spare.samples.isEmpty)
    }

    /// - Parameter hasWritten: samples were among what was written: the disk takes them again.
    private func note(_ error: Int32, hasWritten: Bool) {
        lock.locked { figures.missing = earlierMissing + recording.missing }
        guard error == 0 else { return fail(RecordingError(recording.path, error).text) }
        guard hasWritten, disk.works(tendon_monotonic_ms()) else { return }
        report("recording: \(sanitized(recording.path)) is written again")
    }

    private func fail(_ text: String) {
        lock.locked { figures.failures += 1 }
        guard disk.failed(tendon_monotonic_ms()) else { return }
        report("recording: \(text); samples are lost until it can be written")
    }

    // MARK: Parts and the limit

    private var isTooLarge: Bool {
        guard let limit = settings.limit else { return false }
        return recording.size > limit / RecordingOutput.partsOfLimit
    }

    private func beginPart(at now: UInt64) {
        partEnds = settings.part.map { now + $0 } ?? .max
        do throws(RecordingError) {
            let time = tendon_realtime_us()
            let next = try recording.next(in: settings.directory, at: time, information: settings.information)
            endRecording(at: time)
            (recording, isPartLate) = (next, false)
            removable = Recording.all(in: settings.directory)
            makeRoom()
        } catch {
            nextAttempt = now + RecordingOutput.attemptPause
            if settings.part != nil { partEnds = nextAttempt }
            lock.locked { figures.failures += 1 }
            guard !isPartLate else { return }
            isPartLate = true
            report("recording: \(error.text); the next part cannot be made, and the present one goes on until it can")
        }
    }

    /// Removes the oldest ones; never one that is being written.
    private func makeRoom() {
        guard let limit = settings.limit else { return }
        var size = removable.reduce(0) { $0 + $1.size } + limit / RecordingOutput.partsOfLimit
        for found in removable where size > limit && found.isOver && found.name != recording.name {
            guard Recording.remove(found.name, in: settings.directory, files: found.sensorFiles) else { continue }
            size -= found.size
        }
    }
}

private func monotonicMicroseconds() -> UInt64 {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return UInt64(time.tv_sec) * 1_000_000 + UInt64(time.tv_nsec) / 1000
}
