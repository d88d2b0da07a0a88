// SPDX-License-Identifier: MIT
import Glibc
import Tendon
import TendonBose
import Testing

/// Pairing over a radio: by hand, through a session, and what is kept of it.
@Suite(.timeLimit(.minutes(1)))
struct PairingTests {
    private static func site(inPairingMode: Bool) async throws -> Site {
        var options = SimulatedWearable.Options()
        options.requiresPairing = true
        options.isInPairingMode = inPairingMode
        return try await Site(options)
    }

    private func configuration(of peripheral: Peripheral) async throws -> Characteristic {
        let service = try #require(try await peripheral.discoverServices("fdd2").first)
        return try #require(
            try await peripheral.discoverCharacteristics("5af38af6-000e-404b-9b46-07f77580890b", of: service).first)
    }

    @Test func pairedByHandAndForgotten() async throws {
        let site = try await Self.site(inPairingMode: true)
        let central = try await Central(radio: site.radio, bonds: .memory)
        let peripheral = try await central.connect(site.wearable.address)
        let characteristic = try await configuration(of: peripheral)
        #expect(await !peripheral.isEncrypted)
        try await peripheral.pair()
        #expect(await peripheral.isEncrypted)
        #expect(await central.isBonded(with: site.wearable.address))
        #expect(try await !peripheral.read(characteristic).isEmpty)
        #expect(try await central.forget(site.wearable.address))
        #expect(try await !central.forget(site.wearable.address))
        #expect(await !central.isBonded(with: site.wearable.address))
    }

    @Test func aDeviceOutOfPairingModeRefuses() async throws {
        let site = try await Self.site(inPairingMode: false)
        let central = try await Central(radio: site.radio, bonds: .memory)
        let peripheral = try await central.connect(site.wearable.address)
        do {
            try await peripheral.pair()
            Issue.record("it pairs")
        } catch {
            #expect(error.name == "RADIO_ERROR_PAIRING_FAILED")
        }
        #expect(await peripheral.state == .connected)
    }

    @Test func withoutAStoreNothingIsPaired() async throws {
        let site = try await Self.site(inPairingMode: true)
        let central = try await Central(radio: site.radio, bonds: .none)
        let peripheral = try await central.connect(site.wearable.address)
        do {
            try await peripheral.pair()
            Issue.record("it pairs")
        } catch {
            #expect(error.name == "RADIO_ERROR_NO_PAIRING_SERVICE")
        }
    }

    /// A session pairs by itself; the bond outlives the central, in a file for its owner alone.
    @Test func aSessionPairsAndTheFileKeepsIt() async throws {
        let site = try await Self.site(inPairingMode: true)
        let path = site.directory.path + ".bonds"
        defer {
            unlink(path)
            unlink(path + ".lock")
        }
        for round in 0..<2 {
            let central = try await Central(radio: site.radio, bonds: .file(path))
            #expect(await central.bondFailure == nil)
            #expect(await central.isBonded(with: site.wearable.address) == (round > 0))
            let session = await WearableDeviceSession(site.wearable.address, on: central) { _ in }
            try await session.openAndWait()
            #expect(await central.isBonded(with: site.wearable.address))
            await session.closeAndWait()
            if round == 0 { await site.wearable.setPairingMode(false) }
        }
        var state = stat()
        #expect(stat(path, &state) == 0)
        #expect(state.st_mode & 0o777 == 0o600)
    }

    @Test func aFileThatIsNoneOfOursIsSaid() async throws {
        let site = try await Self.site(inPairingMode: true)
        let path = site.directory.path + ".other"
        let file = creat(path, 0o600)
        write(file, "something else, longer than a header", 36)
        Glibc.close(file)
        defer { unlink(path) }
        let central = try await Central(radio: site.radio, bonds: .file(path))
        #expect(await central.bondFailure?.name == "ERROR_MALFORMED")
        let peripheral = try await central.connect(site.wearable.address)
        await #expect(throws: TendonError.self) { try await peripheral.pair() }
    }
}
