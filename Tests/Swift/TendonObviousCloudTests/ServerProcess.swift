// SPDX-License-Identifier: MIT
import Foundation
import Glibc
import Synchronization

/// A server in a process of its own. Its outputs go to files: nothing has to be read while it runs, and no thread or
/// callback of this process can outlive the object. It ends with the object, and with this process: its input ends then.
final class ServerProcess: Sendable {
    private let id: pid_t
    private let life: Int32
    /// Before its first line: it has no id any more.
    private let hasEnded = Atomic(false)
    /// Of standard output and standard error.
    private let files: [String]

    struct Failure: Error {}

    /// `outputs`: beginning of the names of both files. The first argument is the name of the program.
    init(_ program: String, _ arguments: [String], outputs: String) throws {
        files = [outputs + ".out", outputs + ".err"]
        Self.reap()
        let files = files
        // One after the other: no server inherits the input of another one.
        (id, life) = try Self.spawning.withLock { _ in try Self.spawn(program, arguments, files) }
    }

    private static let spawning = Mutex(())

    private static func spawn(
        _ program: String, _ arguments: [String], _ files: [String]
    ) throws -> (id: pid_t, life: Int32) {
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else { throw Failure() }
        defer { close(ends[0]) }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_adddup2(&actions, ends[0], 0)
        for (number, file) in files.enumerated() {
            posix_spawn_file_actions_addopen(&actions, Int32(number + 1), file, O_WRONLY | O_CREAT | O_TRUNC, 0o600)
        }
        let words = arguments.map { strdup($0) } + [nil]
        let variables = ProcessInfo.processInfo.environment.map { strdup("\($0.key)=\($0.value)") } + [nil]
        defer { (words + variables).forEach { free($0) } }
        var id: pid_t = 0
        guard posix_spawn(&id, program, &actions, nil, words, variables) == 0 else {
            close(ends[1])
            throw Failure()
        }
        return (id, ends[1])
    }

    /// The first line that it prints; empty if it ends before.
    func firstLine() async -> [UInt8] {
        let deadline = ContinuousClock.now + .seconds(120)
        while ContinuousClock.now < deadline {
            let text = contents(files[0])
            if let end = text.firstIndex(of: 10) { return Array(text[..<end]) }
            var status: Int32 = 0
            if waitpid(id, &status, WNOHANG) != 0 {
                hasEnded.store(true, ordering: .relaxed)
                return []
            }
            try? await Task.sleep(for: .milliseconds(5))
        }
        return []
    }

    /// What it printed so far.
    var printed: [UInt8] { files.flatMap(contents) }

    private func contents(_ file: String) -> [UInt8] {
        FileManager.default.contents(atPath: file).map(Array.init) ?? []
    }

    private static let ended = Mutex<[pid_t]>([])

    /// Without waiting: those that are still ending come with the next call.
    private static func reap() {
        ended.withLock { ended in
            ended.removeAll { id in
                var status: Int32 = 0
                return waitpid(id, &status, WNOHANG) != 0
            }
        }
    }

    deinit {
        close(life)
        for file in files { unlink(file) }
        guard !hasEnded.load(ordering: .relaxed) else { return }
        kill(id, SIGTERM)
        Self.ended.withLock { $0.append(id) }
        Self.reap()
    }
}
