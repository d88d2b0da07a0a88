// SPDX-License-Identifier: MIT
import TendonSupport
import Testing

@testable import TendonCommand

/// When rules apply; the time is an argument.
@Suite struct RuleEngineTests {
    private let trainer = RuleDevice(family: "activ5", address: "C0:00:00:00:00:30/random", name: "trainer")
    private let other = RuleDevice(family: "activ5", address: "C0:00:00:00:00:31/random")

    private func engine(_ rules: String...) throws -> RuleEngine { RuleEngine(try rules.map { try Rule($0) }) }

    @Test func anEventAppliesEachTime() throws {
        var engine = try engine("activ5.squeeze => activ5.tare", "activ5.release => activ5.tare")
        #expect(engine.happened("squeeze", to: trainer, at: 0).map(\.index) == [0])
        #expect(engine.happened("squeeze", to: trainer, at: 0).count == 1)
        #expect(engine.happened("double_squeeze", to: trainer, at: 1).isEmpty)
        #expect(engine.happened("squeeze", to: RuleDevice(family: "bose", address: "x"), at: 2).isEmpty)
    }

    @Test func aDetailMustBeTheSame() throws {
        var engine = try engine("bose.gesture double_tap => activ5.tare")
        let head = RuleDevice(family: "bose", address: "x")
        #expect(engine.happened("gesture", ["double_tap"], to: head, at: 0).count == 1)
        #expect(engine.happened("gesture", ["head_nod"], to: head, at: 0).isEmpty)
        #expect(engine.happened("gesture", to: head, at: 0).isEmpty)
    }

    @Test func everyIsForEachDevice() throws {
        var engine = try engine("activ5.squeeze every 2 s => activ5.tare")
        #expect(engine.happened("squeeze", to: trainer, at: 1000).count == 1)
        #expect(engine.happened("squeeze", to: trainer, at: 2999).isEmpty)
        #expect(engine.happened("squeeze", to: other, at: 2999).count == 1)
        #expect(engine.happened("squeeze", to: trainer, at: 3000).count == 1)
    }

    /// A device that reconnects does not evade the pause.
    @Test func everyOutlivesTheConnection() throws {
        var engine = try engine("activ5.connected every 1 min => activ5.tare")
        #expect(engine.happened("connected", to: trainer, at: 0).count == 1)
        _ = engine.happened("disconnected", to: trainer, at: 10)
        #expect(engine.happened("connected", to: trainer, at: 59_999).isEmpty)
        #expect(engine.happened("connected", to: trainer, at: 60_000).count == 1)
    }

    @Test func aValueAppliesWhenItPassesTheLimit() throws {
        var engine = try engine("activ5.force > 50 => activ5.tare")
        #expect(engine.value("force", 50, of: trainer, at: 0).isEmpty)
        #expect(engine.value("force", 51, of: trainer, at: 1).map(\.value) == [51])
        #expect(engine.value("force", 60, of: trainer, at: 2).isEmpty)
        #expect(engine.value("force", 49, of: trainer, at: 3).isEmpty)
        #expect(engine.value("force", 52, of: trainer, at: 4).count == 1)
        #expect(engine.value("battery", 90, of: trainer, at: 5).isEmpty)
    }

