// SPDX-License-Identifier: MIT
// Bose: its row of the table, and the values that `decode` and `encode` know.
import CTendon
import TendonSupport

extension Family {
    static let bose = Family(
        name: "bose", stream: BoseStream.self, simulation: BoseSimulation.init,
        description: .bose, sensors: BoseNames.sensors,
        commands: [.boseInfo, .boseConfigure],
        decoded: [
            value(TENDON_BOSE_DEVICE_INFORMATION, "device_information", "product, limits and status"),
            value(TENDON_BOSE_SENSOR_INFORMATION, "sensor_information", "ranges and sample periods of the sensors"),
            value(
                TENDON_BOSE_SENSOR_CONFIGURATION, "sensor_configuration", "enabled sensors and their sample period"),
            value(TENDON_BOSE_SENSOR_DATA, "sensor_data", "samples of a notification"),
            value(TENDON_BOSE_GESTURE_INFORMATION, "gesture_information", "gestures that the device detects"),
            value(TENDON_BOSE_GESTURE_CONFIGURATION, "gesture_configuration", "enabled gestures"),
            value(TENDON_BOSE_GESTURE_DATA, "gesture_data", "a gesture and its time"),
        ],
        encoded: [
            EncodedValue(
                kind: "sensor_configuration",
                operands: "HEX enable:SENSOR:PERIOD|disable:SENSOR|disable_all|period:PERIOD ...",
                summary: "the configuration that was read, as bytes, with these changes; PERIOD in milliseconds",
                encode: BoseEncoding.sensors),
            EncodedValue(
                kind: "gesture_configuration",
                operands: "HEX set:GESTURE:on|set:GESTURE:off|enable_all|disable_all ...",
                summary: "the configuration that was read, as bytes, with these changes",
                encode: BoseEncoding.gestures),
        ])

    private static func value(
        _ which: tendon_bose_characteristic, _ kind: String, _ summary: String
    ) -> DecodedValue {
        DecodedValue(kind: kind, characteristic: tendon_bose_uuid(which), summary: summary)
    }
}

private enum BoseEncoding {
    @Sendable static func sensors(_ words: [String]) throws(CommandError) -> [UInt8] {
        let bytes = try hexOperands(words.prefix(1))
        var configuration = tendon_bose_sensor_configuration()
        try check(tendon_bose_decode_sensor_configuration(bytes, bytes.count, &configuration, nil))
        for word in words.dropFirst() {
            let parts = word.split(separator: ":", omittingEmptySubsequences: false).map(String.init)
            switch (parts[0], parts.count) {
            case ("enable", 3):
                let (sensor, period) = (try BoseNames.sensor(parts[1]), try milliseconds(parts[2]))
                try check(tendon_bose_enable_sensor(&configuration, sensor, period, nil))
            case ("disable", 2):
                try check(tendon_bose_disable_sensor(&configuration, try BoseNames.sensor(parts[1])))
            case ("disable_all", 1): tendon_bose_disable_all_sensors(&configuration)
            case ("period", 2):
                try check(tendon_bose_set_sensor_period(&configuration, try milliseconds(parts[1]), nil))
            default:
                throw .usage(
                    "'\(sanitized(word))' is no change of sensors",
                    next: "enable:SENSOR:PERIOD, disable:SENSOR, disable_all or period:PERIOD")
            }
        }
        return try EncodedValue.packet(capacity: 3 * Int(TENDON_BOSE_SENSORS_MAX)) {
            tendon_bose_encode_sensor_configuration(&configuration, $0, $1)
        }
    }

    @Sendable static func gestures(_ words: [String]) throws(CommandError) -> [UInt8] {
        let bytes = try hexOperands(words.prefix(1))
        var configuration = tendon_bose_gesture_configuration()
        try check(tendon_bose_decode_gesture_configuration(bytes, bytes.count, nil, &configuration, nil))
        for word in words.dropFirst() {
            let parts = word.split(separator: ":", omittingEmptySubsequences: false).map(String.init)
            switch (parts[0], parts.count, parts.last) {
            case ("set", 3, "on"), ("set", 3, "off"):
                let gesture = try BoseNames.gesture(parts[1])
                try check(tendon_bose_set_gesture(&configuration, gesture, parts[2] == "on"))
            case ("enable_all", 1, _): tendon_bose_set_all_gestures(&configuration, true)
            case ("disable_all", 1, _): tendon_bose_set_all_gestures(&configuration, false)
            default:
                throw .usage(
                    "'\(sanitized(word))' is no change of gestures",
                    next: "set:GESTURE:on, set:GESTURE:off, enable_all or disable_all")
            }
        }
        return try EncodedValue.packet(capacity: Int(TENDON_BOSE_GESTURE_CONFIGURATION_MAX)) {
            tendon_bose_encode_gesture_configuration(&configuration, $0, $1)
        }
    }

    private static func milliseconds(_ word: String) throws(CommandError) -> UInt16 {
        if word == "none" { return 0 }
        let digits = word.hasSuffix("ms") ? String(word.dropLast(2)) : word
        guard let number = parseInteger(digits).flatMap({ UInt16(exactly: $0) }), tendon_bose_bit_of_period(number) >= 0
        else { throw .usage("'\(sanitized(word))' is no period: it is 5, 10, 20, 40, 80, 160 or 320 milliseconds") }
        return number
    }

    private static func check(_ status: tendon_status) throws(CommandError) {
        guard status < 0 else { return }
        throw CommandError(.failed, text(tendon_bose_status_text(status)))
    }
}
