// SPDX-License-Identifier: MIT
import Tendon
import TestSupport
import Testing

@testable import TendonActiv5

/// Number of sequences that a feed serves.
private func sequences(of feed: Any) -> Int? {
    (Mirror(reflecting: feed).descendant("queues") as? any Collection)?.count
}

/// Number of closures that a feed calls.
private func consumers(of feed: Any) -> Int? {
    (Mirror(reflecting: feed).descendant("handlers") as? any Collection)?.count
}

/// Each access to a property creates a sequence: one that is never iterated leaves nothing behind.
@Suite(.timeLimit(.minutes(1)))
struct SequenceTests {
    @Test @TendonActor func ofADevice() async throws {
        let site = try await Site()
        let device = try await site.open()
        let feeds = Mirror(reflecting: device.core).children.filter {
            ["force", "motion", "events"].contains($0.label)
        }.map(\.value)
        #expect(feeds.count == 3)
        let kept = (device.force, device.motion, device.events)
        #expect(feeds.allSatisfy { sequences(of: $0) == 1 })
        for _ in 0..<100 { _ = (device.force, device.motion, device.events) }
        await eventually("released") { feeds.allSatisfy { sequences(of: $0) == 1 } }
        withExtendedLifetime(kept) {}
    }

    /// All events, or those without samples.
    @Test @TendonActor func whatTheyBring() async throws {
        let site = try await Site { $0.forcePeriod = .milliseconds(20) }
        let device = try await site.open()
        var all = device.events.makeAsyncIterator()
        var happenings = device.events(capacity: 64, includingSamples: false).makeAsyncIterator()
        try device.startIsometric().get()
        var force: A5Force?
        while force == nil, let event = await all.next() {
            if case .didReceiveIsometric(let sender, let value) = event {
                #expect(sender == device)
                force = value
            }
        }
        #expect(force != nil)
        await device.closeAndWait()
        var isDisconnected = false
        while !isDisconnected, let event = await happenings.next() {
            switch event {
            case .didReceiveIsometric, .didReceiveIMUData, .didReceiveMessage: Issue.record("a sample: \(event)")
            case .deviceDisconnected: isDisconnected = true
            default: break
            }
        }
        #expect(isDisconnected)
    }

    @Test @TendonActor func ofAManager() async throws {
        let manager = A5DeviceManager(radio: .virtual(directory: nil))
        let lifetime = try #require(Mirror(reflecting: manager).descendant("lifetime") as? Lifetime<ManagerCore>)
        let kept = manager.events
        #expect(sequences(of: lifetime.core.events) == 1)
        for _ in 0..<100 { _ = manager.events }
        await eventually("released") { sequences(of: lifetime.core.events) == 1 }
        withExtendedLifetime(kept) {}
    }

    /// Nothing but the sequence is left of the program: the connection lasts as long as it.
    @Test @TendonActor func itKeepsTheManagerAndItsConnection() async throws {
        let site = try await Site { $0.forcePeriod = .milliseconds(20) }
        var manager: A5DeviceManager? = A5DeviceManager(radio: site.radio)
        var device = try await manager?.devicesFound(limit: 1).values.first
        try await device?.openAndWait()
        device?.startIsometric()
        var forces = device?.force
        (manager, device) = (nil, nil)
        var count = 0
        for await _ in try #require(forces) {
            count += 1
            if count == 10 { break }
        }
        #expect(await site.trainer.connections == 1)
        forces = nil
        await eventually("the connection ends") { await site.trainer.connections == 0 }
    }

    /// Each device once; the search is that of the sequence.
    @Test @TendonActor func aSearchEndsWithItsSequence() async throws {
        let site = try await Site()
        let manager = A5DeviceManager(radio: site.radio)
        for try await device in manager.scan() {
            #expect(device.address == site.trainer.address && manager.isScanning)
            break
        }
        await eventually("the search ends") { !manager.isScanning }
        // One that the program began besides goes on.
        manager.scanForDevices()
        var devices: EventSequence<A5Device>? = manager.scan()
        for try await _ in try #require(devices) { break }
        devices = nil
        await Loop.shared.run {}
        #expect(manager.isScanning)
        let other = manager.scan()
        manager.stopScanningForDevices()
        for try await _ in other {}
        #expect(!manager.isScanning)
        #expect(consumers(of: manager.core.events) == 0, "nothing is left of a search that has ended")
    }

    @Test @TendonActor func aSearchWithoutARadioThrows() async throws {
        let manager = A5DeviceManager(radio: .virtual(directory: missingPath()))
        await #expect(throws: TendonError.self) {
            for try await _ in manager.scan() {}
        }
    }
}
