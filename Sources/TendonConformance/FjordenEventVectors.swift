// SPDX-License-Identifier: MIT
// Fjorden grip: events, streams of them, gestures and profiles.
import CTendon
import TendonSupport

extension FjordenVectors {
    /// "dialButtonCW", "customButtonPress(2)".
    static func eventName(_ event: UInt8) -> String {
        let name = text(tendon_fjorden_event_name(event))
        return tendon_fjorden_event_is_custom(event) ? "\(name)(\(event & 15))" : name
    }

    static func event(_ name: String) throws(VectorError) -> UInt8 {
        guard let event = UInt8(exactly: tendon_fjorden_event_named(name, name.utf8.count)) else {
            throw VectorError("unknown_event", name)
        }
        return event
    }

    private static func isDial(_ event: UInt8) -> Bool {
        event == UInt8(TENDON_FJORDEN_DIAL_CW.rawValue) || event == UInt8(TENDON_FJORDEN_DIAL_CCW.rawValue)
    }

    private static func json(_ record: tendon_fjorden_record) -> JSON {
        var result: JSON = [:]
        if record.has_sequence {
            result["seq"] = JSON(record.sequence)
            result["time_ms"] = JSON(record.time_ms)
        }
        if record.lost_before > 0 { result["lost_before"] = JSON(record.lost_before) }
        guard record.status >= 0 else {
            result["error"] = .string(name(record.status))
            return result
        }
        result["event"] = .string(eventName(record.event))
        if record.event == 0 { result["code"] = JSON(record.code) }
        if isDial(record.event) { result["count"] = JSON(record.count) }
        if record.has_sequence && record.event == UInt8(TENDON_FJORDEN_BATTERY_LOW.rawValue) {
            result["percent"] = JSON(record.value)
        }
        return result
    }

    private static func records(_ bytes: [UInt8], _ profile: tendon_fjorden_profile) -> JSON {
        walk(bytes, profile) { bytes, profile in
            var walk = tendon_fjorden_records()
            let status = tendon_fjorden_records_begin(&walk, profile, bytes.baseAddress, bytes.count)
            guard status >= 0 else { return failure(status) }
            var record = tendon_fjorden_record()
            var result: [JSON] = []
            while tendon_fjorden_records_next(&walk, &record) { result.append(json(record)) }
            return ["records": .array(result)]
        }
    }

    /// A walk keeps both pointers: they are lent until it is done.
    private static func walk(
        _ bytes: [UInt8], _ profile: tendon_fjorden_profile,
        _ body: (UnsafeBufferPointer<UInt8>, UnsafePointer<tendon_fjorden_profile>) -> JSON
    ) -> JSON {
        bytes.withUnsafeBufferPointer { bytes in withUnsafePointer(to: profile) { body(bytes, $0) } }
    }

    private static func referenceProfile() -> tendon_fjorden_profile {
        var profile = tendon_fjorden_profile()
        tendon_fjorden_profile_init(&profile)
        return profile
    }

    @Sendable static func eventNotification(_ input: JSON) throws(VectorError) -> JSON {
        let profile = referenceProfile()
        return records(try input.bytes("hex"), profile)
    }

    @Sendable static func eventStream(_ input: JSON) throws(VectorError) -> JSON {
        let profile = referenceProfile()
        var stream = tendon_fjorden_stream()
        var results: [JSON] = []
        for item in input["sequence"]?.array ?? [] {
            let bytes = try (["hex": item] as JSON).bytes("hex")
            results.append(notification(bytes, &stream, profile))
        }
        return [
            "results": .array(results), "lost": JSON(stream.lost), "duplicates": JSON(stream.duplicates),
            "out_of_order": JSON(stream.out_of_order),
        ]
    }

    private static func notification(
        _ bytes: [UInt8], _ stream: inout tendon_fjorden_stream, _ profile: tendon_fjorden_profile
    ) -> JSON {
        walk(bytes, profile) { bytes, profile in
            var walk = tendon_fjorden_records()
            let status = tendon_fjorden_stream_begin(&stream, &walk, profile, bytes.baseAddress, bytes.count)
            guard status >= 0 else { return failure(status) }
            var record = tendon_fjorden_record()
            var result: [JSON] = []
            while tendon_fjorden_stream_next(&stream, &walk, &record) { result.append(json(record)) }
            return ["records": .array(result)]
        }
    }

    @Sendable static func profileOverride(_ input: JSON) throws(VectorError) -> JSON {
        var profile = referenceProfile()
        let override = input["override"] ?? [:]
        switch override["event_format"]?.string {
        case "code8": profile.format = TENDON_FJORDEN_CODE8
        case "record5", nil: profile.format = TENDON_FJORDEN_RECORD5
        default: throw VectorError("bad_override", "event_format")
        }
        if case .object(let members)? = override["codes"] {
            for member in members {
                guard let code = code(member.key) else { throw VectorError("bad_override", member.key) }
                let event = try event(member.value.string ?? "")
                withUnsafeMutableBytes(of: &profile.codes) { $0[Int(code)] = event }
            }
        }
        return records(try input.bytes("hex"), profile)
    }

