// SPDX-License-Identifier: MIT
// Home Assistant's discovery: one retained message per device, made from the description of its family.
// https://www.home-assistant.io/integrations/mqtt/#mqtt-discovery (device discovery payload)
import TendonOutputs
import TendonSupport

extension Worker {
    func publishDiscovery(_ device: Device, _ now: UInt64) {
        guard isConnected, let discovery = settings.discovery, let family = families[device.device.family] else {
            return
        }
        let home = HomeAssistant(topics: topics, version: version)
        let isAlone = !devices.values.contains {
            $0.device.address == device.device.address && $0.key != device.key
        }
        let payload = home.payload(device, family, isAlone: isAlone)
        announce(HomeAssistant.topic(discovery, device), Array(LineWriter.text(payload).utf8), now)
        keepEntities(of: payload, device.key, now)
    }

    /// Home Assistant keeps an entity that is no longer described: a later version of this program has to end it by name.
    private func keepEntities(of payload: JSON, _ key: String, _ now: UInt64) {
        guard let device = devices[key] else { return }
        var entities = device.entities
        for component in payload["components"]?.all ?? [] {
            entities[component.key] = component.value["platform"]?.string
        }
        guard entities != device.entities else { return }
        devices[key]?.entities = entities
        note(devices[key]!, now)
    }
}

struct HomeAssistant {
    let topics: Topics
    let version: String

    static func isTopic(_ topic: String, of discovery: String) -> Bool {
        topic.hasPrefix("\(discovery)/device/tendon_")
    }

    /// Where Home Assistant says that it has started: below its prefix, if that is set there as well, else where it does by
    /// default, whatever the prefix is.
    static func births(_ discovery: String?) -> [String] {
        guard let discovery else { return [] }
        let standard = "homeassistant/status"
        return discovery == "homeassistant" ? [standard] : ["\(discovery)/status", standard]
    }

    /// Gateways that serve one device describe it in the same topic.
    static func topic(_ discovery: String, _ device: Device) -> String {
        "\(discovery)/device/tendon_\(device.identifier)/config"
    }

    /// - Parameter isAlone: no other device has the 48 bits of its address.
    func payload(_ device: Device, _ family: FamilyDescription, isAlone: Bool = true) -> JSON {
        let identifier = "tendon_\(device.identifier)"
        var about: JSON = ["identifiers": [.string(identifier)]]
        if !family.manufacturer.isEmpty { about["manufacturer"] = .string(family.manufacturer) }
        about["model"] = .string(family.model)
        about["name"] = .string(
            device.hasGivenName ? device.name : device.device.name ?? "\(family.model) \(device.device.address)")
        // Home Assistant takes two devices with one of these for the same.
        if isAlone { about["connections"] = [["bluetooth", .string(device.device.address.lowercased())]] }
        if let firmware = device.state["firmware"]?.string { about["sw_version"] = .string(firmware) }
        if let serial = device.state["serial"]?.string { about["serial_number"] = .string(serial) }
        var components: JSON = [:]
        for entity in family.entities {
            components[entity.id] = component(entity, device, identifier)
        }
        // With its platform alone, an entity is removed.
        for (id, platform) in device.entities.sorted(by: { $0.key < $1.key }) where components[id] == nil {
            components[id] = ["platform": .string(platform)]
        }
        return [
            "device": about,
            "origin": ["name": "tendon", "sw_version": .string(version)],
            "availability": [
                ["topic": .string(topics.availability(device.name)), "value_template": "{{ value_json.state }}"],
                ["topic": .string(topics.bridgeState), "value_template": "{{ value_json.state }}"],
            ],
            "availability_mode": "all", "qos": 1, "components": components,
        ]
    }

