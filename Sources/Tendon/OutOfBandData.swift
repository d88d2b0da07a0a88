// SPDX-License-Identifier: MIT
import CTendon

/// What two devices exchange by another way than Bluetooth LE before they pair: by NFC, a QR code or a file.
///
/// It proves which device has the public key of a pairing, so the key is authenticated without a display or a keyboard.
/// Only LE Secure Connections is supported. Keep the data as secret as a passkey.
///
/// ```swift
/// let data = try await central.makeOutOfBandData()
/// print(data)  // hexadecimal digits, for the device that is to pair with this machine
/// ```
public struct OutOfBandData: Sendable, Hashable, LosslessStringConvertible {
    /// What the device is when it pairs.
    public enum Role: Sendable, Hashable {
        /// It advertises.
        case peripheral
        /// It connects.
        case central
        /// It can do both.
        case both
        /// The data do not say it.
        case unknown
    }

    package let c: tendon_out_of_band

    package init(_ c: tendon_out_of_band) { self.c = c }

    /// Decodes the AD structures of the Core Specification Supplement, Part A, as in the NFC record
    /// `application/vnd.bluetooth.le.oob`.
    public init(bytes: [UInt8]) throws(TendonError) {
        var c = tendon_out_of_band()
        try check(tendon_out_of_band_decode(bytes, bytes.count, &c, nil), .pair)
        self.c = c
    }

    /// Decodes hexadecimal digits of such bytes, with blanks around them; `nil`: anything else.
    public init?(_ description: String) {
        var c = tendon_out_of_band()
        let status = lending(description) { text, length in tendon_out_of_band_parse(text, length, &c, nil) }
        guard status >= 0 else { return nil }
        self.c = c
    }

    /// The data in a file that only its owner can access: one line of hexadecimal digits for each device, at most 24.
    public static func contents(of path: String) throws(TendonError) -> [OutOfBandData] {
        let table = CTable<tendon_out_of_band>(capacity: Int(TENDON_OUT_OF_BAND_MAX))
        let count = path.withCString { tendon_out_of_band_load($0, table.pointer, table.capacity) }
        try check(count, .pair)
        return table.first(Int(count)).map(OutOfBandData.init)
    }

    /// The address with which the device advertises or connects.
    public var address: Address { Address(c.address) }

    /// What the device is when it pairs.
    public var role: Role {
        switch UInt32(c.role) {
        case TENDON_LE_ROLE_PERIPHERAL.rawValue: .peripheral
        case TENDON_LE_ROLE_CENTRAL.rawValue: .central
        case TENDON_LE_ROLE_BOTH_PERIPHERAL_PREFERRED.rawValue, TENDON_LE_ROLE_BOTH_CENTRAL_PREFERRED.rawValue: .both
        default: .unknown
        }
    }

    /// The data as AD structures.
    public var bytes: [UInt8] {
        var bytes = [UInt8](repeating: 0, count: Int(TENDON_OUT_OF_BAND_SIZE))
        let length = withUnsafePointer(to: c) { tendon_out_of_band_encode($0, &bytes, bytes.count) }
        return Array(bytes.prefix(Int(length)))
    }

    /// The same in hexadecimal digits.
    public var description: String {
        var copy = c
        return printed(size: Int(TENDON_OUT_OF_BAND_STRING_SIZE)) { tendon_out_of_band_format(&copy, $0) }
    }

    public static func == (a: OutOfBandData, b: OutOfBandData) -> Bool { a.bytes == b.bytes }

    public func hash(into hasher: inout Hasher) { hasher.combine(bytes) }
}
