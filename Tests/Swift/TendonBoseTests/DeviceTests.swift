// SPDX-License-Identifier: MIT
import Synchronization
import Tendon
@testable import TendonBose
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(1)))
struct DeviceTests {
    @TendonActor private func open(
        _ site: Site, _ change: (inout BoseWearable.Configuration) -> Void = { _ in }
    ) async throws -> (WearableDeviceSession, WearableDevice) {
        let session = try await site.boseWearable(change).startConnection()
        return (session, try #require(session.device))
    }

    @Test @TendonActor func whatTheDeviceSays() async throws {
        let site = try await Site()
        let (session, device) = try await open(site) {
            $0.firmwareChecker = { $0 == 0x402C && $1 == "1.0.0" ? .available : .unknown }
        }
        #expect(session.isOpen)
        let info = try #require(device.wearableDeviceInformation)
        #expect(info.majorVersion == 4)
        #expect(info.productID == 0x402C)
        #expect(info.availableSensors == [.accelerometer, .gyroscope, .rotation, .gameRotation])
        #expect(Set(info.availableGestures) == [.doubleTap, .headNod, .headShake, .input, .affirmative, .negative])
        #expect(!info.deviceStatus.contains(.wearableSensorsServiceSuspended))
        #expect(info.deviceStatus.suspensionReason == .unknown && !device.isWearableSensorServiceSuspended)
        #expect(info.description.hasPrefix("Bose Frames") && info.description.contains("double_tap"))
        let sensors = try #require(device.sensorInformation)
        #expect(Set(sensors.availableSensors) == info.availableSensors)
        #expect(sensors.availableSamplePeriods == [._320ms, ._160ms, ._80ms, ._40ms, ._20ms])
        #expect(sensors.availableSamplePeriods(for: .magnetometer) == [])
        #expect(sensors.scaledValueRange(for: .accelerometer) == -8..<8)
        #expect(sensors.rawValueRange(for: .rotation) == -16383..<16383)
        #expect(sensors.sampleLength(for: .rotation) == 10)
        #expect(device.firmwareVersion?.version == "1.0.0" && device.firmwareVersion?.check == .available)
        #expect(device.firmwareVersion?.updateStatus == .updateAvailable(version: ""))
        #expect(device.firmwareVersion?.firmwareUpdateApp?.name == "Bose Connect")
        #expect(device.deviceInformation?.firmwareRevision == "1.0.0")
        #expect(device.hasFocus)
        #expect(throws: BoseWearableError.functionNotSupported) { try device.changeName("x") }
    }

    @Test @TendonActor func aRequiredUpdateFailsTheConnection() async throws {
        let site = try await Site()
        await #expect(throws: BoseWearableError.firmwareUpdateRequired) {
            try await open(site) { $0.firmwareChecker = { _, _ in .required } }
        }
        await eventually("the link is closed") { await site.wearable.connections == 0 }
    }

    @Test @TendonActor func configurationsAreWrittenWhole() async throws {
        let site = try await Site()
        let (_, device) = try await open(site)
        #expect(device.sensorConfiguration?.enabledSensors == [])
        try await device.configureSensorsAndWait { configuration in
            configuration.enable(sensor: .accelerometer, at: ._20ms)
            configuration.enable(sensor: .rotation, at: ._40ms)
            let refused = [
                configuration.enable(sensor: .magnetometer, at: ._20ms),
                configuration.enable(sensor: .rotation, at: ._5ms),
            ]
            #expect(refused == [false, false])
        }
        await eventually("the configuration is read again") {
            device.sensorConfiguration?.enabledSensors == [.accelerometer, .rotation]
        }
        let now = try #require(device.sensorConfiguration)
        #expect(now.enabledSensorsSamplePeriod == ._40ms)
        #expect(now.samplePeriod(for: .accelerometer) == ._40ms)
        #expect(now.disabledSensors == [.gyroscope, .gameRotation])
        #expect(now.isEnabled(sensor: .rotation) && !now.isEnabled(sensor: .gyroscope))
        var copy = now
        copy.enabledSensorsSamplePeriod = ._320ms
        copy.disable(sensor: .accelerometer)
        #expect(now.enabledSensors.count == 2)
        device.changeSensorConfiguration(copy)
        await eventually("the change arrives") {
            device.sensorConfiguration?.samplePeriod(for: .rotation) == ._320ms
        }
        try await device.configureSensorsAndWait { $0.disableAll() }
        try await device.configureGesturesAndWait { $0.set(gesture: .doubleTap, enabled: true) }
        await eventually("gestures are on") { device.gestureConfiguration?.enabledGestures == [.doubleTap] }
        try await device.configureGesturesAndWait { $0.enableAll() }
        await eventually("all are on") { device.gestureConfiguration?.enabledGestures.count == 6 }
    }

