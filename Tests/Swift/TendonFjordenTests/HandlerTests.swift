// SPDX-License-Identifier: MIT
import Tendon
import TestSupport
import Testing

@testable import TendonFjorden

/// The forms with a handler: it is called once, with the value or the error.
@Suite(.timeLimit(.minutes(1)))
struct HandlerTests {
    @Test @TendonActor func readings() async throws {
        var options = SimulatedGrip.Options()
        options.battery = 29
        let (manager, simulator) = try simulated(options)
        let grip = try await connectFirst(manager)
        var levels: [BatteryInfo?] = []
        var infos: [GripInfo?] = []
        grip.readBatteryInfo(forceRefresh: true) { levels.append(try? $0.get()) }
        grip.readGripInfo(forceRefresh: true) { infos.append(try? $0.get()) }
        await eventually("both") { levels.count == 1 && infos.count == 1 }
        #expect(levels[0]?.level == 29 && levels[0]?.isLow == true && levels[0]?.description == "29 %, low")
        #expect(infos[0] != nil)
        simulator.setPresent(simulator.grip, false)
        await eventually("lost") { !manager.isConnected }
        grip.readBatteryInfo(forceRefresh: true) { levels.append(try? $0.get()) }
        grip.readGripInfo(forceRefresh: true) { infos.append(try? $0.get()) }
        await eventually("both") { levels.count == 2 && infos.count == 2 }
        #expect(levels[1] == nil && infos[1] == nil)
    }

    @Test @TendonActor func connecting() async throws {
        let (manager, simulator) = try simulated()
        var results: [Result<ConnectedGrip, FjordenError>] = []
        manager.connectToBondedGrip { results.append($0) }
        manager.connect(toGrip: ConnectableGrip(id: simulator.grip.address)) { results.append($0) }
        await eventually("both fail") { results.count == 2 }
        for result in results { #expect(throws: FjordenError.self) { try result.get() } }
        try await manager.start()
        manager.connect(toGrip: ConnectableGrip(id: simulator.grip.address)) { results.append($0) }
        await eventually("connected") { results.count == 3 }
        #expect(try results[2].get() == manager.connectedGrip)
    }

    /// What is stored, replaced and removed, with both keys.
    @Test func bonds() async {
        let storage = MemoryStorage()
        let store = BondStore(storage)
        #expect(store.bond == nil)
        let first = store.store(BondStore.Bond(identifier: "a", name: "A"))
        #expect(await first.value)
        #expect(store.bond == BondStore.Bond(identifier: "a", name: "A"))
        #expect(storage.string(forKey: "fjorden.bondedGrip.name") == "A")
        let second = store.store(BondStore.Bond(identifier: "b", name: "B"))
        #expect(await second.value)
        #expect(store.bond == BondStore.Bond(identifier: "b", name: "B"))
        #expect(store.remove())
        #expect(store.bond == nil)
        #expect(storage.string(forKey: "fjorden.bondedGrip.name") == nil)
        #expect(storage.string(forKey: "fjorden.bondedGrip.identifier") == nil)
    }

    /// A file that keeps nothing is noticed.
    @Test func aStorageThatForgets() async {
        struct Forgetful: PersistentStorageProvider {
            func string(forKey key: String) -> String? { "old" }
            func set(_ value: String, forKey key: String) {}
            func removeObject(forKey key: String) {}
        }
        let store = BondStore(Forgetful())
        let task = store.store(BondStore.Bond(identifier: "new", name: ""))
        #expect(await !task.value)
        #expect(!store.remove())
    }
}