    @Test func comparisons() throws {
        let cases: [(String, Double, Bool)] = [
            (">", 5, false), (">", 5.1, true), (">=", 5, true), (">=", 4.9, false), ("<", 5, false), ("<", 4.9, true),
            ("<=", 5, true), ("<=", 5.1, false), ("==", 5, true), ("==", 5.1, false), ("!=", 5, false), ("!=", 4, true),
        ]
        for (comparison, value, holds) in cases {
            var engine = try engine("activ5.force \(comparison) 5 => activ5.tare")
            #expect(
                engine.value("force", value, of: trainer, at: 0).count == (holds ? 1 : 0), "\(value) \(comparison) 5")
        }
        // Neither more nor less.
        var engine = try engine("activ5.force < 5 => activ5.tare", "activ5.force >= 5 => activ5.tare")
        #expect(engine.value("force", .nan, of: trainer, at: 0).isEmpty)
    }

    @Test func aValueHolds() throws {
        var engine = try engine("activ5.force > 50 for 1 s => activ5.tare")
        #expect(engine.value("force", 60, of: trainer, at: 1000).isEmpty)
        #expect(engine.deadline == 2000)
        #expect(engine.tick(1999).isEmpty)
        #expect(engine.tick(2000).map(\.value) == [60])
        #expect(engine.deadline == nil)
        #expect(engine.tick(5000).isEmpty)
        #expect(engine.value("force", 70, of: trainer, at: 5000).isEmpty)
    }

    @Test func aBreakBeginsTheTimeAgain() throws {
        var engine = try engine("activ5.force > 50 for 1 s => activ5.tare")
        _ = engine.value("force", 60, of: trainer, at: 0)
        _ = engine.value("force", 40, of: trainer, at: 999)
        #expect(engine.deadline == nil)
        #expect(engine.value("force", 60, of: trainer, at: 1000).isEmpty)
        #expect(engine.value("force", 61, of: trainer, at: 1999).isEmpty)
        // The time was over before this value arrived.
        #expect(engine.value("force", 62, of: trainer, at: 2000).map(\.value) == [61])
    }

    /// It is neither on this side nor on the other one.
    @Test func aValueThatIsNotKnown() throws {
        var engine = try engine("activ5.force > 50 for 1 s => activ5.tare")
        func take(_ input: RuleInput, _ now: UInt64) -> Int { engine.take([input], of: trainer, at: now).count }
        #expect(take(.value("force", 60), 0) == 0)
        #expect(take(.unknown("other"), 500) == 0)
        #expect(engine.deadline == 1000)
        #expect(take(.unknown("force"), 999) == 0)
        #expect(engine.deadline == nil && engine.tick(5000).isEmpty)
        #expect(take(.value("force", 60), 6000) == 0)
        #expect(engine.deadline == 7000, "from the first value after it")
        #expect(take(.unknown("force"), 7000) == 1, "the time was over before")
        #expect(take(.value("force", 60), 7001) == 0 && engine.tick(9000).isEmpty, "it was not on the other side")
        #expect(take(.value("force", 40), 9001) == 0)
        #expect(take(.value("force", 60), 9002) == 0)
        #expect(engine.tick(10_002).count == 1)
    }

    @Test func aDeviceThatIsLostHoldsNothing() throws {
        var engine = try engine(
            "activ5.force > 50 for 1 s => activ5.tare", "activ5.force > 50 for 1 s every 2 s => activ5.tare")
        _ = engine.value("force", 60, of: trainer, at: 0)
        _ = engine.happened("disconnected", to: trainer, at: 500)
        #expect(engine.deadline == nil)
        #expect(engine.tick(5000).isEmpty)
    }

    /// It applied for this time that it holds, although it was suppressed.
    @Test func aSuppressedComparisonDoesNotApplyLater() throws {
        var engine = try engine("activ5.force > 50 every 10 s => activ5.tare")
        #expect(engine.value("force", 60, of: trainer, at: 0).count == 1)
        _ = engine.value("force", 40, of: trainer, at: 1)
        #expect(engine.value("force", 60, of: trainer, at: 2).isEmpty)
        #expect(engine.value("force", 60, of: trainer, at: 20_000).isEmpty)
        _ = engine.value("force", 40, of: trainer, at: 20_001)
        #expect(engine.value("force", 60, of: trainer, at: 20_002).count == 1)
    }

    @Test func devicesWithoutEndFillNoMemory() throws {
        var engine = try engine("activ5.force > 50 every 1 s => activ5.tare")
        var decisions = 0
        for number in 0..<2000 {
            let device = RuleDevice(family: "activ5", address: "\(number)")
            decisions += engine.value("force", 60, of: device, at: 0).count
        }
        #expect(decisions == 1024)
    }
}

