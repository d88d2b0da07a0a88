// SPDX-License-Identifier: MIT
import Tendon
import TendonFjorden
import TestSupport
import Testing

/// A manager in simulated mode. Silence is the simulator's: what the grip sends is lost.
@TendonActor
private func managed(connected: Bool) async throws -> (GripManager, GripSimulator) {
    let simulator = GripSimulator()
    simulator.pairingDelay = .milliseconds(1)
    var configuration = GripManager.Configuration.simulated
    configuration.simulator = simulator
    let manager = GripManager()
    try manager.configure(with: configuration).get()
    try await manager.start()
    if connected {
        try await manager.connect(toGrip: ConnectableGrip(id: simulator.grip.address))
    }
    return (manager, simulator)
}

/// A row for an attempt to connect; the grip is out of reach in the case `.silent`. Afterwards the manager is ready.
private func attempt(
    _ name: String, bonded: Bool, _ call: @escaping @Sendable (GripManager, Address) async throws -> Void
) -> Row {
    Row(name) { moment in
        let (manager, simulator) = try await managed(connected: bonded)
        await manager.disconnect()
        let address = await simulator.grip.address
        if moment == .silent { await simulator.setPresent(simulator.grip, false) }
        await expectCancelled(FjordenError.self, moment, device: nil, mayFinish: moment != .silent) {
            try await call(manager, address)
        }
        await manager.disconnect()
        #expect(manager.state == .ready && manager.connectedGrip == nil)
    }
}

/// A row for something that is asked of a connected grip. Afterwards the connection works as before.
private func request<Failure: CancellableError>(
    _ name: String, _ failure: Failure.Type, _ call: @escaping @Sendable (ConnectedGrip) async throws -> Void
) -> Row {
    Row(name) { moment in
        let (manager, simulator) = try await managed(connected: true)
        let grip = try #require(manager.connectedGrip)
        await simulator.setSilent(simulator.grip, moment == .silent)
        await expectCancelled(failure, moment, device: nil, mayFinish: moment != .silent) { try await call(grip) }
        if moment == .before { #expect(try await grip.readBatteryInfo(forceRefresh: true).level == 80) }
        await manager.disconnect()
    }
}

let tendonFjordenRows: [Row] = [
    attempt("GripManager.openAndWait()", bonded: true) { manager, _ in try await manager.openAndWait() },
    Row("GripManager.closeAndWait()") { moment in
        let (manager, _) = try await managed(connected: true)
        await expectReturned(moment, device: nil) { await manager.closeAndWait() }
        await eventually("the connection ends") { !manager.isConnected }
    },
    Row("GripManager.start(options:)") { moment in
        let storage = MemoryStorage()
        storage.set("C0:00:00:00:00:01/random", forKey: "fjorden.bondedGrip.identifier")
        let simulator = GripSimulator()
        var configuration = GripManager.Configuration.simulated
        configuration.simulator = simulator
        configuration.persistentStorage = storage
        let manager = GripManager()
        try await manager.configure(with: configuration).get()
        if moment == .silent { await simulator.setPresent(simulator.grip, false) }
        await expectCancelled(FjordenError.self, moment, device: nil, mayFinish: moment != .silent) {
            try await manager.start()
        }
        await manager.disconnect()
        #expect(manager.state == (moment == .before ? .uninitialized : .ready))
    },
    attempt("GripManager.connect(toGrip:)", bonded: false) { manager, address in
        try await manager.connect(toGrip: ConnectableGrip(id: address))
    },
    attempt("GripManager.connectToBondedGrip()", bonded: true) { manager, _ in
        try await manager.connectToBondedGrip()
    },
    Row("GripManager.checkForFirmwareUpdate(using:)") { moment in
        let (manager, _) = try await managed(connected: true)
        await expectCancelled(FjordenError.self, moment, device: nil, mayFinish: false) {
            let outcome = await manager.checkForFirmwareUpdate {
                try await Task.sleep(for: .seconds(60))
                return nil
            }
            if case .error(let error) = outcome { throw error }
        }
        await manager.disconnect()
    },
    request("ConnectedGrip.readBatteryInfo(forceRefresh:)", FjordenError.self) {
        _ = try await $0.readBatteryInfo(forceRefresh: true)
    },
    request("ConnectedGrip.readGripInfo(forceRefresh:)", FjordenError.self) {
        _ = try await $0.readGripInfo(forceRefresh: true)
    },
    request("ConnectedGrip.ping(_:)", GripCommandError.self) { _ = try await $0.ping([1]) },
    request("ConnectedGrip.setLED(_:for:)", GripCommandError.self) { try await $0.setLED(.on) },
    request("ConnectedGrip.readLimits()", GripCommandError.self) { _ = try await $0.readLimits() },
    request("ConnectedGrip.setLimits(_:)", GripCommandError.self) { try await $0.setLimits(GestureLimits()) },
    request("ConnectedGrip.readControlState()", GripCommandError.self) { _ = try await $0.readControlState() },
    request("ConnectedGrip.clearBond()", GripCommandError.self) { try await $0.clearBond() },
    request("ConnectedGrip.powerOff()", GripCommandError.self) { try await $0.powerOff() },
]

let tendonFjordenExemptions: [Exemption] = [
    Exemption("SimulatedGrip.open(_:radio:address:interval:)", "opens the radio in one step of the loop")
]
