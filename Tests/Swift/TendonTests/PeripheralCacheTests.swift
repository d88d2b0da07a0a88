// SPDX-License-Identifier: MIT
import CTendon
import Glibc
import TestSupport
import Testing

@testable import Tendon

/// What a peripheral has found, for the comparison of two connections.
private struct Found: Equatable {
    var services: [Service] = []
    var characteristics: [Characteristic] = []
    var descriptors: [Descriptor] = []
    /// ATT requests from the connection to the last answer.
    var requests: UInt64 = 0
}

/// The generic peripheral with a GATT cache, on the virtual radio.
@Suite(.timeLimit(.minutes(1)))
struct PeripheralCacheTests {
    private static let sensorData: BluetoothUUID = "56a72ab8-4988-4cc8-a752-fbd1d54a953d"

    /// A store, removed after `body`.
    private func withStorage(_ name: String, _ body: (GATTCacheStorage) async throws -> Void) async throws {
        let path = "/tmp/tendon-table-\(name)-\(getpid())"
        let storage = GATTCacheStorage.directory(path)
        try await body(storage)
        try storage.dropAll()
        unlink(path + "/lock")
        rmdir(path)
    }

    /// Discovers all of the device, and the descriptor of one subscription.
    private func discover(_ peripheral: Peripheral) async throws -> Found {
        var found = Found()
        let before = await onLoop { UInt64(peripheral.core.client.pointee.next_id) }
        found.services = try await peripheral.discoverServices()
        for service in found.services {
            found.characteristics += try await peripheral.discoverCharacteristics(of: service)
        }
        let sensor = try #require(found.characteristics.first { $0.uuid == Self.sensorData })
        found.descriptors = try await peripheral.discoverDescriptors(of: sensor)
        #expect(try await peripheral.discoverServices("fdd2").count == 1)
        _ = try await peripheral.notifications(of: sensor)
        found.requests = await onLoop { UInt64(peripheral.core.client.pointee.next_id) } - before
        return found
    }

    private func visit(_ site: Site, _ storage: GATTCacheStorage) async throws -> (found: Found, hits: UInt32) {
        let central = try await Central(radio: site.radio, gattCache: storage)
        let peripheral = try await central.connect(site.address)
        let found = try await discover(peripheral)
        let hits = await onLoop { peripheral.core.cache?.pointer.pointee.cache.counters.hits ?? 0 }
        await peripheral.disconnect()
        await eventually("closed") { await site.connections() == 0 }
        await central.close()
        return (found, hits)
    }

    @Test func theNextConnectionDiscoversNothing() async throws {
        try await withStorage("next") { storage in
            let site = try await Site(hasDatabaseHash: true)
            let without = try await visit(site, .none).found
            #expect(try await visit(site, storage).found.services == without.services)
            let (with, hits) = try await visit(site, storage)
            #expect(hits == 1)
            #expect(with.services == without.services)
            #expect(with.characteristics == without.characteristics)
            #expect(with.descriptors == without.descriptors)
            // The hash, Service Changed, the subscription, and its end.
            #expect(with.requests <= 4)
            #expect(without.requests > 3 * with.requests / 2)
            print("# discoveries and requests without a cache: \(without.requests), with one: \(with.requests)")
        }
    }

    @Test func anotherHashDiscoversAgain() async throws {
        try await withStorage("hash") { storage in
            let site = try await Site(hasDatabaseHash: true)
            let first = try await visit(site, storage)
            await site.changeHash()
            let second = try await visit(site, storage)
            #expect(second.hits == 0)
            #expect(second.found == first.found)
            #expect(try await visit(site, storage).hits == 1)
        }
    }

    /// A device with the same address and another table: the handles that are used are the new ones.
    @Test func handlesThatHaveMoved() async throws {
        try await withStorage("moved") { storage in
            let directory = RadioDirectory()
            let before: Found
            do {
                let site = try await Site(hasDatabaseHash: true, in: directory)
                before = try await visit(site, storage).found
            }
            await eventually("the device is gone") { descriptors(of: directory.path) == 0 }
            let site = try await Site(hasDatabaseHash: true, movesHandles: true, in: directory)
            let after = try await visit(site, storage)
            #expect(after.hits == 0)
            #expect(after.found.services.count == before.services.count + 1)
            #expect(after.found.characteristics != before.characteristics)
            let again = try await visit(site, storage)
            #expect(again.hits == 1)
            #expect(again.found.characteristics == after.found.characteristics)
        }
    }