    private func component(_ entity: Entity, _ device: Device, _ identifier: String) -> JSON {
        var json: JSON = [
            "unique_id": .string("\(identifier)_\(entity.id)"), "name": .string(entity.title),
        ]
        if entity.isDiagnostic { json["entity_category"] = "diagnostic" }
        let state = JSON.string(topics.state(device.name))
        let set = JSON.string("\(topics.state(device.name))/set")
        func value(_ path: String, unknown: String) -> JSON {
            .string("{{ \(HomeAssistant.expression(path, unknown: unknown)) }}")
        }
        switch entity.kind {
        case .sensor(let path, let unit, let deviceClass, let isNumber):
            json["platform"] = "sensor"
            json["state_topic"] = state
            if unit != nil || isNumber {
                // A device may have words for some numbers: Home Assistant takes none.
                json["value_template"] = HomeAssistant.template(path, if: "it is number")
                json["unit_of_measurement"] = unit.map { .string($0) }
                json["state_class"] = "measurement"
            } else {
                json["value_template"] = value(path, unknown: deviceClass == nil ? "''" : HomeAssistant.unknown)
            }
            json["device_class"] = deviceClass.map { .string($0) }
        case .binary(let path, let on, let deviceClass):
            json["platform"] = "binary_sensor"
            json["state_topic"] = state
            json["value_template"] = .string(
                "{% set it = \(HomeAssistant.expression(path, unknown: "none")) %}{{ \(HomeAssistant.unknown) if it is none "
                    + "else 'ON' if it | string | lower == '\(on.lowercased())' else 'OFF' }}")
            json["device_class"] = deviceClass.map { .string($0) }
        case .happening(let event, let member, let types, let deviceClass):
            json["platform"] = "event"
            json["state_topic"] = .string(topics.event(device.name))
            json["event_types"] = .array(types.map { .string($0) })
            json["device_class"] = deviceClass.map { .string($0) }
            // What is not of this entity becomes an empty text, which Home Assistant ignores.
            let type = member.map { "value_json.\($0)" } ?? "'\(types.first ?? event)'"
            json["value_template"] = .string(
                "{% if value_json.event == '\(event)' %}{{ {'event_type': \(type), 'message_id': value_json.message_id} | tojson }}"
                    + "{% endif %}")
        case .button(let payload):
            json["platform"] = "button"
            json["command_topic"] = set
            json["payload_press"] = .string(payload)
        case .choice(let path, let action, let options):
            json["platform"] = "select"
            if let path {
                // A device may be in a state that no option has.
                let words = LineWriter.text(.array(options.map { .string($0) }))
                json["state_topic"] = state
                json["value_template"] = HomeAssistant.template(path, if: "it in \(words)")
            }
            json["command_topic"] = set
            json["command_template"] = .string("{{ {'\(action)': value} | tojson }}")
            json["options"] = .array(options.map { .string($0) })
        case .number(let path, let action, let range, let step, let unit):
            json["platform"] = "number"
            if let path {
                json["state_topic"] = state
                json["value_template"] = value(path, unknown: HomeAssistant.unknown)
            }
            json["command_topic"] = set
            json["command_template"] = .string("{{ {'\(action)': value} | tojson }}")
            json["min"] = JSON(figure: range.lowerBound)
            json["max"] = JSON(figure: range.upperBound)
            if step != 1 { json["step"] = JSON(figure: step) }
            json["unit_of_measurement"] = unit.map { .string($0) }
        case .text(let action, let length, let pattern):
            json["platform"] = "text"
            json["command_topic"] = set
            json["command_template"] = .string("{{ {'\(action)': value} | tojson }}")
            json["min"] = JSON(length.lowerBound)
            json["max"] = JSON(length.upperBound)
            json["pattern"] = pattern.map { .string($0) }
        case .firmware(let installed, let latest, let install):
            json["platform"] = "update"
            json["device_class"] = "firmware"
            json["state_topic"] = state
            json["command_topic"] = set
            json["payload_install"] = .string(install)
            json["value_template"] = .string(HomeAssistant.upgrade(installed: installed, latest: latest))
        }
        return json
    }

    /// The versions, and how far an upgrade is. The percentage is that of the transfer to the device; null: the image is
    /// downloaded, or the device restarts.
    private static func upgrade(installed: String, latest: String) -> String {
        let (installed, latest) = (expression(installed), expression(latest))
        return "{% set busy = \(expression("update.step")) == 'firmware'"
            + " and \(expression("update.status")) in ['PREPARING', 'RESETTING'] %}"
            + "{% set sends = busy and \(expression("progress.what")) == 'transfer' %}"
            + "{{ {'installed_version': \(installed), 'latest_version': \(latest) or \(installed), 'in_progress': busy, "
            + "'update_percentage': \(expression("progress.percent")) if sends else none} | tojson }}"
    }

    /// What a number, a flag and a choice have while it is not known. An empty text leaves the value of before.
    private static let unknown = "'None'"

    /// The value, as long as it is one that Home Assistant takes.
    private static func template(_ path: String, if condition: String) -> JSON {
        .string("{% set it = \(expression(path)) %}{{ it if \(condition) else \(unknown) }}")
    }

    /// A member that is not there, or not there yet, is no error of the template. In brackets: after a dot, `update` would
    /// be the method of Python's dictionaries.
    private static func expression(_ path: String, unknown: String = "''") -> String {
        let levels = path.split(separator: ".")
        let inner = levels.dropLast().reduce("value_json") { "(\($0)['\($1)'] | default({}))" }
        return "(\(inner)['\(levels.last ?? "")'] | default(\(unknown)))"
    }
}
