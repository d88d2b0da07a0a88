// SPDX-License-Identifier: MIT
// What comes from the broker: commands, requests, and their responses, as docs/mqtt.md has them.
import TendonOutputs
import TendonSupport
import TestSupport
import Testing

@testable import TendonMQTT

private typealias Message = ScriptedBroker.Message

private let grip = "tendon/C0:00:00:00:08:01"
private let requests = "tendon/bridge/gw/request/"
private let responses = "tendon/bridge/gw/response/"

/// A connected gateway that knows a grip.
private func site(_ change: (inout MQTTSettings) -> Void = { _ in }) throws -> TestGateway {
    let gateway = try TestGateway(change)
    gateway.connect()
    gateway.round(.presence(TestGateway.grip, .connected))
    _ = gateway.published()
    return gateway
}

/// The next response, and nothing else.
private func response(_ gateway: TestGateway) async -> String {
    var messages: [Message] = []
    await eventually("a response comes") {
        gateway.round()
        messages += gateway.published()
        return messages.contains { $0.topic.hasPrefix(responses) }
    }
    let all = messages.filter { $0.topic.hasPrefix(responses) }
    guard all.count == 1, !all[0].isRetained, all[0].quality == 0 else { return "\(all)" }
    return all[0].topic.dropFirst(responses.count) + " " + all[0].text
}

