// SPDX-License-Identifier: MIT
// Description of a command. Help, man page, completions and the argument parser are made from these values.
import TendonSupport

/// Exit statuses of the program.
enum ExitStatus: Int32, Sendable {
    case done = 0
    case failed = 1
    case usage = 2
    case noRadio = 3
    case noDevice = 4

    var meaning: String {
        switch self {
        case .done: "done"
        case .failed: "failed"
        case .usage: "usage: the command line is wrong"
        case .noRadio: "no radio: adapter missing, switched off or not permitted"
        case .noDevice: "no device found"
        }
    }

    static let all: [ExitStatus] = [.done, .failed, .usage, .noRadio, .noDevice]
}

/// An error that ends a command: one line with the error, one line with the remedy.
struct CommandError: Error {
    var status: ExitStatus
    var message: String
    var next: String?
    /// The message has the cause: what the radio knows of the device is not added.
    var isComplete = false
    /// The name and the number of the cause, for an event.
    var members: JSON = [:]

    init(_ status: ExitStatus, _ message: String, next: String? = nil) {
        self.status = status
        self.message = message
        self.next = next
    }

    /// A signal ended the command before it had a result.
    static let interrupted = CommandError(.noDevice, "")

    static func usage(_ message: String, next: String? = nil) -> CommandError {
        CommandError(.usage, message, next: next)
    }
}

struct Command: Sendable {
    /// Words on the command line: "scan", "bose info".
    let name: String
    /// Operands in help, such as "FAMILY KIND HEX...".
    let operands: String
    let summary: String
    let details: [String]
    let options: [Option]
    /// Common options that the command has.
    let common: [Option]
    let examples: [(line: String, does: String)]
    let run: @MainActor @Sendable (Arguments) async throws(CommandError) -> ExitStatus

    init(
        _ name: String, operands: String = "", summary: String, details: [String] = [], options: [Option] = [],
        common: [String] = Command.once + ["--for"],
        examples: [(line: String, does: String)],
        run: @escaping @MainActor @Sendable (Arguments) async throws(CommandError) -> ExitStatus
    ) {
        self.name = name
        self.operands = operands
        self.summary = summary
        self.details = details
        self.options = common.contains(Option.duration.name) ? DeviceAccess.besideDuration(options) : options
        // Where an address is accepted, the names of the configuration are.
        let first = String(name.prefix { $0 != " " })
        let always =
            ["--help", "--version"] + (common.contains("--address") ? ["--config"] : [])
            + (Definitions.commands.contains(first) ? [Definitions.option.name] : [])
        self.common = Option.common.filter { (common + always).contains($0.name) }
        self.examples = examples
        self.run = run
    }

    /// The common options of a command that does one thing: its time is that of --timeout.
    static let once = ["--radio", "--adapter", "--address", "--json"]

    var words: [String] { name.split(separator: " ").map(String.init) }
}
