// SPDX-License-Identifier: MIT
import CTendon
import TendonSupport
import Testing

@testable import TendonCommand

/// Lines of a rotation.
@Suite struct BoseLineTests {
    private func line(_ x: Double, _ y: Double, _ z: Double, _ w: Double) throws -> JSON {
        var sample = tendon_bose_sample()
        sample.sensor_id = UInt8(TENDON_BOSE_ROTATION.rawValue)
        sample.has_quaternion = true
        sample.quaternion = tendon_quaternion(x: x, y: y, z: z, w: w)
        var writer = LineWriter()
        writer.begin("sample" as EventName)
        BoseSampleLine(sample: sample, deviceTime: 1).write(to: &writer)
        writer.end()
        return try JSON(parsing: writer.bytes)
    }

    @Test func aLevelHead() throws {
        let line = try line(1, 0, 0, 0)
        #expect(line["pitch_deg"] == 0.0 && line["norm"] == nil && line["near_gimbal_lock"] == nil)
    }

    /// Not an orientation that anybody could have.
    @Test(
        arguments: [(0, 0, 0, 0, 0), (0, 1, -1, 0, 2.squareRoot()), (0.5, 0, 0, 0, 0.5)]
            as [(Double, Double, Double, Double, Double)])
    func whatIsNoRotation(x: Double, y: Double, z: Double, w: Double, norm: Double) throws {
        let line = try line(x, y, z, w)
        for name in ["pitch_deg", "roll_deg", "yaw_deg"] { #expect(line[name] == .null) }
        #expect(line["norm"]?.number == norm)
    }

    /// An ear on the shoulder.
    @Test func nearThePole() throws {
        let line = try line(0.5.squareRoot(), 0, 0.5.squareRoot(), 0)
        #expect(line["near_gimbal_lock"] == true)
        #expect(abs(abs(line["roll_deg"]?.number ?? 0) - 90) < 0.001 && line["norm"] == nil)
    }
}
