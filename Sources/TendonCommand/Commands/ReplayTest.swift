// SPDX-License-Identifier: MIT
// replay --to-test and --test: a capture with the events that it must yield, in one file of JSON lines.
import Synchronization
import TendonOutputs
import TendonSupport

#if canImport(Glibc)
    import Glibc
#else
    import Musl
#endif

/// A capture, how it was replayed, and what was printed.
struct ReplayTest {
    /// What a file is, and the options that its events depend on.
    private static let title = "tendon replay --test"
    private static let version = 1
    /// Bytes of the capture in one line.
    private static let piece = 1024
    /// The longest capture, and the longest test.
    private static let captureLimit = 64 << 20
    private static let testLimit = 512 << 20

    var capture: [UInt8]
    var att: Bool
    var compact: Bool
    /// Lines of events, without their ends.
    var events: [String]

    /// Replays a capture.
    init(capturing path: String, att: Bool, compact: Bool) throws(CommandError) {
        capture = try readFile(path == "-" ? "/dev/stdin" : path, limit: ReplayTest.captureLimit)
        (self.att, self.compact) = (att, compact)
        events = try ReplayTest.replay(capture, called: path, att: att, compact: compact)
    }

    /// Reads a test.
    init(reading path: String) throws(CommandError) {
        let wrong = CommandError(
            .failed, "\(sanitized(path)): this is not a test of replay", next: "tendon replay --to-test FILE CAPTURE")
        let lines = try readFile(path, limit: ReplayTest.testLimit).split(separator: 0x0A)
        guard let first = lines.first, let header = try? JSON(parsing: Array(first)),
            header["test"]?.string == ReplayTest.title, header["version"]?.integer == ReplayTest.version
        else { throw wrong }
        att = header["att"] == .bool(true)
        compact = header["compact"] == .bool(true)
        capture = []
        events = []
        let start = Array(#"{"capture":"#.utf8)
        for line in lines.dropFirst() {
            guard line.starts(with: start) else {
                events.append(String(decoding: line, as: UTF8.self))
                continue
            }
            guard let text = (try? JSON(parsing: Array(line)))?["capture"]?.string, let bytes = parseHex(text) else {
                throw wrong
            }
            capture += bytes
        }
    }

    /// The file is the owner's alone, as captures are.
    func write(to path: String) throws(CommandError) {
        var lines = [
            LineWriter.text([
                "test": .string(ReplayTest.title), "version": JSON(ReplayTest.version), "att": .bool(att),
                "compact": .bool(compact),
            ])
        ]
        for start in stride(from: 0, to: capture.count, by: ReplayTest.piece) {
            let part = capture[start..<min(start + ReplayTest.piece, capture.count)]
            lines.append(LineWriter.text(["capture": .string(hexText(part))]))
        }
        let content = (lines + events).joined(separator: "\n") + "\n"
        let error = WholeFile.replace(path, with: Array(content.utf8), mode: 0o600, synchronizes: false)
        guard error == 0 else { throw CommandError(.failed, "\(sanitized(path)): \(text(strerror(error)))") }
    }

    /// Replays the capture again. Returns the differences in order; an event is nil where only the other side has one.
    func differences(called path: String) throws(CommandError) -> [(number: Int, expected: String?, actual: String?)] {
        let actual = try ReplayTest.replay(capture, called: path, att: att, compact: compact)
        var start = 0
        while start < min(events.count, actual.count), events[start] == actual[start] { start += 1 }
        // One event more or fewer does not make all later ones differ.
        var end = 0
        while end < min(events.count, actual.count) - start,
            events[events.count - 1 - end] == actual[actual.count - 1 - end]
        { end += 1 }
        let expected = events[start..<events.count - end]
        let found = actual[start..<actual.count - end]
        return (start..<start + max(expected.count, found.count)).compactMap { index in
            let one = index < expected.endIndex ? expected[index] : nil
            let other = index < found.endIndex ? found[index] : nil
            return one == other ? nil : (index + 1, one, other)
        }
    }

    private static func replay(
        _ capture: [UInt8], called name: String, att: Bool, compact: Bool
    ) throws(CommandError) -> [String] {
        let collected = CollectedLines(compact: compact)
        let reader = CaptureReader()
        _ = try Replay.run(
            reader, opened: try reader.open(bytes: capture), called: name, Events(style: .none, others: [collected]),
            att: att)
        // A part of the events is neither a test nor the result of one.
        guard !Termination.shared.isRequested else { throw CommandError(.failed, "interrupted") }
        return collected.lines
    }
}

/// Keeps the lines of events.
private final class CollectedLines: EventOutput {
    private let kept = Mutex<[String]>([])
    private let compact: Bool

    init(compact: Bool) {
        self.compact = compact
    }

    var lines: [String] { kept.withLock { $0 } }

    func event(_ event: StaticString, of device: OutputDevice?, _ compose: (inout LineWriter) -> Void) {
        var writer = LineWriter()
        writer.isCompact = compact
        compose(&writer)
        let line = String(decoding: writer.bytes.dropLast(), as: UTF8.self)
        kept.withLock { $0.append(line) }
    }
}

extension Command {
    /// Makes a test of a capture.
    static func makeTest(_ capture: String, _ path: String, _ arguments: Arguments) throws(CommandError) {
        let test = try ReplayTest(
            capturing: capture, att: arguments.has("--att"), compact: !arguments.has("--exact"))
        try test.write(to: path)
        Events(json: arguments.has("--json"), waits: true).event(
            "summary", nil, ["file": .string(path), "events": JSON(test.events.count)])
    }

    /// Runs a test. Fails if the events differ.
    static func runTest(_ path: String, _ arguments: Arguments) throws(CommandError) {
        let shown = 10
        let events = Events(json: arguments.has("--json"), waits: true)
        let test = try ReplayTest(reading: path)
        let differences = try test.differences(called: path)
        for difference in differences.prefix(shown) {
            var members: JSON = ["number": JSON(difference.number)]
            if let expected = difference.expected { members["expected"] = .string(expected) }
            if let actual = difference.actual { members["actual"] = .string(actual) }
            events.event("difference", nil, members)
        }
        events.event(
            "summary", nil,
            [
                "file": .string(path), "events": JSON(test.events.count), "differences": JSON(differences.count),
            ])
        guard differences.isEmpty else {
            throw CommandError(
                .failed, "\(sanitized(path)): \(differences.count) of \(test.events.count) events differ",
                next: "tendon replay --to-test FILE CAPTURE, if the new events are right")
        }
    }
}
