// SPDX-License-Identifier: MIT
import TendonFeelSpace
import TendonSupport
import Testing

@testable import TendonCommand

/// Lines of a belt.
@Suite struct FeelspaceLineTests {
    private func battery(secondsLeft: Double) -> JSON {
        var status = FSBatteryStatus()
        (status.batteryLevel, status.batteryTteTtf) = (50, secondsLeft)
        return line(.battery(status))
    }

    private func line(_ update: FSCommandUpdate) -> JSON {
        var writer = LineWriter()
        FeelspaceLines.print(update) { name, members in
            writer.begin(name)
            members(&writer)
            writer.end()
        }
        return (try? JSON(parsing: writer.bytes)) ?? .null
    }

    /// The words of docs/events.md, whatever the vendor calls the values.
    @Test func theWordsOfAButton() {
        let short = line(.buttonPressed(.home, .shortPress, previousMode: .wait, newMode: .app))
        #expect(short["button"] == .string("home") && short["press"] == .string("short"))
        #expect(short["previous_mode"] == .string("wait") && short["mode"] == .string("app"))
        let long = line(.buttonPressed(.power, .longPress, previousMode: .pause, newMode: .standby))
        #expect(long["button"] == .string("power") && long["press"] == .string("long"))
        #expect(long["mode"] == .string("standby"))
    }

    @Test func aTimeThatTheValueCannotHoldIsNotKnown() {
        #expect(battery(secondsLeft: 65534 * 5.625)["time_left_s"] == .real(368628.75))
        #expect(battery(secondsLeft: 65535 * 5.625)["time_left_s"] == .null, "at least that")
        #expect(battery(secondsLeft: -1)["time_left_s"] == .null, "not reported")
    }
}
