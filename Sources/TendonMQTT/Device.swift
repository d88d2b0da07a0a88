// SPDX-License-Identifier: MIT
// One device as MQTT shows it: its topic, its state, its streams.
import TendonOutputs
import TendonSupport

/// On the worker's thread only.
struct Device {
    var device: OutputDevice
    /// Its level in the topics.
    var name: String
    var isAvailable = false
    /// When it came or went last; 0: before this program began.
    var seenAt: UInt64 = 0
    private var known = DeviceState()
    /// The state differs from what was published: by an event, or by samples only.
    var isChanged = false
    var hasSamples: Bool { known.hasSamples }
    /// Empty before it was connected.
    var state: JSON { known.value }
    var publishedAt: UInt64 = 0
    var streams: [String: Stream] = [:]
    /// Platforms of the entities that Home Assistant has received, now or by an earlier version of this program, by the entity's name.
    var entities: [String: String] = [:]

    struct Stream {
        var sentAt: UInt64 = 0
        /// Lines that wait, with commas.
        var batch: [UInt8] = []
        var count = 0
    }

    init(_ device: OutputDevice, name: String) {
        self.device = device
        self.name = name
    }

    var key: String { device.key }
    /// Another device had the name that it was given.
    var lacksName: Bool { device.isNamed && name != device.name }

    /// Address and type of a key.
    static func parts(of key: String) -> (address: String, type: String)? {
        let parts = key.split(separator: "/")
        return parts.count == 2 ? (String(parts[0]), String(parts[1])) : nil
    }

    /// Of Home Assistant's discovery: small letters, digits and underscores. With the type: two devices can have the same 48 bits.
    var identifier: String { device.address.filter { $0 != ":" }.lowercased() + "_" + device.addressType }

    /// The levels that a device without a name of the user has: the second one if another device has the first.
    static func standardNames(_ device: OutputDevice) -> [String] {
        [device.address, device.address + "-" + device.addressType]
    }

    /// The user gave the name, here or in the configuration.
    var hasGivenName: Bool { !Device.standardNames(device).contains(name) }

    mutating func take(_ event: String, _ line: ArraySlice<UInt8>, isMeasurement: Bool = false) {
        guard known.take(event, line, isMeasurement: isMeasurement) else { return }
        isChanged = true
    }

    mutating func take(sample line: ArraySlice<UInt8>, of sensor: String) { known.take(sample: line, of: sensor) }

    /// The state with the newest samples.
    mutating func completeState() -> JSON {
        isChanged = false
        return known.complete()
    }
}

extension Device {
    var description: JSON {
        let description: JSON = [
            "family": .string(device.family), "address": .string(device.address),
            "address_type": .string(device.addressType), "topic": .string(name),
        ]
        return description.merging(device.name.map { ["name": .string($0)] } ?? [:])
    }

    /// What is kept of a device from one run to the next: that it was there, the name that it got, and its entities.
    var note: JSON {
        var note = description
        note["entities"] = .object(
            entities.sorted { $0.key < $1.key }.map { JSON.Member(key: $0.key, value: .string($0.value)) })
        return note
    }

    init?(note: String) {
        guard let json = try? JSON(parsing: Array(note.utf8)), let family = json["family"]?.string,
            let address = json["address"]?.string, let type = json["address_type"]?.string,
            let name = json["topic"]?.string, Topics.isName(name)
        else { return nil }
        self.init(
            OutputDevice(family: family, address: address, addressType: type, name: json["name"]?.string), name: name)
        for entity in json["entities"]?.all ?? [] { entities[entity.key] = entity.value.string }
    }
}
