// SPDX-License-Identifier: MIT
import CTendon
import Tendon
import TendonBose
import TestSupport
import Testing

@testable import TendonGateway

@Suite(.timeLimit(.minutes(2)))
struct EventTests {
    @Test func samplesOfAHead() async throws {
        let site = Site()
        let head = try await site.head { $0.name = "Frames of \"A\"" }
        let gateway = try await Gateway(site.settings { $0.bose.sensors = ["rotation", "accelerometer"] })
        let rotation = try await first(gateway.events) { $0.sample?.sensor == "rotation" }
        #expect(rotation.kind == .sample)
        let device = try #require(rotation.device)
        #expect(device.address == head.address && device.family == .bose && device.name == "Frames of \"A\"")
        let sample = try #require(rotation.sample)
        #expect(sample.channels.map(\.name) == ["x", "y", "z", "w", "pitch", "roll", "yaw"])
        #expect(sample.channels.map(\.unit) == ["", "", "", "", "deg", "deg", "deg"])
        let norm = sample.values.prefix(4).reduce(0) { $0 + $1 * $1 }
        #expect(norm > 0.9 && norm < 1.1)
        #expect(sample["yaw"] == sample.values[6] && sample["none"] == nil && sample.leftOut == 0)
        let acceleration = try await first(gateway.events) { $0.sample?.sensor == "accelerometer" }
        #expect(
            acceleration.sample?.channels == ["x", "y", "z"].map { GatewaySample.Channel(name: $0, unit: "g") })
        await site.close(gateway)
    }

    /// Samples of a sensor share what they have in common.
    @Test func theFormOfASensorIsMadeOnce() async throws {
        let site = Site()
        _ = try await site.head()
        let gateway = try await Gateway(site.settings { $0.bose.sensors = ["rotation", "accelerometer"] })
        var forms: [String: [SampleForm]] = [:]
        for await event in gateway.events.ending(after: .seconds(30)) {
            if let sample = event.sample { forms[sample.sensor, default: []].append(sample.form) }
            if forms.count == 2, forms.allSatisfy({ $0.value.count > 2 }) { break }
        }
        #expect(forms.count == 2)
        for (sensor, forms) in forms { #expect(forms.allSatisfy { $0 === forms[0] && $0.sensor == sensor }) }
        await site.close(gateway)
    }

    /// The line of an event and its values are the same.
    @Test func aLineAndItsValues() async throws {
        let site = Site()
        let head = try await site.head()
        let gateway = try await Gateway(site.settings { $0.isExact = true })
        let event = try await first(gateway.events) { $0.sample?.times.sampledAt != nil }
        let sample = try #require(event.sample)
        #expect(event.line.hasPrefix(#"{"time":"20"#) && event.line.hasSuffix("}") && "\(event)" == event.line)
        #expect(event["event"] == .text("sample") && event["sensor"] == .text("rotation"))
        #expect(event["address"] == .text("\(head.address)") && event["address_type"] == .text("random"))
        #expect(event["yaw_deg"]?.number == sample["yaw"] && event["quaternion"]?.list?.count == 4)
        let times = try #require(event.times)
        #expect(times == sample.times && times.receivedAt > 0)
        // Seconds with microseconds in the line, nanoseconds in the sample.
        let received = try #require(event["received_at"]?.number)
        #expect(abs(received * 1e9 - Double(times.receivedAt)) < 1000)
        let sampled = try #require(event["sampled_at"]?.number)
        #expect(abs(sampled * 1e9 - Double(try #require(times.sampledAt))) < 1000)
        #expect(event["error_ms"]?.number != nil && times.errorMilliseconds != nil)
        #expect(event.members["sensor"] == .text("rotation") && event["nothing"] == nil)
        #expect(event.time > .seconds(1_700_000_000) && event.cause == nil)
        await site.close(gateway)
    }

    @Test func aGesture() async throws {
        let site = Site()
        let head = try await site.head()
        let gateway = try await Gateway(site.settings { $0.bose.gestures = ["double_tap"] })
        var found: GatewayEvent?
        for await event in gateway.events.ending(after: .seconds(30)) {
            // The first samples can be there before it is enabled.
            do throws(TendonError) {
                if event.kind == .sample { try await head.perform(.doubleTap) }
            } catch {
                #expect(error.status == Int32(TENDON_ERROR_WRONG_STATE))
            }
            if event.kind == .gesture { found = event }
            if found != nil { break }
        }
        let gesture = try #require(found)
        #expect(gesture["gesture"]?.text == "double_tap" && gesture["gesture_id"]?.integer == 0x81)
        #expect((gesture.times?.receivedAt ?? 0) > 0 && gesture.sample == nil)
        await site.close(gateway)
    }

    @Test func aBelt() async throws {
        let site = Site()
        let belt = try await site.belt()
        await belt.setHeading(90)
        await belt.setBattery(40)
        let gateway = try await Gateway(site.settings { $0.feelspace.orientationPeriod = .milliseconds(40) })
        let events = gateway.events
        let connected = try await first(events) { $0.kind == .connected }
        #expect(connected.device?.family == .feelspace && connected["firmware"] != nil)
        let battery = try await first(events) { $0.kind == .battery }
        #expect(battery["battery_percent"]?.number == 40)
        let heading = try await first(events) { $0.sample?["heading"] == 90 }
        #expect(heading.sample?.sensor == "orientation" && heading["heading_deg"]?.integer == 90)
        #expect(heading.sample?.channels.first == GatewaySample.Channel(name: "heading", unit: "deg"))
        await site.close(gateway)
    }

    @Test func aDeviceFile() async throws {
        let site = Site()
        let json = try source("packaging/devices/heart_rate.json")
        let strap = try await site.defined(json)
        let gateway = try await Gateway(site.settings { $0.deviceFiles = [.json(json)] })
        let events = gateway.events
        // 16 48 00 04: 72 beats per minute, with contact, an interval of 1024/1024 s.
        let beat = try await first(events) { $0["heart_rate_bpm"]?.number == 72 }
        #expect(beat.device?.family == "heart_rate" && beat["contact"]?.text == "yes")
        #expect(beat["rr_intervals_s"] == .list([.integer(1)]))
        #expect(beat.sample?["heart_rate_bpm"] == 72)
        #expect(beat.sample?.channels.first { $0.name == "heart_rate_bpm" }?.unit == "bpm")
        let device = try #require(beat.device)
        let done = try await gateway.perform("reset_energy", on: device)
        #expect(done.kind == .action && done["action"]?.text == "reset_energy")
        #expect(await strap.writes == 1)
        await site.close(gateway)
    }

    /// A sequence that is made later begins with what is connected.
    @Test func aLateSequence() async throws {
        let site = Site()
        let head = try await site.head()
        let gateway = try await Gateway(site.settings())
        _ = try await first(gateway.events) { $0.kind == .sample }
        var kinds: [GatewayEvent.Kind] = []
        for await event in gateway.events {
            kinds.append(event.kind)
            #expect(event.device?.address == head.address)
            if kinds.count == 3 { break }
        }
        #expect(kinds.first == .connected && !kinds.dropFirst().contains(.connected))
        await site.close(gateway)
    }

    /// A consumer that comes later begins with the adapters that are still waited for, each with its latest reason. No machine
    /// has such adapters: the lines are played to the core.
    @Test @TendonActor func adaptersThatAreWaitedFor() async throws {
        let site = Site()
        let gateway = try await Gateway(site.settings())
        let kinds = ["waiting", "lost", "restored"].map { CText("radio_" + $0) }  // the core keeps each by its address
        for (kind, adapter) in [(0, "hci0"), (0, "hci1"), (0, "hci2"), (1, "hci2"), (2, "hci0")] {
            lending(#"{"event":"\#(text(kinds[kind].pointer))","adapter":"\#(adapter)"}"# + "\n") { text, length in
                var line = tendon_fleet_line()
                (line.text, line.length, line.event) = (text, length, kinds[kind].pointer)
                #expect(gateway.core.take(&line))
            }
        }
        let events = gateway.events
        let ofOneDevice = gateway.events(
            of: GatewayDevice(address: Address("C0:00:00:00:00:09/random")!, family: .bose, name: nil))
        await gateway.close()
        var seen: [String] = []
        for await event in events { seen.append("\(event.kind.rawValue) \(event["adapter"]?.text ?? "")") }
        #expect(seen == ["radio_waiting hci1", "radio_lost hci2", "summary "])
        for await event in ofOneDevice { Issue.record("an event of no device: \(event)") }
        withExtendedLifetime(kinds) {}
    }

    /// What a search says that finds nothing: why an adapter is waited for, and not that it is there again.
    @Test @TendonActor func anAdapterIsAnObstacle() async throws {
        let site = Site()
        let gateway = try await Gateway(site.settings())
        let kinds = ["waiting", "restored"].map { CText("radio_" + $0) }
        let found = Pending<GatewayDevice, GatewayError>()
        gateway.core.find(found) { _ in false }
        for (kind, why) in zip(kinds, ["it is off", "it is on"]) {
            let json = #"{"event":"\#(text(kind.pointer))","adapter":"hci9","text":"\#(why)"}"# + "\n"
            lending(json) { text, length in
                var line = tendon_fleet_line()
                (line.text, line.length, line.event) = (text, length, kind.pointer)
                #expect(gateway.core.take(&line))
            }
        }
        gateway.core.giveUp(found)
        let error = await #expect(throws: GatewayError.self) { try await found.value() }
        #expect(error?.detail == "no such device was connected in time; it is off")
        gateway.core.forget(found)
        await gateway.close()
        withExtendedLifetime(kinds) {}
    }

    /// Of one device: no event of another, and none of the gateway.
    @Test func eventsOfOneDevice() async throws {
        let site = Site()
        let (head, belt) = (try await site.head(), try await site.belt())
        let gateway = try await Gateway(site.settings { $0.feelspace.orientationPeriod = .milliseconds(20) })
        let device = try await gateway.device(.feelspace)
        _ = try await gateway.device(.bose)
        #expect(device.address == belt.address && head.address != belt.address)
        var count = 0
        for await event in gateway.events(of: device) {
            #expect(event.device == device)
            count += 1
            if count == 20 { break }
        }
        await site.close(gateway)
    }

    @Test func aSlowConsumer() async throws {
        let site = Site()
        let head = try await site.head { $0.isFlatOut = true }
        let gateway = try await Gateway(site.settings())
        let newest = gateway.events(capacity: 4)
        let oldest = gateway.events(capacity: 4, policy: .dropNewest)
        await eventually("more come than have room") { newest.dropped > 1000 && oldest.dropped > 1000 }
        #expect(await head.counters.samples > 1000)
        await gateway.close()
        var kept: [GatewayEvent.Kind] = []
        for await event in newest { kept.append(event.kind) }
        // Four that waited: the end of the gateway is among the newest.
        #expect(kept.count == 4 && kept.last == .summary)
        kept = []
        for await event in oldest { kept.append(event.kind) }
        #expect(kept.count == 4 && !kept.contains(.summary) && kept.contains(.connected))
    }

    /// The gateway counts what its consumers lost.
    @Test func theSummaryCountsWhatWasDropped() async throws {
        let site = Site()
        let head = try await site.head()
        let gateway = try await Gateway(site.settings())
        let slow = gateway.events(capacity: 1)
        await eventually("samples are dropped") { slow.dropped > 20 }
        let all = gateway.events
        await gateway.close()
        let summary = try await first(all) { $0.kind == .summary }
        #expect((summary["dropped"]?.integer ?? 0) > 10 && summary.device == nil)
        #expect(summary["devices"] == .integer(1))
        withExtendedLifetime(head) {}
    }
}
