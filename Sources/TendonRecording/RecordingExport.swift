// SPDX-License-Identifier: MIT
// The output of `export`: a recording that is written as fast as a capture is read, on the thread that reads it.
import CTendon
import TendonOutputs
import TendonSupport

package final class RecordingExport: EventOutput, @unchecked Sendable {
    // Used by the thread that replays; the command waits for it.
    private var recording: Recording?
    private var waiting = 0
    private let directory: String
    private let information: JSON
    /// Why nothing more is written.
    package private(set) var failure: RecordingError?
    private static let batch = 4096

    package init(_ directory: String, information: JSON) {
        (self.directory, self.information) = (directory, information)
    }

    /// Where it is; nil: nothing was in the capture, or it could not be made.
    package var path: String? { recording?.path }
    package var samples: UInt64 { recording?.samples ?? 0 }

    package var takesNumbers: Bool { true }

    package func sample(_ sample: OutputSample, of source: any SampleSource) {
        let time = sample.capturedAt ?? 0
        attempt { (recording) throws(RecordingError) in try recording.take(sample, of: source.device, at: time) }
    }

    package func takes(_ event: EventName, of device: OutputDevice?) -> Bool { !event.isEqual(to: "sample") }

    package func event(_ event: EventName, of device: OutputDevice?, _ compose: (inout LineWriter) -> Void) {
        var line = LineWriter()
        line.isCompact = true
        compose(&line)
        attempt { (recording) throws(RecordingError) in recording.event(event, line.bytes[...], of: device) }
    }

    private func attempt(_ body: (Recording) throws(RecordingError) -> Void) {
        guard failure == nil else { return }
        do throws(RecordingError) {
            let recording = try open()
            try body(recording)
            waiting += 1
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

    package func end() {
        guard let recording, failure == nil else { return }
        do throws(RecordingError) {
            try check(recording.end(at: tendon_realtime_us()), recording)
        } catch {
            failure = error
        }
    }
}
