// SPDX-License-Identifier: MIT
import CTendon
import Tendon

/// Values read from the grip, and commands to it. For the loop's thread.
extension GripCore {
    func whenBatteryIsRead(_ body: @escaping (Result<BatteryInfo, FjordenError>) -> Void) {
        readings.battery.append(body)
        let status = tendon_fjorden_session_read_battery(block.pointer, tendon_monotonic_ms())
        refresh()
        if status < 0 { readings.battery.answer(.failure(.gripUnableToReadBatteryInfo)) }
    }

    func whenInfoIsRead(_ body: @escaping (Result<GripInfo, FjordenError>) -> Void) {
        readings.info.append(body)
        let status = tendon_fjorden_session_read_info(block.pointer, tendon_monotonic_ms())
        refresh()
        if status < 0 { readings.info.answer(.failure(.gripUnableToReadGripInfo)) }
    }

    func request(
        _ command: tendon_fjorden_command, _ body: @escaping (Result<GripResponse, GripCommandError>) -> Void
    ) {
        var command = command
        if let fault = withPointer(to: &command, { tendon_fjorden_command_fault($0) }) {
            return body(.failure(.outOfRange(String(cString: fault))))
        }
        let status = withPointer(to: &command) {
            tendon_fjorden_session_request(block.pointer, $0, tendon_monotonic_ms())
        }
        if status < 0 {
            body(.failure(.host(TendonError(status: status, operation: .write))))
        } else {
            readings.response = body
        }
        refresh()
    }

    /// Stops waiting for the response.
    func cancelRequest() {
        readings.response = nil
        tendon_fjorden_session_cancel_request(block.pointer)
    }

    var info: GripInfo {
        let info = block.pointer.pointee.info
        func one(_ index: tendon_fjorden_string) -> String? {
            let present = elements(info.present, of: Bool.self, Int(TENDON_FJORDEN_STRING_COUNT.rawValue))
            let size = Int(TENDON_FJORDEN_STRING_SIZE)
            guard present[Int(index.rawValue)] else { return nil }
            let all = elements(info.strings, of: UInt8.self, size * present.count)
            let bytes = all[(size * Int(index.rawValue))..<(size * (Int(index.rawValue) + 1))]
            return String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
        }
        return GripInfo(
            manufacturerName: one(TENDON_FJORDEN_STRING_MANUFACTURER), modelNumber: one(TENDON_FJORDEN_STRING_MODEL),
            hardwareVersion: one(TENDON_FJORDEN_STRING_HARDWARE),
            firmware: one(TENDON_FJORDEN_STRING_FIRMWARE).flatMap { FirmwareVersion(string: $0) },
            serialNumber: one(TENDON_FJORDEN_STRING_SERIAL))
    }

    var hasInfo: Bool { block.pointer.pointee.has_info }
    var battery: BatteryInfo? {
        block.pointer.pointee.has_level ? BatteryInfo(level: Int(block.pointer.pointee.level)) : nil
    }

    func responded(_ notice: tendon_fjorden_session_event) {
        guard let body = readings.response else { return }
        readings.response = nil
        if notice.status < 0 {
            body(.failure(.host(TendonError(status: notice.status, operation: .receive))))
        } else if let response = notice.response {
            let refusal = GripCommandError(response.pointee.status)
            body(refusal.map { .failure($0) } ?? .success(GripResponse(response.pointee)))
        }
    }
}
