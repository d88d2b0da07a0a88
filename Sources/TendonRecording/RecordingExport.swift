// SPDX-License-Identifier: MIT
// The output of `export`: a recording that is written as fast as a capture is read, on the thread that reads it.
import CTendon
import TendonOutputs
import TendonSupport

package final class RecordingExport: EventOutput, @unchecked Sendable {
    // Used by the thread that replays; the command waits for it.
    private var recording: Recording?
    private var waiting = 0
    /// Times of the capture: of its samples, in microseconds, and of its lines. The recording is as long as they are.
    private var sampled: ClosedRange<UInt64>?
    private var told: ClosedRange<String>?
    private let directory: String
    private let information: JSON
    /// Why nothing more is written.
    package private(set) var failure: RecordingError?
    private static let batch = 4096
    /// Microseconds that a program had for its end; a capture does not have when it began to end.
    private static let endTime = UInt64(TENDON_FLEET_END_MS) * 1000

    package init(_ directory: String, information: JSON) {
        (self.directory, self.information) = (directory, information)
    }

    /// Where it is; nil: nothing was in the capture, or it could not be made.
    package var path: String? { recording?.path }
    package var samples: UInt64 { recording?.samples ?? 0 }

    package var takesNumbers: Bool { true }

    package func sample(_ sample: OutputSample, of source: any SampleSource) {
        let time = sample.capturedAt ?? 0
        if time > 0 { sampled = RecordingExport.covering(time, sampled) }
        attempt(rows: 1 + sample.records.count) { (recording) throws(RecordingError) in
            try recording.take(sample, of: source.device, at: time)
        }
    }

    package func takes(_ event: EventName, of device: OutputDevice?) -> Bool { !event.isEqual(to: "sample") }

    package func takesLine(of sample: OutputSample) -> Bool { !sample.form.inLinesAlone.isEmpty }

    package func event(_ event: EventName, of device: OutputDevice?, _ compose: (inout LineWriter) -> Void) {
        var line = LineWriter()
        line.isCompact = true
        compose(&line)
        if let time = RecordingExport.time(of: line.bytes) { told = RecordingExport.covering(time, told) }
        attempt { (recording) throws(RecordingError) in recording.event(event, line.bytes[...], of: device) }
    }

    private static func covering<Time: Comparable>(_ time: Time, _ range: ClosedRange<Time>?) -> ClosedRange<Time> {
        guard let range else { return time...time }
        return min(range.lowerBound, time)...max(range.upperBound, time)
    }

    private var span: ClosedRange<String>? {
        guard let sampled else { return told }
        let first = Recording.timeText(sampled.lowerBound), last = Recording.timeText(sampled.upperBound)
        return RecordingExport.covering(last, RecordingExport.covering(first, told))
    }

    /// `{"time":"..."`, the first member of each line of a capture.
    private static func time(of line: [UInt8]) -> String? {
        let start = Array("{\"time\":\"".utf8), end = start.count + Int(TENDON_LINE_TIME_SIZE)
        guard line.starts(with: start), line.count > end else { return nil }
        return String(decoding: line[start.count..<end], as: UTF8.self)
    }

    private func attempt(rows: Int = 1, _ body: (Recording) throws(RecordingError) -> Void) {
        guard failure == nil else { return }
        do throws(RecordingError) {
            let recording = try open()
            try body(recording)
            waiting += rows
            guard waiting >= RecordingExport.batch else { return }
            waiting = 0
            try check(recording.write(at: tendon_realtime_us()), recording)
        } catch {
            failure = error
        }
    }

    private func open() throws(RecordingError) -> Recording {
        if let recording { return recording }
        let made = try Recording(in: directory, at: tendon_realtime_us(), information: information)
        recording = made
        return made
    }

    private func check(_ error: Int32, _ recording: Recording) throws(RecordingError) {
        guard error == 0 else { throw RecordingError(recording.path, error) }
    }

    /// Removes what was written.
    package func discard() {
        guard let recording else { return }
        self.recording = nil
        _ = Recording.remove(recording.name, in: directory, files: recording.sensorFiles)
    }

    package func end() {
        guard let recording, failure == nil else { return }
        do throws(RecordingError) {
            let last = sampled?.upperBound ?? 0
            let ending = last - min(last, RecordingExport.endTime)
            try check(recording.end(at: tendon_realtime_us(), covering: span, ending: ending), recording)
        } catch {
            failure = error
        }
    }
}
