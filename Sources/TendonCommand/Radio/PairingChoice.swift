// SPDX-License-Identifier: MIT
// Who answers when a device shows a passkey, asks for one, or shows one to compare; and what a key must be worth.
import CTendon
import Synchronization
import Tendon
import TendonSupport

#if canImport(Glibc)
    import Glibc
#else
    import Musl
#endif

/// The options of pairing.
struct PairingChoice: Sendable {
    private enum Source: Sendable {
        case nobody
        case terminal
        case passkey(Passkey)
        case file(String)
    }

    private let source: Source
    private let requiresAuthentication: Bool
    private let requiresEncryption: Bool
    private let requiresSecureConnections: Bool
    private let minimumKeySize: Int?

    private static let accept = Option(
        name: "--accept", value: nil,
        help: "pair without asking, and without a passkey (Just Works), also on a terminal")
    private static let passkey = Option(
        name: "--passkey", value: "PASSKEY",
        help: "passkey that the device shows, or has on its label: six digits; rejects pairing without one",
        takes: .parsed { (word) throws(CommandError) in _ = try PairingChoice.parsePasskey(word) })
    /// Of a simulated device.
    static let passkeyToEnter = Option(
        name: "--passkey", value: "PASSKEY", help: "passkey that it enters, six digits; --io keyboard",
        takes: passkey.takes)
    private static let file = Option(
        name: "--passkey-file", value: "FILE",
        help:
            "passkeys, one 'ADDRESS PASSKEY' per line, in a file with mode 600; pair: implies --require-authentication",
        setting: Setting("gateway", isFixed: true))
    private static let authentication = Option(
        name: "--require-authentication", value: nil,
        help: "reject pairing without a passkey, and bonds that were made without one",
        setting: Setting("gateway", isFixed: true))
    private static let encryption = Option(
        name: "--require-encryption", value: nil,
        help: "use a connection only when it is encrypted; pairs if that is enabled",
        setting: Setting("gateway", isFixed: true))
    private static let secure = Option(
        name: "--secure-connections-only", value: nil,
        help: "reject LE Legacy Pairing, and bonds that were made with it", setting: Setting("gateway", isFixed: true))
    private static let keySize = Option(
        name: "--key-size-min", value: "BYTES", help: "reject shorter keys", standard: "7", takes: .integer(7...16),
        setting: Setting("gateway", isFixed: true))

    /// Of a command that runs without a user.
    static let options = [file, authentication, encryption, secure, keySize]
    /// Of a command that pairs one device.
    static let allOptions = [accept, passkey] + options

    /// - Parameter asks: whether the command asks the user if it runs on a terminal.
    init(_ arguments: Arguments, asks: Bool) throws(CommandError) {
        let given = [PairingChoice.accept, PairingChoice.passkey, PairingChoice.file].map(\.name).filter(arguments.has)
        guard given.count < 2 else { throw .usage("use \(given.joined(separator: " or ")), not both") }
        if let word = arguments.value(PairingChoice.passkey.name) {
            source = .passkey(try PairingChoice.parsePasskey(word))
        } else if let path = arguments.value(PairingChoice.file.name) {
            source = .file(path)
        } else {
            source = asks && given.isEmpty && PairingQuestions.isPossible ? .terminal : .nobody
        }
        let isRequired = arguments.has(PairingChoice.authentication.name)
        if isRequired, case .nobody = source {
            throw .usage(
                "--require-authentication needs a passkey\(asks ? ", or a terminal to ask on" : "")",
                next: asks ? "add --passkey PASSKEY or --passkey-file FILE" : "add --passkey-file FILE")
        }
        // A device in the middle would just claim that it has neither display nor keyboard.
        requiresAuthentication = isRequired || (asks && !given.isEmpty && given != [PairingChoice.accept.name])
        requiresEncryption = arguments.has(PairingChoice.encryption.name)
        requiresSecureConnections = arguments.has(PairingChoice.secure.name)
        minimumKeySize = try arguments.integer(PairingChoice.keySize)
    }