    /// The second outcome is that of the second call.
    @Test @TendonActor func twoConfigurationsAtTheSameTime() async throws {
        let site = try await Site()
        let (_, device) = try await open(site)
        var written = 0
        let token = device.addEventListener { event in
            if case .didWriteSensorConfiguration = event { written += 1 }
            if case .didWriteGestureConfiguration = event { written += 1 }
        }
        let first = Task { @TendonActor in
            try await device.configureSensorsAndWait { $0.enable(sensor: .rotation, at: ._40ms) }
            return written
        }
        let second = Task { @TendonActor in
            try await device.configureSensorsAndWait { $0.enable(sensor: .gyroscope, at: ._80ms) }
            return written
        }
        let third = Task { @TendonActor in
            try await device.configureGesturesAndWait { $0.set(gesture: .doubleTap, enabled: true) }
            return written
        }
        #expect(try await first.value >= 1)
        #expect(try await second.value >= 2)
        #expect(try await third.value == 3)
        token.cancel()
    }

    /// There is nothing to change before the device was read: one event for each call, and the same error.
    @Test @TendonActor func withoutAConfigurationThereIsNothingToChange() async throws {
        let site = try await Site()
        let central = try await Central(radio: site.radio, bonds: .memory)
        let core = SessionCore(
            radio: central.core, address: site.wearable.address, isOldFirmware: false, intent: nil,
            checker: nil, pairing: .none)
        let device = WearableDevice(Lifetime(core), name: nil)
        var failed: [String] = []
        let token = device.addEventListener { event in
            switch event {
            case .didFailToWriteSensorConfiguration(let error): failed.append("sensors \(error)")
            case .didFailToWriteGestureConfiguration(let error): failed.append("gestures \(error)")
            default: failed.append("\(event)")
            }
        }
        device.configureGestures { _ in Issue.record("changed") }
        #expect(failed == ["gestures missingRequiredData"])
        device.configureSensors { _ in Issue.record("changed") }
        #expect(failed == ["gestures missingRequiredData", "sensors missingRequiredData"])
        let missing = BoseWearableError.missingRequiredData
        await #expect(throws: missing) { try await device.configureGesturesAndWait { _ in } }
        await #expect(throws: missing) { try await device.configureSensorsAndWait { _ in } }
        token.cancel()
    }

    @Test @TendonActor func outcomesOfConfigurations() async throws {
        var writes = ConfigurationWrites()
        let refused = BoseWearableError.missingRequiredData
        func waiting(_ number: UInt16) -> ConfigurationWrites.Outcome {
            let outcome = ConfigurationWrites.Outcome()
            writes.add(number, outcome)
            return outcome
        }
        let (first, second, third) = (waiting(65534), waiting(65535), waiting(1))
        writes.decided(65534, .success(()))
        #expect(first.isFinished && !second.isFinished && !third.isFinished)
        try await first.value()
        // The third replaced the second.
        writes.decided(1, .failure(refused))
        await #expect(throws: refused) { try await second.value() }
        await #expect(throws: refused) { try await third.value() }
        #expect(waiting(1).isFinished, "the outcome was there before the call returned")
        let removed = waiting(2)
        writes.remove(removed)
        writes.decided(2, .success(()))
        #expect(!removed.isFinished)
    }

    @Test @TendonActor func eventsComeInOrder() async throws {
        let site = try await Site()
        let (_, device) = try await open(site)
        var seen: [String] = []
        let token = device.addEventListener { event in
            switch event {
            case .didWriteSensorConfiguration: seen.append("written")
            case .didUpdateSensorConfiguration: seen.append("updated")
            case .didFailToWriteSensorConfiguration(let error): seen.append("\(error)")
            default: break
            }
        }
        // The form without async, as a delegate would call it.
        func enable() { device.configureSensors { $0.enable(sensor: .gyroscope, at: ._80ms) } }
        enable()
        await eventually("both events") { seen.starts(with: ["written", "updated"]) }
        token.cancel()
        await Loop.shared.run {}
        let count = seen.count
        try await device.configureSensorsAndWait { $0.disableAll() }
        #expect(seen.count == count)
    }

