// SPDX-License-Identifier: MIT
import CTendon
import Tendon

/// Types of a trainer's messages.
public enum MessageType: String, Sendable, CaseIterable {
    /// The first message of a device; the handshake is the response.
    case initialMessage = "TC5k"
    /// A force.
    case isometric = "IS"
    /// The device's clock.
    case timestamp = "TS"
    /// Motion.
    case imu = "IM"
    /// First part of the serial number, of legacy devices.
    case sn1 = "SN1"
    /// Second part of it.
    case sn2 = "SN2"
    /// The first id.
    case uuid1 = "i"
    /// The second id.
    case uuid2 = "I"
    /// The battery's level.
    case battery = "battery"
    /// The serial number, of the new protocol.
    case serialNumber = "serialNumber"
    /// Any other text; it sets the state to stop.
    case unknown = "unknown"

    /// The type that the first field of a text indicates.
    public init(from message: String) {
        let field = message.utf8.prefix { $0 != UInt8(ascii: ";") }
        self.init(lending(Array(field)) { tendon_activ5_classify($0, $1) })
    }

    init(_ c: tendon_activ5_message_type) {
        self =
            switch c {
            case TENDON_ACTIV5_MESSAGE_INITIAL: .initialMessage
            case TENDON_ACTIV5_MESSAGE_ISOMETRIC: .isometric
            case TENDON_ACTIV5_MESSAGE_TIMESTAMP: .timestamp
            case TENDON_ACTIV5_MESSAGE_IMU: .imu
            case TENDON_ACTIV5_MESSAGE_SN1: .sn1
            case TENDON_ACTIV5_MESSAGE_SN2: .sn2
            case TENDON_ACTIV5_MESSAGE_UUID1: .uuid1
            case TENDON_ACTIV5_MESSAGE_UUID2: .uuid2
            case TENDON_ACTIV5_MESSAGE_BATTERY: .battery
            case TENDON_ACTIV5_MESSAGE_SERIAL_NUMBER: .serialNumber
            default: .unknown
            }
    }
}

/// Parses messages without a device.
///
/// ```swift
/// let (type, value) = MessageParser.parseLegacyMessage("IS9/IS")   // .isometric, 9.776… N
/// ```
public final class MessageParser {
    private init() {}

    /// By characteristic. Values: newtons (`Double`), `IMUObject`, seconds (`Double`), percent (`UInt64`) or `String`.
    public class func parseMessage(characteristic: A5Characteristic) -> (type: MessageType, value: Any?) {
        guard let bytes = characteristic.value else { return (.unknown, nil) }
        var uuid = characteristic.uuid.c
        let which = tendon_activ5_characteristic_of(&uuid)
        if which == TENDON_ACTIV5_TEXT_OUTPUT { return parse(firstMessage(in: bytes)) }
        return lending(bytes) { data, count in
            withMessage({ tendon_activ5_parse_value(which, data, count, $0) }) { parse($0) } ?? (.unknown, nil)
        }
    }

    /// By the text of one notification, with or without its frame.
    public class func parseLegacyMessage(_ message: String?) -> (type: MessageType, value: Any?) {
        parse(message.flatMap { firstMessage(in: Array($0.utf8)) })
    }

    /// The number of a binary force; 0 if the value is too short; `parseMessage` distinguishes the two.
    public class func parseValue(data: [UInt8]) -> Int {
        lending(data) { bytes, count in
            withMessage({ tendon_activ5_parse_value(TENDON_ACTIV5_FORCE, bytes, count, $0) }) { Int($0.raw) } ?? 0
        }
    }

    /// Motion; all zero if the value is too short; `parseMessage` distinguishes the two.
    public class func parseIMUValue(data: [UInt8]) -> IMUObject {
        lending(data) { bytes, count in
            withMessage({ tendon_activ5_parse_value(TENDON_ACTIV5_IMU, bytes, count, $0) }) { IMUObject($0.imu) }
                ?? IMUObject(tendon_activ5_imu())
        }
    }

    private static func parse(_ message: tendon_activ5_message?) -> (type: MessageType, value: Any?) {
        guard let message else { return (.unknown, nil) }
        let type = MessageType(message.type)
        return switch type {
        case .initialMessage: (type, message.string(message.version))
        case .isometric: (type, message.newtons)
        case .imu: (type, IMUObject(message.imu))
        case .timestamp: (type, message.seconds)
        case .battery: (type, UInt64(message.percent))
        case .sn1, .sn2, .uuid1, .uuid2, .serialNumber: (type, message.string)
        case .unknown: (type, nil)
        }
    }
}
