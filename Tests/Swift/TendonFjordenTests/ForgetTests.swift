// SPDX-License-Identifier: MIT
import Tendon
import TendonFjorden
import TestSupport
import Testing

/// A storage that fails on request.
private final class FailingStorage: PersistentStorageProvider {
    private let memory = MemoryStorage()
    let keeps: Bool
    let removes: Bool

    init(keeps: Bool = true, removes: Bool = true) {
        self.keeps = keeps
        self.removes = removes
    }

    func string(forKey key: String) -> String? { memory.string(forKey: key) }
    func set(_ value: String, forKey key: String) { if keeps { memory.set(value, forKey: key) } }
    func removeObject(forKey key: String) { if removes { memory.removeObject(forKey: key) } }
}

@Suite(.timeLimit(.minutes(1)))
struct ForgetTests {
    /// A program that forgets first thing, in a process of its own: no `start`, no radio open.
    @Test @TendonActor func forgettingBeforeStart() async throws {
        let (radio, path) = (virtualRadio(), bondFile())
        let device = try await SimulatedGrip.open(radio: radio, interval: .milliseconds(20))
        var configuration = GripManager.Configuration.system
        configuration.radio = radio
        configuration.bonds = .file(path)
        configuration.persistentStorage = MemoryStorage()
        do {
            let first = GripManager()
            first.configure(with: configuration)
            _ = try await connectFirst(first)
            first.disconnect()
        }
        await eventually("disconnected") { device.connections == 0 }
        #expect(try await isBonded(with: device.address, radio, path))

        let second = GripManager()
        second.configure(with: configuration)
        #expect(second.hasBondedGrip)
        second.disconnectAndForgotBondedGrip()
        #expect(!second.hasBondedGrip && second.state == .ready)
        #expect(try await !isBonded(with: device.address, radio, path))
        // The grip keeps its key: without the key of this host, it rejects every central until it is reset.
        await #expect(throws: FjordenError.gripPairingRequestDeclined) { try await connectFirst(second) }
        device.resetBond()
        await eventually("the grip has told the central that it rejected, and has no bond") { !device.isBonded }
        let grip = try await connectFirst(second)
        #expect(grip.id == device.address && device.isBonded)
    }

    @Test @TendonActor func withoutARadioNothingIsForgotten() async throws {
        let storage = MemoryStorage()
        storage.set("C0:00:00:00:00:01/random", forKey: "fjorden.bondedGrip.identifier")
        let (manager, simulator) = try simulated { $0.persistentStorage = storage }
        simulator.isPoweredOn = false
        #expect(throws: FjordenError.invalidManagerState) { try manager.disconnectAndForgetBondedGrip() }
        #expect(throws: FjordenError.invalidManagerState) { try manager.disconnectAndForgotBondedGrip().get() }
        #expect(manager.hasBondedGrip && manager.state == .uninitialized)
        simulator.isPoweredOn = true
        simulator.setPresent(simulator.grip, false)
        try manager.disconnectAndForgetBondedGrip()
        #expect(storage.string(forKey: "fjorden.bondedGrip.identifier") == nil && manager.state == .ready)
        _ = try manager.searchForGrips()
        #expect(manager.state == .scanningForGrips)
    }

    /// A radio that cannot be opened: its cause is kept.
    @Test @TendonActor func theCauseOfARadioThatDoesNotOpen() async throws {
        let storage = MemoryStorage()
        storage.set("C0:00:00:00:00:01/random", forKey: "fjorden.bondedGrip.identifier")
        var configuration = GripManager.Configuration.system
        configuration.radio = .virtual(directory: "/proc/tendon")
        configuration.persistentStorage = storage
        let manager = GripManager()
        manager.configure(with: configuration)
        var told: [GripManager.Issue] = []
        manager.subscribeToIssues { told.append($0) }
        #expect(throws: FjordenError.invalidManagerState) { try manager.disconnectAndForgetBondedGrip() }
        guard case .bluetooth(let error) = manager.issue else {
            Issue.record("no issue")
            return
        }
        #expect(error.layer == .system && error.operation == .openRadio)
        #expect(try await manager.start() == .bluetoothUnavailable)
        #expect(manager.state == .bluetoothUnavailable && manager.hasBondedGrip)
        await eventually("told") { told.count == 2 }
    }

    @Test @TendonActor func aStorageThatDoesNotKeepTheBond() async throws {
        let (manager, _) = try simulated { $0.persistentStorage = FailingStorage(keeps: false) }
        _ = try await connectFirst(manager)
        #expect(manager.issue == .bondNotStored)
    }

    @Test @TendonActor func aStorageThatDoesNotForget() async throws {
        let (manager, simulator) = try simulated { $0.persistentStorage = FailingStorage(removes: false) }
        let grip = try await connectFirst(manager)
        #expect(throws: FjordenError.unknown) { try manager.disconnectAndForgetBondedGrip() }
        #expect(manager.issue == .bondNotRemoved(nil))
        // Nothing has changed: the keys are there, the grip is connected.
        #expect(manager.connectedGrip == grip && manager.hasBondedGrip && simulator.grip.connections == 1)
    }

    @Test @TendonActor func aFileThatCannotBeWritten() async throws {
        let (manager, _) = try simulated { $0.persistentStorage = FileStorage(path: "/proc/tendon/grip") }
        _ = try await connectFirst(manager)
        #expect(manager.issue == .bondNotStored)
    }

    /// The grip was reset, this host still has its key.
    @Test @TendonActor func aGripThatWasReset() async throws {
        let radio = virtualRadio()
        let device = try await SimulatedGrip.open(radio: radio, interval: .milliseconds(20))
        var configuration = GripManager.Configuration.system
        configuration.radio = radio
        configuration.bonds = .memory
        configuration.persistentStorage = MemoryStorage()
        let manager = GripManager()
        manager.configure(with: configuration)
        _ = try await connectFirst(manager)
        manager.disconnect()
        await eventually("disconnected") { device.connections == 0 }
        device.resetBond()
        await #expect(throws: FjordenError.gripPairingRequestDeclined) { try await manager.connectToBondedGrip() }
        #expect(FjordenError.gripPairingRequestDeclined.localizedDescription.contains("forget the grip"))
        try manager.disconnectAndForgetBondedGrip()
        _ = try await connectFirst(manager)
    }

    @TendonActor
    private func isBonded(with address: Address, _ radio: RadioChoice, _ path: String) async throws -> Bool {
        let central = try await Central(radio: radio, bonds: .file(path))
        let isBonded = central.isBonded(with: address)
        central.close()
        return isBonded
    }
}
