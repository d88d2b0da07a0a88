// SPDX-License-Identifier: MIT
// Bose: values of a captured connection, decoded without taking part in it.
import CTendon
import TendonSupport

struct BoseReplay: FamilyReplay {
    var information: tendon_bose_sensor_information?
    var gestures: tendon_bose_gesture_information?
    private var clock = tendon_bose_clock()
    var suspended: Bool?
    private(set) var counters = StreamCounters()

    init() {}

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

    mutating func value(
        _ bytes: [UInt8], of characteristic: tendon_uuid, written: Bool, at milliseconds: UInt64, to lines: ReplayLines
    ) {
        guard let index = BoseReplay.which(characteristic) else { return }
        switch tendon_bose_characteristic(UInt32(index)) {
        case TENDON_BOSE_DEVICE_INFORMATION: deviceInformation(bytes, lines)
        case TENDON_BOSE_SENSOR_INFORMATION: sensorInformation(bytes, lines)
        case TENDON_BOSE_SENSOR_CONFIGURATION: sensorConfiguration(bytes, written, lines)
        case TENDON_BOSE_SENSOR_DATA: sensorData(bytes, at: milliseconds, lines)
        case TENDON_BOSE_GESTURE_INFORMATION: gestureInformation(bytes, lines)
        case TENDON_BOSE_GESTURE_CONFIGURATION: gestureConfiguration(bytes, written, lines)
        case TENDON_BOSE_GESTURE_DATA: gestureData(bytes, at: milliseconds, lines)
        default: break
        }
    }

    mutating func malformed(_ status: tendon_status, at offset: Int, _ lines: ReplayLines) {
        counters.malformed += 1
        lines.event("malformed") { line in
            line.member("error", word: tendon_bose_status_name(status))
            line.member("text", text(tendon_bose_status_text(status)))
            line.member("error_offset", offset)
        }
    }

    private mutating func sensorData(_ bytes: [UInt8], at milliseconds: UInt64, _ lines: ReplayLines) {
        let profile = information == nil ? TENDON_BOSE_PROFILE_FIXED : TENDON_BOSE_PROFILE_REPORTED
        var (clock, counters) = (clock, counters)
        counters.notifications += 1
        let (status, offset) = withSensorData(bytes, information, profile) { data -> (tendon_status, Int) in
            var sample = tendon_bose_sample()
            var skipped = tendon_bose_skipped()
            while true {
                switch tendon_bose_sensor_data_next(&data, &sample, &skipped) {
                case TENDON_BOSE_STEP_SAMPLE:
                    counters.samples += 1
                    let time = tendon_bose_unwrap(&clock, sample.timestamp, milliseconds)
                    let sampled = BoseSampleLine(sample: sample, deviceTime: time)
                    lines.sample(numbers: { sampled.numbers }) { line in
                        sampled.write(to: &line)
                        // Without the device's ranges the numbers are not in its units.
                        if profile == TENDON_BOSE_PROFILE_FIXED { line.member("profile", word: "fixed") }
                    }
                case TENDON_BOSE_STEP_SKIPPED: counters.skipped += 1
                default: return (data.status, data.error_offset)
                }
            }
        }
        (self.clock, self.counters) = (clock, counters)
        if status < 0 { malformed(status, at: offset, lines) }
    }

    private mutating func gestureData(_ bytes: [UInt8], at milliseconds: UInt64, _ lines: ReplayLines) {
        var data = tendon_bose_gesture_data()
        var offset = 0
        let status = tendon_bose_decode_gesture_data(bytes, bytes.count, &data, &offset)
        guard status >= 0 else { return malformed(status, at: offset, lines) }
        let time = tendon_bose_unwrap(&clock, data.timestamp, milliseconds)
        lines.event("gesture") { BoseSampleLine.writeGesture(data.gesture_id, time, to: &$0) }
    }
}
