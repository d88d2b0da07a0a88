// SPDX-License-Identifier: MIT
// The program: the table of commands, and how one of them is chosen.
import CTendon
import TendonSupport

#if canImport(Glibc)
    import Glibc
#else
    import Musl
#endif

/// The table. Help, man page and completions are made from it.
let allCommands: [Command] =
    [.runAll, .scan, .doctor, .report, .pair, .forget, .bondsList, .bondsExport, .bondsForget, .cacheDrop, .stream]
    + families.flatMap(\.commands)
    + [.simulate, .capture, .replay, .export, .decode, .encode, .configCheck, .configShow, .rulesTest, .help]

let version = text(tendon_version())

/// The traits of Package.swift that the program was built with.
let buildTraits: [String] = {
    var traits: [String] = []
    #if BlueZ
        traits.append("BlueZ")
    #endif
    #if KernelSockets
        traits.append("KernelSockets")
    #endif
    #if LSL
        traits.append("LSL")
    #endif
    #if MQTT
        traits.append("MQTT")
    #endif
    #if Metrics
        traits.append("Metrics")
    #endif
    #if OSC
        traits.append("OSC")
    #endif
    #if ObviousCloud
        traits.append("ObviousCloud")
    #endif
    #if Web
        traits.append("Web")
    #endif
    return traits
}()

@main
struct TendonProgram {
    @MainActor
    static func main() async {
        signal(SIGPIPE, SIG_IGN)
        signal(SIGXFSZ, SIG_IGN)  // a limit of the size of files is a full disk
        signal(SIGCHLD, SIG_DFL)  // a parent that ignores it would leave no status of the programs of rules
        Termination.watchSignals()
        Output.watch()
        var result: Result<ExitStatus, CommandError>
        do throws(CommandError) {
            try Definitions.load(Array(CommandLine.arguments.dropFirst()))
            result = .success(try await run(Array(CommandLine.arguments.dropFirst())))
        } catch {
            result = .failure(error)
        }
        if let error = Output.finish() { result = .failure(error) }
        let isRead = Log.finish()
        // In the same process, so that a service manager sees no end.
        if Termination.shared.restarts { execv("/proc/self/exe", CommandLine.unsafeArgv) }
        switch result {
        case .success(let status): exit(status.rawValue)
        case .failure(let error):
            // A reader that closes the pipe has seen enough. The status is that of the command.
            if !Output.isClosed { report(error, within: isRead ? Log.patience : 0) }
            exit(error.status.rawValue)
        }
    }

    @MainActor
    static func run(_ words: [String]) async throws(CommandError) -> ExitStatus {
        if let status = try generate(words) { return status }
        let options = Option.common + allCommands.flatMap(\.options)
        let arguments: Arguments
        let meant = named(words)
        do throws(CommandError) {
            arguments = try Arguments(words, options: options, of: meant)
        } catch {
            throw error.helped(by: meant)
        }
        if arguments.has("--version") {
            Output.standard.line("tendon \(version)")
            return .done
        }
        guard !arguments.operands.isEmpty else {
            let isRequested = arguments.has("--help")
            guard isRequested || words.isEmpty else { throw .usage("a command is missing", next: "tendon help") }
            let output = isRequested ? Output.standard : Output.error
            output.write(Help.overview(for: output))
            return isRequested ? .done : .usage
        }
        if arguments.has("--help"), let group = Help.group(arguments.operands) {
            Output.standard.write(group)
            return .done
        }
        let (command, count) = try find(arguments.operands)
        if arguments.has("--help") {
            Output.standard.write(Help.text(of: command, for: .standard))
            return .done
        }
        let own: Arguments
        do throws(CommandError) {
            own = try arguments.dropping(count, for: command)
            if command.common.contains(where: { $0.name == "--config" }) { try Configuration.installNames(own) }
            try StateDirectory.use(own)
        } catch {
            throw error.helped(by: command)
        }
        do throws(CommandError) {
            return try await command.run(own)
        } catch {
            throw error.explained(own, of: command).onRadio(of: own).helped(by: command)
        }
    }

