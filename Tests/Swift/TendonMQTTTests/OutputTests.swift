// SPDX-License-Identifier: MIT
// The output as the command uses it: its two threads, its queue, and a broker that the test plays.
import Foundation
import TendonOutputs
import TestSupport
import Testing

@testable import TendonMQTT

@Suite(.timeLimit(.minutes(1))) struct OutputTests {
    /// The packets of PUBLISH until one of a topic that ends so, as topics. Nil: the connection ended before.
    private static func topics(_ server: ScriptedServer, until end: String) -> [String]? {
        var topics: [String] = []
        while let packet = server.packet() {
            guard packet.head >> 4 == 3 else { continue }
            let size = Int(packet.body[0]) << 8 | Int(packet.body[1])
            topics.append(String(decoding: packet.body[2..<2 + size], as: UTF8.self))
            if topics.last?.hasSuffix(end) == true { return topics }
        }
        return nil
    }

    /// That of the client, then that of the worker: the queue is free again.
    @Test func withoutAThread() async throws {
        let directory = NSTemporaryDirectory() + "tendon-output-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: directory) }
        var settings = MQTTSettings()
        (settings.host, settings.port, settings.gateway) = ("127.0.0.1", heldPort(), "gw")
        settings.queuePath = directory + "/queue.db"
        let chosen = settings
        func output() throws(MQTTError) -> MQTTOutput {
            try MQTTOutput(
                chosen, families: TestGateway.families, version: "1.2", handler: ScriptedHandler(), report: { _ in })
        }
        for first in 0...1 {
            let (error, _) = failing("pthread_create", with: EAGAIN, first: first) {
                #expect(throws: MQTTError.self) { _ = try output() }
            }
            #expect(error?.text == "no thread: Resource temporarily unavailable")
        }
        await (try output()).finish()
    }

    @Test func devicesAndEventsReachTheBroker() async throws {
        let directory = NSTemporaryDirectory() + "tendon-output-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: directory) }
        let server = ScriptedServer()
        var settings = MQTTSettings()
        (settings.host, settings.port, settings.gateway) = ("127.0.0.1", server.port, "gw")
        settings.queuePath = directory + "/queue.db"
        let output = try MQTTOutput(
            settings, families: TestGateway.families, version: "1.2", handler: ScriptedHandler(), report: { _ in })
        let grip = TestGateway.grip
        #expect(output.takes("press", of: grip))
        #expect(!output.takes("found", of: grip) && !output.takes("press", of: nil))
        output.device(grip, is: .connected)
        let presence = await onThread {
            guard server.take(), server.packet() != nil else { return [String]?.none }
            server.send([0x20, 3, 0, 0, 0])
            return Self.topics(server, until: "/availability")
        }
        #expect(presence?.last == "tendon/C0:00:00:00:08:01/availability")
        output.event("press", of: grip) { $0.raw(#"{"time":"T","event":"press"}"# + "\n") }
        let event = await onThread { Self.topics(server, until: "/event") }
        #expect(event?.last == "tendon/C0:00:00:00:08:01/event")
        #expect(output.metrics.isEmpty == false)
        async let last = onThread { Self.topics(server, until: "/bridge/gw/state") }
        await output.finish()
        #expect(await last?.last == "tendon/bridge/gw/state")
    }
}
