// SPDX-License-Identifier: MIT
import CTendon
import TestSupport
import Testing

@testable import Tendon

/// Requests that wait for others, and what a connection leaves behind.
@Suite(.timeLimit(.minutes(1)))
struct RequestTests {
    /// ATT has one request at a time: the limit of one that waits for another is its own.
    @Test func aRequestThatWaitsHasItsOwnLimit() async throws {
        let site = try await Site()
        let central = try await Central(radio: site.radio)
        let peripheral = try await central.connect(site.address)
        let service = try #require(try await peripheral.discoverServices("fdd2").first)
        let all = try await peripheral.discoverCharacteristics(of: service)
        let one = try #require(all.first { $0.properties.contains(.read) })
        let halt = await Halt(site.loop)
        let first = Task { try await peripheral.read(one, timeout: .seconds(20)) }
        await eventually("the first is sent") { await onLoop { peripheral.core.client.pointee.in_flight != 0 } }
        let error = await #expect(throws: TendonError.self) {
            try await peripheral.read(one, timeout: .milliseconds(20))
        }
        #expect(error?.isTimeout == true)
        halt.release()
        #expect(try await !first.value.isEmpty)
    }

    @Test func aReleasedConnectionGivesTheRadioBack() async throws {
        let site = try await Site()
        let central = try await Central(radio: site.radio)
        let radio = central.core
        var peripheral: Peripheral? = try await central.connect(site.address)
        #expect(await onLoop { radio.users } == 2)
        let core = peripheral?.core
        peripheral = nil
        await eventually("the connection ends") { await site.connections() == 0 }
        await eventually("the radio is given back") { await onLoop { radio.users } == 1 }
        await onLoop { core?.abandon() }  // a second time changes nothing
        #expect(await onLoop { radio.users } == 1)
        await central.close()
    }

    /// The C core does not take it: its completion will not release it.
    @Test func aRequestThatIsRejectedIsReleased() async throws {
        let site = try await Site()
        let central = try await Central(radio: site.radio)
        let peripheral = try await central.connect(site.address)
        let core = peripheral.core
        let kept = await Task { @TendonActor in
            let request = Request(core, .read)
            let kept = Weakly(request)
            let error = await #expect(throws: TendonError.self) {
                try await request.run(timeout: nil) { _, _, _ in Int32(TENDON_GATT_ERROR_QUEUE_FULL) }
            }
            #expect(error?.status == Int32(TENDON_GATT_ERROR_QUEUE_FULL))
            return kept
        }.value
        #expect(await onLoop { kept.object == nil })
    }

    @Test @TendonActor func aRequestThatCompletesWithinItsCall() async throws {
        let site = try await Site()
        let central = try await Central(radio: site.radio)
        let peripheral = try await central.connect(site.address)
        let request = Request(peripheral.core, .discover)
        try await request.run(timeout: nil) { done, context, _ in
            var result = tendon_gatt_result()
            result.count = 3
            done(context, &result)
            return 1
        }
        #expect(request.count == 3)
    }

    /// A session's connection that is ended, and one that is only released.
    @Test(arguments: [true, false])
    func theConnectionOfASessionGivesTheRadioBack(_ isEnded: Bool) async throws {
        let site = try await Site()
        let central = try await Central(radio: site.radio)
        let radio = central.core
        await onLoop {
            let owner = Site.Owner()
            let link = SessionLink(radio, to: site.address, pairing: .none, owner: owner)
            #expect(radio.users == 2)
            if isEnded { link.abandon() }
            withExtendedLifetime(owner) {}
        }
        await eventually("the radio is given back") { await onLoop { radio.users } == 1 }
        await central.close()
    }

    @Test func aReleasedConnectionReleasesItsRadio() async throws {
        let site = try await Site()
        weak var core: PeripheralCore?
        weak var radio: RadioCore?
        do {
            let central = try await Central(radio: site.radio)
            let peripheral = try await central.connect(site.address)
            (core, radio) = (peripheral.core, central.core)
        }
        await eventually("the connection is released") { core == nil }
        await eventually("the radio is released") { radio == nil }
    }
}
