// SPDX-License-Identifier: MIT
// What is known of a device: the newest members of the events that describe a lasting state, and the newest samples.
import TendonSupport

/// A device may send a message in parts, as a bike does. Those of an event that have no member in common stand beside each
/// other; another one takes the place of all that it has a member in common with.
package struct MessageParts: Equatable {
    /// By the event: the members of each part. There are never more of them than the event has members.
    private var parts: [String: [Set<String>]] = [:]

    package init() {}

    /// A new part. Returns the members of those whose place it takes.
    package mutating func replace(_ event: String, _ members: Set<String>) -> Set<String> {
        guard !members.isEmpty else { return [] }
        let (ended, others) = parts[event, default: []].reduce(into: ([Set<String>](), [Set<String>]())) {
            sorted, part in
            if part.isDisjoint(with: members) { sorted.1.append(part) } else { sorted.0.append(part) }
        }
        parts[event] = others + [members]
        return ended.reduce(into: []) { $0.formUnion($1) }
    }
}

package struct DeviceState {
    /// Empty before the device was connected.
    package private(set) var value: JSON = [:]
    package private(set) var hasSamples = false
    /// Of measurements.
    private(set) var parts = MessageParts()
    /// The newest sample of each sensor, as its line.
    private var samples: [String: [UInt8]] = [:]

    /// Samples of so many sensors are kept.
    private static let sensorLimit = 32
    /// Members of an event that are no state.
    private static let transient: Set<String> = [
        "time", "event", "family", "address", "address_type", "name", "sensor", "device_time_ms",
    ]
    /// Causes in our own events. In a measurement they are values: a device may have an error code.
    private static let causes: Set<String> = ["text", "error", "error_number"]

    /// Members that each value has: two parts of a message have no more in common for them.
    private static let times: Set<String> = ["received_at", "sampled_at", "error_ms"]

    /// Events whose members are an object of the state: they say nothing without each other.
    private static let objects: Set<String> = ["progress", "update"]

    package init() {}

    /// An event that describes a lasting state. `line`: as it was composed.
    /// False if it is no JSON.
    /// - Parameter isMeasurement: see `FamilyDescription.measures`.
    package mutating func take(_ event: String, _ line: ArraySlice<UInt8>, isMeasurement: Bool = false) -> Bool {
        guard let json = try? JSON(parsing: Array(line)) else { return false }
        var members: [JSON.Member] = []
        if case .object(let all) = json {
            let others = isMeasurement ? DeviceState.transient : DeviceState.transient.union(DeviceState.causes)
            members = all.filter { !others.contains($0.key) }
        }
        value["time"] = json["time"]
        // What an event calls only `state` is the state that the event is named after.
        func place(of member: JSON.Member) -> String { member.key == "state" ? event : member.key }
        if isMeasurement {
            let taken = parts.replace(event, Set(members.map(place)).subtracting(DeviceState.times))
            for member in taken { value[member] = nil }
        }
        if event == "feature", let number = json["feature"]?.integer {
            var features = value["features"] ?? [:]
            features["\(number)"] = .object(members.filter { $0.key != "feature" })
            value["features"] = features
        } else if DeviceState.objects.contains(event) {
            value[event] = .object(members)
            // Each step comes before a transfer, or after it.
            if event == "update" { value["progress"] = nil }
        } else {
            for member in members {
                let key = place(of: member)
                // Of a new connection, null is what the device did not report; else it is what there is none of.
                if member.value != .null { value[key] = member.value } else if event != "connected" { value[key] = nil }
            }
        }
        return true
    }

    /// A sample; it is looked into when the state is published.
    package mutating func take(sample line: ArraySlice<UInt8>, of sensor: String) {
        guard samples[sensor] != nil || samples.count < DeviceState.sensorLimit else { return }
        samples[sensor] = Array(line)
        hasSamples = true
    }

    /// The state with the newest samples, each in an object of the sensor's name.
    package mutating func complete() -> JSON {
        for (sensor, line) in samples {
            guard case .object(let all)? = try? JSON(parsing: line) else { continue }
            value["time"] = all.first { $0.key == "time" }?.value
            value[sensor] = .object(all.filter { !DeviceState.transient.contains($0.key) })
        }
        samples.removeAll(keepingCapacity: true)
        hasSamples = false
        return value
    }

    /// The text of `"sensor":"..."` in a line, without parsing all of it.
    package static func sensor(of line: ArraySlice<UInt8>) -> String? {
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
