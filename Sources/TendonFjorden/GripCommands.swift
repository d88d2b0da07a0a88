// SPDX-License-Identifier: MIT
import CTendon
import Tendon

/// Why a grip did not do what it was told.
public enum GripCommandError: Error, Sendable, Hashable {
    case unknownOpcode
    case badLength
    case badParameter
    case busy
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

public enum LEDMode: UInt8, Sendable, CaseIterable {
    case off = 0
    case on, blinkSlow, blinkFast
}

/// Limits of the grip's own derivation of events.
public struct GestureLimits: Sendable, Hashable {
    /// 200 to 2000 ms.
    public var longPress: Duration = .milliseconds(500)
    /// 150 to 2000 ms.
    public var leverHold: Duration = .milliseconds(400)
    /// Detents for one event; 1 to 8.
    public var dialDivider = 1

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
    public enum Shutter: UInt8, Sendable {
        case released = 0
        case half, full
    }

    public enum Lever: Int8, Sendable {
        case left = -1
        case neutral, right
    }

    public let shutter: Shutter
    public let isDialPressed: Bool
    public let isFnPressed: Bool
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
