// SPDX-License-Identifier: MIT
import Tendon
import TendonFeelSpace
import TestSupport
import Testing

@testable import TendonGateway

@Suite(.timeLimit(.minutes(2)))
struct ActionTests {
    @Test func theBeltVibrates() async throws {
        let site = Site()
        let belt = try await site.belt()
        let gateway = try await Gateway(site.settings())
        let device = try await gateway.device(.feelspace)
        let done = try await gateway.perform("vibrate", [90], on: device)
        #expect(done["action"]?.text == "vibrate 90" && done.device == device)
        #expect(await angles(of: belt) == [90])
        try await gateway.perform("mode", ["compass"], on: device)
        #expect(await belt.mode == .compass)
        await site.close(gateway)
    }

    @Test func whatIsRefused() async throws {
        let site = Site()
        let belt = try await site.belt()
        let gateway = try await Gateway(site.settings())
        let device = try await gateway.device(address: belt.address)
        let mode = await failure { try await gateway.perform("mode", ["nonsense"], on: device) }
        #expect(mode?.reason == .refused && mode?.detail.hasPrefix("unknown mode 'nonsense'; known: ") == true)
        #expect(mode?.cause != nil)
        let dance = await failure { try await gateway.perform("dance", on: device) }
        #expect(dance?.reason == .refused && dance?.detail.contains("dance") == true)
        // One word each, with what is in it.
        for word in ["a b", "", "a\t", "\"a\"", "a\\ \""] {
            let wrong = await failure { try await gateway.perform("mode", [GatewayArgument(word)], on: device) }
            let shown = word.replacing("\t", with: "\u{FFFD}")
            #expect(wrong?.detail.hasPrefix("unknown mode '\(shown)'; ") == true, "\(wrong?.detail ?? "")")
        }
        let stranger = GatewayDevice(address: Address("C0:00:00:00:00:09/random")!, family: .feelspace, name: nil)
        let absent = await failure { try await gateway.perform("vibrate", [1], on: stranger) }
        #expect(absent?.reason == .notConnected && absent?.detail == "the device is not connected")
        await gateway.close()
        let late = await failure { try await gateway.perform("vibrate", [1], on: device) }
        #expect(late?.reason == .closed)
    }

    /// Several at the same time end in their order, each as it did; one that is refused meanwhile is not taken for one of them.
    @Test func severalActions() async throws {
        let site = Site()
        let belt = try await site.belt()
        let gateway = try await Gateway(site.settings())
        let device = try await gateway.device(.feelspace)
        async let one = gateway.perform("vibrate", [10], on: device)
        async let bad = failure { try await gateway.perform("mode", ["nonsense"], on: device) }
        async let two = gateway.perform("vibrate", [20], on: device)
        #expect(try await one["action"]?.text == "vibrate 10")
        #expect(try await two["action"]?.text == "vibrate 20")
        #expect(await bad?.reason == .refused)
        #expect(await belt.connections == 1)
        await site.close(gateway)
    }

    /// One that waits behind another is taken back, and never reaches the device. The first waits for a belt that is silent.
    @Test @TendonActor func aCancelledActionIsNotCarriedOut() async throws {
        let site = Site()
        let belt = try await site.belt()
        let gateway = try await Gateway(site.settings())
        let device = try await gateway.device(.feelspace)
        await belt.setSilent(true)
        let first = Task { await failure { try await gateway.perform("mode", ["compass"], on: device) } }
        let second = Task { try await gateway.perform("vibrate", [20], on: device) }
        let third = Task { try await gateway.perform("vibrate", [30], on: device) }
        await Task {}.value  // behind them: all three are at the core
        await eventually("the belt has the first") { await belt.writes.contains { $0.outcome == .silent } }
        second.cancel()
        let cancelled = await failure { _ = try await second.value }
        #expect(cancelled == .cancelled && cancelled?.isCancelled == true)
        await belt.setSilent(false)
        #expect(await first.value?.reason == .failed)
        #expect(try await third.value["action"]?.text == "vibrate 30")
        let sent = await angles(of: belt)
        #expect(sent == [30])
        await site.close(gateway)
    }

    /// Low byte of the orientation in the commands for channels, docs/protocols/feelspace.md.
    private func angles(of belt: SimulatedBelt) async -> [UInt8] {
        await belt.writes.filter { $0.characteristic == 0xFE03 && $0.outcome == .taken && $0.bytes.count == 18 }
            .map { $0.bytes[7] }
    }

    /// A device that is lost while it acts; it is connected again, and is the same one.
    @Test func theDeviceIsLost() async throws {
        let site = Site()
        let belt = try await site.belt()
        let gateway = try await Gateway(site.settings())
        let events = gateway.events
        let device = try await gateway.device(.feelspace)
        await belt.setSilent(true)
        let acting = Task { await failure { try await gateway.perform("mode", ["compass"], on: device) } }
        await Task { @TendonActor in }.value  // behind it: the action is at the core
        await belt.disconnectAll()
        let lost = try #require(await acting.value)
        #expect(lost.reason == .notConnected && !lost.detail.isEmpty)
        let disconnected = try await first(events) { $0.kind == .disconnected }
        #expect(disconnected["reason"]?.text == "device_disconnected" && disconnected.cause != nil)
        await belt.setSilent(false)
        let again = try await gateway.device(.feelspace)
        #expect(again == device)
        try await gateway.perform("vibrate", [20], on: again)
        await site.close(gateway)
    }
}
