// SPDX-License-Identifier: MIT
import Tendon
import Testing

@testable import TendonCommand

/// Which device may connect, and when. Times are milliseconds since the start of the test's clock.
@Suite struct AdmissionTests {
    private let device = Address(0xC000_0000_0001, type: .random)

    private func found(_ admission: Admission, awaitsResponse: Bool, now: UInt64) -> Bool {
        admission.received(
            device, family: "bose", isPreferred: false, awaitsResponse: awaitsResponse, now: now)
    }

    private func turns(_ admission: Admission, _ now: UInt64) -> [Address] {
        admission.next(now: now).map(\.address)
    }

    @Test func aDeviceWithANameConnectsImmediately() {
        let admission = Admission()
        #expect(found(admission, awaitsResponse: false, now: 1000))
        #expect(turns(admission, 1000) == [device])
    }

    @Test func aDeviceWithoutANameWaitsForItsScanResponse() {
        let admission = Admission()
        #expect(found(admission, awaitsResponse: true, now: 1000))
        #expect(turns(admission, 1000).isEmpty)
        #expect(admission.responded(device, now: 1003))
        #expect(turns(admission, 1003) == [device])
    }

    /// The next radio scans first: a connection before its scan was ever enabled would keep the scan from it.
    @Test func afterTheRadioWasLostADeviceIsReceivedFirst() {
        let admission = Admission()
        #expect(found(admission, awaitsResponse: false, now: 1000))
        #expect(turns(admission, 1000) == [device])
        admission.connected(device)
        admission.left(device, failed: false, now: 2000)
        admission.forgetPresence()
        #expect(turns(admission, 4000).isEmpty)
        #expect(!found(admission, awaitsResponse: false, now: 5000), "it is known")
        #expect(turns(admission, 5000) == [device])
    }

    private func heard(_ admission: Admission, _ radio: Int, now: UInt64) {
        _ = admission.received(
            device, family: "bose", isPreferred: false, awaitsResponse: false, radio: radio, now: now)
    }

    /// The radios that receive a device connect to it; after an attempt that failed, another one of them.
    @Test func radiosTakeTurnsAfterFailures() {
        let admission = Admission()
        #expect(admission.radios(for: device) == 0)
        heard(admission, 1, now: 1000)
        #expect(admission.radios(for: device) == 0b10)
        admission.left(device, failed: true, now: 1100)
        admission.ended(device, radio: 1)
        #expect(admission.radios(for: device) == 0b10, "it is the only one")
        heard(admission, 0, now: 1200)
        heard(admission, 7, now: 1200)
        #expect(admission.radios(for: device) == 0b1000_0011)
        for (radio, left) in [(0, 0b1000_0010), (7, 0b10), (1, 0b1000_0011)] as [(Int, UInt8)] {
            admission.left(device, failed: true, now: 1300)
            admission.ended(device, radio: radio)
            heard(admission, radio, now: 1400)
            #expect(admission.radios(for: device) == left)
        }
        admission.left(device, failed: true, now: 1500)
        admission.ended(device, radio: 0)
        admission.connected(device)
        #expect(admission.radios(for: device) == 0b1000_0011)
        admission.left(device, failed: false, now: 1600)
        admission.ended(device, radio: 0)
        #expect(admission.radios(for: device) == 0b1000_0011, "a connection that ended has not failed")
    }

    private func turns(_ admission: Admission, _ now: UInt64, among radios: UInt8) -> [Address] {
        admission.next(now: now, among: radios).map(\.address)
    }

    private func heardOther(_ admission: Admission, _ radio: Int, now: UInt64) {
        _ = admission.received(
            Address(0xC000_0000_0002, type: .random), family: "bose", isPreferred: false, awaitsResponse: true,
            radio: radio, now: now)
    }

    /// The first radio that receives two devices does not have both of them.
    @Test func aNewDeviceWaitsUntilEachRadioReceivesIt() {
        let admission = Admission()
        heardOther(admission, 1, now: 900)
        heard(admission, 0, now: 1000)
        #expect(turns(admission, 1000, among: 0b11).isEmpty)
        heard(admission, 1, now: 1200)
        #expect(turns(admission, 1200, among: 0b11) == [device])
    }

    @Test func aNewDeviceWaitsForOtherRadiosForASecond() {
        let admission = Admission()
        heardOther(admission, 1, now: 1900)
        heard(admission, 0, now: 2000)
        #expect(!turns(admission, 2999, among: 0b11).contains(device))
        #expect(turns(admission, 3000, among: 0b11).contains(device))
        admission.left(device, failed: false, now: 3100)
        heard(admission, 0, now: 4000)
        #expect(turns(admission, 4000, among: 0b11).contains(device), "it is not new any more")
    }

