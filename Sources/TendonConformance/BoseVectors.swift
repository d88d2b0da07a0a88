// SPDX-License-Identifier: MIT
// Bose: the values of the wearable sensor service. Formats: docs/protocols/bose.md.
import CTendon
import TendonSupport

enum BoseVectors {
    static let kinds: [VectorKind] = [
        VectorKind("bose", "device_information", deviceInformation),
        VectorKind("bose", "sensor_information", sensorInformation),
        VectorKind("bose", "sensor_configuration", sensorConfiguration),
        VectorKind("bose", "sensor_config_encode", sensorConfigurationAfter),
        VectorKind("bose", "sensor_data", sensorData),
        VectorKind("bose", "gesture_information", gestureInformation),
        VectorKind("bose", "gesture_configuration", gestureConfiguration),
        VectorKind("bose", "gesture_config_encode", gestureConfigurationAfter),
        VectorKind("bose", "gesture_data", gestureData),
        VectorKind("bose", "quaternion", quaternion),
    ]

    /// The vectors' name of an error.
    static func name(_ status: tendon_status) -> String {
        switch Int(status) {
        case TENDON_ERROR_TRUNCATED: "truncated"
        case TENDON_ERROR_TABLE_FULL: "table_full"
        case TENDON_BOSE_ERROR_UNKNOWN_SENSOR: "unknown_sensor"
        case TENDON_BOSE_ERROR_UNKNOWN_GESTURE: "unknown_gesture"
        case TENDON_BOSE_ERROR_INVALID_PERIOD: "invalid_period"
        case TENDON_BOSE_ERROR_BAD_RECORD: "bad_record"
        case TENDON_BOSE_ERROR_BAD_RANGE: "bad_range"
        case TENDON_BOSE_ERROR_INVALID_ACCURACY: "invalid_accuracy"
        case TENDON_BOSE_ERROR_SHORT_SAMPLE: "short_sample"
        default: text(tendon_status_name(status)).lowercased()
        }
    }

    /// Adds the error of a decoder, if there was one.
    static func report(_ status: tendon_status, at offset: Int? = nil, in result: inout JSON) {
        guard status < 0 else { return }
        result["error"] = .string(name(status))
        if let offset { result["error_offset"] = JSON(offset) }
    }
}

// MARK: - Information

extension BoseVectors {
    @Sendable static func deviceInformation(_ input: JSON) throws(VectorError) -> JSON {
        let bytes = try input.bytes("hex")
        var information = tendon_bose_device_information()
        let status = tendon_bose_decode_device_information(bytes, bytes.count, &information, nil)
        guard status >= 0 else { return ["error": .string(name(status))] }
        let raw = information.status
        func flag(_ bit: Int) -> JSON { .bool(Int(raw) & bit != 0) }
        let suspended = Int(raw) & TENDON_BOSE_STATUS_SUSPENDED != 0
        let reason = text(tendon_bose_suspension_reason_name(tendon_bose_suspension_reason_of(raw)))
        return [
            "major": JSON(information.major), "minor": JSON(information.minor),
            "product_id": JSON(information.product_id),
            "product": .string(text(tendon_bose_product_name(information.product_id))),
            "variant": JSON(information.variant),
            "variant_name": .string(text(tendon_bose_variant_name(information.product_id, information.variant))),
            "sensor_mask": JSON(information.sensor_mask), "gesture_mask": JSON(information.gesture_mask),
            "sensor_ids": JSON(sensorIdentifiers(of: information.sensor_mask)),
            "gesture_ids": JSON(gestureIdentifiers(of: information.gesture_mask)),
            "transmission_period_ms": JSON(information.transmission_period_ms),
            "max_payload": JSON(information.max_payload),
            "max_active_sensors": JSON(information.max_active_sensors), "status_raw": JSON(raw),
            "pairing_enabled": flag(TENDON_BOSE_STATUS_PAIRING_ENABLED),
            "pairing_required": flag(TENDON_BOSE_STATUS_PAIRING_REQUIRED),
            "already_paired": flag(TENDON_BOSE_STATUS_ALREADY_PAIRED), "suspended": .bool(suspended),
            "suspension_reason": suspended ? .string(reason) : nil,
            "trailing_bytes": JSON(information.trailing_bytes),
        ]
    }

    private static func sensorIdentifiers(of mask: UInt32) -> [Int] {
        (0..<Int(TENDON_BOSE_SENSOR_COUNT.rawValue)).filter { mask & 1 << $0 != 0 }
    }

    private static func gestureIdentifiers(of mask: UInt32) -> [Int] {
        (0..<32).filter { mask & 1 << $0 != 0 }.map { Int(tendon_bose_gesture_of_bit(UInt32($0))) }.filter { $0 >= 0 }
    }

    @Sendable static func sensorInformation(_ input: JSON) throws(VectorError) -> JSON {
        let bytes = try input.bytes("hex")
        var information = tendon_bose_sensor_information()
        let status = tendon_bose_decode_sensor_information(bytes, bytes.count, &information, nil)
        let records: [tendon_bose_sensor_record] = elements(of: information.records, information.count)
        var result: JSON = [
            "entries": .array(records.map(entry)), "trailing_bytes": JSON(information.trailing_bytes),
        ]
        let rejected: [tendon_bose_rejected_record] = elements(of: information.rejected, information.rejected_count)
        if !rejected.isEmpty {
            result["rejected"] = .array(
                rejected.map {
                    [
                        "sensor_id": JSON($0.sensor_id), "error": .string(name($0.status)),
                        "offset": JSON($0.offset), "index": JSON($0.offset / 12),
                    ]
                })
        }
        if information.duplicates > 0 { result["duplicates"] = JSON(information.duplicates) }
        report(status, in: &result)
        return result
    }

    private static func entry(_ record: tendon_bose_sensor_record) -> JSON {
        let periods = (0..<16).filter { record.period_mask & 1 << $0 != 0 }
            .map { Int(tendon_bose_period_of_bit(UInt32($0))) }.filter { $0 != 0 }
        return [
            "sensor_id": JSON(record.sensor_id), "scaled_min": JSON(record.scaled_min),
            "scaled_max": JSON(record.scaled_max), "raw_min": JSON(record.raw_min), "raw_max": JSON(record.raw_max),
            "period_mask": JSON(record.period_mask), "periods_ms": JSON(periods),
            "sample_length": JSON(record.sample_length), "scale_factor": JSON(record.scale),
        ]
    }

    @Sendable static func gestureInformation(_ input: JSON) throws(VectorError) -> JSON {
        let bytes = try input.bytes("hex")
        var information = tendon_bose_gesture_information()
        let status = tendon_bose_decode_gesture_information(bytes, bytes.count, &information, nil)
        if Int(status) == TENDON_BOSE_ERROR_BAD_RECORD { return ["error": .string(name(status))] }
        let records: [tendon_bose_gesture_record] = elements(of: information.records, information.count)
        var result: JSON = [
            "record_size": JSON(information.record_size),
            "entries": .array(
                records.map { ["gesture_id": JSON($0.gesture_id), "payload_length": JSON($0.payload_length)] }),
            "trailing_bytes": JSON(information.trailing_bytes),
        ]
        report(status, in: &result)
        return result
    }
}
