// SPDX-License-Identifier: MIT
// What rules and outputs know of a family that a file defines.
import CTendon
import TendonOutputs
import TendonSupport
import Testing

@testable import TendonCommand

@Suite struct DefinedFamilyTests {
    private static let file = #"""
        {"name": "lamp", "title": "Lamp", "find": {"services": ["fff0"]}, "characteristics": [
          {"name": "status", "service": "fff0", "uuid": "fff1", "notify": [
            {"type": "u8", "bits": [{"name": "lit", "bit": 0, "title": "Light"}, {"name": "wide", "bit": 1}]},
            {"name": "level_percent", "type": "u8", "unit": "%", "class": "power_factor", "if": "!wide"},
            {"name": "mode", "type": "u8", "values": [[0, "calm"], [1, "bright"]]},
            {"name": "label", "type": "utf8"}]},
          {"name": "button", "service": "fff0", "uuid": "fff2", "notify": [
            {"name": "press", "type": "u8", "values": [[1, "short"], [2, "long"]]}]},
          {"name": "motion", "service": "fff0", "uuid": "fff3", "notify": [{"name": "x_g", "type": "i16"}]},
          {"name": "control", "service": "fff0", "uuid": "fff4", "write": [{"type": "u8", "equals": 1}]}],
         "events": [{"name": "button", "state": false}, {"name": "motion", "sample": true}],
         "actions": [
          {"name": "blink", "title": "Blink once", "characteristic": "control"},
          {"name": "dim", "characteristic": "control", "write": [
            {"name": "level", "type": "u8", "max": 200, "factor": 0.5, "unit": "%"}]},
          {"name": "choose", "characteristic": "control", "write": [
            {"name": "mode", "type": "u8", "values": [[0, "calm"], [1, "bright"]]}]},
          {"name": "both", "characteristic": "control", "write": [
            {"name": "a", "type": "u8"}, {"name": "b", "type": "i8"}]},
          {"name": "show", "characteristic": "control", "write": [{"name": "text", "type": "utf8"}]},
          {"name": "range", "characteristic": "control", "write": [
            {"name": "g", "type": "u8", "values": [[0, "2"], [1, "4"], [2, "all on"]]}]},
          {"name": "two", "characteristic": "control", "write": [
            {"name": "n", "type": "u8"}, {"name": "text", "type": "utf8"}]}]}
        """#

    private let definition: Definition

    init() throws { definition = try Definition(parsing: Array(DefinedFamilyTests.file.utf8), path: "lamp.json") }

    @Test func rulesKnowItsEventsValuesAndActions() {
        let form = StreamForm(definition)
        #expect(form.happenings.map(\.name) == ["button", "status"])
        #expect(form.happenings[0].details == ["short", "long"])
        #expect(form.happenings[1].details == ["calm", "bright"])
        #expect(form.values.map(\.name) == ["press", "x_g", "lit", "level_percent", "mode"])
        #expect(form.values.map(\.event.description) == ["button", "sample", "status", "status", "status"])
        #expect(form.values[0].words.map(\.word) == ["short", "long"])
        #expect(form.values[0].words.map(\.number) == [1, 2])
        #expect(form.actions.map(\.name) == ["blink", "dim", "choose", "both", "show", "range", "two"])
        #expect(form.actions.map(\.arguments) == ["", "LEVEL", "calm|bright", "A B", "TEXT", "2|4|all on", "N TEXT"])
        #expect(definition.sensors == ["motion"])
    }

    /// Outputs that have places only, such as OSC, rely on it.
    @Test func theFieldsOfCasesAreAtThePlaceOfTheSwitch() throws {
        let file = #"""
            {"name": "ord", "title": "Order", "find": {"services": ["fff0"]}, "characteristics": [
              {"name": "v", "service": "fff0", "uuid": "fff1", "notify": [{"name": "k", "type": "u8"},
                {"switch": "k", "cases": {"1": [{"name": "one", "type": "u8"}], "2": [{"name": "two", "type": "u8"}]},
                 "otherwise": [{"name": "three", "type": "u8"}]},
                {"name": "last", "type": "u8"}]}]}
            """#
        let definition = try Definition(parsing: Array(file.utf8), path: "ord.json")
        #expect(definition.forms[0].channels.map(\.name) == ["one", "two", "three", "last"])
    }

    /// A sample takes the numbers of the C library's view by their places. A name can be of a number and of a text.
    @Test(arguments: [[0, 65, 7], [1, 5, 6], [0x82, 9, 1, 2, 3, 66, 8], [4, 67, 0xFF, 0xFF, 0xFF]] as [[UInt8]])
    func itsChannelsAreThoseOfTheView(value: [UInt8]) throws {
        let file = #"""
            {"name": "odd", "title": "Odd", "find": {"services": ["fff0"]}, "characteristics": [
              {"name": "v", "service": "fff0", "uuid": "fff1", "notify": [
                {"type": "u8", "bits": [{"name": "n", "bit": 0}, {"name": "kind", "bit": 1, "count": 2, "hidden": false},
                  {"name": "timed", "bit": 7}]},
                {"name": "lap", "type": "u8", "if": "timed"},
                {"switch": "kind", "cases": {"1": [{"name": "x", "type": "u8"}, {"name": "list", "count": 1,
                  "records": [{"name": "y", "type": "u16"}]}]}},
                {"name": "a", "type": "utf8", "length": 1, "if": "!n"}, {"name": "a", "type": "u8", "if": "n"},
                {"name": "rest", "type": "bytes", "optional": true}]}],
             "events": [{"name": "all", "layout": "v"}, {"name": "part", "layout": "v", "members": ["a", "x", "n"]}]}
            """#
        let definition = try Definition(parsing: Array(file.utf8), path: "odd.json")
        #expect(
            definition.forms.map { $0.columns.map(\.name) } == [["kind", "lap", "x", "a", "rest"], ["n", "x", "a"]])
        for index in 0..<2 {
            try value.withUnsafeBufferPointer { bytes in
                var event = tendon_defined_event()
                (event.kind, event.bytes, event.length) = (TENDON_DEFINED_EVENT_VALUE, bytes.baseAddress, bytes.count)
                var view = tendon_view()
                try #require(tendon_defined_view(&view, definition.pointer, nil, &event, index))
                let names = (0..<view.count).map { text(view.channels[$0].name) }
                #expect(names == definition.forms[index].channels.map(\.name))
                var sample = OutputSample(definition.forms[index], &view)
                definition.fill(&sample, from: bytes, of: index)
                #expect(value[0] & 1 == 1 || sample.words[names.firstIndex(of: "a") ?? 0]?.utf8.count == 1)
                #expect(sample.count == view.count)
                #expect(sample.records.map { $0[1] } == (index == 0 && value[0] == 0x82 ? [0x0302] : []))
            }
        }
    }

    /// Of one name there may be two lists; of a list in a list, and of numbers beyond the limit, only lines have all.
    @Test func recordsOfLists() throws {
        let numbers = (0...SampleForm.limit).map { #"{"name": "n\#($0)", "type": "i8"}"# }.joined(separator: ", ")
        let file = #"""
            {"name": "listed", "title": "Listed", "find": {"services": ["fff0"]}, "characteristics": [
              {"name": "v", "service": "fff0", "uuid": "fff1", "notify": [
                {"type": "u8", "bits": [{"name": "long", "bit": 0}]}, {"name": "count", "type": "u8", "hidden": true},
                {"name": "beats", "if": "!long", "count": "count", "records": [{"name": "at", "type": "u8", "unit": "s"},
                  {"name": "note", "type": "utf8", "length": 1}]},
                {"name": "beats", "if": "long", "count": "count", "records": [{"name": "at", "type": "u16", "unit": "s"},
                  {"name": "index", "type": "i8", "unknown": -1}, {"name": "inner", "count": 2, "records": [{"type": "u8"}]}]},
                {"name": "plain", "count": 2, "records": [{"type": "i8", "factor": 0.5, "unit": "mV"}]}]},
              {"name": "w", "service": "fff0", "uuid": "fff2", "notify": [{"name": "many", "count": 1, "records": [\#(numbers)]}]}]}
            """#
        let definition = try Definition(parsing: Array(file.utf8), path: "listed.json")
        let form = definition.forms[0], many = definition.forms[1]
        #expect(form.lists.map(\.sensor) == ["v.beats", "v.plain"] && form.inLinesAlone == ["beats"])
        #expect(
            form.lists[0].columns.map(\.name) == ["at", "index", "note"] && form.lists[0].inLinesAlone == ["inner"])
        #expect(form.lists[1].columns == [SampleChannel("index"), SampleChannel("plain", "mV")])
        #expect(many.inLinesAlone == ["many"] && many.lists[0].channels.count == SampleForm.limit)
        #expect(many.lists[0].inLinesAlone == ["n\(SampleForm.limit - 1)", "n\(SampleForm.limit)"])
        func records(_ value: [UInt8]) -> [[String]] {
            var sample = OutputSample(form)
            value.withUnsafeBufferPointer { definition.fill(&sample, from: $0, of: 0) }
            return sample.records.map { record in
                [record.form.sensor]
                    + record.form.columns.indices.map { record.words.isEmpty ? nil : record.words[$0] }
                    .enumerated().map { $1 ?? "\(record[$0])" }
            }
        }
        #expect(
            records([0, 2, 7, 65, 8, 66, 1, 0xFF]) == [
                ["v.beats", "7.0", "nan", "A"], ["v.beats", "8.0", "nan", "B"], ["v.plain", "0.0", "0.5"],
                ["v.plain", "1.0", "-0.5"],
            ])
        #expect(
            records([1, 2, 7, 1, 4, 9, 9, 8, 0, 0xFF, 9, 9, 1, 2]) == [
                ["v.beats", "263.0", "4.0", "nan"], ["v.beats", "8.0", "nan", "nan"], ["v.plain", "0.0", "0.5"],
                ["v.plain", "1.0", "1.0"],
            ])
        #expect(records([0, 0, 1, 2]).map { $0[0] } == ["v.plain", "v.plain"])
        #expect(records([0, 3, 7]) == [], "a value with a mistake")
        let own = #"""
            {"name": "own", "title": "Own", "find": {"services": ["fff0"]}, "characteristics": [
              {"name": "v", "service": "fff0", "uuid": "fff1", "notify": [{"name": "list", "records": [
                {"name": "index", "type": "u8", "unknown": 255}, {"name": "x", "type": "u8"}]}]}]}
            """#
        let second = try Definition(parsing: Array(own.utf8), path: "own.json")
        var sample = OutputSample(second.forms[0])
        [5, 1, 255, 2].withUnsafeBufferPointer { second.fill(&sample, from: $0, of: 0) }
        #expect(sample.records.map { "\($0[0])" } == ["5.0", "nan"], "its own index")
    }

    @Test func outputsShowItsStateItsEventsAndItsActions() {
        let description = FamilyDescription(definition)
        #expect(description.family == "lamp")
        #expect(description.model == "Lamp")
        #expect(description.states == ["status"])
        #expect(
            description.entities.map(\.id) == [
                "lit", "level_percent", "mode", "button", "blink", "dim", "choose", "show", "range",
            ])
        #expect(
            description.entities.map(\.title)
                == ["Light", "Level percent", "Mode", "Button", "Blink once", "Dim", "Choose", "Show", "Range"])
        let kinds = description.entities.map { "\($0.kind)" }
        #expect(kinds[0].contains(#"binary(path: "lit", on: "true""#))
        #expect(
            kinds[1].contains(
                #"sensor(path: "level_percent", unit: Optional("%"), deviceClass: Optional("power_factor")"#))
        #expect(kinds[3].contains(#"happening(event: "button", member: Optional("press"), types: ["short", "long"]"#))
        #expect(kinds[4].contains(#"{\"blink\":true}"#))
        #expect(kinds[5].contains(#"action: "dim", range: ClosedRange(0.0...100.0), step: 0.5, unit: Optional("%")"#))
        #expect(kinds[6].contains(#"action: "choose", options: ["calm", "bright"]"#))
    }

    /// A person writes 0.1, not 0.10000000000000001; Home Assistant takes no step below 0.001.
    @Test(arguments: [
        (#""type": "u8", "factor": 0.1"#, "0.0...25.5 0.1"),
        (#""type": "u16", "max": 1000, "factor": 0.1"#, "0.0...100.0 0.1"),
        (#""type": "u8", "min": 1, "max": 3, "factor": 0.1"#, "0.1...0.3 0.1"),
        (#""type": "i8", "divisor": 4"#, "-32.0...31.75 0.25"),
        (#""type": "u8", "factor": -1, "offset": 10"#, "-245.0...10.0 1.0"),
        (#""type": "u16", "divisor": 1024"#, "0.0...63.999023 0.001"),
        (#""type": "u8", "divisor": 3"#, "0.0...85.0 0.333333"),
        (#""type": "u64""#, "0.0...9007199254740991.0 1.0"), (#""type": "f32""#, "-1000000.0...1000000.0 0.001"),
        (#""type": "f32", "decimals": 1"#, "-1000000.0...1000000.0 0.1"),
    ])
    func figures(_ field: String, _ expected: String) throws {
        let file = #"""
            {"name": "dim", "title": "Dim", "find": {"services": ["fff0"]}, "characteristics": [
              {"name": "c", "service": "fff0", "uuid": "fff1", "write": [{"name": "x", \#(field)}]}],
             "actions": [{"name": "set", "characteristic": "c"}]}
            """#
        let description = FamilyDescription(try Definition(parsing: Array(file.utf8), path: "dim.json"))
        guard case .number(_, "set", let range, let step, nil) = description.entities.first?.kind else {
            Issue.record("no number")
            return
        }
        #expect("\(range) \(step)" == expected)
    }

    /// One of two arguments has none: docs/home-assistant.md says how it is called.
    @Test(
        arguments: [
            (#"{"name": "x", "type": "utf8"}"#, #"text(action: "set", length: ClosedRange(0...64), pattern: nil)"#),
            (
                #"{"name": "x", "type": "utf8", "at_least": 2, "at_most": 20}"#,
                #"text(action: "set", length: ClosedRange(1...20), pattern: nil)"#
            ),
            (
                #"{"name": "x", "type": "utf8", "length": 1, "at_least": 1}"#,
                #"text(action: "set", length: ClosedRange(0...1), pattern: nil)"#
            ),
            (
                #"{"name": "x", "type": "bytes", "length": 4}"#,
                #"text(action: "set", length: ClosedRange(0...8), pattern: Optional("^([0-9a-fA-F]{2}){4,4}$"))"#
            ),
            (#"{"name": "x", "type": "u8"}, {"name": "y", "type": "u8"}"#, nil),
        ] as [(String, String?)])
    func texts(_ fields: String, _ expected: String?) throws {
        let file = #"""
            {"name": "sign", "title": "Sign", "find": {"services": ["fff0"]}, "characteristics": [
              {"name": "c", "service": "fff0", "uuid": "fff1", "write": [\#(fields)]}],
             "actions": [{"name": "set", "characteristic": "c"}]}
            """#
        let description = FamilyDescription(try Definition(parsing: Array(file.utf8), path: "sign.json"))
        #expect(description.entities.first.map { "\($0.kind)" } == expected)
    }

    /// The state has the name of the event in its place.
    @Test func aMemberThatIsCalledState() throws {
        let file = #"""
            {"name": "house", "title": "House", "find": {"services": ["fff0"]}, "characteristics": [
              {"name": "door", "service": "fff0", "uuid": "fff1", "notify": [{"name": "state", "type": "u8"}]},
              {"name": "window", "service": "fff0", "uuid": "fff2", "notify": [{"name": "state", "type": "u8"}]}]}
            """#
        let description = FamilyDescription(try Definition(parsing: Array(file.utf8), path: "house.json"))
        #expect(description.entities.map(\.id) == ["door", "window"])
        #expect(
            description.entities.map { "\($0.kind)" }.allSatisfy {
                $0.hasPrefix("sensor(path: \"") && !$0.contains("state")
            })
    }

    /// The newest sample is an object of the state. An action that sets what an event reports is one entity with it, if each
    /// number and word that is reported can be set.
    @Test func samplesThatAreStateAndActionsWithTheNamesOfValues() throws {
        let file = #"""
            {"name": "lamp", "title": "Lamp", "find": {"services": ["fff0"]}, "characteristics": [
              {"name": "light", "service": "fff0", "uuid": "fff1", "notify": [{"name": "lux", "type": "u16", "unit": "lx"}]},
              {"name": "level", "service": "fff0", "uuid": "fff2", "notify": [{"name": "brightness", "type": "u8"},
                {"name": "mode", "type": "u8", "values": [[0, "off"], [1, "on"]]}, {"name": "blink", "type": "u8"},
                {"name": "dim", "type": "u8"}, {"name": "scene", "type": "u8", "values": [[0, "off"], [9, "fault"]]}]},
              {"name": "set", "service": "fff0", "uuid": "fff3", "write": [{"name": "x", "type": "u8"}]},
              {"name": "choose", "service": "fff0", "uuid": "fff4", "write": [{"name": "y", "type": "u8", "values": [[0, "off"], [1, "on"]]}]},
              {"name": "go", "service": "fff0", "uuid": "fff5", "write": [{"type": "u8", "equals": 1}]},
              {"name": "scaled", "service": "fff0", "uuid": "fff6", "write": [{"name": "z", "type": "u8", "factor": 100, "divisor": 255}]}],
             "events": [{"name": "light", "sample": true, "state": true}, {"name": "level"}],
             "actions": [{"name": "brightness", "characteristic": "set"}, {"name": "mode", "characteristic": "choose"},
              {"name": "blink", "characteristic": "go"}, {"name": "other", "characteristic": "choose"},
              {"name": "dim", "characteristic": "scaled"}, {"name": "scene", "characteristic": "choose"}]}
            """#
        let entities = FamilyDescription(try Definition(parsing: Array(file.utf8), path: "lamp.json")).entities
        #expect(
            entities.map(\.id) == [
                "lux", "blink", "dim", "scene", "brightness", "mode", "blink_action", "other", "dim_action",
                "scene_action",
            ])
        let kinds = Dictionary(uniqueKeysWithValues: entities.map { ($0.id, "\($0.kind)") })
        #expect(kinds["lux"]?.hasPrefix(#"sensor(path: "light.lux""#) == true)
        #expect(
            kinds["blink"]?.hasPrefix(#"sensor(path: "blink""#) == true
                && kinds["blink_action"]?.hasPrefix("button") == true)
        #expect(
            kinds["brightness"]?.hasPrefix(
                #"number(path: Optional("brightness"), action: "brightness", range: ClosedRange(0.0...255.0)"#) == true)
        #expect(kinds["mode"] == #"choice(path: Optional("mode"), action: "mode", options: ["off", "on"])"#)
        #expect(kinds["other"] == #"choice(path: nil, action: "other", options: ["off", "on"])"#)
        // 200 is out of range, and 'fault' is no option. The greatest value of a number is a whole number of steps.
        #expect(
            kinds["dim_action"]
                == #"number(path: nil, action: "dim", range: ClosedRange(0.0...100.0), step: 0.392156, unit: nil)"#)
        #expect(kinds["scene_action"]?.hasPrefix("choice(path: nil") == true)
    }

    @Test func argumentsAreChecked() throws {
        #expect(try DefinedCall(definition, 1, ["12.5"]).encoded() == [25])
        #expect(try DefinedCall(definition, 3, ["255", "-1"]).encoded() == [255, 255])
        #expect(throws: CommandError.self) { try DefinedCall(definition, 1, ["100.5"]) }
        #expect(throws: CommandError.self) { try DefinedCall(definition, 1, ["nan"]) }
        #expect(throws: CommandError.self) { try DefinedCall(definition, 2, ["dark"]) }
        #expect(throws: CommandError.self) { try DefinedCall(definition, 0, ["1"]) }
    }

    @Test(arguments: [
        (#"{"show": "HELLO WORLD"}"#, "lamp.show \"HELLO WORLD\"", Array("HELLO WORLD".utf8)),
        (#"{"show": ["HELLO WORLD"]}"#, "lamp.show \"HELLO WORLD\"", Array("HELLO WORLD".utf8)),
        (#"{"show": ["LED1.set()\n"]}"#, #"lamp.show "LED1.set()\n""#, Array("LED1.set()\n".utf8)),
        (#"{"range": "all on"}"#, "lamp.range \"all on\"", [2]), (#"{"range": "2"}"#, "lamp.range 2", [0]),
        (#"{"range": 9}"#, "lamp.range 9", [9]), (#"{"both": "1 2"}"#, "lamp.both 1 2", [1, 2]),
        (#"{"two": [7, "a b"]}"#, "lamp.two 7 \"a b\"", [7] + Array("a b".utf8)),
    ])
    func messagesKeepTheirWords(_ payload: String, _ text: String, _ bytes: [UInt8]) throws {
        let json = try JSON(parsing: Array(payload.utf8))
        let call = try GatewayCommands.call(try #require(json.all.first), "lamp", StreamForm(definition).actions)
        #expect(call.text == text)
        #expect(try (call.call as? DefinedCall)?.encoded() == bytes)
    }

    @Test func aMistakeHasItsPlace() {
        do throws(DefinitionMistake) {
            _ = try Definition(parsing: Array("{\n \"name\": 7}".utf8), path: "x.json")
            Issue.record("accepted")
        } catch {
            #expect(error.sentence == "x.json:2:10: 'name' must be a name in quotes")
        }
    }
}
