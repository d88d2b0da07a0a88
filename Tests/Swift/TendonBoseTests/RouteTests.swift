// SPDX-License-Identifier: MIT
import CTendon
import Tendon
import TestSupport
import Testing

@testable import TendonBose

/// Where samples go: every sensor with every value, to its own callback and its own method.
@Suite struct RouteTests {
    private final class Calls: @unchecked Sendable {
        // Used only on the loop's thread.
        var all: [String] = []
    }

    @TendonActor
    private final class Handler: SensorDispatchHandler {
        let calls: Calls
        init(_ calls: Calls) { self.calls = calls }

        private func text(_ v: Vector) -> String { "\(v.x) \(v.y) \(v.z)" }
        private func text(_ q: Quaternion) -> String { "\(q.x) \(q.y) \(q.z) \(q.w)" }
        func receivedSensorData(_ data: SensorData) { calls.all.append("handler data \(data.values.count)") }
        func receivedAccelerometer(vector: Vector, accuracy: VectorAccuracy, timestamp: SensorTimestamp) {
            calls.all.append("handler accelerometer \(text(vector)) \(accuracy.rawValue) \(timestamp)")
        }
        func receivedGyroscope(vector: Vector, accuracy: VectorAccuracy, timestamp: SensorTimestamp) {
            calls.all.append("handler gyroscope \(text(vector)) \(accuracy.rawValue) \(timestamp)")
        }
        func receivedRotation(quaternion: Quaternion, accuracy: QuaternionAccuracy, timestamp: SensorTimestamp) {
            calls.all.append("handler rotation \(text(quaternion)) \(accuracy.estimatedAccuracy) \(timestamp)")
        }
        func receivedGameRotation(quaternion: Quaternion, timestamp: SensorTimestamp) {
            calls.all.append("handler game \(text(quaternion)) \(timestamp)")
        }
        func receivedOrientation(vector: Vector, accuracy: VectorAccuracy, timestamp: SensorTimestamp) {
            calls.all.append("handler orientation \(text(vector)) \(accuracy.rawValue) \(timestamp)")
        }
        func receivedMagnetometer(vector: Vector, accuracy: VectorAccuracy, timestamp: SensorTimestamp) {
            calls.all.append("handler magnetometer \(text(vector)) \(accuracy.rawValue) \(timestamp)")
        }
        func receivedUncalibratedMagnetometer(vector: Vector, bias: Vector, timestamp: SensorTimestamp) {
            calls.all.append("handler uncalibrated \(text(vector)) \(text(bias)) \(timestamp)")
        }
        func receivedGesture(type: GestureType, timestamp: SensorTimestamp) {
            calls.all.append("handler \(type) \(timestamp)")
        }
    }

    private func routes(_ queue: CallbackQueue, _ calls: Calls) -> DispatchRoutes {
        let routes = DispatchRoutes(queue)
        func vector(_ name: String) -> SensorDispatch.VectorCallback {
            { v, accuracy, time in calls.all.append("\(name) \(v.x) \(v.y) \(v.z) \(accuracy.rawValue) \(time)") }
        }
        routes.sensorData = { calls.all.append("data \($0.values.count)") }
        routes.accelerometer = vector("accelerometer")
        routes.gyroscope = vector("gyroscope")
        routes.orientation = vector("orientation")
        routes.magnetometer = vector("magnetometer")
        routes.rotation = { q, accuracy, time in
            calls.all.append("rotation \(q.x) \(q.y) \(q.z) \(q.w) \(accuracy.estimatedAccuracy) \(time)")
        }
        routes.gameRotation = { q, time in calls.all.append("game \(q.x) \(q.y) \(q.z) \(q.w) \(time)") }
        routes.uncalibratedMagnetometer = { v, b, time in
            calls.all.append("uncalibrated \(v.x) \(v.y) \(v.z) \(b.x) \(b.y) \(b.z) \(time)")
        }
        routes.gesture = { calls.all.append("\($0) \($1)") }
        return routes
    }

