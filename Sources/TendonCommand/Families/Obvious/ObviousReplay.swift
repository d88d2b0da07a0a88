// SPDX-License-Identifier: MIT
// Obvious: values of a captured connection, decoded without taking part in it. The receiver of the C core puts the
// messages of both directions together again; what it would acknowledge is discarded.
import CTendon
import Tendon
import TendonSupport

struct ObviousReplay: FamilyReplay {
    private(set) var counters = StreamCounters()
    private let requests = MessageTap()
    private let responses = MessageTap()

    init() {}

    private enum Which {
        case data, status
    }

    private static func which(_ uuid: tendon_uuid) -> Which? {
        let gatt = tendon_obvious_gatt_defaults()
        func isEqual(_ other: tendon_uuid) -> Bool {
            var (one, other) = (uuid, other)
            return tendon_uuid_equal(&one, &other)
        }
        if isEqual(gatt.data) { return .data }
        return isEqual(gatt.status) ? .status : nil
    }

    static func recognizes(_ characteristic: tendon_uuid) -> Bool { which(characteristic) != nil }

    mutating func value(
        _ bytes: [UInt8], of characteristic: tendon_uuid, written: Bool, at milliseconds: UInt64, to lines: ReplayLines
    ) {
        switch ObviousReplay.which(characteristic) {
        case .status: profile(bytes, lines)
        case .data:
            counters.notifications += 1
            for result in (written ? requests : responses).take(bytes, milliseconds) {
                switch result {
                case .success(let frame): message(frame, lines)
                case .failure(let error): malformed(error.status, lines)
                }
            }
        case nil:
            var uuid = characteristic
            var number: UInt16 = 0
            if tendon_uuid_as_u16(&uuid, &number), number == 0x2A19, let percent = bytes.first {
                lines.event("battery") { $0.member("battery_percent", percent) }
            }
        }
    }

    private mutating func profile(_ bytes: [UInt8], _ lines: ReplayLines) {
        var flags: UInt16 = 0
        let status = tendon_obvious_decode_profile(bytes, bytes.count, &flags)
        guard status >= 0 else { return malformed(status, lines) }
        lines.event("protocol", ["protocol": "OGP/1", "flags": JSON(flags)])
    }

    private mutating func malformed(_ status: tendon_status, _ lines: ReplayLines) {
        // A lossy radio repeats and reorders.
        let usual = [TENDON_OBVIOUS_ERROR_SEG_DUP, TENDON_OBVIOUS_ERROR_SEG_STALE, TENDON_OBVIOUS_ERROR_SEG_WINDOW]
        guard !usual.contains(where: { Int($0) == Int(status) }) else {
            counters.skipped += 1
            return
        }
        counters.malformed += 1
        lines.event("malformed") { line in
            line.member("error", word: tendon_obvious_status_name(status))
            line.member("text", text(tendon_obvious_status_text(status)))
        }
    }

    /// One message of either direction.
    private mutating func message(_ bytes: [UInt8], _ lines: ReplayLines) {
        var frame = tendon_obvious_frame()
        var payload = tendon_obvious_payload()
        let decoded = bytes.withUnsafeBufferPointer { bytes -> (tendon_status, JSON, [tendon_obvious_feature]) in
            var status = tendon_obvious_decode_frame(
                bytes.baseAddress, bytes.count, Int(TENDON_OBVIOUS_FRAME_MAX), &frame)
            if status >= 0 { status = tendon_obvious_decode_payload(&frame, &payload) }
            guard status >= 0 else { return (status, [:], []) }
            return (status, ObviousReplay.members(frame, payload), ObviousReplay.states(frame, payload))
        }
        guard decoded.0 >= 0 else { return malformed(decoded.0, lines) }
        counters.samples += 1
        let isResponse = frame.flags & UInt8(TENDON_OBVIOUS_RESPONSE) != 0
        let isEvent = frame.flags & UInt8(TENDON_OBVIOUS_EVENT) != 0
        var members: JSON = [
            "opcode": .string(ogpOpcodes[frame.opcode] ?? ""),
            "kind": .string(isEvent ? "event" : isResponse ? "response" : "request"), "corr": JSON(frame.corr),
        ]
        if isResponse {
            let status = tendon_obvious_status_from_wire(frame.status)
            members["status"] = .string(status < 0 ? text(tendon_obvious_status_name(status)) : "OK")
        }
        lines.event("ogp", members.merging(decoded.1))
        for feature in decoded.2 { lines.event("feature", feature.members) }
    }

