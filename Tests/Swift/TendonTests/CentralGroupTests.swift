// SPDX-License-Identifier: MIT
import CTendon
import TestSupport
import Testing

@testable import Tendon

extension CentralGroup {
    /// As `connect` begins, of the centrals that are considered.
    fileprivate func assign(_ address: Address, where isConsidered: @Sendable (Central) -> Bool) throws(TendonError)
        -> Central
    {
        try checkIsFree(address)
        return count(try choose(address, where: isConsidered))
    }
}

/// Which of several radios connects; the rules are the C core's: Tests/C/linux/test_radio_group.c.
struct CentralGroupTests {
    private static func error(_ status: Int) -> TendonError {
        TendonError(status: Int32(status), operation: .connect)
    }
    /// Connection Limit Exceeded, Core Specification, Vol 1 Part F 2.9.
    private static let noRoom = TendonError(
        status: -(Int32(TendonError.Layer.hci.rawValue) * 256 + 0x09), operation: .connect)

    /// With two centrals.
    private func group(_ directory: RadioDirectory) async throws -> (CentralGroup, [Central]) {
        let group = CentralGroup()
        var centrals: [Central] = []
        for _ in 0..<2 {
            let central = try await Central(radio: directory.radio, bonds: .none)
            try await group.add(central)
            centrals.append(central)
        }
        return (group, centrals)
    }

    @Test func connectionsAreSpreadAndNoDeviceIsConnectedTwice() async throws {
        let (first, second) = (try await Site(), try await Site())
        let group = CentralGroup()
        let centrals = [
            try await Central(radio: first.radio, bonds: .none), try await Central(radio: first.radio, bonds: .none),
        ]
        for central in centrals { try await group.add(central) }
        #expect(await group.centrals.map { $0 === centrals[0] } == [true, false])
        let peripheral = try await group.connect(first.address)
        #expect(await first.connections() == 1)
        #expect(await centrals[0].hasLink(to: first.address))
        await #expect(throws: Self.error(Int(TENDON_ERROR_WRONG_STATE))) { try await group.connect(first.address) }
        // The next device: over the central without a connection.
        #expect(try await group.central(for: second.address) === centrals[1])
        await peripheral.disconnect()
        await #expect(throws: Never.self) { _ = try await group.connect(first.address) }
    }

