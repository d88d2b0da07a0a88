// SPDX-License-Identifier: MIT
import CTendon
import Glibc
import Tendon
import TestSupport
import Testing

@testable import TendonFjorden

/// The radio under a manager, and what keeps both.
@Suite(.timeLimit(.minutes(1)))
struct RadioTests {
    private func configuration(_ radio: RadioChoice = .automatic) -> GripManager.Configuration {
        var configuration = GripManager.Configuration.system
        configuration.radio = radio
        configuration.bonds = .memory
        configuration.persistentStorage = MemoryStorage()
        return configuration
    }

    /// As the C core does.
    @TendonActor
    private func fail(_ radio: RadioCore, _ status: tendon_status) {
        radio.radio.pointee.on_failure?(radio.radio.pointee.report_context, status, tendon_monotonic_ms())
    }

    @Test @TendonActor func aManagerKeepsItsCentral() async throws {
        let radio = virtualRadio()
        let device = try await SimulatedGrip.open(radio: radio, interval: .milliseconds(20))
        // Also from another thread; nothing but the manager keeps the central.
        let manager = try await Task.detached {
            GripManager(on: try await Central(radio: radio, bonds: .memory))
        }.value
        manager.configure(with: configuration(.bluez()))
        #expect(try await connectFirst(manager).id == device.address, "the central's radio is used")
    }

    @Test @TendonActor func theRadioOfTheProgramFails() async throws {
        let down = Int32(TENDON_RADIO_ERROR_ADAPTER_DOWN)
        let radio = virtualRadio()
        let device = try await SimulatedGrip.open(radio: radio, interval: .milliseconds(20))
        let central = try await Central(radio: radio, bonds: .memory)
        let manager = GripManager(on: central)
        manager.configure(with: configuration())
        _ = try await connectFirst(manager)
        fail(central.core, down)
        await eventually("noticed") { manager.state == .bluetoothUnavailable }
        #expect(manager.issue == .bluetooth(TendonError(status: down, operation: .scan)))
        #expect(try await manager.start() == .bluetoothUnavailable, "no other radio is opened")
        #expect(manager.core.transport == nil)
        await eventually("disconnected") { device.connections == 0 }
    }

    @Test @TendonActor func itsOwnRadioIsOpenedAgain() async throws {
        let radio = virtualRadio()
        let device = try await SimulatedGrip.open(radio: radio, interval: .milliseconds(20))
        let manager = GripManager()
        manager.configure(with: configuration(radio))
        #expect(try await manager.start() == .ready)
        _ = try manager.searchForGrips()
        let first = try #require(manager.core.holder?.radio)
        var issues = 0
        manager.subscribeToIssues { _ in issues += 1 }
        fail(first, Int32(TENDON_RADIO_ERROR_ADAPTER_DOWN))
        await eventually("noticed") { manager.state == .bluetoothUnavailable }
        await eventually("reported") { issues == 1 }
        #expect(try await connectFirst(manager).id == device.address)
        #expect(manager.core.holder?.radio !== first && issues == 1)
    }

    /// What the radio does is what the manager says; and the bond has the name as well.
    @Test @TendonActor func theSearchEndsOnTheRadio() async throws {
        let radio = virtualRadio()
        let device = try await SimulatedGrip.open(radio: radio, interval: .milliseconds(20))
        let storage = MemoryStorage()
        var settings = configuration(radio)
        settings.persistentStorage = storage
        let manager = GripManager()
        manager.configure(with: settings)
        try await manager.start()
        let lists = try manager.searchForGrips()
        let opened = try #require(manager.core.holder?.radio)
        #expect(manager.isScanning && opened.radio.pointee.scanning)
        for await grips in lists where grips.first?.name.isEmpty == false {
            let grip = try await manager.connect(toGrip: grips[0])
            #expect(!manager.isScanning && !opened.radio.pointee.scanning)
            await eventually("stored") {
                BondStore(storage).bond == BondStore.Bond(identifier: "\(device.address)/random", name: grip.name)
            }
            break
        }
        #expect(!opened.radio.pointee.scanning)
    }

