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
