// SPDX-License-Identifier: MIT
// Activ5 trainer: commands, values and conversions. Formats: docs/protocols/activ5.md.
import CTendon
import Tendon
import TendonSupport

enum Activ5Vectors {
    static let kinds: [VectorKind] = [
        VectorKind("activ5", "command", command),
        VectorKind("activ5", "legacy_notification", legacyNotification),
        VectorKind("activ5", "legacy_stream", legacyStream),
        value("force", "F0FE"),
        value("imu", "F0F5"),
        VectorKind("activ5", "imu_time_delta", timeDelta),
        VectorKind("activ5", "convert", convert),
        VectorKind("activ5", "sample_rate", sampleRate),
        value("battery", "2A19"),
        value("string_char", "2A25"),
        VectorKind("activ5", "uuid_join", joinUUID),
        value("timestamp", "F0F3"),
        value("unknown_char", "FFFF"),
        VectorKind("activ5", "squeeze", squeeze),
        VectorKind("activ5", "squeeze_stream", squeezeStream),
        VectorKind("activ5", "flow", flow),
    ]

    static func failure(_ status: tendon_status) -> JSON { ["error": .string(name(status))] }

    static func name(_ status: tendon_status) -> String { text(tendon_activ5_status_name(status)) }

    // MARK: Rows

    /// A value of a characteristic: the vector's, or the kind's usual one.
    private static func value(_ kind: String, _ usual: String) -> VectorKind {
        VectorKind("activ5", kind) { (input) throws(VectorError) in
            let which = try characteristic(input["char"]?.string ?? usual)
            return message(which, try input.bytes("hex"))
        }
    }

    // MARK: Inputs

    static func characteristic(_ name: String) throws(VectorError) -> tendon_activ5_characteristic {
        var uuid = try uuid(name)
        return tendon_activ5_characteristic_of(&uuid)
    }

    static func uuid(_ name: String) throws(VectorError) -> tendon_uuid {
        var uuid = tendon_uuid()
        guard tendon_uuid_parse(name, name.utf8.count, &uuid, nil) >= 0 else { throw VectorError("bad_uuid", name) }
        return uuid
    }

    /// "F0FE".
    static func name(_ which: tendon_activ5_characteristic) -> String {
        let number = String(tendon_activ5_uuid(which), radix: 16, uppercase: true)
        return String(repeating: "0", count: 4 - number.count) + number
    }

    static func integer(_ key: String, in input: JSON) throws(VectorError) -> Int {
        guard let number = input[key]?.integer else { throw VectorError("bad_input", "'\(key)' is not a whole number") }
        return number
    }

    /// "nan" and "inf" are numbers too, and null is none.
    static func number(_ key: String, in input: JSON) throws(VectorError) -> Double {
        guard let member = input[key] else { throw VectorError("missing_input", "'\(key)' is missing") }
        if member == .null { return .nan }
        guard let number = member.number ?? member.string.flatMap(Double.init) else {
            throw VectorError("bad_input", "'\(key)' is not a number")
        }
        return number
    }

    static func string(_ key: String, in input: JSON) throws(VectorError) -> String {
        guard let text = input[key]?.string else { throw VectorError("missing_input", "'\(key)' is not a text") }
        return text
    }

    /// 19, "19" or "0x13".
    static func terminator(_ input: JSON) throws(VectorError) -> UInt8 {
        guard let member = input["terminator"] else { return UInt8(TENDON_ACTIV5_TERMINATOR) }
        let word = member.string ?? ""
        let number = word.hasPrefix("0x") ? Int(word.dropFirst(2), radix: 16) : member.integer ?? Int(word)
        guard let number, let byte = UInt8(exactly: number) else { throw VectorError("bad_input", "terminator") }
        return byte
    }
}

// MARK: - Host to device

extension Activ5Vectors {
    static func commandNamed(_ name: String) throws(VectorError) -> tendon_activ5_command {
        for number in 0..<TENDON_ACTIV5_COMMAND_COUNT.rawValue
        where text(tendon_activ5_command_name(tendon_activ5_command(number))) == name {
            return tendon_activ5_command(number)
        }
        throw VectorError("unknown_command", name)
    }

    @Sendable static func command(_ input: JSON) throws(VectorError) -> JSON {
        let command = try commandNamed(try string("command", in: input))
        let read = tendon_activ5_command_read(command)
        guard read == TENDON_ACTIV5_CHARACTERISTIC_UNKNOWN else { return ["read": .string(name(read))] }
        var out = [UInt8](repeating: 0, count: 32)
        let length = tendon_activ5_encode_command(command, try terminator(input), &out, out.count)
        return length < 0 ? failure(length) : ["hex": .string(hexText(out.prefix(Int(length))))]
    }

    @Sendable static func sampleRate(_ input: JSON) throws(VectorError) -> JSON {
        var out: [UInt8] = [0, 0]
        let status = tendon_activ5_encode_sample_rate(Int64(try integer("rate", in: input)), &out)
        if status < 0 { return failure(status) }
        return ["char": .string(name(TENDON_ACTIV5_SAMPLE_RATE)), "hex": .string(hexText(out))]
    }
}

// MARK: - Device to host

extension Activ5Vectors {
    private static func message(_ which: tendon_activ5_characteristic, _ bytes: [UInt8]) -> JSON {
        let message = CBlock<tendon_activ5_message>()
        let status = tendon_activ5_parse_value(which, bytes, bytes.count, message.pointer)
        return status < 0 ? failure(status) : json(message.pointer)
    }

