// SPDX-License-Identifier: MIT
// The discovery payload, key by key: https://www.home-assistant.io/integrations/mqtt/#mqtt-discovery and the pages of the
// platforms.
import TendonOutputs
import TendonSupport
import Testing

@testable import TendonMQTT

@Suite struct HomeAssistantTests {
    private let home = HomeAssistant(topics: Topics(base: "t", gateway: "gw"), version: "1.2")

    private func device(name: String = "left", localName: String? = nil) -> Device {
        Device(
            OutputDevice(family: "f", address: "C0:0A", addressType: "random", name: localName, isNamed: false),
            name: name)
    }

    private func component(_ kind: Entity.Kind, isDiagnostic: Bool = false) -> String? {
        let family = FamilyDescription(
            family: "f", manufacturer: "M", model: "N", entities: [Entity("e", "E", kind, isDiagnostic: isDiagnostic)])
        return home.payload(device(), family)["components"]?["e"].map { LineWriter.text($0) }
    }

    private let head = #"{"unique_id":"tendon_c00a_random_e","name":"E","#

    @Test func sensors() {
        #expect(
            component(.sensor(path: "battery_percent", unit: "%", deviceClass: "battery"), isDiagnostic: true)
                == head
                + #""entity_category":"diagnostic","platform":"sensor","state_topic":"t/left","value_template":"#
                + #""{% set it = (value_json['battery_percent'] | default('')) %}{{ it if it is number else 'None' }}","#
                + #""unit_of_measurement":"%","#
                + #""state_class":"measurement","device_class":"battery"}"#)
        // A number without a unit has a curve all the same.
        #expect(
            component(.sensor(path: "turns", isNumber: true))
                == head + #""platform":"sensor","state_topic":"t/left","value_template":"#
                + #""{% set it = (value_json['turns'] | default('')) %}{{ it if it is number else 'None' }}","#
                + #""state_class":"measurement"}"#)
        // A text has neither unit nor class.
        #expect(
            component(.sensor(path: "force.kind"))
                == head + #""platform":"sensor","state_topic":"t/left","value_template":"#
                + #""{{ ((value_json['force'] | default({}))['kind'] | default('')) }}"}"#)
    }

    @Test func whatIsYesOrNo() {
        #expect(
            component(.binary(path: "squeeze", on: "Squeezed", deviceClass: "motion"))
                == head + #""platform":"binary_sensor","state_topic":"t/left","value_template":"{% set it = "#
                + #"(value_json['squeeze'] | default(none)) %}{{ 'None' if it is none else 'ON' if it | string | lower "#
                + #"== 'squeezed' else 'OFF' }}","#
                + #""device_class":"motion"}"#)
    }

