// SPDX-License-Identifier: MIT
import CTendon

/// What a device of the program's own advertises, or its scan response: AD structures, at most 31 bytes.
///
/// ```swift
/// let data = try AdvertisingData([.flags, .serviceUUIDs(["180d"]), .localName("Tendon")])
/// ```
///
/// A structure is added whole or not at all. When `append(_:)` throws, `bytes` is as before, so `bytes.count` is the
/// offset at which the structure would have begun.
public struct AdvertisingData: Sendable, Hashable {
    /// Most bytes of a legacy advertisement.
    public static let capacity = Int(TENDON_AD_LEGACY_MAX)

    /// One AD structure to add.
    public enum Element: Sendable, Hashable {
        /// The flags of a device that is discoverable and has no classic Bluetooth.
        case flags
        /// A list of service UUIDs; all of 16 bits, or all of 128 bits.
        case serviceUUIDs([BluetoothUUID], isComplete: Bool = true)
        /// The name, shortened between two characters if it does not fit; nothing if no character fits.
        case localName(String)
        /// Transmit power in dBm.
        case txPower(Int8)
        /// The appearance, a number of the Bluetooth SIG's list.
        case appearance(UInt16)
        /// Data of a service.
        case serviceData(BluetoothUUID, [UInt8])
        /// Data of a manufacturer.
        case manufacturerData(company: UInt16, [UInt8])
        /// Any other structure.
        case structure(type: UInt8, [UInt8])
    }

    /// The AD structures.
    public private(set) var bytes: [UInt8] = []

    /// Creates empty data.
    public init() {}

    /// Creates data from structures, in order. Throws the error of the first that cannot be added, see `append(_:)`.
    public init(_ elements: [Element]) throws(TendonError) {
        for element in elements { try append(element) }
    }

    /// Takes finished bytes. Throws `ERROR_OVERFLOW` if they are more than 31, and `ERROR_TRUNCATED` if the last
    /// structure is not whole.
    public init(bytes: [UInt8]) throws(TendonError) {
        guard bytes.count <= Self.capacity else {
            throw TendonError(status: Int32(TENDON_ERROR_OVERFLOW), operation: .advertise)
        }
        try check(lending(bytes) { tendon_ad_check($0, $1, nil) }, .advertise)
        self.bytes = bytes
    }

    /// Adds a structure. Throws `ERROR_BUFFER_TOO_SMALL` if it does not fit, `ERROR_OVERFLOW` if it is longer than any
    /// structure can be, and `ERROR_INVALID_ARGUMENT` for a list of UUIDs of different sizes.
    public mutating func append(_ element: Element) throws(TendonError) {
        let (all, status) = appended(to: bytes, capacity: Self.capacity) { writer in
            switch element {
            case .flags:
                tendon_ad_put_flags(writer, UInt8(TENDON_AD_FLAG_GENERAL | TENDON_AD_FLAG_NO_BREDR))
            case .serviceUUIDs(let uuids, let isComplete):
                uuids.map(\.c).withUnsafeBufferPointer {
                    tendon_ad_put_uuids(writer, $0.baseAddress, $0.count, isComplete)
                }
            case .localName(let name): lending(name) { tendon_ad_put_name(writer, $0, $1) }
            case .txPower(let power): tendon_ad_put_tx_power(writer, power)
            case .appearance(let number): tendon_ad_put_appearance(writer, number)
            case .serviceData(let uuid, let data):
                var uuid = uuid.c
                lending(data) { tendon_ad_put_service_data(writer, &uuid, $0, $1) }
            case .manufacturerData(let company, let data):
                lending(data) { tendon_ad_put_manufacturer(writer, company, $0, $1) }
            case .structure(let type, let data): lending(data) { tendon_ad_put(writer, type, $0, $1) }
            }
        }
        try check(status, .advertise)
        bytes = all
    }

    /// The flags, and as many of the services as fit: those of 16 bits first.
    static func standard(for services: [LocalService]) -> AdvertisingData {
        var data = AdvertisingData()
        try? data.append(.flags)
        let uuids = services.map(\.uuid)
        for list in [uuids.filter { $0.short != nil }, uuids.filter { $0.short == nil }] {
            for count in stride(from: list.count, to: 0, by: -1) {
                let element = Element.serviceUUIDs(Array(list.prefix(count)), isComplete: count == list.count)
                if (try? data.append(element)) != nil { break }
            }
        }
        return data
    }

    /// The name alone.
    static func standard(name: String) -> AdvertisingData {
        var data = AdvertisingData()
        if !name.isEmpty { try? data.append(.localName(name)) }
        return data
    }
}