    /// The outcome of a write that the device answers after the session was released.
    @Test @TendonActor func aListenerHearsNothingOfAReleasedSession() async throws {
        let site = try await Site()
        var opened: (WearableDeviceSession, WearableDevice)? = try await open(site)
        var events = 0
        let token = opened?.1.addEventListener { _ in events += 1 }
        let halt = await Halt(site.loop)
        opened?.1.configureSensors { $0.enable(sensor: .gyroscope, at: ._80ms) }
        opened = nil
        await Loop.shared.run {}
        let count = events
        halt.release()
        await eventually("the link is closed") { await site.wearable.connections == 0 }
        #expect(events == count)
        withExtendedLifetime((token, opened)) {}
    }

    @Test @TendonActor func listenersOnAnotherQueueKeepTheOrder() async throws {
        let site = try await Site()
        let (_, device) = try await open(site)
        let seen = Mutex<[UInt16]>([])
        let onMain = Mutex(true)
        #if MainActorLoop
            let isLoop = true
        #else
            let isLoop = false
        #endif
        let token = device.addEventListener(queue: .main) { event in
            guard case .didReceiveSensorData(let data) = event else { return }
            onMain.withLock { $0 = $0 && Loop.shared.isCurrent == isLoop }
            seen.withLock { $0 += data.values.map(\.timestamp) }
        }
        try await device.configureSensorsAndWait { $0.enable(sensor: .gyroscope, at: ._20ms) }
        await eventually("samples") { seen.withLock { $0.count } >= 10 }
        #expect(onMain.withLock { $0 })
        let times = seen.withLock { $0 }
        #expect(zip(times, times.dropFirst()).allSatisfy { $1 &- $0 == 20 })
        _ = token
    }

    private final class Handler: SensorDispatchHandler {
        var calls: [String] = [] {
            didSet { told(calls.last ?? "") }
        }
        let told: @Sendable (String) -> Void
        init(_ told: @escaping @Sendable (String) -> Void) { self.told = told }

        func receivedSensorData(_ data: SensorData) { calls.append("data") }
        func receivedAccelerometer(vector: Vector, accuracy: VectorAccuracy, timestamp: SensorTimestamp) {
            calls.append("accelerometer")
        }
        func receivedGameRotation(quaternion: Quaternion, timestamp: SensorTimestamp) { calls.append("game") }
        func receivedGesture(type: GestureType, timestamp: SensorTimestamp) { calls.append("\(type)") }
    }

    @Test @TendonActor func dispatchCallsBackBeforeTheHandler() async throws {
        let site = try await Site()
        let (_, device) = try await open(site)
        let order = Mutex<[String]>([])
        let handler = Handler { call in order.withLock { $0.append(call) } }
        let dispatch = SensorDispatch()
        dispatch.handler = handler
        dispatch.accelerometerCallback = { _, _, _ in
            TendonActor.shared.assumeIsolated { _ in }
            order.withLock { $0.append("callback") }
        }
        try await device.configureSensorsAndWait {
            $0.enable(sensor: .accelerometer, at: ._80ms)
            $0.enable(sensor: .gameRotation, at: ._80ms)
        }
        try await device.configureGesturesAndWait { $0.set(gesture: .headNod, enabled: true) }
        await eventually("two samples a time") {
            handler.calls.contains("game") && handler.calls.contains("accelerometer")
        }
        try await device.configureSensorsAndWait { $0.disableAll() }
        try await site.wearable.perform(.headNod)
        await eventually("a gesture") { handler.calls.contains("head_nod") }
        // The whole notification, then the callback, then the handler.
        let calls = order.withLock { $0 }
        let first = try #require(calls.firstIndex(of: "callback"))
        #expect(calls[first + 1] == "accelerometer")
        #expect(calls[..<first].contains("data"))
    }

