// SPDX-License-Identifier: MIT
// Obvious devices: frames with the fields of their payloads.
import CTendon
import TendonSupport

extension ObviousVectors {
    @Sendable static func frame(_ input: JSON) throws(VectorError) -> JSON {
        let bytes = try input.bytes("hex")
        return bytes.withUnsafeBufferPointer { bytes in
            var frame = tendon_obvious_frame()
            var payload = tendon_obvious_payload()
            var status = tendon_obvious_decode_frame(
                bytes.baseAddress, bytes.count, Int(TENDON_OBVIOUS_FRAME_MAX), &frame)
            if status >= 0 { status = tendon_obvious_decode_payload(&frame, &payload) }
            guard status >= 0 else { return failure(status) }
            return [
                "flags": JSON(frame.flags), "corr": JSON(frame.corr), "opcode": JSON(frame.opcode),
                "status": JSON(frame.status), "payload": hex(frame.payload, frame.payload_length),
                "name": .string(text(tendon_replay_opcode_name(frame.opcode))), "fields": fields(frame, payload),
            ]
        }
    }

    private static func fields(_ frame: tendon_obvious_frame, _ payload: tendon_obvious_payload) -> JSON {
        if frame.status != 0 {
            let badOffset = tendon_obvious_status_from_wire(frame.status) == TENDON_OBVIOUS_ERROR_BAD_OFFSET
            return badOffset ? ["expected_offset": JSON(payload.next.offset)] : [:]
        }
        let response = Int(frame.flags) & Int(TENDON_OBVIOUS_RESPONSE) != 0
        return response ? responseFields(frame.opcode, payload) : requestFields(frame.opcode, payload)
    }

    private static func list(_ payload: tendon_obvious_payload) -> [tendon_obvious_feature] {
        var payload = payload
        let count = Int(payload.features.count)
        return (0..<count).map { tendon_obvious_feature_at(&payload, $0) }
    }

    private static func features(_ payload: tendon_obvious_payload) -> JSON {
        let items = list(payload).map { item -> JSON in
            ["id": JSON(item.id), "enable": JSON(item.enable), "toggle": JSON(item.toggle)]
        }
        return ["features": .array(items)]
    }

    /// Of requests and events.
    private static func requestFields(_ opcode: UInt8, _ p: tendon_obvious_payload) -> JSON {
        switch tendon_obvious_opcode(UInt32(opcode)) {
        case TENDON_OBVIOUS_HELLO:
            return [
                "proto_min": JSON(p.hello.proto_min), "proto_max": JSON(p.hello.proto_max),
                "max_frame": JSON(p.hello.max_frame), "window": JSON(p.hello.window), "nonce": hex(p.hello.nonce, 8),
            ]
        case TENDON_OBVIOUS_PING: return ["echo": hex(p.echo.data, p.echo.length)]
        case TENDON_OBVIOUS_SET_TIME: return ["time": JSON(p.time.time)]
        case TENDON_OBVIOUS_FEATURE_STATUS: return ["ids": .array(list(p).map { JSON($0.id) })]
        case TENDON_OBVIOUS_FEATURE_TOGGLE:
            return ["features": .array(list(p).map { ["id": JSON($0.id), "toggle": JSON($0.toggle)] })]
        case TENDON_OBVIOUS_XFER_BEGIN:
            return [
                "obj": JSON(p.begin.obj), "flags": JSON(p.begin.flags), "chunk_max": JSON(p.begin.chunk_max),
                "size": JSON(p.begin.size), "crc32": JSON(p.begin.crc32), "sha256": hex(p.begin.sha256, 32),
                "manifest": hex(p.begin.manifest, Int(p.begin.manifest_length)),
            ]
        case TENDON_OBVIOUS_XFER_DATA:
            return [
                "session": JSON(p.data.session), "offset": JSON(p.data.offset), "data": hex(p.data.data, p.data.length),
            ]
        case TENDON_OBVIOUS_XFER_STATUS, TENDON_OBVIOUS_XFER_END: return ["session": JSON(p.session.session)]
        case TENDON_OBVIOUS_XFER_ABORT:
            return ["session": JSON(p.session.session), "reason": JSON(p.session.reason)]
        case TENDON_OBVIOUS_FW_ACTIVATE:
            return [
                "version": JSON(p.activate.version), "mode": JSON(p.activate.mode),
                "delay_100ms": JSON(p.activate.delay_100ms),
            ]
        case TENDON_OBVIOUS_FW_CONFIRM:
            return ["version": JSON(p.confirm.version), "verdict": JSON(p.confirm.verdict)]
        case TENDON_OBVIOUS_REBOOT: return ["mode": JSON(p.reboot.mode), "reason": JSON(p.reboot.reason)]
        case TENDON_OBVIOUS_EVT_FEATURE_CHANGED: return features(p)
        case TENDON_OBVIOUS_EVT_REBOOTING:
            return ["reason": JSON(p.rebooting.reason), "delay_ms": JSON(p.rebooting.delay_ms)]
        case TENDON_OBVIOUS_EVT_XFER_PROGRESS:
            return [
                "session": JSON(p.progress.session), "offset": JSON(p.progress.offset), "total": JSON(p.progress.total),
            ]
        case TENDON_OBVIOUS_EVT_FW_TRIAL:
            return ["version": JSON(p.trial.version), "remaining_s": JSON(p.trial.remaining_s)]
        default: return [:]
        }
    }