@Suite struct SetTests {
    @Test func actionsGoToTheDeviceAndItsAnswerBack() async throws {
        let gateway = try site()
        gateway.received(grip + "/set", #"{"vibrate":90,"transaction":7}"#)
        #expect(
            await response(gateway) == #"set {"status":"ok","data":{},"device":"C0:00:00:00:08:01","transaction":7}"#)
        #expect(gateway.handler.calls == [#"set C0:00:00:00:08:01/random {"vibrate":90}"#])
        gateway.handler.answer(.failed("no such action"))
        gateway.received(grip + "/set", #"{"fly":1}"#)
        #expect(
            await response(gateway)
                == #"set {"status":"error","error":"no such action","device":"C0:00:00:00:08:01"}"#)
    }

    /// What was carried out is an event of the device: without `transaction` nothing more is said.
    @Test func anActionWithoutTransactionIsSilentWhenItIsDone() async throws {
        let gateway = try site()
        gateway.received(grip + "/set", #"{"vibrate":90}"#)
        await eventually("the answer is back") {
            gateway.round()
            return gateway.worker.pending == 0
        }
        #expect(gateway.published() == [])
    }

    @Test(arguments: [("no JSON", "no"), ("[1]", ""), ("7", "7"), (#"{"a":"#, ":"), (#"{"vibrate":1e400}"#, "1e400")])
    func whatIsNoObjectIsRefused(payload: String, quoted: String) async throws {
        let gateway = try site()
        let mistake = #"{"status":"error","error":"the payload is no JSON object"#
        gateway.received(grip + "/set", payload)
        let set = await response(gateway)
        #expect(set.hasPrefix("set " + mistake) && set.hasSuffix(#"","device":"C0:00:00:00:08:01"}"#))
        // Where it is wrong, in the words of the parser.
        #expect(quoted.isEmpty ? set.contains(#"object","device""#) : set.contains("object: ") && set.contains(quoted))
        gateway.received(requests + "scan", payload)
        #expect(await response(gateway).hasPrefix("scan " + mistake))
        #expect(gateway.handler.calls == [])
    }

    @Test func retainedCommandsAndUnknownNamesAreIgnored() throws {
        let gateway = try site()
        gateway.received(grip + "/set", #"{"vibrate":90}"#, isRetained: true)
        gateway.received(requests + "health", isRetained: true)
        gateway.received("tendon/other/set", #"{"vibrate":90}"#)
        gateway.received("tendon/other/get")
        gateway.received("tendon/bridge/other/request/health")
        gateway.received("else/where")
        #expect(gateway.worker.pending == 0)
        #expect(gateway.published() == [])
    }

    @Test func commandsBeyondThirtyTwoAreRefused() async throws {
        let gateway = try site()
        gateway.handler.hold()
        for _ in 0..<32 { gateway.received(grip + "/set", #"{"vibrate":90}"#) }
        #expect(gateway.published() == [])
        gateway.received(grip + "/set", #"{"vibrate":91}"#)
        #expect(
            await response(gateway)
                == #"set {"status":"error","error":"too many commands are carried out","device":"C0:00:00:00:08:01"}"#)
        #expect(gateway.worker.pending == 32)
        await eventually("all are with the handler") { gateway.handler.calls.count == 32 }
        gateway.handler.release()
        await eventually("all are answered") {
            gateway.round()
            return gateway.worker.pending == 0
        }
        gateway.received(grip + "/set", #"{"vibrate":92,"transaction":1}"#)
        #expect(await response(gateway).hasPrefix(#"set {"status":"ok""#))
    }

    /// Commands that are carried out while the broker is away: they count, and are answered when it is back.
    @Test func commandsOverAnEndOfTheConnection() async throws {
        let gateway = try site()
        gateway.handler.hold()
        for number in 0..<33 { gateway.received(grip + "/set", #"{"vibrate":90,"transaction":\#(number)}"#) }
        await eventually("all are with the handler") { gateway.handler.calls.count == 32 }
        gateway.round(.disconnected("lost", isRefused: false))
        gateway.connect()
        gateway.received(grip + "/set", #"{"vibrate":91}"#)
        #expect(gateway.published().filter { $0.text.contains("too many commands") }.count == 1)
        gateway.handler.release()
        var answers: [Message] = []
        await eventually("all are answered") {
            gateway.round()
            answers += gateway.published().filter { $0.topic.hasPrefix(responses) }
            return answers.count >= 32
        }
        #expect(answers.count == 32 && answers.allSatisfy { $0.text.contains(#""status":"ok""#) })
        gateway.received(grip + "/set", #"{"vibrate":92,"transaction":1}"#)
        #expect(await response(gateway).hasPrefix(#"set {"status":"ok""#))
    }

    /// A command has its answer also if the gateway ends meanwhile: its own, or that.
    @Test(arguments: [false, true]) func theEndAnswersWhatIsCarriedOut(isDone: Bool) async throws {
        let gateway = try site()
        gateway.handler.hold()
        gateway.received(grip + "/set", #"{"vibrate":90,"transaction":7}"#)
        await eventually("it is with the handler") { gateway.handler.calls.count == 1 }
        if isDone {
            gateway.handler.release()
            await eventually("the answer waits") { gateway.handler.done == 1 }
        }
        gateway.broker.acknowledges = true
        gateway.time.step = 100  // what was published before is never acknowledged
        gateway.worker.end()
        let answers = gateway.published().filter { $0.topic.hasPrefix(responses) }.map(\.text)
        let device = #""device":"C0:00:00:00:08:01","transaction":7}"#
        #expect(
            answers == [
                (isDone ? #"{"status":"ok","data":{},"# : #"{"status":"error","error":"the gateway ends","#) + device
            ])
        gateway.handler.release()
    }

    @Test func getPublishesTheStateAgain() throws {
        let gateway = try site()
        gateway.line("battery", #","battery_percent":70"#)
        gateway.round()
        _ = gateway.published()
        let before = gateway.worker.delivery.commits
        gateway.received(grip + "/get", "anything")
        #expect(gateway.worker.delivery.commits == before, "the broker is asked first")
        #expect(
            gateway.published() == [
                Message(
                    topic: grip, text: #"{"time":"T","battery_percent":70,"message_id":"gw-6"}"#, quality: 1,
                    isRetained: true)
            ])
    }

    /// Its default is the same with every prefix of the discovery.
    @Test func aRestartOfHomeAssistantWithAnotherPrefix() throws {
        let gateway = try site { $0.discovery = "ha" }
        #expect(gateway.broker.subscriptions.suffix(2) == ["ha/status", "homeassistant/status"])
        for topic in ["ha/status", "homeassistant/status"] {
            gateway.received(topic, "online")
            #expect(gateway.published().map(\.topic) == ["ha/device/tendon_c00000000801_random/config"])
        }
    }

    /// https://www.home-assistant.io/integrations/mqtt/#birth-and-last-will-messages
    @Test func aRestartOfHomeAssistantPublishesTheDiscovery() throws {
        let gateway = try site()
        gateway.received("homeassistant/status", "offline")
        #expect(gateway.published() == [])
        gateway.received("homeassistant/status", "online")
        #expect(gateway.published().map(\.topic) == ["homeassistant/device/tendon_c00000000801_random/config"])
    }
}

@Suite struct RequestTests {
    @Test(arguments: ["", " \n", "{}"])
    func healthIsACountOfEverything(payload: String) async throws {
        let gateway = try site()
        gateway.line("press")
        gateway.round(at: 107_999)
        gateway.received(requests + "health", payload)
        let text = await response(gateway)
        // Commits: the new file, the reservation of numbers, the note of the device, that of its entities, what was not
        // acknowledged.
        #expect(
            text
                == #"health {"status":"ok","data":{"gateway":"gw","radios_open":0,"waiting":[],"uptime_s":7,"devices":1,"queued":3,"dropped":0,"#
                + #""refused":0,"thinned":0,"ignored":0,"next_message_id":"gw-5","queue_failing":false,"queue_commits":5,"#
                + #""queue_syncs":1,"healthy":true}}"#)
    }

    @Test func healthTakesNoMembers() async throws {
        let gateway = try site()
        gateway.received(requests + "health", #"{"x":1,"transaction":2}"#)
        #expect(
            await response(gateway)
                == #"health {"status":"error","error":"health takes no members, so not 'x'","transaction":2}"#)
    }

    /// The command gets the address of a device that is named.
    @Test func requestsGoToTheCommand() async throws {
        let gateway = try site()
        gateway.handler.answer(.done(["found": 2]))
        gateway.received(requests + "scan", #"{"seconds":3,"transaction":"x"}"#)
        #expect(await response(gateway) == #"scan {"status":"ok","data":{"found":2},"transaction":"x"}"#)
        gateway.received(requests + "pair", #"{"device":"C0:00:00:00:08:01"}"#)
        #expect(await response(gateway) == #"pair {"status":"ok","data":{"found":2}}"#)
        gateway.received(requests + "pair", #"{"device":"other"}"#)
        #expect(await response(gateway) == #"pair {"status":"ok","data":{"found":2}}"#)
        #expect(
            gateway.handler.calls == [
                #"scan {"seconds":3}"#,
                #"pair {"device":"C0:00:00:00:08:01","address":"C0:00:00:00:08:01","address_type":"random"}"#,
                #"pair {"device":"other"}"#,
            ])
    }

    /// Two devices can have the same 48 bits: the type says which one is meant.
    @Test func theTypeOfAnAddressCounts() async throws {
        let gateway = try site()
        var other = TestGateway.grip
        other.addressType = "public"
        gateway.round(.presence(other, .connected))
        gateway.received(requests + "forget", #"{"device":"C0:00:00:00:08:01","address_type":"public"}"#)
        _ = await response(gateway)
        #expect(
            gateway.handler.calls == [
                #"forget {"device":"C0:00:00:00:08:01","address_type":"public","address":"C0:00:00:00:08:01"}"#
            ])
    }

    @Test func addressesInSmallLetters() async throws {
        let gateway = try site()
        gateway.received(requests + "rename", #"{"from":"c0:00:00:00:08:01","to":"left"}"#)
        #expect(await response(gateway) == #"rename {"status":"ok","data":{"from":"c0:00:00:00:08:01","to":"left"}}"#)
        #expect(gateway.worker.devices.values.map(\.name) == ["left"])
    }

    /// The gateway ends the connection and removes the bond first: what is published goes when it says so.
    @Test func forgetIsTheGatewaysDecision() async throws {
        let gateway = try site()
        gateway.handler.answer(.done(["address": "C0:00:00:00:08:01"]))
        gateway.received(requests + "forget", #"{"device":"C0:00:00:00:08:01"}"#)
        #expect(
            await response(gateway) == #"forget {"status":"ok","data":{"address":"C0:00:00:00:08:01"}}"#)
        #expect(
            gateway.handler.calls == [
                #"forget {"device":"C0:00:00:00:08:01","address":"C0:00:00:00:08:01","address_type":"random"}"#
            ])
        #expect(gateway.worker.devices.count == 1)
    }

    @Test func aDeviceIsRenamed() async throws {
        let gateway = try site()
        gateway.line("battery", #","battery_percent":70"#)
        gateway.round()
        _ = gateway.published()
        gateway.received(requests + "rename", #"{"from":"C0:00:00:00:08:01","to":"left","transaction":1}"#)
        let messages = gateway.published()
        #expect(
            messages.map { "\($0.topic) \($0.text.prefix(1))" } == [
                "tendon/bridge/gw/devices [", responses + "rename {", grip + "/availability ", grip + " ",
                "tendon/left/availability {", "tendon/left {",
                "homeassistant/device/tendon_c00000000801_random/config {",
            ])
        #expect(
            messages[1].text
                == #"{"status":"ok","data":{"from":"C0:00:00:00:08:01","to":"left"},"transaction":1}"#)
        #expect(messages[4].text == #"{"state":"online"}"#)
        #expect(gateway.worker.delivery.notes().values.map { $0.contains(#""topic":"left""#) } == [true])
        // Its own name again, and its address as another name for it.
        gateway.received(requests + "rename", #"{"from":"C0:00:00:00:08:01","to":"left"}"#)
        #expect(await response(gateway) == #"rename {"status":"ok","data":{"from":"C0:00:00:00:08:01","to":"left"}}"#)
    }

    @Test(arguments: [
        ("{}", #"rename takes {"from": NAME, "to": NAME}"#),
        (#"{"from":"a"}"#, #"rename takes {"from": NAME, "to": NAME}"#),
        (#"{"to":"a"}"#, #"rename takes {"from": NAME, "to": NAME}"#),
        (#"{"from":"given","to":"a","z":1}"#, "rename takes from and to, so not 'z'"),
        (#"{"from":"nobody","to":"a"}"#, "no device 'nobody'"),
        (#"{"from":"given","to":"a"}"#, "the configuration of the gateway names this device"),
        (
            #"{"from":"C0:00:00:00:08:01","to":"a/b"}"#,
            "'a/b' cannot be a level of a topic (64 bytes at most, without / + # and control characters), or is reserved"
        ),
        (
            #"{"from":"C0:00:00:00:08:01","to":"bridge"}"#,
            "'bridge' cannot be a level of a topic (64 bytes at most, without / + # and control characters), or is reserved"
        ),
        (#"{"from":"C0:00:00:00:08:01","to":"belt"}"#, "'belt' is a family"),
        (#"{"from":"C0:00:00:00:08:01","to":"given"}"#, "'given' is taken"),
        (#"{"from":"C0:00:00:00:08:01","to":"C1"}"#, "'C1' is taken"),
    ])
    func aRenameThatIsRefused(payload: String, error: String) async throws {
        let gateway = try site()
        let named = OutputDevice(family: "fjorden", address: "C1", addressType: "public", name: "given", isNamed: true)
        gateway.round(.presence(named, .connected))
        gateway.received(requests + "rename", payload)
        let text = await response(gateway)
        let answer = try JSON(parsing: Array(text.dropFirst("rename ".count).utf8))
        #expect(answer == ["status": "error", "error": .string(error)])
        #expect(gateway.worker.devices.values.map(\.name).sorted() == ["C0:00:00:00:08:01", "given"])
    }
}