    /// The program has no permission for the radio: here, a directory that other users may use is not opened.
    @Test @TendonActor func aRadioThatTheProgramMayNotUse() async throws {
        let radio = virtualRadio()
        guard case .virtual(let path?) = radio else { return }
        try #require(mkdir(path, 0o700) == 0 && chmod(path, 0o755) == 0)
        defer { rmdir(path) }
        let manager = GripManager()
        manager.configure(with: configuration(radio))
        #expect(try await manager.start() == .unauthorized)
        #expect(manager.state == .unauthorized && manager.core.transport == nil)
        let denied = TendonError(status: Int32(TENDON_ERROR_FILE_PERMISSION), operation: .openRadio)
        #expect(manager.issue == .bluetooth(denied))
        try #require(chmod(path, 0o700) == 0)
        #expect(try await manager.start() == .ready, "the permission is given")
    }

    @Test func causesThatMeanAPermission() {
        /// As TENDON_SYSTEM_ERROR() of the C core: layer 15.
        func system(_ number: Int32) -> Int32 { -15 * 256 - number }
        let permission = [
            Int32(TENDON_RADIO_ERROR_NO_CAP_NET_RAW), Int32(TENDON_RADIO_ERROR_NO_CAP_NET_ADMIN),
            Int32(TENDON_ERROR_FILE_PERMISSION), system(EPERM),
            system(EACCES),
        ]
        let others = [
            Int32(TENDON_RADIO_ERROR_NO_ADAPTER), Int32(TENDON_RADIO_ERROR_ADAPTER_DOWN),
            system(ENOENT), Int32(TENDON_ERROR_TIMEOUT),
        ]
        for status in permission { #expect(TendonError(status: status, operation: .openRadio).isPermission) }
        for status in others { #expect(!TendonError(status: status, operation: .openRadio).isPermission) }
    }

    /// A scan that does not start.
    @Test @TendonActor func aSearchThatFails() async throws {
        let manager = GripManager()
        manager.configure(with: configuration(virtualRadio()))
        #expect(try await manager.start() == .ready)
        manager.core.holder?.radio?.close()
        var lists = try manager.searchForGrips().makeAsyncIterator()
        #expect(await lists.next() == nil)
        #expect(manager.state == .bluetoothUnavailable)
        guard case .bluetooth(let error) = manager.issue else {
            Issue.record("no issue")
            return
        }
        #expect(error.operation == .scan && error.status == Int32(TENDON_ERROR_WRONG_STATE))
    }

    /// A sequence keeps its manager; the last one that is released ends the connection, and releases all.
    @Test @TendonActor func sequencesKeepTheManager() async throws {
        let radio = virtualRadio()
        let device = try await SimulatedGrip.open(radio: radio, interval: .milliseconds(20))
        weak var core: GripCore?
        weak var opened: RadioCore?
        do {
            var events: EventStream<GripEvent>.Iterator
            do {
                let manager = GripManager()
                manager.configure(with: configuration(radio))
                events = try await connectFirst(manager).subscribeToGripEvents().makeAsyncIterator()
                core = manager.core
                opened = manager.core.holder?.radio
            }
            device.turnDial(1)
            #expect(await events.next() == .dialButtonCW)
            device.turnDial(-1)
            #expect(await events.next() == .dialButtonCCW)
            #expect(device.connections == 1)
        }
        await eventually("disconnected") { device.connections == 0 }
        await eventually("released") { core == nil && opened == nil }
    }

    /// The same in memory: the grip sees the end of the connection.
    @Test @TendonActor func aManagerInMemoryIsReleased() async throws {
        let simulator = GripSimulator()
        weak var core: GripCore?
        do {
            var configuration = GripManager.Configuration.simulated
            configuration.simulator = simulator
            let manager = GripManager()
            manager.configure(with: configuration)
            _ = try await connectFirst(manager)
            core = manager.core
        }
        await eventually("disconnected") { simulator.grip.connections == 0 }
        await eventually("released") { core == nil }
        simulator.setPresent(simulator.grip, false)
        simulator.setPresent(simulator.grip, true)
    }

    /// A request that waits when the manager is released fails.
    @Test @TendonActor func aRequestOfAManagerThatIsReleased() async throws {
        let radio = virtualRadio()
        let device = try await SimulatedGrip.open(radio: radio, interval: .milliseconds(20))
        var manager: GripManager? = GripManager()
        manager?.configure(with: configuration(radio))
        let grip = try await connectFirst(try #require(manager))
        device.device.pointee.options.mute = true
        let asking = Task { @TendonActor in try await grip.ping([1]) }
        await eventually("sent") { device.counters.requests == 1 }
        manager = nil
        let error = await #expect(throws: GripCommandError.self) { try await asking.value }
        #expect(error?.isCancelled == false)
        await eventually("disconnected") { device.connections == 0 }
    }
}
