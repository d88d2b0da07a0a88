// SPDX-License-Identifier: MIT
import CTendon
import Tendon

/// Events of the grip's controls. Directions are as seen from its front.
public enum GripEvent: Sendable, Hashable {
    /// The shutter button was pressed completely.
    case shutterButtonDown
    /// The shutter button was released.
    case shutterButtonReleased
    /// The shutter button was pressed halfway.
    case shutterButtonHalfDown
    /// The dial was turned clockwise by one detent.
    case dialButtonCW
    /// The dial was turned counterclockwise by one detent.
    case dialButtonCCW
    /// The dial was pressed and released.
    case dialButtonPress
    /// The dial is held; default: 500 ms.
    case dialButtonLongPress
    /// The fn button was pressed and released.
    case fnButtonPress
    /// The fn button is held.
    case fnButtonLongPress
    /// The lever is held on the left; default: 400 ms.
    case zoomLeverHoldLeft
    /// The lever is held on the right.
    case zoomLeverHoldRight
    /// The lever was on the left, shorter than a hold; reported when it leaves the left.
    case zoomLeverLeft
    /// The lever was on the right, shorter than a hold; reported when it leaves the right.
    case zoomLeverRight
    /// The lever returned to the middle.
    case zoomLeverNeutral
    /// A custom button was pressed; number 0 to 15.
    case customButtonPress(Int)
    /// A custom button is held; number 0 to 15.
    case customButtonLongPress(Int)
    /// The battery is low; percent, `nil` if the grip's format has none.
    case batteryLow(Int?)
    /// The grip switches off and disconnects.
    case poweringOff
    /// The grip removes its bond and disconnects.
    case bondReset
    /// An unknown code.
    case unknown(UInt8)

    /// `value`: `nil` in a format without values.
    init(event: UInt8, code: UInt8, value: Int8?) {
        self =
            switch UInt32(event) {
            case TENDON_FJORDEN_SHUTTER_HALF_DOWN.rawValue: .shutterButtonHalfDown
            case TENDON_FJORDEN_SHUTTER_DOWN.rawValue: .shutterButtonDown
            case TENDON_FJORDEN_SHUTTER_RELEASED.rawValue: .shutterButtonReleased
            case TENDON_FJORDEN_DIAL_CW.rawValue: .dialButtonCW
            case TENDON_FJORDEN_DIAL_CCW.rawValue: .dialButtonCCW
            case TENDON_FJORDEN_DIAL_PRESS.rawValue: .dialButtonPress
            case TENDON_FJORDEN_DIAL_LONG_PRESS.rawValue: .dialButtonLongPress
            case TENDON_FJORDEN_FN_PRESS.rawValue: .fnButtonPress
            case TENDON_FJORDEN_FN_LONG_PRESS.rawValue: .fnButtonLongPress
            case TENDON_FJORDEN_LEVER_LEFT.rawValue: .zoomLeverLeft
            case TENDON_FJORDEN_LEVER_RIGHT.rawValue: .zoomLeverRight
            case TENDON_FJORDEN_LEVER_HOLD_LEFT.rawValue: .zoomLeverHoldLeft
            case TENDON_FJORDEN_LEVER_HOLD_RIGHT.rawValue: .zoomLeverHoldRight
            case TENDON_FJORDEN_LEVER_NEUTRAL.rawValue: .zoomLeverNeutral
            case TENDON_FJORDEN_CUSTOM_PRESS.rawValue..<TENDON_FJORDEN_CUSTOM_LONG_PRESS.rawValue:
                .customButtonPress(Int(event & 15))
            case TENDON_FJORDEN_CUSTOM_LONG_PRESS.rawValue..<TENDON_FJORDEN_CUSTOM_LONG_PRESS.rawValue + 16:
                .customButtonLongPress(Int(event & 15))
            case TENDON_FJORDEN_BATTERY_LOW.rawValue: .batteryLow(value.map { Int($0) })
            case TENDON_FJORDEN_POWERING_OFF.rawValue: .poweringOff
            case TENDON_FJORDEN_BOND_RESET.rawValue: .bondReset
            default: .unknown(code)
            }
    }

