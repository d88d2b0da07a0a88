// SPDX-License-Identifier: MIT
import CTendon
import Synchronization
import Tendon
import TestSupport
import Testing

@testable import TendonCommand

extension tendon_admission_random {
    /// No random part.
    static var zero: Self { Self(context: nil) { _ in 0 } }
}

extension Turns {
    /// A device was received, without a packet of it. True if it was not known.
    func received(_ address: Address, isPreferred: Bool = false, radio: Int = 0) -> Bool {
        var (address, report) = (address.c, tendon_admission_report())
        (report.radio, report.preferred) = (UInt8(radio), isPreferred)
        return tendon_admission_received(core.member(\.admission), &address, &report, clock())
    }

    func isDismissed(_ address: Address) -> Bool {
        var address = address.c
        return tendon_admission_state_of(core.member(\.admission), &address) == TENDON_ADMISSION_DISMISSED
    }

    /// The devices that may have a turn: they have one from now on.
    func next() -> [Address] {
        var turns: [Address] = []
        var (address, family) = (tendon_address(), UInt8(0))
        while tendon_admission_next(core.member(\.admission), 0, nil, nil, clock(), &address, &family) {
            turns.append(Address(address))
        }
        return turns
    }
}

/// What a run has of the C core's turns, whose rules are tested in Tests/C/fleet/test_turns.c and
/// Tests/C/gateway/test_admission*.c. Times are milliseconds since the start of the test's clock.
@Suite struct TurnsTests {
    private let device = Address(0xC000_0000_0001, type: .random)
    private let time: Time
    private let turns: Turns

    private final class Time: Sendable {
        let now = Mutex<UInt64>(0)
    }

    init() {
        let time = Time()
        self.time = time
        turns = Turns(random: .zero) { time.now.withLock { $0 } }
    }

    private func at(_ now: UInt64) { time.now.withLock { $0 = now } }

    /// Of an attempt that may succeed another time.
    private let failure = tendon_admission_ending(
        radio: 0, was_open: false, was_released: false, may_retry: true, is_last: false)

    /// Notes what it is asked.
    @TendonActor
    private final class Owner: TurnOwner {
        var refused: Set<Address> = []
        var asked: [String] = []
        var begun: [String] = []

        nonisolated init() {}

        func serves(_ address: Address, family: String) -> Bool {
            asked.append("\(address) \(address.typeName) \(family)")
            return family != "activ5"
        }
        func expects(_ address: Address) -> Bool { false }
        func mayConnect(to address: Address, family: String) -> Bool { !refused.contains(address) }
        func begin(_ address: Address, _ family: String, over radio: Int) -> Bool {
            begun.append("\(address) \(family) \(radio)")
            return true
        }
        func bondRemoved(of address: Address) {}
    }

    /// Families by name, radios by number.
    @TendonActor
    @Test func theOwnerDecides() async throws {
        let directory = RadioDirectory()
        let central = try await Central(radio: directory.radio, bonds: .none)
        let owner = Owner()
        let other = Address(0xC000_0000_0002, type: .public)
        at(1000)
        turns.decide(by: owner, agrees: true)
        try turns.use(central, as: 3)
        #expect(!turns.add(device, family: "no such family", over: 3))
        #expect(turns.add(device, family: "feelspace", over: 3) && turns.add(other, family: "bose", over: 3))
        #expect(turns.add(Address(3, type: .random), family: "activ5", over: 3))
        owner.refused = [other]
        turns.step()
        #expect(owner.begun == ["\(device) feelspace 3"])
        #expect(owner.asked.contains("\(other) public bose"))
        at(5000)
        #expect(turns.deadline == 6000, "the other gateway is asked again")
        owner.refused = []
        turns.step()
        #expect(owner.begun == ["\(device) feelspace 3", "\(other) bose 3"])
        turns.stop(3, central)
        central.close()
    }

