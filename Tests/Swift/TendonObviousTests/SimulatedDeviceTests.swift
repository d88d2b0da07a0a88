// SPDX-License-Identifier: MIT
import ObviousTestSupport
import Tendon
import TendonObvious
import TestSupport
import Testing

@Suite struct SimulatedDeviceTests {
    @Test func itHasWhatItsOptionsSay() async throws {
        let site = try await OcelotSite { options in
            options.firmware = 2_005_007
            options.isProvisioned = false
        }
        let device = site.device
        #expect(
            await device.feature(16) == SimulatedOcelotDevice.Feature(id: 16, isEnabled: true, toggle: .Activated))
        #expect(await device.feature(20) == SimulatedOcelotDevice.Feature(id: 20))
        #expect(await device.feature(18) == nil)
        #expect(await device.feature(70000) == nil)
        await eventually("it has started") { await device.counters.boots == 1 }
        #expect(await device.firmware == 2_005_007)
        #expect(await device.counter == 41)
        #expect(await !device.isProvisioned)
        #expect(await !device.isOnTrial)
        #expect(await device.connections == 0)
    }

    /// OGP_STATUS (docs/protocols/obvious.md), read without encryption.
    @Test func itIsServedOnTheRadio() async throws {
        let site = try await OcelotSite { options in
            options.requiresPairing = false
            options.protocolVersion = 2
        }
        let central = try await Central(radio: site.radio)
        let peripheral = try await central.connect(site.device.address)
        let service = try #require(
            try await peripheral.discoverServices("9c190001-c113-4e20-95f4-2602d4fc9f35").first)
        let status = try #require(
            try await peripheral.discoverCharacteristics("9c190003-c113-4e20-95f4-2602d4fc9f35", of: service).first)
        #expect(try await peripheral.read(status) == [0x4F, 0x47, 0x50, 2, 0, 0])
        #expect(await site.device.connections == 1)
        await site.device.stop()
        await eventually("the connection has ended") { await site.device.connections == 0 }
    }

    @Test func itsUserChangesAFeature() async throws {
        let site = try await OcelotSite()
        await site.device.setFeature(20, isEnabled: true, toggle: .Deactivated)
        #expect(
            await site.device.feature(20)
                == SimulatedOcelotDevice.Feature(id: 20, isEnabled: true, toggle: .Deactivated))
    }

    @Test func aPowerCutLeavesWhatIsInItsFlash() async throws {
        let site = try await OcelotSite()
        await site.device.setFeature(20, isEnabled: true, toggle: .Activated)
        await site.device.cutPower()
        await eventually("it has started again") { await site.device.counters.boots == 2 }
        #expect(await site.device.counters.powerCuts == 1)
        #expect(await site.device.feature(20)?.isEnabled == true)
    }

    @Test func optionsThatNoDeviceHasAreRefused() async throws {
        for change: @Sendable (inout SimulatedOcelotDevice.Options) -> Void in [
            { $0.productId = "of no number" }, { $0.pageSize = 100 }, { $0.pageSize = 0 },
            { $0.longestImage = 1 << 25 },
            { $0.firmware = -1 },
        ] {
            await #expect(throws: TendonError.self) { _ = try await OcelotSite(change) }
        }
    }
}
