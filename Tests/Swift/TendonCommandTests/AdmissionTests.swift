// SPDX-License-Identifier: MIT
import CTendon
import Synchronization
import Tendon
import Testing

@testable import TendonCommand

extension tendon_admission_random {
    /// No random part.
    static var zero: Self { Self(context: nil) { _ in 0 } }
}

/// What a run has of the C core's admission, whose rules are tested in Tests/C/gateway/test_admission*.c. Times are milliseconds
/// since the start of the test's clock.
@Suite struct AdmissionTests {
    private let device = Address(0xC000_0000_0001, type: .random)
    private let time: Time
    private let admission: Admission

    private final class Time: Sendable {
        let now = Mutex<UInt64>(0)
    }

    init() {
        let time = Time()
        self.time = time
        admission = Admission(random: .zero) { time.now.withLock { $0 } }
    }

    private func at(_ now: UInt64) { time.now.withLock { $0 = now } }

    private func received(
        _ address: Address, _ family: String = "bose", isPreferred: Bool = false, awaitsResponse: Bool = false,
        radio: Int = 0
    ) -> Bool {
        admission.received(
            address, family: family, isPreferred: isPreferred, awaitsResponse: awaitsResponse, radio: radio)
    }

    /// Of an attempt that may succeed another time.
    private func failure(radio: UInt8 = 0) -> tendon_admission_ending {
        tendon_admission_ending(
            radio: radio, was_open: false, was_released: false, may_retry: true, is_last: false)
    }

    private func turns(among radios: UInt8 = 0) -> [Address] { admission.next(among: radios).map(\.address) }

    @Test func aTurnHasItsFamilyByName() {
        let others = [Address(0xC000_0000_0002, type: .random), Address(0xC000_0000_0001, type: .public)]
        at(1000)
        #expect(received(device, "bose") && received(others[0], "heart_rate") && received(others[1], "bose"))
        #expect(!received(device, "activ5"), "it is known, and what it was stays")
        var asked: Set<String> = []
        let turns = admission.next { address, family in
            asked.insert("\(address) \(address.typeName) \(family)")
            return address != others[1]
        }
        #expect(
            asked == [
                "C0:00:00:00:00:01 random bose", "C0:00:00:00:00:02 random heart_rate", "C0:00:00:00:00:01 public bose",
            ])
        #expect(turns.count == 2)
        #expect(turns.contains { $0.address == device && $0.family == "bose" })
        #expect(turns.contains { $0.address == others[0] && $0.family == "heart_rate" })
        #expect(admission.servedFamily(of: others[0], on: 0, now: 1000) == nil, "it has no connection")
        admission.answered(others[0])
        #expect(admission.servedFamily(of: others[0], on: 0, now: 1000) == "heart_rate")
    }

    @Test func aDeviceWaits() {
        at(1000)
        #expect(received(device, awaitsResponse: true, radio: 1))
        #expect(admission.deadline(of: device, now: 1000) == 2000 && admission.deadline(now: 2000) == 4000)
        #expect(turns(among: 0b10).isEmpty && admission.hasWaiting(now: 1000))
        #expect(!admission.mayBeNext(device, now: 1999, among: 0b10))
        #expect(admission.mayBeNext(device, now: 2000, among: 0b10))
        #expect(!admission.mayBeNext(device, now: 2000, among: 0b11), "the other radio is open")
        at(1001)
        #expect(admission.responded(device) && !admission.responded(device))
        #expect(admission.radios(for: device) == 0b10)
        admission.forgetPresence(radio: 1)
        #expect(admission.radios(for: device) == 0 && turns(among: 0b10).isEmpty)
        at(1002)
        #expect(!received(device, radio: 7))
        #expect(admission.radios(for: device) == 0b1000_0000)
        #expect(turns(among: 0b1000_0000) == [device])
        #expect(!admission.hasWaiting(now: 1002))
    }

    @Test func aTurnEnds() {
        at(1000)
        #expect(received(device) && !received(device, radio: 1))
        #expect(turns() == [device])
        #expect(admission.answerLimit(device) == 2500)
        #expect(admission.endTurn(of: device, failure(radio: 1)) == 1000)
        #expect(admission.radios(for: device) == 0b01)
        #expect(admission.answerLimit(device) == 4000)
        at(3499)
        #expect(turns().isEmpty, "the search goes on for as long as the attempt could take")
        at(3500)
        #expect(turns() == [device])
        at(5000)
        admission.connected(device)
        at(14_999)
        var ending = tendon_admission_ending()
        ending.was_open = true
        #expect(admission.endTurn(of: device, ending) == 2000, "a short connection")
        at(17_000)
        _ = received(device)
        #expect(turns() == [device])
        ending.was_released = true
        #expect(admission.endTurn(of: device, ending) == nil)
    }

    @Test func aDeviceIsLeftAlone() {
        at(1000)
        #expect(received(device) && turns() == [device])
        #expect(admission.endTurn(of: device, tendon_admission_ending()) == nil, "it cannot be served")
        at(9000)
        #expect(!received(device) && turns().isEmpty && admission.deadline(now: 9000) == .max)
        admission.readmit(device)
        #expect(turns() == [device])
        admission.forget(device)
        #expect(!received(device), "it has a turn")
        admission.postpone(device)
        admission.forget(device)
        #expect(received(device), "it is new")
    }

    @Test func aForgottenDeviceIsLeftAlone() {
        at(1000)
        #expect(received(device))
        #expect(!admission.look(at: device, isBonded: true, radio: 1))
        #expect(!admission.look(at: device, isBonded: false, radio: 0), "the other radio had it")
        #expect(admission.look(at: device, isBonded: false, radio: 1))
        #expect(admission.dismiss(device) && !admission.dismiss(device) && admission.isDismissed(device))
        #expect(!received(device) && turns().isEmpty)
        admission.recall(device)
        #expect(!admission.isDismissed(device) && received(device), "it is new")
        admission.dismiss(device)
        admission.recallAll()
        #expect(received(device))
    }

    @Test func gatewaysDoNotRetryAtTheSameTime() {
        let pauses = (0..<64).map { _ in
            let admission = Admission()
            _ = admission.received(device, family: "bose", isPreferred: false, awaitsResponse: false)
            return admission.endTurn(of: device, failure())
        }
        #expect(Set(pauses).count > 8)
        #expect(pauses.allSatisfy { (1000...1500).contains($0 ?? 0) })
    }

    /// Of device files: the C core keeps one byte.
    @Test func thereAreMoreFamiliesThanNumbers() {
        at(1000)
        for number in 0..<300 as Range<UInt64> {
            let address = Address(0xC100_0000_0000 + number, type: .random)
            #expect(received(address, "family \(number)") == (number < 256))
        }
        #expect(Set(admission.next().map(\.family)).isSubset(of: (0..<256).map { "family \($0)" }))
    }
}
