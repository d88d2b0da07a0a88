// SPDX-License-Identifier: MIT
import CTendon

/// A Bluetooth UUID of 16, 32 or 128 bits.
///
/// ```swift
/// let service: BluetoothUUID = "fdd2"
/// ```
public struct BluetoothUUID: Sendable, Hashable {
    package let c: tendon_uuid

    package init(_ c: tendon_uuid) { self.c = c }

    /// A 16-bit UUID of the Bluetooth SIG.
    public init(_ value: UInt16) { c = tendon_uuid_from_u16(value) }
    /// A 32-bit UUID of the Bluetooth SIG.
    public init(_ value: UInt32) { c = tendon_uuid_from_u32(value) }

    /// "fdd2", "0xFDD2", "0000fdd2" or the form of 36 characters, any case.
    public init?(parsing text: String) {
        var parsed = tendon_uuid()
        guard lending(text, { tendon_uuid_parse($0, $1, &parsed, nil) }) >= 0 else { return nil }
        c = parsed
    }

    /// As `init(parsing:)`, for a text that is no literal.
    public init?(_ text: String) { self.init(parsing: text) }

    /// The 16-bit value when there is one.
    public var short: UInt16? {
        var value: UInt16 = 0
        var copy = c
        return tendon_uuid_as_u16(&copy, &value) ? value : nil
    }

    public static func == (a: BluetoothUUID, b: BluetoothUUID) -> Bool { a.c.words == b.c.words }

    public func hash(into hasher: inout Hasher) {
        let words = c.words
        hasher.combine(words.high)
        hasher.combine(words.low)
    }
}

extension BluetoothUUID: CustomStringConvertible, ExpressibleByStringLiteral {
    public var description: String {
        var copy = c
        return printed(size: Int(TENDON_UUID_STRING_SIZE)) { tendon_uuid_format(&copy, $0) }
    }

    /// A literal that is no UUID is a programming error.
    public init(stringLiteral text: String) {
        guard let uuid = BluetoothUUID(parsing: text) else { preconditionFailure("\(text) is no Bluetooth UUID") }
        self = uuid
    }
}

/// A device's address with its kind.
///
/// ```swift
/// if let address = Address("C0:00:00:00:00:01/random") { print(address, address.kind == .random) }
/// ```
public struct Address: Sendable, Hashable {
    /// Where the address comes from, as HCI numbers it.
    public enum Kind: UInt8, Sendable {
        /// Registered: the same for ever.
        case `public` = 0
        /// Made up by the device: static or private.
        case random
        /// A public address that the controller resolved.
        case publicIdentity
        /// A static address that the controller resolved.
        case randomIdentity
        /// The advertisement carries none.
        case anonymous = 255
    }

    /// The 48 bits as a number; the first byte that is printed is the most significant.
    public let value: UInt64
    /// The kind's number, also when this version has no name for it.
    public let rawKind: UInt8

    /// The 48 low bits of a number.
    public init(_ value: UInt64, kind: Kind) {
        self.value = value & 0xFFFF_FFFF_FFFF
        rawKind = kind.rawValue
    }

    /// "AA:BB:CC:DD:EE:FF", with "/random" or "/public" behind it; public when it does not say.
    public init?(_ text: String) {
        var parsed = tendon_address()
        guard lending(text, { tendon_address_parse($0, $1, &parsed, nil) }) >= 0 else { return nil }
        self.init(parsed)
    }

    package init(_ c: tendon_address) {
        let b = c.bytes
        value =
            UInt64(b.0) << 40 | UInt64(b.1) << 32 | UInt64(b.2) << 24 | UInt64(b.3) << 16 | UInt64(b.4) << 8
            | UInt64(b.5)
        rawKind = c.type
    }

    package var c: tendon_address {
        func byte(_ shift: UInt64) -> UInt8 { UInt8(truncatingIfNeeded: value >> shift) }
        return tendon_address(bytes: (byte(40), byte(32), byte(24), byte(16), byte(8), byte(0)), type: rawKind)
    }

    /// `nil`: a kind that the specification does not know (yet).
    public var kind: Kind? { Kind(rawValue: rawKind) }
}

extension Address: CustomStringConvertible {
    /// Without the kind.
    public var description: String {
        var copy = c
        return printed(size: Int(TENDON_ADDRESS_STRING_SIZE)) { tendon_address_format(&copy, $0) }
    }
}