    /// The command that these words begin with; nil: an option is before it, or there is none.
    private static func named(_ words: [String]) -> Command? {
        let operands = words.prefix { !$0.hasPrefix("-") }
        return operands.isEmpty ? nil : (try? find(Array(operands)))?.0
    }

    /// The command whose words begin the operands; the longest one wins.
    static func find(_ operands: [String]) throws(CommandError) -> (Command, words: Int) {
        let matches = allCommands.filter { operands.starts(with: $0.words) }
        if let command = matches.max(by: { $0.words.count < $1.words.count }) { return (command, command.words.count) }
        let siblings = allCommands.filter { $0.words[0] == operands[0] }
        if !siblings.isEmpty {
            // "obvious firmware check": the word that is missing or unknown is the second or the third.
            let deeper = siblings.filter { $0.words.count > 2 && operands.starts(with: $0.words.prefix(2)) }
            let place = deeper.isEmpty ? 1 : 2
            let words = Help.once((deeper.isEmpty ? siblings : deeper).map { $0.words[place] })
            let given = operands.prefix(place).joined(separator: " ")
            guard operands.count > place else {
                throw .usage(
                    "'tendon \(given)' needs one of: \(words.joined(separator: ", "))",
                    next: "tendon help \(operands[0])")
            }
            throw .unknown("command", operands[place], among: words, of: given)
        }
        throw .unknown(
            "command", operands[0], among: allCommands.map { $0.words[0] }, meant: Spellings.command(operands[0]))
    }

    /// The hidden options that packaging uses.
    private static func generate(_ words: [String]) throws(CommandError) -> ExitStatus? {
        if words == ["--generate-man"] {
            Output.standard.write(Help.manPage())
        } else if words == ["--generate-man", "tendon.conf"] {
            Output.standard.write(SettingsTable.manPage())
        } else if words == ["--generate-settings"] {
            Output.standard.write(SettingsTable.documentation())
        } else if words.first == "--generate-completion" {
            guard words.count == 2, Help.shells.contains(words[1]) else {
                throw .usage("--generate-completion takes bash, zsh or fish")
            }
            Output.standard.write(Help.completion(for: words[1]))
        } else {
            return nil
        }
        return .done
    }

    private static func report(_ error: CommandError, within milliseconds: UInt64) {
        let output = Output.error
        var error = error
        if error.message.isEmpty, Termination.shared.isSignalled { error.message = "interrupted" }
        guard !error.message.isEmpty, output.isWritable(within: milliseconds) else { return }
        if Log.isJournal {
            let text = error.message + (error.next.map { "; try: " + $0 } ?? "")
            output.line(Log.line(.error, text, isJournal: true))
            return
        }
        let message = Log.isForPeople ? Sentences.withoutNames(error.message) : error.message
        let next = error.next.map { output.styled("  try: ", .faint) + $0 + "\n" } ?? ""
        output.write(output.styled("tendon: ", .red) + message + "\n" + next)
    }
}

extension Command {
    static let help = Command(
        "help", operands: "[COMMAND]", summary: "print this list, or the details and examples of a command",
        common: [],
        examples: [("tendon help run", "what run does and takes")]
    ) { (arguments: Arguments) throws(CommandError) in
        if arguments.operands.isEmpty {
            Output.standard.write(Help.overview(for: .standard))
            return .done
        }
        if let group = Help.group(arguments.operands) {
            Output.standard.write(group)
            return .done
        }
        do throws(CommandError) {
            let (command, count) = try TendonProgram.find(arguments.operands)
            guard arguments.operands.count == count else {
                let extra = arguments.operands.dropFirst(count).joined(separator: " ")
                throw .usage("help takes one command; '\(sanitized(extra))' is no part of 'tendon \(command.name)'")
            }
            Output.standard.write(Help.text(of: command, for: .standard))
        } catch {
            throw CommandError(error.status, error.message, next: "tendon --help")
        }
        return .done
    }
}