    @Test func events() {
        #expect(
            component(.happening(event: "gesture", member: "gesture", types: ["tap", "nod"], deviceClass: "button"))
                == head + #""platform":"event","state_topic":"t/left/event","event_types":["tap","nod"],"#
                + #""device_class":"button","value_template":"{% if value_json.event == 'gesture' %}{{ "#
                + #"{'event_type': value_json.gesture, 'message_id': value_json.message_id} | tojson }}{% endif %}"}"#)
        #expect(
            component(.happening(event: "press", member: nil, types: ["pressed"]))?.contains(
                "{'event_type': 'pressed', 'message_id'") == true)
    }

    @Test func commands() {
        #expect(
            component(.button(payload: #"{"stop":true}"#))
                == head + #""platform":"button","command_topic":"t/left/set","payload_press":"{\"stop\":true}"}"#)
        #expect(
            component(.choice(path: "mode", action: "mode", options: ["wait", "compass"]))
                == head + #""platform":"select","state_topic":"t/left","value_template":"#
                + #""{% set it = (value_json['mode'] | default('')) %}{{ it if it in [\"wait\",\"compass\"] else 'None' }}","#
                + #""command_topic":"t/left/set","#
                + #""command_template":"{{ {'mode': value} | tojson }}","options":["wait","compass"]}"#)
        // What the device does not report is what was last chosen.
        #expect(
            component(.choice(path: nil, action: "baud", options: ["slow"]))
                == head + #""platform":"select","command_topic":"t/left/set","#
                + #""command_template":"{{ {'baud': value} | tojson }}","options":["slow"]}"#)
        #expect(
            component(.number(path: "intensity", action: "intensity", range: 5...100, unit: "%"))
                == head + #""platform":"number","state_topic":"t/left","value_template":"#
                + #""{{ (value_json['intensity'] | default('None')) }}","command_topic":"t/left/set","#
                + #""command_template":"{{ {'intensity': value} | tojson }}","min":5,"max":100,"#
                + #""unit_of_measurement":"%"}"#)
        #expect(
            component(.number(path: nil, action: "dim", range: -0.5...100, step: 0.1, unit: "%"))
                == head + #""platform":"number","command_topic":"t/left/set","#
                + #""command_template":"{{ {'dim': value} | tojson }}","min":-0.5,"max":100,"step":0.1,"#
                + #""unit_of_measurement":"%"}"#)
        // Without a state Home Assistant assumes that it was done.
        #expect(
            component(.number(path: nil, action: "vibrate", range: 0...359, unit: nil))
                == head + #""platform":"number","command_topic":"t/left/set","#
                + #""command_template":"{{ {'vibrate': value} | tojson }}","min":0,"max":359}"#)
        #expect(
            component(.text(action: "show", length: 1...20))
                == head + #""platform":"text","command_topic":"t/left/set","#
                + #""command_template":"{{ {'show': value} | tojson }}","min":1,"max":20}"#)
        #expect(
            component(.text(action: "key", length: 0...8, pattern: "^([0-9a-fA-F]{2}){4,4}$"))
                == head + #""platform":"text","command_topic":"t/left/set","command_template":"#
                + #""{{ {'key': value} | tojson }}","min":0,"max":8,"pattern":"^([0-9a-fA-F]{2}){4,4}$"}"#)
    }

    /// In brackets, because `update` after a dot is a method of Python's dictionaries.
    @Test func firmware() {
        #expect(
            component(.firmware(installed: "firmware", latest: "newest.version", install: #"{"firmware":"upgrade"}"#))
                == head + #""platform":"update","device_class":"firmware","state_topic":"t/left","#
                + #""command_topic":"t/left/set","payload_install":"{\"firmware\":\"upgrade\"}","value_template":""#
                + #"{% set busy = ((value_json['update'] | default({}))['step'] | default('')) == 'firmware' and "#
                + #"((value_json['update'] | default({}))['status'] | default('')) in ['PREPARING', 'RESETTING'] %}"#
                + #"{% set sends = busy and ((value_json['progress'] | default({}))['what'] | default('')) == 'transfer' %}"#
                + #"{{ {'installed_version': (value_json['firmware'] | default('')), 'latest_version': "#
                + #"((value_json['newest'] | default({}))['version'] | default('')) or "#
                + #"(value_json['firmware'] | default('')), 'in_progress': busy, 'update_percentage': "#
                + #"((value_json['progress'] | default({}))['percent'] | default('')) if sends else none} "#
                + #"| tojson }}"}"#)
    }

    @Test func aboutTheDevice() throws {
        let family = FamilyDescription(family: "f", manufacturer: "M", model: "N")
        var device = device()
        #expect(HomeAssistant.topic("homeassistant", device) == "homeassistant/device/tendon_c00a_random/config")
        #expect(
            LineWriter.text(home.payload(device, family))
                == #"{"device":{"identifiers":["tendon_c00a_random"],"manufacturer":"M","model":"N","name":"left","#
                + #""connections":[["bluetooth","c0:0a"]]},"origin":{"name":"tendon","sw_version":"1.2"},"#
                + #""availability":[{"topic":"t/left/availability","value_template":"{{ value_json.state }}"},"#
                + #"{"topic":"t/bridge/gw/state","value_template":"{{ value_json.state }}"}],"#
                + #""availability_mode":"all","qos":1,"components":{}}"#)
        device.take("connected", Array(#"{"firmware":"1.0","serial":"S7"}"#.utf8)[...])
        let about = home.payload(device, family)["device"]
        #expect(about?["sw_version"] == "1.0" && about?["serial_number"] == "S7")
    }

    /// Home Assistant keeps an entity until its description has nothing but the platform.
    @Test func anEntityThatIsNoLongerDescribedIsRemoved() throws {
        let family = FamilyDescription(
            family: "f", manufacturer: "M", model: "N", entities: [Entity("new", "E", .button(payload: "{}"))])
        var device = device()
        device.entities = ["old": "sensor", "new": "button"]
        let components = home.payload(device, family)["components"]
        #expect(components?["old"] == ["platform": "sensor"])
        #expect(components?["new"]?["payload_press"] == "{}")
        // The next version of the program knows of both.
        #expect(Device(note: device.note.text)?.entities == device.entities)
    }

    /// The user's name, else the device's own, else the model and the address.
    @Test(
        arguments: [
            ("left", "Frames", "left"), ("C0:0A", "Frames", "Frames"), ("C0:0A", nil, "N C0:0A"),
            ("C0:0A-random", "Frames", "Frames"), ("C0:0A-public", "Frames", "C0:0A-public"),
        ] as [(String, String?, String)])
    func namesOfDevices(name: String, localName: String?, shown: String) {
        let family = FamilyDescription(family: "f", manufacturer: "M", model: "N")
        #expect(home.payload(device(name: name, localName: localName), family)["device"]?["name"] == .string(shown))
    }
}
