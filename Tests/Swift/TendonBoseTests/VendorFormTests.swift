// SPDX-License-Identifier: MIT
import Tendon
import TestSupport
import Testing

@testable import TendonBose

/// The forms of the vendor's SDK beside those that wait and throw.
@Suite struct VendorFormTests {
    private func open(_ site: Site) async throws -> (WearableDeviceSession, WearableDevice) {
        let session = try await site.boseWearable().startConnection()
        return (session, try #require(await session.device))
    }

    @Test @TendonActor func refreshing() async throws {
        let site = try await Site()
        let (session, device) = try await open(site)
        var updates: [String] = []
        let token = device.addEventListener { event in
            switch event {
            case .didUpdateDeviceInformation: updates.append("strings")
            case .didUpdateWearableDeviceInformation: updates.append("device")
            case .didUpdateSensorInformation: updates.append("sensors")
            case .didUpdateSensorConfiguration: updates.append("sensor")
            case .didUpdateGestureInformation: updates.append("gestures")
            case .didUpdateGestureConfiguration: updates.append("gesture")
            case .didFailToRefresh: updates.append("failed")
            default: break
            }
        }
        device.refreshDeviceInformation()
        await eventually("strings") { updates == ["strings"] }
        device.refreshWearableDeviceInformation()
        await eventually("device") { updates.last == "device" }
        device.refreshSensorInformation()
        await eventually("sensors") { updates.last == "sensors" }
        device.refreshSensorConfiguration()
        await eventually("sensor") { updates.last == "sensor" }
        device.refreshGestureInformation()
        await eventually("gestures") { updates.last == "gestures" }
        device.refreshGestureConfiguration()
        await eventually("gesture") { updates.last == "gesture" }
        #expect(!updates.contains("failed"))
        await session.closeAndWait()
        let later = device.addEventListener(queue: nil) { event in
            if case .didFailToRefresh = event { TendonActor.assumeIsolated { updates.append("failed") } }
        }
        device.refreshGestureConfiguration()
        #expect(updates.last == "failed")
        token.cancel()
        later.cancel()
    }

    @Test @TendonActor func intents() async throws {
        let site = try await Site()
        let (_, device) = try await open(site)
        let fits = device.validateIntents(
            sensor: SensorIntent(sensors: [.rotation], samplePeriods: [._20ms]),
            gesture: GestureIntent(gestures: [.headNod]))
        #expect(fits.isSuccess && fits.error == nil)
        let lacks = device.validateIntents(
            sensor: SensorIntent(sensors: [.magnetometer]), gesture: GestureIntent(gestures: []))
        #expect(lacks.isFailure && lacks.value == nil)
        guard case .intentsNotFulfilled(let sensors, _, _) = lacks.error as? BoseWearableError else {
            Issue.record("another error")
            return
        }
        #expect(sensors == [.magnetometer])
    }

    @Test @TendonActor func states() async throws {
        let site = try await Site()
        let (session, _) = try await open(site)
        #expect(session.state == .open)
        session.close()
        #expect(session.state == .open, "until the device is disconnected")
        await eventually("closed") { session.state == .closed }
        session.open()
        #expect(session.state == .opening)
        await eventually("open") { session.state == .open }
        await session.closeAndWait()
    }

    @Test @TendonActor func noiseControlIsNotSupported() async throws {
        let site = try await Site()
        let (_, device) = try await open(site)
        var errors: [BoseWearableError?] = []
        device.getActiveNoiseReduction { errors.append($0.error as? BoseWearableError) }
        device.setActiveNoiseReduction(mode: .high) { errors.append($0.error as? BoseWearableError) }
        device.getControllableNoiseCancellation { errors.append($0.error as? BoseWearableError) }
        device.setControllableNoiseCancellation(level: 1, isEnabled: true) {
            errors.append($0.error as? BoseWearableError)
        }
        #expect(errors.isEmpty, "not in the call")
        await eventually("completed") { errors == Array(repeating: .functionNotSupported, count: 4) }
    }

    /// The device can be configured at once; the session opens by itself.
    @Test @TendonActor func simulatedSession() async throws {
        final class Owner: WearableDeviceSessionDelegate {
            var calls: [String] = []
            func sessionDidOpen(_ session: WearableDeviceSession) { calls.append("open") }
            func session(_ session: WearableDeviceSession, didFailToOpenWithError error: (any Error)?) {
                calls.append("failed \(String(describing: error))")
            }
            func session(_ session: WearableDeviceSession, didCloseWithError error: (any Error)?) {
                calls.append("closed")
            }
        }
        let library = BoseWearable(BoseWearable.Configuration())
        let session = library.createSimulatedWearableDeviceSession()
        let owner = Owner()
        session.delegate = owner
        let device = try #require(session.device)
        #expect(session.state == .opening)
        #expect(device.sensorConfiguration?.allSensors == [.accelerometer, .gyroscope, .rotation, .gameRotation])
        #expect(device.gestureConfiguration?.allGestures.count == 6)
        device.configureSensors {
            #expect(device.sensorConfiguration?.enabledSensors == $0.enabledSensors)
            $0.disableAll()
            $0.enable(sensor: .rotation, at: ._20ms)
        }
        device.configureGestures {
            #expect(device.gestureConfiguration?.enabledGestures == $0.enabledGestures)
            $0.set(gesture: .doubleTap, enabled: true)
        }
        #expect(device.sensorConfiguration?.enabledSensors == [.rotation])
        var rotations = 0
        var accelerations = 0
        let token = device.addEventListener { event in
            guard case .didReceiveSensorData(let data) = event else { return }
            rotations += data.values.count { $0.sensor == .rotation }
            accelerations += data.values.count { $0.sensor == .accelerometer }
        }
        session.open()  // does nothing: it opens already
        await eventually("rotations") { rotations > 2 }
        #expect(owner.calls == ["open"])
        await eventually("the gesture is enabled") { device.gestureConfiguration?.enabledGestures == [.doubleTap] }
        device.configureSensors { $0.enable(sensor: .accelerometer, at: ._20ms) }
        await eventually("what is changed now is written at once") { accelerations > 0 }
        session.close()
        await eventually("closed") { owner.calls == ["open", "closed"] }
        session.open()
        await eventually("open again") { owner.calls == ["open", "closed", "open"] }
        token.cancel()
        let second = library.createSimulatedWearableDeviceSession()
        second.delegate = owner
        second.close()
        #expect(owner.calls.last?.hasPrefix("failed") == true && second.device == nil)
        let third = library.createSimulatedWearableDeviceSession()
        third.delegate = owner
        await third.closeAndWait()
        #expect(third.state == .closed && owner.calls.count { $0.hasPrefix("failed") } == 2)
    }

    @Test @TendonActor func searchWithAClosure() async throws {
        let site = try await Site()
        let manager = site.boseWearable().bluetoothManager
        var events: [DiscoveryEvent] = []
        try manager.startScanning(removeAfter: 0.3) { events.append($0) }
        #expect(throws: BLECoreError.scanAlreadyInProgress) { try manager.startScanning(removeAfter: 0.3) { _ in } }
        await eventually("found") { events.contains { if case .added = $0 { true } else { false } } }
        await eventually("again") { events.contains { if case .updated = $0 { true } else { false } } }
        guard case .added(let device) = events[0] else {
            Issue.record("\(events[0])")
            return
        }
        #expect(device.identifier == site.wearable.address)
        await site.wearable.stop()
        await eventually("lost") { events.contains { if case .removed = $0 { true } else { false } } }
        manager.stopScanning()
        let deaf = BluetoothManager(rssiCutoff: 20)
        #expect(!deaf.isScanning)
    }

    /// The switches are those of the process.
    @Test func logging() {
        BoseWearable.disableAllLogging()
        BoseWearable.enableCommonLogging()
        #expect(BoseWearable.isSessionLoggingEnabled && !BoseWearable.isSensorDataLoggingEnabled)
        #expect(BoseWearable.isDeviceLoggingEnabled && BoseWearable.isServiceLoggingEnabled)
        #expect(BoseWearable.isSensorLoggingEnabled && BoseWearable.isConnectUILoggingEnabled)
        BoseWearable.disableAllLogging()
        #expect(!BoseWearable.isSessionLoggingEnabled)
        BoseWearable.isConnectUILoggingEnabled = true
        #expect(BoseWearable.isConnectUILoggingEnabled && !BoseWearable.isDeviceLoggingEnabled)
        BoseWearable.isConnectUILoggingEnabled = false
        let log = Log(subsystem: "com.example", category: "test", isEnabled: false)
        var made = 0
        func line() -> String {
            made += 1
            return "a line of a log that a test enabled"
        }
        log.info(line())
        #expect(made == 0 && !log.isEnabled)
        log.isEnabled = true
        log.debug(line())
        log.error(line())
        log.msg(line())
        log.fault(line())
        #expect(made == 4)
        for isOn in [true, false] {
            #expect(Log.default.isEnabled, "a program's own lines need no switch")
            Log.default.isEnabled = isOn
            made = 0
            Log.msg(line())
            Log.debug(line())
            Log.info(line())
            Log.error(line())
            Log.fault(line())
            Log.default.isEnabled = true
            #expect(made == (isOn ? 5 : 0))
        }
        BLECore.enableCommonLogging()
        #expect(
            BLECore.isDiscoveryLoggingEnabled && BLECore.isServiceLoggingEnabled && BoseWearable.isSessionLoggingEnabled
        )
        #expect(!BLECore.isTrafficLoggingEnabled && !BoseWearable.isSensorLoggingEnabled)
        BLECore.disableAllLogging()
        #expect(!BLECore.isDiscoveryLoggingEnabled && !BoseWearable.isDeviceLoggingEnabled)
        #expect(BoseWearable.formattedVersion == "Tendon " + (BoseWearable.releaseVersion ?? ""))
    }
}
