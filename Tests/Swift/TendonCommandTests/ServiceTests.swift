// SPDX-License-Identifier: MIT
import TendonSupport
import TestSupport
import Testing

@testable import TendonCommand

#if canImport(Glibc)
    import Glibc
#else
    import Musl
#endif

/// What the variables of the service manager mean. The messages themselves: Tests/Command/service.sh.
@Suite struct ServiceTests {
    @Test func aManagerIsASocketWithAPathOrAnAbstractName() {
        #expect(ServiceManager(socket: "/run/systemd/notify").isPresent)
        #expect(ServiceManager(socket: "@name").isPresent)
        #expect(!ServiceManager(socket: nil).isPresent)
        #expect(!ServiceManager(socket: "").isPresent)
        #expect(!ServiceManager(socket: "relative").isPresent)
        #expect(!ServiceManager(socket: "/" + String(repeating: "x", count: 200)).isPresent)
    }

    @Test func aSignOfLifeAtHalfOfTheTime() {
        #expect(ServiceManager(socket: "/s", watchdog: "30000000").heartbeat == 15000)
        #expect(ServiceManager(socket: "/s", watchdog: "1").heartbeat == 1)
        #expect(ServiceManager(socket: "/s").heartbeat == nil)
        #expect(ServiceManager(socket: "/s", watchdog: "soon").heartbeat == nil)
        // Of another process: this one inherited the variable.
        #expect(ServiceManager(socket: "/s", watchdog: "30000000", of: "1").heartbeat == nil)
    }

    @Test func theJournalGetsALevel() {
        #expect(Log.line(.warning, "text", isJournal: true) == "<4>text")
        #expect(Log.line(.warning, "text", isJournal: false) == "tendon: text")
        #expect(!Log.isJournal(nil, 2))
        #expect(!Log.isJournal("1:1", 2))
        #expect(!Log.isJournal("1:1", -1))
    }

    /// Messages that are dropped because standard error is not read are told when it is read again, or at the end.
    @Test func lostMessagesAreTold() async {
        var ends: [Int32] = [-1, -1]
        #expect(pipe(&ends) == 0)
        let (reader, writer) = (ends[0], ends[1])
        defer { for end in [reader, writer] { close(end) } }
        _ = fcntl(reader, F_SETFL, O_NONBLOCK)
        let output = LineOutput(descriptor: writer)
        let messages = Messages(output)
        let long = String(repeating: "x", count: 1 << 20)
        func read(_ total: Int) async -> String {
            var bytes: [UInt8] = []
            var chunk = [UInt8](repeating: 0, count: 1 << 16)
            await eventually("\(total) bytes") {
                while bytes.count < total {
                    let count = Glibc.read(reader, &chunk, chunk.count)
                    guard count > 0 else { return false }
                    bytes += chunk[..<count]
                }
                return true
            }
            return String(decoding: bytes, as: UTF8.self)
        }
        /// The thread stands in the first message, the second fills the buffer, the others are lost.
        func lose(_ count: Int) async {
            messages.add(long)
            await eventually("the thread writes") {
                var wait = pollfd(fd: reader, events: Int16(POLLIN), revents: 0)
                return poll(&wait, 1, 0) == 1
            }
            messages.add(long)
            for _ in 0..<count { messages.add("lost") }
            _ = await read(2 * (long.utf8.count + 1))
        }
        func notice(_ count: Int) -> String {
            Log.line(.warning, "standard error was not read; messages lost: \(count)\n", isJournal: Log.isJournal)
        }
        messages.add("first")
        #expect(await read(6) == "first\n")
        await lose(2)
        #expect(output.dropped == 2)
        messages.add("next")
        #expect(await read(notice(2).utf8.count + 5) == notice(2) + "next\n")
        await lose(1)
        let isTold = messages.finish(patience: 20_000)
        #expect(await read(notice(1).utf8.count) == notice(1) && isTold)
        messages.add(long)
        let isRead = messages.finish(patience: 50)
        #expect(!isRead)
        _ = await read(long.utf8.count + 1)
    }

    @Test func eventsOfALevelAndAboveAreLogged() {
        let output = LogOutput()
        let before = Log.level
        defer { Log.level = before }
        Log.level = .warning
        #expect(output.takes("connect_failed", of: nil))
        #expect(!output.takes("connected", of: nil))
        Log.level = .debug
        #expect(output.takes("connected", of: nil))
        #expect(output.takes("battery", of: nil))
        #expect(!output.takes("sample", of: nil))
    }
}
