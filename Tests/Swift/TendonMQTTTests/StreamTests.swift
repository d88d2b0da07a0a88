// SPDX-License-Identifier: MIT
// Streams of samples: which, how often, how many in one message, and what is left out; and the end of the output.
import Foundation
import TendonOutputs
import TendonSupport
import TestSupport
import Testing

@testable import TendonMQTT

private typealias Message = ScriptedBroker.Message

private let grip = "tendon/C0:00:00:00:08:01"

private func sample(_ gateway: TestGateway, _ force: Int, sensor: String = "force", at now: UInt64) {
    gateway.line("sample", #","sensor":"\#(sensor)","n":\#(force)"#)
    gateway.round(at: now)
}

private func streams(_ gateway: TestGateway) -> [Message] {
    gateway.published().filter { $0.topic.hasPrefix(grip + "/stream/") }
}

private func site(_ change: (inout MQTTSettings) -> Void) throws -> TestGateway {
    let gateway = try TestGateway(change)
    gateway.connect()
    return gateway
}

@Suite struct StreamTests {
    @Test(arguments: [
        (MQTTSettings.Streams.none, [String]()), (.all, ["force", "motion"]),
        (.these(["motion", "other"]), ["motion"]),
    ])
    func theSensorsThatAreWanted(wanted: MQTTSettings.Streams, sensors: [String]) throws {
        let gateway = try site { $0.streams = wanted }
        sample(gateway, 1, sensor: "force", at: 100_000)
        sample(gateway, 2, sensor: "motion", at: 100_000)
        gateway.round(at: 100_100)
        #expect(streams(gateway).map(\.topic).sorted() == sensors.map { grip + "/stream/" + $0 })
        #expect(gateway.worker.thinned == 0)
    }

    /// Ten messages a second of one sensor: the newest sample of each 100 ms; the others are counted.
    @Test func theNewestSampleOfEachInterval() throws {
        let gateway = try site { $0.streams = .all }
        for number in 0..<10 { sample(gateway, number, at: 100_000 + UInt64(number) * 10) }
        #expect(streams(gateway) == [])
        #expect(gateway.worker.deadline <= 100_100)
        gateway.round(at: 100_099)
        #expect(streams(gateway) == [])
        gateway.round(at: 100_100)
        #expect(
            streams(gateway) == [
                Message(topic: grip + "/stream/force", text: #"{"time":"T","event":"sample","sensor":"force","n":9}"#)
            ])
        #expect(gateway.worker.thinned == 9)
        gateway.round(at: 100_300)
        #expect(streams(gateway) == [])
        sample(gateway, 10, at: 100_300)
        #expect(streams(gateway).count == 1)
        #expect(gateway.worker.thinned == 9)
    }

    @Test func aBatchIsAnArray() throws {
        let gateway = try site { ($0.streams, $0.streamBatch) = (.all, 500) }
        for number in 0..<3 { sample(gateway, number, at: 100_000 + UInt64(number) * 100) }
        gateway.round(at: 100_499)
        #expect(streams(gateway) == [])
        gateway.round(at: 100_500)
        let members = (0..<3).map { #"{"time":"T","event":"sample","sensor":"force","n":\#($0)}"# }
        #expect(streams(gateway).map(\.text) == ["[" + members.joined(separator: ",") + "]"])
        sample(gateway, 3, at: 100_600)
        gateway.round(at: 101_000)
        #expect(streams(gateway).map(\.text) == [#"[{"time":"T","event":"sample","sensor":"force","n":3}]"#])
        #expect(gateway.worker.thinned == 0)
    }

    /// 64 KiB of samples in one message; what does not fit makes place for the newest.
    @Test func aBatchIsBounded() throws {
        let gateway = try site { ($0.streams, $0.streamBatch) = (.all, 60_000) }
        let padding = String(repeating: "x", count: 1024 - 58)
        for _ in 0..<66 {
            gateway.line("sample", #","sensor":"force","text":"\#(padding)"}"#)
        }
        gateway.round(at: 100_001)
        #expect(gateway.worker.thinned == 65)
    }

    @Test func withoutABrokerSamplesAreLeftOutUnlessTheyAreStored() throws {
        for stores in [false, true] {
            let gateway = try TestGateway { ($0.streams, $0.storesStreams) = (.all, stores) }
            sample(gateway, 1, at: 100_000)
            let before = gateway.worker.delivery.waiting
            gateway.round(at: 100_100)
            #expect(gateway.worker.thinned == (stores ? 0 : 1))
            #expect(gateway.worker.delivery.waiting == before + (stores ? 1 : 0))
            gateway.connect()
            sample(gateway, 2, at: 100_200)
            gateway.round(at: 100_300)
            // Stored streams are acknowledged, as events are.
            #expect(streams(gateway).last?.quality == (stores ? 1 : 0))
        }
    }

    @Test func whatLibmosquittoDoesNotTakeIsCounted() throws {
        let gateway = try site { ($0.streams, $0.streamBatch) = (.all, 100) }
        sample(gateway, 1, at: 100_000)
        sample(gateway, 2, at: 100_000)
        gateway.broker.takesMessages = false
        gateway.round(at: 100_100)
        #expect(gateway.worker.thinned == 2)
        // A sensor whose name is no level of a topic.
        sample(gateway, 3, sensor: "a/b", at: 100_200)
        #expect(gateway.worker.thinned == 3)
    }

    /// What the buffer between the loop and the thread did not take is told as well.
    @Test func whatTheMailboxDroppedIsCounted() throws {
        let gateway = try site { $0.streams = .all }
        let half = String(repeating: "x", count: 1 << 19)
        gateway.line("press", #","text":"\#(half)""#)
        gateway.line("sample", #","sensor":"force","n":1"#)
        gateway.line("press", #","text":"\#(half)""#)
        gateway.line("press")
        gateway.line("press")
        gateway.round()
        #expect(gateway.worker.thinned == 1)
        #expect(gateway.worker.delivery.dropped == 2)
    }
}

@Suite struct EndTests {
    @Test func theEndTellsThatDevicesAreGoneAndWaitsForTheBroker() throws {
        let gateway = try TestGateway()
        gateway.connect()
        gateway.round(.presence(TestGateway.grip, .connected))
        gateway.line("battery", #","battery_percent":70"#)
        gateway.round()
        _ = gateway.published()
        gateway.broker.acknowledges = true
        for number in 1...gateway.broker.number { gateway.mailbox.post(.acknowledged(number, refusal: nil)) }
        gateway.worker.end()
        #expect(gateway.published().map(\.topic) == [grip + "/availability", grip])
        #expect(gateway.reports.texts == [])
        #expect(gateway.broker.last == Message(topic: "tendon/bridge/gw/state", text: #"{"state":"offline"}"#))
        #expect(gateway.isAtEnd)
        let next = try TestGateway(queue: gateway)
        #expect(next.worker.delivery.waiting == 0)
    }

    @Test func theEndStoresWhatTheBrokerDoesNotTake() throws {
        for isConnected in [true, false] {
            let gateway = try TestGateway()
            if isConnected { gateway.connect() }
            gateway.line("press")
            gateway.round()
            gateway.time.step = 100
            let start = gateway.time.now
            gateway.worker.end()
            // Three seconds of patience with a broker, none without.
            #expect(isConnected ? (3000...3600).contains(gateway.time.now - start) : gateway.time.now - start <= 300)
            // Beside the event the discovery, which nobody took.
            let count = isConnected ? 2 : 1
            #expect(
                gateway.reports.texts.last
                    == "\(count) messages wait in \(gateway.directory)/queue.db for the next start")
            #expect(!gateway.figures.hasLost)
            let next = try TestGateway(queue: gateway)
            #expect(next.worker.delivery.waiting == count)
        }
    }

    /// A file that takes nothing keeps nothing: no start finds what it was to keep.
    @Test func theEndSaysWhatIsLost() throws {
        let gateway = try TestGateway()
        gateway.line("press")
        gateway.round()
        gateway.worker.delivery.store(now: gateway.time.now, isConnected: false, isLast: true)
        gateway.line("press")
        gateway.line("press")
        gateway.round()
        failing("pwrite64", with: ENOSPC, all: true) { gateway.worker.end() }
        #expect(
            gateway.reports.texts.suffix(2) == [
                "1 messages wait in \(gateway.directory)/queue.db for the next start",
                "2 messages are lost: the queue \(gateway.directory)/queue.db cannot be written",
            ])
        #expect(gateway.figures.hasLost)
        let next = try TestGateway(queue: gateway)
        #expect(next.worker.delivery.waiting == 1)
    }

    /// The same of a file that could never be opened.
    @Test func withoutAFileAllIsLost() throws {
        let gateway = try failing("open", with: EROFS, all: true) { try TestGateway() }.result
        gateway.line("press")
        gateway.round()
        failing("open", with: EROFS, all: true) { gateway.worker.end() }
        #expect(
            gateway.reports.texts.last
                == "1 messages are lost: the queue \(gateway.directory)/queue.db cannot be written")
        #expect(gateway.figures.hasLost)
    }

    @Test func aConnectionThatIsLostAtTheEndIsNotWaitedFor() throws {
        let gateway = try TestGateway()
        gateway.connect()
        gateway.line("press")
        gateway.round()
        gateway.mailbox.post(.disconnected("reset", isRefused: false))
        gateway.time.step = 100
        let start = gateway.time.now
        gateway.worker.end()
        #expect(gateway.time.now - start <= 600)
        #expect(gateway.reports.texts == ["2 messages wait in \(gateway.directory)/queue.db for the next start"])
    }

    /// The thread: it ends with `finish`, after what was posted before.
    @Test func theThreadEndsWithFinish() throws {
        let gateway = try TestGateway()
        gateway.mailbox.post(.connected(window: nil))
        gateway.line("press")
        gateway.mailbox.post(.finish)
        gateway.broker.acknowledges = true
        gateway.worker.run()
        #expect(gateway.isAtEnd)
        #expect(gateway.published().contains { $0.topic == grip + "/event" })
    }
}
