// SPDX-License-Identifier: MIT
// Bose: samples, gestures, and the angles of a quaternion.
import CTendon
import TendonSupport

extension BoseVectors {
    @Sendable static func sensorData(_ input: JSON) throws(VectorError) -> JSON {
        let bytes = try input.bytes("hex")
        var information: tendon_bose_sensor_information?
        if input["sensor_information_hex"] != nil {
            let value = try input.bytes("sensor_information_hex")
            information = tendon_bose_sensor_information()
            _ = tendon_bose_decode_sensor_information(value, value.count, &information!, nil)
        }
        let fixed = walk(bytes, information, TENDON_BOSE_PROFILE_FIXED)
        guard let information else { return result(of: fixed, fixed: fixed) }
        return result(of: walk(bytes, information, TENDON_BOSE_PROFILE_REPORTED), fixed: fixed)
    }

    /// Records and what went wrong as the first walk saw them; fixed values from the other, record by record.
    private static func result(of walk: Walk, fixed: Walk) -> JSON {
        var result: JSON = [:]
        report(walk.status, at: walk.errorOffset, in: &result)
        var records: [JSON] = []
        var skipped: [JSON] = []
        for (step, other) in zip(walk.steps, fixed.steps) {
            switch (step, other) {
            case (.sample(let sample), .sample(let other)):
                records.append(record(other, reported: walk.profile == TENDON_BOSE_PROFILE_REPORTED ? sample : nil))
            case (.skipped(let record), _):
                skipped.append(["sensor_id": JSON(record.sensor_id), "reason": .string(name(record.reason))])
            default: break
            }
        }
        result["records"] = .array(records)
        result["skipped"] = .array(skipped)
        return result
    }

    private struct Walk {
        enum Step {
            case sample(tendon_bose_sample)
            case skipped(tendon_bose_skipped)
        }

        var profile: tendon_bose_profile
        var steps: [Step] = []
        var status: tendon_status = 0
        var errorOffset = 0
    }

    private static func walk(
        _ bytes: [UInt8], _ information: tendon_bose_sensor_information?, _ profile: tendon_bose_profile
    ) -> Walk {
        withSensorData(bytes, information, profile) { data in
            var walk = Walk(profile: profile)
            var sample = tendon_bose_sample()
            var skipped = tendon_bose_skipped()
            while true {
                switch tendon_bose_sensor_data_next(&data, &sample, &skipped) {
                case TENDON_BOSE_STEP_SAMPLE: walk.steps.append(.sample(sample))
                case TENDON_BOSE_STEP_SKIPPED: walk.steps.append(.skipped(skipped))
                default:
                    walk.status = data.status
                    walk.errorOffset = data.error_offset
                    return walk
                }
            }
        }
    }

    private static func record(_ sample: tendon_bose_sample, reported: tendon_bose_sample?) -> JSON {
        var result: JSON = [
            "sensor_id": JSON(sample.sensor_id), "timestamp": JSON(sample.timestamp),
            "raw": JSON(elements(of: sample.raw, sample.has_quaternion ? 4 : 3) as [Int16]),
            "fixed": JSON(components(sample)),
        ]
        if let reported { result["reported"] = JSON(components(reported)) }
        if sample.has_bias {
            result["bias_raw"] = JSON(elements(of: sample.raw_bias, 3) as [Int16])
            result["bias_fixed"] = JSON(components(sample.bias))
            if let reported { result["bias_reported"] = JSON(components(reported.bias)) }
        }
        guard sample.has_accuracy else { return result }
        if sample.has_quaternion {
            result["accuracy_raw"] = JSON(sample.accuracy_raw)
            if let reported { result["accuracy_rad"] = JSON(reported.accuracy_rad) }
            if sample.accuracy_unknown { result["accuracy_unknown"] = true }
        } else {
            result["accuracy"] = JSON(sample.accuracy)
            result["accuracy_name"] = .string(text(tendon_bose_accuracy_name(sample.accuracy)))
        }
        return result
    }

    private static func components(_ sample: tendon_bose_sample) -> [Double] {
        sample.has_quaternion ? components(sample.quaternion) : components(sample.vector)
    }

    static func components(_ vector: tendon_bose_vector) -> [Double] { [vector.x, vector.y, vector.z] }
    static func components(_ q: tendon_quaternion) -> [Double] { [q.x, q.y, q.z, q.w] }

    @Sendable static func gestureData(_ input: JSON) throws(VectorError) -> JSON {
        let bytes = try input.bytes("hex")
        var data = tendon_bose_gesture_data()
        let status = tendon_bose_decode_gesture_data(bytes, bytes.count, &data, nil)
        guard status >= 0 else { return ["error": .string(name(status))] }
        return [
            "gesture_id": JSON(data.gesture_id), "gesture": .string(text(tendon_bose_gesture_name(data.gesture_id))),
            "timestamp": JSON(data.timestamp), "trailing_bytes": JSON(data.trailing_bytes),
        ]
    }

    /// The quaternion stands as the only sample of a game rotation, so that the library's own decoder reads it.
    @Sendable static func quaternion(_ input: JSON) throws(VectorError) -> JSON {
        let bytes = try input.bytes("hex")
        guard bytes.count >= 8 else { return ["error": "truncated"] }
        let header: [UInt8] = [UInt8(TENDON_BOSE_GAME_ROTATION.rawValue), 0, 0]
        let walked = walk(header + bytes.prefix(8), nil, TENDON_BOSE_PROFILE_FIXED)
        guard case .sample(let sample)? = walked.steps.first else { return ["error": .string(name(walked.status))] }
        let q = sample.quaternion
        let legacy = tendon_euler_legacy(q)
        let rotations = tendon_euler_rotations(q)
        let guide = tendon_euler_guide(q)
        let head = tendon_euler_head(q)
        let map = tendon_quaternion(x: 1, y: 0, z: 0, w: 0)
        return [
            "raw": JSON(elements(of: sample.raw, 4) as [Int16]), "fixed": JSON(components(q)),
            "pitch": JSON(legacy.pitch), "roll": JSON(legacy.roll), "yaw": JSON(legacy.yaw),
            "x_rotation": JSON(rotations.x), "y_rotation": JSON(rotations.y), "z_rotation": JSON(rotations.z),
            "times_1000": JSON(components(tendon_quaternion_multiply(q, map))),
            "guide_pitch": JSON(guide.pitch), "guide_roll": JSON(guide.roll), "guide_yaw": JSON(guide.yaw),
            "head_pitch": JSON(head.pitch), "head_roll": JSON(head.roll), "head_yaw": JSON(head.yaw),
            "near_gimbal_lock": .bool(rotations.near_gimbal_lock), "trailing_bytes": JSON(bytes.count - 8),
        ]
    }
}