    @Test func aRadioThatHasReceivedNothingIsWaitedForLonger() {
        let admission = Admission()
        heard(admission, 0, now: 1000)
        #expect(turns(admission, 3999, among: 0b11).isEmpty)
        #expect(turns(admission, 4000, among: 0b11) == [device])
        let other = Admission()
        heardOther(other, 1, now: 500)
        other.forgetPresence(radio: 1)
        heard(other, 0, now: 1000)
        #expect(!turns(other, 3999, among: 0b11).contains(device), "it was opened again")
    }

    @Test func aRadioThatIsNotOpenIsNotWaitedFor() {
        let admission = Admission()
        heard(admission, 1, now: 1000)
        #expect(turns(admission, 1000, among: 0b10) == [device])
    }

    /// As long as another radio receives a device, it is a candidate.
    @Test func oneOfTwoRadiosIsLost() {
        let admission = Admission()
        heard(admission, 0, now: 1000)
        heard(admission, 1, now: 1000)
        admission.forgetPresence(radio: 0)
        #expect(admission.radios(for: device) == 0b10)
        #expect(turns(admission, 1500) == [device])
        admission.left(device, failed: false, now: 1500)
        admission.forgetPresence(radio: 1)
        #expect(admission.radios(for: device) == 0)
        #expect(turns(admission, 4000).isEmpty)
        heard(admission, 0, now: 5000)
        #expect(admission.radios(for: device) == 0b1)
        #expect(turns(admission, 5000) == [device])
    }

    /// Later advertisements without a response do not prolong it.
    @Test func theScanResponseIsWaitedForALimitedTime() {
        let admission = Admission()
        #expect(found(admission, awaitsResponse: true, now: 1000))
        #expect(!found(admission, awaitsResponse: true, now: 1900))
        #expect(turns(admission, 1999).isEmpty)
        #expect(turns(admission, 2000) == [device])
    }

    /// The response wakes those that wait, once, and nobody else.
    @Test func aScanResponseOfAnotherDeviceOrLaterOnesChangeNothing() {
        let admission = Admission()
        #expect(!admission.responded(device, now: 900))
        #expect(found(admission, awaitsResponse: true, now: 1000))
        #expect(!admission.responded(Address(0xC000_0000_0002, type: .random), now: 1001))
        #expect(!admission.responded(Address(0xC000_0000_0001, type: .public), now: 1001))
        #expect(turns(admission, 1001).isEmpty)
        #expect(admission.responded(device, now: 1002))
        #expect(!admission.responded(device, now: 1003))
    }

    /// An advertisement makes a look at all devices necessary only if its own device may be next.
    @Test func onlyADeviceThatIsReadyCanBeNext() {
        let admission = Admission(random: { 0 })
        func mayBeNext(_ now: UInt64) -> Bool { admission.mayBeNext(device, now: now, among: 0) }
        #expect(!mayBeNext(1000), "it is not known")
        #expect(found(admission, awaitsResponse: true, now: 1000))
        #expect(!mayBeNext(1999), "its scan response is waited for")
        #expect(mayBeNext(2000))
        #expect(turns(admission, 2000) == [device])
        #expect(!mayBeNext(2001), "it is served")
        admission.left(device, failed: false, now: 3000)
        #expect(!mayBeNext(3499) && mayBeNext(3500), "after its pause")
        #expect(!mayBeNext(20_000), "it was not received for long")
    }

    /// Addresses that somebody makes up: those that were received longest ago make room, and not what is served.
    @Test func strangersWithoutEnd() {
        let admission = Admission()
        #expect(found(admission, awaitsResponse: false, now: 1000))
        #expect(turns(admission, 1000) == [device])
        var new = 0
        for number in 0..<20_000 {
            let stranger = Address(0xC100_0000_0000 + UInt64(number), type: .random)
            if admission.received(
                stranger, family: "bose", isPreferred: false, awaitsResponse: false, now: 2000 + UInt64(number))
            {
                new += 1
            }
        }
        #expect(new == 20_000)
        #expect(admission.radios(for: device) == 1, "it is served")
        #expect(admission.radios(for: Address(0xC100_0000_0000 + 19_999, type: .random)) == 1)
        #expect(admission.radios(for: Address(0xC100_0000_0000, type: .random)) == 0, "long ago")
    }

    /// The pause after a failure is not shortened by a scan response.
    @Test func aScanResponseDoesNotEndAPause() {
        let admission = Admission(random: { 0 })
        #expect(found(admission, awaitsResponse: true, now: 1000))
        #expect(turns(admission, 2000) == [device])
        admission.failed(device, now: 3000)
        #expect(admission.left(device, failed: true, now: 3000) == 1000)
        #expect(!admission.responded(device, now: 3010))
        #expect(turns(admission, 3010).isEmpty)
        #expect(!found(admission, awaitsResponse: true, now: 5499))
        // The pause has ended; the search goes on for as long as the attempt might take.
        #expect(turns(admission, 5499).isEmpty)
        #expect(turns(admission, 5500) == [device])
    }
}