    /// Features whose states the device reports.
    private static func states(
        _ frame: tendon_obvious_frame, _ payload: tendon_obvious_payload
    ) -> [tendon_obvious_feature] {
        let reports = [
            TENDON_OBVIOUS_FEATURE_STATUS, TENDON_OBVIOUS_FEATURE_TOGGLE, TENDON_OBVIOUS_EVT_FEATURE_CHANGED,
        ]
        let isOfDevice = Int(frame.flags) & (TENDON_OBVIOUS_RESPONSE | TENDON_OBVIOUS_EVENT) != 0
        guard isOfDevice, frame.status == 0, reports.contains(where: { Int($0.rawValue) == Int(frame.opcode) }),
            payload.features.item_size == 4
        else { return [] }
        var payload = payload
        return (0..<Int(payload.features.count)).map { tendon_obvious_feature_at(&payload, $0) }
    }

    /// What people look for in a capture.
    private static func members(_ frame: tendon_obvious_frame, _ payload: tendon_obvious_payload) -> JSON {
        var payload = payload
        let isResponse = frame.flags & UInt8(TENDON_OBVIOUS_RESPONSE) != 0
        guard frame.status == 0 else { return [:] }
        switch Int(frame.opcode) {
        case Int(TENDON_OBVIOUS_GET_DEVICE_INFO.rawValue) where isResponse:
            let info = payload.device_info
            return [
                "product": .string("\(info.product)"), "serial": .string(ObviousText.serial(info.serial)),
                "firmware": .string(ObviousVersion.text(info.fw)),
            ]
        case Int(TENDON_OBVIOUS_FEATURE_STATUS.rawValue), Int(TENDON_OBVIOUS_FEATURE_TOGGLE.rawValue),
            Int(TENDON_OBVIOUS_EVT_FEATURE_CHANGED.rawValue):
            let features = (0..<Int(payload.features.count)).map { tendon_obvious_feature_at(&payload, $0) }
            let hasStates = payload.features.item_size == 4
            return ["features": .array(features.map { hasStates ? $0.received : ["feature": JSON($0.id)] })]
        case Int(TENDON_OBVIOUS_XFER_BEGIN.rawValue) where !isResponse: return ["total_bytes": JSON(payload.begin.size)]
        case Int(TENDON_OBVIOUS_XFER_DATA.rawValue) where !isResponse:
            return ["offset": JSON(payload.data.offset), "length": JSON(payload.data.length)]
        case Int(TENDON_OBVIOUS_EVT_XFER_PROGRESS.rawValue):
            return ["offset": JSON(payload.progress.offset), "total_bytes": JSON(payload.progress.total)]
        case Int(TENDON_OBVIOUS_FW_STATE.rawValue) where isResponse:
            return ["firmware": .string(ObviousVersion.text(payload.firmware.active))]
        default: return [:]
        }
    }
}

/// A status of the receiver.
private struct SegmentError: Error {
    let status: tendon_status
}

/// Puts the messages of one direction together.
private final class MessageTap: @unchecked Sendable {
    // Used by one replay at a time.
    private let receiver = CBlock<tendon_obvious_receiver>()
    private let handler = CBlock<tendon_obvious_receiver_handler>()
    private let memory = CBytes(count: Int(TENDON_OBVIOUS_RECEIVER_MEMORY))
    private var results: [Result<[UInt8], SegmentError>] = []

    init() {
        handler.pointer.pointee = tendon_obvious_receiver_handler(
            on_message: { context, frame, length, _ in
                object(MessageTap.self, context).results.append(.success(copied(frame, length)))
                return true
            },
            on_error: { context, status in
                object(MessageTap.self, context).results.append(.failure(SegmentError(status: status)))
            },
            on_control: { _, _, _ in }, send: { _, _ in })
        tendon_obvious_receiver_init(
            receiver.pointer, memory.pointer, memory.count, handler.pointer, context(of: self))
        // The capture's own limits are not known here.
        tendon_obvious_receiver_set_mtu(receiver.pointer, 517)
        tendon_obvious_receiver_set_limits(
            receiver.pointer, Int(TENDON_OBVIOUS_WINDOW_MAX), Int(TENDON_OBVIOUS_FRAME_MAX))
    }

    func take(_ bytes: [UInt8], _ milliseconds: UInt64) -> [Result<[UInt8], SegmentError>] {
        results = []
        tendon_obvious_receiver_segment(receiver.pointer, bytes, bytes.count, milliseconds)
        return results
    }
}

/// Numbers as the cloud and people spell them.
enum ObviousText {
    static func serial(_ number: UInt64) -> String {
        let digits = String(number, radix: 16, uppercase: true)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }
}

extension tendon_obvious_feature {
    /// The members of the event `feature`.
    var members: JSON {
        var (feature, line) = (self, LineWriter())
        line.open("{")
        line.members { tendon_obvious_feature_members($0, &feature) }
        line.close("}")
        return (try? JSON(parsing: line.bytes)) ?? [:]
    }

    /// The same with the switch as the device sends it, also of a feature that is not enabled.
    var received: JSON {
        var members = members
        members["toggle"] = tendon_obvious_feature(id: id, enable: 1, toggle: toggle).members["toggle"]
        return members
    }
}
