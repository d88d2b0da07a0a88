// SPDX-License-Identifier: MIT
import CTendon
@_exported import Tendon

/// Signal strength, dBm.
public typealias Decibel = Double
/// Percent.
public typealias BatteryLevel = Int

/// A grip that advertises. Two values are equal if they are the same device.
public struct ConnectableGrip: Sendable, Hashable, Identifiable {
    public let id: Address
    /// The advertised name; empty if not advertised.
    public let name: String
    /// Signal strength of the last advertisement, in dBm.
    public let rssi: Decibel
    /// The version that was read during the last connection; `nil` if this program has not connected to it.
    public let firmwareVersion: FirmwareVersion?

    /// A grip whose address is known.
    public init(id: Address, name: String = "", rssi: Decibel = 0, firmwareVersion: FirmwareVersion? = nil) {
        self.id = id
        self.name = name
        self.rssi = rssi
        self.firmwareVersion = firmwareVersion
    }

    public static func == (a: ConnectableGrip, b: ConnectableGrip) -> Bool { a.id == b.id }
    public func hash(into hasher: inout Hasher) { hasher.combine(id) }
}

extension ConnectableGrip: CustomStringConvertible {
    public var description: String { name.isEmpty ? id.description : "\(name) (\(id))" }
}

/// The bonded grip.
public struct BondedGripDetails: Sendable, Hashable {
    /// The name that it advertised when it was connected.
    public let name: String
}

/// Battery information of the grip.
public struct BatteryInfo: Sendable, Hashable, CustomStringConvertible {
    /// Percent.
    public let level: BatteryLevel
    /// Less than 30 percent.
    public var isLow: Bool { level < Int(TENDON_FJORDEN_BATTERY_LOW_BELOW) }
    public var description: String { "\(level) %" + (isLow ? ", low" : "") }
}

/// Device information of the grip; `nil` if a string is not present.
public struct GripInfo: Sendable, Hashable, CustomStringConvertible {
    /// Manufacturer name string.
    public let manufacturerName: String?
    /// Model number string.
    public let modelNumber: String?
    /// Hardware revision string.
    public let hardwareVersion: String?
    /// Firmware revision string, if it is a valid version.
    public let firmware: FirmwareVersion?
    /// Serial number string.
    public let serialNumber: String?

    public var description: String {
        [manufacturerName, modelNumber, hardwareVersion.map { "hardware " + $0 }, firmware.map { "firmware \($0)" }]
            .compactMap { $0 }.joined(separator: ", ")
    }
}