    private func value(_ sensor: SensorType, _ change: (inout tendon_bose_sample) -> Void = { _ in }) -> SensorValue? {
        var c = tendon_bose_sample()
        (c.sensor_id, c.timestamp, c.accuracy) = (sensor.rawValue, 500, 2)
        // The two share their memory.
        if [.rotation, .gameRotation].contains(sensor) {
            (c.quaternion.x, c.quaternion.y, c.quaternion.z, c.quaternion.w) = (0.5, 0.25, -0.5, 1)
            c.accuracy_rad = 0.125
        } else {
            (c.vector.x, c.vector.y, c.vector.z) = (1, 2, 3)
            (c.bias.x, c.bias.y, c.bias.z) = (4, 5, 6)
        }
        change(&c)
        return SensorValue(c, deviceTime: 66_036)
    }

    private static let expected: [(SensorType, String)] = [
        (.accelerometer, "accelerometer 1.0 2.0 3.0 2 500"), (.gyroscope, "gyroscope 1.0 2.0 3.0 2 500"),
        (.orientation, "orientation 1.0 2.0 3.0 2 500"), (.magnetometer, "magnetometer 1.0 2.0 3.0 2 500"),
        (.rotation, "rotation 0.5 0.25 -0.5 1.0 0.125 500"), (.gameRotation, "game 0.5 0.25 -0.5 1.0 500"),
        (.uncalibratedMagnetometer, "uncalibrated 1.0 2.0 3.0 4.0 5.0 6.0 500"),
    ]

