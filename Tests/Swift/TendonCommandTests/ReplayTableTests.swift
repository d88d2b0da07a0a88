// SPDX-License-Identifier: MIT
// Attribute handles of replayed connections: what a device's changes do to them, and what a gateway has stored.
import CTendon
import Glibc
import Testing

@testable import Tendon
@testable import TendonCommand

@Suite struct ReplayTableTests {
    private func table() -> ReplayTable {
        var table = ReplayTable()
        for handle in [3, 5, 9] as [UInt16] { table.add(tendon_uuid_from_u16(0x5A00 + handle), at: handle) }
        for handle in [4, 10] as [UInt16] { table.addConfiguration(at: handle) }
        return table
    }

    @Test func changedHandlesAreForgottenWithTheNextDiscovery() {
        var table = table()
        table.change([0x04, 0x00, 0x06, 0x00])
        #expect(!table.isValid)
        #expect(table.characteristics.keys.sorted() == [3, 5, 9])
        table.discover()
        #expect(table.isValid)
        #expect(table.characteristics.keys.sorted() == [3, 9])
        #expect(table.configurations == [10])
    }

    @Test func severalChangesAreOneRange() {
        var table = table()
        table.change([0x05, 0x00, 0x05, 0x00])
        table.change([0x09, 0x00, 0xFF, 0xFF])
        table.discover()
        #expect(table.characteristics.keys.sorted() == [3])
    }

    /// Not two handles, or in the wrong order: all of them.
    @Test(
        arguments: [
            [], [0x04], [0x04, 0x00, 0x06], [0x04, 0x00, 0x06, 0x00, 0x00], [0x06, 0x00, 0x04, 0x00],
        ] as [[UInt8]])
    func anythingElseIsAChangeOfAllHandles(_ value: [UInt8]) {
        var table = table()
        table.change(value)
        table.discover()
        #expect(table.isEmpty && table.configurations.isEmpty && !table.isValid)
    }

    @Test func theSameHashMeansThatNothingHasChanged() {
        var table = table()
        table.change()
        table.confirm()
        table.discover()
        #expect(table.isValid && table.characteristics.count == 3)
    }

    @Test func aTableIsBounded() {
        var table = ReplayTable()
        for handle in 1...2000 as ClosedRange<UInt16> {
            table.add(tendon_uuid_from_u16(handle), at: handle)
            table.addConfiguration(at: handle)
        }
        #expect(table.characteristics.count == 512 && table.configurations.count == 512)
        table.add(tendon_uuid_from_u16(0x2A19), at: 512)
        #expect(table.characteristics[512].map(number) == 0x2A19)
    }

    @Test func theSameIdentityHasOneKey() throws {
        for (text, key) in [
            ("C0:00:00:00:00:01/random", "C0:00:00:00:00:01/random"), ("00:00:00:00:00:01", "00:00:00:00:00:01"),
        ] {
            let address = try #require(Address(text))
            #expect(identity(address) == Address(key))
            let resolved = address.type == .random ? Address.AddressType.randomIdentity : .publicIdentity
            #expect(identity(Address(address.value, type: resolved)) == Address(key))
        }
        for other in ["40:00:00:00:00:01/random", "00:00:00:00:00:01/random"] {
            #expect(identity(try #require(Address(other))) == nil)
        }
        #expect(identity(Address(1, type: .anonymous)) == nil)
    }

    /// What `Peripheral` stores: the answers of its discoveries.
    @Test func storedAnswersOfDiscoveriesAreATable() throws {
        let path = "/tmp/tendon-replay-\(getpid())"
        defer {
            unlink(path + "/gatt-c00000000001-1")
            unlink(path + "/lock")
            rmdir(path)
        }
        let device = try #require(Address("C0:00:00:00:00:01/random"))
        let store = CBlock<tendon_gatt_store>()
        #expect(path.withCString { tendon_gatt_store_open(store.pointer, $0) } == 0)
        keep(store, device)
        let cache = try #require(try ReplayCache(.directory(path)))
        let found = cache.table(of: device)
        #expect(found.failure == 0)
        let table = try #require(found.table)
        #expect(table.hash == [UInt8](0..<16))
        #expect(table.characteristics.mapValues(number) == [0x0012: 0x2A19, 0x0015: 0x2A1A, 0x0003: 0x2A05])
        #expect(table.configurations == [0x0004, 0x0013])
        let stranger = cache.table(of: Address(2, type: .public))
        #expect(stranger.table == nil && stranger.failure == 0)
        chmod(path + "/gatt-c00000000001-1", 0o644)
        let refused = cache.table(of: device)
        #expect(refused.table == nil && Int(refused.failure) == TENDON_ERROR_FILE_PERMISSION)
    }

    /// The hash 00 01 … 0F, Service Changed at 3, two characteristics and a CCCD.
    private func keep(_ store: CBlock<tendon_gatt_store>, _ device: Address) {
        let table = CBlock<tendon_gatt_table>()
        var (address, functions) = (device.c, tendon_gatt_store_table_functions(store.pointer))
        tendon_gatt_table_init(table.pointer, &address, &functions)
        _ = tendon_gatt_cache_check(table.member(\.cache), [UInt8](0..<16), 0, 2)
        let serviceChanged = tendon_gatt_handles(service: 1, service_end: 4, value: 3, cccd: 4, properties: 0x20)
        let rows = [serviceChanged, tendon_gatt_handles()]
        tendon_gatt_cache_put(table.member(\.cache), rows, 2)
        #expect(tendon_gatt_table_checked(table.pointer, 0) == 0)
        let generation = table.pointer.pointee.generation
        var question = tendon_gatt_table_question(
            kind: UInt8(TENDON_GATT_TABLE_CHARACTERISTICS.rawValue), start: 0x10, end: 0x20, uuid: tendon_uuid())
        let characteristics = [(0x11, 0x12, 0x2A19), (0x14, 0x15, 0x2A1A)].map { declaration, value, uuid in
            tendon_gatt_characteristic(
                uuid: tendon_uuid_from_u16(uuid), declaration: declaration, value_handle: value, end_handle: value,
                properties: 0x10)
        }
        tendon_gatt_table_keep(table.pointer, generation, &question, characteristics, 2)
        question.kind = UInt8(TENDON_GATT_TABLE_DESCRIPTORS.rawValue)
        let descriptors = [(0x2902, 0x13), (0x2901, 0x16)].map { uuid, handle in
            tendon_gatt_descriptor(uuid: tendon_uuid_from_u16(uuid), handle: handle)
        }
        tendon_gatt_table_keep(table.pointer, generation, &question, descriptors, 2)
    }

    @Test func onlyADirectoryHasCaches() throws {
        #expect(try ReplayCache(GATTCacheStorage.none) == nil)
        for path in ["/tmp/tendon-none-\(getpid())", "/dev/null", String(repeating: "x", count: 300)] {
            #expect(throws: CommandError.self) { try ReplayCache(.directory(path)) }
        }
    }
}
