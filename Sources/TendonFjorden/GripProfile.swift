// SPDX-License-Identifier: MIT
import CTendon
import Tendon

/// What the vendor does not publish about a grip's wire format, as data. The default is a reference profile of our own,
/// which a real grip is not expected to know: fill in what yours has.
///
/// ```swift
/// var configuration = GripManager.Configuration.system
/// configuration.profile.service = "9a3f68e0-86ce-4b3c-9b4e-1f9b9d6c2a10"
/// configuration.profile.setCode(0x41, to: "shutterButtonDown")
/// ```
public struct GripProfile: Sendable {
    /// How events are packed.
    public enum EventFormat: Sendable, Hashable {
        /// Records of sequence, code, time and value.
        case record5
        /// Each byte is a code.
        case code8
    }

    var c = tendon_fjorden_profile()

    /// The reference profile.
    public init() { tendon_fjorden_profile_init(&c) }

    /// The service that a grip has and advertises.
    public var service: BluetoothUUID {
        get { BluetoothUUID(c.service) }
        set { c.service = newValue.c }
    }
    /// Its characteristic that notifies events.
    public var eventCharacteristic: BluetoothUUID {
        get { BluetoothUUID(c.event) }
        set { c.event = newValue.c }
    }
    /// `nil`: there is none; nothing can be concluded after a loss.
    public var stateCharacteristic: BluetoothUUID? {
        get { c.has_state ? BluetoothUUID(c.state) : nil }
        set {
            c.has_state = newValue != nil
            if let newValue { c.state = newValue.c }
        }
    }
    /// `nil`: there is none; the grip takes no commands.
    public var controlCharacteristic: BluetoothUUID? {
        get { c.has_control ? BluetoothUUID(c.control) : nil }
        set {
            c.has_control = newValue != nil
            if let newValue { c.control = newValue.c }
        }
    }
    /// How events are packed.
    public var eventFormat: EventFormat {
        get { c.format == TENDON_FJORDEN_CODE8 ? .code8 : .record5 }
        set { c.format = newValue == .code8 ? TENDON_FJORDEN_CODE8 : TENDON_FJORDEN_RECORD5 }
    }

    /// Grips are also known by how their names begin; 31 bytes at most, the rest is cut.
    public mutating func setNamePrefix(_ prefix: String) { write(prefix, to: &c.name_prefix) }

    /// What a code means, by the event's name: "shutterButtonDown", "customButtonPress(2)". False: no such event.
    @discardableResult
    public mutating func setCode(_ code: UInt8, to event: String) -> Bool {
        let number = lending(event) { tendon_fjorden_event_named($0, $1) }
        guard number >= 0 else { return false }
        withElements(of: &c.codes, UInt8.self) { $0[Int(code)] = UInt8(number) }
        return true
    }
}
