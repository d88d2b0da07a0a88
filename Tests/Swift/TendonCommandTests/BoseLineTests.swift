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

    /// The numbers are those of the line, without its rounding; of what is no rotation there are no angles.
    @Test func theNumbersAreThoseOfTheLine() throws {
        var sample = tendon_bose_sample()
        sample.sensor_id = UInt8(TENDON_BOSE_ROTATION.rawValue)
        sample.has_quaternion = true
        sample.quaternion = tendon_quaternion(x: 0.9, y: 0.3, z: 0.2, w: 0.245)
        let numbers = try #require(BoseSampleLine(sample: sample, deviceTime: 7).numbers)
        let line = try line(0.9, 0.3, 0.2, 0.245)
        #expect(numbers.form.sensor == "rotation")
        #expect(numbers.form.channels.map(\.name) == ["x", "y", "z", "w", "pitch", "roll", "yaw"])
        #expect((0..<4).map { numbers[$0] } == [0.9, 0.3, 0.2, 0.245])
        for (channel, name) in [(4, "pitch_deg"), (5, "roll_deg"), (6, "yaw_deg")] {
            #expect(abs(numbers[channel] - (line[name]?.number ?? .nan)) <= 1e-9)
        }
        #expect(numbers.deviceTime == 7)
        #expect(numbers.head?.w == 0.9 && numbers.head?.x == -0.2)
        sample.quaternion = tendon_quaternion()
        #expect(try #require(BoseSampleLine(sample: sample, deviceTime: 0).numbers)[4].isNaN)
        sample.sensor_id = 200
        #expect(BoseSampleLine(sample: sample, deviceTime: 0).numbers == nil)
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
