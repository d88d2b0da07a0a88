// SPDX-License-Identifier: MIT
import CTendon
import Glibc
import TestSupport
import Testing

@testable import Tendon

/// One connection of a Bose session of the C core, from its opening on.
private final class Visit: @unchecked Sendable {
    // Used on the loop's thread alone.
    private let session = CBlock<tendon_bose_session>()
    private let inputs = CBlock<tendon_session_inputs>()
    private var link: SessionLink?

    func open(_ radio: RadioCore, _ address: Address) {
        let link = SessionLink(radio, to: address, pairing: .none, owner: self)
        self.link = link
        inputs.pointer.pointee = tendon_bose_session_inputs
        var config = tendon_bose_session_config()
        config.link = link.c
        config.on_event = { _, _, _ in }
        tendon_bose_session_init(session.pointer, &config)
        link.attach(inputs, session)
        tendon_bose_session_open(session.pointer, tendon_monotonic_ms())
        link.refresh()
    }

    var isOpen: Bool { session.pointer.pointee.state == TENDON_BOSE_OPEN }
    var hits: UInt32 { link?.cacheHits ?? 0 }

    func close() {
        link?.abandon()
        link = nil
    }
}

@Suite(.timeLimit(.minutes(1)))
struct GATTCacheTests {
    /// Discoveries that the cache answered.
    private func connect(_ site: Site, _ storage: GATTCacheStorage) async throws -> UInt32 {
        let central = try await Central(radio: site.radio, gattCache: storage)
        let radio = central.core
        let visit = Visit()
        let address = site.address
        await onLoop { visit.open(radio, address) }
        await eventually("open") { await onLoop { visit.isOpen } }
        let hits = await onLoop {
            defer { visit.close() }
            return visit.hits
        }
        await eventually("closed") { await site.connections() == 0 }
        await central.close()
        return hits
    }

    @Test func theNextConnectionDiscoversNothing() async throws {
        let site = try await Site(hasDatabaseHash: true)
        let path = "/tmp/tendon-gatt-\(getpid())"
        let storage = GATTCacheStorage.directory(path)
        defer {
            unlink(path + "/lock")
            rmdir(path)
        }
        #expect(try await connect(site, storage) == 0)
        #expect(try await connect(site, storage) == 1)
        #expect(try await connect(site, .none) == 0)
        await site.changeHash()
        #expect(try await connect(site, storage) == 0)
        #expect(try await connect(site, storage) == 1)
        let refused = TendonError(status: TendonError.system(EIO), operation: .discover)
        failing("unlink", with: EIO, all: true) { #expect(throws: refused) { try storage.dropAll() } }
        #expect(try await connect(site, storage) == 1)
        try storage.drop(site.address)
        #expect(try await connect(site, storage) == 0)
        #expect(try storage.dropAll() == 1)
        #expect(try storage.dropAll() == 0)
        #expect(try await connect(site, storage) == 0)
        #expect(try storage.dropAll() == 1)
    }

    @Test func aDeviceWithoutAHashIsNotKept() async throws {
        let site = try await Site()
        let storage = GATTCacheStorage.directory("/tmp/tendon-gatt-none-\(getpid())")
        #expect(try await connect(site, storage) == 0)
        #expect(try await connect(site, storage) == 0)
        #expect(try storage.dropAll() == 0)
    }

    @Test func aPathThatIsTooLong() async throws {
        let storage = GATTCacheStorage.directory(String(repeating: "p", count: 300))
        #expect(throws: TendonError.self) { try storage.dropAll() }
        await #expect(throws: TendonError.self) {
            _ = try await Central(radio: .virtual(directory: "/tmp/tendon-gatt-long-\(getpid())"), gattCache: storage)
        }
        #expect(try GATTCacheStorage.none.dropAll() == 0)
    }
}
