// SPDX-License-Identifier: MIT
// What is published when: the topics, retained flags and qualities of docs/mqtt.md.
import TendonOutputs
import TendonSupport
import Testing

@testable import TendonMQTT

private typealias Message = ScriptedBroker.Message

private let online = #"{"state":"online"}"#
private let offline = #"{"state":"offline"}"#
private let grip = "tendon/C0:00:00:00:08:01"
private let gripNote =
    #"{"family":"fjorden","address":"C0:00:00:00:08:01","address_type":"random","topic":"C0:00:00:00:08:01""#

/// Of which devices something stays with the broker and on the disk.
@Suite struct KnownDevicesTests {
    private func stranger(_ number: Int) -> OutputDevice {
        let address = "C0:00:00:01:" + hexText([UInt8(number >> 8), UInt8(number & 0xFF)]).uppercased()
        return OutputDevice(
            family: "fjorden", address: "\(address.dropLast(2)):\(address.suffix(2))", addressType: "random")
    }

    /// Anyone in range can have an address that never becomes a connection.
    @Test func aDeviceThatNeverWasConnected() throws {
        let gateway = try TestGateway()
        gateway.connect()
        gateway.line("connect_failed", #","text":"the device rejects pairing""#)
        gateway.line("pairing", #","state":"started""#)
        gateway.line("refused", #","request":"battery""#)
        gateway.line("malformed")
        gateway.round(.presence(TestGateway.grip, .disconnected))
        let messages = gateway.published()
        #expect(messages.map(\.topic) == [String](repeating: grip + "/event", count: 4), "its events alone")
        #expect(messages[0].text.contains("rejects pairing") && !messages[0].isRetained)
        gateway.round(.presence(TestGateway.grip, .connected))
        #expect(gateway.published().contains { $0.topic == grip + "/availability" && $0.text == online })
        // What is known of a device that was connected stays.
        gateway.round(.presence(TestGateway.grip, .disconnected))
        gateway.line("connect_failed")
        gateway.round()
        #expect(gateway.published().contains { $0.topic == grip + "/availability" && $0.text == offline })
    }

    /// After a reload each has the name that the configuration gives, whoever had it before.
    @Test(arguments: [["b", "a"], ["b", "c"], ["c", "a"], ["a", "b"], ["b", "b"]])
    func namesThatAreExchanged(names: [String]) throws {
        func named(_ number: Int, _ name: String) -> OutputDevice {
            OutputDevice(
                family: "fjorden", address: stranger(number).address, addressType: "random", name: name, isNamed: true)
        }
        func topics() -> [String?] { [1, 2].map { gateway.worker.devices[stranger($0).key]?.name } }
        let gateway = try TestGateway()
        gateway.connect()
        gateway.round(.presence(named(1, "a"), .connected), .presence(named(2, "b"), .connected))
        #expect(topics() == ["a", "b"])
        gateway.round(.presence(named(1, names[0]), .renamed), .presence(named(2, names[1]), .renamed))
        #expect(topics() == (names == ["b", "b"] ? [stranger(1).address, "b"] : names))
        gateway.round(.presence(named(1, "a"), .renamed), .presence(named(2, "b"), .renamed))
        #expect(topics() == ["a", "b"], "and back")
    }

    @Test func theOneThatIsAwayLongestMakesRoom() throws {
        #expect(MQTTSettings().deviceLimit == 1024)
        let gateway = try TestGateway { $0.deviceLimit = 16 }
        gateway.connect()
        gateway.broker.acknowledges = true
        gateway.round(at: 110_000, .presence(TestGateway.grip, .connected))
        for number in 1..<16 {
            gateway.round(
                at: 110_000 + UInt64(number), .presence(stranger(number), .connected),
                .presence(stranger(number), .disconnected))
        }
        _ = gateway.published()
        #expect(gateway.reports.texts == [])
        for number in 16...17 {
            gateway.round(at: 120_000 + UInt64(number), .presence(stranger(number), .connected))
            let messages = gateway.published()
            let first = stranger(number - 15).address, new = stranger(number).address
            #expect(messages.contains { $0.topic == "tendon/\(new)/availability" && $0.text == online })
            for topic in [
                "tendon/\(first)/availability",
                "homeassistant/device/tendon_\(first.lowercased().filter { $0 != ":" })_random/config",
            ] {
                #expect(messages.contains { $0.topic == topic && $0.text.isEmpty && $0.isRetained }, "\(topic)")
            }
        }
        #expect(gateway.reports.texts.count == 1, "it is said once")
    }
}

@Suite struct ConnectionTests {
    @Test func aConnectionSubscribesAndTellsEverythingThatIsRetained() throws {
        let gateway = try TestGateway()
        gateway.round(.connected(window: nil))
        #expect(
            gateway.broker.subscriptions == [
                "tendon/+/set", "tendon/+/get", "tendon/bridge/gw/request/+", "homeassistant/status",
            ])
        let messages = gateway.published()
        #expect(
            messages.map(\.topic) == ["tendon/bridge/gw/state", "tendon/bridge/gw/info", "tendon/bridge/gw/devices"])
        #expect(messages.allSatisfy { $0.isRetained && $0.quality == 0 })
        #expect(messages[0].text == online)
        let information = try JSON(parsing: Array(messages[1].text.utf8))
        #expect(information["gateway"] == "gw" && information["version"] == "1.2")
        #expect(information["base_topic"] == "tendon" && information["next_message_id"] == "gw-1")
        #expect(messages[2].text == "[]")

        // With the next connection as well, now with a device.
        gateway.round(.presence(TestGateway.grip, .connected))
        gateway.round(.disconnected("away", isRefused: false))
        _ = gateway.published()
        gateway.round(.connected(window: nil))
        #expect(
            gateway.published().map(\.topic) == [
                "tendon/bridge/gw/state", "tendon/bridge/gw/info", "tendon/bridge/gw/devices", grip + "/availability",
                "homeassistant/device/tendon_c00000000801_random/config",
            ])
    }

