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
        var writer = LineWriter()
        FeelspaceLines.print(.battery(status)) { name, members in
            writer.begin(name)
            members(&writer)
            writer.end()
        }
        return (try? JSON(parsing: writer.bytes)) ?? .null
    }

    @Test func aTimeThatTheValueCannotHoldIsNotKnown() {
        #expect(battery(secondsLeft: 65534 * 5.625)["time_left_s"] == .real(368628.75))
        #expect(battery(secondsLeft: 65535 * 5.625)["time_left_s"] == .null, "at least that")
        #expect(battery(secondsLeft: -1)["time_left_s"] == .null, "not reported")
    }
}
