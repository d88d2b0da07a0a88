// SPDX-License-Identifier: MIT
//
// All unsafe code of this module.

import CTendon
import Tendon

/// An event, a request, a message that the C core lends for a callback.
typealias CEvent = UnsafePointer<tendon_activ5_event>
typealias CRequest = UnsafePointer<tendon_activ5_request>
typealias CMessage = UnsafePointer<tendon_activ5_message>

/// The session's inputs at a stable address.
let activ5SessionInputs: CBlock<tendon_session_inputs> = {
    let block = CBlock<tendon_session_inputs>()
    block.pointer.pointee = tendon_activ5_session_inputs
    return block
}()

/// Texts of C structs, which Swift sees as tuples.
func string<Tuple>(_ bytes: Tuple, _ count: Int) -> String {
    withUnsafeBytes(of: bytes) { String(decoding: $0.prefix(count), as: UTF8.self) }
}

/// Sets as many services as fit.
func setServices(of options: inout tendon_activ5_options, _ services: [tendon_uuid]) {
    let places = min(services.count, Int(TENDON_ACTIV5_SERVICES_MAX))
    withUnsafeMutableBytes(of: &options.services) { bytes in
        let table = bytes.bindMemory(to: tendon_uuid.self)
        for index in 0..<places { table[index] = services[index] }
    }
    options.service_count = UInt8(places)
}

/// The name of a device that no manager has found.
func setName(of device: CPointer<tendon_activ5_device>, _ name: String) {
    let bytes = name.utf8.prefix(Int(TENDON_ACTIV5_NAME_SIZE))
    withUnsafeMutableBytes(of: &device.pointee.name) { $0.copyBytes(from: bytes) }
    device.pointee.name_length = UInt8(bytes.count)
}

extension tendon_activ5_text {
    /// At most 64 bytes; `nil`: not known.
    init(_ text: String?) {
        self.init()
        guard let text else { return }
        let utf8 = Array(text.utf8.prefix(Int(TENDON_ACTIV5_KEPT_SIZE)))
        withUnsafeMutableBytes(of: &bytes) { $0.copyBytes(from: utf8) }
        length = UInt8(utf8.count)
        known = true
    }

    /// `nil` until it is received.
    var string: String? { known ? TendonActiv5.string(bytes, Int(length)) : nil }
}

extension tendon_activ5_message {
    /// The message's text or a part of it.
    var string: String { TendonActiv5.string(self.text, Int(text_length)) }

    func string(_ field: tendon_activ5_field) -> String? {
        guard field.present else { return nil }
        return withUnsafeBytes(of: self.text) {
            String(decoding: $0.dropFirst(Int(field.offset)).prefix(Int(field.length)), as: UTF8.self)
        }
    }
}

/// Lends a message that this call makes; `nil` if `body` returns that there is none.
func withMessage<Result>(
    _ body: (UnsafeMutablePointer<tendon_activ5_message>) -> tendon_status,
    _ use: (tendon_activ5_message) -> Result
) -> Result? {
    withUnsafeTemporaryAllocation(of: tendon_activ5_message.self, capacity: 1) { buffer in
        buffer.initialize(repeating: tendon_activ5_message())
        return body(buffer.baseAddress!) >= 0 ? use(buffer[0]) : nil
    }
}

/// The first message in a notification of the text characteristic; `nil` if there is none, or if it is malformed.
func firstMessage(in notification: [UInt8]) -> tendon_activ5_message? {
    final class Taker {
        var message: tendon_activ5_message?
    }
    let taker = Taker()
    let deframer = CBlock<tendon_activ5_deframer>()
    return withExtendedLifetime((taker, deframer)) {
        let take: tendon_activ5_on_text = { context, status, message, _ in
            let taker = object(Taker.self, context)
            if status >= 0, taker.message == nil { taker.message = message?.pointee }
        }
        lending(notification) {
            tendon_activ5_deframer_feed(deframer.pointer, $0, $1, 0, take, context(of: taker))
        }
        tendon_activ5_deframer_flush(deframer.pointer, 0, take, context(of: taker))
        return taker.message
    }
}