    @Test @TendonActor func suspendAndResume() async throws {
        let site = try await Site()
        let (_, device) = try await open(site)
        var reasons: [SuspensionReason?] = []
        let token = device.addEventListener { event in
            switch event {
            case .didSuspendWearableSensorService(let reason): reasons.append(reason)
            case .didResumeWearableSensorService: reasons.append(nil)
            default: break
            }
        }
        await site.wearable.suspend(.vpaInteractionInProgress)
        await eventually("suspended") { reasons == [.vpaInteractionInProgress] }
        #expect(device.wearableDeviceInformation?.deviceStatus.suspensionReason == .vpaInteractionInProgress)
        await #expect(throws: BoseWearableError.service(.wearableSensorServiceUnavailable)) {
            try await device.configureSensorsAndWait { $0.enable(sensor: .rotation, at: ._20ms) }
        }
        await site.wearable.resume()
        await eventually("resumed") { reasons == [.vpaInteractionInProgress, nil] }
        try await device.configureSensorsAndWait { $0.enable(sensor: .rotation, at: ._20ms) }
        _ = token
    }

    @Test @TendonActor func malformedValuesAreReportedAndPassed() async throws {
        let site = try await Site()
        let (_, device) = try await open(site)
        var rejected = 0
        let token = device.addEventListener { event in
            if case .didRejectValue = event { rejected += 1 }
        }
        await site.wearable.inject(.cutPayload, count: 2)
        let samples = device.sensorData()
        try await device.configureSensorsAndWait { $0.enable(sensor: .rotation, at: ._20ms) }
        var count = 0
        for try await _ in samples.timeout(.seconds(5)) {
            count += 1
            if count == 3 { break }
        }
        #expect(rejected == 2)
        #expect(device.counters.malformed == 2)
        _ = token
    }

    @Test @TendonActor func intents() async throws {
        let site = try await Site()
        let wearable = site.boseWearable()
        let session = try await wearable.startConnection(
            sensorIntent: SensorIntent(sensors: [.rotation], samplePeriods: [._20ms]),
            gestureIntent: GestureIntent(gestures: [.doubleTap]))
        let device = try #require(session.device)
        try device.checkIntents(sensor: SensorIntent(sensors: [.gyroscope]), gesture: nil)
        try device.checkIntents(sensor: nil, gesture: nil)
        let lacking = #expect(throws: IntentsCheckFailed.self) {
            try device.checkIntents(
                sensor: SensorIntent(sensors: [.magnetometer, .rotation], samplePeriods: [._5ms]),
                gesture: GestureIntent(gestures: [.touchAndHold]))
        }
        #expect(lacking?.missingSensors == [.magnetometer])
        #expect(lacking?.missingSamplePeriods == [._5ms])
        #expect(lacking?.missingGestures == [.touchAndHold])
        await session.closeAndWait()
        let error = await #expect(throws: BoseWearableError.self) {
            try await wearable.startConnection(sensorIntent: SensorIntent(sensors: [.magnetometer]))
        }
        guard case .intentsNotFulfilled(let sensors, _, _) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(sensors == [.magnetometer])
        #expect(error?.localizedDescription.contains("magnetometer") == true)
    }

    /// Every method of the handler, by the sensor that it is for.
    private final class Routes: SensorDispatchHandler {
        var called: Set<String> = []
        func receivedAccelerometer(vector: Vector, accuracy: VectorAccuracy, timestamp: SensorTimestamp) {
            called.insert("accelerometer")
        }
        func receivedGyroscope(vector: Vector, accuracy: VectorAccuracy, timestamp: SensorTimestamp) {
            called.insert("gyroscope")
        }
        func receivedRotation(quaternion: Quaternion, accuracy: QuaternionAccuracy, timestamp: SensorTimestamp) {
            called.insert("rotation")
        }
        func receivedGameRotation(quaternion: Quaternion, timestamp: SensorTimestamp) { called.insert("game_rotation") }
    }

    @Test(arguments: [SensorType.accelerometer, .gyroscope, .rotation, .gameRotation])
    @TendonActor func aSampleGoesToItsOwnMethod(_ sensor: SensorType) async throws {
        let site = try await Site()
        let dispatch = SensorDispatch()
        let routes = Routes()
        let callbacks = Mutex<Set<String>>([])
        @Sendable func note(_ name: String) { callbacks.withLock { _ = $0.insert(name) } }
        dispatch.handler = routes
        dispatch.accelerometerCallback = { _, _, _ in note("accelerometer") }
        dispatch.gyroscopeCallback = { _, _, _ in note("gyroscope") }
        dispatch.rotationCallback = { _, _, _ in note("rotation") }
        dispatch.gameRotationCallback = { _, _ in note("game_rotation") }
        let (session, device) = try await open(site)
        // Other tests' wearables reach every dispatch: only the order of this one's events is looked at.
        var values: [SensorValue] = []
        let token = device.addEventListener { event in
            guard case .didReceiveSensorData(let data) = event else { return }
            values += data.values
        }
        routes.called = []
        callbacks.withLock { $0 = [] }
        try await device.configureSensorsAndWait { $0.enable(sensor: sensor, at: ._20ms) }
        await eventually("samples") { values.count > 2 }
        #expect(values.allSatisfy { $0.sensor == sensor })
        #expect(routes.called.contains("\(sensor)"))
        #expect(callbacks.withLock { $0.contains("\(sensor)") })
        await session.closeAndWait()
        token.cancel()
    }

    @Test @TendonActor func aGameRotationHasItsStream() async throws {
        let site = try await Site()
        let (session, device) = try await open(site)
        let accuracies = Mutex<[Double]>([])
        let samples = device.gameRotation
        let reading = Task {
            for try await sample in samples { accuracies.withLock { $0.append(sample.accuracy.estimatedAccuracy) } }
        }
        try await device.configureSensorsAndWait { $0.enable(sensor: .gameRotation, at: ._20ms) }
        await eventually("samples") { accuracies.withLock { $0.first == .infinity } }
        reading.cancel()
        await session.closeAndWait()
    }

    /// A place that does not run callbacks: the queue stays bounded, and says what it dropped.
    @Test @TendonActor func aCallbackQueueIsBounded() async throws {
        var options = SimulatedWearable.Options()
        options.isFlatOut = true
        let site = try await Site(options)
        let drains = Mutex<[@Sendable () -> Void]>([])
        let queue = CallbackQueue(capacity: 8) { drain in drains.withLock { $0.append(drain) } }
        let (session, device) = try await open(site)
        let calls = Mutex(0)
        let token = device.addEventListener(queue: queue) { _ in calls.withLock { $0 += 1 } }
        try await device.configureSensorsAndWait { $0.enable(sensor: .rotation, at: ._20ms) }
        await eventually("drops") { queue.dropped > 100 }
        #expect(calls.withLock { $0 } == 0)
        await session.closeAndWait()
        token.cancel()
        #expect(drains.withLock { $0.count } == 1)
        drains.withLock { $0.first }?()
        #expect(calls.withLock { $0 } == 8)
    }

    @Test @TendonActor func warningsOfIntentsAreToldApart() async throws {
        var options = SimulatedWearable.Options()
        options.maximumPayload = 20
        options.transmissionPeriod = 20
        let site = try await Site(options)
        let (_, device) = try await open(site)
        let two = SensorIntent(sensors: [.rotation, .accelerometer], samplePeriods: [._20ms])
        let warnings = try device.checkIntents(sensor: two, gesture: nil)
        #expect(warnings.overPayload && !warnings.tooManySensors)
        let one = try device.checkIntents(sensor: SensorIntent(sensors: [.rotation]), gesture: nil)
        #expect(!one.overPayload && !one.tooManySensors)
    }

    /// What the delegates of an iOS program print.
    @Test func errorsAreSaid() {
        #expect(BoseWearableError.disconnectedByDevice.localizedDescription == "the device disconnected")
        #expect(BoseWearableError.alreadyConfigured.localizedDescription.contains("configured"))
        let refused = BoseWearableError.service(.invalidSamplePeriod)
        #expect(refused.localizedDescription == "the device rejected the sample period")
        #expect(BoseWearableError.cancelled.isCancelled && !BoseWearableError.noFocus.isCancelled)
    }

    @Test @TendonActor func gestureSequencesEndWithTheConnection() async throws {
        let site = try await Site()
        let (session, device) = try await open(site)
        let (gestures, events) = (device.gestureData(), device.events())
        try await device.configureGesturesAndWait { $0.set(gesture: .doubleTap, enabled: true) }
        try await site.wearable.perform(.doubleTap)
        let wearable = site.wearable
        let error = await #expect(throws: TendonError.self) {
            for try await gesture in gestures {
                #expect(gesture.gesture == .doubleTap)
                await wearable.disconnectAll()
            }
        }
        #expect(error?.name == "BOSE_ERROR_DISCONNECTED_BY_DEVICE")
        #expect(error?.description.contains("the device disconnected") == true)
        await #expect(throws: TendonError.self) { for try await _ in events {} }
        #expect(!session.isOpen)
        try await session.openAndWait()
        let last = device.gestureData()
        await session.closeAndWait()
        for try await _ in last {}
    }

    @Test @TendonActor func gesturesAreEventsToo() async throws {
        let site = try await Site()
        let (_, device) = try await open(site)
        let events = device.events()
        var heard: [GestureType] = []
        let token = device.addEventListener { event in
            if case .didReceiveGestureData(let data) = event { heard.append(data.gesture) }
        }
        try await device.configureGesturesAndWait { $0.enableAll() }
        try await site.wearable.perform(.doubleTap)
        for try await event in events {
            if case .didReceiveGestureData(let data) = event {
                #expect(data.gesture == .doubleTap)
                break
            }
        }
        await eventually("the listener") { heard == [.doubleTap] }
        token.cancel()
    }

    /// Each refresh is followed by its update.
    @Test @TendonActor func everythingIsReadAgain() async throws {
        let site = try await Site()
        let (session, device) = try await open(site)
        var updates: [String] = []
        let token = device.addEventListener { event in
            switch event {
            case .didUpdateDeviceInformation(let value): updates.append("strings \(value.firmwareRevision ?? "")")
            case .didUpdateWearableDeviceInformation(let value): updates.append("device \(value.majorVersion)")
            case .didUpdateSensorInformation(let value): updates.append("sensors \(value.availableSensors.count)")
            case .didUpdateSensorConfiguration(let value): updates.append("sensor \(value.enabledSensors.count)")
            case .didUpdateGestureInformation(let value): updates.append("gestures \(value.availableGestures.count)")
            case .didUpdateGestureConfiguration(let value): updates.append("gesture \(value.enabledGestures.count)")
            default: break
            }
        }
        try device.refresh(.deviceInformation)
        await eventually("strings") { updates.last == "strings 1.0.0" }
        try device.refresh(.wearableDeviceInformation)
        await eventually("device") { updates.last == "device 4" }
        try device.refresh(.sensorInformation)
        await eventually("sensors") { updates.last == "sensors 4" }
        try device.refresh(.sensorConfiguration)
        await eventually("sensor") { updates.last == "sensor 0" }
        try device.refresh(.gestureInformation)
        await eventually("gestures") { updates.last == "gestures 6" }
        try device.refresh(.gestureConfiguration)
        await eventually("gesture") { updates.last == "gesture 0" }
        await session.closeAndWait()
        #expect(throws: BoseWearableError.self) { try device.refresh(.deviceInformation) }
        token.cancel()
    }

    /// The library does not keep what it has connected.
    @Test @TendonActor func aReleasedSessionDisconnects() async throws {
        let site = try await Site()
        let library = site.boseWearable()
        var session: WearableDeviceSession? = try await library.startConnection()
        #expect(session?.isOpen == true)
        session = nil
        await eventually("disconnected") { await site.wearable.connections == 0 }
        withExtendedLifetime(library) {}
    }

    /// A listener whose token is kept does not outlive the session.
    @Test @TendonActor func listenersAreReleasedWithTheSession() async throws {
        final class Owner: Sendable {}
        let site = try await Site()
        var token: ListenerToken?
        weak var owner: Owner?
        do {
            let (_, device) = try await open(site)
            let kept = Owner()
            owner = kept
            token = device.addEventListener { _ in withExtendedLifetime(kept) {} }
        }
        await eventually("released") { owner == nil }
        token?.cancel()
    }

    @Test @TendonActor func openingTwiceChangesNothing() async throws {
        let site = try await Site()
        let (session, _) = try await open(site)
        session.open()
        #expect(session.isOpen)
        await #expect(throws: BoseWearableError.self) { try await session.openAndWait() }
        #expect(session.isOpen)
    }

    @Test @TendonActor func sequencesEndWithTheSession() async throws {
        let site = try await Site()
        let (session, device) = try await open(site)
        let samples = device.sensorData()
        await session.closeAndWait()
        for try await _ in samples {}
        try await session.openAndWait()
        let again = device.sensorData()
        await site.wearable.disconnectAll()
        await #expect(throws: TendonError.self) { for try await _ in again {} }
        await eventually("closed") { !session.isOpen }
        try await session.openAndWait()
        #expect(session.isOpen)
    }
}
