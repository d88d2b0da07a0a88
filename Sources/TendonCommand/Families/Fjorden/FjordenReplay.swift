// SPDX-License-Identifier: MIT
// Fjorden: values of a captured connection, decoded without taking part in it.
import CTendon
import Tendon
import TendonFjorden
import TendonSupport

struct FjordenReplay: FamilyReplay {
    let address: String
    private(set) var counters = StreamCounters()
    private let profile = CBlock<tendon_fjorden_profile>()
    private var stream = tendon_fjorden_stream()

    init(address: String) {
        self.address = address
        tendon_fjorden_profile_init(profile.pointer)
    }

    private enum Which {
        case event, state, control
    }

    private static func which(_ uuid: tendon_uuid) -> Which? {
        var profile = tendon_fjorden_profile()
        tendon_fjorden_profile_init(&profile)
        func isEqual(_ other: tendon_uuid) -> Bool {
            var (one, other) = (uuid, other)
            return tendon_uuid_equal(&one, &other)
        }
        if isEqual(profile.event) { return .event }
        if isEqual(profile.state) { return .state }
        return isEqual(profile.control) ? .control : nil
    }

    static func recognizes(_ characteristic: tendon_uuid) -> Bool { which(characteristic) != nil }

    private static func isBattery(_ uuid: tendon_uuid) -> Bool {
        var uuid = uuid
        var number: UInt16 = 0
        return tendon_uuid_as_u16(&uuid, &number) && number == 0x2A19
    }

    private func line(_ name: String, _ members: JSON) -> JSON {
        var line: JSON = ["event": .string(name), "family": "fjorden", "address": .string(address)]
        if case .object(let all) = members { for member in all { line[member.key] = member.value } }
        return line
    }

    mutating func value(_ bytes: [UInt8], of characteristic: tendon_uuid, written: Bool, at milliseconds: UInt64)
        -> [JSON]
    {
        if FjordenReplay.isBattery(characteristic) { return battery(bytes) }
        switch FjordenReplay.which(characteristic) {
        case .event: return events(bytes)
        case .state: return state(bytes)
        case .control: return [line(written ? "command" : "response", ["bytes": .string(hexText(bytes))])]
        case nil: return []
        }
    }

    private mutating func malformed(_ status: tendon_status) -> [JSON] {
        counters.malformed += 1
        return [line("malformed", ["error": .string(text(tendon_fjorden_status_name(status)))])]
    }

    private mutating func events(_ bytes: [UInt8]) -> [JSON] {
        var records: [tendon_fjorden_record] = []
        let skippedBefore = stream.duplicates + stream.out_of_order
        let status = bytes.withUnsafeBufferPointer { bytes in
            var walk = tendon_fjorden_records()
            let status = tendon_fjorden_stream_begin(&stream, &walk, profile.pointer, bytes.baseAddress, bytes.count)
            var record = tendon_fjorden_record()
            while status >= 0, tendon_fjorden_stream_next(&stream, &walk, &record) { records.append(record) }
            return status
        }
        guard status >= 0 else { return malformed(status) }
        counters.notifications += 1
        counters.skipped += stream.duplicates + stream.out_of_order - skippedBefore
        var lines: [JSON] = []
        for record in records {
            guard record.status >= 0 else {
                lines += malformed(record.status)
                continue
            }
            counters.samples += 1
            lines.append(line("grip", GripRecord(record, isSynthesized: false).json))
        }
        return lines
    }

    private mutating func state(_ bytes: [UInt8]) -> [JSON] {
        var state = tendon_fjorden_control_state()
        let status = tendon_fjorden_decode_control_state(bytes, bytes.count, &state)
        guard status >= 0 else { return malformed(status) }
        return [
            line(
                "control_state",
                [
                    "shutter": .string(["released", "half", "full"][min(Int(state.shutter), 2)]),
                    "dial_pressed": .bool(state.dial_pressed), "fn_pressed": .bool(state.fn_pressed),
                    "lever": .string(state.lever < 0 ? "left" : state.lever > 0 ? "right" : "neutral"),
                    "dial_position": JSON(state.dial_position),
                ])
        ]
    }

    private mutating func battery(_ bytes: [UInt8]) -> [JSON] {
        let level = tendon_fjorden_decode_battery(bytes, bytes.count)
        guard level >= 0 else { return malformed(level) }
        let isLow = level < tendon_status(TENDON_FJORDEN_BATTERY_LOW_BELOW)
        return [line("battery", ["level": JSON(level), "low": .bool(isLow)])]
    }
}
