// SPDX-License-Identifier: MIT
// Obvious devices over OGP/1, Tendon's own protocol: frames, segments, texts. Formats: docs/protocols/obvious.md.
import CTendon
import Tendon
import TendonObvious
import TendonSupport

enum ObviousVectors {
    static let kinds: [VectorKind] = [
        VectorKind("obvious", "crc32", crc32),
        VectorKind("obvious", "crc32_resume", crc32Resume),
        VectorKind("obvious", "frame", frame),
        VectorKind("obvious", "segment", segment),
        VectorKind("obvious", "stream", stream),
        VectorKind("obvious", "control", control),
        VectorKind("obvious", "package", package),
        VectorKind("obvious", "manifest", manifest),
        VectorKind("obvious", "version", version),
        VectorKind("obvious", "version_code", versionCode),
        VectorKind("obvious", "card_number", cardNumber),
        VectorKind("obvious", "profile", profile),
    ]

    static func failure(_ status: tendon_status) -> JSON { ["error": .string(name(status))] }

    static func name(_ status: tendon_status) -> String { text(tendon_obvious_status_name(status)) }

    /// A member that is a number of the given width.
    static func number<Number: FixedWidthInteger>(_ key: String, in input: JSON) throws(VectorError) -> Number {
        guard let member = input[key] else { throw VectorError("missing_input", "'\(key)' is missing") }
        guard let value = member.integer, let number = Number(exactly: value) else {
            throw VectorError("bad_input", "'\(key)' is not a number of its width")
        }
        return number
    }

    static func string(_ key: String, in input: JSON) throws(VectorError) -> String {
        guard let text = input[key]?.string else { throw VectorError("missing_input", "'\(key)' is not a text") }
        return text
    }

    static func hex(_ bytes: UnsafePointer<UInt8>?, _ count: Int) -> JSON {
        .string(hexText(UnsafeBufferPointer(start: bytes, count: bytes == nil ? 0 : count)))
    }
}

// MARK: - Checksums and texts

extension ObviousVectors {
    private static func crc(_ value: UInt32) -> JSON {
        let digits = String(value, radix: 16)
        return .string(String(repeating: "0", count: 8 - digits.count) + digits)
    }

    @Sendable static func crc32(_ input: JSON) throws(VectorError) -> JSON {
        let bytes = try input.bytes("hex")
        return ["crc32": crc(tendon_crc32(0, bytes, bytes.count))]
    }

    @Sendable static func crc32Resume(_ input: JSON) throws(VectorError) -> JSON {
        let bytes = try input.bytes("hex")
        let split: Int = try number("split", in: input)
        guard (0...bytes.count).contains(split) else { throw VectorError("bad_input", "'split' is beyond the bytes") }
        let prefix = tendon_crc32(0, bytes, split)
        let whole = bytes.withUnsafeBufferPointer { bytes in
            tendon_crc32(prefix, bytes.baseAddress.map { $0 + split }, bytes.count - split)
        }
        return ["crc32_prefix": crc(prefix), "crc32": crc(whole)]
    }

    private static func formatted(_ code: UInt32) -> JSON {
        var out = [CChar](repeating: 0, count: Int(TENDON_OBVIOUS_VERSION_SIZE))
        let status = tendon_obvious_format_version(code, &out)
        return status < 0 ? failure(status) : ["text": .string(text(out))]
    }

    @Sendable static func version(_ input: JSON) throws(VectorError) -> JSON {
        let string = try string("text", in: input)
        var code: UInt32 = 0
        let status = tendon_obvious_parse_version(string, string.utf8.count, &code)
        guard status >= 0 else { return failure(status) }
        var result = formatted(code)
        result["code"] = JSON(code)
        return result
    }

    @Sendable static func versionCode(_ input: JSON) throws(VectorError) -> JSON {
        formatted(try number("code", in: input))
    }

    @Sendable static func cardNumber(_ input: JSON) throws(VectorError) -> JSON {
        let string = try string("number", in: input)
        return PaymentCard.isCardNumber(string.utf8) ? ["valid": true] : ["error": "CARD_NUMBER"]
    }
}

// MARK: - Profile

extension ObviousVectors {
    private static func uuid(_ text: String) -> tendon_uuid? {
        var uuid = tendon_uuid()
        return tendon_obvious_parse_uuid(text, text.utf8.count, &uuid) < 0 ? nil : uuid
    }

    private static func isEqual(_ one: tendon_uuid, _ other: tendon_uuid) -> Bool {
        var (one, other) = (one, other)
        return tendon_uuid_equal(&one, &other)
    }

    @Sendable static func profile(_ input: JSON) throws(VectorError) -> JSON {
        guard let configured = input["gatt"] else { throw VectorError("missing_input", "'gatt' is missing") }
        guard let service = uuid(try string("svc", in: configured)),
            let data = uuid(try string("data", in: configured)),
            let status = uuid(try string("status", in: configured))
        else { return failure(tendon_status(TENDON_OBVIOUS_ERROR_UUID_FORMAT)) }
        var (hasData, hasStatus) = (false, false)
        if case .object(let services)? = input["discovered"] {
            for member in services {
                for characteristic in member.value.array ?? [] {
                    guard let other = uuid(member.key), let value = uuid(characteristic.string ?? ""),
                        isEqual(other, service)
                    else { continue }
                    hasData = hasData || isEqual(value, data)
                    hasStatus = hasStatus || isEqual(value, status)
                }
            }
        }
        let value: [UInt8]? = input["status"] == nil || input["status"] == .null ? nil : try input.bytes("status")
        var flags: UInt16 = 0
        let result = tendon_obvious_decode_profile(value, value?.count ?? 0, &flags)
        guard hasData, hasStatus, result >= 0 else {
            return failure(tendon_status(TENDON_OBVIOUS_ERROR_UNSUPPORTED_PROFILE))
        }
        return ["profile": "OGP/1", "flags": JSON(flags)]
    }
}

