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
        #expect(abs(q.normalized.length - 1) < 1e-12)
        #expect(Quaternion(x: 0, y: 0, z: 0, w: 0).normalized.w.isNaN)
        #expect(Quaternion(x: 0, y: 0, z: 0, w: 0).inverse.w.isNaN)
        #expect(Quaternion(ix: 1, iy: 2, iz: 3, r: 4) == Quaternion(x: 1, y: 2, z: 3, w: 4))
        #expect(Quaternion(x: 0.707107, y: 0, z: 0.707107, w: 0).headAngles.isNearGimbalLock)
    }

    @Test func names() {
        #expect(SensorType.allCases.map(\.rawValue) == Array(0..<7))
        #expect(SensorType(rawValue: 2) == .rotation && SensorType.unknown(9).rawValue == 9)
        #expect(SensorType.gameRotation.description == "game_rotation")
        #expect(GestureType.allCases.map(\.rawValue) == [0x80, 0x81, 0x82, 0x83, 0x84, 0xC0, 0xC1, 0xC2])
        #expect(GestureType.allCases.allSatisfy { GestureType(rawValue: $0.rawValue) == $0 })
        #expect(GestureType.unknown(0x90).rawValue == 0x90 && GestureType(rawValue: 0x90) == nil)
        #expect(SensorType(rawValue: 6) == .uncalibratedMagnetometer && SensorType(rawValue: 7) == nil)
        #expect(SensorType.all == SensorType.allCases && GestureType.all == GestureType.allCases)
        #expect(SamplePeriod.all.map(\.milliseconds) == [320, 160, 80, 40, 20, 10, 5])
        #expect(SamplePeriod.all.map(\.rawValue) == Array(0..<7))
        #expect(SamplePeriod(milliseconds: 40) == ._40ms && SamplePeriod(milliseconds: 41) == nil)
        #expect(SamplePeriod._5ms.description == "5 ms" && VectorAccuracy.medium.description == "medium")
    }

    @Test func suspensionReasonsAreSentences() {
        let texts = SuspensionReason.allCases.map(\.description)
        #expect(texts.allSatisfy { $0.hasPrefix("The sensors are suspended") && $0.hasSuffix(".") })
        #expect(Set(texts).count == texts.count)
    }

    @Test func status() {
        // Pairing required, suspended, reason 3.
        var status = DeviceStatus(rawValue: 0x300A)
        #expect(status.contains(.secureBLEPairingRequired) && !status.contains(.pairingEnabled))
        #expect(status.suspensionReason == .musicShareModeActive)
        #expect(status.description == "pairing required, suspended")
        status.suspensionReason = .vpaInteractionInProgress
        #expect(status.rawValue == 0x100A)
        #expect(DeviceStatus(rawValue: 0x3002).suspensionReason == .unknown, "not suspended")
    }

    /// Values that a phone's simd module has for the same arguments.
    @Test func simd() {
        let quarter = Quaternion(angle: .pi / 2, axis: Vector(0, 0, 1))
        #expect(abs(quarter.real - 0.5.squareRoot()) < 1e-12 && abs(quarter.imag.z - 0.5.squareRoot()) < 1e-12)
        #expect(abs(quarter.angle - .pi / 2) < 1e-12 && simd_distance(quarter.axis, Vector(0, 0, 1)) < 1e-12)
        #expect(simd_distance_squared(quarter.act(Vector(1, 0, 0)), Vector(0, 1, 0)) < 1e-20)
        #expect(quarter.conjugate == Quaternion(real: quarter.real, imag: -quarter.imag))
        let turn = Quaternion(from: Vector(0, 1, 0), to: Vector(0, 0, 1))
        #expect(simd_distance(turn.act(Vector(0, 1, 0)), Vector(0, 0, 1)) < 1e-12)
        for axis in [Vector(1, 0, 0), Vector(0, 1, 0)] {
            let half = Quaternion(from: axis, to: -axis)
            #expect(simd_distance(half.act(axis), -axis) < 1e-12 && abs(half.length - 1) < 1e-12)
        }
        #expect(simd_cross(Vector(1, 0, 0), Vector(0, 1, 0)) == Vector(0, 0, 1))
        #expect(simd_length(Vector(3, 0, 4)) == 5 && simd_normalize(Vector(0, 2, 0)) == Vector(0, 1, 0))
        #expect(Vector(1, 2, 3).float3 == SIMD3<Float>(1, 2, 3))
        #expect(Quaternion(x: 1, y: 2, z: 3, w: 4).quatf.vector == SIMD4<Float>(1, 2, 3, 4))
    }

    @Test func values() {
        let value = SensorValue(
            sensor: .rotation, timestamp: 7,
            sample: .rotation(
                value: Quaternion(x: 0, y: 0, z: 0, w: 1), accuracy: QuaternionAccuracy(estimatedAccuracy: 0.5)))
        #expect(value.deviceTime == 7 && value.debugDescription == "7 ms: rotation((0.0, 0.0, 0.0, 1.0), 0.5)")
        let gesture = GestureData(gesture: .headNod, timestamp: 9, payload: [1])
        #expect(gesture.deviceTime == 9 && gesture.payload == [1] && gesture.debugDescription == "9 ms: head_nod")
        let failed: CancellableResult<Int> = .failure(.deviceNotFound)
        #expect(failed.isFailure && failed.error == .deviceNotFound && failed.value == nil && !failed.isCancelled)
        #expect(CancellableResult.success(3).value == 3 && CancellableResult<Int>.cancelled.isCancelled)
        #expect(
            BoseWearableError.ErrorCode.timeout.errorDescription == BoseWearableError.service(.timeout).errorDescription
        )
    }
}

/// The deprecated properties without their warning.
private protocol OldAngles {
    var pitch: Double { get }
    var roll: Double { get }
    var yaw: Double { get }
}

extension Quaternion: OldAngles {}
