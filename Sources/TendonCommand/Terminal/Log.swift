// SPDX-License-Identifier: MIT
// Messages on standard error, with levels. The journal takes the level from a prefix: see sd-daemon(3). Written by a thread
// of its own: the loop's thread writes messages, and must not wait for their reader.
import Synchronization
import TendonOutputs
import TendonSupport

#if canImport(Glibc)
    import Glibc
#else
    import Musl
#endif

/// Levels of syslog(3).
enum LogLevel: Int, Sendable, CaseIterable {
    case error = 3
    case warning = 4
    case notice = 5
    case info = 6
    case debug = 7

    static func named(_ name: String) -> LogLevel? { allCases.first { "\($0)" == name } }
}

enum Log {
    static let option = Option(
        name: "--log-level", value: "LEVEL",
        help: "messages on standard error: error, warning, notice (reloads), info (connections), debug (all events "
            + "without samples)",
        choices: LogLevel.allCases.map { "\($0)" }, standard: "warning", setting: Setting("output"))

    private static let threshold = Mutex(LogLevel.warning)

    static var level: LogLevel {
        get { threshold.withLock { $0 } }
        set { threshold.withLock { $0 = newValue } }
    }

    /// Standard error is the journal.
    static let isJournal = isJournal(environment("JOURNAL_STREAM"), STDERR_FILENO)

    /// - Parameter stream: device and inode of the journal's socket, as "8:1234".
    static func isJournal(_ stream: String?, _ descriptor: Int32) -> Bool {
        var status = stat()
        guard let stream, fstat(descriptor, &status) == 0 else { return false }
        return stream == "\(status.st_dev):\(status.st_ino)"
    }

    private static let messages = Messages(LineOutput(descriptor: STDERR_FILENO))

    /// Takes the messages in the place of standard error, while a picture is drawn on the same terminal.
    private static let picture = Mutex<(@Sendable (LogLevel, String) -> Void)?>(nil)

    /// Messages go to `body`, which has them drawn above its picture; nil: to standard error again.
    static func draw(_ body: (@Sendable (LogLevel, String) -> Void)?) { picture.withLock { $0 = body } }

    /// People read the messages: they get sentences, and no names of statuses. Those who look for a fault get everything.
    static var isForPeople: Bool { hasSentences && Output.error.isTerminal }

    /// Events are sentences, also in a file or a pipe. A search in a journal, or in a file of more than warnings, needs names
    /// and values.
    static var hasSentences: Bool {
        !isJournal && level.rawValue <= (Output.error.isTerminal ? LogLevel.info : .notice).rawValue
    }

    /// Never blocks.
    static func write(_ level: LogLevel, _ text: String) {
        guard level.rawValue <= self.level.rawValue else { return }
        if let draw = picture.withLock({ $0 }) { return draw(level, text) }
        messages.add(line(level, text, isJournal: isJournal))
    }

    /// Milliseconds that a reader of standard error has at the end, if it does not read.
    static let patience: UInt64 = 1000

    /// Writes the messages that wait. Returns false if they are not read.
    static func finish() -> Bool { messages.finish(patience: patience) }

    static func line(_ level: LogLevel, _ text: String, isJournal: Bool) -> String {
        isJournal ? "<\(level.rawValue)>" + text : "tendon: " + text
    }
}

/// Lines that wait for their reader. If lines were dropped because it did not read, the next line, or the end, reports how
/// many.
struct Messages: ~Copyable, Sendable {
    private let output: LineOutput
    /// Dropped lines that were reported.
    private let reported = Mutex<UInt64>(0)

    init(_ output: LineOutput) { self.output = output }

    /// Never blocks.
    func add(_ line: String) { append(line + "\n") }

    private func append(_ text: String) {
        reported.withLock { reported in
            let dropped = output.dropped
            var notice = ""
            if dropped > reported {
                let lost = "standard error was not read; messages lost: \(dropped - reported)"
                notice = Log.line(.warning, lost, isJournal: Log.isJournal) + "\n"
            }
            guard !(notice + text).isEmpty else { return }
            if output.append({ $0.raw(notice + text) }) { reported = dropped }
        }
    }

    /// Waits until all is written. Returns false if the reader took nothing for so long.
    func finish(patience: UInt64) -> Bool {
        append("")
        return output.flush(patience: patience) == 0
    }
}

/// Events for the journal.
struct LogOutput: EventOutput {
    private static let levels: [(event: EventName, level: LogLevel)] = [
        ("connected", .info), ("disconnected", .info), ("paired", .info), ("pairing", .info), ("rule", .info),
        ("action", .info), ("publish", .info), ("executed", .info), ("reloaded", .notice),
        ("radio_waiting", .warning), ("radio_lost", .warning), ("radio_restored", .notice),
        ("connect_failed", .warning), ("configuration_failed", .warning), ("missing", .warning),
        ("action_failed", .warning), ("refused", .warning), ("execution_failed", .warning), ("reload_failed", .error),
    ]

    private static func level(of event: EventName) -> LogLevel {
        levels.first { $0.event.isEqual(to: event) }?.level ?? .debug
    }

    var takesSamples: Bool { false }

    func takes(_ event: EventName, of device: OutputDevice?) -> Bool {
        !event.isEqual(to: "sample") && LogOutput.level(of: event).rawValue <= Log.level.rawValue
    }

    func event(_ event: EventName, of device: OutputDevice?, _ compose: (inout LineWriter) -> Void) {
        var writer = LineWriter()
        compose(&writer)
        Log.write(
            LogOutput.level(of: event),
            Log.hasSentences
                ? Sentences.sentence(writer.bytes, namesErrors: !Log.isForPeople) : TextLines.sentence(writer.bytes))
    }
}
