// SPDX-License-Identifier: MIT
// Programs that the configuration names, executed by rules: without a shell, for a bounded time, a bounded number at once.
import CSystemProcess
import CTendon
import Synchronization
import TendonSupport

#if canImport(Glibc)
    import Glibc
#else
    import Musl
#endif

/// A section [program NAME].
struct Program: Sendable {
    /// Absolute path, then arguments; never interpreted by a shell.
    var command: [String]
    /// Milliseconds after which it is ended.
    var timeout: UInt64
    /// Maximum number of its processes at the same time.
    var limit: Int
    var name: String

    static let command = Option(
        name: "", value: "PATH [ARGUMENT...]",
        help: "program that `exec NAME` executes, and its arguments, separated by white space; no shell is used",
        takes: .parsed { (text) throws(CommandError) in try check(text) },
        setting: Setting("program", key: "command", isPrivate: true))
    static let timeout = Option(
        name: "", value: "SECONDS", help: "time after which the program is ended", standard: "10",
        takes: .seconds(0.1...3600), setting: Setting("program", key: "timeout"))
    static let limit = Option(
        name: "", value: "N", help: "maximum number of its processes at the same time; further executions fail",
        standard: "1", takes: .integer(1...16), setting: Setting("program", key: "at-most"))
    static let settings = [command, timeout, limit]

    private static func check(_ text: String) throws(CommandError) {
        let path = text.split(whereSeparator: \.isWhitespace).first.map(String.init) ?? ""
        guard path.hasPrefix("/") else { throw .usage("it takes an absolute path, not '\(sanitized(path))'") }
        guard access(path, X_OK) == 0 else {
            let (number, isFile) = (errno, access(path, F_OK) == 0)
            throw .usage(
                "'\(sanitized(path))': \(TendonSupport.text(strerror(number)))"
                    + (isFile ? "; 'chmod +x \(sanitized(path))' permits to execute it" : ""))
        }
        guard !isDirectory(path) else { throw .usage("'\(sanitized(path))' is a directory, not a program") }
    }

    /// - Parameter values: of the section, by key; checked.
    init(_ name: String, _ values: [String: String]) {
        func value(_ row: Option) -> String { values[row.key] ?? row.standard ?? "" }
        self.name = name
        command = value(Program.command).split(whereSeparator: \.isWhitespace).map(String.init)
        let seconds = try? TendonCommand.seconds(value(Program.timeout), in: 0.1...3600, called: "")
        timeout = UInt64((seconds ?? 0) * 1000)
        limit = parseInteger(value(Program.limit)) ?? 1
    }
}

/// Executes programs, each on a thread of its own.
final class ProgramRunner: Sendable {
    struct Result: Sendable {
        /// Nil: it ended with status 0.
        var failure: String?
        var milliseconds: UInt64
    }

    private struct State {
        /// Number of processes by program.
        var running: [String: Int] = [:]
        /// Process groups of those that run.
        var groups: Set<pid_t> = []
        /// Executions whose result has not been passed on.
        var open = 0
        var isEnding = false
    }

    private let state = Mutex(State())
    /// Of all programs together.
    private static let limit = 16
    /// Milliseconds from SIGTERM to SIGKILL.
    private static let patience: UInt64 = 1000
    /// Milliseconds that programs have when the gateway ends.
    private static let grace: UInt64 = 1000
    /// Milliseconds from one look to the next, if the kernel does not tell when a process ends.
    private static let pause: UInt64 = 10
    /// Microseconds from one look at what a program has left behind to the next.
    private static let look: UInt32 = 50_000

    /// A descriptor that is readable when the process has ended; below 0: there is none.
    private let descriptor: @Sendable (pid_t) -> Int32

    init(descriptor: @escaping @Sendable (pid_t) -> Int32 = { tendon_process_descriptor($0) }) {
        self.descriptor = descriptor
    }

