// SPDX-License-Identifier: MIT
// replay --to-test and --test: a capture with the events that it must yield, in one file of JSON lines. A report is such a
// file, with further lines.
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
    /// First bytes of a file.
    static let beginning = Array(#"{"test":"#.utf8)
    /// Bytes of the capture in one line.
    private static let piece = 1024
    /// The longest capture, and the longest test.
    static let captureLimit = 64 << 20
    private static let testLimit = 512 << 20

    var capture: [UInt8]
    var att: Bool
    var compact: Bool
    /// Of a report: lines about the machine and what happened on it. They are not compared.
    var notes: [JSON] = []
    /// Lines of events, without their ends.
    var events: [String]

    /// Replays a capture, or that of a test or a report again.
    init(capturing path: String, att: Bool, compact: Bool) throws(CommandError) {
        var bytes = try readFile(inputPath(path), limit: ReplayTest.captureLimit)
        if bytes.starts(with: ReplayTest.beginning) {
            bytes = try ReplayTest(parsing: bytes, called: path).capture
        }
        try self.init(of: bytes, called: path, att: att, compact: compact)
    }

    /// - Parameter capture: empty: a report without one has no events.
    init(of capture: [UInt8], called path: String, att: Bool, compact: Bool) throws(CommandError) {
        (self.capture, self.att, self.compact) = (capture, att, compact)
        events = capture.isEmpty ? [] : try ReplayTest.replay(capture, called: path, att: att, compact: compact)
    }

    /// Reads a test.
    init(reading path: String) throws(CommandError) {
        try self.init(parsing: try readFile(inputPath(path), limit: ReplayTest.testLimit), called: path)
    }

    private init(parsing bytes: [UInt8], called path: String) throws(CommandError) {
        let wrong = CommandError(
            .failed, "\(sanitized(path)): this is not a test of replay", next: "tendon replay --to-test FILE CAPTURE")
        let lines = bytes.split(separator: 0x0A)
        guard let first = lines.first, let header = try? JSON(parsing: Array(first)),
            header["test"]?.string == ReplayTest.title, header["version"]?.integer == ReplayTest.version
        else { throw wrong }
        att = header["att"] == .bool(true)
        compact = header["compact"] == .bool(true)
        capture = []
        events = []
        let (start, note) = (Array(#"{"capture":"#.utf8), Array(#"{"report":"#.utf8))
        for line in lines.dropFirst() where !line.starts(with: note) {
            guard line.starts(with: start) else {
                events.append(String(decoding: line, as: UTF8.self))
                continue
            }
            guard let text = (try? JSON(parsing: Array(line)))?["capture"]?.string, let bytes = parseHex(text) else {
                throw wrong
            }
            capture += bytes
        }
        guard !capture.isEmpty else {
            throw CommandError(.failed, "\(sanitized(path)): it has no capture, so that nothing can be compared")
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
        for note in notes { lines.append(LineWriter.text(note)) }
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
final class CollectedLines: EventOutput {
    let takesSamples: Bool
    private let kept = Mutex<[String]>([])
    private let compact: Bool
    private let limit: Int

    /// - Parameter limit: the last lines that are kept.
    init(compact: Bool, takesSamples: Bool = true, limit: Int = .max) {
        (self.compact, self.takesSamples, self.limit) = (compact, takesSamples, limit)
    }

    var lines: [String] { kept.withLock { $0 } }

    func add(_ line: String) {
        kept.withLock { kept in
            if kept.count >= limit { kept.removeFirst() }
            kept.append(line)
        }
    }

    func event(_ event: EventName, of device: OutputDevice?, _ compose: (inout LineWriter) -> Void) {
        var writer = LineWriter()
        writer.isCompact = compact
        compose(&writer)
        add(String(decoding: writer.bytes.dropLast(), as: UTF8.self))
    }
}

extension Command {
    /// Makes a test of a capture.
    static func makeTest(_ capture: String, _ path: String, _ arguments: Arguments) throws(CommandError) {
        guard path != capture else { throw .usage("--to-test takes another file than the capture's") }
        try arguments.checkReplaces(path)
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