    private static func parsePasskey(_ word: String) throws(CommandError) -> Passkey {
        guard let passkey = Passkey(word) else { throw .usage("a passkey has six digits, not '\(sanitized(word))'") }
        return passkey
    }

    /// Whether a person may have to answer, which takes time.
    var asksUser: Bool { if case .terminal = source { true } else { false } }

    /// Whether a passkey has a part in the pairings of this program: a failure can mean that it is wrong.
    static var usesPasskey: Bool { passkeyIsUsed.load(ordering: .relaxed) }
    fileprivate static let passkeyIsUsed = Atomic<Bool>(false)

    /// The file that was asked for the passkey of this device and has none.
    static func fileWithoutPasskey(of device: Address) -> String? {
        unanswered.withLock { $0[device.value] }
    }
    private static let unanswered = Mutex<[UInt64: String]>([:])
    private static let unansweredLimit = 256

    /// Throws if the file of passkeys cannot be used.
    func check() throws(CommandError) {
        guard case .file(let path) = source else { return }
        let status = path.withCString { path in
            var agent = tendon_pairing_agent_file(path)
            return tendon_pairing_agent_check(&agent)
        }
        guard status >= 0 else { throw failure(TendonError(status: status, operation: .pair)) }
    }

    /// From now on, for devices that connect later.
    func apply(to central: Central) async throws(CommandError) {
        var agent =
            switch source {
            case .nobody: PairingAgent.accepting
            case .passkey(let passkey): PairingAgent.passkey(passkey)
            case .file(let path): PairingChoice.agent(for: path)
            case .terminal: PairingAgent.asking(PairingQuestions.answer)
            }
        switch source {
        case .passkey, .file: PairingChoice.passkeyIsUsed.store(true, ordering: .relaxed)
        case .nobody, .terminal: break
        }
        agent.requiresAuthentication = requiresAuthentication
        agent.requiresSecureConnections = requiresSecureConnections
        if let minimumKeySize { agent.minimumKeySize = minimumKeySize }
        // The agent decides which keys count as encryption.
        await central.requireSecurity(requiresEncryption ? .encrypted : .none)
        do throws(TendonError) {
            try await central.setPairingAgent(agent)
        } catch {
            // Without pairing, the error comes when a device requires it; these options are not ignored, however.
            guard agent.isDemanding else { return }
            throw failure(error)
        }
    }

    /// Rejects a device that is not in the file, and remembers why.
    private static func agent(for path: String) -> PairingAgent {
        var agent = PairingAgent.file(path)
        agent.handler = { device, _ in
            unanswered.withLock { all in
                if all.count == unansweredLimit { all.removeAll() }
                all[device.value] = path
            }
            return .reject
        }
        return agent
    }

    private func failure(_ error: TendonError) -> CommandError {
        guard case .file(let path) = source else { return CommandError(.failed, error.cause) }
        let form = "at most 8 KiB of lines such as 'AA:BB:CC:DD:EE:FF 123456' or '* 123456', with mode 600"
        if isDirectory(path) {
            return CommandError(.failed, "\(sanitized(path)): \(text(strerror(EISDIR)))", next: form)
        }
        let failed = { (next: String?) in CommandError(.failed, "\(sanitized(path)): \(error.cause)", next: next) }
        switch Int(error.status) {
        case TENDON_ERROR_NOT_FOUND:
            return CommandError(.failed, "\(sanitized(path)): \(text(strerror(ENOENT)))", next: form)
        case TENDON_ERROR_OVERFLOW: return failed(form)
        case TENDON_ERROR_MALFORMED:
            let line = PairingChoice.wrongLine(of: path).map { ":\($0)" } ?? ""
            return CommandError(
                .failed, "\(sanitized(path))\(line): neither an address (or *) with six digits, nor a comment",
                next: form)
        case TENDON_ERROR_FILE_PERMISSION: return failed("chmod 600 \(sanitized(path)), as the user that it belongs to")
        default: return failed(nil)
        }
    }

