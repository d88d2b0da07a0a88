// SPDX-License-Identifier: MIT
// feelSpace naviBelt: what a belt sends.
import CTendon
import TendonSupport

extension FeelspaceVectors {
    static var notificationKinds: [VectorKind] {
        [
            VectorKind("feelspace", "notify_battery", battery),
            VectorKind("feelspace", "notify_orientation", orientation),
            VectorKind("feelspace", "notify_button", button),
            VectorKind("feelspace", "notify_parameter", parameter),
            VectorKind("feelspace", "notify_keep_alive", keepAlive),
            VectorKind("feelspace", "firmware_info", firmware),
            VectorKind("feelspace", "belt_accepts", beltAccepts),
        ]
    }

    @Sendable static func battery(_ vector: JSON) throws(VectorError) -> JSON {
        let bytes = try vector.bytes("hex")
        var battery = tendon_feelspace_battery()
        let status = tendon_feelspace_decode_battery(bytes, bytes.count, &battery, nil)
        guard status >= 0 else { return ["error": .string(name(status))] }
        return [
            "power_status": JSON(battery.power_status), "power_status_raw": JSON(battery.power_status_raw),
            "level_percent": JSON(battery.level_percent), "tte_ttf_s": JSON(battery.tte_ttf_s),
            "saturated": .bool(battery.saturated),
            "current_ma": battery.has_current ? JSON(battery.current_ma) : nil,
            "voltage_mv": battery.has_voltage ? JSON(battery.voltage_mv) : nil,
            "temperature_c": battery.has_temperature ? JSON(battery.temperature_c) : nil,
            "aux_percent": battery.has_aux ? JSON(battery.aux_percent) : nil,
            "vsl_power_status": battery.has_vsl_power ? JSON(battery.vsl_power_status) : nil,
            "vsl_level_percent": battery.has_vsl_level ? JSON(battery.vsl_level_percent) : nil,
        ]
    }

    @Sendable static func orientation(_ vector: JSON) throws(VectorError) -> JSON {
        let bytes = try vector.bytes("hex")
        var value = tendon_feelspace_orientation()
        let status = tendon_feelspace_decode_orientation(bytes, bytes.count, &value, nil)
        guard status >= 0 else { return ["error": .string(name(status))] }
        return [
            "sensor_id": JSON(value.sensor_id), "heading": JSON(value.heading),
            "heading_0_359": JSON(value.heading_360), "box_heading": JSON(value.box_heading),
            "box_roll": JSON(value.box_roll), "box_pitch": JSON(value.box_pitch),
            "accuracy_deg": JSON(value.accuracy_deg), "mag_status": JSON(value.magnetometer_status),
            "acc_status": JSON(value.accelerometer_status), "gyr_status": JSON(value.gyroscope_status),
            "fusion_status": JSON(value.fusion_status), "accurate": .bool(value.accurate),
            "delivered_to_delegate": .bool(Int32(value.sensor_id) == TENDON_FEELSPACE_SENSOR_FUSION),
        ]
    }

    @Sendable static func button(_ vector: JSON) throws(VectorError) -> JSON {
        let bytes = try vector.bytes("hex")
        var press = tendon_feelspace_press()
        let status = tendon_feelspace_decode_button(bytes, bytes.count, &press, nil)
        guard status >= 0 else { return ["error": .string(name(status))] }
        return [
            "button": JSON(press.button), "press": press.is_long ? "long" : "short",
            "previous_mode": JSON(press.previous_mode), "new_mode": JSON(press.new_mode),
        ]
    }

    @Sendable static func parameter(_ vector: JSON) throws(VectorError) -> JSON {
        let bytes = try vector.bytes("hex")
        // The name is borrowed from the bytes: it is read before they go.
        return bytes.withUnsafeBufferPointer { data in
            var value = tendon_feelspace_parameter()
            let status = tendon_feelspace_decode_parameter(data.baseAddress, data.count, &value, nil)
            guard status >= 0 else { return ["error": .string(name(status))] }
            var result: JSON = ["param": .string(text(tendon_feelspace_parameter_name(value.kind)))]
            add(value, to: &result)
            return result
        }
    }

    private static func add(_ value: tendon_feelspace_parameter, to result: inout JSON) {
        switch value.kind {
        case TENDON_FEELSPACE_PARAMETER_MODE: result["mode"] = JSON(value.mode)
        case TENDON_FEELSPACE_PARAMETER_DEFAULT_INTENSITY: result["intensity"] = JSON(value.intensity)
        case TENDON_FEELSPACE_PARAMETER_HEADING_OFFSET: result["degrees"] = JSON(value.degrees)
        case TENDON_FEELSPACE_PARAMETER_ACCURACY_SIGNAL:
            result["enabled"] = .bool(value.accuracy_state != 0)
            result["in_app"] = .bool(value.accuracy_state & 2 != 0)
            result["in_compass"] = .bool(value.accuracy_state & 1 != 0)
        case TENDON_FEELSPACE_PARAMETER_PAIRING_REQUIRED: result["required"] = .bool(value.required)
        case TENDON_FEELSPACE_PARAMETER_ORIENTATION_PERIOD: result["period_ms"] = JSON(value.period_ms)
        case TENDON_FEELSPACE_PARAMETER_APP_FRONT_RANGE:
            let range = value.front.range
            result["range"] = JSON([range.0, range.1, range.2])
            result["last"] = JSON(value.front.last)
        default:
            let bytes = UnsafeRawBufferPointer(start: value.name.text, count: value.name.length)
            result["name"] = .string(String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self))
        }
    }

    @Sendable static func keepAlive(_ vector: JSON) throws(VectorError) -> JSON {
        let bytes = try vector.bytes("hex")
        var mode: UInt8 = 0
        let status = tendon_feelspace_decode_keep_alive(bytes, bytes.count, &mode, nil)
        guard status >= 0 else { return ["error": .string(name(status)), "reply_required": true] }
        return ["mode": JSON(mode), "reply_required": true]
    }

    @Sendable static func firmware(_ vector: JSON) throws(VectorError) -> JSON {
        let bytes = try vector.bytes("hex")
        var firmware = tendon_feelspace_firmware()
        let status = tendon_feelspace_decode_firmware(bytes, bytes.count, &firmware, nil)
        guard status >= 0 else { return ["error": .string(name(status))] }
        return ["version": JSON(firmware.version), "variant": firmware.has_variant ? JSON(firmware.variant) : nil]
    }

    @Sendable static func beltAccepts(_ vector: JSON) throws(VectorError) -> JSON {
        let bytes = try vector.bytes("hex")
        let mode = try vector.feelspaceInput.int32("belt_mode")
        guard let mode = UInt8(exactly: mode) else { throw VectorError("invalid_argument") }
        return ["accepted": .bool(tendon_feelspace_belt_accepts(mode, bytes, bytes.count))]
    }
}