    static func content(_ message: UnsafePointer<tendon_activ5_message>) -> String {
        String(decoding: characters(message, 0, Int(message.pointee.text_length)), as: UTF8.self)
    }

    private static func characters(
        _ message: UnsafePointer<tendon_activ5_message>, _ offset: Int, _ length: Int
    ) -> [UInt8] {
        guard let start = MemoryLayout<tendon_activ5_message>.offset(of: \.text) else { return [] }
        return Array(UnsafeRawBufferPointer(start: UnsafeRawPointer(message) + start + offset, count: length))
    }

    private static func part(
        _ field: tendon_activ5_field, _ message: UnsafePointer<tendon_activ5_message>
    ) -> JSON? {
        guard field.present else { return nil }
        return .string(String(decoding: characters(message, Int(field.offset), Int(field.length)), as: UTF8.self))
    }

    static func typeName(_ message: UnsafePointer<tendon_activ5_message>) -> String {
        text(tendon_activ5_message_type_name(message.pointee.type))
    }

    static func json(_ message: UnsafePointer<tendon_activ5_message>) -> JSON {
        let value = message.pointee
        var result: JSON = ["type": .string(typeName(message))]
        switch value.type {
        case TENDON_ACTIV5_MESSAGE_INITIAL:
            result["version"] = part(value.version, message)
            result["field2"] = part(value.field2, message)
            result["battery_status"] = part(value.battery_status, message)
        case TENDON_ACTIV5_MESSAGE_ISOMETRIC:
            result["raw"] = .real(value.raw)
            result["newtons"] = .real(value.newtons)
        case TENDON_ACTIV5_MESSAGE_IMU: motion(value.imu, &result)
        case TENDON_ACTIV5_MESSAGE_TIMESTAMP:
            result["raw"] = JSON(value.ticks)
            result["seconds"] = .real(value.seconds)
        case TENDON_ACTIV5_MESSAGE_BATTERY: result["percent"] = JSON(value.percent)
        case TENDON_ACTIV5_MESSAGE_UNKNOWN: break
        default: result["value"] = .string(content(message))
        }
        return result
    }

    private static func motion(_ imu: tendon_activ5_imu, _ result: inout JSON) {
        var imu = imu
        let scaled = tendon_activ5_scaled(&imu)
        let acceleration: [Int16] = elements(of: imu.raw_acceleration, 3)
        let gyro: [Int16] = elements(of: imu.raw_gyro, 3)
        result["raw"] = .array(acceleration.map { JSON($0) } + gyro.map { JSON($0) } + [JSON(imu.ticks)])
        result["accel_g"] = JSON(elements(of: imu.acceleration, 3) as [Double])
        result["gyro_rad_s"] = JSON(elements(of: imu.gyro, 3) as [Double])
        result["gyro_scaled_rad_s"] = JSON(elements(of: scaled.gyro, 3) as [Double])
        result["timestamp_s"] = .real(imu.timestamp)
    }

    @Sendable static func joinUUID(_ input: JSON) throws(VectorError) -> JSON {
        let first = Array(try string("uuid1", in: input).utf8)
        let second = Array(try string("uuid2", in: input).utf8)
        var out = [UInt8](repeating: 0, count: first.count + second.count)
        let length = tendon_activ5_join_uuid(first, first.count, second, second.count, &out, out.count)
        if length < 0 { return failure(length) }
        return ["uuid": .string(String(decoding: out.prefix(Int(length)), as: UTF8.self))]
    }

    @Sendable static func timeDelta(_ input: JSON) throws(VectorError) -> JSON {
        let ticks = (input["ticks"]?.array ?? []).compactMap { $0.integer.map(UInt32.init(truncatingIfNeeded:)) }
        guard ticks.count == 2 else { throw VectorError("bad_input", "'ticks' is not two numbers") }
        let delta = tendon_activ5_tick_delta(ticks[0], ticks[1])
        return ["delta_ticks": JSON(delta), "delta_s": .real(tendon_activ5_to_s(Double(delta)))]
    }

    @Sendable static func convert(_ input: JSON) throws(VectorError) -> JSON {
        let function = try string("fn", in: input)
        let number = try number("input", in: input)
        switch function {
        case "toGForce": return ["value": .real(tendon_activ5_to_g(number))]
        case "toRadPerSec": return ["value": .real(tendon_activ5_to_rad_per_s(number))]
        case "toSec": return ["value": .real(tendon_activ5_to_s(number))]
        case "fromGForce": return ["value": JSON(tendon_activ5_from_g(number))]
        case "fromRadPerSec": return ["value": JSON(tendon_activ5_from_rad_per_s(number))]
        case "fromSec": return ["value": JSON(tendon_activ5_from_s(number))]
        case "toNewtons": return ["value": .real(tendon_activ5_to_newtons(number))]
        case "toNewtonsLegacy": return ["value": .real(tendon_activ5_to_newtons_legacy(number))]
        case "toLBF": return ["value": .real(Double(tendon_activ5_to_lbf(number)))]
        case "toLBFLegacy": return ["value": .real(Double(tendon_activ5_to_lbf_legacy(number)))]
        default: throw VectorError("unknown_function", function)
        }
    }
}
