// SPDX-License-Identifier: MIT
import Tendon
import Testing

@testable import TendonCommand

/// Counters of devices with several sessions: for another radio, or with other settings.
struct ReporterTests {
    private let device = Address(0xC000_0000_0001, type: .random)

    @Test func theCountersOfADeviceGoOn() {
        let reporter = Reporter()
        let row = reporter.add(DeviceLabel("bose", device))
        for session in 1...3 {
            reporter.update(row) { row in
                row.counters = StreamCounters(notifications: 10, samples: 20, delivered: 15, dropped: 5)
                row.wasConnected = true
            }
            #expect(reporter.notifications == UInt64(10 * session))
            #expect(reporter.total.samples == UInt64(20 * session))
            #expect(reporter.replace(row, with: DeviceLabel("bose", device)) == row)
            #expect(reporter.rows[row].counters == StreamCounters(), "of the new session")
            #expect(reporter.rows[row].wasConnected)
        }
        #expect(reporter.total.dropped == 15)
    }

    @Test func namesInLittleRoomDiffer() {
        #expect(Reporter.shortest(["pitch", "roll", "yaw"]) == ["p", "r", "y"])
        #expect(Reporter.shortest(["red", "green", "blue", "brightness"]) == ["r", "g", "bl", "br"])
        #expect(Reporter.shortest(["rate", "rate_hz", "", "same", "same"]) == ["rate", "rate_", "", "same", "same"])
    }

    @Test func anotherDeviceBeginsAtZero() {
        let reporter = Reporter()
        let row = reporter.add(DeviceLabel("bose", device))
        reporter.update(row) { $0.counters.samples = 7 }
        _ = reporter.replace(row, with: DeviceLabel("bose", Address(0xC000_0000_0002, type: .random)))
        #expect(reporter.total.samples == 0)
        #expect(!reporter.rows[row].wasConnected)
    }
}
