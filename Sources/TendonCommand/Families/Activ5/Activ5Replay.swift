// SPDX-License-Identifier: MIT
// Activ5: values of a captured connection, decoded without taking part in it.
import CTendon
import Tendon
import TendonActiv5
import TendonSupport

struct Activ5Replay: FamilyReplay {
    private(set) var counters = StreamCounters()
    private let deframer = CBlock<tendon_activ5_deframer>()
    private var squeeze = tendon_activ5_squeeze()

    init() {}

    static func recognizes(_ characteristic: tendon_uuid) -> Bool {
        var uuid = characteristic
        let which = tendon_activ5_characteristic_of(&uuid)
        // Battery and serial number are standard characteristics.
        return ![TENDON_ACTIV5_CHARACTERISTIC_UNKNOWN, TENDON_ACTIV5_BATTERY, TENDON_ACTIV5_SERIAL_NUMBER].contains(
            which)
    }

    mutating func value(
        _ bytes: [UInt8], of characteristic: tendon_uuid, written: Bool, at milliseconds: UInt64, to lines: ReplayLines
    ) {
        var uuid = characteristic
        let which = tendon_activ5_characteristic_of(&uuid)
        if written { return self.written(bytes, which, lines) }
        if which == TENDON_ACTIV5_TEXT_OUTPUT { return texts(bytes, at: milliseconds, lines) }
        let message = CBlock<tendon_activ5_message>()
        let status = tendon_activ5_parse_value(which, bytes, bytes.count, message.pointer)
        took(status, message.pointer.pointee, at: milliseconds, lines)
    }

    private func written(_ bytes: [UInt8], _ which: tendon_activ5_characteristic, _ lines: ReplayLines) {
        if which == TENDON_ACTIV5_TEXT_COMMAND {
            let isFrame = bytes.count > 2
            let content = isFrame ? sanitized(String(decoding: bytes.dropFirst().dropLast(), as: UTF8.self)) : ""
            lines.event("command") { $0.member("command", content) }
        } else if which == TENDON_ACTIV5_SAMPLE_RATE, bytes.count == 2 {
            lines.event("sample_rate") { $0.member("rate_hz", MessageParser.parseValue(data: bytes)) }
        }
    }

    private mutating func texts(_ bytes: [UInt8], at milliseconds: UInt64, _ lines: ReplayLines) {
        final class Taken {
            var messages: [(tendon_status, tendon_activ5_message)] = []
        }
        let taken = Taken()
        withExtendedLifetime(taken) {
            tendon_activ5_deframer_feed(
                deframer.pointer, bytes, bytes.count, milliseconds,
                { context, status, message, _ in
                    object(Taken.self, context).messages.append((status, message?.pointee ?? tendon_activ5_message()))
                }, context(of: taken))
        }
        for (status, message) in taken.messages { took(status, message, at: milliseconds, lines) }
    }

    private mutating func took(
        _ status: tendon_status, _ message: tendon_activ5_message, at milliseconds: UInt64, _ lines: ReplayLines
    ) {
        guard status >= 0 else {
            counters.malformed += 1
            return lines.event("malformed") { line in
                line.member("error", word: tendon_activ5_status_name(status))
                line.member("text", text(tendon_activ5_status_text(status)))
            }
        }
        switch message.type {
        case TENDON_ACTIV5_MESSAGE_ISOMETRIC:
            counters.notifications += 1
            counters.samples += 1
            let force = A5Force(newtons: message.newtons, time: milliseconds)
            lines.sample(numbers: { force.numbers }) { force.write(to: &$0) }
            var config = tendon_activ5_squeeze_defaults()
            squeezes(Int(tendon_activ5_squeeze_sample(&squeeze, &config, message.newtons, milliseconds)), lines)
        case TENDON_ACTIV5_MESSAGE_IMU:
            counters.notifications += 1
            counters.samples += 1
            let motion = IMUObject(message.imu)
            lines.sample(numbers: { motion.numbers }) { motion.write(to: &$0) }
        case TENDON_ACTIV5_MESSAGE_BATTERY: lines.event("battery") { $0.member("battery_percent", message.percent) }
        default:
            let content = String(
                decoding: elements(of: message.text, Int(message.text_length)) as [UInt8], as: UTF8.self)
            lines.event("message") { line in
                line.member("message", word: tendon_activ5_message_type_name(message.type))
                line.member("content", sanitized(content))
            }
        }
    }

    private func squeezes(_ happened: Int, _ lines: ReplayLines) {
        if happened & TENDON_ACTIV5_SQUEEZE_SQUEEZED != 0 {
            lines.event("squeeze") { $0.member("state", word: "squeezed") }
        }
        if happened & TENDON_ACTIV5_SQUEEZE_DEPRESSED != 0 {
            lines.event("squeeze") { $0.member("state", word: "released") }
        }
        if happened & TENDON_ACTIV5_SQUEEZE_DOUBLE != 0 { lines.event("double_squeeze") }
    }
}
