// SPDX-License-Identifier: MIT
// A queue that is full while devices are renamed, forgotten, lost and found: what the broker has at the end is right, and
// each event arrives or is counted as dropped.
import TendonOutputs
import TestSupport
import Testing

@testable import TendonMQTT

/// Why the queue is full.
enum FullQueue: CaseIterable {
    case brokerAway
    /// Connected, and libmosquitto takes nothing.
    case brokerSlow
    /// The broker is away, and the disk takes nothing either.
    case diskFull
}

/// What the gateway says about a device meanwhile.
enum ActOnDevice: CaseIterable {
    case reload, rename, forget, lose, find, radiosLost, radiosBack, killAndRestart, endAndRestart
}

/// A gateway, its broker, and what the broker must have of one device at the end.
private final class FullSite {
    private var gateway: TestGateway
    /// It has the file of the queue.
    private let first: TestGateway
    private let full: FullQueue
    private var messages: [String: String] = [:]
    private var arrived: Set<String> = []
    private var flooded = 0
    private var dropped: UInt64 = 0
    private let noise = OutputDevice(family: "fjorden", address: "C0:00:00:00:08:02", addressType: "random")
    private let discovery = "homeassistant/device/tendon_c00000000801_random/config"

    // Of the device, as it is now.
    private var device = TestGateway.grip
    private var isKnown = true
    private var isAvailable = true
    /// Of this run; and whether the broker has one under the present name.
    private var knowsState = true
    private var hasState = true
    private var names = 0

    init(_ full: FullQueue) throws {
        self.full = full
        first = try FullSite.gateway(full)
        gateway = first
        gateway.broker.acknowledges = true
        gateway.round(.connected(window: nil))
        gateway.round(.presence(device, .connected), .presence(noise, .connected))
        gateway.line("battery", of: device, #","battery_percent":70"#)
        later()
        deliver()
        if full == .brokerSlow {
            gateway.broker.takesMessages = false
        } else {
            gateway.round(.disconnected("away", isRefused: false))
        }
    }

    private static func gateway(_ full: FullQueue, after earlier: TestGateway? = nil) throws -> TestGateway {
        try TestGateway(queue: earlier, bytes: full == .diskFull ? 16 << 10 : 1 << 20) {
            $0.queueLimit = full == .diskFull ? 100_000 : 20
        }
    }

    /// After every pause of the queue.
    private func later() {
        gateway.time.now += 10_000
        gateway.round()
    }

    /// More than the queue takes.
    func flood() {
        let count = full == .diskFull ? 4200 : 30
        for number in 0..<count { gateway.line("press", of: noise, #","number":\#(flooded + number)"#) }
        flooded += count
        later()
        later()
    }

    func perform(_ act: ActOnDevice) throws {
        switch act {
        case .reload: gateway.round(.presence(device, .renamed))
        case .rename:
            names += 1
            hasState = knowsState
            device = OutputDevice(
                family: device.family, address: device.address, addressType: device.addressType, name: "name-\(names)",
                isNamed: true)
            gateway.round(.presence(device, .renamed))
        case .forget:
            gateway.round(.presence(device, .forgotten))
            (isKnown, isAvailable, knowsState, hasState) = (false, false, false, false)
        case .lose:
            guard isAvailable else { break }
            gateway.round(.presence(device, .disconnected))
            isAvailable = false
        case .find:
            gateway.line("connected", of: device)
            gateway.line("battery", of: device, #","battery_percent":60"#)
            gateway.round(.presence(device, .connected))
            (isKnown, isAvailable, knowsState, hasState) = (true, true, true, true)
        case .radiosLost: gateway.round(.radios(open: 0, waiting: ["waiting for an adapter"]))
        case .radiosBack: gateway.round(.radios(open: 1, waiting: []))
        case .killAndRestart:
            gateway.worker.delivery.close()
            try restart()
        case .endAndRestart:
            gateway.time.step = 100
            gateway.worker.end()
            try restart()
        }
        later()
        later()
    }

    private func restart() throws {
        let now = gateway.time.now
        let slow = full == .brokerSlow
        gateway = try FullSite.gateway(full, after: first)
        gateway.time.now = now
        gateway.broker.acknowledges = true
        gateway.broker.takesMessages = !slow
        if slow { gateway.round(.connected(window: nil)) }
        (isAvailable, knowsState) = (false, false)
    }

    private func deliver() {
        repeat {
            for message in gateway.published() {
                if message.isRetained { messages[message.topic] = message.text.isEmpty ? nil : message.text }
                if message.topic.hasSuffix("08:02/event"), let number = message.text.firstMatch(of: /"number":(\d+)/) {
                    arrived.insert(String(number.1))
                }
            }
            gateway.round()
        } while !gateway.broker.messages.isEmpty
    }

    /// The broker is back.
    func check(_ what: Comment) {
        gateway.broker.takesMessages = true
        if full != .brokerSlow { gateway.round(.connected(window: nil)) }
        for _ in 0..<3 {
            later()
            deliver()
        }
        let name = "tendon/" + (device.isNamed ? device.name! : device.address)
        let kept = messages.filter {
            !$0.key.hasPrefix("tendon/bridge") && !$0.key.contains("08:02") && !$0.key.contains("0802")
        }
        let expected = isKnown ? [discovery, name + "/availability"] + (hasState ? [name] : []) : []
        #expect(kept.keys.sorted() == expected.sorted(), what)
        #expect(
            kept[name + "/availability"] == (isKnown ? #"{"state":"\#(isAvailable ? "online" : "offline")"}"# : nil),
            what)
        #expect(kept[discovery]?.contains(name + "/availability") != false, what)
        #expect(gateway.worker.delivery.isIdle, what)
        // What was dropped after the broker got it counts as well.
        #expect(arrived.count + Int(gateway.worker.delivery.dropped) >= flooded, what)
    }
}

@Suite struct FullQueueTests {
    @Test(arguments: [FullQueue.brokerAway, .brokerSlow], ActOnDevice.allCases)
    func eachPairOfActs(_ full: FullQueue, _ first: ActOnDevice) throws {
        for second in ActOnDevice.allCases {
            let site = try FullSite(full)
            site.flood()
            try site.perform(first)
            site.flood()
            try site.perform(second)
            site.flood()
            site.check("\(full), \(first), \(second)")
        }
    }

    /// What waits is in memory alone: what a process that ends has there is lost with it.
    @Test(arguments: ActOnDevice.allCases.filter { $0 != .killAndRestart && $0 != .endAndRestart })
    func eachActWithAFullDisk(_ act: ActOnDevice) throws {
        let site = try FullSite(.diskFull)
        site.flood()
        try site.perform(act)
        site.flood()
        site.check("\(act)")
    }

    /// Each run has its seed in its name.
    @Test(arguments: 1...40 as ClosedRange<UInt64>) func inRandomOrder(seed: UInt64) throws {
        var dice = Dice(seed: seed)
        let site = try FullSite([.brokerAway, .brokerSlow][dice.roll(2)])
        var acts: [ActOnDevice] = []
        for _ in 0..<12 {
            acts.append(ActOnDevice.allCases[dice.roll(ActOnDevice.allCases.count)])
            try site.perform(acts.last!)
            if dice.roll(2) == 0 { site.flood() }
        }
        site.check("seed \(seed): \(acts)")
    }
}