@Suite struct RuleTests {
    @Test func theOldFormIsValid() throws {
        let rule = try Rule("activ5.double_squeeze  =>  belt.signal warning")
        #expect(rule.text == "activ5.double_squeeze => belt.signal warning")
        #expect(rule.subject == .family("activ5"))
        #expect(rule.families == ["activ5", "feelspace"])
        #expect(rule.steps.map(\.text) == ["belt.signal warning"])
        #expect((rule.hold, rule.pause) == (0, 0))
    }

    @Test func timesAndActions() throws {
        // A comma in a word is a part of the value.
        #expect(try Rule("activ5.squeeze => publish pair 1,2").steps.map(\.text) == ["publish pair 1,2"])
        let rule = try Rule("activ5.force >= -1.5 for 100ms every 2 min => publish a b c , exec bell, activ5.stop")
        #expect((rule.hold, rule.pause) == (100, 120_000))
        #expect(rule.steps.map(\.text) == ["publish a b c", "exec bell", "activ5.stop"])
        #expect(rule.programs == ["bell"])
        #expect(rule.text == "activ5.force >= -1.5 for 100ms every 2 min => publish a b c, exec bell, activ5.stop")
        #expect(try Rule("activ5.squeeze every 0.5s => activ5.stop").pause == 500)
        // As it was written.
        let quoted = #"activ5.squeeze => publish a "x y", activ5.stop"#
        #expect(try Rule(quoted).text == quoted)
    }

    /// Every prefix of a rule is a rule or a mistake with a reason.
    @Test func truncatedAtEachPosition() {
        let text = "activ5.force > 50 for 1 s every 2 s => belt.vibrate 90, publish squeezed yes, exec bell"
        for length in 0..<text.count {
            do throws(CommandError) {
                _ = try Rule(String(text.prefix(length)))
            } catch {
                #expect(error.message.hasPrefix("the rule '"))
            }
        }
    }

    /// Outputs use it as one level of a topic, and would leave out what is none.
    @Test(arguments: ["a/b", "a+", "#", "/", String(repeating: "x", count: 65)])
    func aNameThatIsNoLevelOfATopic(_ name: String) {
        let error = #expect(throws: CommandError.self) { try Rule("activ5.squeeze => activ5.stop, publish \(name) on") }
        #expect(error?.message.hasSuffix("(column 40)") == true, "\(error?.message ?? "")")
    }

