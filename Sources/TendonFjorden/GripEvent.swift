// SPDX-License-Identifier: MIT
import CTendon

/// What a hand does to the grip. Directions are as seen from its front.
public enum GripEvent: Sendable, Hashable {
    /// All the way.
    case shutterButtonDown
    /// Let go, from wherever it was.
    case shutterButtonReleased
    /// To the first stop.
    case shutterButtonHalfDown
    /// One detent clockwise.
    case dialButtonCW
    /// One detent the other way.
    case dialButtonCCW
    /// The dial was pressed and let go.
    case dialButtonPress
    /// The dial is held: 500 ms where nothing else is set.
    case dialButtonLongPress
    /// The fn button was pressed and let go.
    case fnButtonPress
    /// The fn button is held.
    case fnButtonLongPress
    /// The lever stays on the left; 400 ms where nothing else is set.
    case zoomLeverHoldLeft
    /// The lever stays on the right.
    case zoomLeverHoldRight
    /// The lever was on the left, not long enough for a hold; told when it leaves.
    case zoomLeverLeft
    /// The lever was on the right, not long enough for a hold; told when it leaves.
    case zoomLeverRight
    /// The lever is back in the middle.
    case zoomLeverNeutral
    /// Of grips with more buttons; 0 to 15.
    case customButtonPress(Int)
    /// Of grips with more buttons, held; 0 to 15.
    case customButtonLongPress(Int)
    /// Percent.
    case batteryLow(Int)
    /// The grip goes off; the link ends.
    case poweringOff
    /// The grip forgets its host; the link ends.
    case bondReset
    /// A code that this version does not know.
    case unknown(UInt8)

    init(event: UInt8, code: UInt8, value: Int8) {
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
            case TENDON_FJORDEN_BATTERY_LOW.rawValue: .batteryLow(Int(value))
            case TENDON_FJORDEN_POWERING_OFF.rawValue: .poweringOff
            case TENDON_FJORDEN_BOND_RESET.rawValue: .bondReset
            default: .unknown(code)
            }
    }

    /// The number of the C core, 0 when it is not known.
    private var number: UInt32 {
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
        case .customButtonPress(let number), .customButtonLongPress(let number), .batteryLow(let number):
            "\(name)(\(number))"
        case .unknown(let code): "\(name)(\(code))"
        default: name
        }
    }
}

/// An event with all that the grip says about it.
public struct GripRecord: Sendable, Hashable {
    /// What was done.
    public let event: GripEvent
    /// Detents of a dial event; else 1.
    public let count: Int
    /// Milliseconds of the grip's clock, from an arbitrary start; it never runs backwards.
    public let time: UInt64
    /// As received; `nil`: there is none.
    public let sequence: UInt8?
    /// Records that were lost before this one.
    public let lostBefore: Int
    /// Not sent by the grip: concluded from its control state, after a loss.
    public let isSynthesized: Bool

    package init(_ c: tendon_fjorden_record, isSynthesized: Bool) {
        event = GripEvent(event: c.event, code: c.code, value: c.value)
        count = Int(c.count)
        time = c.time_ms
        sequence = c.has_sequence ? c.sequence : nil
        lostBefore = Int(c.lost_before)
        self.isSynthesized = isSynthesized
    }
}
