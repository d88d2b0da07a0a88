// SPDX-License-Identifier: MIT
// libmosquitto as this gateway uses it, against packets of MQTT 5 that the test writes itself.
import CTendon
import Foundation
import TendonSupport
import TestSupport
import Testing

@testable import TendonMQTT

/// A client and the other end of its connection. All of it is for one thread.
private final class Line: @unchecked Sendable {
    let server = ScriptedServer()
    let mailbox = TendonMQTT.Mailbox(leisure: 100) { .line($0) }
    let client: Client?
    let refusal: String?
    private var batch = TendonMQTT.Mailbox.Batch()

    init(_ change: (inout MQTTSettings) -> Void = { _ in }) {
        var settings = MQTTSettings()
        (settings.host, settings.port, settings.gateway, settings.keepalive) = ("127.0.0.1", server.port, "gw", 30)
        change(&settings)
        do throws(MQTTError) {
            (client, refusal) = (try Client(settings, will: "tendon/bridge/gw/state", mailbox), nil)
        } catch {
            (client, refusal) = (nil, error.text)
        }
    }

    /// The next items, as texts.
    func items() -> [String] {
        mailbox.take(until: tendon_monotonic_ms() + 20_000, into: &batch)
        return batch.items.map { item in
            switch item {
            case .connected(let window): "connected \(window.map { "\($0)" } ?? "-")"
            case .disconnected(let reason, let isRefused): "\(isRefused ? "refused" : "disconnected") \(reason)"
            case .acknowledged(let number, let refusal): "acknowledged \(number) \(refusal ?? 0)"
            case .subscriptionRefused(let topic, let reason): "deaf \(topic) \(reason)"
            case .received(let topic, let payload, let isRetained):
                "received \(topic) \(String(decoding: payload.prefix(40), as: UTF8.self)) \(isRetained)"
            default: "another"
            }
        }
    }

    /// Connected, with what the broker was sent for it.
    func connect(_ answer: [UInt8] = [0x20, 3, 0, 0, 0]) -> ScriptedServer.Packet? {
        _ = client?.start()
        guard server.take(), let packet = server.packet() else { return nil }
        server.send(answer)
        return packet
    }
}

/// Whether the socket of this process that is connected to a port sends without delay; nil: there is none.
private func hasNoDelay(to port: UInt16) -> Bool? {
    for descriptor in Int32(3)..<4096 {
        var address = sockaddr_in()
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isConnected = withUnsafeMutablePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { getpeername(descriptor, $0, &size) == 0 }
        }
        guard isConnected, address.sin_family == sa_family_t(AF_INET), address.sin_port == port.bigEndian else {
            continue
        }
        var value: Int32 = 0
        var length = socklen_t(MemoryLayout<Int32>.size)
        guard getsockopt(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &value, &length) == 0 else { return nil }
        return value != 0
    }
    return nil
}

private func number(_ result: PublishResult?) -> Int32? {
    guard case .taken(let number)? = result else { return nil }
    return number
}

private func text(_ string: String) -> [UInt8] { [0, UInt8(string.utf8.count)] + Array(string.utf8) }