    @Test func wordsHaveColumns() {
        #expect(
            RuleWord.all(in: " a  bc, d") == [
                RuleWord(text: "a", column: 2), RuleWord(text: "bc", column: 5), RuleWord(text: ",", column: 7),
                RuleWord(text: "d", column: 9),
            ])
    }

    /// The same marks as in the text of an action; elsewhere in a word they mean nothing.
    @Test func wordsInQuotationMarks() {
        func words(_ text: String) -> [String] { RuleWord.all(in: text).map { "\($0.column):\($0.text)" } }
        #expect(words(#"x "a  b", "c\n\"\\""#) == ["1:x", "3:a  b", "9:,", "11:c\n\"\\"])
        #expect(words(#""" "=>" ",""#) == ["1:", "4:=>", "9:,"])
        #expect(words(#"a"b c" "d"e"#) == [#"1:a"b"#, #"5:c""#, #"8:"d"e"#])
        #expect(words(#""a b"#) == [#"1:"a"#, "4:b"])
        #expect(!RuleWord.all(in: #"",""#)[0].isSign(","))
        #expect(RuleWord.all(in: #""a b", c"#).map(\.written) == [#""a b""#, ",", "c"])
    }

    /// What a run and a dry run decide by.
    @Test func linesAreEventsAndValues() throws {
        let rules = [
            "obvious.feature enabled => publish x y", "feelspace.mode => publish x y",
            "feelspace.battery < 20 => publish x y",
            "fjorden.battery_low => publish x y",
        ]
        let reader = RuleReader(try rules.map { try Rule($0) })
        func inputs(_ event: EventName, _ family: String, _ members: String) -> [RuleInput] {
            reader.inputs(event, family: family, Array(#"{"event":"\#(event)",\#(members)}"#.utf8))
        }
        #expect(
            inputs("feature", "obvious", #""feature":3,"state":"enabled","toggle":"activated""#)
                == [.happened("feature", ["enabled", "activated"])])
        #expect(inputs("mode", "feelspace", #""mode":"wait""#) == [.happened("mode", ["wait"])])
        // A button that changes the mode.
        let press = #""button":"home","previous_mode":"wait","mode":"#
        #expect(inputs("button", "feelspace", press + #""compass""#) == [.happened("mode", ["compass"])])
        #expect(inputs("button", "feelspace", press + #""wait""#).isEmpty)
        #expect(inputs("battery", "feelspace", #""battery_percent":12.5"#) == [.value("battery", 12.5)])
        #expect(inputs("battery", "feelspace", #""battery_percent":null"#) == [.unknown("battery")])
        #expect(inputs("battery", "feelspace", #""power":1"#).isEmpty, "the member is not there")
        #expect(inputs("battery", "bose", #""battery_percent":12.5"#).isEmpty, "of a family without a rule")
        #expect(inputs("grip", "fjorden", #""grip_event":"batteryLow""#) == [.happened("battery_low", [])])
        #expect(inputs("grip", "fjorden", #""grip_event":"dialUp""#).isEmpty)
        #expect(inputs("disconnected", "bose", #""reason":"requested""#) == [.happened("disconnected", [])])
        #expect(reader.takes(anyOf: ["grip"]) && !reader.takes(anyOf: ["sample"]))
    }

    /// Of one line with two details, a rule without one is decided once.
    @Test func oneLineIsOneEvent() throws {
        let device = RuleDevice(family: "obvious", address: "x")
        var engine = RuleEngine(
            try ["obvious.feature => publish x y", "obvious.feature activated => publish x y"].map { try Rule($0) })
        let line: [RuleInput] = [.happened("feature", ["enabled", "activated"])]
        #expect(engine.take(line, of: device, at: 0).map(\.index) == [0, 1])
    }

    @Test func membersOfLines() {
        let line = Array(#"{"name":"\"force_n\":7","force_n":-12.5,"x":null,"on":true,"off":false,"mode":"a, b"}"#.utf8)
        func number(_ member: String, _ words: [(String, Double)] = []) -> Double? {
            RuleReader.start(of: member, in: line).flatMap {
                RuleReader.number(RuleValue(name: "", event: "", member: member, words: words), in: line[$0...])
            }
        }
        #expect(number("force_n") == -12.5)
        #expect(number("x") == nil)
        #expect(number("y") == nil)
        #expect([number("on"), number("off")] == [1, 0])
        #expect(number("mode", [("a", 3), ("a, b", 7)]) == 7)
        #expect(number("mode", [("a", 3)]) == nil)
        // The records of a list have members of their own.
        let list = Array(#"{"points":[{"x":1,"text":"]"},{"x":3,"text":"\"[\\"}],"x":99,"y":"["}"#.utf8)
        let start = try? #require(RuleReader.start(of: "x", in: list))
        #expect(start.map { list[$0...].starts(with: "99,".utf8) } == true)
        #expect(RuleReader.start(of: "text", in: list) == nil)
        #expect(RuleReader.start(of: "y", in: list) != nil)
    }

    @Test func timesOfLines() {
        #expect(microseconds("1970-01-01T00:00:00.000000Z") == 0)
        #expect(microseconds("2000-03-01T00:00:00.000001Z") == 951_868_800_000_001)
        #expect(microseconds("2026-11-23T01:02:03.000004Z") == 1_795_395_723_000_004)
        #expect(microseconds("2026-11-23") == nil)
    }
}
