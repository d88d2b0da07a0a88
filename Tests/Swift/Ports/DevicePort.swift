// SPDX-License-Identifier: MIT
import Tendon
import TendonBose
import TestSupport
import Testing

/// Shows where the head points, by the guide's mapping.
private final class HeadingModel: SensorDispatchHandler {
    private let qMap = Quaternion(ix: 1, iy: 0, iz: 0, r: 0)
    let dispatch = SensorDispatch(queue: .loop)
    private(set) var angles: [(pitch: Double, roll: Double, yaw: Double, time: SensorTimestamp)] = []
    private(set) var gestures: [GestureType] = []

    init() { dispatch.handler = self }

    func receivedRotation(quaternion: Quaternion, accuracy: QuaternionAccuracy, timestamp: SensorTimestamp) {
        let qResult = quaternion * qMap
        angles.append((qResult.xRotation, qResult.yRotation, -qResult.zRotation, timestamp))
    }

    func receivedGesture(type: GestureType, timestamp: SensorTimestamp) { gestures.append(type) }
}

@Suite(.timeLimit(.minutes(1)))
struct DevicePort {
    @Test @TendonActor func mapping() async throws {
        let here = try await Surroundings()
        let session = try await here.library.startConnection()
        let device = try #require(session.device)
        let model = HeadingModel()
        try await device.configureSensorsAndWait { $0.enable(sensor: .rotation, at: ._20ms) }
        await eventually("angles") { model.angles.count >= 20 }
        for angle in model.angles {
            let truth = SimulatedWearable.pose(at: UInt64(angle.time))
            #expect(abs(angle.pitch - truth.pitch) < 0.002)
            #expect(abs(angle.roll + truth.roll) < 0.002, "the guide's roll is to the right shoulder")
            #expect(abs(angle.yaw - truth.yaw) < 0.002)
        }
        await session.closeAndWait()
    }

    /// The old properties of the raw quaternion.
    @Test @TendonActor func oldAngles() async throws {
        let here = try await Surroundings()
        let session = try await here.library.startConnection()
        let device = try #require(session.device)
        let values = device.sensorData()
        try await device.configureSensorsAndWait { $0.enable(sensor: .rotation, at: ._40ms) }
        var iterator = values.timeout(.seconds(5)).makeAsyncIterator()
        let value = try #require(try await iterator.next())
        let quaternion: any OldAngles = try #require(value.sample.quaternion)
        let truth = SimulatedWearable.pose(at: value.deviceTime)
        #expect(abs(quaternion.pitch - truth.pitch) < 0.002)
        #expect(abs(quaternion.roll - truth.roll) < 0.002)
        #expect(abs(quaternion.yaw - truth.yaw) < 0.002)
    }

    @Test @TendonActor func gestures() async throws {
        let here = try await Surroundings()
        let session = try await here.library.startConnection(
            gestureIntent: GestureIntent(gestures: [.doubleTap, .headNod]))
        let device = try #require(session.device)
        let model = HeadingModel()
        try await device.configureGesturesAndWait { configuration in
            configuration.disableAll()
            configuration.set(gesture: .doubleTap, enabled: true)
        }
        try await here.wearable.perform(.doubleTap)
        await eventually("a gesture") { model.gestures.contains(.doubleTap) }
    }

    @Test @TendonActor func intents() async throws {
        let here = try await Surroundings()
        let sensorIntent = SensorIntent(sensors: [.rotation, .gyroscope], samplePeriods: [._20ms, ._40ms])
        let gestureIntent = GestureIntent(gestures: [.headNod])
        let session = try await here.library.startConnection(
            sensorIntent: sensorIntent, gestureIntent: gestureIntent)
        let device = try #require(session.device)
        try device.checkIntents(sensor: sensorIntent, gesture: gestureIntent)
        #expect(throws: IntentsCheckFailed.self) {
            try device.checkIntents(sensor: SensorIntent(sensors: [.orientation]), gesture: nil)
        }
    }

    @Test @TendonActor func firmwareVersion() async throws {
        var options = SimulatedWearable.Options()
        options.firmware = "2.1.4"
        let here = try await Surroundings(options) { configuration in
            configuration.firmwareChecker = { _, installed in installed == "2.1.4" ? .upToDate : .available }
        }
        let session = try await here.library.startConnection()
        let version = try #require(session.device).firmwareVersion
        #expect(version?.version == "2.1.4")
        #expect(version?.check == .upToDate)
    }

    @Test @TendonActor func suspension() async throws {
        let here = try await Surroundings()
        let session = try await here.library.startConnection()
        let device = try #require(session.device)
        var shown: [String] = []
        let token = device.addEventListener { event in
            switch event {
            case .didSuspendWearableSensorService(let reason):
                shown.append(reason == .musicShareModeActive ? "sharing music" : "suspended")
            case .didResumeWearableSensorService: shown.append("resumed")
            default: break
            }
        }
        await here.wearable.suspend(.musicShareModeActive)
        await eventually("suspended") { shown == ["sharing music"] }
        await here.wearable.resume()
        await eventually("resumed") { shown == ["sharing music", "resumed"] }
        token.cancel()
    }

    @Test @TendonActor func withoutHardware() async throws {
        let library = BoseWearable(BoseWearable.Configuration())
        let session = try await library.makeSimulatedSession()
        #expect(session.device == nil)
        try await session.openAndWait()
        #expect(session.device?.name == "LE-Bose Frames")
        await session.closeAndWait()
    }
}

/// The deprecated properties without their warning.
private protocol OldAngles {
    var pitch: Double { get }
    var roll: Double { get }
    var yaw: Double { get }
}

extension Quaternion: OldAngles {}
