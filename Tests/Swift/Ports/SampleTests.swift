// SPDX-License-Identifier: MIT
//
// Programs as they come to mind before one has read the documentation: a plain asynchronous function, on no actor.
import ObviousTestSupport
import Tendon
import TendonActiv5
import TendonBose
import TendonFeelSpace
import TendonFjorden
import TendonObvious
import TestSupport
import Testing

@Suite(.serialized, .timeLimit(.minutes(2)))
struct SampleTests {
    /// A head that turns.
    @Test func headphones() async throws {
        let surroundings = try await Surroundings()
        let session = try await surroundings.library.startConnection(
            sensorIntent: SensorIntent(sensors: [.rotation], samplePeriods: [._20ms]))
        let device = session.device!
        let rotation = device.rotation
        try await device.configureSensorsAndWait { $0.enable(sensor: .rotation, at: ._20ms) }
        var times: [UInt64] = []
        for try await sample in rotation {
            #expect(abs(sample.quaternion.length - 1) < 0.01)
            times.append(sample.deviceTime)
            if times.count == 5 { break }
        }
        #expect(zip(times, times.dropFirst()).allSatisfy { $1 - $0 == 20 })
        await session.closeAndWait()
    }

    /// Any device with a standard service.
    @Test func heartRate() async throws {
        let directory = RadioDirectory()
        let rate = LocalCharacteristic(0x2A37, properties: .notify)
        let strap = try await LocalPeripheral(
            name: "strap", services: [LocalService(0x180D, [rate])], interval: .milliseconds(20),
            radio: directory.radio,
            address: directory.address)
        try await strap.start()
        let central = try await Central(radio: directory.radio, bonds: .none)
        for try await found in try await central.scan(services: [0x180D]) {
            let peripheral = try await central.connect(found.address)
            let measurement = try await peripheral.characteristic(0x2A37, in: 0x180D)
            let values = try await peripheral.notifications(of: measurement)
            _ = try await strap.notify([0, 72], for: rate)
            for try await value in values {
                #expect(value.count == 2 && value[1] == 72)
                break
            }
            break
        }
        await strap.stop()
    }

    /// A squeeze.
    @Test func trainer() async throws {
        let directory = RadioDirectory()
        let simulated = try await SimulatedTrainer(
            radio: directory.radio, address: directory.address, loop: try Loop(), interval: .milliseconds(20))
        let manager = await A5DeviceManager(radio: directory.radio)
        var forces: [String] = []
        for try await device in manager.scan() {
            #expect(device.name == "ACTIV5-AC-0001" && device.address == simulated.address)
            let force = device.force
            await device.connect()
            await eventually("it is initialized") { await device.communicationInitialized }
            await device.startIsometric()
            for await force in force {
                forces.append("\(force) N")
                if forces.count == 3 { break }
            }
            break
        }
        #expect(forces.count == 3 && forces.allSatisfy { $0.hasSuffix(" N") && Double($0.dropLast(2)) != nil })
        #expect(await !manager.isScanning, "the search ends with its sequence")
    }

    /// A belt that points ahead while its button is not pressed.
    @Test func belt() async throws {
        let directory = RadioDirectory()
        let simulated = try await SimulatedBelt(
            radio: directory.radio, address: directory.address, loop: try Loop(), interval: .milliseconds(20))
        let belt = await FSNavigationController(
            connectionManager: FSConnectionManager(radio: directory.radio, bonds: .memory))
        let updates = belt.updates
        try await belt.searchAndConnect()
        await belt.startNavigation(direction: 0, isMagneticBearing: false, signal: .continuous)
        await eventually("it vibrates") { await simulated.motors.contains { $0 > 0 } }
        await simulated.press(.home)
        for await update in updates {
            if case .homeButtonPressed = update { break }
        }
        await belt.disconnectBelt()
    }

    /// Finds, opens and closes the only device in range, by the names that all families share.
    private func meets<Device: Wearable, Simulated>(
        _ family: WearableFamily<Device>, _ simulated: (RadioDirectory) async throws -> Simulated,
        _ isOpen: @TendonActor (Device) -> Bool
    ) async throws {
        let directory = RadioDirectory()
        let kept = try await simulated(directory)
        let central = try await Central(radio: directory.radio, bonds: .memory)
        let device = try await central.first(of: family)
        #expect(await !isOpen(device), "it is found, and not connected")
        try await device.openAndWait()
        #expect(await isOpen(device))
        await device.closeAndWait()
        #expect(await !isOpen(device))
        withExtendedLifetime(kept) {}
    }

    @Test func everyFamilyHasTheSameCalls() async throws {
        try await meets(.bose) {
            try await SimulatedWearable(
                radio: $0.radio, address: $0.address, loop: try Loop(), interval: .milliseconds(20))
        } _: {
            $0.isOpen
        }
        try await meets(.activ5) {
            try await SimulatedTrainer(
                radio: $0.radio, address: $0.address, loop: try Loop(), interval: .milliseconds(20))
        } _: {
            $0.connectionState == .connected
        }
        try await meets(.feelspace) {
            try await SimulatedBelt(
                radio: $0.radio, address: $0.address, loop: try Loop(), interval: .milliseconds(20))
        } _: {
            $0.state == .connected
        }
        try await meets(.fjorden) {
            try await SimulatedGrip.open(radio: $0.radio, address: $0.address, interval: .milliseconds(20))
        } _: {
            $0.connectedGrip != nil
        }
        let site = try await OcelotSite()
        let central = try await Central(radio: site.radio, bonds: .memory)
        let device = try await central.first(of: .obvious(productId: "1234"))
        try await device.openAndWait()
        #expect(await device.state == .connected)
        await device.closeAndWait()
        #expect(await device.state == .disconnected)
    }

    @Test func nothingIsInRange() async throws {
        let directory = RadioDirectory()
        let strap = try await LocalPeripheral(
            name: "naviGuertel", services: [], interval: .milliseconds(20), radio: directory.radio,
            address: directory.address)
        try await strap.start()
        let central = try await Central(radio: directory.radio, bonds: .none)
        let error = await #expect(throws: TendonError.self) {
            _ = try await central.first(of: .feelspace, within: .milliseconds(100))
        }
        #expect(error?.isTimeout == true)
        #expect(await central.state == .idle)
        await strap.stop()
    }
}
