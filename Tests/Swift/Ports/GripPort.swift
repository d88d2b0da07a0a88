// SPDX-License-Identifier: MIT
import Tendon
import TendonFjorden
import TestSupport
import Testing

/// What a camera application does with the grip: its steps are those of the vendor's document, in its order.
@TendonActor
private final class CameraModel {
    let manager: GripManager
    private(set) var shown: [String] = []
    private(set) var events: [GripEvent] = []

    init(_ manager: GripManager) { self.manager = manager }

    // MARK: Setting up a new grip

    /// Asks for the permission, shows the list, takes the grip that the user selects.
    func setUp(select: ([ConnectableGrip]) -> ConnectableGrip?) async throws {
        try await manager.start(options: [.askForBluetoothPermission])
        for await grips in manager.startScanningForFjordenGrips() {
            guard let selectedGrip = select(grips) else { continue }
            try await manager.connect(toGrip: selectedGrip)
            break
        }
    }

    // MARK: At launch

    func launch() async -> GripManager.State? { try? await manager.start() }

    // MARK: State changes, both forms

    func followStates() async {
        for await state in manager.subscribeToStateChanges() {
            handleGripManagerStateChange(state)
        }
    }

    func followStatesWithAClosure() {
        manager.subscribeToStateChanges { [weak self] state in
            self?.handleGripManagerStateChange(state)
        }
    }

    private func handleGripManagerStateChange(_ state: GripManager.State) {
        switch state {
        case .uninitialized: shown.append("-")
        case .ready: shown.append("ready")
        case .scanningForGrips: shown.append("scanning")
        case .scanningForBondedGrip: shown.append("looking for the bonded grip")
        case .connecting(let grip): shown.append("connecting to \(grip.name)")
        case .connected(let grip): shown.append("connected to \(grip.name)")
        case .unauthorized: shown.append("not authorised")
        case .bluetoothUnavailable: shown.append("no Bluetooth")
        }
    }

    // MARK: Events, both forms

    func followEvents() async {
        guard case .connected(let grip) = manager.state else {
            Issue.record("not connected to any grip")
            return
        }
        for await event in grip.subscribeToEvents() {
            handleGripEvent(event)
        }
    }

    func followEventsWithAClosure() {
        // Shorter than a pattern: nil unless the state is connected.
        guard let grip = manager.connectedGrip else {
            Issue.record("not connected to any grip")
            return
        }
        grip.subscribeToEvents { [weak self] event in
            self?.handleGripEvent(event)
        }
    }

    private func handleGripEvent(_ event: GripEvent) { events.append(event) }

    // MARK: Forgetting

    func forget() { manager.disconnectAndForgotBondedGrip() }
}

@Suite(.timeLimit(.minutes(1)))
struct GripPort {
    @TendonActor
    private func simulated(
        _ change: (inout GripManager.Configuration) -> Void = { _ in }
    ) throws -> (CameraModel, GripSimulator) {
        let simulator = GripSimulator()
        var custom = GripManager.Configuration.simulated
        custom.simulator = simulator
        change(&custom)
        let manager = GripManager()
        manager.configure(with: custom)
        return (CameraModel(manager), simulator)
    }

    /// The shared instance, configured with a mode alone; no other test may use it.
    @Test @TendonActor func theSharedInstance() async throws {
        #expect(GripManager.default.state == .uninitialized)
        GripManager.default.configure(with: .simulated)
        #expect(try await GripManager.default.start() == .ready)
        let simulator = try #require(GripManager.default.simulator)
        #expect(simulator.grip.connections == 0)
    }

    @Test @TendonActor func settingUpANewGrip() async throws {
        let (model, simulator) = try simulated()
        simulator.permission = .undetermined(allows: true)
        model.followStatesWithAClosure()
        try await model.setUp { grips in grips.first { $0.name == "Fjorden Grip Simulator" } }
        await eventually("told") { model.shown.count == 4 }
        #expect(
            model.shown == [
                "ready", "scanning", "connecting to Fjorden Grip Simulator", "connected to Fjorden Grip Simulator",
            ])
        #expect(model.manager.connectedGrip != nil)
    }

    @Test @TendonActor func statesAsASequence() async throws {
        let (model, simulator) = try simulated()
        let follower = Task { @TendonActor in await model.followStates() }
        await Task.yield()
        #expect(await model.launch() == .ready)
        simulator.isPoweredOn = false
        await eventually("told") { model.shown == ["ready", "no Bluetooth"] }
        #expect(model.manager.state == .bluetoothUnavailable)
        follower.cancel()
    }

    @Test @TendonActor func eventsAsASequenceAndWithAClosure() async throws {
        let (model, simulator) = try simulated()
        try await model.setUp { grips in grips.first }
        let follower = Task { @TendonActor in await model.followEvents() }
        simulator.grip.moveShutter(.half)
        await eventually("the sequence has it") { model.events == [.shutterButtonHalfDown] }
        follower.cancel()
        await follower.value
        model.followEventsWithAClosure()
        simulator.grip.moveShutter(.released)
        await eventually("the closure has it") { model.events == [.shutterButtonHalfDown, .shutterButtonReleased] }
    }

    /// A stored bond is restored without asking anybody; with a time-out of one's own.
    @Test @TendonActor func restoringAtLaunch() async throws {
        let storage = MemoryStorage()
        storage.set("C0:00:00:00:00:01/random", forKey: "fjorden.bondedGrip.identifier")
        let (model, simulator) = try simulated {
            $0.persistentStorage = storage
            $0.connectionTimeoutThreshold = 2
        }
        simulator.setPresent(simulator.grip, false)
        #expect(await model.launch() == .ready)
        simulator.setPresent(simulator.grip, true)
        try await model.manager.connectToBondedGrip()
        #expect(model.manager.isConnected)
        model.forget()
        #expect(model.manager.state == .ready && !model.manager.hasBondedGrip)
    }

    @Test @TendonActor func notAuthorised() async throws {
        let (model, simulator) = try simulated()
        simulator.permission = .denied
        #expect(await model.launch() == .unauthorized)
    }

    /// Firmware that is too old ends the set-up with an error that the application can show.
    @Test @TendonActor func tooOldFirmware() async throws {
        var options = SimulatedGrip.Options()
        options.firmware = "0.1.0"
        let simulator = GripSimulator(options)
        var custom = GripManager.Configuration.simulated
        custom.simulator = simulator
        let manager = GripManager()
        manager.configure(with: custom)
        let model = CameraModel(manager)
        await #expect(throws: FjordenError.gripUnsupportedFirmwareVersion) {
            try await model.setUp { grips in grips.first }
        }
    }
}