    /// With it: what ends then is not the device's fault.
    @TendonActor
    @Test func aRadioFails() async throws {
        let directory = RadioDirectory()
        let central = try await Central(radio: directory.radio, bonds: .none)
        let owner = Owner()
        turns.decide(by: owner, agrees: false)
        try turns.use(central, as: 0)
        at(1000)
        #expect(turns.received(device) && turns.next() == [device])
        let radio = central.core.radio
        radio.pointee.on_failure?(radio.pointee.report_context, Int32(TENDON_RADIO_ERROR_ADAPTER_DOWN), 1000)
        #expect(turns.end(device, failure) == nil)
        turns.lose(0)
        #expect(turns.add(device, family: "bose", over: 0))
        turns.step()
        #expect(owner.begun.isEmpty)
        central.close()
    }

    @TendonActor
    @Test func aTurnEnds() async throws {
        let directory = RadioDirectory()
        let central = try await Central(radio: directory.radio, bonds: .none)
        try turns.use(central, as: 0)
        at(1000)
        #expect(turns.received(device) && !turns.received(device, radio: 1))
        #expect(turns.next() == [device])
        #expect(turns.answerLimit(device) == 2500)
        #expect(turns.end(device, failure) == 1000)
        #expect(turns.answerLimit(device) == 4000)
        at(3499)
        #expect(turns.next().isEmpty, "the search goes on for as long as the attempt could take")
        at(3500)
        #expect(turns.next() == [device])
        turns.answered(device)
        at(5000)
        turns.connected(device, over: 0)
        at(14_999)
        var ending = tendon_admission_ending()
        ending.was_open = true
        #expect(turns.end(device, ending) == 2000, "a short connection")
        at(17_000)
        _ = turns.received(device)
        #expect(turns.next() == [device])
        ending.was_released = true
        #expect(turns.end(device, ending) == nil)
        turns.stop(0, central)
        central.close()
    }

    @TendonActor
    @Test func aDeviceIsLeftAlone() async throws {
        let directory = RadioDirectory()
        let central = try await Central(radio: directory.radio, bonds: .none)
        try turns.use(central, as: 0)
        at(1000)
        #expect(turns.received(device) && turns.next() == [device])
        #expect(turns.end(device, tendon_admission_ending()) == nil, "it cannot be served")
        at(9000)
        #expect(!turns.received(device) && turns.next().isEmpty && turns.deadline == .max)
        turns.readmit(device)
        #expect(turns.next() == [device])
        turns.forget(device)
        #expect(!turns.received(device), "it has a turn")
        var ending = tendon_admission_ending()
        ending.was_released = true
        ending.may_retry = true
        turns.end(device, ending)
        turns.forget(device)
        #expect(turns.received(device), "it is new")
        turns.stop(0, central)
        central.close()
    }

    @TendonActor
    @Test func aForgottenDeviceIsLeftAlone() {
        at(1000)
        #expect(turns.received(device))
        #expect(turns.dismiss(device) && !turns.dismiss(device) && turns.isDismissed(device))
        #expect(!turns.received(device) && turns.next().isEmpty)
        #expect(!turns.add(device, family: "bose", over: 0))
        turns.recall(device)
        #expect(!turns.isDismissed(device) && turns.received(device), "it is new")
        _ = turns.dismiss(device)
        turns.recallAll()
        #expect(turns.add(device, family: "bose", over: 0))
    }

    @TendonActor
    @Test func gatewaysDoNotRetryAtTheSameTime() async throws {
        let directory = RadioDirectory()
        let central = try await Central(radio: directory.radio, bonds: .none)
        var pauses: [UInt64?] = []
        for _ in 0..<64 {
            let turns = Turns()
            try turns.use(central, as: 0)
            _ = turns.received(device)
            pauses.append(turns.end(device, failure))
            turns.stop(0, central)
        }
        #expect(Set(pauses).count > 8)
        #expect(pauses.allSatisfy { (1000...1500).contains($0 ?? 0) })
        central.close()
    }
}
