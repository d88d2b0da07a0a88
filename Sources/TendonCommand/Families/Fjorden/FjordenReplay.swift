// SPDX-License-Identifier: MIT
// Fjorden: values of a captured connection, decoded without taking part in it.
import CTendon
import Tendon
import TendonFjorden
import TendonSupport

struct FjordenReplay: FamilyReplay {
    private(set) var counters = StreamCounters()
    private let profile = CBlock<tendon_fjorden_profile>()
    private var stream = tendon_fjorden_stream()

    init() {
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

    mutating func value(
        _ bytes: [UInt8], of characteristic: tendon_uuid, written: Bool, at milliseconds: UInt64, to lines: ReplayLines
    ) {
        let status: tendon_status
        if FjordenReplay.isBattery(characteristic) {
            status = battery(bytes, lines)
        } else {
            switch FjordenReplay.which(characteristic) {
            case .event: status = events(bytes, lines)
            case .state: status = state(bytes, lines)
            case .control:
                status = 0
                if written {
                    lines.event("command") { $0.member("bytes", hexText(bytes)) }
                } else {
                    lines.event("response") { $0.member("bytes", hexText(bytes)) }
                }
            case nil: return
            }
        }
        if status < 0 { malformed(status, lines) }
    }

    private mutating func malformed(_ status: tendon_status, _ lines: ReplayLines) {
        counters.malformed += 1
        lines.event("malformed") { line in
            line.member("error", word: tendon_fjorden_status_name(status))
            line.member("text", text(tendon_fjorden_status_text(status)))
        }
    }

    private mutating func events(_ bytes: [UInt8], _ lines: ReplayLines) -> tendon_status {
        var records: [tendon_fjorden_record] = []
        let skippedBefore = stream.duplicates + stream.out_of_order
        let status = bytes.withUnsafeBufferPointer { bytes in
            var walk = tendon_fjorden_records()
            let status = tendon_fjorden_stream_begin(&stream, &walk, profile.pointer, bytes.baseAddress, bytes.count)
            var record = tendon_fjorden_record()
            while status >= 0, tendon_fjorden_stream_next(&stream, &walk, &record) { records.append(record) }
            return status
        }
        guard status >= 0 else { return status }
        counters.notifications += 1
        counters.skipped += stream.duplicates + stream.out_of_order - skippedBefore
        for record in records {
            guard record.status >= 0 else {
                malformed(record.status, lines)
                continue
            }
            counters.samples += 1
            lines.event("grip") { GripRecord(record, isSynthesized: false).write(to: &$0) }
        }
        return 0
    }

    private func state(_ bytes: [UInt8], _ lines: ReplayLines) -> tendon_status {
        var state = tendon_fjorden_control_state()
        let status = tendon_fjorden_decode_control_state(bytes, bytes.count, &state)
        guard status >= 0 else { return status }
        lines.event("control_state") { line in
            line.member("shutter", ["released", "half", "full"][min(Int(state.shutter), 2)])
            line.member("dial_pressed", state.dial_pressed)
            line.member("fn_pressed", state.fn_pressed)
            line.member("lever", state.lever < 0 ? "left" : state.lever > 0 ? "right" : "neutral")
            line.member("dial_position", state.dial_position)
        }
        return status
    }

    private func battery(_ bytes: [UInt8], _ lines: ReplayLines) -> tendon_status {
        let level = tendon_fjorden_decode_battery(bytes, bytes.count)
        guard level >= 0 else { return level }
        lines.event("battery") { line in
            line.member("battery_percent", level)
            line.member("battery_low", level < tendon_status(TENDON_FJORDEN_BATTERY_LOW_BELOW))
        }
        return level
    }
}
