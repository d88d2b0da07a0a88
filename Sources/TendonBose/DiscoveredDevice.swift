// SPDX-License-Identifier: MIT
import CTendon
import Tendon

/// Classes of signal strength, as the vendor's picker shows them.
public enum SignalStrength: UInt32, Sendable, Hashable, Comparable {
    /// -55 dBm and less, or not known.
    case weak = 0
    /// More than -55 dBm.
    case moderate
    /// More than -45 dBm.
    case strong
    /// More than -35 dBm.
    case full

    public static func < (a: SignalStrength, b: SignalStrength) -> Bool { a.rawValue < b.rawValue }
}

/// A wearable that advertises.
public struct DiscoveredDevice: Sendable, Hashable {
    /// The address of the device.
    public let address: Address
    /// The advertised name; often only in the scan response, so `nil` at first.
    public internal(set) var name: String?
    /// dBm; 127 if not known, as on the phone.
    public internal(set) var rssi: Int
    /// Monotonic milliseconds.
    public internal(set) var lastSeen: UInt64
    /// A Bose device whose firmware does not have the sensor service: the error of opening it contains the remedy.
    public internal(set) var hasOldFirmware: Bool

    init(_ address: Address, name: String? = nil, hasOldFirmware: Bool = false) {
        self.address = address
        self.name = name
        rssi = Int(TENDON_RSSI_UNKNOWN)
        lastSeen = 0
        self.hasOldFirmware = hasOldFirmware
    }

    /// The address, in place of the phone's identifier.
    public var identifier: Address { address }
    /// The same as `name`: the advertised name is the only one before a connection.
    public var localName: String? { name }

    /// The class of `rssi`.
    public var signalStrength: SignalStrength {
        let known = rssi == Int(TENDON_RSSI_UNKNOWN) ? Int8.min : Int8(clamping: rssi)
        return SignalStrength(rawValue: tendon_bose_signal_of(known).rawValue) ?? .weak
    }
}

extension DiscoveredDevice {
    init(_ c: tendon_bose_found) {
        address = Address(c.address)
        name =
            c.name_length > 0
            ? String(decoding: elements(c.name, of: UInt8.self, Int(c.name_length)), as: UTF8.self) : nil
        rssi = Int(c.rssi)
        lastSeen = c.seen_ms
        hasOldFirmware = c.old_firmware
    }
}

/// Selection of a device, in place of a user who chooses from a list.
public enum DeviceChoice: Sendable {
    /// This one, without a search.
    case address(Address)
    /// The first device that is found.
    case firstFound
    /// The device with the strongest signal of those found within this time; if none was found, the search continues.
    case strongestSignal(within: Duration)
    /// Receives the devices in range whenever they change, and returns the choice; `nil` cancels.
    case custom(@Sendable (EventSequence<[DiscoveredDevice]>) async -> DiscoveredDevice?)
}

/// The device to connect to.
public enum ConnectUIMode: Sendable, Hashable {
    /// Search.
    case alwaysShow
    /// Finds and opens the last device within `timeout` seconds, without those in which the user is prompted; if it is not in
    /// range or cannot be opened, searches.
    case connectToLast(timeout: Double)
}

/// The device to connect to, in the form of the vendor's SDK before version 4.
public enum DeviceSearchMode: Sendable, Hashable {
    /// Search.
    case alwaysShowUI
    /// The last device, then a search: `ConnectUIMode.connectToLast`.
    case automaticallySelectMostRecentlyConnectedDevice(timeout: Double)
}