    /// Never blocks. `done` is called once, from any thread.
    func run(_ program: Program, _ variables: [String: String], done: @escaping @Sendable (Result) -> Void) {
        let isFree = state.withLock { state in
            guard state.running[program.name, default: 0] < program.limit,
                state.running.values.reduce(0, +) < ProgramRunner.limit
            else { return false }
            state.running[program.name, default: 0] += 1
            state.open += 1
            return true
        }
        guard isFree else {
            return done(Result(failure: "the maximum number of its processes is running", milliseconds: 0))
        }
        let number = startThread { [self] in
            let start = tendon_monotonic_ms()
            let failure = execute(program, variables)
            state.withLock { $0.running[program.name, default: 1] -= 1 }
            done(Result(failure: failure, milliseconds: tendon_monotonic_ms() - start))
            state.withLock { $0.open -= 1 }
        }
        if number != 0 {
            state.withLock { state in
                state.running[program.name, default: 1] -= 1
                state.open -= 1
            }
            done(Result(failure: TendonSupport.text(strerror(number)), milliseconds: 0))
        }
    }

    /// The end of the gateway, after which there is no limit of time any more. They can end by themselves at first; then they
    /// are ended as after that limit. Returns when the results of all have been passed on.
    func finish() async {
        let open = state.withLock { $0.open }
        if open > 0 { Log.write(.warning, "the programs of rules have a second to end: \(open)") }
        await wait(ProgramRunner.grace)
        for (signal, time) in [(SIGTERM, ProgramRunner.patience / 2), (SIGKILL, ProgramRunner.patience / 2)] {
            state.withLock { state in
                state.isEnding = true
                for group in state.groups { kill(-group, signal) }
            }
            await wait(time)
        }
    }

    /// Until nothing is executed, at most for so many milliseconds.
    private func wait(_ milliseconds: UInt64) async {
        let end = tendon_monotonic_ms() + milliseconds
        while state.withLock({ $0.open > 0 }), tendon_monotonic_ms() < end {
            try? await Task.sleep(for: .milliseconds(ProgramRunner.pause))
        }
    }

    /// Returns what failed; nil: nothing.
    private func execute(_ program: Program, _ variables: [String: String]) -> String? {
        let environment = variables.map { "\($0.key)=\($0.value)" } + ["PATH=/usr/bin:/bin"]
        var process: pid_t = 0
        // Of this thread only.
        _ = tendon_clear_ambient_capabilities()
        let number = ProgramRunner.spawn(program.command, environment, &process)
        guard number == 0 else { return ProgramRunner.reason(number, program.command[0]) }
        state.withLock { state in _ = state.groups.insert(process) }
        let end = tendon_monotonic_ms() + program.timeout
        let isOver = descriptor(process)
        defer { if isOver >= 0 { close(isOver) } }
        var ending: Int32?
        var isLate = false, isKilled = false, isLeft = false
        while true {
            if ending == nil, ProgramRunner.hasEnded(process) { ending = ProgramRunner.status(of: process) }
            // What it has started and left behind is a part of it.
            if ending != nil {
                guard ProgramRunner.hasProcesses(process) else { break }
                isLeft = true
            }
            let now = tendon_monotonic_ms()
            if now >= end, !isLate {
                isLate = true
                kill(-process, SIGTERM)
            } else if now >= end + ProgramRunner.patience, !isKilled {
                isKilled = true
                kill(-process, SIGKILL)
            } else if now >= end + 2 * ProgramRunner.patience, ending != nil {
                break  // what even SIGKILL does not end waits for a disk
            }
            // A killed process ends soon, whatever it does.
            let next = isKilled ? now + ProgramRunner.pause : isLate ? end + ProgramRunner.patience : end
            if isLeft { usleep(ProgramRunner.look) } else { ProgramRunner.wait(isOver, until: next, from: now) }
        }
        let isEnding = state.withLock { state in
            state.groups.remove(process)
            return state.isEnding
        }
        if isLate {
            return "it was ended after \(plain(Double(program.timeout) / 1000)) s"
        }
        guard let ending else { return nil }
        if isEnding, isLeft { return "it was ended with the gateway" }
        if ending & 0x7F != 0 {
            return isEnding ? "it was ended with the gateway" : "it was ended by signal \(ending & 0x7F)"
        }
        let status = ending >> 8 & 0xFF
        return status == 0 ? nil : "it ended with status \(status)"
    }

    /// Why a program did not start. Of a script the kernel reports what became of its interpreter, as if the script itself
    /// were missing.
    private static func reason(_ number: Int32, _ path: String) -> String {
        let reason = TendonSupport.text(strerror(number))
        guard [ENOENT, ENOTDIR, EACCES, ENOEXEC].contains(number), let line = firstLine(path) else { return reason }
        if line.hasPrefix("#!") { return "its first line names no program: '\(sanitized(line))': \(reason)" }
        guard number == ENOEXEC else { return reason }
        return "\(reason): a script begins with #! and its interpreter, such as #!/bin/sh"
    }

