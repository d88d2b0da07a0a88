// SPDX-License-Identifier: MIT
import Tendon
import TendonFjorden
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(1)))
struct ManagerTests {
    @Test @TendonActor func nothingBeforeConfigure() async throws {
        let manager = GripManager()
        #expect(manager.state == .uninitialized)
        await #expect(throws: FjordenError.managerNotConfigured) { try await manager.start() }
        #expect(throws: Errors.managerNotConfigured) { _ = try manager.searchForGrips() }
        for await grips in manager.scanForFjordenGrips() { Issue.record("\(grips)") }
        manager.scanForFjordenGrips { Issue.record("\($0)") }
        manager.startScanningForFjordenGrips { Issue.record("\($0)") }
        #expect(throws: FjordenError.managerNotConfigured) { try manager.disconnectAndForgetBondedGrip() }
        manager.configure(with: .simulated)
        #expect(throws: FjordenError.managerAlreadyConfigured) { try manager.configure().get() }
        #expect(throws: FjordenError.bondDoesNotExists) { try manager.disconnectAndForgetBondedGrip() }
        #expect(throws: FjordenError.invalidManagerState) { _ = try manager.searchForGrips() }
    }

    @Test @TendonActor func aNewGripIsConnectedAndKept() async throws {
        let storage = MemoryStorage()
        let (manager, simulator) = try simulated { $0.persistentStorage = storage }
        var states: [String] = []
        manager.subscribeToStateChanges { states.append("\($0)".split(separator: "(").first.map(String.init) ?? "") }
        #expect(try await manager.start() == .ready)
        let grip = try await connectFirst(manager)
        #expect(manager.isConnected && manager.connectedGrip == grip && manager.state == .connected(grip))
        #expect(grip.name == "Fjorden Grip Simulator")
        #expect(manager.firmwareVersion?.description == "1.2.0")
        #expect(manager.hasBondedGrip && manager.bondedGripName == "Fjorden Grip Simulator")
        #expect(manager.bondedGripDetails?.name == "Fjorden Grip Simulator")
        #expect(storage.string(forKey: "fjorden.bondedGrip.identifier") == "C0:00:00:00:00:01/random")
        #expect(simulator.grip.isBonded)
        await eventually("all changes are told") { states.count == 4 }
        #expect(states == ["ready", "scanningForGrips", "connecting", "connected"])
    }

