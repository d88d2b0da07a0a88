// SPDX-License-Identifier: MIT
import CTendon
import Tendon
import TestSupport
import Testing

@testable import TendonFjorden

@Suite(.timeLimit(.minutes(1)))
struct GripTests {
    @Test @TendonActor func batteryAndInformation() async throws {
        let (manager, simulator) = try simulated()
        let grip = try await connectFirst(manager)
        #expect(try await grip.readBatteryInfo().level == 80)
        var levels = grip.batteryLevels().makeAsyncIterator()
        var records = grip.records().makeAsyncIterator()
        simulator.grip.setBattery(28)
        #expect(await levels.next()?.isLow == true)
        #expect(await records.next()?.event == .batteryLow(28))
        #expect(try await grip.readBatteryInfo().level == 28)  // what was notified
        #expect(try await grip.readBatteryInfo(forceRefresh: true).level == 28)
        let info = try await grip.readGripInfo()
        #expect(info.manufacturerName == "Tendon" && info.modelNumber == "Grip (simulated)")
        #expect(info.hardwareVersion == "1.0" && info.firmware?.description == "1.2.0")
        #expect(info.serialNumber == "TENDON-FJORDEN-1")
        #expect(info.description == "Tendon, Grip (simulated), hardware 1.0, firmware 1.2.0")
        var result: Result<GripInfo, FjordenError>?
        grip.readGripInfo(forceRefresh: true) { result = $0 }
        await eventually("the closure is called") { result != nil }
        #expect(try result?.get() == info)
        try manager.disconnectAndForgetBondedGrip()
        await #expect(throws: FjordenError.gripUnableToReadBatteryInfo) {
            try await grip.readBatteryInfo(forceRefresh: true)
        }
    }

    /// What was read before is what is returned, unless it is to be read again.
    @Test @TendonActor func informationIsReadAgainWhenForced() async throws {
        let (manager, simulator) = try simulated()
        let grip = try await connectFirst(manager)
        #expect(try await grip.readGripInfo().serialNumber == "TENDON-FJORDEN-1")
        // The simulated grip serves its serial number from this memory.
        let serial = UnsafeMutablePointer(mutating: try #require(simulator.grip.device.pointee.options.serial))
        serial[0] = 0x58
        #expect(try await grip.readGripInfo().serialNumber == "TENDON-FJORDEN-1")
        #expect(try await grip.readGripInfo(forceRefresh: true).serialNumber == "XENDON-FJORDEN-1")
    }

    /// What the manager knows belongs to its connection, which is another one, or none.
    @Test @TendonActor func anEndedConnectionKnowsNothing() async throws {
        let (manager, simulator) = try simulated()
        let first = try await connectFirst(manager)
        #expect(try await first.readBatteryInfo().level == 80)
        #expect(try await first.readGripInfo().serialNumber == "TENDON-FJORDEN-1")
        func expectNothing() async {
            await #expect(throws: FjordenError.gripUnableToReadBatteryInfo) { try await first.readBatteryInfo() }
            await #expect(throws: FjordenError.gripUnableToReadGripInfo) { try await first.readGripInfo() }
        }
        await manager.closeAndWait()
        await expectNothing()
        try manager.disconnectAndForgetBondedGrip()
        simulator.setPresent(simulator.grip, false)
        var options = SimulatedGrip.Options()
        options.serial = "WORKSHOP-7"
        _ = simulator.addGrip(options)
        let second = try await connectFirst(manager)
        #expect(try await second.readBatteryInfo().level == 80)
        #expect(try await second.readGripInfo().serialNumber == "WORKSHOP-7")
        await expectNothing()
    }

    /// The state changes at once; the link ends later.
    @Test(arguments: [false, true]) @TendonActor func closedToTheEnd(_ isOnRadio: Bool) async throws {
        var (manager, _) = try simulated()
        let radio = virtualRadio()
        var device: SimulatedGrip?
        if isOnRadio {
            device = try await SimulatedGrip.open(radio: radio, interval: .milliseconds(20))
            manager = GripManager()
            var configuration = GripManager.Configuration.system
            configuration.radio = radio
            configuration.bonds = .memory
            configuration.persistentStorage = MemoryStorage()
            manager.configure(with: configuration)
        }
        _ = try await connectFirst(manager)
        func hasLink() -> Bool { manager.core.block.pointer.pointee.engine.state != UInt8(TENDON_ENGINE_AWAY.rawValue) }
        manager.disconnect()
        #expect(!manager.isConnected && hasLink())
        await manager.closeAndWait()
        #expect(!hasLink())
        await manager.closeAndWait()  // there is nothing to wait for
        withExtendedLifetime(device) {}
    }

    @Test @TendonActor func itsOwnSerialNumber() async throws {
        var options = SimulatedGrip.Options()
        options.serial = "WORKSHOP-7"
        let (manager, _) = try simulated(options)
        #expect(try await connectFirst(manager).readGripInfo().serialNumber == "WORKSHOP-7")
    }

    @Test @TendonActor func noBattery() async throws {
        var options = SimulatedGrip.Options()
        options.lacks = .battery
        let (manager, _) = try simulated(options)
        let grip = try await connectFirst(manager)
        await #expect(throws: FjordenError.gripUnableToReadBatteryInfo) { try await grip.readBatteryInfo() }
    }

    @Test @TendonActor func commands() async throws {
        let (manager, simulator) = try simulated()
        let grip = try await connectFirst(manager)
        #expect(try await grip.ping([1, 2, 3]) == [1, 2, 3])
        try await grip.setLED(.blinkSlow, for: .seconds(3))
        #expect(simulator.grip.ledMode == .blinkSlow)
        // 0 would be: until it is changed.
        for (time, sent) in [(Duration.zero, 1), (.microseconds(500), 1), (.seconds(-1), 1), (.seconds(66), 65535)] {
            try await grip.setLED(.blinkSlow, for: time)
            #expect(simulator.grip.device.pointee.led_ms == sent)
        }
        try await grip.setLED(.blinkSlow)
        #expect(simulator.grip.device.pointee.led_ms == 0)
        var limits = try await grip.readLimits()
        #expect(limits == GestureLimits())
        limits.longPress = .milliseconds(250)
        limits.dialDivider = 2
        try await grip.setLimits(limits)
        #expect(try await grip.readLimits() == limits)
        simulator.grip.moveLever(.left)
        simulator.grip.turnDial(-4)
        let state = try await grip.readControlState()
        #expect(state.lever == .left && state.dialPosition == -4 && state.shutter == .released)
        limits.dialDivider = 9
        await #expect(throws: GripCommandError.outOfRange("dialDivider: 1 to 8")) { try await grip.setLimits(limits) }
        await #expect(throws: GripCommandError.outOfRange("payload: at most 17 bytes")) {
            _ = try await grip.ping([UInt8](repeating: 0, count: 18))
        }
        var events = grip.subscribeToGripEvents().makeAsyncIterator()
        var states = manager.subscribeToStateChanges().makeAsyncIterator()
        try await grip.powerOff()
        var last: GripEvent?
        while last != .poweringOff, let event = await events.next() { last = event }
        #expect(last == .poweringOff)
        while let state = await states.next(), state != .scanningForBondedGrip {}
        await eventually("connected again") { manager.isConnected }
        #expect(manager.connectedGrip == grip)
        // It has forgotten us only until the manager has connected and paired again, which may be at once.
        var reset = grip.subscribeToGripEvents().makeAsyncIterator()
        try await grip.clearBond()
        #expect(await reset.next() == .bondReset)
        while let state = await states.next(), state != .scanningForBondedGrip {}
        await eventually("connected and bonded again") { manager.isConnected && simulator.grip.isBonded }
    }

    /// The wire as a file would describe it.
    @Test @TendonActor func anotherProfile() async throws {
        let (manager, simulator) = try simulated { $0.profile.setCode(0x61, to: "zoomLeverLeft") }
        let grip = try await connectFirst(manager)
        var events = grip.subscribeToGripEvents().makeAsyncIterator()
        simulator.grip.send(code: 0x61)
        #expect(await events.next() == .zoomLeverLeft)
    }

    /// The same over the virtual radio, with its pairing.
    @Test @TendonActor func overTheVirtualRadio() async throws {
        let radio = virtualRadio()
        let device = try await SimulatedGrip.open(radio: radio, interval: .milliseconds(20))
        var configuration = GripManager.Configuration.system
        configuration.radio = radio
        configuration.bonds = .memory
        configuration.persistentStorage = MemoryStorage()
        let manager = GripManager()
        manager.configure(with: configuration)
        let grip = try await connectFirst(manager)
        #expect(grip.id == device.address && device.isBonded)
        var events = grip.subscribeToGripEvents().makeAsyncIterator()
        device.moveShutter(.full)
        device.moveShutter(.released)
        var got: [GripEvent] = []
        while got.count < 3, let event = await events.next() { got.append(event) }
        #expect(got == [.shutterButtonHalfDown, .shutterButtonDown, .shutterButtonReleased])
        #expect(try await grip.ping([7]) == [7])
        manager.disconnect()
        await eventually("the device sees us go") { device.connections == 0 }
        #expect(try await manager.connectToBondedGrip().id == device.address)
        try manager.disconnectAndForgetBondedGrip()
        await eventually("and again") { device.connections == 0 }
    }

    @Test @TendonActor func aHandThatPlays() async throws {
        var options = SimulatedGrip.Options()
        options.isPlayedWith = true
        let (manager, _) = try simulated(options)
        var events = try await connectFirst(manager).subscribeToGripEvents().makeAsyncIterator()
        #expect(await events.next() != nil)
    }

    @Test @TendonActor func tenThousandEventsNoneLost() async throws {
        var options = SimulatedGrip.Options()
        options.isFlatOut = true
        options.limit = 10_000
        let (manager, _) = try simulated(options)
        // As soon as it is connected: connect(toGrip:) waits for the file of the bond, and this grip waits for nobody.
        var first: EventStream<GripRecord>?
        manager.subscribeToStateChanges { state in
            if case .connected(let grip) = state { first = grip.records(capacity: 16384) }
        }
        let grip = try await connectFirst(manager)
        let records = try #require(first)
        var count = 0
        var next: UInt8 = 1
        for await record in records {
            #expect(record.sequence == next)
            next &+= 1
            count += 1
            if count == 10_000 { break }
        }
        #expect(count == 10_000 && grip.counters.lost == 0 && records.dropped == 0)
    }

    /// The first consumer comes late: what is kept for it is exactly what was not counted as dropped.
    @Test @TendonActor func whatIsDroppedBeforeTheFirstConsumerIsCounted() async throws {
        var options = SimulatedGrip.Options()
        options.isFlatOut = true
        options.limit = 8200
        let (manager, _) = try simulated(options)
        let grip = try await connectFirst(manager)
        await eventually("all have come") { grip.counters.records == 8200 }
        #expect(grip.counters.droppedBeforeFirstConsumer == 8)
        var records = grip.records(capacity: 8192).makeAsyncIterator()
        for number in 1...8192 { #expect(await records.next()?.sequence == UInt8(truncatingIfNeeded: number)) }
        #expect(grip.counters.droppedBeforeFirstConsumer == 8)
    }
}