    /// The broker does not acknowledge the first message, and the connection ends: three times.
    @Test func aMessageThatEndsConnections() throws {
        let gateway = try TestGateway()
        gateway.round(.presence(TestGateway.grip, .connected))
        for _ in 0..<4 {
            gateway.round(.connected(window: nil))
            gateway.round(.disconnected("reset", isRefused: false))
        }
        let lines = gateway.reports.texts.filter { $0.hasPrefix("3 connections were lost") }
        #expect(lines.count == 1 && lines[0].contains("to \(grip)/"))
    }

    @Test func withoutDiscoveryAndWithSharing() throws {
        let gateway = try TestGateway {
            ($0.discovery, $0.sharesDevices, $0.base) = (nil, true, "a/b")
        }
        gateway.round(.connected(window: nil))
        #expect(
            gateway.broker.subscriptions == [
                "a/b/+/set", "a/b/+/get", "a/b/bridge/gw/request/+", "a/b/bridge/+/state", "a/b/bridge/+/claim/+/+",
            ])
        _ = gateway.published()
        gateway.round(.presence(TestGateway.grip, .connected))
        #expect(!gateway.published().contains { $0.topic.hasPrefix("homeassistant") })
    }

    @Test func whatPeopleAreTold() throws {
        let gateway = try TestGateway()
        func told() -> [String] {
            defer { gateway.reports.texts = [] }
            return gateway.reports.texts
        }
        gateway.round(at: 100_000, .disconnected("no route", isRefused: false))
        #expect(told() == ["broker:1883: no connection: no route; trying again"])
        // Once, however often it is tried.
        gateway.round(at: 101_000, .disconnected("no route", isRefused: false))
        #expect(told() == [])
        // A connection counts when it has lasted for 5 s.
        gateway.round(at: 102_000, .connected(window: nil))
        #expect(told() == [] && gateway.worker.deadline <= 107_000)
        gateway.round(at: 107_000)
        #expect(told() == ["broker:1883: connected"])
        gateway.line("squeeze")
        gateway.round(at: 110_000, .disconnected("reset", isRefused: false))
        #expect(told() == ["broker:1883: connection lost: reset; trying again"])
        gateway.round(at: 111_000, .disconnected("reset", isRefused: false))
        #expect(told() == [])
        gateway.round(at: 117_999, .connected(window: nil))
        gateway.round(at: 122_998)
        #expect(told() == [])
        gateway.round(at: 122_999)
        #expect(told() == ["broker:1883: connected again after 7 s; 3 messages wait"])
        // A connection that was never reported as missing is not worth a word.
        let fresh = try TestGateway()
        fresh.round(.connected(window: nil))
        #expect(fresh.reports.texts == [])
        fresh.round(.disconnected("not authorized", isRefused: true))
        #expect(fresh.reports.texts == ["broker:1883: the broker refuses the connection: not authorized; trying again"])
        // MQTT 5, 2.4: 0x97 is "quota exceeded".
        fresh.line("squeeze")
        fresh.round(.connected(window: nil))
        fresh.round(.acknowledged(fresh.broker.number, refusal: 0x97))
        #expect(
            fresh.reports.texts.last
                == "the broker refuses a message to homeassistant/device/tendon_c00000000801_random/config: Quota exceeded; "
                + "Home Assistant does not show this device")
    }

    /// What is larger than the broker takes, whichever way it goes: counted, and the first one is named. A discovery always is.
    @Test func messagesThatAreTooLarge() throws {
        let gateway = try TestGateway()
        gateway.broker.limit = 60
        gateway.line("squeeze")
        gateway.round(.connected(window: nil))
        #expect(
            gateway.reports.texts == [
                "the broker refuses a message to tendon/bridge/gw/info: too large",
                "the broker refuses a message to homeassistant/device/tendon_c00000000801_random/config: too large; "
                    + "Home Assistant does not show this device",
            ])
        // The information, the list of devices, the discovery.
        #expect(gateway.worker.delivery.refused == 3)
        gateway.round(.disconnected("reset", isRefused: false))
        gateway.round(.connected(window: nil))
        #expect(gateway.reports.texts.filter { $0.contains("too large") }.count == 2, "once")
    }

    /// Two devices can have the same 48 bits.
    @Test func devicesOfOneAddress() throws {
        let gateway = try TestGateway()
        gateway.connect()
        var other = TestGateway.grip
        (other.addressType, other.name) = ("public", "Grip")
        gateway.round(.presence(TestGateway.grip, .connected))
        gateway.round(.presence(other, .connected))
        let discoveries = gateway.published().filter { $0.topic.hasPrefix("homeassistant/device/") }
        #expect(
            Set(discoveries.map(\.topic)) == [
                "homeassistant/device/tendon_c00000000801_random/config",
                "homeassistant/device/tendon_c00000000801_public/config",
            ])
        let second = try JSON(parsing: Array(discoveries.last!.text.utf8))
        #expect(second["device"]?["name"] == "Grip", "its topic has the type, which is no name")
        #expect(second["device"]?["connections"] == nil, "Home Assistant would take both for one device")
        #expect(second["components"]?["press"]?["unique_id"] == "tendon_c00000000801_public_press")
    }

    /// With each connection the same: a line for each topic.
    @Test func subscriptionsThatAreRefused() throws {
        let gateway = try TestGateway()
        for _ in 0..<3 {
            gateway.round(.connected(window: nil))
            for topic in ["tendon/+/set", "tendon/+/get"] {
                gateway.round(.subscriptionRefused(topic, "Not authorized"))
            }
        }
        #expect(
            gateway.reports.texts
                == ["set", "get"].map {
                    "the broker refuses the subscription to tendon/+/\($0): Not authorized; what is sent there is not received"
                })
    }

    @Test func withoutAConnectionOnlyTheQueueGrows() throws {
        let gateway = try TestGateway()
        gateway.line("squeeze")
        gateway.round(at: 100_000, .presence(TestGateway.grip, .connected))
        #expect(gateway.published() == [])
        #expect(gateway.worker.delivery.waiting == 1)
        // It is stored after 50 ms without a broker.
        #expect(gateway.worker.deadline == 100_050)
        gateway.connect()
        gateway.line("press")
        gateway.round()
        #expect(gateway.published().map(\.topic) == [grip + "/event"])
    }

    /// A connection that ends stores what waits at once: the process could be killed next.
    @Test func aLostConnectionStoresWhatWaits() throws {
        let gateway = try TestGateway()
        gateway.connect()
        gateway.line("squeeze")
        gateway.round()
        let before = gateway.worker.delivery.commits
        gateway.round(at: 100_001, .disconnected("reset", isRefused: false))
        #expect(gateway.worker.delivery.commits == before + 1)
    }

    /// MQTT 5, 3.2.2.3.3: the Receive Maximum of the broker.
    @Test func theBrokerSaysHowManyMessagesItTakes() throws {
        let gateway = try TestGateway()
        gateway.round(.connected(window: 3))
        _ = gateway.published()
        for _ in 0..<20 { gateway.line("squeeze") }
        gateway.round()
        #expect(gateway.published().filter { $0.quality == 1 }.count == 3)
        gateway.round(.connected(window: nil))
        #expect(gateway.published().filter { $0.quality == 1 }.count == 13)
    }

    @Test func figuresOfTheOutput() throws {
        let gateway = try TestGateway()
        func figures() -> [String] { gateway.figures.metrics.map { "\($0.name) \(Int($0.samples[0].value))" } }
        #expect(
            figures() == [
                "tendon_mqtt_connected 0", "tendon_mqtt_queue_messages 0", "tendon_mqtt_queue_failing 0",
                "tendon_mqtt_dropped_messages 0", "tendon_mqtt_refused_messages 0", "tendon_mqtt_thinned_samples 0",
            ])
        gateway.connect()
        for _ in 0..<3 { gateway.line("squeeze") }
        gateway.round()
        gateway.round(.acknowledged(gateway.broker.number, refusal: 0x97))
        #expect(figures().prefix(2) == ["tendon_mqtt_connected 1", "tendon_mqtt_queue_messages 3"])
        #expect(figures()[4] == "tendon_mqtt_refused_messages 1")
        let kinds = gateway.figures.metrics.map { "\($0.kind.rawValue) \($0.unit ?? "-")" }
        #expect(
            kinds == [
                "gauge -", "gauge messages", "gauge -", "counter messages", "counter messages", "counter samples",
            ])
    }
}

