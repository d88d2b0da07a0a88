// SPDX-License-Identifier: MIT
import CTendon
import Tendon

/// Signal strength, dBm.
public typealias Decibel = Double
/// Percent.
public typealias BatteryLevel = Int

/// A grip that advertises. Two of them are equal when they are the same device.
public struct ConnectableGrip: Sendable, Hashable, Identifiable {
    public let id: Address
    /// As it advertises; empty: it tells none.
    public let name: String
    /// dBm when it was heard last.
    public let rssi: Decibel
    /// As it was read when it was connected last; `nil`: not by this program.
    public let firmwareVersion: FirmwareVersion?

    /// A grip that the program knows by its address.
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
    /// As it advertised when it was connected.
    public let name: String
}

/// What the grip tells of its battery.
public struct BatteryInfo: Sendable, Hashable, CustomStringConvertible {
    /// Percent.
    public let level: BatteryLevel
    /// Less than 30 percent.
    public var isLow: Bool { level < Int(TENDON_FJORDEN_BATTERY_LOW_BELOW) }
    public var description: String { "\(level) %" + (isLow ? ", low" : "") }
}

/// What the grip says of itself; what it does not say is `nil`.
public struct GripInfo: Sendable, Hashable, CustomStringConvertible {
    /// Manufacturer name string.
    public let manufacturerName: String?
    /// Model number string.
    public let modelNumber: String?
    /// Hardware revision string.
    public let hardwareVersion: String?
    /// Firmware revision string, where it is a version.
    public let firmware: FirmwareVersion?
    /// Serial number string.
    public let serialNumber: String?

    public var description: String {
        [manufacturerName, modelNumber, hardwareVersion.map { "hardware " + $0 }, firmware.map { "firmware \($0)" }]
            .compactMap { $0 }.joined(separator: ", ")
    }
}
