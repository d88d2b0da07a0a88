// SPDX-License-Identifier: MIT
// feelSpace: values of a captured connection, decoded without taking part in it.
import CTendon
import Tendon
import TendonSupport

struct FeelspaceReplay: FamilyReplay {
    let address: String
    private(set) var counters = StreamCounters()

    init(address: String) {
        self.address = address
    }

    private static func number(_ characteristic: tendon_uuid) -> UInt32 {
        var uuid = characteristic
        var value: UInt16 = 0
        return tendon_uuid_as_u16(&uuid, &value) ? UInt32(value) : 0
    }

    static func recognizes(_ characteristic: tendon_uuid) -> Bool {
        [0xFE02, 0xFE03, 0xFE04, 0xFE05, 0xFE06, 0xFE0C].contains(number(characteristic))
    }

    private func line(_ name: String, _ members: JSON) -> JSON {
        var line: JSON = ["event": .string(name), "family": "feelspace", "address": .string(address)]
        if case .object(let all) = members { for member in all { line[member.key] = member.value } }
        return line
    }

    private func mode(_ mode: UInt8) -> JSON { .string(text(tendon_feelspace_mode_name(mode))) }

    mutating func value(_ bytes: [UInt8], of characteristic: tendon_uuid, written: Bool, at milliseconds: UInt64)
        -> [JSON]
    {
        let which = tendon_feelspace_characteristic(rawValue: FeelspaceReplay.number(characteristic))
        if written {
            guard which != TENDON_FEELSPACE_KEEP_ALIVE else { return [] }
            let name = String(which.rawValue, radix: 16)
            return [line("command", ["characteristic": .string(name), "bytes": .string(hexText(bytes))])]
        }
        switch which {
        case TENDON_FEELSPACE_KEEP_ALIVE: return keepAlive(bytes)
        case TENDON_FEELSPACE_BUTTON_PRESS: return button(bytes)
        case TENDON_FEELSPACE_BATTERY_STATUS: return battery(bytes)
        case TENDON_FEELSPACE_ORIENTATION_DATA: return orientation(bytes)
        case TENDON_FEELSPACE_PARAMETER_NOTIFICATION: return parameter(bytes)
        case TENDON_FEELSPACE_FIRMWARE_INFO: return firmware(bytes)
        default: return []
        }
    }

    private mutating func malformed(_ status: tendon_status) -> [JSON] {
        counters.malformed += 1
        return [line("malformed", ["error": .string(text(tendon_feelspace_status_name(status)))])]
    }

    private mutating func keepAlive(_ bytes: [UInt8]) -> [JSON] {
        var value: UInt8 = 0
        let status = tendon_feelspace_decode_keep_alive(bytes, bytes.count, &value, nil)
        return status < 0 ? malformed(status) : []
    }

    private mutating func button(_ bytes: [UInt8]) -> [JSON] {
        var press = tendon_feelspace_press()
        let status = tendon_feelspace_decode_button(bytes, bytes.count, &press, nil)
        guard status >= 0 else { return malformed(status) }
        let name = FeelspaceWords.buttons.first { $0.value.rawValue == press.button }?.name ?? "unknown"
        return [
            line(
                "button",
                [
                    "button": .string(name), "press": .string(press.is_long ? "long" : "short"),
                    "previous_mode": mode(press.previous_mode), "mode": mode(press.new_mode),
                ])
        ]
    }

    private mutating func battery(_ bytes: [UInt8]) -> [JSON] {
        var battery = tendon_feelspace_battery()
        let status = tendon_feelspace_decode_battery(bytes, bytes.count, &battery, nil)
        guard status >= 0 else { return malformed(status) }
        return [
            line(
                "battery",
                [
                    "percent": .real(battery.level_percent), "power_status": JSON(battery.power_status),
                    "seconds": .real(battery.tte_ttf_s),
                ])
        ]
    }

    private mutating func orientation(_ bytes: [UInt8]) -> [JSON] {
        var value = tendon_feelspace_orientation()
        let status = tendon_feelspace_decode_orientation(bytes, bytes.count, &value, nil)
        guard status >= 0 else { return malformed(status) }
        guard value.sensor_id == UInt8(TENDON_FEELSPACE_SENSOR_FUSION) else {
            counters.skipped += 1
            return []
        }
        counters.notifications += 1
        counters.samples += 1
        return [
            line(
                "sample",
                [
                    "sensor": "orientation", "heading_deg": JSON(value.heading), "accurate": .bool(value.accurate),
                    "accuracy_deg": JSON(value.accuracy_deg),
                ])
        ]
    }

    private mutating func parameter(_ bytes: [UInt8]) -> [JSON] {
        var value = tendon_feelspace_parameter()
        let status = bytes.withUnsafeBufferPointer {
            tendon_feelspace_decode_parameter($0.baseAddress, $0.count, &value, nil)
        }
        if status == Int32(TENDON_ERROR_UNSUPPORTED) {
            counters.skipped += 1
            return []
        }
        guard status >= 0 else { return malformed(status) }
        var members: JSON = ["parameter": .string(text(tendon_feelspace_parameter_name(value.kind)))]
        switch value.kind {
        case TENDON_FEELSPACE_PARAMETER_MODE: members["mode"] = mode(value.mode)
        case TENDON_FEELSPACE_PARAMETER_DEFAULT_INTENSITY: members["percent"] = JSON(value.intensity)
        case TENDON_FEELSPACE_PARAMETER_HEADING_OFFSET: members["degrees"] = JSON(value.degrees)
        case TENDON_FEELSPACE_PARAMETER_ACCURACY_SIGNAL: members["state"] = JSON(value.accuracy_state)
        case TENDON_FEELSPACE_PARAMETER_ORIENTATION_PERIOD: members["period_ms"] = JSON(value.period_ms)
        case TENDON_FEELSPACE_PARAMETER_PAIRING_REQUIRED: members["required"] = .bool(value.required)
        default: members["bytes"] = .string(hexText(bytes))
        }
        return [line("parameter", members)]
    }

    private mutating func firmware(_ bytes: [UInt8]) -> [JSON] {
        var value = tendon_feelspace_firmware()
        let status = tendon_feelspace_decode_firmware(bytes, bytes.count, &value, nil)
        guard status >= 0 else { return malformed(status) }
        let variant: JSON = value.has_variant ? JSON(value.variant) : .null
        return [line("firmware", ["version": JSON(value.version), "variant": variant])]
    }
}