// MARK: - Segments

extension ObviousVectors {
    private static func window(in input: JSON) throws(VectorError) -> Int {
        let window: Int = try number("window", in: input)
        guard (1...Int(TENDON_OBVIOUS_WINDOW_MAX)).contains(window) else {
            throw VectorError("bad_input", "'window' is not 1 to \(TENDON_OBVIOUS_WINDOW_MAX)")
        }
        return window
    }

    @Sendable static func segment(_ input: JSON) throws(VectorError) -> JSON {
        let frame = try input.bytes("hex")
        let mtu: UInt16 = try number("mtu", in: input)
        let msgseq: UInt8 = try number("msgseq", in: input)
        let window = try window(in: input)
        let size = tendon_obvious_segment_size(Int(mtu))
        let count = tendon_obvious_segment_count(frame.count, size)
        var segments: [JSON] = []
        for index in 0..<count {
            var out = [UInt8](repeating: 0, count: size)
            let ack = tendon_obvious_segment_requests_ack(index, count, window)
            let length = tendon_obvious_encode_segment(frame, frame.count, size, msgseq, index, ack, &out)
            guard length >= 0 else { return failure(length) }
            segments.append(.string(hexText(out.prefix(Int(length)))))
        }
        return ["segment_size": JSON(size), "segments": .array(segments)]
    }

    @Sendable static func control(_ input: JSON) throws(VectorError) -> JSON {
        let bytes = try input.bytes("hex")
        var control = tendon_obvious_control()
        let status = tendon_obvious_decode_control(bytes, bytes.count, &control)
        guard status >= 0 else { return failure(status) }
        return [
            "msgseq": JSON(control.msgseq), "type": JSON(control.type), "reason": JSON(control.reason),
            "next": JSON(control.next), "bitmap": JSON(control.bitmap), "credit": JSON(control.credit),
        ]
    }

    /// What a receiver reported, in order.
    private final class Reported {
        var messages: [JSON] = []
        var errors: [JSON] = []

        /// The object behind a C context.
        static func at(_ context: UnsafeMutableRawPointer?) -> Reported? {
            context.map { Unmanaged<Reported>.fromOpaque($0).takeUnretainedValue() }
        }
    }

    @Sendable static func stream(_ input: JSON) throws(VectorError) -> JSON {
        let mtu: UInt16 = try number("mtu", in: input)
        let window = try window(in: input)
        let frameMax: UInt16 = try number("frame_max", in: input)
        var steps: [(time: UInt64, bytes: [UInt8])] = []
        for step in input["segments"]?.array ?? [] {
            steps.append((try number("t", in: step), try step.bytes("hex")))
        }
        let end: UInt64? = input["end_ms"] == nil || input["end_ms"] == .null ? nil : try number("end_ms", in: input)
        let reported = Reported()
        let receiver = CBlock<tendon_obvious_receiver>()
        let handler = CBlock<tendon_obvious_receiver_handler>()
        let capacity = Int(TENDON_OBVIOUS_WINDOW_MAX) * Int(TENDON_OBVIOUS_SEGMENT_MAX)
        let memory = UnsafeMutablePointer<UInt8>.allocate(capacity: capacity)
        defer {
            withExtendedLifetime((reported, receiver, handler)) {}
            memory.deallocate()
        }
        handler.pointer.pointee = tendon_obvious_receiver_handler(
            on_message: { context, frame, length, _ in
                Reported.at(context)?.messages.append(ObviousVectors.hex(frame, length))
                return true
            },
            on_error: { context, status in
                Reported.at(context)?.errors.append(.string(ObviousVectors.name(status)))
            },
            on_control: { _, _, _ in }, send: { _, _ in })
        tendon_obvious_receiver_init(
            receiver.pointer, memory, capacity, handler.pointer, Unmanaged.passUnretained(reported).toOpaque())
        tendon_obvious_receiver_set_mtu(receiver.pointer, Int(mtu))
        tendon_obvious_receiver_set_limits(receiver.pointer, window, Int(frameMax))
        for step in steps {
            tendon_obvious_receiver_segment(receiver.pointer, step.bytes, step.bytes.count, step.time)
        }
        if let end { tendon_obvious_receiver_tick(receiver.pointer, end) }
        var pending: JSON = .null
        var ack = tendon_obvious_control()
        if tendon_obvious_receiver_pending_ack(receiver.pointer, &ack) {
            var out = [UInt8](repeating: 0, count: Int(TENDON_OBVIOUS_CONTROL_SIZE))
            tendon_obvious_encode_control(&ack, &out)
            pending = .string(hexText(out))
        }
        return [
            "messages": .array(reported.messages), "errors": .array(reported.errors), "pending_ack": pending,
        ]
    }
}
