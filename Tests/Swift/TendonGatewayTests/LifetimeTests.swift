// SPDX-License-Identifier: MIT
import Tendon
import TendonBose
import TendonFeelSpace
import TestSupport
import Testing

@testable import TendonGateway

@Suite(.timeLimit(.minutes(2)))
struct LifetimeTests {
    /// The last reference is released: the connection ends, the radio is closed, and the memory is released.
    @Test func dropped() async throws {
        let site = Site()
        let belt = try await site.belt()
        weak var core: GatewayCore?
        do {
            let gateway = try await Gateway(site.settings())
            core = gateway.core
            _ = try await gateway.device(.feelspace)
            #expect(core != nil)
        }
        await eventually("the connection ends") { await belt.connections == 0 }
        await eventually("nothing is left") { core == nil }
    }

    /// A sequence keeps the gateway; an iteration that ends does not.
    @Test func aSequenceKeepsIt() async throws {
        let site = Site()
        let belt = try await site.belt()
        var events: EventStream<GatewayEvent>? = try await Gateway(site.settings()).events
        _ = try await first(try #require(events)) { $0.kind == .connected }
        await turns()
        #expect(await belt.connections == 1)
        events = nil
        await eventually("the connection ends") { await belt.connections == 0 }
    }

    /// The end of a loop ends nothing: the next one goes on with the same sequence, or with another.
    @Test func theEndOfALoop() async throws {
        let site = Site()
        let belt = try await site.belt()
        let gateway = try await Gateway(site.settings { $0.feelspace.orientationPeriod = .milliseconds(20) })
        let events = gateway.events
        for _ in 0..<3 { _ = try await first(events) { $0.kind == .sample } }
        _ = try await first(gateway.events) { $0.kind == .sample }
        #expect(await belt.connections == 1)
        await site.close(gateway)
    }

    /// A task that consumes events is cancelled: the loop ends, the gateway stays.
    @Test func aCancelledConsumer() async throws {
        let site = Site()
        let belt = try await site.belt()
        let gateway = try await Gateway(site.settings())
        _ = try await gateway.device(.feelspace)
        let consumer = Task { for await event in gateway.events { _ = event } }
        await turns()
        consumer.cancel()
        _ = await endsInTime(consumer)
        #expect(await belt.connections == 1)
        await gateway.close()
        #expect(await belt.connections == 0)
    }

    @Test func closedAndOpenedAgain() async throws {
        let site = Site()
        let belt = try await site.belt()
        for _ in 0..<3 {
            let gateway = try await Gateway(site.settings())
            let events = gateway.events
            let device = try await gateway.device(.feelspace)
            #expect(gateway.devices == [device])
            async let twice: Void = gateway.close()
            await gateway.close()
            await twice
            await gateway.close()
            #expect(gateway.devices.isEmpty)
            await eventually("the belt notices the end") { await belt.connections == 0 }
            var kinds: [GatewayEvent.Kind] = []
            for await event in events { kinds.append(event.kind) }
            #expect(kinds.last == .summary && kinds.dropLast().last == .disconnected)
            for await event in gateway.events { Issue.record("an event after the end: \(event)") }
            let late = await failure { _ = try await gateway.device(.feelspace) }
            #expect(late?.reason == .closed)
        }
    }

    /// Closed while it is asked: nobody waits for ever.
    @Test func closedMeanwhile() async throws {
        let site = Site()
        let belt = try await site.belt()
        let gateway = try await Gateway(site.settings())
        let device = try await gateway.device(.feelspace)
        await belt.setSilent(true)
        let acting = Task { await failure { try await gateway.perform("mode", ["compass"], on: device) } }
        let searching = Task { await failure { _ = try await gateway.device(.fjorden, within: nil) } }
        // In the same turn of the loop: an action has a limit of time, which passes on a machine that is busy.
        let closed = Pending<Void, GatewayError>()
        await eventually("the action is on its way, and the gateway is closed") {
            await Loop.shared.run {
                guard gateway.core.acting[device.address]?.isEmpty == false else { return false }
                gateway.core.close(closed)
                return true
            }
        }
        await gateway.close()
        #expect(await acting.value?.reason == .closed)
        #expect(await searching.value?.reason == .closed)
    }

    @Test func twoGateways() async throws {
        let (one, two) = (Site(), Site())
        let (head, belt) = (try await one.head(), try await two.belt())
        let ofHead = try await Gateway(one.settings())
        let ofBelt = try await Gateway(two.settings())
        #expect(try await ofHead.device().address == head.address)
        let device = try await ofBelt.device()
        #expect(device.address == belt.address)
        // The device of the other one.
        let refused = await failure { try await ofHead.perform("vibrate", [1], on: device) }
        #expect(refused?.reason == .notConnected)
        await ofHead.close()
        try await ofBelt.perform("vibrate", [1], on: device)
        #expect(ofHead.devices.isEmpty && ofBelt.devices == [device])
        await ofBelt.close()
        withExtendedLifetime(one) {}
    }

    /// What a device in range said while it was searched for.
    @Test func aDeviceThatDoesNotConnect() async throws {
        let site = Site()
        let belt = try await site.belt()
        let gateway = try await Gateway(site.settings { $0.pairing = .never })
        let told = Task {
            while true {
                let late = await failure { _ = try await gateway.device(.feelspace, within: .milliseconds(300)) }
                if late?.cause != nil { return late }
            }
        }
        let late = await told.value
        #expect(late?.reason == .timeout)
        let detail = late?.detail ?? ""
        #expect(
            detail.hasPrefix("no such device was connected in time; ") && detail.contains("not bonded"), "\(detail)")
        withExtendedLifetime(belt) {}
        await site.close(gateway)
    }

    @Test func noSuchDevice() async throws {
        let site = Site()
        let belt = try await site.belt()
        let gateway = try await Gateway(site.settings())
        let present = try await gateway.device(.feelspace)
        #expect(try await gateway.device(named: present.name) == present)
        #expect(try await gateway.device(.feelspace, address: belt.address) == present)
        let late = await failure { _ = try await gateway.device(.fjorden, within: .milliseconds(20)) }
        #expect(late?.reason == .timeout && late?.isCancelled == false)
        #expect(late?.detail == "no such device was connected in time" && late?.cause == nil)
        let searching = Task { await failure { _ = try await gateway.device(named: "nobody", within: nil) } }
        await turns()
        searching.cancel()
        #expect(await endsInTime(searching).get() == .cancelled)
        await site.close(gateway)
    }
}
