// SPDX-License-Identifier: MIT
import CTendon
import Tendon
import TestSupport
import Testing

@testable import TendonBose

/// What is left when a session ends: nothing, in whatever state it was.
@Suite(.timeLimit(.minutes(1)))
struct ReleaseTests {
    /// A session of a radio that nobody else has.
    @TendonActor private func session(_ site: Site) throws -> (WearableDeviceSession, BluetoothManager) {
        let manager = site.boseWearable().bluetoothManager
        let device = DiscoveredDevice(site.wearable.address)
        return (manager.makeSession(device, try manager.openRadio(), nil), manager)
    }

    @Test @TendonActor func anOpenSessionReleasesItsRadio() async throws {
        let site = try await Site()
        weak var core: SessionCore?
        weak var radio: RadioCore?
        do {
            let (session, manager) = try session(site)
            core = session.core
            radio = session.core.radio
            try await session.openAndWait()
            withExtendedLifetime(manager) {}
        }
        await eventually("the session is released") { core == nil }
        await eventually("the radio is released") { radio == nil }
        await eventually("the link is closed") { await site.wearable.connections == 0 }
    }

    /// The attempt has not ended: it fails first.
    @Test @TendonActor func aSessionThatConnectsReleasesItsRadio() async throws {
        let site = try await Site()
        let halt = await Halt(site.loop)
        weak var core: SessionCore?
        weak var radio: RadioCore?
        do {
            let (session, manager) = try session(site)
            core = session.core
            radio = session.core.radio
            session.open()
            #expect(session.stateName != "closed")
            withExtendedLifetime(manager) {}
        }
        halt.release()
        await eventually("the session is released") { core == nil }
        await eventually("the radio is released") { radio == nil }
    }

    @Test @TendonActor func aCancelledAttemptClosesTheSession() async throws {
        let site = try await Site()
        let (session, manager) = try session(site)
        let halt = await Halt(site.loop)
        let attempt = Task { @TendonActor in try await session.openAndWait() }
        await eventually("it connects") { session.stateName != "closed" }
        attempt.cancel()
        await #expect(throws: BoseWearableError.cancelled) { try await attempt.value }
        halt.release()
        await eventually("it is closed") { session.stateName == "closed" }
        withExtendedLifetime(manager) {}
    }

    @Test @TendonActor func aRemovedSessionIsClosedAndForgotten() async throws {
        let site = try await Site()
        let (first, manager) = try session(site)
        let device = DiscoveredDevice(site.wearable.address)
        try await first.openAndWait()
        #expect(try await manager.session(for: device) === first)
        manager.removeSession(for: device)
        #expect(try await manager.session(for: device) !== first)
        await eventually("it is closed") { !first.isOpen }
    }

    @Test @TendonActor func theAdapterWasUnplugged() async throws {
        let site = try await Site()
        let (first, manager) = try session(site)
        let device = DiscoveredDevice(site.wearable.address)
        try await first.openAndWait()
        await first.closeAndWait()
        let radio = first.core.radio.radio
        radio.pointee.on_failure?(
            radio.pointee.report_context, Int32(TENDON_RADIO_ERROR_ADAPTER_DOWN), tendon_monotonic_ms())
        await #expect(throws: BoseWearableError.self) { try await first.openAndWait() }
        let second = try await manager.session(for: device)
        #expect(second !== first)
        try await second.openAndWait()
        #expect(try await manager.session(for: device) === second)
    }

    /// That of sessions of all kinds, from when they are open.
    @Test @TendonActor func theDeviceThatWasOpenedLast() async throws {
        let site = try await Site()
        let manager = site.boseWearable().bluetoothManager
        let session = try await manager.session(for: DiscoveredDevice(site.wearable.address))
        #expect(manager.mostRecentlyConnectedDevice == nil)
        try await session.openAndWait()
        #expect(manager.mostRecentlyConnectedDevice == site.wearable.address)
    }

    /// A device that was chosen, and not opened.
    @Test @TendonActor func aDeviceThatWasChosenOnly() async throws {
        let site = try await Site()
        let library = site.boseWearable()
        let session = try await Connector(library).connect(.alwaysShow, nil, nil, opens: false)
        #expect(library.bluetoothManager.mostRecentlyConnectedDevice == nil)
        try await session.openAndWait()
        #expect(library.bluetoothManager.mostRecentlyConnectedDevice == site.wearable.address)
    }