    /// Which line of a file of passkeys is malformed: the library, which has read the file, reports only that one is.
    private static func wrongLine(of path: String) -> Int? {
        let lines = ((try? readFile(path, limit: 1 << 16)) ?? []).split(
            separator: 0x0A, omittingEmptySubsequences: false)
        let index = lines.firstIndex { line in
            let words = String(decoding: line.prefix { $0 != UInt8(ascii: "#") }, as: UTF8.self)
                .split(whereSeparator: \.isWhitespace).map(String.init)
            guard let device = words.first else { return false }
            return words.count != 2 || (device != "*" && Address(device) == nil) || Passkey(words[1]) == nil
        }
        return index.map { $0 + 1 }
    }
}

extension PairingAgent {
    /// Differs from what a central does without an agent.
    fileprivate var isDemanding: Bool {
        inputOutput != .noInputNoOutput || requiresAuthentication || requiresSecureConnections || minimumKeySize > 7
    }
}

/// Questions of pairing on the terminal: on standard error, answered by lines of standard input.
enum PairingQuestions {
    /// The peer's limit for one step of pairing (Core Specification, Vol 3 Part H 3.4).
    private static let patience: UInt64 = 30_000

    /// Of the last question: why there was no answer to it; nil: there was one, or nothing was asked.
    static var unanswered: String? { missing.withLock { $0 } }
    private static let missing = Mutex<String?>(nil)

    /// Whether a person can read the question and answer it.
    static var isPossible: Bool { isatty(STDIN_FILENO) == 1 && Output.error.isTerminal }

    static func answer(_ device: Address, _ question: PairingAgent.Question) async -> PairingAgent.Answer {
        switch question {
        case .show(let passkey):
            Output.error.line("enter \(passkey) at the device")
            return .accept
        case .compare(let passkey):
            let question = "does \(device) show \(passkey)? [yes/no] "
            return await ask(question, unless: "the passkeys were not compared in time") { line in
                switch line.lowercased() {
                case "y", "yes": .accept
                case "n", "no": .reject
                default: nil
                }
            }
        case .enter:
            PairingChoice.passkeyIsUsed.store(true, ordering: .relaxed)
            return await ask("passkey that \(device) shows: ", unless: "no passkey was entered in time") { line in
                Passkey(line).map { .passkey($0) }
            }
        }
    }

    private enum Line {
        /// Without blanks around it.
        case text(String)
        /// Standard input has ended: Ctrl-D.
        case end
        case late
    }

    /// Repeats the question until the answer is one.
    /// - Parameter late: what is missing then. It is so from the beginning: the device, or the command, may wait less long.
    private static func ask(
        _ question: String, unless late: String, _ parse: (String) -> PairingAgent.Answer?
    ) async -> PairingAgent.Answer {
        let deadline = tendon_monotonic_ms() + patience
        missing.withLock { $0 = late }
        while true {
            Output.error.write(question)
            switch await line(until: deadline) {
            case .text(let line):
                guard let answer = parse(line) else { continue }
                missing.withLock { $0 = nil }
                return answer
            case .end: missing.withLock { $0 = "pairing was cancelled: the input ended without an answer" }
            case .late: break
            }
            Output.error.line()
            return .reject
        }
    }

    /// One line of standard input.
    private static func line(until deadline: UInt64) async -> Line {
        await withCheckedContinuation { continuation in
            // A thread of its own: reading blocks.
            let number = TendonSupport.startThread { continuation.resume(returning: read(until: deadline)) }
            if number != 0 { continuation.resume(returning: .end) }
        }
    }

    private static func read(until deadline: UInt64) -> Line {
        var line: [UInt8] = []
        while line.count < 64 {
            let now = tendon_monotonic_ms()
            var waiting = pollfd(fd: STDIN_FILENO, events: Int16(POLLIN), revents: 0)
            var byte: UInt8 = 0
            guard now < deadline, poll(&waiting, 1, Int32(deadline - now)) > 0 else { return .late }
            guard systemRead(STDIN_FILENO, &byte, 1) == 1 else { return .end }
            if byte == 0x0A { break }
            line.append(byte)
        }
        return .text(trimmed(String(decoding: line, as: UTF8.self)))
    }
}
