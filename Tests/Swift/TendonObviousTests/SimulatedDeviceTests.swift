// SPDX-License-Identifier: MIT
import CTendon
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

    /// Each option reaches the C core.
    @Test func everyOption() async throws {
        var options = SimulatedOcelotDevice.Options()
        (options.name, options.productId, options.serial) = ("my device", "77", 0x55)
        options.features = [.init(id: 3), .init(id: 4)]
        (options.counter, options.isProvisioned, options.firmware, options.epoch) = (12, false, 1_000_001, 3)
        (options.longestImage, options.pageSize, options.seed) = (32768, 1024, 99)
        (options.bootTime, options.longestFrame, options.longestChunk) = (.milliseconds(70), 1000, 900)
        (options.window, options.battery, options.protocolVersion) = (5, 44, 2)
        (options.lacksCapabilities, options.lacks) = (.init(rawValue: 2), .init(rawValue: 1))
        (options.requiresPairing, options.rejectsPairing, options.requiresResponses) = (false, true, true)
        (options.sendsIndications, options.isMute) = (true, true)
        (options.waitsForReboot, options.reportsProgress) = (true, true)
        for options in [SimulatedOcelotDevice.Options(), options] {
            let site = try await OcelotSite { $0 = options }
            let host = try #require(
                Mirror(reflecting: site.device).descendant("host") as? SimulatedHost<tendon_simulated_obvious>)
            let c = host.device.pointee.options
            #expect(String(cString: c.name) == options.name && "\(c.product)" == options.productId)
            #expect(c.serial == options.serial && c.feature_count == options.features.count)
            #expect(c.counter == options.counter && c.unprovisioned == !options.isProvisioned)
            #expect(Int64(c.firmware) == options.firmware && c.epoch == options.epoch)
            #expect(Int(c.image_max) == options.longestImage && c.seed == options.seed ?? c.seed)
            #expect(UInt64(c.boot_ms) == options.bootTime.milliseconds && Int(c.frame_max) == options.longestFrame)
            #expect(Int(c.chunk_max) == options.longestChunk && Int(c.window) == options.window)
            #expect(c.battery == options.battery && c.profile == options.protocolVersion)
            #expect(c.lacks_caps == options.lacksCapabilities.rawValue && c.lacks == options.lacks.rawValue)
            #expect(c.open == !options.requiresPairing && c.rejects_pairing == options.rejectsPairing)
            #expect(c.with_response == options.requiresResponses && c.indicates == options.sendsIndications)
            #expect(c.mute == options.isMute && c.waits_for_reboot == options.waitsForReboot)
            #expect(c.reports_progress == options.reportsProgress)
        }
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
