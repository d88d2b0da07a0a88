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
    /// What is known of it; empty before it was connected.
    private(set) var state: JSON = [:]
    /// The state differs from what was published: by an event, or by samples only.
    var isChanged = false
    private(set) var hasSamples = false
    var publishedAt: UInt64 = 0
    /// The newest sample of each sensor, as its line.
    private var samples: [String: [UInt8]] = [:]
    var streams: [String: Stream] = [:]

    struct Stream {
        var sentAt: UInt64 = 0
        /// Lines that wait, with commas.
        var batch: [UInt8] = []
        var count = 0
    }

    /// Samples of so many sensors are kept.
    private static let sensorLimit = 32
    /// Members of an event that are no state.
    private static let transient: Set<String> = [
        "time", "event", "family", "address", "address_type", "name", "sensor", "device_time_ms", "text", "error",
        "error_number",
    ]

    init(_ device: OutputDevice, name: String) {
        self.device = device
        self.name = name
    }

    var key: String { device.key }

    /// For identifiers: small letters and digits.
    var identifier: String { device.address.filter { $0 != ":" }.lowercased() }

    /// An event that describes a lasting state. `line`: as it was composed.
    mutating func take(_ event: String, _ line: ArraySlice<UInt8>) {
        guard let json = try? JSON(parsing: Array(line)) else { return }
        var members: [JSON.Member] = []
        if case .object(let all) = json { members = all.filter { !Device.transient.contains($0.key) } }
        state["time"] = json["time"]
        if event == "feature", let number = json["feature"]?.integer {
            var features = state["features"] ?? [:]
            features["\(number)"] = .object(members.filter { $0.key != "feature" })
            state["features"] = features
        } else {
            // What an event calls only `state` is the state that the event is named after.
            for member in members where member.value != .null {
                state[member.key == "state" ? event : member.key] = member.value
            }
        }
        isChanged = true
    }

    /// A sample; it is looked into when the state is published.
    mutating func take(sample line: ArraySlice<UInt8>, of sensor: String) {
        guard samples[sensor] != nil || samples.count < Device.sensorLimit else { return }
        samples[sensor] = Array(line)
        hasSamples = true
    }

    /// The state with the newest samples, each in an object of the sensor's name.
    mutating func completeState() -> JSON {
        for (sensor, line) in samples {
            guard case .object(let all)? = try? JSON(parsing: line) else { continue }
            state["time"] = all.first { $0.key == "time" }?.value
            state[sensor] = .object(all.filter { !Device.transient.contains($0.key) })
        }
        samples.removeAll(keepingCapacity: true)
        (hasSamples, isChanged) = (false, false)
        return state
    }

    /// The text of `"sensor":"..."` in a line, without parsing all of it.
    static func sensor(of line: ArraySlice<UInt8>) -> String? {
        line.withUnsafeBufferPointer { bytes in
            mark.withUTF8Buffer { mark in
                var start = 0
                while start + mark.count < bytes.count {
                    if bytes[start] == mark[0], bytes[start..<start + mark.count].elementsEqual(mark) {
                        let rest = bytes[(start + mark.count)...]
                        return rest.firstIndex(of: UInt8(ascii: "\"")).map {
                            String(decoding: rest[..<$0], as: UTF8.self)
                        }
                    }
                    start += 1
                }
                return nil
            }
        }
    }

    private static let mark: StaticString = #""sensor":""#
}

/// What is kept of a device from one run to the next: that it was there, and the name that it got.
extension Device {
    var note: JSON {
        [
            "family": .string(device.family), "address": .string(device.address),
            "address_type": .string(device.addressType), "topic": .string(name),
            "name": device.name.map { .string($0) } ?? .null,
        ]
    }

    init?(note: String) {
        guard let json = try? JSON(parsing: Array(note.utf8)), let family = json["family"]?.string,
            let address = json["address"]?.string, let type = json["address_type"]?.string,
            let name = json["topic"]?.string, Topics.isName(name)
        else { return nil }
        self.init(
            OutputDevice(family: family, address: address, addressType: type, name: json["name"]?.string), name: name)
    }
}