    @Test func assignedDevicesCountBeforeTheyConnect() async throws {
        let (group, centrals) = try await group(RadioDirectory())
        for number in 0..<4 {
            let device = Address(0xC000_0000_0000 | UInt64(number), type: .random)
            #expect(try await group.assign(device) { _ in true } === centrals[number % 2])
        }
        await group.release(centrals[1])
        let next = Address(0xC000_0000_0009, type: .random)
        #expect(try await group.central(for: next) === centrals[1])
        // Only those that receive it.
        #expect(try await group.assign(next) { $0 === centrals[0] } === centrals[0])
        await #expect(throws: Self.error(Int(TENDON_RADIO_ERROR_OUT_OF_RANGE))) {
            try await group.assign(next) { _ in false }
        }
    }

    @Test func aControllerThatRejectsAConnectionGetsNoMore() async throws {
        let (group, centrals) = try await group(RadioDirectory())
        let device = Address(0xC000_0000_0001, type: .random)
        for central in centrals {
            #expect(try await group.assign(device) { _ in true } === central)
            #expect(await group.release(central, after: Self.noRoom))
        }
        await #expect(throws: Self.noRoom) { try await group.central(for: device) }
        await #expect(throws: Self.noRoom) { try await group.connect(device) }
        await group.remove(centrals[0])
        try await group.add(centrals[0])  // as a radio that was opened again
        #expect(try await group.assign(device) { _ in true } === centrals[0])
        #expect(await !group.release(centrals[0], after: Self.error(Int(TENDON_ERROR_TIMEOUT))))
        #expect(try await group.central(for: device) === centrals[0])
    }

    @Test func theLimitOfTheOwnerIsKept() async throws {
        let site = try await Site()
        let group = CentralGroup()
        let central = try await Central(radio: site.radio, bonds: .none)
        try await group.add(central, limit: 1)
        let peripheral = try await group.connect(site.address)
        await #expect(throws: Self.noRoom) { try await group.connect(Address(0xC000_0000_0001, type: .random)) }
        await peripheral.disconnect()
    }

    @Test func aRadioThatFailedIsNotChosen() async throws {
        let (group, centrals) = try await group(RadioDirectory())
        let device = Address(0xC000_0000_0001, type: .random)
        await onLoop { centrals[0].core.failNow(Int32(TENDON_RADIO_ERROR_NO_ADAPTER)) }
        #expect(try await group.central(for: device) === centrals[1])
        await onLoop { centrals[1].core.failNow(Int32(TENDON_RADIO_ERROR_NO_ADAPTER)) }
        await #expect(throws: Self.error(Int(TENDON_RADIO_ERROR_OUT_OF_RANGE))) {
            try await group.central(for: device)
        }
        for central in centrals { await group.remove(central) }
        await #expect(throws: Self.error(Int(TENDON_RADIO_ERROR_NO_ADAPTER))) { try await group.central(for: device) }
    }

    @Test func centralsThatDoNotFit() async throws {
        let directory = RadioDirectory()
        let (group, centrals) = try await group(directory)
        func failure(_ status: Int) -> TendonError {
            TendonError(status: Int32(status), operation: .groupCentrals)
        }
        await #expect(throws: failure(Int(TENDON_ERROR_WRONG_STATE))) { try await group.add(centrals[0]) }
        await group.remove(try await Central(radio: directory.radio, bonds: .none))  // it is not in the group
        for limit in [0, -1] {
            await #expect(throws: failure(Int(TENDON_ERROR_INVALID_ARGUMENT))) {
                try await group.add(centrals[0], limit: limit)
            }
        }
        var more: [Central] = []
        for _ in centrals.count..<Int(TENDON_RADIO_GROUP_MAX) {
            more.append(try await Central(radio: directory.radio, bonds: .none))
            try await group.add(more[more.count - 1])
        }
        let last = try await Central(radio: directory.radio, bonds: .none)
        await #expect(throws: failure(Int(TENDON_ERROR_OVERFLOW))) { try await group.add(last) }
        #expect(await group.centrals.count == Int(TENDON_RADIO_GROUP_MAX))
    }

    /// Between two attempts no radio has a link to the device.
    @Test func aDeviceIsNotConnectedTwiceDuringThePauseOfAnAttempt() async throws {
        let (group, centrals) = try await group(RadioDirectory())
        let absent = Address(0xC000_0000_0001, type: .random)
        let connecting = Task { try await group.connect(absent) }
        await eventually("it connects") { await centrals[0].endsAttempt() }
        await eventually("the pause") { await onLoop { centrals[0].core.radio.pointee.links == nil } }
        await #expect(throws: Self.error(Int(TENDON_ERROR_WRONG_STATE))) { try await group.central(for: absent) }
        await #expect(throws: Self.error(Int(TENDON_ERROR_WRONG_STATE))) { try await group.connect(absent) }
        await #expect(throws: Self.error(Int(TENDON_ERROR_WRONG_STATE))) {
            try await group.assign(absent) { _ in true }
        }
        connecting.cancel()
        await #expect(throws: TendonError.cancelled) { try await connecting.value }
        #expect(try await group.central(for: absent) === centrals[0])
    }

    /// A group keeps its centrals, and nothing else.
    @Test func itIsReleased() async throws {
        let directory = RadioDirectory()
        let weakly: Weakly<RadioCore>
        do {
            let (group, centrals) = try await group(directory)
            weakly = await onLoop { Weakly(centrals[1].core) }
            await group.remove(centrals[0])
        }
        await eventually("nothing is left") { await onLoop { weakly.object == nil } }
    }
}

extension Central {
    /// Ends an attempt as if the device had not responded. False: there is none.
    fileprivate func endsAttempt() -> Bool {
        guard let link = core.radio.pointee.links else { return false }
        tendon_link_close(link)
        link.pointee.reason = Int32(TENDON_RADIO_ERROR_OUT_OF_RANGE)
        return true
    }

    fileprivate func hasLink(to address: Address) -> Bool {
        var link = core.radio.pointee.links
        while let current = link {
            if current.pointee.state == UInt8(TENDON_LINK_OPEN.rawValue), Address(current.pointee.peer) == address {
                return true
            }
            link = current.pointee.next
        }
        return false
    }
}
