// SPDX-License-Identifier: MIT Description of a command. Help, man page, completions and the argument parser are made
// from these values.
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

    init(_ status: ExitStatus, _ message: String, next: String? = nil) {
        self.status = status
        self.message = message
        self.next = next
    }

    /// A signal ended the command before it had a result; nothing is printed.
    static let interrupted = CommandError(.noDevice, "")

    static func usage(_ message: String, next: String? = nil) -> CommandError {
        CommandError(.usage, message, next: next)
    }
}

struct Option: Sendable {
    let name: String
    /// Placeholder of its value in help, such as "SECONDS"; nil for a switch.
    let value: String?
    let help: String
    /// What a shell may complete the value with.
    var choices: [String] = []
    /// The value is a list, or may be of other kinds; the choices are for the shell alone.
    var isList = false
    /// For tests; not in help.
    var hidden = false
    /// The option may stand alone; its value follows `=`.
    var isValueOptional = false
    /// Families that have the option; empty: it is of no family.
    var families: [String] = []
}

extension Option {
    static let compact = Option(
        name: "--compact", value: nil, help: "JSON: only the decimals that the sensor resolves")

    static let common: [Option] = [
        Option(
            name: "--radio", value: "bluez|virtual",
            help: "which radio; default: bluez where a controller is there, else virtual",
            choices: ["bluez", "virtual"]),
        Option(name: "--adapter", value: "hciN", help: "which controller of the radio bluez; default: the first"),
        Option(
            name: "--address", value: "ADDRESS",
            help: "this device only: AA:BB:CC:DD:EE:FF, or with its type AA:BB:CC:DD:EE:FF/random; without a type, "
                + "both types match. simulate: the address it gets; without a type, public"),
        Option(name: "--json", value: nil, help: "JSON, one object a line"),
        Option(name: "--for", value: "SECONDS", help: "end after this time"),
        Option(name: "--help", value: nil, help: "this text"),
        Option(name: "--version", value: nil, help: "print the version"),
    ]
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
    let run: @Sendable (Arguments) async throws(CommandError) -> ExitStatus

    init(
        _ name: String, operands: String = "", summary: String, details: [String] = [], options: [Option] = [],
        common: [String] = ["--radio", "--adapter", "--address", "--json", "--for"],
        examples: [(line: String, does: String)],
        run: @escaping @Sendable (Arguments) async throws(CommandError) -> ExitStatus
    ) {
        self.name = name
        self.operands = operands
        self.summary = summary
        self.details = details
        self.options = options
        self.common = Option.common.filter { common.contains($0.name) || ["--help", "--version"].contains($0.name) }
        self.examples = examples
        self.run = run
    }

    var words: [String] { name.split(separator: " ").map(String.init) }
}