    @Test @TendonActor func eventsComeAsSequenceAndToHandlers() async throws {
        let (manager, simulator) = try simulated()
        let grip = try await connectFirst(manager)
        let simulatedGrip = simulator.grip
        simulatedGrip.moveShutter(.full)  // before anybody listens
        await eventually("received") { grip.counters.records == 2 }
        var heard: [GripEvent] = []
        let events = grip.subscribeToGripEvents()
        grip.subscribeToGripEvents { heard.append($0) }
        simulatedGrip.turnDial(3)
        simulatedGrip.moveShutter(.released)
        var iterator = events.makeAsyncIterator()
        var got: [GripEvent] = []
        while got.count < 6, let event = await iterator.next() { got.append(event) }
        #expect(
            got == [
                .shutterButtonHalfDown, .shutterButtonDown, .dialButtonCW, .dialButtonCW, .dialButtonCW,
                .shutterButtonReleased,
            ])
        #expect(heard == Array(got.dropFirst(2)))
        // Both outlive a connection that is restored.
        var records = grip.records().makeAsyncIterator()
        simulator.setPresent(simulatedGrip, false)
        #expect(manager.state == .scanningForBondedGrip)
        #expect(await records.next() == nil)
        simulator.setPresent(simulatedGrip, true)
        await eventually("connected again") { manager.isConnected }
        #expect(manager.connectedGrip == grip)
        simulatedGrip.pressFn(true)
        simulatedGrip.pressFn(false)
        #expect(await iterator.next() == .fnButtonPress)
        #expect(heard.count == 5)
        #expect(try await grip.ping([1]) == [1])  // the one from before is still the grip
        manager.disconnect()
        #expect(await iterator.next() == nil)
    }

    @Test @TendonActor func handlersAreReleased() async throws {
        let (manager, simulator) = try simulated()
        let grip = try await connectFirst(manager)
        var heard: [GripEvent] = []
        var states = 0
        let events = grip.subscribeToEvents { heard.append($0) }
        let changes = manager.subscribeToStateChanges { _ in states += 1 }
        weak var released: Probe?
        do {
            let probe = Probe()
            released = probe
            grip.subscribeToRecords { _ in _ = probe }.cancel()
        }
        #expect(released == nil)
        simulator.grip.turnDial(1)
        await eventually("heard") { heard.count == 1 }
        events.cancel()
        changes.cancel()
        simulator.grip.turnDial(1)
        _ = try await grip.ping()  // the event came before the response
        var laterStates = 0
        let later = manager.subscribeToStateChanges { _ in laterStates += 1 }
        manager.disconnect()
        #expect(heard.count == 1)
        await eventually("one that is not cancelled is told") { laterStates > 0 }
        #expect(states == 0)
        later.cancel()
    }

    @Test @TendonActor func lossIsMadeGoodFromTheControlState() async throws {
        let (manager, simulator) = try simulated()
        let grip = try await connectFirst(manager)
        var records = grip.records().makeAsyncIterator()
        simulator.grip.moveShutter(.full)
        _ = await records.next()
        _ = await records.next()
        simulator.grip.lose(1)
        simulator.grip.moveShutter(.released)  // is lost
        simulator.grip.turnDial(-1)
        let turn = try #require(await records.next())
        #expect(turn.event == .dialButtonCCW && turn.lostBefore == 1 && !turn.isSynthesized)
        let released = try #require(await records.next())
        #expect(released.event == .shutterButtonReleased && released.isSynthesized)
        simulator.grip.duplicate(1)
        simulator.grip.inject(.empty)
        simulator.grip.send(code: 0x42)
        simulator.grip.send(code: 0xF0)
        #expect(await records.next()?.event == .customButtonPress(2))
        #expect(await records.next()?.event == .unknown(0xF0))
        let counters = grip.counters
        #expect(counters.lost == 1 && counters.duplicates == 1 && counters.rejected == 1)
        #expect(counters.resynchronizations == 1)
    }

    @Test @TendonActor func theBondedGripIsRestoredOnStart() async throws {
        let storage = MemoryStorage()
        let simulator = GripSimulator()
        var configuration = GripManager.Configuration.simulated
        configuration.simulator = simulator
        configuration.persistentStorage = storage
        do {
            let first = GripManager()
            first.configure(with: configuration)
            _ = try await connectFirst(first)
        }
        await eventually("the first manager is gone") { simulator.grip.connections == 0 }
        let second = GripManager()
        second.configure(with: configuration)
        guard case .connected(let grip) = try await second.start() else {
            Issue.record("not restored: \(second.state)")
            return
        }
        #expect(grip.name == "Fjorden Grip Simulator")
    }

    /// The time-out of the document, but shorter.
    @Test @TendonActor func startEndsReadyWhenTheGripIsNotThere() async throws {
        let storage = MemoryStorage()
        storage.set("C0:00:00:00:00:01/random", forKey: "fjorden.bondedGrip.identifier")
        let (manager, simulator) = try simulated {
            $0.persistentStorage = storage
            $0.connectionTimeoutThreshold = 0.2
        }
        #expect(GripManager.Configuration.default.connectionTimeoutThreshold == 5.0)
        simulator.setPresent(simulator.grip, false)
        let start = ContinuousClock.now
        #expect(try await manager.start() == .ready)
        let taken = ContinuousClock.now - start
        #expect(taken >= .milliseconds(199) && taken < .seconds(4), "not the default of 5 s")
        await #expect(throws: FjordenError.connectionTimeout) { try await manager.connectToBondedGrip() }
    }

    @Test @TendonActor func aSecondStartWhileSearching() async throws {
        let storage = MemoryStorage()
        storage.set("C0:00:00:00:00:01/random", forKey: "fjorden.bondedGrip.identifier")
        let (manager, simulator) = try simulated { $0.persistentStorage = storage }
        simulator.setPresent(simulator.grip, false)
        let first = Task { @TendonActor in try await manager.start() }
        await eventually("searching") { manager.state == .scanningForBondedGrip }
        #expect(manager.isScanning)
        await #expect(throws: FjordenError.alreadyScanningForBondedGrip) { try await manager.start() }
        manager.stopScanning()
        #expect(try await first.value == .ready)
    }

    @Test @TendonActor func forgetting() async throws {
        let (manager, simulator) = try simulated()
        let grip = try await connectFirst(manager)
        let events = grip.subscribeToGripEvents()
        try manager.disconnectAndForgetBondedGrip()
        #expect(manager.state == .ready && !manager.hasBondedGrip)
        for await _ in events {}  // ends
        await eventually("the grip sees us go") { simulator.grip.connections == 0 }
        // Its own bond stays until it is reset.
        await #expect(throws: FjordenError.gripPairingRequestDeclined) { try await connectFirst(manager) }
        simulator.grip.resetBond()
        _ = try await connectFirst(manager)
    }

    @Test @TendonActor func everyFailureHasItsError() async throws {
        let rows: [((inout SimulatedGrip.Options) -> Void, FjordenError?)] = [
            // Its name makes it known even where the service is missing.
            (
                {
                    $0.lacks = .service
                    $0.name = "Fjorden Grip 7"
                }, .gripUnableToDiscoverService
            ),
            ({ $0.lacks = .eventCharacteristic }, .gripUnableToDiscoverCharacteristics),
            ({ $0.rejectsPairing = true }, .gripPairingRequestDeclined),
            ({ $0.isBonded = true }, .gripPairingRequestDeclined),
            ({ $0.lacks = .firmwareRevision }, .gripUnableToReadFirmwareVersion),
            ({ $0.firmware = "0.9" }, .gripUnsupportedFirmwareVersion),
            ({ $0.lacks = .notifications }, .gripUnableToEnableNotify),
            ({ _ in }, nil),
        ]
        for (change, expected) in rows {
            var options = SimulatedGrip.Options()
            change(&options)
            let (manager, simulator) = try simulated(options)
            #expect(simulator.grip.isBonded == options.isBonded)
            var failure: FjordenError?
            do {
                _ = try await connectFirst(manager)
            } catch {
                failure = error as? FjordenError
                #expect(manager.state == .ready)
            }
            #expect(failure == expected)
            if expected == .gripPairingRequestDeclined {
                guard case .pairing(let error) = manager.issue else {
                    Issue.record("\(String(describing: manager.issue))")
                    continue
                }
                #expect(error.operation == .pair && error.status < 0)
            } else {
                #expect(manager.issue == nil)
            }
        }
    }

    @Test @TendonActor func theUserIsAskedBeforePairing() async throws {
        var answer = false
        let (manager, _) = try simulated { $0.pairingPrompt = { _ in await TendonActor.run { answer } } }
        await #expect(throws: FjordenError.gripPairingRequestDeclined) { try await connectFirst(manager) }
        answer = true
        _ = try await connectFirst(manager)
    }

    /// Whoever is asked learns that nobody waits for the answer any more.
    @Test @TendonActor func theQuestionEndsWithTheAttempt() async throws {
        let (isAsked, isOver) = (Flag(), Flag())
        let (manager, _) = try simulated {
            $0.pairingPrompt = { _ in
                isAsked.set()
                await untilCancelled()
                isOver.set()
                return true
            }
        }
        let attempt = Task { @TendonActor in try await connectFirst(manager) }
        await eventually("asked") { isAsked.isSet }
        manager.disconnect()
        await eventually("its task is cancelled") { isOver.isSet }
        await #expect(throws: FjordenError.self) { try await attempt.value }
    }

    /// With the defaults, before anything else.
    @Test @TendonActor func openingConfiguresAManagerThatIsNotConfigured() async throws {
        let directory = RadioDirectory()
        let manager = GripManager(on: try await Central(radio: directory.radio, bonds: .memory))
        await #expect(throws: FjordenError.managerNotConfigured) { try await manager.start() }
        let opening = Task { @TendonActor in
            withUnsafeCurrentTask { $0?.cancel() }
            try await manager.openAndWait()
        }
        await #expect(throws: FjordenError.cancelled) { try await opening.value }
        #expect(throws: FjordenError.managerAlreadyConfigured) { try manager.configure().get() }
    }

    @Test @TendonActor func permission() async throws {
        let (denied, simulator) = try simulated()
        simulator.permission = .denied
        #expect(try await denied.start() == .unauthorized)
        #expect(denied.state == .unauthorized)
        simulator.permission = .undetermined(allows: true)
        let (asking, other) = try simulated()
        other.permission = .undetermined(allows: true)
        #expect(try await asking.start() == .uninitialized)
        #expect(try await asking.start(options: [.askForBluetoothPermission]) == .ready)
        let (refused, third) = try simulated()
        third.permission = .undetermined(allows: false)
        #expect(try await refused.start(options: .askForBluetoothPermission) == .unauthorized)
    }

    @Test @TendonActor func bluetoothOff() async throws {
        let (manager, simulator) = try simulated()
        simulator.isPoweredOn = false
        #expect(try await manager.start() == .bluetoothUnavailable)
        #expect(manager.state == .bluetoothUnavailable)
        simulator.isPoweredOn = true
        await eventually("ready") { manager.state == .ready }
        #expect(manager.state != .bluetoothUnavailable)
        _ = try await connectFirst(manager)
        simulator.isPoweredOn = false
        #expect(manager.state == .bluetoothUnavailable)
    }

    @Test @TendonActor func listsInOrderOfDiscovery() async throws {
        let (manager, simulator) = try simulated()
        var options = SimulatedGrip.Options()
        options.name = "Fjorden Grip B"
        let second = try #require(simulator.addGrip(options, rssi: -70))
        try await manager.start()
        var lists = try manager.searchForGrips().makeAsyncIterator()
        var last: [ConnectableGrip] = []
        while last.count < 2 || last[1].name.isEmpty, let list = await lists.next() { last = list }
        #expect(last.map(\.name) == ["Fjorden Grip Simulator", "Fjorden Grip B"])
        #expect(last.map(\.rssi) == [-50, -70])
        simulator.setRSSI(second, -42)
        while last[1].rssi != -42, let list = await lists.next() { last = list }
        #expect(last[1].rssi == -42)
        #expect(last[1] == ConnectableGrip(id: second.address))
        manager.stopScanning()
        while await lists.next() != nil {}
        #expect(manager.state == .ready)
    }

    @Test @TendonActor func firmwareChecks() async throws {
        let (manager, _) = try simulated()
        #expect(await manager.checkForFirmwareUpdate { "9.9.9" } == .error(.connectionTimeout))
        _ = try await connectFirst(manager)
        #expect(await manager.checkForFirmwareUpdate { "1.2.0" } == .upToDate)
        let newer = try #require(FirmwareVersion(string: "1.3"))
        #expect(await manager.checkForFirmwareUpdate { "1.3" } == .updateAvailable(newer))
        #expect(await manager.checkForFirmwareUpdate { "soon" } == .error(.unableToReachFirmwareServer))
        #expect(
            await manager.checkForFirmwareUpdate { throw FjordenError.unknown } == .error(.unableToReachFirmwareServer))
    }

    /// One that is known from elsewhere, and not from a search of this manager.
    @Test @TendonActor func aGripKeepsTheNameThatTheProgramHas() async throws {
        let (manager, simulator) = try simulated()
        try await manager.start()
        _ = try await manager.connect(toGrip: ConnectableGrip(id: simulator.grip.address, name: "mine"))
        #expect(manager.bondedGripName == "mine")
    }

    @Test @TendonActor func cancellingEndsTheAttempt() async throws {
        let (manager, simulator) = try simulated()
        try await manager.start()
        simulator.setPresent(simulator.grip, false)
        let attempt = Task { @TendonActor in
            try await manager.connect(toGrip: ConnectableGrip(id: simulator.grip.address))
        }
        await eventually("connecting") { if case .connecting = manager.state { true } else { false } }
        attempt.cancel()
        await #expect(throws: FjordenError.cancelled) { try await attempt.value }
        await eventually("ready") { manager.state == .ready }
    }
}

private final class Probe: Sendable {}
