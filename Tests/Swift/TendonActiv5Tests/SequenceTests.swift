// SPDX-License-Identifier: MIT
import Tendon
import TestSupport
import Testing

@testable import TendonActiv5

/// Number of sequences that a feed serves.
private func sequences(of feed: Any) -> Int? {
    (Mirror(reflecting: feed).descendant("queues") as? any Collection)?.count
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

    @Test @TendonActor func ofAManager() async throws {
        let manager = A5DeviceManager(radio: .virtual(directory: nil))
        let lifetime = try #require(Mirror(reflecting: manager).descendant("lifetime") as? Lifetime<ManagerCore>)
        let kept = manager.events
        #expect(sequences(of: lifetime.core.events) == 1)
        for _ in 0..<100 { _ = manager.events }
        await eventually("released") { sequences(of: lifetime.core.events) == 1 }
        withExtendedLifetime(kept) {}
    }
}
