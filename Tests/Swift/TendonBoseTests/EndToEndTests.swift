// SPDX-License-Identifier: MIT
import Tendon
import TendonBose
import TestSupport
import Testing

/// Over the virtual radio, against the simulated wearable.
@Suite(.serialized, .timeLimit(.minutes(1)))
struct EndToEndTests {
    @Test func samplesAgreeWithTheScript() async throws {
        let site = try await Site()
        let session = try await site.boseWearable().startConnection()
        let device = try #require(await session.device)
        #expect(device.name == "LE-Bose Frames")
        #expect(await device.wearableDeviceInformation?.productInfo.idName == "Bose Frames")
        let samples = device.sensorData()
        try await device.configureSensorsAndWait { $0.enable(sensor: .rotation, at: ._20ms) }
        var count = 0
        var times: [UInt64] = []
        for try await value in samples {
            let quaternion = try #require(value.sample.quaternion)
            let pose = SimulatedWearable.pose(at: value.deviceTime)
            let angles = quaternion.headAngles
            #expect(abs(angles.pitch - pose.pitch) < 0.002)
            #expect(abs(angles.roll - pose.roll) < 0.002)
            #expect(abs(angles.yaw - pose.yaw) < 0.002)
            times.append(value.deviceTime)
            count += 1
            if count == 25 { break }
        }
        #expect(zip(times, times.dropFirst()).allSatisfy { $1 - $0 == 20 })
        await session.closeAndWait()
        #expect(await !session.isOpen)
        await eventually("the device sees us go") { await site.wearable.connections == 0 }
    }
}
