// SPDX-License-Identifier: MIT
// Bose: values of a captured connection, decoded without taking part in it.
import CTendon
import TendonSupport

struct BoseReplay: FamilyReplay {
    let address: String
    var information: tendon_bose_sensor_information?
    var gestures: tendon_bose_gesture_information?
    private var clock = tendon_bose_clock()
    var suspended: Bool?
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
        case TENDON_BOSE_SENSOR_INFORMATION: return sensorInformation(bytes)
        case TENDON_BOSE_SENSOR_CONFIGURATION: return sensorConfiguration(bytes, written)
        case TENDON_BOSE_SENSOR_DATA: return sensorData(bytes, at: milliseconds)
        case TENDON_BOSE_GESTURE_INFORMATION: return gestureInformation(bytes)
        case TENDON_BOSE_GESTURE_CONFIGURATION: return gestureConfiguration(bytes, written)
        case TENDON_BOSE_GESTURE_DATA: return gestureData(bytes, at: milliseconds)
        default: return []
        }
    }

    func line(_ event: String, _ members: JSON = [:]) -> JSON {
        var line: JSON = ["event": .string(event), "family": "bose", "address": .string(address)]
        if case .object(let members) = members { for member in members { line[member.key] = member.value } }
        return line
    }

    mutating func malformed(_ status: tendon_status, at offset: Int = 0) -> [JSON] {
        counters.malformed += 1
        return [rejected(status, at: offset)]
    }

    private func rejected(_ status: tendon_status, at offset: Int) -> JSON {
        line(
            "malformed",
            ["error": .string(text(tendon_bose_status_name(status))), "error_offset": JSON(offset)])
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
                        lines.append(rejected(data.status, at: data.error_offset))
                    }
                    return lines
                }
            }
        }
        (self.clock, self.counters) = (clock, counters)
        return lines
    }

    private mutating func gestureData(_ bytes: [UInt8], at milliseconds: UInt64) -> [JSON] {
        var data = tendon_bose_gesture_data()
        var offset = 0
        let status = tendon_bose_decode_gesture_data(bytes, bytes.count, &data, &offset)
        guard status >= 0 else { return malformed(status, at: offset) }
        let time = tendon_bose_unwrap(&clock, data.timestamp, milliseconds)
        return [BoseSampleLine.gestureEvent(data.gesture_id, address: address, deviceTime: time)]
    }
}
