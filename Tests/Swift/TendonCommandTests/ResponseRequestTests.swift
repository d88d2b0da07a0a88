// SPDX-License-Identifier: MIT
import Tendon
import Testing

@testable import TendonCommand

/// When the search of `tendon run` is active. Times are milliseconds since the start of the test's clock.
@Suite struct ResponseRequestTests {
    private let device = Address(0xC000_0000_0001, type: .random)
    private let other = Address(0xC000_0000_0001, type: .public)

    @Test func theSearchIsPassiveUntilAResponseIsWanted() {
        var requests = ResponseRequests()
        #expect(!requests.isActive(now: 0))
        requests.want(device, now: 1000)
        #expect(requests.isActive(now: 1000))
        #expect(requests.isActive(now: 3999))
        #expect(!requests.isActive(now: 4000))
    }

    @Test func theResponseEndsTheRequestOfItsDeviceAlone() {
        var requests = ResponseRequests()
        requests.want(device, now: 1000)
        requests.answered(other)
        #expect(requests.isActive(now: 1001))
        requests.want(other, now: 1500)
        requests.answered(device)
        #expect(requests.isActive(now: 1501))
        requests.answered(other)
        #expect(!requests.isActive(now: 1501))
    }

    /// A device that never has a name, and advertises all the time, costs three seconds per minute.
    @Test(arguments: [false, true]) func aDeviceIsAskedOncePerMinute(isAnswered: Bool) {
        var requests = ResponseRequests()
        requests.want(device, now: 1000)
        if isAnswered { requests.answered(device) }
        requests.want(device, now: 4000)
        requests.want(device, now: 60_999)
        #expect(!requests.isActive(now: 60_999))
        requests.want(device, now: 61_000)
        #expect(requests.isActive(now: 61_000))
        #expect(requests.isActive(now: 63_999))
        #expect(!requests.isActive(now: 64_000))
    }

    /// Any number of devices take the same memory, and the one that was asked longest ago is forgotten first.
    @Test func theTableIsBounded() {
        var requests = ResponseRequests()
        for number in 0..<UInt64(ResponseRequests.capacity) {
            requests.want(Address(0xC000_0000_0100 + number, type: .random), now: 1000 + number)
        }
        requests.want(device, now: 2000)
        // Forgotten: it may be asked again. The second one may not.
        requests.want(Address(0xC000_0000_0101, type: .random), now: 10_000)
        #expect(!requests.isActive(now: 10_000))
        requests.want(Address(0xC000_0000_0100, type: .random), now: 10_000)
        #expect(requests.isActive(now: 10_000))
    }
}