    /// The callback first, then the handler, and nothing else.
    @Test @TendonActor func everySensorHasItsCallbackAndItsMethod() throws {
        for (sensor, expected) in Self.expected {
            let calls = Calls()
            let routes = routes(.loop, calls)
            let handler = Handler(calls)
            routes.handler = handler
            routes.deliver(try #require(value(sensor)))
            #expect(calls.all == [expected, "handler " + expected])
        }
        let calls = Calls()
        let routes = routes(.loop, calls)
        let handler = Handler(calls)
        routes.handler = handler
        routes.deliver(GestureData(.headNod, 7, deviceTime: 7))
        routes.deliver(SensorData(values: [try #require(value(.gyroscope))]))
        #expect(calls.all == ["head_nod 7", "handler head_nod 7", "data 1", "handler data 1"])
    }

    /// A dispatch without callbacks and without a handler, or whose handler was released.
    @Test @TendonActor func nothingIsCalledWithoutAConsumer() throws {
        let calls = Calls()
        let routes = DispatchRoutes(.loop)
        do {
            let handler = Handler(calls)
            routes.handler = handler
        }
        for (sensor, _) in Self.expected { routes.deliver(try #require(value(sensor))) }
        routes.deliver(GestureData(.headNod, 7, deviceTime: 7))
        #expect(calls.all == [])
    }

    @Test @TendonActor func aQueueGetsTheCallbacksInOrder() throws {
        let calls = Calls()
        nonisolated(unsafe) var scheduled: [@Sendable () -> Void] = []
        let routes = routes(CallbackQueue(capacity: 8) { scheduled.append($0) }, calls)
        for (sensor, _) in Self.expected { routes.deliver(try #require(value(sensor))) }
        #expect(calls.all == [] && scheduled.count == 1)
        scheduled.removeFirst()()
        #expect(calls.all == Self.expected.map(\.1))
        // It is scheduled again for the next one.
        routes.deliver(try #require(value(.gyroscope)))
        #expect(scheduled.count == 1)
    }

    @Test func theFieldsOfASample() throws {
        let rotation = try #require(value(.rotation))
        #expect((rotation.sensor, rotation.timestamp, rotation.deviceTime) == (.rotation, 500, 66_036))
        #expect(rotation.sample.quaternion == Quaternion(x: 0.5, y: 0.25, z: -0.5, w: 1))
        #expect(rotation.sample.quaternionAccuracy?.estimatedAccuracy == 0.125)
        #expect(rotation.sample.vector == nil && rotation.sample.vectorAccuracy == nil && rotation.sample.bias == nil)
        #expect(
            value(.rotation) { $0.accuracy_unknown = true }?.sample.quaternionAccuracy?.estimatedAccuracy == .infinity)
        let magnetometer = try #require(value(.uncalibratedMagnetometer))
        #expect(magnetometer.sample.vector == Vector(x: 1, y: 2, z: 3))
        #expect(magnetometer.sample.bias == Vector(x: 4, y: 5, z: 6))
        #expect(magnetometer.sample.quaternion == nil && magnetometer.sample.vectorAccuracy == nil)
        #expect(value(.accelerometer)?.sample.vectorAccuracy?.rawValue == 2)
        #expect(value(.accelerometer) { $0.accuracy = 9 }?.sample.vectorAccuracy == .unreliable)
        #expect(value(.unknown(31)) == nil)
    }

    /// Only what is enabled costs anything: the text is not made before.
    @Test func theLogIsSilentUntilItIsEnabled() {
        let log = LogSwitches()
        var made = 0
        func line() -> String {
            made += 1
            return "a line of the log that a test enabled"
        }
        log.write(.session, line())
        #expect(made == 0)
        log.set(.common, true)
        log.write(.session, line())
        log.write(.sensorData, line())
        #expect(made == 1, "sensor data has a switch of its own")
        log.set(.session, false)
        log.write(.session, line())
        #expect(made == 1)
    }

    @Test func aTokenEndsItsRegistrationOnce() {
        nonisolated(unsafe) var ends = 0
        var token: ListenerToken? = ListenerToken { ends += 1 }
        token?.cancel()
        token?.cancel()
        #expect(ends == 1)
        token = nil
        #expect(ends == 1)
        token = ListenerToken { ends += 1 }
        token = nil
        #expect(ends == 2)
    }
}

/// The limit of an attempt, without a device.
@Suite(.timeLimit(.minutes(1))) struct WatchdogTests {
    @Test @TendonActor func aPauseKeepsWhatIsLeft() async throws {
        let watchdog = Watchdog(.seconds(1000))
        let timer = try #require(Mirror(reflecting: watchdog).descendant("timer") as? LoopTimer)
        let start = timer.deadline
        #expect(!watchdog.isPaused && !watchdog.hasExpired)
        watchdog.resume()
        #expect(timer.deadline == start)
        watchdog.pause()
        #expect(watchdog.isPaused && timer.deadline == .max)
        watchdog.pause()
        watchdog.resume()
        #expect(!watchdog.isPaused && timer.deadline >= start && timer.deadline < start + 500_000)
        watchdog.stop()
        watchdog.pause()
        #expect(!watchdog.isPaused)
        // Without a limit there is nothing to pause.
        let endless = Watchdog(nil)
        endless.pause()
        #expect(!endless.isPaused)
    }

    /// A limit that is longer than the time counts is no limit.
    @Test(arguments: [Duration.seconds(Int64.max), .milliseconds(Int64.max)])
    @TendonActor func aLimitForEver(_ limit: Duration) async throws {
        let watchdog = Watchdog(limit)
        let timer = try #require(Mirror(reflecting: watchdog).descendant("timer") as? LoopTimer)
        watchdog.pause()
        #expect(watchdog.isPaused)
        let paused = tendon_monotonic_ms()
        await eventually("time passes") { tendon_monotonic_ms() > paused }
        watchdog.resume()
        #expect(!watchdog.isPaused && timer.deadline > UInt64(Int64.max))
        watchdog.stop()
    }

    @Test @TendonActor func anAttemptThatTakesTooLongIsCancelled() async {
        let watchdog = Watchdog(.milliseconds(5))
        watchdog.pause()
        await Loop.shared.run {}
        watchdog.resume()
        await #expect(throws: BoseWearableError.cancelled) {
            _ = try await watchdog.run { () async throws(BoseWearableError) in
                do { try await Task.sleep(for: .seconds(50)) } catch { throw .cancelled }
                throw .noFocus
            }
        }
        #expect(watchdog.hasExpired)
    }

    @Test(arguments: [(-1.0, 0.0), (.nan, 0), (2.5, 2.5), (.infinity, 3_153_600_000)])
    func secondsOfAProgram(seconds: Double, expected: Double) {
        #expect(Duration(clamping: seconds) == .seconds(expected))
    }
}
