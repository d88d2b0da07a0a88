// SPDX-License-Identifier: MIT
// Fjorden grip: the values of the reference profile. Formats: docs/protocols/fjorden.md.
import CTendon
import TendonSupport

enum FjordenVectors {
    static let kinds: [VectorKind] = [
        VectorKind("fjorden", "event_notification", eventNotification),
        VectorKind("fjorden", "event_stream", eventStream),
        VectorKind("fjorden", "control_state", controlState),
        VectorKind("fjorden", "resync", resync),
        VectorKind("fjorden", "command", command),
        VectorKind("fjorden", "response", response),
        VectorKind("fjorden", "battery", battery),
        VectorKind("fjorden", "hid_report", hidReport),
        VectorKind("fjorden", "firmware_parse", firmwareParse),
        VectorKind("fjorden", "firmware_compare", firmwareCompare),
        VectorKind("fjorden", "firmware_check", firmwareCheck),
        VectorKind("fjorden", "smp_encode", smpEncode),
        VectorKind("fjorden", "smp_decode", smpDecode),
        VectorKind("fjorden", "gesture", gesture),
        VectorKind("fjorden", "profile_override", profileOverride),
        VectorKind("fjorden", "manager", manager),
    ]

    static func failure(_ status: tendon_status) -> JSON { ["error": .string(name(status))] }

    /// The vectors' name of an error.
    static func name(_ status: tendon_status) -> String {
        Int(status) == TENDON_ERROR_TRUNCATED ? "TRUNCATED" : text(tendon_fjorden_status_name(status))
    }

    /// A member that is a number of the given width; nil where it does not fit.
    static func number<Number: FixedWidthInteger>(
        _ key: String, in input: JSON, default value: Number = 0
    ) throws(VectorError) -> Number? {
        guard let member = input[key] else { return value }
        guard let number = member.integer else { throw VectorError("bad_input", "'\(key)' is not a whole number") }
        return Number(exactly: number)
    }

    static func string(_ key: String, in input: JSON) throws(VectorError) -> String {
        guard let text = input[key]?.string else { throw VectorError("missing_input", "'\(key)' is not a text") }
        return text
    }

    static let range = tendon_status(TENDON_FJORDEN_ERROR_RANGE)
}

// MARK: - Control

extension FjordenVectors {
    static func json(_ state: tendon_fjorden_control_state) -> JSON {
        [
            "shutter": .string(["released", "half", "full"][min(Int(state.shutter), 2)]),
            "dial_pressed": .bool(state.dial_pressed), "fn_pressed": .bool(state.fn_pressed),
            "lever": .string(state.lever < 0 ? "left" : state.lever > 0 ? "right" : "neutral"),
            "custom_mask": JSON(state.custom_mask), "dial_position": JSON(state.dial_position),
        ]
    }

    @Sendable static func controlState(_ input: JSON) throws(VectorError) -> JSON {
        let bytes = try input.bytes("hex")
        var state = tendon_fjorden_control_state()
        let status = tendon_fjorden_decode_control_state(bytes, bytes.count, &state)
        return status < 0 ? failure(status) : json(state)
    }

    @Sendable static func resync(_ input: JSON) throws(VectorError) -> JSON {
        func last(_ key: String) throws(VectorError) -> UInt8 {
            guard let member = input[key], member != .null else { return 0 }
            return try event(member.string ?? "")
        }
        let bytes = try input.bytes("state_hex")
        var state = tendon_fjorden_control_state()
        let status = tendon_fjorden_decode_control_state(bytes, bytes.count, &state)
        guard status >= 0 else { return failure(status) }
        var events: [UInt8] = [0, 0]
        let count = tendon_fjorden_resync(try last("last_shutter"), try last("last_lever"), &state, &events)
        return ["events": .array(events.prefix(count).map { .string(eventName($0)) })]
    }

    @Sendable static func command(_ input: JSON) throws(VectorError) -> JSON {
        let name = try string("command", in: input)
        let opcode = tendon_fjorden_command_named(name, name.utf8.count)
        guard opcode >= 0 else { throw VectorError("unknown_command", name) }
        guard let identifier: UInt8 = try number("request_id", in: input),
            let duration: UInt16 = try number("duration_ms", in: input),
            let longPress: UInt16 = try number("long_press_ms", in: input),
            let leverHold: UInt16 = try number("lever_hold_ms", in: input),
            let divider: UInt8 = try number("dial_divider", in: input),
            let mode = try ledMode(input["mode"])
        else { return failure(range) }
        let payload = input["payload"] == nil ? [] : try input.bytes("payload")
        var out = [UInt8](repeating: 0, count: Int(TENDON_FJORDEN_COMMAND_MAX))
        let status = payload.withUnsafeBufferPointer { payload in
            var command = tendon_fjorden_command()
            command.opcode = tendon_fjorden_opcode(UInt32(opcode))
            command.request_id = identifier
            command.payload = payload.baseAddress
            command.payload_length = payload.count
            command.led_mode = mode
            command.led_duration_ms = duration
            command.config = tendon_fjorden_config(
                long_press_ms: longPress, lever_hold_ms: leverHold, dial_divider: divider)
            return tendon_fjorden_encode_command(&command, &out, out.count)
        }
        return status < 0 ? failure(status) : ["hex": .string(hexText(out.prefix(Int(status))))]
    }