@Suite(.timeLimit(.minutes(1))) struct ClientTests {
    /// MQTT 5, 3.1: clean start, a retained will of QoS 1, the keep-alive, the name of the gateway.
    @Test func theRequestToConnect() async {
        let (packet, items, last) = await onThread {
            let line = Line()
            let packet = line.connect()
            let items = line.items()
            line.client?.stop("tendon/bridge/gw/state", Array(BridgeState.offline.utf8))
            return (packet, items, [line.server.packet()?.head, line.server.packet()?.head])
        }
        #expect(packet?.head == 0x10)
        let body = packet?.body ?? []
        #expect(Array(body.prefix(10)) == text("MQTT") + [5, 0b0010_1110, 0, 30])
        let tail = text("tendon-gw") + [0] + text("tendon/bridge/gw/state") + text(#"{"state":"offline"}"#)
        #expect(Array(body.suffix(tail.count)) == tail)
        #expect(items == ["connected -"])
        // The end: the state, retained, QoS 0; then a disconnection that publishes no will.
        #expect(last == [0x31, 0xE0])
    }

    /// A message does not wait for the acknowledgement of the one before it.
    @Test func messagesAreSentWithoutDelay() async {
        let isImmediate = await onThread {
            let line = Line()
            _ = line.connect()
            defer { line.client?.stop("x", []) }
            return hasNoDelay(to: line.server.port)
        }
        #expect(isImmediate == true)
    }

    @Test func userPasswordAndTheOlderVersion() async throws {
        let path = NSTemporaryDirectory() + "tendon-mqtt-\(UUID().uuidString)"
        defer { try? FileManager.default.removeItem(atPath: path) }
        FileManager.default.createFile(
            atPath: path, contents: Data("secret\nmore".utf8), attributes: [.posixPermissions: 0o600])
        let bodies = await onThread {
            [nil, path].map { file -> [UInt8] in
                let line = Line { ($0.version, $0.user, $0.passwordFile) = (.threeOneOne, "me", file) }
                let packet = line.connect([0x20, 2, 0, 0])
                line.client?.stop("x", [])
                return packet?.body ?? []
            }
        }
        // MQTT 3.1.1, 3.1.2.3: user name is 0x80, password is 0x40.
        #expect(Array(bodies[0].prefix(8)) == text("MQTT") + [4, 0b1010_1110])
        #expect(Array(bodies[0].suffix(4)) == text("me"))
        #expect(Array(bodies[1].prefix(8)) == text("MQTT") + [4, 0b1110_1110])
        #expect(Array(bodies[1].suffix(12)) == text("me") + text("secret"))
    }

    /// MQTT 5, 3.3 to 3.9: subscriptions, messages in both directions, acknowledgements and refusals.
    @Test func messages() async {
        let (items, packets, numbers) = await onThread {
            let line = Line()
            // CONNACK with a Receive Maximum of 5.
            _ = line.connect([0x20, 6, 0, 0, 3, 0x21, 0, 5])
            var items = line.items()
            var packets: [ScriptedServer.Packet?] = []
            line.client?.subscribe(["a/+/set"])
            packets.append(line.server.packet())
            let one = line.client?.publish("t/one", Array("1".utf8), quality: 1, isRetained: false)
            packets.append(line.server.packet())
            let two = line.client?.publish("t/two", Array("2".utf8), quality: 1, isRetained: true)
            packets.append(line.server.packet())
            let none = line.client?.publish("t", [], quality: 0, isRetained: false)
            packets.append(line.server.packet())
            line.server.send([0x40, 2, packets[1]?.body[7] ?? 0, packets[1]?.body[8] ?? 0])
            // PUBACK with "quota exceeded".
            line.server.send([0x40, 3, packets[2]?.body[7] ?? 0, packets[2]?.body[8] ?? 0, 0x97])
            line.server.send([0x31, 10] + text("a/b") + [0] + Array("word".utf8))
            // They come in one batch or in several.
            for _ in 0..<8 where !items.contains(where: { $0.hasPrefix("received") }) { items += line.items() }
            line.client?.stop("x", [])
            return (items, packets, [one, two, none].map(number))
        }
        #expect(packets.map { $0?.head } == [0x82, 0x32, 0x33, 0x30])
        #expect(packets[0]?.body.suffix(10) == (text("a/+/set") + [1]).suffix(10))
        #expect(packets[1]?.body.prefix(7) == text("t/one").prefix(7))
        #expect(packets[1]?.body.last == UInt8(ascii: "1") && packets[2]?.body.last == UInt8(ascii: "2"))
        #expect(numbers.allSatisfy { $0 != nil })
        #expect(
            items == [
                "connected 5", "acknowledged \(numbers[0] ?? 0) 0", "acknowledged \(numbers[1] ?? 0) 151",
                "received a/b word true",
            ])
    }

    /// An access list that permits no commands. MQTT 5, 3.9.3: 0x87 is "not authorized"; 3.1.1 has 0x80 for all reasons.
    @Test(arguments: [true, false])
    func aSubscriptionThatIsRefused(isFive: Bool) async {
        let items = await onThread {
            let line = Line { $0.version = isFive ? .five : .threeOneOne }
            _ = line.connect(isFive ? [0x20, 3, 0, 0, 0] : [0x20, 2, 0, 0])
            var items = line.items()
            for (topic, code) in [("a/+/get", UInt8(1)), ("a/+/set", isFive ? 0x87 : 0x80)] {
                line.client?.subscribe([topic])
                let number = line.server.packet()?.body.prefix(2) ?? []
                line.server.send([0x90, isFive ? 4 : 3] + number + (isFive ? [0] : []) + [code])
            }
            items += line.items()
            line.client?.stop("x", [])
            return items
        }
        #expect(items == ["connected -", "deaf a/+/set " + (isFive ? "Not authorized" : "Unspecified error")])
    }

    /// MQTT 5, 3.2.2.2: 0x87 is "not authorized"; 3.1.1 has 5 for it.
    @Test func aBrokerThatRefuses() async {
        for (isFive, answer, reason) in [
            (true, [0x20, 3, 0, 0x87, 0] as [UInt8], "Not authorized"),
            (false, [0x20, 2, 0, 5], "Connection Refused: not authorised."),
        ] {
            let items = await onThread {
                let line = Line { $0.version = isFive ? .five : .threeOneOne }
                _ = line.connect(answer)
                let items = line.items()
                line.client?.stop("x", [])
                return items
            }
            #expect(items == ["refused " + reason])
        }
    }

    /// A broker without MQTT 5 answers as MQTT 3.1.1 does: 1 is "unacceptable protocol version".
    @Test(arguments: [[0x20, 2, 0, 1], [0x20, 3, 0, 0x84, 0]] as [[UInt8]])
    func aBrokerWithoutVersionFive(answer: [UInt8]) async {
        let items = await onThread {
            let line = Line()
            _ = line.connect(answer)
            let items = line.items()
            line.client?.stop("x", [])
            return items
        }
        #expect(
            items == ["refused Unsupported Protocol Version; for a broker without MQTT 5: --mqtt-version 3.1.1"])
    }

    /// A topic that libmosquitto does not take cannot even be requested.
    @Test func aSubscriptionThatCannotBeRequested() async {
        let items = await onThread {
            let line = Line()
            _ = line.connect()
            var items = line.items()
            line.client?.subscribe(["a/#/b"])
            items += line.items()
            line.client?.stop("x", [])
            return items
        }
        #expect(items.count == 2 && items[1].hasPrefix("deaf a/#/b "), "\(items)")
    }

    /// MQTT 5, 3.14.2.1: 0x8E is "session taken over", 0x8B "server shutting down".
    @Test(arguments: [
        (UInt8(0x8E), "Session taken over; another client has this name: --mqtt-gateway"),
        (0x8B, "Server shutting down"), (0x95, "Packet too large"), (0x87, "Not authorized"),
    ])
    func aBrokerThatEndsTheConnection(_ code: UInt8, _ reason: String) async {
        let items = await onThread {
            let line = Line()
            _ = line.connect()
            var items = line.items()
            line.server.send([0xE0, 2, code, 0])
            items += line.items()
            line.client?.stop("x", [])
            return items
        }
        #expect(items == ["connected -", "disconnected " + reason])
    }

    /// Each connection that is ended at once is a failure: pauses of 0.5 s, 1 s and 2 s at least.
    @Test func theBrokerEndsEachConnection() async {
        let begin = ContinuousClock.now
        await onThread {
            let line = Line()
            _ = line.connect()
            for _ in 0..<3 {
                line.server.send([0xE0, 2, 0x8E, 0])
                line.server.hangUp()
                guard line.server.take(), line.server.packet() != nil else { break }
                line.server.send([0x20, 3, 0, 0, 0])
            }
            line.client?.stop("x", [])
        }
        #expect(ContinuousClock.now - begin >= .milliseconds(3500))
    }

    /// A broker that gives no reason: the third time it is suspicious.
    @Test func connectionsThatAreLostInSuccession() async {
        let items = await onThread {
            let line = Line()
            _ = line.connect()
            var items = line.items()
            for _ in 0..<3 {
                line.server.hangUp()
                items += line.items()
                guard line.server.take(), line.server.packet() != nil else { break }
                line.server.send([0x20, 3, 0, 0, 0])
                items += line.items()
            }
            line.client?.stop("x", [])
            return items.filter { $0.hasPrefix("disconnected") }
        }
        let lost = "disconnected the broker ended it, or it does not respond"
        #expect(
            items == [
                lost, lost, lost + ", again soon after it began; another client may have this name: --mqtt-gateway",
            ])
    }

    /// A web server, and a port for TLS that ends what it does not understand.
    @Test(arguments: [
        ("HTTP/1.1 400 Bad Request\r\n\r\n", "disconnected what answers on this port is no MQTT"),
        ("", "disconnected the connection ended before an answer to MQTT: another port, or mqtts:// for one with TLS"),
    ])
    func aPortOfAnotherKind(_ answer: String, _ expected: String) async {
        let items = await onThread {
            let line = Line()
            _ = line.connect(Array(answer.utf8))
            line.server.hangUp()
            let items = line.items()
            line.client?.stop("x", [])
            return items
        }
        #expect(items == [expected])
    }

    @Test func aConnectionThatEnds() async {
        let items = await onThread {
            let line = Line()
            _ = line.connect()
            var items = line.items()
            line.server.hangUp()
            items += line.items()
            line.client?.stop("x", [])
            return items
        }
        #expect(items == ["connected -", "disconnected the broker ended it, or it does not respond"])
    }

    @Test func nobodyIsThere() async {
        let items = await onThread {
            // Port 1 of this machine.
            let line = Line { $0.port = heldPort() }
            _ = line.client?.start()
            let items = line.items()
            line.client?.stop("x", [])
            return items
        }
        #expect(items == ["disconnected Connection refused"])
    }

    /// The one of libmosquitto is destroyed where the client ends: by its maker, or by its thread.
    @Test func nothingOfLibmosquittoIsLeft() async {
        #expect(
            calls(of: "mosquitto_destroy") { _ = Line { ($0.user, $0.passwordFile) = ("me", missingPath()) } } == 1)
        #expect(calls(of: "mosquitto_destroy") { _ = Line() } == 1)
        var number: Int32?
        let destroyed = calls(of: "mosquitto_destroy") {
            number = failing("pthread_create", with: EAGAIN) { Line().client?.start() }.result
        }
        #expect(number == EAGAIN && destroyed == 1)
        let kept = await onThread {
            let line = Line()
            _ = line.connect()
            _ = line.items()
            let before = Weak(line.client)
            line.client?.stop("x", [])
            return before
        }
        await eventually("the thread releases it") { kept.object == nil }
    }

    private final class Weak: @unchecked Sendable {
        weak var object: Client?
        init(_ object: Client?) { self.object = object }
    }

    /// Each setting is checked: a broker is never used with half of them.
    @Test(arguments: [
        ("mosquitto_new", "libmosquitto: Cannot allocate memory"), ("mosquitto_int_option", "MQTT: Out of memory"),
        ("mosquitto_threaded_set", "MQTT: Out of memory"), ("mosquitto_will_set", "MQTT: Out of memory"),
        ("mosquitto_username_pw_set", "MQTT: Out of memory"), ("mosquitto_tls_opts_set", "TLS: Out of memory"),
    ])
    func aSettingThatLibmosquittoDoesNotTake(_ name: String, _ text: String) {
        var settings = MQTTSettings()
        (settings.host, settings.gateway, settings.user, settings.usesTLS) = ("127.0.0.1", "gw", "me", true)
        let mailbox = TendonMQTT.Mailbox(leisure: 100) { .line($0) }
        // MOSQ_ERR_NOMEM is 1; as an errno it is only for mosquitto_new().
        let error = name == "mosquitto_new" ? ENOMEM : 1
        let (reason, _) = failing(name, with: error) { () -> String? in
            do throws(MQTTError) {
                _ = try Client(settings, will: "will", mailbox)
                return nil
            } catch {
                return error.text
            }
        }
        #expect(reason == text)
    }

    /// Files are read when the output is made: nothing is opened with half of the settings.
    @Test func settingsThatCannotBeUsed() {
        let missing = missingPath()
        #expect(
            Line { ($0.user, $0.passwordFile) = ("me", missing) }.refusal == "\(missing): No such file or directory")
        let refusal = Line { ($0.usesTLS, $0.caFile) = (true, missing) }.refusal
        #expect(refusal?.hasPrefix("TLS: \(missing): ") == true, "\(refusal ?? "")")
        #expect(Line { $0.usesTLS = true }.refusal == nil)
    }
}
