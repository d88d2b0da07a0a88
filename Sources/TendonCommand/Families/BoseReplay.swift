// SPDX-License-Identifier: MIT
// Bose: values of a captured connection, decoded without taking part in it.
import CTendon

struct BoseReplay: FamilyReplay {
    let address: String
    private var information: tendon_bose_sensor_information?
    private var gestures: tendon_bose_gesture_information?
    private var clock = tendon_bose_clock()
    private var suspended: Bool?
    private(set) var counters = StreamCounters()

    init(address: String) {
        self.address = address
    }

    static func recognizes(_ characteristic: tendon_uuid) -> Bool {
        which(characteristic) != nil
    }

    private static func which(_ uuid: tendon_uuid) -> Int? {
        (0..<Int(TENDON_BOSE_CHARACTERISTIC_COUNT.rawValue)).first { index in
            var own = tendon_bose_uuid(tendon_bose_characteristic(UInt32(index)))
            var other = uuid
            return tendon_uuid_equal(&own, &other)
        }
    }

    mutating func value(_ bytes: [UInt8], of characteristic: tendon_uuid, written: Bool, at milliseconds: UInt64)
        -> [JSON]
    {
        guard let index = BoseReplay.which(characteristic) else { return [] }
        switch tendon_bose_characteristic(UInt32(index)) {
        case TENDON_BOSE_DEVICE_INFORMATION: return deviceInformation(bytes)
        case TENDON_BOSE_SENSOR_INFORMATION:
            var decoded = tendon_bose_sensor_information()
            if tendon_bose_decode_sensor_information(bytes, bytes.count, &decoded, nil) >= 0 { information = decoded }
            return [line("sensor_information", BoseVectors.sensorInformation, bytes)]
        case TENDON_BOSE_SENSOR_CONFIGURATION:
            return [
                line(written ? "configure_sensors" : "sensor_configuration", BoseVectors.sensorConfiguration, bytes)
            ]
        case TENDON_BOSE_SENSOR_DATA: return sensorData(bytes, at: milliseconds)
        case TENDON_BOSE_GESTURE_INFORMATION:
            return [line("gesture_information", BoseVectors.gestureInformation, bytes)]
        case TENDON_BOSE_GESTURE_CONFIGURATION:
            return [
                line(written ? "configure_gestures" : "gesture_configuration", BoseVectors.gestureConfiguration, bytes)
            ]
        case TENDON_BOSE_GESTURE_DATA: return gestureData(bytes, at: milliseconds)
        default: return []
        }
    }

    private func line(
        _ event: String, _ compute: (JSON) throws(VectorError) -> JSON, _ bytes: [UInt8]
    ) -> JSON {
        var line: JSON = ["event": .string(event), "family": "bose", "address": .string(address)]
        guard case .object(let members)? = try? compute(["hex": .string(hexText(bytes))]) else { return line }
        for member in members { line[member.key] = member.value }
        return line
    }

    private mutating func deviceInformation(_ bytes: [UInt8]) -> [JSON] {
        var lines = [line("device_information", BoseVectors.deviceInformation, bytes)]
        guard let now = lines[0]["suspended"]?.bool else {
            counters.malformed += 1
            return lines
        }
        if now, now != suspended {
            lines.append([
                "event": "suspended", "family": "bose", "address": .string(address),
                "reason": lines[0]["suspension_reason"] ?? .null,
            ])
        } else if !now, suspended == true {
            lines.append(["event": "resumed", "family": "bose", "address": .string(address)])
        }
        suspended = now
        return lines
    }

    private mutating func sensorData(_ bytes: [UInt8], at milliseconds: UInt64) -> [JSON] {
        let profile = information == nil ? TENDON_BOSE_PROFILE_FIXED : TENDON_BOSE_PROFILE_REPORTED
        var (clock, counters) = (clock, counters)
        counters.notifications += 1
        let lines = withSensorData(bytes, information, profile) { data in
            var lines: [JSON] = []
            var sample = tendon_bose_sample()
            var skipped = tendon_bose_skipped()
            while true {
                switch tendon_bose_sensor_data_next(&data, &sample, &skipped) {
                case TENDON_BOSE_STEP_SAMPLE:
                    counters.samples += 1
                    let time = tendon_bose_unwrap(&clock, sample.timestamp, milliseconds)
                    var line = BoseSampleLine(sample, address: address, deviceTime: time).json
                    // Without the device's ranges the numbers are not in its units.
                    if profile == TENDON_BOSE_PROFILE_FIXED { line["profile"] = "fixed" }
                    lines.append(line)
                case TENDON_BOSE_STEP_SKIPPED: counters.skipped += 1
                default:
                    if data.status < 0 {
                        counters.malformed += 1
                        lines.append(malformed(data.status, at: data.error_offset))
                    }
                    return lines
                }
            }
        }
        (self.clock, self.counters) = (clock, counters)
        return lines
    }

    private func malformed(_ status: tendon_status, at offset: Int) -> JSON {
        [
            "event": "malformed", "family": "bose", "address": .string(address),
            "error": .string(BoseVectors.name(status)), "error_offset": JSON(offset),
        ]
    }

    private mutating func gestureData(_ bytes: [UInt8], at milliseconds: UInt64) -> [JSON] {
        var data = tendon_bose_gesture_data()
        var offset = 0
        let status = tendon_bose_decode_gesture_data(bytes, bytes.count, &data, &offset)
        guard status >= 0 else {
            counters.malformed += 1
            return [malformed(status, at: offset)]
        }
        let time = tendon_bose_unwrap(&clock, data.timestamp, milliseconds)
        return [BoseVectors.gestureEvent(data.gesture_id, address: address, deviceTime: time)]
    }
}