    /// By name or number; nil when there is no such mode.
    private static func ledMode(_ mode: JSON?) throws(VectorError) -> UInt8? {
        guard let mode else { return 0 }
        if let name = mode.string { return UInt8(exactly: tendon_fjorden_led_mode_named(name, name.utf8.count)) }
        guard let number = mode.integer else { throw VectorError("bad_input", "'mode' is no name or number") }
        return UInt8(exactly: number)
    }

    @Sendable static func response(_ input: JSON) throws(VectorError) -> JSON {
        let bytes = try input.bytes("hex")
        var response = tendon_fjorden_response()
        let status = bytes.withUnsafeBufferPointer {
            tendon_fjorden_decode_response($0.baseAddress, $0.count, &response)
        }
        guard status >= 0 else { return failure(status) }
        let said = tendon_fjorden_response_status_name(response.status).map { String(cString: $0) }
        var result: JSON = [
            "opcode": JSON(response.opcode), "request_id": JSON(response.request_id),
            "status": .string(said ?? "unknownStatus(\(response.status))"),
            "payload": .string(hexText(bytes.suffix(response.payload_length))),
        ]
        guard response.status == 0 else { return result }
        if Int(response.opcode) == Int(TENDON_FJORDEN_GET_CONFIG.rawValue) {
            result["long_press_ms"] = JSON(response.config.long_press_ms)
            result["lever_hold_ms"] = JSON(response.config.lever_hold_ms)
            result["dial_divider"] = JSON(response.config.dial_divider)
        }
        if Int(response.opcode) == Int(TENDON_FJORDEN_GET_STATE.rawValue),
            case .object(let members) = json(response.state)
        {
            for member in members { result[member.key] = member.value }
        }
        return result
    }
}

// MARK: - Standard values

extension FjordenVectors {
    @Sendable static func battery(_ input: JSON) throws(VectorError) -> JSON {
        let bytes = try input.bytes("hex")
        let level = tendon_fjorden_decode_battery(bytes, bytes.count)
        if level < 0 { return failure(level) }
        return ["level": JSON(level), "is_low": .bool(level < tendon_status(TENDON_FJORDEN_BATTERY_LOW_BELOW))]
    }

    @Sendable static func hidReport(_ input: JSON) throws(VectorError) -> JSON {
        let bytes = try input.bytes("hex")
        let usage = tendon_fjorden_decode_hid_report(bytes, bytes.count)
        return usage < 0 ? failure(usage) : ["usage": JSON(usage), "pressed": .bool(usage != 0)]
    }

    @Sendable static func smpEncode(_ input: JSON) throws(VectorError) -> JSON {
        let name = try string("command", in: input)
        let request = tendon_fjorden_smp_request_named(name, name.utf8.count)
        guard request >= 0 else { throw VectorError("unknown_command", name) }
        guard let sequence: UInt8 = try number("sequence", in: input) else { return failure(range) }
        let text = input["text"]?.string ?? ""
        var out = [UInt8](repeating: 0, count: text.utf8.count + 16)
        let status = tendon_fjorden_encode_smp(
            tendon_fjorden_smp_request(UInt32(request)), sequence, text, text.utf8.count, &out, out.count)
        return status < 0 ? failure(status) : ["hex": .string(hexText(out.prefix(Int(status))))]
    }

    @Sendable static func smpDecode(_ input: JSON) throws(VectorError) -> JSON {
        let bytes = try input.bytes("hex")
        var smp = tendon_fjorden_smp()
        let status = bytes.withUnsafeBufferPointer { tendon_fjorden_decode_smp($0.baseAddress, $0.count, &smp) }
        guard status >= 0 else { return failure(status) }
        let payload = bytes.dropFirst(Int(TENDON_FJORDEN_SMP_HEADER_SIZE)).prefix(Int(smp.length))
        return [
            "op": .string(text(tendon_fjorden_smp_operation_name(smp.operation))), "version": JSON(smp.version),
            "flags": JSON(smp.flags), "length": JSON(smp.length), "group": JSON(smp.group),
            "sequence": JSON(smp.sequence), "command": JSON(smp.command), "payload": .string(hexText(payload)),
        ]
    }
}
