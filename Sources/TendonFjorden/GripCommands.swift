// SPDX-License-Identifier: MIT
import CTendon
import Tendon

/// The reason why a grip did not execute a command.
public enum GripCommandError: Error, Sendable, Hashable {
    /// The grip does not know the command.
    case unknownOpcode
    /// The command has the wrong number of bytes.
    case badLength
    /// A parameter is out of its range.
    case badParameter
    /// The grip executes another request.
    case busy
    /// The command is not permitted now.
    case notPermitted
    /// An unknown status.
    case unknownStatus(UInt8)
    /// A parameter is out of its range; the command was not sent. The text names the parameter and its range.
    case outOfRange(String)
    /// The task was cancelled.
    case cancelled
    /// No response in time, or the connection failed.
    case host(TendonError)

    /// Returns `nil` if the status is success.
    init?(_ status: UInt8) {
        switch UInt32(status) {
        case TENDON_FJORDEN_RESPONSE_OK.rawValue: return nil
        case TENDON_FJORDEN_RESPONSE_UNKNOWN_OPCODE.rawValue: self = .unknownOpcode
        case TENDON_FJORDEN_RESPONSE_BAD_LENGTH.rawValue: self = .badLength
        case TENDON_FJORDEN_RESPONSE_BAD_PARAMETER.rawValue: self = .badParameter
        case TENDON_FJORDEN_RESPONSE_BUSY.rawValue: self = .busy
        case TENDON_FJORDEN_RESPONSE_NOT_PERMITTED.rawValue: self = .notPermitted
        default: self = .unknownStatus(status)
        }
    }
}

extension GripCommandError: CancellableError {
    /// Whether the program cancelled the command.
    public var isCancelled: Bool { self == .cancelled }
}

extension GripCommandError: CustomStringConvertible {
    /// One line of plain English.
    public var description: String {
        switch self {
        case .unknownOpcode: "the grip does not support the command"
        case .badLength: "the grip rejected the length of the command"
        case .badParameter: "the grip rejected a parameter"
        case .busy: "the grip is busy"
        case .notPermitted: "the grip does not permit the command now"
        case .unknownStatus(let status): "the grip rejected the command with the unknown status \(status)"
        case .outOfRange(let fault): "a parameter is out of its range: \(fault)"
        case .cancelled: "the command was cancelled"
        case .host(let error): "\(error)"
        }
    }

    /// The same as `description`.
    public var localizedDescription: String { description }
}

/// The response of a grip, copied.
struct GripResponse: Sendable {
    let payload: [UInt8]
    let config: tendon_fjorden_config
    let state: tendon_fjorden_control_state

    init(_ c: tendon_fjorden_response) {
        payload = copied(c.payload, c.payload_length)
        config = c.config
        state = c.state
    }
}

/// Mode of the grip's LED.
public enum LEDMode: UInt8, Sendable, CaseIterable {
    /// Off.
    case off = 0
    /// On.
    case on
    /// Blinks slowly.
    case blinkSlow
    /// Blinks fast.
    case blinkFast
}

/// Limits of the grip's own derivation of events.
public struct GestureLimits: Sendable, Hashable {
    /// 200 to 2000 ms.
    public var longPress: Duration = .milliseconds(500)
    /// 150 to 2000 ms.
    public var leverHold: Duration = .milliseconds(400)
    /// Detents for one event; 1 to 8.
    public var dialDivider = 1

    /// The factory defaults.
    public init() {}

    init(_ c: tendon_fjorden_config) {
        longPress = .milliseconds(Int(c.long_press_ms))
        leverHold = .milliseconds(Int(c.lever_hold_ms))
        dialDivider = Int(c.dial_divider)
    }

    var c: tendon_fjorden_config {
        tendon_fjorden_config(
            long_press_ms: UInt16(clamping: longPress.milliseconds),
            lever_hold_ms: UInt16(clamping: leverHold.milliseconds), dial_divider: UInt8(clamping: dialDivider))
    }
}

/// Positions of the grip's controls.
public struct ControlState: Sendable, Hashable {
    /// Position of the shutter button.
    public enum Shutter: UInt8, Sendable {
        /// Not pressed.
        case released = 0
        /// Pressed halfway.
        case half
        /// Pressed completely.
        case full
    }

    /// Position of the zoom lever.
    public enum Lever: Int8, Sendable {
        /// Held to the left.
        case left = -1
        /// In the middle.
        case neutral
        /// Held to the right.
        case right
    }

    /// Position of the shutter button.
    public let shutter: Shutter
    /// Whether the dial is pressed.
    public let isDialPressed: Bool
    /// Whether the fn button is pressed.
    public let isFnPressed: Bool
    /// Position of the zoom lever.
    public let lever: Lever
    /// Bit n: custom button n.
    public let customButtons: UInt8
    /// Detents since the grip was switched on; wraps.
    public let dialPosition: Int16

    /// Returns `nil` for an unknown position.
    init?(_ c: tendon_fjorden_control_state) {
        guard let shutter = Shutter(rawValue: c.shutter), let lever = Lever(rawValue: c.lever) else { return nil }
        self.shutter = shutter
        self.lever = lever
        isDialPressed = c.dial_pressed
        isFnPressed = c.fn_pressed
        customButtons = c.custom_mask
        dialPosition = c.dial_position
    }
}