    /// Its beginning at least; nil: it cannot be read.
    private static func firstLine(_ path: String) -> String? {
        let file = open(path, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return nil }
        defer { close(file) }
        var bytes = [UInt8](repeating: 0, count: 100)
        let count = read(file, &bytes, bytes.count)
        return String(decoding: bytes.prefix(max(count, 0)).prefix { $0 != 0x0A && $0 != 0x0D }, as: UTF8.self)
    }

    /// It stays to be waited for.
    private static func hasEnded(_ process: pid_t) -> Bool {
        var ending = siginfo_t()
        let code = waitid(P_PID, id_t(process), &ending, WEXITED | WNOHANG | WNOWAIT)
        // 0: it goes on.
        return code == 0 && ending.si_signo != 0 || code != 0 && errno != EINTR
    }

    /// Waits for a process that has ended.
    private static func status(of process: pid_t) -> Int32 {
        var status: Int32 = 0
        while waitpid(process, &status, 0) < 0, errno == EINTR {}
        return status
    }

    /// Whether its group has any. Its number is no other group's as long as it has; after that, not before the kernel has
    /// given all other numbers.
    private static func hasProcesses(_ group: pid_t) -> Bool {
        // Process 1 of a container is the parent of those that have lost theirs.
        while waitpid(-group, nil, WNOHANG) > 0 {}
        guard kill(-group, 0) == 0 || errno == EPERM else { return false }
        // One that has ended stays in it until its parent, which may be in no hurry, has waited for it.
        return fileNames(in: "/proc").contains { pid_t($0) != nil && isRunning("/proc/\($0)/stat", in: group) }
    }

    /// By `NUMBER (NAME) STATE PARENT GROUP ...`, as proc(5) has it. A name can have any character.
    private static func isRunning(_ path: String, in group: pid_t) -> Bool {
        let fields = firstLine(path)?.split(separator: ")").last?.split(separator: " ") ?? []
        return fields.count > 2 && fields[2] == "\(group)" && fields[0] != "Z" && fields[0] != "X"
    }

    /// Until the process has ended or the time has come; without a descriptor, for one pause.
    private static func wait(_ isOver: Int32, until next: UInt64, from now: UInt64) {
        guard isOver >= 0 else {
            usleep(UInt32(pause) * 1000)
            return
        }
        var one = pollfd(fd: isOver, events: Int16(POLLIN), revents: 0)
        _ = poll(&one, 1, Int32(clamping: next > now ? next - now : 1))
    }

    /// In a process group of its own, with empty input, no output, no other descriptor, default signals and no
    /// capabilities.
    private static func spawn(_ command: [String], _ environment: [String], _ process: inout pid_t) -> Int32 {
        var actions = posix_spawn_file_actions_t()
        var attributes = posix_spawnattr_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0)
        posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0)
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        var signals = sigset_t()
        sigemptyset(&signals)
        posix_spawnattr_setsigmask(&attributes, &signals)
        for signal in [SIGPIPE, SIGXFSZ, SIGINT, SIGQUIT, SIGTERM, SIGHUP] { sigaddset(&signals, signal) }
        posix_spawnattr_setsigdefault(&attributes, &signals)
        posix_spawnattr_setpgroup(&attributes, 0)
        let flags = Int32(POSIX_SPAWN_SETPGROUP) | Int32(POSIX_SPAWN_SETSIGDEF) | Int32(POSIX_SPAWN_SETSIGMASK)
        posix_spawnattr_setflags(&attributes, Int16(flags))
        // A socket of a library that lives on in a program would keep its peers waiting for this one.
        tendon_close_on_exec_from(UInt32(STDERR_FILENO) + 1)
        return withStrings(command) { arguments in
            withStrings(environment) { variables in
                posix_spawn(&process, command[0], &actions, &attributes, arguments, variables)
            }
        }
    }

    /// As an array of C strings that ends with NULL.
    private static func withStrings(
        _ strings: [String], _ body: (UnsafePointer<UnsafeMutablePointer<CChar>?>) -> Int32
    ) -> Int32 {
        let pointers = strings.map { strdup($0) } + [nil]
        defer { for pointer in pointers { free(pointer) } }
        return pointers.withUnsafeBufferPointer { body($0.baseAddress!) }
    }
}
