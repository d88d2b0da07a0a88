// SPDX-License-Identifier: MIT
// Bose: configurations read, changed and written back.
import CTendon
import TendonSupport

extension BoseVectors {
    @Sendable static func sensorConfiguration(_ input: JSON) throws(VectorError) -> JSON {
        let (configuration, status) = try decodedSensorConfiguration(input)
        let settings: [tendon_bose_sensor_setting] = elements(of: configuration.settings, configuration.count)
        var result: JSON = [
            "entries": .array(
                settings.map {
                    [
                        "sensor_id": JSON($0.sensor_id), "period_ms": JSON($0.period_ms),
                        "enabled": .bool($0.period_ms != 0),
                    ]
                }),
            "trailing_bytes": JSON(configuration.trailing_bytes),
        ]
        report(status, in: &result)
        return result
    }

    private static func decodedSensorConfiguration(
        _ input: JSON
    ) throws(VectorError) -> (tendon_bose_sensor_configuration, tendon_status) {
        let bytes = try input.bytes("hex")
        var configuration = tendon_bose_sensor_configuration()
        let status = tendon_bose_decode_sensor_configuration(bytes, bytes.count, &configuration, nil)
        return (configuration, status)
    }

    @Sendable static func sensorConfigurationAfter(_ input: JSON) throws(VectorError) -> JSON {
        var (configuration, status) = try decodedSensorConfiguration(input)
        guard status >= 0 else { return ["error": .string(name(status))] }
        var information: tendon_bose_sensor_information?
        if input["sensor_information_hex"] != nil {
            let bytes = try input.bytes("sensor_information_hex")
            information = tendon_bose_sensor_information()
            _ = tendon_bose_decode_sensor_information(bytes, bytes.count, &information!, nil)
        }
        for operation in try input.operations() {
            let status = try apply(operation, to: &configuration, information)
            guard status >= 0 else { return ["error": .string(name(status))] }
        }
        var bytes = [UInt8](repeating: 0, count: 3 * Int(TENDON_BOSE_SENSORS_MAX))
        status = tendon_bose_encode_sensor_configuration(&configuration, &bytes, bytes.count)
        guard status >= 0 else { return ["error": .string(name(status))] }
        return ["hex": .string(hexText(bytes.prefix(Int(status))))]
    }

    private static func apply(
        _ operation: [JSON], to configuration: inout tendon_bose_sensor_configuration,
        _ information: tendon_bose_sensor_information?
    ) throws(VectorError) -> tendon_status {
        let invalidPeriod = tendon_status(TENDON_BOSE_ERROR_INVALID_PERIOD)
        switch (operation.first?.string, operation.count) {
        case ("enable", 3):
            // A sensor that no byte can name is one that the device does not list.
            guard let sensor = try identifier(operation[1]) else {
                return tendon_status(TENDON_BOSE_ERROR_UNKNOWN_SENSOR)
            }
            guard let period = period(operation[2]) else { return invalidPeriod }
            return withOptionalPointer(to: information) {
                tendon_bose_enable_sensor(&configuration, sensor, period, $0)
            }
        case ("disable", 2):
            guard let sensor = try identifier(operation[1]) else {
                return tendon_status(TENDON_BOSE_ERROR_UNKNOWN_SENSOR)
            }
            return tendon_bose_disable_sensor(&configuration, sensor)
        case ("disable_all", 1):
            tendon_bose_disable_all_sensors(&configuration)
            return 0
        case ("set_period", 2):
            guard let period = period(operation[1]) else { return invalidPeriod }
            return withOptionalPointer(to: information) { tendon_bose_set_sensor_period(&configuration, period, $0) }
        default:
            throw VectorError("unknown_operation", JSON.array(operation).text)
        }
    }

    /// A sensor or gesture id; nil when it does not fit a byte.
    private static func identifier(_ value: JSON) throws(VectorError) -> UInt8? {
        guard let number = value.integer else { throw VectorError("bad_input", "an id is a whole number") }
        return UInt8(exactly: number)
    }

    /// A period; null and "none" mean 0 (disabled), nil what no field can hold.
    private static func period(_ value: JSON) -> UInt16? {
        if value == .null || value.string == "none" { return 0 }
        return value.integer.flatMap { UInt16(exactly: $0) }
    }

    @Sendable static func gestureConfiguration(_ input: JSON) throws(VectorError) -> JSON {
        let (configuration, status, offset) = try decodedGestureConfiguration(input)
        var result: JSON = [:]
        report(status, at: offset, in: &result)
        result["entries"] = .array(
            elements(of: configuration.entries, configuration.count, like: configuration.entries.0).map {
                ["gesture_id": JSON($0.gesture_id), "enabled": .bool($0.enabled)]
            })
        return result
    }

    private static func decodedGestureConfiguration(
        _ input: JSON
    ) throws(VectorError) -> (tendon_bose_gesture_configuration, tendon_status, Int) {
        let bytes = try input.bytes("hex")
        var configuration = tendon_bose_gesture_configuration()
        var offset = 0
        var status: tendon_status
        if input["gesture_information_hex"] != nil {
            let information = try input.bytes("gesture_information_hex")
            var decoded = tendon_bose_gesture_information()
            _ = tendon_bose_decode_gesture_information(information, information.count, &decoded, nil)
            status = tendon_bose_decode_gesture_configuration(bytes, bytes.count, &decoded, &configuration, &offset)
        } else {
            status = tendon_bose_decode_gesture_configuration(bytes, bytes.count, nil, &configuration, &offset)
        }
        return (configuration, status, offset)
    }

    @Sendable static func gestureConfigurationAfter(_ input: JSON) throws(VectorError) -> JSON {
        var (configuration, status, _) = try decodedGestureConfiguration(input)
        guard status >= 0 else { return ["error": .string(name(status))] }
        for operation in try input.operations() {
            let status = try apply(operation, to: &configuration)
            guard status >= 0 else { return ["error": .string(name(status))] }
        }
        var bytes = [UInt8](repeating: 0, count: Int(TENDON_BOSE_GESTURE_CONFIGURATION_MAX))
        status = tendon_bose_encode_gesture_configuration(&configuration, &bytes, bytes.count)
        guard status >= 0 else { return ["error": .string(name(status))] }
        return ["hex": .string(hexText(bytes.prefix(Int(status))))]
    }

    private static func apply(
        _ operation: [JSON], to configuration: inout tendon_bose_gesture_configuration
    ) throws(VectorError) -> tendon_status {
        switch (operation.first?.string, operation.count) {
        case ("set", 3):
            guard let enabled = operation[2].bool else { throw VectorError("bad_input", "set takes true or false") }
            guard let gesture = try identifier(operation[1]) else {
                return tendon_status(TENDON_BOSE_ERROR_UNKNOWN_GESTURE)
            }
            return tendon_bose_set_gesture(&configuration, gesture, enabled)
        case ("enable_all", 1): tendon_bose_set_all_gestures(&configuration, true)
        case ("disable_all", 1): tendon_bose_set_all_gestures(&configuration, false)
        default: throw VectorError("unknown_operation", JSON.array(operation).text)
        }
        return 0
    }
}

extension JSON {
    /// The member `ops`: a list of lists, each an operation's name and its values.
    func operations() throws(VectorError) -> [[JSON]] {
        guard let list = self["ops"]?.array else { throw VectorError("missing_input", "'ops' is not a list") }
        var operations: [[JSON]] = []
        for item in list {
            guard let operation = item.array else { throw VectorError("bad_input", "an operation is a list") }
            operations.append(operation)
        }
        return operations
    }
}
