// SPDX-License-Identifier: MIT
import Testing

@testable import TendonCommand

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
