// SPDX-License-Identifier: MIT
import CTendon

/// One advertisement or scan response, as received.
///
/// ```swift
/// for try await advertisement in try await central.scan() where advertisement.serviceUUIDs.contains("fdd2") {
///     print(advertisement.address, advertisement.rssi ?? 0)
/// }
/// ```
public struct Advertisement: Sendable {
    /// The address of the advertiser, with its address type. Of a bonded device that uses private addresses, the
    /// identity address, if the bond has the key that resolves them: the device has one address everywhere.
    public let address: Address
    /// The private address in the packet, if `address` is the identity address in its place; otherwise `nil`.
    public let privateAddress: Address?
    /// Signal strength in dBm; `nil` if the controller does not report it.
    public let rssi: Int?
    /// Transmit power in dBm, from an extended advertisement; `nil` if it is not present.
    public let txPower: Int?
    /// Whether the device accepts connections.
    public let isConnectable: Bool
    /// Whether the device responds to scan requests.
    public let isScannable: Bool
    /// Whether it is the response to a scan request, not an advertisement.
    public let isScanResponse: Bool
    /// Whether it is a legacy advertisement: at most 31 bytes.
    public let isLegacy: Bool
    /// The controller or the reassembly lost the end of `data`.
    public let isTruncated: Bool
    /// PHY of the channels on which the device advertises, `le1M` or `leCoded`; `nil` if the controller does not report
    /// it.
    public let primaryPHY: PHY?
    /// PHY of the data of an extended advertisement; `nil` if all of it is on the primary channels.
    public let secondaryPHY: PHY?
    /// AD structures, undecoded.
    public let data: [UInt8]
    /// When it was received, monotonic milliseconds.
    public let time: UInt64

    package init(_ c: tendon_ad_report, time: UInt64) {
        func known(_ power: Int8) -> Int? { power == Int8(TENDON_RSSI_UNKNOWN) ? nil : Int(power) }
        func has(_ bit: Int) -> Bool { c.properties & UInt16(bit) != 0 }
        address = Address(c.address)
        // All zero, if there is none, is not resolvable.
        var other = c.private_address
        let isResolved = tendon_address_is_resolvable(&other)
        privateAddress = isResolved ? Address(c.private_address) : nil
        rssi = known(c.rssi)
        txPower = known(c.tx_power)
        isConnectable = has(TENDON_AD_CONNECTABLE)
        isScannable = has(TENDON_AD_SCANNABLE)
        isScanResponse = has(TENDON_AD_SCAN_RESPONSE)
        isLegacy = has(TENDON_AD_LEGACY)
        isTruncated = c.truncated
        primaryPHY = PHY(rawValue: c.primary_phy)
        secondaryPHY = PHY(rawValue: c.secondary_phy)
        data = copied(c.data, c.length)
        self.time = time
    }
}

/// One AD structure.
public struct AdvertisementStructure: Sendable, Hashable {
    /// Assigned number, e.g. 0x09 for the complete local name.
    public let type: UInt8
    /// The bytes after the type, 0 to 254; a copy.
    public let value: [UInt8]
}

extension Advertisement {
    /// The AD structures of `data` in their order, up to the first truncated structure.
    public var structures: [AdvertisementStructure] {
        var all: [AdvertisementStructure] = []
        forEachStructure(in: data) { type, value in
            all.append(AdvertisementStructure(type: type, value: value))
            return true
        }
        return all
    }

    /// Complete or shortened local name, safe for logs and terminals.
    public var localName: String? { advertisedName(data) }

    /// UUIDs of the services that the device advertises, of all three widths.
    public var serviceUUIDs: [BluetoothUUID] { advertisedServices(data) }

    /// The company identifier and the bytes after it.
    public var manufacturerData: (company: UInt16, value: [UInt8])? {
        guard let value = structures.first(where: { $0.type == 0xFF && $0.value.count >= 2 })?.value else { return nil }
        return (UInt16(value[0]) | UInt16(value[1]) << 8, Array(value.dropFirst(2)))
    }
}

/// The local name in advertising data, safe for logs and terminals.
package func advertisedName(_ data: [UInt8]) -> String? {
    var found = false
    let name = printed(size: 768) { out in
        found = lending(data) { tendon_ad_name($0, $1, out, 768) } >= 0
    }
    return found ? name : nil
}

/// The name of a device as its advertisements have it. One may have the shortened name and its scan response the
/// complete one: a complete name stays, whatever comes after it but another complete one.
package struct LocalName: Sendable, Equatable {
    package let text: String
    private let isComplete: Bool

    /// Of one packet; nil: it has no name.
    package init?(advertisedIn data: [UInt8]) {
        guard let name = advertisedName(data), !name.isEmpty else { return nil }
        text = name
        isComplete = lending(data) { bytes, count in
            var structure = tendon_ad_structure()
            return tendon_ad_find_name(bytes, count, &structure)
                && UInt32(structure.type) == TENDON_AD_NAME_COMPLETE.rawValue
        }
    }

    /// What is known after a packet.
    package static func learned(_ known: LocalName?, from data: [UInt8]) -> LocalName? {
        guard let new = LocalName(advertisedIn: data), new.isComplete || known?.isComplete != true else { return known }
        return new
    }
}

/// The service UUIDs in advertising data, in their order.
package func advertisedServices(_ data: [UInt8]) -> [BluetoothUUID] {
    lending(data) { bytes, count in
        var all: [BluetoothUUID] = []
        var uuid = tendon_uuid()
        while tendon_ad_service_uuid_at(bytes, count, all.count, &uuid) { all.append(BluetoothUUID(uuid)) }
        return all
    }
}
