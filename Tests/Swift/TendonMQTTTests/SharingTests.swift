// SPDX-License-Identifier: MIT
// Claims over the broker: what is published, and what becomes of the claims of others.
import TendonOutputs
import TendonSupport
import TestSupport
import Testing

@testable import TendonMQTT

private typealias Message = ScriptedBroker.Message

private let key = "C0:00:00:00:08:01/random"
private let own = "tendon/bridge/gw/claim/" + key

private func site() throws -> TestGateway {
    let gateway = try TestGateway { $0.sharesDevices = true }
    gateway.connect()
    return gateway
}

private func claims(_ gateway: TestGateway) -> [Message] { gateway.published().filter { $0.topic.contains("/claim/") } }

private func claim(_ stage: String, _ score: Int = -60) -> Message {
    Message(topic: own, text: #"{"stage":"\#(stage)","score_dbm":\#(score)}"#, quality: 1, isRetained: true)
}

/// The gateway `other` says something.
private func other(_ gateway: TestGateway, _ stage: String, _ score: Int) {
    gateway.received("tendon/bridge/other/state", #"{"state":"online"}"#)
    gateway.received("tendon/bridge/other/claim/" + key, #"{"stage":"\#(stage)","score_dbm":\#(score)}"#)
}

@Suite struct SharingTests {
    /// docs/mqtt.md: 1.5 s of listening, 0.5 s after the claim, then the connection.
    @Test func aFreeDeviceIsTaken() throws {
        let gateway = try site()
        let shared = gateway.shared!
        shared.received(TestGateway.grip, rssi: -60)
        gateway.round(at: 100_000)
        #expect(claims(gateway) == [claim("hears")])
        #expect(gateway.worker.deadline <= 101_500)
        gateway.round(at: 101_499)
        #expect(claims(gateway) == [])
        gateway.round(at: 101_500)
        #expect(claims(gateway) == [claim("takes")])
        #expect(!shared.mayConnect(to: TestGateway.grip))
        gateway.round(at: 102_000)
        #expect(shared.mayConnect(to: TestGateway.grip))
        gateway.round(at: 102_500, .presence(TestGateway.grip, .connected))
        #expect(claims(gateway) == [claim("holds")])
        gateway.round(at: 110_000, .presence(TestGateway.grip, .disconnected))
        #expect(claims(gateway) == [Message(topic: own, text: "", quality: 1, isRetained: true)])
        #expect(!shared.mayConnect(to: TestGateway.grip))
    }

    @Test func aDeviceThatAnotherGatewayHoldsIsLeftToIt() async throws {
        let gateway = try site()
        gateway.round(at: 100_000, .presence(TestGateway.grip, .connected))
        gateway.round(at: 101_000, .signal(TestGateway.grip, -60))
        _ = claims(gateway)
        other(gateway, "holds", -50)
        #expect(claims(gateway) == [claim("hears")])
        await eventually("the connection is ended") {
            gateway.handler.calls == ["disconnect C0:00:00:00:08:01 random"]
        }
    }

    @Test func aClaimCountsWhileItsGatewayIsOnline() throws {
        let gateway = try site()
        // The retained claim comes before the state.
        gateway.received("tendon/bridge/other/claim/" + key, #"{"stage":"holds","score_dbm":-90}"#)
        gateway.received("tendon/bridge/other/state", #"{"state":"online"}"#)
        gateway.round(at: 100_000, .signal(TestGateway.grip, -60))
        gateway.round(at: 101_500)
        #expect(claims(gateway) == [claim("hears")])
        // Its last will.
        gateway.received("tendon/bridge/other/state", #"{"state":"offline"}"#)
        gateway.round(at: 101_600, .signal(TestGateway.grip, -60))
        gateway.round(at: 102_999)
        #expect(claims(gateway) == [])
        gateway.round(at: 103_000)
        #expect(claims(gateway) == [claim("takes")])
        // A claim that is none withdraws the one before.
        other(gateway, "holds", -90)
        #expect(claims(gateway) == [claim("hears")])
        gateway.received("tendon/bridge/other/claim/" + key, "")
        gateway.round(at: 104_000, .signal(TestGateway.grip, -60))
        gateway.round(at: 104_500)
        #expect(claims(gateway) == [claim("takes")])
    }

    @Test func aClaimOfAnEarlierRunIsRemoved() throws {
        let gateway = try site()
        gateway.received(own, #"{"stage":"holds","score_dbm":-60}"#, isRetained: true)
        #expect(claims(gateway) == [Message(topic: own, text: "", quality: 1, isRetained: true)])
        // What this removal brings back, its own state, and a claim that it has.
        gateway.received(own, "")
        gateway.received("tendon/bridge/gw/state", #"{"state":"online"}"#, isRetained: true)
        gateway.round(at: 100_000, .signal(TestGateway.grip, -60))
        gateway.received(own, #"{"stage":"hears","score_dbm":-60}"#)
        #expect(claims(gateway) == [claim("hears")])
    }

    @Test func withoutABrokerTheClaimsOfOthersAreUnknown() throws {
        let gateway = try site()
        other(gateway, "holds", -90)
        gateway.round(at: 100_000, .signal(TestGateway.grip, -60))
        _ = claims(gateway)
        gateway.round(at: 101_000, .disconnected("reset", isRefused: false))
        // 30 s after the broker was lost, not after the device was received.
        for now in stride(from: UInt64(102_000), to: 131_000, by: 1000) {
            gateway.round(at: now, .signal(TestGateway.grip, -60))
        }
        #expect(!gateway.shared!.mayConnect(to: TestGateway.grip))
        gateway.round(at: 131_000, .signal(TestGateway.grip, -60))
        #expect(gateway.shared!.mayConnect(to: TestGateway.grip))
        // With the broker the claims come again: the one of before counts no more by itself.
        gateway.round(at: 132_000, .presence(TestGateway.grip, .connected))
        gateway.round(at: 133_000, .connected(window: nil))
        #expect(claims(gateway) == [claim("holds")])
        gateway.received("tendon/bridge/other/claim/" + key, #"{"stage":"holds","score_dbm":-50}"#)
        #expect(claims(gateway) == [])
        gateway.received("tendon/bridge/other/state", #"{"state":"online"}"#)
        #expect(claims(gateway) == [claim("hears")])
    }

    /// A device that was first received while the broker was away: the time counts from the loss.
    @Test func aDeviceThatComesLaterIsTakenThirtySecondsAfterTheLoss() throws {
        let gateway = try site()
        gateway.round(at: 100_000, .disconnected("reset", isRefused: false))
        gateway.round(at: 129_999, .signal(TestGateway.grip, -60))
        #expect(!gateway.shared!.mayConnect(to: TestGateway.grip))
        gateway.round(at: 130_000)
        #expect(gateway.shared!.mayConnect(to: TestGateway.grip))
    }

    /// Any client of the broker can make claims up: of devices that are not in range nothing is decided.
    @Test func claimsToDevicesThatAreNotInRange() throws {
        let gateway = try site()
        gateway.received("tendon/bridge/other/state", #"{"state":"online"}"#)
        for number in 0..<10_000 {
            gateway.received("tendon/bridge/other/claim/\(number)/random", #"{"stage":"holds","score_dbm":-60}"#)
        }
        #expect(gateway.worker.agreements.isEmpty)
        // Of one gateway 1,024 are remembered, of all together 8,192.
        for other in 0..<20 {
            gateway.received("tendon/bridge/n\(other)/state", #"{"state":"online"}"#)
            for number in 0..<1000 {
                gateway.received(
                    "tendon/bridge/n\(other)/claim/\(number)/random", #"{"stage":"hears","score_dbm":-60}"#)
            }
        }
        #expect((0..<10_000).reduce(0) { $0 + gateway.worker.neighbors.claims(to: "\($1)/random").count } == 8192)
        // A device that is received all the same.
        gateway.round(at: 100_000, .signal(TestGateway.grip, -60))
        #expect(claims(gateway) == [claim("hears")])
        #expect(gateway.worker.agreements.count == 1)
    }

    /// A claim that was made before this gateway received the device.
    @Test func aClaimThatCameBefore() throws {
        let gateway = try site()
        other(gateway, "holds", -90)
        #expect(gateway.worker.agreements.isEmpty)
        gateway.round(at: 100_000, .signal(TestGateway.grip, -60))
        gateway.round(at: 103_000, .signal(TestGateway.grip, -60))
        #expect(claims(gateway) == [claim("hears")], "the other one has the device")
    }

    @Test func withoutSharingClaimsMeanNothing() throws {
        let gateway = try TestGateway()
        gateway.connect()
        gateway.round(.signal(TestGateway.grip, -60))
        other(gateway, "holds", -50)
        #expect(gateway.worker.agreements.isEmpty && gateway.published() == [])
    }

    @Test func aSignalIsPassedOnFourTimesASecond() throws {
        let gateway = try site()
        let shared = gateway.shared!
        func signals(at now: UInt64, _ device: OutputDevice = TestGateway.grip) -> Int {
            gateway.time.now = now
            shared.received(device, rssi: -60)
            var batch = TendonMQTT.Mailbox.Batch()
            gateway.mailbox.take(until: 0, into: &batch)
            return batch.items.count
        }
        #expect(signals(at: 100_000) == 1)
        #expect(signals(at: 100_249) == 0)
        #expect(signals(at: 100_250) == 1)
        var second = TestGateway.grip
        second.addressType = "public"
        #expect(signals(at: 100_251, second) == 1)
        // Beyond 1024 devices all are new again.
        for number in 2..<1024 {
            second.address = "\(number)"
            #expect(signals(at: 100_252, second) == 1)
        }
        #expect(signals(at: 100_253) == 0)
        second.address = "one more"
        #expect(signals(at: 100_254, second) == 1)
        #expect(signals(at: 100_255) == 1)
    }
}
