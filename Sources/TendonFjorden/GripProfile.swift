// SPDX-License-Identifier: MIT
import CTendon
import Tendon

/// The parts of a grip's wire format that the vendor does not publish, as data. The default is Tendon's reference
/// profile, which real grips are not expected to use: set the values of your grip.
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

    package private(set) var c = tendon_fjorden_profile()

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
    /// `nil` if absent; then no events can be derived after a loss.
    public var stateCharacteristic: BluetoothUUID? {
        get { c.has_state ? BluetoothUUID(c.state) : nil }
        set {
            c.has_state = newValue != nil
            if let newValue { c.state = newValue.c }
        }
    }
    /// `nil` if absent; then the grip accepts no commands.
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

    /// Prefix of names that also identifies grips; truncated to 31 bytes.
    public mutating func setNamePrefix(_ prefix: String) { write(prefix, to: &c.name_prefix) }

    /// Sets the meaning of a code by the name of an event: "shutterButtonDown", "customButtonPress(2)". Returns false
    /// if there is no such event.
    @discardableResult
    public mutating func setCode(_ code: UInt8, to event: String) -> Bool {
        let number = lending(event) { tendon_fjorden_event_named($0, $1) }
        guard number >= 0 else { return false }
        withElements(of: &c.codes, UInt8.self) { $0[Int(code)] = UInt8(number) }
        return true
    }
}
