// SPDX-License-Identifier: MIT
// feelSpace naviBelt: requests of parameters, tones, and the frames of the USB transport.
import CTendon
import TendonSupport

extension FeelspaceVectors {
    @Sendable static func setMode(_ vector: JSON) throws(VectorError) -> JSON {
        let mode = try vector.feelspaceInput.int32("mode")
        return try packet { tendon_feelspace_encode_set_mode(mode, $0, $1) }
    }

    @Sendable static func setDefaultIntensity(_ vector: JSON) throws(VectorError) -> JSON {
        let input = vector.feelspaceInput
        let intensity = try input.int32("intensity")
        let feedback = try input.flag("feedback", default: true)
        return try packet { tendon_feelspace_encode_set_default_intensity(intensity, feedback, $0, $1) }
    }

    @Sendable static func setHeadingOffset(_ vector: JSON) throws(VectorError) -> JSON {
        let input = vector.feelspaceInput
        let degrees = try input.int32("degrees")
        return try packet { tendon_feelspace_encode_set_heading_offset(degrees, $0, $1) }
    }

    @Sendable static func setAccuracySignal(_ vector: JSON) throws(VectorError) -> JSON {
        let input = vector.feelspaceInput
        let inApp = try input.flag("enable_in_app")
        let inCompass = try input.flag("enable_in_compass")
        let persistent = try input.flag("persistent")
        return try packet { tendon_feelspace_encode_set_accuracy_signal(inApp, inCompass, persistent, $0, $1) }
    }

    @Sendable static func setPairing(_ vector: JSON) throws(VectorError) -> JSON {
        let input = vector.feelspaceInput
        let required = try input.flag("required")
        let persistent = try input.flag("persistent")
        return try packet { tendon_feelspace_encode_set_pairing(required, persistent, $0, $1) }
    }

    @Sendable static func setOrientationPeriod(_ vector: JSON) throws(VectorError) -> JSON {
        let period = try vector.feelspaceInput.int32("period_ms")
        return try packet { tendon_feelspace_encode_set_orientation_period(period, $0, $1) }
    }

    @Sendable static func setName(_ vector: JSON) throws(VectorError) -> JSON {
        guard let suffix = vector.feelspaceInput["suffix"]?.string else {
            throw VectorError("missing_input", "'suffix' is missing")
        }
        return try packet { (out, room) throws(VectorError) in
            suffix.withCString { tendon_feelspace_encode_set_name($0, suffix.utf8.count, out, room) }
        }
    }

    @Sendable static func tone(_ vector: JSON) throws(VectorError) -> JSON {
        let input = vector.feelspaceInput
        let seconds = try floats(input, "durations_s")
        let hertz = try floats(input, "frequencies_hz")
        guard seconds.count == hertz.count else { throw VectorError("invalid_argument") }
        return try packet { tendon_feelspace_encode_tone(seconds, hertz, seconds.count, $0, $1) }
    }

    private static func floats(_ input: JSON, _ key: String) throws(VectorError) -> [Float] {
        guard let values = input[key]?.array else { throw VectorError("missing_input", "'\(key)' is not a list") }
        var result: [Float] = []
        for value in values {
            guard let number = value.number else { throw VectorError("bad_input", "'\(key)' holds no number") }
            result.append(Float(number))
        }
        return result
    }

    @Sendable static func usbFrame(_ vector: JSON) throws(VectorError) -> JSON {
        let input = vector.feelspaceInput
        if input["write_char"] != nil {
            let payload = try input.bytes("payload")
            let characteristic = try characteristic(input, "write_char")
            return try packet(room: payload.count + 2) {
                tendon_feelspace_encode_usb_write(characteristic, payload, payload.count, $0, $1)
            }
        }
        if input["notify_char"] != nil {
            let enable = try input.flag("enable")
            let characteristic = try characteristic(input, "notify_char")
            return try packet { tendon_feelspace_encode_usb_notify(characteristic, enable, $0, $1) }
        }
        let characteristic = try characteristic(input, "read_char")
        return try packet { tendon_feelspace_encode_usb_read(characteristic, $0, $1) }
    }

    private static func characteristic(_ input: JSON, _ key: String) throws(VectorError) -> UInt16 {
        guard let word = input[key]?.string else { throw VectorError("missing_input", "'\(key)' is missing") }
        guard let value = UInt16(word, radix: 16) else { throw VectorError("invalid_argument") }
        return value
    }
}
