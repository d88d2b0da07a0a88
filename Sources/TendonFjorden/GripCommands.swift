// SPDX-License-Identifier: MIT
import CTendon
import Tendon

/// Why a grip did not do what it was told.
public enum GripCommandError: Error, Sendable, Hashable {
    /// The grip does not know the command.
    case unknownOpcode
    /// The command has the wrong number of bytes.
    case badLength
    /// A parameter is out of its range.
    case badParameter
    /// The grip is doing something else.
    case busy
    /// Not for us, or not now.
    case notPermitted
    /// A status that this version does not know.
    case unknownStatus(UInt8)
    /// From below: a parameter out of range, no answer in time, the link.
    case host(TendonError)

    /// `nil`: the status is that of success.
    init?(_ status: UInt8) {
        switch status {
        case 0: return nil
        case 1: self = .unknownOpcode
        case 2: self = .badLength
        case 3: self = .badParameter
        case 4: self = .busy
        case 5: self = .notPermitted
        default: self = .unknownStatus(status)
        }
    }
}

/// What a grip answered, copied.
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

/// What the grip's light does.
public enum LEDMode: UInt8, Sendable, CaseIterable {
    /// Dark.
    case off = 0
    /// Lit.
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

    /// What a grip has from the factory.
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

/// Where the grip's controls are.
public struct ControlState: Sendable, Hashable {
    /// How far the shutter button is pressed.
    public enum Shutter: UInt8, Sendable {
        /// Not at all.
        case released = 0
        /// To the first stop.
        case half
        /// All the way.
        case full
    }

    /// Where the zoom lever is.
    public enum Lever: Int8, Sendable {
        /// Held to the left.
        case left = -1
        /// In the middle.
        case neutral
        /// Held to the right.
        case right
    }

    /// How far the shutter button is pressed.
    public let shutter: Shutter
    /// The dial is a button, too.
    public let isDialPressed: Bool
    /// The fn button is down.
    public let isFnPressed: Bool
    /// Where the zoom lever is.
    public let lever: Lever
    /// Bit n: custom button n.
    public let customButtons: UInt8
    /// Detents since the grip was switched on; wraps.
    public let dialPosition: Int16

    init(_ c: tendon_fjorden_control_state) {
        shutter = Shutter(rawValue: c.shutter) ?? .released
        isDialPressed = c.dial_pressed
        isFnPressed = c.fn_pressed
        lever = Lever(rawValue: c.lever) ?? .neutral
        customButtons = c.custom_mask
        dialPosition = c.dial_position
    }
}
