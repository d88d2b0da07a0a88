// SPDX-License-Identifier: MIT
import TendonBose
import Testing

/// The table of docs/protocols/bose.md 3.5, degrees.
private struct Pose: Sendable {
    let name: String
    let q: Quaternion
    let guide: (pitch: Double, roll: Double, yaw: Double)
}

private let poses = [
    Pose(name: "level", q: Quaternion(x: 1, y: 0, z: 0, w: 0), guide: (0, 0, 0)),
    Pose(name: "up", q: Quaternion(x: 0.984808, y: 0, z: 0, w: -0.173648), guide: (20, 0, 0)),
    Pose(name: "left", q: Quaternion(x: 0.991445, y: 0, z: 0.130526, w: 0), guide: (0, -15, 0)),
    Pose(name: "right", q: Quaternion(x: 0.965926, y: -0.258819, z: 0, w: 0), guide: (0, 0, 30)),
    Pose(
        name: "all", q: Quaternion(x: 0.920379, y: -0.314916, z: -0.006213, w: -0.231715),
        guide: (25.3376, 9.0548, 35.7383)),
]

private func degrees(_ radians: Double) -> Double { radians * 180 / .pi }

struct MotionTests {
    @Test(arguments: poses.indices) func anglesOfThePoses(index: Int) {
        let pose = poses[index]
        let mapped = pose.q * Quaternion(ix: 1, iy: 0, iz: 0, r: 0)
        #expect(abs(degrees(mapped.xRotation) - pose.guide.pitch) < 0.001)
        #expect(abs(degrees(mapped.yRotation) - pose.guide.roll) < 0.001)
        #expect(abs(degrees(-mapped.zRotation) - pose.guide.yaw) < 0.001)
        let (guide, head) = (pose.q.guideAngles, pose.q.headAngles)
        #expect(abs(degrees(guide.pitch) - pose.guide.pitch) < 0.001)
        #expect(abs(degrees(guide.roll) - pose.guide.roll) < 0.001)
        #expect(abs(degrees(guide.yaw) - pose.guide.yaw) < 0.001)
        #expect(head.pitch == guide.pitch && head.yaw == guide.yaw && head.roll == -guide.roll)
    }

    @Test(arguments: poses.indices)
    func oldAngles(index: Int) {
        let pose = poses[index]
        let old: any OldAngles = pose.q
        #expect(abs(degrees(old.pitch) - pose.guide.pitch) < 0.001)
        #expect(abs(degrees(old.roll) + pose.guide.roll) < 0.001)
        #expect(abs(degrees(old.yaw) - pose.guide.yaw) < 0.001)
    }

    @Test func algebra() throws {
        let q = Quaternion(x: 0.5, y: -0.25, z: 1, w: 2)
        let one = q * q.inverse
        #expect(abs(one.w - 1) < 1e-12 && abs(one.x) < 1e-12 && abs(one.y) < 1e-12 && abs(one.z) < 1e-12)
        #expect(abs(try #require(q.normalized).norm - 1) < 1e-12)
        #expect(Quaternion(x: 0, y: 0, z: 0, w: 0).normalized == nil)
        #expect(Quaternion(x: 0, y: 0, z: 0, w: 0).inverse.w.isNaN)
        #expect(Quaternion(ix: 1, iy: 2, iz: 3, r: 4) == Quaternion(x: 1, y: 2, z: 3, w: 4))
        #expect(Quaternion(x: 0.707107, y: 0, z: 0.707107, w: 0).headAngles.isNearGimbalLock)
    }

    @Test func names() {
        #expect(SensorType.allCases.map(\.id) == Array(0..<7))
        #expect(SensorType(id: 2) == .rotation && SensorType(id: 9) == .unknown(9))
        #expect(SensorType.gameRotation.description == "game_rotation")
        #expect(GestureType.allCases.map(\.id) == [0x80, 0x81, 0x82, 0x83, 0x84, 0xC0, 0xC1, 0xC2])
        #expect(GestureType.allCases.allSatisfy { GestureType(id: $0.id) == $0 })
        #expect(GestureType(id: 0x90).id == 0x90)
        #expect(SamplePeriod.allCases.map(\.milliseconds) == [320, 160, 80, 40, 20, 10, 5])
    }
}

/// The deprecated properties without their warning.
private protocol OldAngles {
    var pitch: Double { get }
    var roll: Double { get }
    var yaw: Double { get }
}

extension Quaternion: OldAngles {}