    @Test func oneCallDropsIt() async throws {
        try await withStorage("drop") { storage in
            let site = try await Site(hasDatabaseHash: true)
            _ = try await visit(site, storage)
            try storage.drop(site.address)
            #expect(try await visit(site, storage).hits == 0)
            #expect(try storage.dropAll() == 1)
            #expect(try storage.dropAll() == 0)
            #expect(try await visit(site, storage).hits == 0)
            // Also of a peripheral that connects again, with what it has in memory.
            let central = try await Central(radio: site.radio, gattCache: storage)
            let peripheral = try await central.connect(site.address)
            _ = try await discover(peripheral)
            for isDropped in [false, true] {
                await peripheral.disconnect()
                if isDropped { try storage.drop(site.address) }
                try await peripheral.connect()
                let before = await onLoop { peripheral.core.cache?.pointer.pointee.cache.counters.hits ?? 0 }
                _ = try await discover(peripheral)
                let hits = await onLoop { peripheral.core.cache?.pointer.pointee.cache.counters.hits ?? 0 } - before
                #expect(hits == (isDropped ? 0 : 1))
            }
            await peripheral.disconnect()
        }
    }

    /// While connected: the indication that the check has enabled, and that of a sequence.
    @Test(arguments: [false, true])
    func serviceChangedDropsIt(_ hasSequence: Bool) async throws {
        try await withStorage("changed-\(hasSequence)") { storage in
            let site = try await Site(hasDatabaseHash: true)
            let central = try await Central(radio: site.radio, gattCache: storage)
            let peripheral = try await central.connect(site.address)
            let first = try await discover(peripheral)
            let changes = hasSequence ? try await peripheral.serviceChanges() : nil
            let drops = { await onLoop { peripheral.core.cache?.pointer.pointee.cache.counters.drops } }
            #expect(await drops() == 0)
            await eventually("indicated") { await site.indicateChange() }
            await eventually("dropped") { await drops() == 1 }
            if let changes {
                var ranges = changes.makeAsyncIterator()
                #expect(try await ranges.next()?.lowerBound == AttributeHandle(rawValue: 1))
            }
            let second = try await discover(peripheral)
            #expect(second.services == first.services)
            #expect(second.requests > 6)
            await peripheral.disconnect()
        }
    }

    /// The last sequence disables the indications: the next discovery reads the hash again, and enables them again.
    @Test func withoutASequenceOfChanges() async throws {
        try await withStorage("off") { storage in
            let site = try await Site(hasDatabaseHash: true)
            let central = try await Central(radio: site.radio, gattCache: storage)
            let peripheral = try await central.connect(site.address)
            _ = try await discover(peripheral)
            do {
                let changes = try await peripheral.serviceChanges()
                withExtendedLifetime(changes) {}
            }
            let cache = try #require(peripheral.core.cache)
            await eventually("disabled") { await onLoop { !cache.pointer.pointee.checked } }
            _ = try await peripheral.discoverServices()
            #expect(await onLoop { cache.pointer.pointee.cache.counters.hits } == 1)
            #expect(await onLoop { cache.pointer.pointee.checked })
            await peripheral.disconnect()
        }
    }

    @Test func aDeviceWithoutAHashIsNotKept() async throws {
        try await withStorage("none") { storage in
            let site = try await Site()
            let without = try await visit(site, .none).found
            let with = try await visit(site, storage)
            #expect(with.found.requests == without.requests + 1)
            #expect(try storage.dropAll() == 0)
        }
    }

    /// The check of the hash waits for the device: it ends with its task, with its limit, and with the connection.
    @Test func aCheckThatEnds() async throws {
        try await withStorage("ends") { storage in
            let site = try await Site(hasDatabaseHash: true)
            let central = try await Central(radio: site.radio, gattCache: storage)
            let peripheral = try await central.connect(site.address)
            let inFlight = { await onLoop { peripheral.core.client.pointee.in_flight != 0 } }
            do {
                let halt = await Halt(site.loop)
                let task = Task { try await peripheral.discoverServices() }
                await eventually("the hash is requested") { await inFlight() }
                task.cancel()
                await #expect(throws: TendonError.cancelled) { try await task.value }
                let error = await #expect(throws: TendonError.self) {
                    try await peripheral.discoverServices(timeout: .milliseconds(20))
                }
                #expect(error?.isTimeout == true)
                halt.release()
            }
            let all = try await peripheral.discoverServices()
            #expect(!all.isEmpty)
            await peripheral.disconnect()
            await #expect(throws: TendonError.self) { try await peripheral.discoverServices() }
            try await peripheral.connect()
            await site.disconnectAll()
            await #expect(throws: TendonError.self) {
                while true { _ = try await peripheral.discoverServices("fdd2") }
            }
        }
    }

    /// Two discoveries at the same time both read the hash; what they find is kept once.
    @Test func twoDiscoveriesAtTheSameTime() async throws {
        try await withStorage("two") { storage in
            let site = try await Site(hasDatabaseHash: true)
            let central = try await Central(radio: site.radio, gattCache: storage)
            let peripheral = try await central.connect(site.address)
            async let one = peripheral.discoverServices()
            async let other = peripheral.discoverServices()
            let (a, b) = (try await one, try await other)
            #expect(a == b)
            let cache = try #require(peripheral.core.cache)
            #expect(await onLoop { cache.pointer.pointee.content.answer_count } == 1)
            await peripheral.disconnect()
        }
    }
}