    private static func responseFields(_ opcode: UInt8, _ p: tendon_obvious_payload) -> JSON {
        switch tendon_obvious_opcode(UInt32(opcode)) {
        case TENDON_OBVIOUS_HELLO:
            let hello = p.hello_response
            return [
                "proto": JSON(hello.proto), "max_frame": JSON(hello.max_frame), "window": JSON(hello.window),
                "caps": JSON(hello.caps), "boot_id": JSON(hello.boot_id),
            ]
        case TENDON_OBVIOUS_GET_DEVICE_INFO:
            let info = p.device_info
            return [
                "product": JSON(info.product), "serial": .string(String(info.serial)), "fw": JSON(info.fw),
                "bootloader": JSON(info.bootloader), "stack": JSON(info.stack), "sdk": JSON(info.sdk),
                "counter": .string(String(info.counter)), "flags": JSON(info.flags), "battery": JSON(info.battery),
                "hw_rev": JSON(info.hw_rev), "key_id": JSON(info.key_id),
            ]
        case TENDON_OBVIOUS_PING: return ["echo": hex(p.echo.data, p.echo.length)]
        case TENDON_OBVIOUS_GET_NONCE: return ["nonce": hex(p.nonce.bytes, 16)]
        case TENDON_OBVIOUS_GET_TIME: return ["time": JSON(p.time.time)]
        case TENDON_OBVIOUS_FEATURE_STATUS, TENDON_OBVIOUS_FEATURE_TOGGLE: return features(p)
        case TENDON_OBVIOUS_FEATURE_COUNTER:
            return ["counter": .string(String(p.counter.counter)), "hash8": hex(p.counter.hash8, 8)]
        case TENDON_OBVIOUS_XFER_BEGIN:
            let begin = p.begin_response
            return [
                "session": JSON(begin.session), "offset": JSON(begin.offset), "chunk_max": JSON(begin.chunk_max),
                "crc32": JSON(begin.crc32),
            ]
        case TENDON_OBVIOUS_XFER_DATA: return ["next_offset": JSON(p.next.offset)]
        case TENDON_OBVIOUS_XFER_STATUS:
            let transfer = p.transfer
            return [
                "obj": JSON(transfer.obj), "state": JSON(transfer.state), "session": JSON(transfer.session),
                "offset": JSON(transfer.offset), "total": JSON(transfer.total), "crc32": JSON(transfer.crc32),
                "sha256": hex(transfer.sha256, 32),
            ]
        case TENDON_OBVIOUS_XFER_END:
            return ["result": JSON(p.end.result), "flags": JSON(p.end.flags), "detail": JSON(p.end.detail)]
        case TENDON_OBVIOUS_FW_STATE:
            let firmware = p.firmware
            return [
                "active": JSON(firmware.active), "active_state": JSON(firmware.active_state),
                "staged": JSON(firmware.staged), "staged_state": JSON(firmware.staged_state),
                "rollback": JSON(firmware.rollback), "epoch": JSON(firmware.epoch),
                "trial_remaining_s": JSON(firmware.trial_remaining_s),
            ]
        default: return [:]
        }
    }
}
