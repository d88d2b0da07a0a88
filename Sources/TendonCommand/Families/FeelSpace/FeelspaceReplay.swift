// SPDX-License-Identifier: MIT
// feelSpace: values of a captured connection, decoded without taking part in it.
import CTendon
import Tendon
import TendonFeelSpace
import TendonSupport

struct FeelspaceReplay: FamilyReplay {
    private(set) var counters = StreamCounters()

    init() {}

    private static func number(_ characteristic: tendon_uuid) -> UInt32 {
        var uuid = characteristic
        var value: UInt16 = 0
        return tendon_uuid_as_u16(&uuid, &value) ? UInt32(value) : 0
    }

    static func recognizes(_ characteristic: tendon_uuid) -> Bool {
        [0xFE02, 0xFE03, 0xFE04, 0xFE05, 0xFE06, 0xFE0C].contains(number(characteristic))
    }

    /// The name is a parameter, whose first two bytes are its family and its number; 0x80: it is changed.
    static func nameRange(in value: ArraySlice<UInt8>, of characteristic: tendon_uuid) -> Range<Int> {
        let isParameter = [0xFE05, 0xFE06].contains(number(characteristic))
        guard isParameter, let family = value.first, let parameter = value.dropFirst().first, family == 1,
            UInt32(parameter & 0x7F) == TENDON_FEELSPACE_BASIC_NAME.rawValue
        else { return 0..<0 }
        return value.startIndex + 2..<value.endIndex
    }

    mutating func value(
        _ bytes: [UInt8], of characteristic: tendon_uuid, written: Bool, at milliseconds: UInt64, to lines: ReplayLines
    ) {
        let which = tendon_feelspace_characteristic(rawValue: FeelspaceReplay.number(characteristic))
        if written {
            guard which != TENDON_FEELSPACE_KEEP_ALIVE else { return }
            return lines.event("command") { line in
                line.member("characteristic", String(which.rawValue, radix: 16))
                line.member("bytes", hexText(bytes))
            }
        }
        let status: tendon_status
        switch which {
        case TENDON_FEELSPACE_KEEP_ALIVE:
            var value: UInt8 = 0
            status = tendon_feelspace_decode_keep_alive(bytes, bytes.count, &value, nil)
        case TENDON_FEELSPACE_BUTTON_PRESS: status = button(bytes, lines)
        case TENDON_FEELSPACE_BATTERY_STATUS: status = battery(bytes, lines)
        case TENDON_FEELSPACE_ORIENTATION_DATA: status = orientation(bytes, lines)
        case TENDON_FEELSPACE_PARAMETER_NOTIFICATION: status = parameter(bytes, lines)
        case TENDON_FEELSPACE_FIRMWARE_INFO: status = firmware(bytes, lines)
        default: return
        }
        if Int(status) == TENDON_ERROR_UNSUPPORTED {
            counters.skipped += 1
        } else if status < 0 {
            counters.malformed += 1
            lines.event("malformed") { line in
                line.member("error", word: tendon_feelspace_status_name(status))
                line.member("text", text(tendon_feelspace_status_text(status)))
                line.member("bytes", hexText(bytes))
            }
        }
    }

    private func button(_ bytes: [UInt8], _ lines: ReplayLines) -> tendon_status {
        var press = tendon_feelspace_press()
        let status = tendon_feelspace_decode_button(bytes, bytes.count, &press, nil)
        guard status >= 0 else { return status }
        lines.event("button") { line in line.members { tendon_feelspace_button_members($0, &press) } }
        return status
    }

    private func battery(_ bytes: [UInt8], _ lines: ReplayLines) -> tendon_status {
        var battery = tendon_feelspace_battery()
        let status = tendon_feelspace_decode_battery(bytes, bytes.count, &battery, nil)
        guard status >= 0 else { return status }
        lines.event("battery") { line in line.members { tendon_feelspace_battery_members($0, &battery) } }
        return status
    }

    private mutating func orientation(_ bytes: [UInt8], _ lines: ReplayLines) -> tendon_status {
        var value = tendon_feelspace_orientation()
        let status = tendon_feelspace_decode_orientation(bytes, bytes.count, &value, nil)
        guard status >= 0 else { return status }
        guard value.sensor_id == UInt8(TENDON_FEELSPACE_SENSOR_FUSION) else {
            return tendon_status(TENDON_ERROR_UNSUPPORTED)
        }
        counters.notifications += 1
        counters.samples += 1
        let orientation = FSBeltOrientation(value)
        lines.sample(numbers: { orientation.numbers }) { orientation.write(to: &$0) }
        return status
    }

    private func parameter(_ bytes: [UInt8], _ lines: ReplayLines) -> tendon_status {
        var value = tendon_feelspace_parameter()
        let status = bytes.withUnsafeBufferPointer {
            tendon_feelspace_decode_parameter($0.baseAddress, $0.count, &value, nil)
        }
        guard status >= 0 else { return status }
        switch value.kind {
        case TENDON_FEELSPACE_PARAMETER_MODE:
            lines.event("mode") { $0.member("mode", word: tendon_feelspace_mode_name(value.mode)) }
        case TENDON_FEELSPACE_PARAMETER_DEFAULT_INTENSITY:
            lines.event("default_intensity") { $0.member("intensity_percent", value.intensity) }
        case TENDON_FEELSPACE_PARAMETER_HEADING_OFFSET:
            lines.event("heading_offset") { $0.member("offset_deg", value.degrees) }
        default:
            lines.event("parameter") { line in
                line.member("parameter", word: tendon_feelspace_parameter_name(value.kind))
                line.member("bytes", hexText(bytes))
            }
        }
        return status
    }

    private func firmware(_ bytes: [UInt8], _ lines: ReplayLines) -> tendon_status {
        var value = tendon_feelspace_firmware()
        let status = tendon_feelspace_decode_firmware(bytes, bytes.count, &value, nil)
        guard status >= 0 else { return status }
        lines.event("firmware") { line in
            line.member("firmware", "\(value.version)")
            if value.has_variant { line.member("variant", value.variant) }
        }
        return status
    }
}
