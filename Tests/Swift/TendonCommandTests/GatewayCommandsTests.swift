// SPDX-License-Identifier: MIT
// Commands from outside: the table of the rules' actions, and nothing else.
import Synchronization
import Tendon
import TendonOutputs
import TendonSupport
import Testing

@testable import TendonCommand

@Suite struct GatewayCommandsTests {
    private func text(_ family: String, _ key: String, _ value: JSON) throws -> String {
        try GatewayCommands.call(JSON.Member(key: key, value: value), family).text
    }

    @Test func argumentsAreTextNumbersAndLists() throws {
        #expect(try text("feelspace", "vibrate", 90) == "feelspace.vibrate 90")
        #expect(try text("feelspace", "vibrate", 90.0) == "feelspace.vibrate 90")
        #expect(try text("feelspace", "vibrate", "90") == "feelspace.vibrate 90")
        #expect(try text("feelspace", "stop", nil) == "feelspace.stop")
        #expect(try text("feelspace", "stop", true) == "feelspace.stop")
        #expect(try text("fjorden", "led", ["blinkSlow", 500]) == "fjorden.led blinkSlow 500")
        #expect(try text("fjorden", "led", "blinkSlow 500") == "fjorden.led blinkSlow 500")
    }

    /// Whatever number comes, an action takes it or says why not.
    @Test(arguments: [
        "9007199254740993", "-9007199254740993", "9223372036854775807", "-9223372036854775808", "9007199254740993.0",
        "1e19", "-1e300", "1e-320", "9223372036854775808.0", "4294967296", "65536", "256",
    ])
    func numbersOfAnySize(number: String) throws {
        let value = try #require(try JSON(parsing: Array(#"{"a":\#(number)}"#.utf8))["a"])
        for family in families {
            for action in family.stream.actions {
                for count in 1...3 {
                    for first in [value, "on", "blinkSlow", 1] {
                        let arguments = JSON.array([first] + Array(repeating: value, count: count - 1))
                        do throws(CommandError) {
                            _ = try GatewayCommands.call(JSON.Member(key: action.name, value: arguments), family.name)
                        } catch {
                            #expect(error.status == .usage)
                        }
                    }
                }
            }
        }
        // An integer is not rounded on its way.
        let error = #expect(throws: CommandError.self) {
            try GatewayCommands.call(JSON.Member(key: "vibrate", value: .array(["north", value])), "feelspace")
        }
        #expect(error?.status == .usage)
    }

    @Test func anIntegerIsNotRounded() throws {
        #expect(try JSON(parsing: Array(#"{"a":9007199254740993}"#.utf8))["a"] == .integer(9_007_199_254_740_993))
        #expect(try JSON(parsing: Array(#"{"a":9223372036854775808}"#.utf8))["a"] == "9223372036854775808")
    }

    @Test func whatIsNotInTheTableIsRefused() {
        let arguments = "arguments are a text, a number, a list of these, true, or null"
        for (family, key, value, reason) in [
            ("feelspace", "exec", "/bin/true", "unknown action of feelspace 'exec'"),
            ("feelspace", "publish", "x", "unknown action of feelspace 'publish'"),
            ("feelspace", "tare", true, "unknown action of feelspace 'tare'"),
            ("feelspace", "vibrate", "north", "vibrate takes an angle in degrees"),
            ("feelspace", "vibrate", [[90]], "a list in a list"), ("feelspace", "vibrate", ["a": 1], arguments),
            ("feelspace", "stop", false, arguments), ("feelspace", "stop", "now", "it takes no arguments, not 'now'"),
            ("bose", "connected", true, "unknown action of bose 'connected'"),
            ("nothing", "stop", true, "unknown action of nothing 'stop'"),
        ] as [(String, String, JSON, String)] {
            let error = #expect(throws: CommandError.self) { try text(family, key, value) }
            #expect(error?.status == .usage)
            #expect(error?.message.hasPrefix(reason) == true, "\(error?.message ?? "")")
        }
    }

    @Test func aDeviceThatIsNotConnectedTakesNoAction() async {
        let commands = GatewayCommands(RuleBoard([]))
        let device = OutputDevice(family: "feelspace", address: "C0:00:00:00:00:01", addressType: "random")
        #expect(await commands.set(["stop": true], of: device) == .failed("the device is not connected"))
        #expect(await commands.set([:], of: device) == .failed("no action"))
    }

    @Test func requestsThatAreUnknownOrComeWithoutARadioFail() async {
        let commands = GatewayCommands(RuleBoard([]))
        for name in ["exec", "rules", "", "pair", "forget"] {
            guard case .failed = await commands.request(name, ["device": "C0:00:00:00:00:01"]) else {
                Issue.record("\(name) was carried out")
                continue
            }
        }
        #expect(await commands.request("scan", [:]) == .done(["devices": []]))
    }

    @Test(arguments: ["scan", "pair", "forget", "recenter"])
    func aMisspelledMemberIsRefused(request: String) async {
        guard case .failed(let text) = await GatewayCommands(RuleBoard([])).request(request, ["secs": 10]) else {
            Issue.record("it was carried out")
            return
        }
        #expect(text.hasPrefix("unknown member of \(request) 'secs'"), "\(text)")
    }

    @Test func aNameWithAnotherMeaningIsNotGiven() {
        let commands = GatewayCommands(RuleBoard([]))
        for name in ["bose", "belt", "feelspace", "Rule", "all", "for", "every"] {
            #expect(commands.refusal(ofName: name) == "'\(name)' has another meaning and is no name of a device")
        }
        for name in ["belt2", "living room", "gürtel", "C0:7E"] { #expect(commands.refusal(ofName: name) == nil) }
        // The device may come later.
        for name in ["C0:7E:01:00:33:92", "c0:7e:01:00:33:92", "C0:7E:01:00:33:92-random"] {
            #expect(
                commands.refusal(ofName: name)
                    == "'\(name)' begins with an address, which means the device that has it")
        }
    }

    /// What is not known is left out, as in events.
    @Test func theListOfAScan() async throws {
        let commands = GatewayCommands(RuleBoard([]))
        let address = try #require(Address("C0:00:00:00:00:02")).value
        commands.saw(Address(address, type: .random), "bose", nil, nil)
        commands.saw(Address(address + 1, type: .public), "activ5", "trainer", -40)
        guard case .done(let data) = await commands.request("scan", [:]) else {
            Issue.record("it failed")
            return
        }
        #expect(
            LineWriter.text(data)
                == #"{"devices":[{"address":"C0:00:00:00:00:02","address_type":"random","family":"bose"},"#
                + #"{"address":"C0:00:00:00:00:03","address_type":"public","family":"activ5","name":"trainer","rssi_dbm":-40}]}"#
        )
    }

    /// An action of each device whose orientation is sent, and a request.
    @Test func recentering() async throws {
        let commands = GatewayCommands(RuleBoard([]))
        let device = OutputDevice(family: "bose", address: "C0:00:00:00:00:01", addressType: "random_identity")
        guard case .failed(let why) = await commands.set(["recenter": nil], of: device) else {
            Issue.record("no output can do it")
            return
        }
        #expect(why.contains("--osc"))
        let asked = Mutex<[String]>([])
        commands.onRecenter { device in
            asked.withLock { $0.append(device?.key ?? "all") }
            return device == nil ? 2 : device?.addressType == "random" ? 1 : 0
        }
        guard case .failed = await commands.set(["recenter": nil], of: device) else {
            Issue.record("it has no orientation")
            return
        }
        #expect(await commands.request("recenter", [:]) == .done(["devices": 2]))
        guard case .failed = await commands.request("recenter", ["device": "C0:00:00:00:00:02"]) else {
            Issue.record("it was never received")
            return
        }
        let address = try #require(Address("C0:00:00:00:00:02")).value
        commands.saw(Address(address, type: .random), "bose", nil, nil)
        #expect(await commands.request("recenter", ["device": "C0:00:00:00:00:02"]) == .done(["devices": 1]))
        #expect(asked.withLock { $0 } == ["C0:00:00:00:00:01/random_identity", "all", "C0:00:00:00:00:02/random"])
        guard case .failed = await commands.set(["recenter": nil, "stop": true], of: device) else {
            Issue.record("it stands alone")
            return
        }
    }

    @Test func aRestartTakesNoMembers() async throws {
        let commands = GatewayCommands(RuleBoard([]))
        #expect(await commands.request("restart", ["x": 1]) == .failed("restart takes no members, so not 'x'"))
    }

    /// Every button and choice of a description is an action that its family takes.
    @Test func everyCommandOfADescriptionIsAnAction() throws {
        for family in families {
            for entity in family.description?.entities ?? [] {
                switch entity.kind {
                case .button(let payload):
                    for member in try JSON(parsing: Array(payload.utf8)).all {
                        _ = try GatewayCommands.call(member, family.name)
                    }
                case .choice(_, let action, let options):
                    for option in options {
                        _ = try GatewayCommands.call(JSON.Member(key: action, value: .string(option)), family.name)
                    }
                case .number(_, let action, let range, _, _):
                    for number in [range.lowerBound, range.upperBound] {
                        _ = try GatewayCommands.call(JSON.Member(key: action, value: JSON(figure: number)), family.name)
                    }
                case .text(let action, let length, _):
                    let text = String(repeating: "0", count: length.upperBound)
                    _ = try GatewayCommands.call(JSON.Member(key: action, value: .string(text)), family.name)
                case .happening(_, _, let types, _): #expect(!types.isEmpty)
                case .sensor, .binary, .firmware: break
                }
            }
        }
    }
}