    /// Whoever receives them: the log has whole notifications.
    @Test @TendonActor func theLogOfSamplesThatAreDeliveredOneByOne() async throws {
        let site = try await Site()
        let session = try await site.boseWearable().startConnection()
        let device = try #require(session.device)
        LogSwitches.shared.set(.sensorData, true)
        defer { LogSwitches.shared.set(.sensorData, false) }
        var rotations = device.rotation.makeAsyncIterator()
        try await device.configureSensorsAndWait { $0.enable(sensor: .rotation, at: ._20ms) }
        for _ in 0..<3 { #expect(try await rotations.next() != nil) }
        let kept = Mirror(reflecting: session.core).descendant("notifications") as? [[SensorValue]]
        #expect(kept?.contains { !$0.isEmpty } == true)
    }

    @Test @TendonActor func nothingIsLeftOfWhatIsAbandoned() async throws {
        let site = try await Site()
        let (session, manager) = try session(site)
        try await session.openAndWait()
        #expect(leftovers(of: session.core).count > 4)
        session.core.abandon()
        #expect(leftovers(of: session.core) == [])
        await eventually("the link is closed") { await site.wearable.connections == 0 }
        withExtendedLifetime(manager) {}
    }

    /// No device in the first window: the next one counts.
    @Test @TendonActor func theStrongestOfALaterWindow() async throws {
        let directory = RadioDirectory()
        var configuration = BoseWearable.Configuration()
        configuration.radio = directory.radio
        configuration.timeout = .seconds(40)
        configuration.deviceChoice = .strongestSignal(within: .milliseconds(20))
        let library = BoseWearable(configuration)
        let attempt = Task { @TendonActor in try await library.startConnection() }
        await eventually("searching") { library.bluetoothManager.holder.radio?.radio.pointee.scanning == true }
        // Two windows.
        try await Task.sleep(for: .milliseconds(60))
        let wearable = try await SimulatedWearable(
            radio: directory.radio, address: directory.address, loop: try Loop(), interval: .milliseconds(20))
        #expect(try await attempt.value.address == wearable.address)
    }

    @Test @TendonActor func disabledSensorsAreOff() async throws {
        let site = try await Site()
        let session = try await site.boseWearable().startConnection()
        var configuration = try #require(session.device?.sensorConfiguration)
        configuration.enable(sensor: .accelerometer, at: ._40ms)
        configuration.enable(sensor: .rotation, at: ._40ms)
        #expect(configuration.enabledSensors == [.accelerometer, .rotation])
        let isOff = configuration.disable(sensor: .accelerometer)
        #expect(isOff && configuration.enabledSensors == [.rotation])
        configuration.disableAll()
        #expect(configuration.enabledSensors == [] && configuration.enabledSensorsSamplePeriod == nil)
        let isUnknown = configuration.disable(sensor: .magnetometer)
        #expect(!isUnknown)
    }

    /// Each option reaches the C core.
    @Test func optionsOfTheSimulatedWearable() async throws {
        var options = SimulatedWearable.Options()
        (options.name, options.firmware) = ("my frames", "2.0.1")
        (options.requiresPairing, options.isInPairingMode, options.isFlatOut) = (true, true, true)
        (options.maximumPayload, options.transmissionPeriod) = (99, 33)
        for options in [SimulatedWearable.Options(), options] {
            let site = try await Site(options)
            let host = try #require(
                Mirror(reflecting: site.wearable).descendant("host") as? SimulatedHost<tendon_simulated_bose>)
            let c = host.device.pointee.options
            #expect(String(cString: c.name) == options.name && String(cString: c.firmware) == options.firmware)
            #expect(c.pairing_required == options.requiresPairing && c.pairing_enabled == options.isInPairingMode)
            #expect(c.flat_out == options.isFlatOut && c.max_payload == options.maximumPayload)
            #expect(c.transmission_period_ms == options.transmissionPeriod)
        }
    }

    /// A program with one callback and nothing else: no notification is gathered for it.
    @Test @TendonActor func aCallbackAloneGetsItsSamples() async throws {
        let site = try await Site()
        let session = try await site.boseWearable().startConnection()
        let device = try #require(session.device)
        let dispatch = SensorDispatch()
        let isCalled = Flag()
        dispatch.rotationCallback = { _, _, _ in isCalled.set() }
        try await device.configureSensorsAndWait { $0.enable(sensor: .rotation, at: ._20ms) }
        await eventually("samples") { isCalled.isSet }
        withExtendedLifetime(dispatch) {}
    }
}