@Suite struct PublishingTests {
    @Test func anEventIsItsLineWithANumber() throws {
        let gateway = try TestGateway()
        gateway.connect()
        gateway.line("squeeze", #","force_n":1"#)
        gateway.line("press")
        gateway.round()
        let events = gateway.published().filter { $0.topic == grip + "/event" }
        #expect(
            events == [
                Message(
                    topic: grip + "/event", text: #"{"time":"T","event":"squeeze","force_n":1,"message_id":"gw-2"}"#,
                    quality: 1),
                Message(topic: grip + "/event", text: #"{"time":"T","event":"press","message_id":"gw-3"}"#, quality: 1),
            ])
    }

    @Test func aNewDeviceIsListedAndDescribed() throws {
        let gateway = try TestGateway()
        gateway.connect()
        gateway.round(.presence(TestGateway.grip, .connected))
        let messages = gateway.published()
        #expect(
            messages.map(\.topic) == [
                "tendon/bridge/gw/devices", "homeassistant/device/tendon_c00000000801_random/config",
                grip + "/availability",
                "homeassistant/device/tendon_c00000000801_random/config",
            ])
        #expect(messages.allSatisfy { $0.isRetained })
        #expect(messages[0].text == "[\(gripNote)}]")
        #expect(messages[2].text == online)
        gateway.round(.presence(TestGateway.grip, .disconnected))
        #expect(
            gateway.published() == [Message(topic: grip + "/availability", text: offline, quality: 1, isRetained: true)]
        )
        gateway.round(.connected(window: nil))
        #expect(
            gateway.published().first { $0.topic == "tendon/bridge/gw/devices" }?.text
                == "[\(gripNote)}]")
    }

    @Test func theStateIsPublishedAtMostOncePerInterval() throws {
        let gateway = try TestGateway()
        gateway.connect()
        func states() -> [Message] { gateway.published().filter { $0.topic == grip } }
        gateway.line("battery", #","battery_percent":70"#)
        gateway.round(at: 100_000)
        #expect(
            states() == [
                Message(
                    topic: grip, text: #"{"time":"T","battery_percent":70,"message_id":"gw-3"}"#, quality: 1,
                    isRetained: true)
            ])
        gateway.line("battery", #","battery_percent":69"#)
        gateway.round(at: 100_100)
        #expect(states() == [])
        #expect(gateway.worker.deadline == 100_500)
        for number in 1...gateway.broker.number { gateway.round(.acknowledged(number, refusal: nil)) }
        #expect(gateway.worker.deadline == 101_000)
        gateway.round(at: 100_999)
        #expect(states() == [])
        gateway.round(at: 101_000)
        #expect(states().map(\.text) == [#"{"time":"T","battery_percent":69,"message_id":"gw-5"}"#])
        // An event that describes no state of this family changes nothing; `mode` is one of its own.
        gateway.line("squeeze", #","force_n":1"#)
        gateway.round(at: 109_000)
        #expect(states() == [])
        gateway.line("mode", #","state":"grip""#)
        gateway.round(at: 110_000)
        #expect(states().map(\.text) == [#"{"time":"T","battery_percent":69,"mode":"grip","message_id":"gw-8"}"#])
    }

    @Test func samplesAreStateOncePerIntervalAndOncePerMinuteWithoutABroker() throws {
        let gateway = try TestGateway()
        gateway.connect()
        func states() -> [String] { gateway.published().filter { $0.topic == grip }.map(\.text) }
        gateway.line("sample", #","sensor":"force","force_n":1"#)
        gateway.round(at: 100_000)
        #expect(states() == [#"{"time":"T","force":{"force_n":1},"message_id":"gw-2"}"#])
        gateway.line("sample", #","sensor":"force","force_n":2"#)
        gateway.round(at: 100_999)
        #expect(states() == [])
        gateway.round(at: 101_000)
        #expect(states().count == 1)
        gateway.round(at: 101_000, .disconnected("reset", isRefused: false))
        let before = gateway.worker.delivery.next
        gateway.line("sample", #","sensor":"force","force_n":3"#)
        gateway.round(at: 160_999)
        #expect(gateway.worker.delivery.next == before)
        gateway.round(at: 161_000)
        #expect(gateway.worker.delivery.next == before + 1)
        // A sample without the name of its sensor is none.
        gateway.line("sample", #","force_n":3"#)
        gateway.round(at: 300_000)
        #expect(gateway.worker.delivery.next == before + 1)
    }

    /// The last samples are part of what is known of a device that has gone.
    @Test func aLostDeviceLeavesItsLastState() throws {
        let gateway = try TestGateway()
        gateway.connect()
        gateway.round(at: 100_000, .presence(TestGateway.grip, .connected))
        gateway.line("sample", #","sensor":"force","force_n":1"#)
        gateway.round(at: 100_000)
        gateway.line("sample", #","sensor":"force","force_n":2"#)
        _ = gateway.published()
        gateway.round(at: 100_001, .presence(TestGateway.grip, .disconnected))
        #expect(
            gateway.published() == [
                Message(topic: grip + "/availability", text: offline, quality: 1, isRetained: true),
                Message(
                    topic: grip, text: #"{"time":"T","force":{"force_n":2},"message_id":"gw-6"}"#, quality: 1,
                    isRetained: true),
            ])
    }

    @Test(
        arguments: [
            (#","topic":"light","value":"on""#, "on"), (#","topic":"light","value":"""#, ""),
            (#","topic":"a/b","value":"on""#, nil), (#","topic":"","value":"on""#, nil), (#","topic":"light""#, nil),
            (#","value":"on""#, nil), (#","topic":"light","value":1"#, nil),
        ] as [(String, String?)])
    func theActionPublishOfARule(members: String, value: String?) throws {
        let gateway = try TestGateway()
        gateway.connect()
        gateway.line("publish", members)
        gateway.round()
        let rules = gateway.published().filter { $0.topic.hasPrefix("tendon/rule/") }
        #expect(rules == (value.map { [Message(topic: "tendon/rule/light", text: $0, quality: 1)] } ?? []))
    }

    @Test func aDeviceHasTheNameOfTheConfiguration() throws {
        let gateway = try TestGateway()
        gateway.broker.acknowledges = true
        gateway.connect()
        gateway.round(.presence(TestGateway.grip, .connected))
        _ = gateway.published()
        var named = TestGateway.grip
        (named.name, named.isNamed) = ("left", true)
        gateway.line("press", of: named)
        gateway.round()
        let messages = gateway.published()
        // What is retained below the old name is removed.
        #expect(messages.contains(Message(topic: grip + "/availability", text: "", quality: 1, isRetained: true)))
        #expect(messages.contains(Message(topic: grip, text: "", quality: 1, isRetained: true)))
        #expect(messages.contains { $0.topic == "tendon/left/event" })
        #expect(messages.contains { $0.topic == "tendon/bridge/gw/devices" && $0.text.contains(#""topic":"left""#) })
        // The same name again is nothing new.
        gateway.line("press", of: named)
        gateway.round()
        #expect(gateway.published().map(\.topic) == ["tendon/left/event"])
        // Another device with this name gets its address; with this address too, its address and type.
        let second = OutputDevice(family: "fjorden", address: "C1", addressType: "public", name: "left", isNamed: true)
        let third = OutputDevice(family: "fjorden", address: "C1", addressType: "random", name: "bridge", isNamed: true)
        gateway.line("press", of: second)
        gateway.line("press", of: third)
        gateway.round()
        let topics = gateway.published().map(\.topic).filter { $0.hasSuffix("/event") }
        #expect(topics == ["tendon/C1/event", "tendon/C1-random/event"])
    }

    /// A name that the device itself advertises is shown, but is no level of a topic.
    @Test func aLocalNameIsNoTopic() throws {
        let gateway = try TestGateway()
        gateway.connect()
        gateway.round(.presence(TestGateway.grip, .connected))
        var named = TestGateway.grip
        named.name = "Grip of Ann"
        _ = gateway.published()
        gateway.line("press", of: named)
        gateway.round()
        let messages = gateway.published()
        #expect(messages.first { $0.topic == "tendon/bridge/gw/devices" }?.text.contains("Grip of Ann") == true)
        #expect(messages.last?.topic == grip + "/event")
    }

    @Test func devicesAndTheirNamesAreKeptForTheNextRun() throws {
        let first = try TestGateway()
        first.broker.acknowledges = true
        first.connect()
        first.round(.presence(TestGateway.grip, .connected))
        first.worker.end()
        let next = try TestGateway(queue: first)
        next.round(.connected(window: nil))
        let messages = next.published()
        #expect(messages.contains(Message(topic: grip + "/availability", text: offline, quality: 1, isRetained: true)))
        #expect(
            messages.contains {
                $0.topic == "tendon/bridge/gw/devices" && $0.text == "[\(gripNote)}]"
            })
    }

    @Test func connectedDevicesBeyondTheLimitAreNotPublished() throws {
        let gateway = try TestGateway { $0.deviceLimit = 16 }
        for number in 0..<17 {
            let device = OutputDevice(family: "fjorden", address: "A\(number)", addressType: "public")
            gateway.round(.presence(device, .connected))
            gateway.line("press", of: device)
        }
        gateway.round()
        #expect(gateway.worker.devices.count == 16)
        #expect(gateway.worker.delivery.waiting == 16)
        gateway.connect()
        gateway.round(.presence(OutputDevice(family: "fjorden", address: "B", addressType: "public"), .connected))
        #expect(gateway.published().allSatisfy { $0.topic.hasSuffix("/event") })
        // Those that are known may change, and one that is forgotten makes room.
        let renamed = OutputDevice(
            family: "fjorden", address: "A7", addressType: "public", name: "seven", isNamed: true)
        gateway.round(.presence(renamed, .renamed))
        #expect(gateway.worker.devices["A7/public"]?.name == "seven")
        gateway.round(.presence(OutputDevice(family: "fjorden", address: "A8", addressType: "public"), .forgotten))
        gateway.round(.presence(OutputDevice(family: "fjorden", address: "B", addressType: "public"), .connected))
        #expect(gateway.worker.devices.count == 16 && gateway.worker.devices["B/public"] != nil)
    }

    /// docs/mqtt.md: what the full queue dropped is published in `info`, at most every 10 s.
    @Test func droppedMessagesAreTold() throws {
        let gateway = try TestGateway { $0.queueLimit = 2 }
        gateway.broker.acknowledges = true
        gateway.connect()
        gateway.round(at: 100_000, .disconnected("reset", isRefused: false))
        for _ in 0..<5 { gateway.line("press") }
        gateway.round(at: 100_050)
        gateway.round(at: 100_100)
        #expect(gateway.worker.delivery.dropped == 3)
        gateway.round(at: 101_000, .connected(window: nil))
        func told() throws -> [JSON?] {
            try gateway.published().filter { $0.topic.hasSuffix("/info") }
                .map { try JSON(parsing: Array($0.text.utf8))["dropped"] }
        }
        #expect(try told() == [3])
        gateway.worker.delivery.countDropped(1)
        gateway.round(at: 110_999)
        #expect(try told() == [])
        #expect(gateway.worker.deadline <= 111_000)
        gateway.round(at: 111_000)
        #expect(try told() == [4])
        gateway.round(at: 150_000)
        #expect(try told() == [])
    }
}