    /// "0x05" or "5".
    private static func code(_ text: String) -> UInt8? {
        let isHex = text.hasPrefix("0x") || text.hasPrefix("0X")
        return isHex ? UInt8(text.dropFirst(2), radix: 16) : UInt8(text)
    }
}

// MARK: - Gestures

extension FjordenVectors {
    @Sendable static func gesture(_ input: JSON) throws(VectorError) -> JSON {
        var config = tendon_fjorden_config_default()
        let wanted = input["config"] ?? [:]
        guard let longPress = try number("long_press_ms", in: wanted, default: config.long_press_ms),
            let leverHold = try number("lever_hold_ms", in: wanted, default: config.lever_hold_ms),
            let divider = try number("dial_divider", in: wanted, default: config.dial_divider)
        else { return failure(range) }
        config = tendon_fjorden_config(long_press_ms: longPress, lever_hold_ms: leverHold, dial_divider: divider)
        var engine = tendon_fjorden_gesture_engine()
        let status = tendon_fjorden_gesture_init(&engine, &config)
        guard status >= 0 else { return failure(status) }
        var events: [JSON] = []
        for step in input["sequence"]?.array ?? [] {
            events += try gestures(of: step, &engine)
        }
        return ["events": .array(events)]
    }

    private static func gestures(
        of step: JSON, _ engine: inout tendon_fjorden_gesture_engine
    ) throws(VectorError) -> [JSON] {
        var control: Int32 = 0
        if let name = step["control"]?.string {
            control = tendon_fjorden_control_named(name, name.utf8.count)
            guard control > 0 else { throw VectorError("unknown_control", name) }
        }
        guard let time: UInt64 = try number("t_ms", in: step), let value: Int32 = try number("value", in: step) else {
            throw VectorError("bad_input", "a number of a step is out of range")
        }
        var out = tendon_fjorden_gestures()
        let status = tendon_fjorden_gesture_input(
            &engine, time, tendon_fjorden_control(UInt32(control)), value, &out)
        guard status >= 0 else { throw VectorError("bad_input", "a value that the control does not have") }
        let given: [tendon_fjorden_gesture_event] = elements(of: out.events, out.count)
        return given.map { item in
            var event: JSON = ["t_ms": JSON(item.time_ms), "event": .string(eventName(item.event))]
            if isDial(item.event) { event["count"] = JSON(item.count) }
            return event
        }
    }
}

// MARK: - Firmware versions

extension FjordenVectors {
    /// Lends a parsed version, or nil; its texts live as long as the call.
    private static func withVersion<Result>(
        _ text: String?, _ body: (UnsafePointer<tendon_fjorden_version>?) -> Result
    ) -> Result {
        guard var text else { return body(nil) }
        return text.withUTF8 { bytes in
            bytes.withMemoryRebound(to: CChar.self) { characters in
                var version = tendon_fjorden_version()
                // An empty text has no address that C could take.
                guard let start = characters.baseAddress,
                    tendon_fjorden_version_parse(start, characters.count, &version)
                else { return body(nil) }
                return withUnsafePointer(to: version) { body($0) }
            }
        }
    }

    private static func part(_ start: UnsafePointer<CChar>?, _ length: Int) -> String? {
        start.map { String(decoding: UnsafeRawBufferPointer(start: $0, count: length), as: UTF8.self) }
    }

    private static func description(_ version: UnsafePointer<tendon_fjorden_version>) -> String {
        var out = [CChar](
            repeating: 0, count: version.pointee.prerelease_length + version.pointee.build_length + 32)
        let length = tendon_fjorden_version_format(version, &out, out.count)
        return String(decoding: out.prefix(Int(max(length, 0))).map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    @Sendable static func firmwareParse(_ input: JSON) throws(VectorError) -> JSON {
        withVersion(try string("text", in: input)) { version in
            guard let version else { return ["value": .null] }
            let value = version.pointee
            return [
                "value": [
                    "major": JSON(value.major), "minor": JSON(value.minor), "patch": JSON(value.patch),
                    "prerelease": part(value.prerelease, value.prerelease_length).map { .string($0) } ?? .null,
                    "build": part(value.build, value.build_length).map { .string($0) } ?? .null,
                    "description": .string(description(version)),
                ]
            ]
        }
    }

    @Sendable static func firmwareCompare(_ input: JSON) throws(VectorError) -> JSON {
        let (left, right) = (try string("a", in: input), try string("b", in: input))
        return withVersion(left) { a in
            withVersion(right) { b in
                guard let a, let b else { return ["order": .null] }
                return ["order": JSON(tendon_fjorden_version_compare(a, b))]
            }
        }
    }

    @Sendable static func firmwareCheck(_ input: JSON) throws(VectorError) -> JSON {
        let connected = input["connected"]?.bool ?? false
        return withVersion(input["current"]?.string) { current in
            withVersion(input["latest"]?.string) { latest in
                let outcome = tendon_fjorden_firmware_check(connected, current, latest)
                if outcome < 0 { return ["outcome": .string("error(\(name(outcome)))")] }
                guard outcome > 0, let latest else { return ["outcome": "upToDate"] }
                return ["outcome": .string("updateAvailable(\(description(latest)))")]
            }
        }
    }
}
