// SPDX-License-Identifier: MIT
import CSystemProcess
import CTendon
import Foundation
import Synchronization
import TestSupport
import Testing

@testable import TendonCommand

#if canImport(Glibc)
    import Glibc
#else
    import Musl
#endif

/// How programs of rules end, with a kernel that tells it and with one that does not.
@Suite(.serialized) struct ProgramTests {
    private static let descriptors: [@Sendable (pid_t) -> Int32] = [{ tendon_process_descriptor($0) }, { _ in -1 }]

    private func result(_ command: String, _ timeout: String, _ runner: ProgramRunner) async -> ProgramRunner.Result {
        let program = Program("p", ["command": command, "timeout": timeout])
        return await withCheckedContinuation { continuation in
            runner.run(program, [:]) { continuation.resume(returning: $0) }
        }
    }

    /// The program counts as ended: its limit of processes is not used up.
    @Test func withoutAThread() async {
        let runner = ProgramRunner(descriptor: Self.descriptors[0])
        let program = Program("p", ["command": "/bin/true", "timeout": "10"])
        for _ in 0..<100 {
            var failures: [String?] = []
            _ = failing("pthread_create", with: EAGAIN) {
                let result = Mutex<ProgramRunner.Result?>(nil)
                runner.run(program, [:]) { ended in result.withLock { $0 = ended } }
                failures.append(result.withLock { $0?.failure })
            }
            #expect(failures == ["Resource temporarily unavailable"])
        }
        #expect(await result("/bin/true", "10", runner).failure == nil)
    }

    @Test(arguments: descriptors.indices)
    func ends(_ index: Int) async {
        let runner = ProgramRunner(descriptor: Self.descriptors[index])
        #expect(await result("/bin/true", "10", runner).failure == nil)
        #expect(await result("/bin/false", "10", runner).failure == "it ended with status 1")
        #expect(await result("/bin/kill -9 0", "10", runner).failure == "it was ended by signal 9")
        #expect(await result("/bin/no-such-program", "10", runner).failure != nil)
        let slow = await result("/bin/sleep 20", "0.1", runner)
        #expect(slow.failure == "it was ended after 0.1 s")
        #expect(slow.milliseconds >= 100 && slow.milliseconds < 15_000)
        // It does not listen to SIGTERM.
        let deaf = await result("/usr/bin/env --ignore-signal=TERM /bin/sleep 20", "0.1", runner)
        #expect(deaf.failure == "it was ended after 0.1 s")
        #expect(deaf.milliseconds >= 1100 && deaf.milliseconds < 15_000)
    }

    /// It has no limit of time any more.
    @Test func theGatewayEnds() async throws {
        let runner = ProgramRunner(descriptor: Self.descriptors[0])
        await runner.finish()
        let results = Mutex<[String: String?]>([:])
        func start(_ name: String, _ command: String) {
            runner.run(Program(name, ["command": command, "timeout": "100"]), [:]) { result in
                results.withLock { $0[name] = result.failure }
            }
        }
        start("short", "/bin/sleep 0.1")
        start("long", "/bin/sleep 60")
        start("deaf", "/usr/bin/env --ignore-signal=TERM /bin/sleep 60")
        let leaving = try script("/usr/bin/env --ignore-signal=TERM /bin/sleep 60 &\nexit 0\n")
        defer { try? FileManager.default.removeItem(atPath: leaving) }
        start("leaving", "/bin/sh " + leaving)
        let begun = ContinuousClock.now
        await runner.finish()
        let expected: [String: String?] = [
            "short": nil, "long": "it was ended with the gateway", "deaf": "it was ended with the gateway",
            "leaving": "it was ended with the gateway",
        ]
        #expect(results.withLock { $0 } == expected)
        #expect(ContinuousClock.now - begun > .milliseconds(1500))
    }

    /// Libraries open sockets without O_CLOEXEC.
    @Test func noDescriptorIsInherited() async throws {
        let path = NSTemporaryDirectory() + "tendon-program-\(UUID().uuidString)"
        let descriptors = [300, 300].map { fcntl(STDERR_FILENO, F_DUPFD, $0) }
        defer { for descriptor in descriptors { close(descriptor) } }
        try Data(
            "for each in \(descriptors[0]) \(descriptors[1]); do [ ! -e /proc/self/fd/$each ] || exit 1; done\n".utf8
        )
        .write(to: URL(fileURLWithPath: path))
        defer { try? FileManager.default.removeItem(atPath: path) }
        let runner = ProgramRunner(descriptor: Self.descriptors[0])
        #expect(await result("/bin/sh " + path, "10", runner).failure == nil)
    }

