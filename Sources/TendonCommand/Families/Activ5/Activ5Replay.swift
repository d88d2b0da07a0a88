// SPDX-License-Identifier: MIT
// Activ5: values of a captured connection, decoded without taking part in it.
import CTendon
import Tendon
import TendonActiv5
import TendonSupport

struct Activ5Replay: FamilyReplay {
    let address: String
    private(set) var counters = StreamCounters()
    private let deframer = CBlock<tendon_activ5_deframer>()
    private var squeeze = tendon_activ5_squeeze()

    init(address: String) {
        self.address = address
    }

    static func recognizes(_ characteristic: tendon_uuid) -> Bool {
        var uuid = characteristic
        let which = tendon_activ5_characteristic_of(&uuid)
        // Battery and serial number are everybody's.
        return ![TENDON_ACTIV5_CHARACTERISTIC_UNKNOWN, TENDON_ACTIV5_BATTERY, TENDON_ACTIV5_SERIAL_NUMBER].contains(
            which)
    }

    private func line(_ name: String, _ members: JSON) -> JSON {
        var line: JSON = ["event": .string(name), "family": "activ5", "address": .string(address)]
        if case .object(let all) = members { for member in all { line[member.key] = member.value } }
        return line
    }

    mutating func value(_ bytes: [UInt8], of characteristic: tendon_uuid, written: Bool, at milliseconds: UInt64)
        -> [JSON]
    {
        var uuid = characteristic
        let which = tendon_activ5_characteristic_of(&uuid)
        if written {
            if which == TENDON_ACTIV5_WRITE { return [line("command", command(bytes))] }
            return which == TENDON_ACTIV5_SAMPLE_RATE && bytes.count == 2
                ? [line("sample_rate", ["rate": JSON(MessageParser.parseValue(data: bytes))])] : []
        }
        if which == TENDON_ACTIV5_READ { return texts(bytes, at: milliseconds) }
        let message = CBlock<tendon_activ5_message>()
        let status = tendon_activ5_parse_value(which, bytes, bytes.count, message.pointer)
        return took(status, message.pointer.pointee, at: milliseconds)
    }

    private func command(_ bytes: [UInt8]) -> JSON {
        let text = bytes.count > 2 ? sanitized(String(decoding: bytes.dropFirst().dropLast(), as: UTF8.self)) : ""
        return ["text": .string(text)]
    }

    private mutating func texts(_ bytes: [UInt8], at milliseconds: UInt64) -> [JSON] {
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
        return taken.messages.flatMap { took($0.0, $0.1, at: milliseconds) }
    }

    private mutating func took(
        _ status: tendon_status, _ message: tendon_activ5_message, at milliseconds: UInt64
    ) -> [JSON] {
        guard status >= 0 else {
            counters.malformed += 1
            return [line("malformed", ["error": .string(text(tendon_activ5_status_name(status)))])]
        }
        switch message.type {
        case TENDON_ACTIV5_MESSAGE_ISOMETRIC:
            counters.notifications += 1
            counters.samples += 1
            let force = A5Force(newtons: message.newtons, time: milliseconds)
            var config = tendon_activ5_squeeze_defaults()
            let happened = Int(tendon_activ5_squeeze_sample(&squeeze, &config, message.newtons, milliseconds))
            return [line("sample", force.json)] + squeezes(happened)
        case TENDON_ACTIV5_MESSAGE_IMU:
            counters.notifications += 1
            counters.samples += 1
            return [line("sample", IMUObject(message.imu).json)]
        case TENDON_ACTIV5_MESSAGE_BATTERY: return [line("battery", ["percent": JSON(message.percent)])]
        default:
            let type = text(tendon_activ5_message_type_name(message.type))
            let content = String(
                decoding: elements(of: message.text, Int(message.text_length)) as [UInt8], as: UTF8.self)
            return [line("message", ["type": .string(type), "text": .string(sanitized(content))])]
        }
    }

    private func squeezes(_ happened: Int) -> [JSON] {
        var lines: [JSON] = []
        if happened & TENDON_ACTIV5_SQUEEZE_SQUEEZED != 0 { lines.append(line("squeeze", ["state": "squeezed"])) }
        if happened & TENDON_ACTIV5_SQUEEZE_DEPRESSED != 0 { lines.append(line("squeeze", ["state": "depressed"])) }
        if happened & TENDON_ACTIV5_SQUEEZE_DOUBLE != 0 { lines.append(line("double_squeeze", [:])) }
        return lines
    }
}
