// SPDX-License-Identifier: MIT Bose: information of a device, from a capture.
import CTendon
import TendonSupport

extension BoseReplay {
    mutating func deviceInformation(_ bytes: [UInt8], _ lines: ReplayLines) {
        var information = tendon_bose_device_information()
        var offset = 0
        let status = tendon_bose_decode_device_information(bytes, bytes.count, &information, &offset)
        guard status >= 0 else { return malformed(status, at: offset, lines) }
        let isSuspended = tendon_bose_suspended(information.status)
        let reason = text(tendon_bose_suspension_reason_name(tendon_bose_suspension_reason_of(information.status)))
        func flag(_ bit: Int) -> JSON { .bool(Int(information.status) & bit != 0) }
        lines.event(
            "device_information",
            [
                "product": .string(text(tendon_bose_product_name(information.product_id))),
                "product_id": JSON(information.product_id),
                "variant": .string(text(tendon_bose_variant_name(information.product_id, information.variant))),
                "transmission_period_ms": JSON(information.transmission_period_ms),
                "max_payload_bytes": JSON(information.max_payload),
                "max_active_sensors": JSON(information.max_active_sensors),
                "pairing_enabled": flag(TENDON_BOSE_STATUS_PAIRING_ENABLED),
                "pairing_required": flag(TENDON_BOSE_STATUS_PAIRING_REQUIRED),
                "paired": flag(TENDON_BOSE_STATUS_ALREADY_PAIRED), "suspended": .bool(isSuspended),
            ])
        if isSuspended, isSuspended != suspended {
            lines.event("suspended", ["reason": .string(reason)])
        } else if !isSuspended, suspended == true {
            lines.event("resumed")
        }
        suspended = isSuspended
    }

    mutating func sensorInformation(_ bytes: [UInt8], _ lines: ReplayLines) {
        var decoded = tendon_bose_sensor_information()
        var offset = 0
        let status = tendon_bose_decode_sensor_information(bytes, bytes.count, &decoded, &offset)
        guard status >= 0 else { return malformed(status, at: offset, lines) }
        information = decoded
        let records: [tendon_bose_sensor_record] = elements(of: decoded.records, decoded.count)
        lines.event(
            "sensor_information",
            [
                "sensors": JSON(
                    records.map { record in
                        let periods = (0..<16).filter { record.period_mask & 1 << $0 != 0 }
                            .map { Int(tendon_bose_period_of_bit(UInt32($0))) }.filter { $0 != 0 }
                        return [
                            "sensor": .string(text(tendon_bose_sensor_name(record.sensor_id))),
                            "minimum": JSON(record.scaled_min), "maximum": JSON(record.scaled_max),
                            "periods_ms": JSON(periods),
                        ]
                    })
            ])
    }

    mutating func sensorConfiguration(_ bytes: [UInt8], _ written: Bool, _ lines: ReplayLines) {
        var configuration = tendon_bose_sensor_configuration()
        var offset = 0
        let status = tendon_bose_decode_sensor_configuration(bytes, bytes.count, &configuration, &offset)
        guard status >= 0 else { return malformed(status, at: offset, lines) }
        let settings: [tendon_bose_sensor_setting] = elements(of: configuration.settings, configuration.count)
        let period = tendon_bose_enabled_period(&configuration)
        lines.event(
            written ? "configure_sensors" : "sensor_configuration",
            [
                "enabled": JSON(
                    settings.filter { $0.period_ms > 0 }.map {
                        .string(text(tendon_bose_sensor_name($0.sensor_id)))
                    }),
                "period_ms": period == 0 ? .null : JSON(period),
            ])
    }

    mutating func gestureInformation(_ bytes: [UInt8], _ lines: ReplayLines) {
        var information = tendon_bose_gesture_information()
        var offset = 0
        let status = tendon_bose_decode_gesture_information(bytes, bytes.count, &information, &offset)
        guard status >= 0 else { return malformed(status, at: offset, lines) }
        gestures = information
        let records: [tendon_bose_gesture_record] = elements(of: information.records, information.count)
        lines.event(
            "gesture_information",
            ["gestures": JSON(records.map { .string(text(tendon_bose_gesture_name($0.gesture_id))) })])
    }

    mutating func gestureConfiguration(_ bytes: [UInt8], _ written: Bool, _ lines: ReplayLines) {
        var configuration = tendon_bose_gesture_configuration()
        var offset = 0
        let status = withOptionalPointer(to: gestures) {
            tendon_bose_decode_gesture_configuration(bytes, bytes.count, $0, &configuration, &offset)
        }
        guard status >= 0 else { return malformed(status, at: offset, lines) }
        let entries = elements(of: configuration.entries, configuration.count, like: configuration.entries.0)
        lines.event(
            written ? "configure_gestures" : "gesture_configuration",
            [
                "enabled": JSON(
                    entries.filter(\.enabled).map { .string(text(tendon_bose_gesture_name($0.gesture_id))) })
            ])
    }
}

extension BoseReplay {
    static let values: [DecodedValue] = [
        value(TENDON_BOSE_DEVICE_INFORMATION, "device_information", "product, limits and status"),
        value(TENDON_BOSE_SENSOR_INFORMATION, "sensor_information", "ranges and sample periods of the sensors"),
        value(TENDON_BOSE_SENSOR_CONFIGURATION, "sensor_configuration", "enabled sensors and their sample period"),
        value(TENDON_BOSE_SENSOR_DATA, "sensor_data", "samples of a notification"),
        value(TENDON_BOSE_GESTURE_INFORMATION, "gesture_information", "gestures that the device detects"),
        value(TENDON_BOSE_GESTURE_CONFIGURATION, "gesture_configuration", "enabled gestures"),
        value(TENDON_BOSE_GESTURE_DATA, "gesture_data", "a gesture and its time"),
    ]

    private static func value(
        _ which: tendon_bose_characteristic, _ kind: String, _ summary: String
    ) -> DecodedValue {
        DecodedValue(kind: kind, characteristic: tendon_bose_uuid(which), summary: summary)
    }

    /// The sensor information of Bose Frames, which a decoder can use on request.
    static let framesInformation =
        "00fff8000880017fff001f0701f83007d080017fff001f0702ffff0001c0013fff001f0a03ffff0001c0013fff001f08"
}