    /// What a program has started ends with it, although it ignores SIGTERM and the program does not.
    @Test(arguments: descriptors.indices)
    func whatItHasStartedEndsAsWell(_ index: Int) async throws {
        let path = NSTemporaryDirectory() + "tendon-program-\(UUID().uuidString)"
        defer { try? FileManager.default.removeItem(atPath: path) }
        // Read by the shell, not executed: a child of another test may still have it open for writing.
        try Data("/usr/bin/env --ignore-signal=TERM /bin/sleep 60 &\necho $! >\(path).id\nwait\n".utf8)
            .write(to: URL(fileURLWithPath: path))
        let runner = ProgramRunner(descriptor: Self.descriptors[index])
        #expect(await result("/bin/sh " + path, "2", runner).failure == "it was ended after 2 s")
        let text = try String(contentsOfFile: path + ".id", encoding: .utf8)
        let child = try #require(pid_t(text.dropLast()))
        await eventually("the child has ended") { kill(child, 0) != 0 }
        try FileManager.default.removeItem(atPath: path + ".id")
    }

    private func script(_ text: String) throws -> String {
        let path = NSTemporaryDirectory() + "tendon-program-\(UUID().uuidString)"
        try Data(text.utf8).write(to: URL(fileURLWithPath: path))
        return path
    }

    /// What it leaves in the background is a part of it: it counts, has the same limit of time, and a second for its end.
    @Test(arguments: descriptors.indices)
    func whatItLeavesBehindIsAPartOfIt(_ index: Int) async throws {
        let runner = ProgramRunner(descriptor: Self.descriptors[index])
        let short = try script("/bin/sleep 0.3 &\nexit 3\n")
        let cleaning = try script("( trap 'sleep 0.3; : >$0.cleaned; exit' TERM; sleep 60 & wait ) &\nexit 0\n")
        defer {
            for path in [short, cleaning, cleaning + ".cleaned"] { try? FileManager.default.removeItem(atPath: path) }
        }
        let ended = await result("/bin/sh " + short, "10", runner)
        #expect(ended.failure == "it ended with status 3")
        #expect(ended.milliseconds >= 300)
        let begun = tendon_monotonic_ms()
        let late = await result("/bin/sh " + cleaning, "1", runner)
        #expect(late.failure == "it was ended after 1 s")
        #expect(tendon_monotonic_ms() - begun >= 1300)
        #expect(FileManager.default.fileExists(atPath: cleaning + ".cleaned"))
    }

    /// One that has ended does not count, although its parent, which has left the group, does not wait for it.
    @Test func whatHasEndedIsNoProcess() async throws {
        let code =
            "import os,time\nif os.fork(): os._exit(0)\nif os.fork() == 0: os._exit(0)\nos.setsid()\ntime.sleep(8)\n"
        let path = try script(code)
        defer { try? FileManager.default.removeItem(atPath: path) }
        let runner = ProgramRunner(descriptor: Self.descriptors[0])
        let ended = await result("/usr/bin/python3 " + path, "5", runner)
        #expect(ended.failure == nil && ended.milliseconds < 5000)
    }

    /// The wait is for the descriptor: with one that says nothing, the end is seen at the limit of time only. It is closed.
    @Test func theDescriptorIsWaitedForAndClosed() async {
        var ends: [Int32] = [-1, -1]
        // A child of another test must not have them.
        #expect(socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0, &ends) == 0)
        let (reading, writing) = (ends[0], ends[1])
        let runner = ProgramRunner { _ in reading }
        let quiet = await result("/bin/sleep 0.05", "0.4", runner)
        #expect(quiet.failure == nil)
        #expect(quiet.milliseconds >= 400)
        var one = pollfd(fd: writing, events: Int16(POLLOUT), revents: 0)
        #expect(poll(&one, 1, 0) == 1)
        #expect(one.revents & Int16(POLLHUP) != 0)  // nobody reads any more
        close(writing)
    }
}
