// SPDX-License-Identifier: MIT
import CTendon
import Foundation
import TestSupport
import Testing

@testable import Tendon

/// What bonded centrals have subscribed to, over their connections and over the life of the device.
@Suite(.timeLimit(.minutes(1)))
struct LocalSubscriptionTests {
    private final class Stage: Sendable {
        let directory = RadioDirectory()
        let files = FileManager.default.temporaryDirectory.appendingPathComponent("tendon-\(UUID())")
        let value = LocalCharacteristic("2a19", properties: [.read, .notify], value: [100], requiresEncryption: true)
        let central: Central
        var subscriptions: SubscriptionStorage { .directory(files.appendingPathComponent("subscriptions").path) }

        init() async throws {
            try FileManager.default.createDirectory(at: files, withIntermediateDirectories: false)
            central = try await Central(radio: directory.radio, bonds: .memory)
        }

        deinit { try? FileManager.default.removeItem(at: files) }

        func device(_ subscriptions: SubscriptionStorage) async throws -> LocalPeripheral {
            let bonds = BondStorage.file(files.appendingPathComponent("bonds").path)
            let device = try await LocalPeripheral(
                name: "kept", services: [LocalService("180f", [value])], interval: .milliseconds(20),
                radio: directory.radio, address: directory.address, bonds: bonds, subscriptions: subscriptions)
            try await device.start()
            return device
        }
    }

    @Test func aBondedCentralIsNotifiedAgain() async throws {
        let stage = try await Stage()
        do {
            let device = try await stage.device(stage.subscriptions)
            let client = try await LocalClient(stage.central.connect(stage.directory.address))
            let values = try await client.peripheral.notifications(of: client["2a19"])
            try await device.notify([99], for: stage.value)
            var iterator = values.makeAsyncIterator()
            #expect(try await iterator.next()?.bytes == [99])
            #expect(await device.subscriptionFailure == nil)
            await client.peripheral.disconnect()
            await device.stop()
        }
        // Another life of the device: it learns of the subscription from its storage.
        let device = try await stage.device(stage.subscriptions)
        let events = device.events()
        let peripheral = try await stage.central.connect(stage.directory.address)
        var subscribed: Subscriptions?
        for try await event in events {
            guard case .subscribed(let central, stage.value.id, let what) = event else { continue }
            subscribed = what
            #expect(try await device.subscriptions(of: central, to: stage.value) == .notifications)
            #expect(try await device.notify([98], for: stage.value).isEmpty)
            break
        }
        #expect(subscribed == .notifications)
        await peripheral.disconnect()
        await device.stop()
    }

    @Test func withoutAStorageItSubscribesAgain() async throws {
        let stage = try await Stage()
        let device = try await stage.device(.none)
        for _ in 0..<2 {
            let client = try await LocalClient(stage.central.connect(stage.directory.address))
            #expect(try await client.peripheral.read(client["2a19"]) == [100])
            let central = try #require(await device.centrals.first)
            #expect(try await device.subscriptions(of: central, to: stage.value) == [])
            let values = try await client.peripheral.notifications(of: client["2a19"])
            #expect(try await device.subscriptions(of: central, to: stage.value) == .notifications)
            withExtendedLifetime(values) {}
            await client.peripheral.disconnect()
            await eventually("disconnected") { await device.centrals.isEmpty }
        }
        await device.stop()
    }

    /// A file stands where the directory should be.
    @Test func aStorageThatFailsIsReported() async throws {
        let stage = try await Stage()
        let place = stage.files.appendingPathComponent("subscriptions")
        try Data().write(to: place)
        let device = try await stage.device(stage.subscriptions)
        let client = try await LocalClient(stage.central.connect(stage.directory.address))
        let values = try await client.peripheral.notifications(of: client["2a19"])
        let failure = try #require(await device.subscriptionFailure)
        #expect(failure.operation == .subscribe)
        #expect(failure.status < 0)
        withExtendedLifetime(values) {}
        // The end of the connection tries again.
        try FileManager.default.removeItem(at: place)
        await client.peripheral.disconnect()
        await eventually("disconnected") { await device.centrals.isEmpty }
        #expect(await device.subscriptionFailure == nil)
        #expect(try FileManager.default.contentsOfDirectory(atPath: place.path).count == 2)
        await device.stop()
    }

    @Test func aPathThatIsNoneIsRefused() async throws {
        let directory = RadioDirectory()
        for path in ["", String(repeating: "a", count: 300)] {
            await #expect(throws: TendonError.self) {
                _ = try await LocalPeripheral(
                    name: "none", services: [], radio: directory.radio, subscriptions: .directory(path))
            }
        }
        #expect(try SubscriptionStorage.standard.open() != nil)
    }
}