    /// The number of the C core, 0 when it is not known.
    package var number: UInt32 {
        switch self {
        case .shutterButtonDown: TENDON_FJORDEN_SHUTTER_DOWN.rawValue
        case .shutterButtonReleased: TENDON_FJORDEN_SHUTTER_RELEASED.rawValue
        case .shutterButtonHalfDown: TENDON_FJORDEN_SHUTTER_HALF_DOWN.rawValue
        case .dialButtonCW: TENDON_FJORDEN_DIAL_CW.rawValue
        case .dialButtonCCW: TENDON_FJORDEN_DIAL_CCW.rawValue
        case .dialButtonPress: TENDON_FJORDEN_DIAL_PRESS.rawValue
        case .dialButtonLongPress: TENDON_FJORDEN_DIAL_LONG_PRESS.rawValue
        case .fnButtonPress: TENDON_FJORDEN_FN_PRESS.rawValue
        case .fnButtonLongPress: TENDON_FJORDEN_FN_LONG_PRESS.rawValue
        case .zoomLeverHoldLeft: TENDON_FJORDEN_LEVER_HOLD_LEFT.rawValue
        case .zoomLeverHoldRight: TENDON_FJORDEN_LEVER_HOLD_RIGHT.rawValue
        case .zoomLeverLeft: TENDON_FJORDEN_LEVER_LEFT.rawValue
        case .zoomLeverRight: TENDON_FJORDEN_LEVER_RIGHT.rawValue
        case .zoomLeverNeutral: TENDON_FJORDEN_LEVER_NEUTRAL.rawValue
        case .customButtonPress(let button): TENDON_FJORDEN_CUSTOM_PRESS.rawValue + UInt32(button & 15)
        case .customButtonLongPress(let button): TENDON_FJORDEN_CUSTOM_LONG_PRESS.rawValue + UInt32(button & 15)
        case .batteryLow: TENDON_FJORDEN_BATTERY_LOW.rawValue
        case .poweringOff: TENDON_FJORDEN_POWERING_OFF.rawValue
        case .bondReset: TENDON_FJORDEN_BOND_RESET.rawValue
        case .unknown: 0
        }
    }

    /// Without a button, a percentage or a code.
    public var name: String { String(cString: cName) }
    /// The same, static.
    package var cName: UnsafePointer<CChar> { tendon_fjorden_event_name(UInt8(number)) }
}

extension GripEvent: CustomStringConvertible {
    public var description: String {
        switch self {
        case .customButtonPress(let number), .customButtonLongPress(let number), .batteryLow(let number?):
            "\(name)(\(number))"
        case .unknown(let code): "\(name)(\(code))"
        default: name
        }
    }
}

/// An event with all reported details.
public struct GripRecord: Sendable, Hashable {
    /// The event.
    public let event: GripEvent
    /// Detents of a dial event; otherwise 1.
    public let count: Int
    /// Milliseconds of the grip's clock, from an arbitrary start; it never runs backwards.
    public let time: UInt64
    /// The received sequence number; `nil` if there is none.
    public let sequence: UInt8?
    /// Records that were lost before this one.
    public let lostBefore: Int
    /// Whether it was not sent by the grip, but derived from its control state after a loss.
    public let isSynthesized: Bool
    /// When it arrived; of a synthesized one, when the control state arrived that it follows from.
    public let times: SampleTimes

    package init(_ c: tendon_fjorden_record, isSynthesized: Bool, times: SampleTimes = SampleTimes()) {
        event = GripEvent(event: c.event, code: c.code, value: c.has_sequence ? c.value : nil)
        count = Int(c.count)
        time = c.time_ms
        sequence = c.has_sequence ? c.sequence : nil
        lostBefore = Int(c.lost_before)
        self.isSynthesized = isSynthesized
        self.times = times
    }
}
