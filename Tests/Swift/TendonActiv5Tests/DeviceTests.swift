// SPDX-License-Identifier: MIT
import Tendon
import TendonActiv5
import TestSupport
import Testing

/// One device without a manager.
@Suite(.serialized, .timeLimit(.minutes(1)))
struct DeviceTests {
    @Test func forcesAgreeWithTheScript() async throws {
        let site = try await Site {
            $0.isFlatOut = true; $0.limit = 400
        }
        let device = try await site.open()
        let force = device.force(capacity: 1024)
        await device.startIsometric()
        var time: UInt64 = 0
        for await value in force {
            time += 100
            #expect(abs(value.newtons - SimulatedTrainer.force(at: time)) < 1e-9)
            if time == 40_000 { break }
        }
        #expect(force.dropped == 0)
        #expect(await site.trainer.counters.force == 400)
        await device.closeAndWait()
        await eventually("the trainer sees us go") { await site.trainer.connections == 0 }
    }

    /// The sample of the module's documentation: as it stands there, and done in much less than a search's 30 s.
    @Test @TendonActor func theSampleOfTheDocumentation() async throws {
        let site = try await Site()
        let manager = A5DeviceManager(radio: site.radio)
        let found = try await manager.devicesFound(limit: 1)
        if let device = found.values.first {
            try await device.openAndWait()
            device.startIsometric()
            for await force in device.force { if force.newtons.isFinite { break } }
        }
        #expect(found.count == 1 && !manager.isScanning)
        await eventually("force") { await site.trainer.counters.force > 0 }
    }

    @Test func textForcesInParts() async throws {
        let site = try await Site {
            $0.isLegacy = true
            $0.isFlatOut = true
            $0.splitsFrames = true
            $0.limit = 200
        }
        let device = try await site.open()
        let force = device.force
        await device.startIsometric()
        var time: UInt64 = 0
        for await value in force {
            time += 100
            #expect(abs(value.newtons - SimulatedTrainer.force(at: time)) < 1e-6)
            if time == 20_000 { break }
        }
    }

    @Test @TendonActor func theLinkEndsWithTheDevice() async throws {
        let site = try await Site()
        var device: A5Device? = try await site.open()
        let motion = device?.motion
        try device?.startIMU()
        device = nil
        var iterator = try #require(motion).makeAsyncIterator()
        for _ in 0..<3 { #expect(try await iterator.next() != nil, "a sequence keeps the link") }
        #expect(await site.trainer.connections == 1)
    }

    @Test @TendonActor func theLinkEndsWithTheLast() async throws {
        let site = try await Site()
        do {
            let device = try await site.open()
            #expect(device.connected)
        }
        await eventually("the trainer sees us go") { await site.trainer.connections == 0 }
    }

    @Test @TendonActor func aSilentDeviceIsOfferedTheHandshake() async throws {
        let site = try await Site {
            $0.isLegacy = true; $0.isSilent = true
        }
        let device = try await site.open()
        await eventually("its answer") { device.deviceVersion == "1.00" }
    }

    @Test @TendonActor func aLostLinkEndsTheSequences() async throws {
        let site = try await Site()
        let device = try await site.open()
        let force = device.force
        device.startIsometric()
        await eventually("force") { await site.trainer.counters.force > 0 }
        await site.trainer.setPower(false)
        await #expect(throws: TendonError.self) { for try await _ in force.throwing {} }
        await eventually("state") { device.deviceDataState == .disconnected }
        await #expect(throws: A5Error.self) { try await device.openAndWait() }
        await site.trainer.setPower(true)
        try await device.openAndWait()
        #expect(device.connected)
    }

    @Test @TendonActor func nobodyThere() async throws {
        let site = try await Site()
        let central = try await Central(radio: site.radio)
        let device = A5Device(Address(0xD0FF_FFFF_FFFF, type: .random), on: central)
        await #expect(throws: A5Error.self) { try await device.openAndWait() }
        #expect(device.deviceDataState == .disconnected)
    }

    @Test @TendonActor func evergreenIsKeptOverConnections() async throws {
        let site = try await Site()
        let device = try await site.open()
        device.evergreenMode = true
        #expect(device.evergreenMode)
        await device.closeAndWait()
        try await device.openAndWait()
        #expect(device.evergreenMode)
        device.evergreenMode = false
        #expect(!device.evergreenMode)
    }
}
