// SPDX-License-Identifier: MIT
import CTendon
import Tendon

/// Device information of the sensor service.
public struct WearableDeviceInformation: Sendable, Hashable {
    /// Of the sensor service's specification.
    public var majorVersion: UInt8
    /// Of the sensor service's specification.
    public var minorVersion: UInt8
    /// The product's number.
    public var productID: UInt16
    /// Color or model of the product, by number.
    public var variant: UInt8
    /// The sensors of the device, also those without a name.
    public var availableSensors: Set<SensorType>
    /// The gestures of the device that have a name.
    public var availableGestures: Set<GestureType>
    /// Milliseconds; 0: each sample is sent immediately.
    public var transmissionPeriod: UInt8
    /// Bytes; 0: no limit.
    public var maximumPayloadPerTransmissionPeriod: UInt16
    /// 0: no limit.
    public var maximumActiveSensors: UInt8
    /// Pairing and suspension when it was read.
    public var deviceStatus: DeviceStatus

    init(_ c: tendon_bose_device_information) {
        majorVersion = UInt8(truncatingIfNeeded: c.major)
        minorVersion = UInt8(truncatingIfNeeded: c.minor)
        productID = c.product_id
        variant = c.variant
        availableSensors = Set((0..<32).filter { c.sensor_mask & (1 << $0) != 0 }.map { SensorType(id: UInt8($0)) })
        availableGestures = Set(GestureType.all(in: c.gesture_mask))
        transmissionPeriod = UInt8(clamping: c.transmission_period_ms)
        maximumPayloadPerTransmissionPeriod = UInt16(clamping: c.max_payload)
        maximumActiveSensors = UInt8(clamping: c.max_active_sensors)
        deviceStatus = DeviceStatus(rawValue: c.status)
    }

    /// Product and variant by number and name.
    public var productInfo: ProductInfo { ProductInfo(id: productID, variant: variant) }
}

extension WearableDeviceInformation: CustomStringConvertible {
    /// Product, variant, and the names of sensors and gestures.
    public var description: String {
        let sensors = names(availableSensors.sorted { $0.rawValue < $1.rawValue })
        let gestures = names(availableGestures.sorted { $0.rawValue < $1.rawValue })
        return "\(productInfo.idName) \(productInfo.variantName), version \(majorVersion).\(minorVersion), "
            + "sensors: \(sensors); gestures: \(gestures); status: \(deviceStatus)"
    }
}

/// The product by number and name.
public struct ProductInfo: Sendable, Hashable {
    /// The product's number.
    public let id: UInt16
    /// The variant's number.
    public let variant: UInt8

    /// "unknown" for products that this version does not know.
    public var idName: String { String(cString: tendon_bose_product_name(id)) }
    /// "unknown" for variants that this version does not know.
    public var variantName: String { String(cString: tendon_bose_variant_name(id, variant)) }
}

/// Pairing and suspension status of the device.
///
/// ```swift
/// if device.wearableDeviceInformation?.deviceStatus.contains(.pairingEnabled) == true { print("in pairing mode") }
/// ```
public struct DeviceStatus: OptionSet, Sendable, Hashable {
    /// Reserved bits are kept.
    public var rawValue: UInt16

    public init(rawValue: UInt16) { self.rawValue = rawValue }

    private init(_ bit: Int) { rawValue = UInt16(bit) }

    /// It is in pairing mode.
    public static let pairingEnabled = DeviceStatus(TENDON_BOSE_STATUS_PAIRING_ENABLED)
    /// It requires pairing.
    public static let secureBLEPairingRequired = DeviceStatus(TENDON_BOSE_STATUS_PAIRING_REQUIRED)
    /// It has a bond with this host.
    public static let alreadyPairedToClient = DeviceStatus(TENDON_BOSE_STATUS_ALREADY_PAIRED)
    /// The sensor service is suspended.
    public static let wearableSensorsServiceSuspended = DeviceStatus(TENDON_BOSE_STATUS_SUSPENDED)

    /// Reason of the suspension; meaningful only while the service is suspended, otherwise `unknown`. Setting it changes
    /// only the bits of the reason.
    public var suspensionReason: SuspensionReason {
        get {
            guard contains(.wearableSensorsServiceSuspended) else { return .unknown }
            return SuspensionReason(tendon_bose_suspension_reason_of(rawValue))
        }
        set { rawValue = rawValue & 0x0FFF | UInt16(newValue.rawValue) << 12 }
    }
}

extension DeviceStatus: CustomStringConvertible {
    /// The names of the set bits, separated by commas.
    public var description: String {
        let all: [(DeviceStatus, String)] = [
            (.pairingEnabled, "pairing enabled"), (.secureBLEPairingRequired, "pairing required"),
            (.alreadyPairedToClient, "paired"), (.wearableSensorsServiceSuspended, "suspended"),
        ]
        return names(all.filter { contains($0.0) }.map(\.1))
    }
}

/// Reason of a suspension.
public enum SuspensionReason: UInt8, Sendable, Hashable, CaseIterable {
    /// An unknown reason.
    case unknown = 0
    /// The wearer talks to an assistant.
    case vpaInteractionInProgress
    /// The device serves several hosts.
    case multipointConnectionActive
    /// The device shares its music.
    case musicShareModeActive
    /// The firmware is being replaced. Not in the vendor's iOS SDK: a `switch` requires `default:`.
    case otaFirmwareUpdate

    init(_ c: tendon_bose_suspension_reason) {
        self = SuspensionReason(rawValue: UInt8(truncatingIfNeeded: c.rawValue)) ?? .unknown
    }
}

extension SuspensionReason: CustomStringConvertible {
    /// A sentence for the wearer.
    public var description: String {
        switch self {
        case .unknown: "The sensors are suspended."
        case .vpaInteractionInProgress: "The sensors are suspended while you talk to the voice assistant."
        case .multipointConnectionActive: "The sensors are suspended while the device is connected to several hosts."
        case .musicShareModeActive: "The sensors are suspended while music is shared."
        case .otaFirmwareUpdate: "The sensors are suspended during a firmware update."
        }
    }
}

/// The strings of the Device Information service; `nil`: the device does not have one.
public struct DeviceInformation: Sendable, Hashable {
    /// System id, 8 bytes.
    public var systemID: [UInt8]?
    /// Model number string.
    public var modelNumber: String?
    /// Serial number string.
    public var serialNumber: String?
    /// Firmware revision string, as "1.0.0".
    public var firmwareRevision: String?
    /// Hardware revision string.
    public var hardwareRevision: String?
    /// Software revision string.
    public var softwareRevision: String?
    /// Manufacturer name string.
    public var manufacturerName: String?
    /// Regulatory certification data, not decoded.
    public var regulatoryCertificationDataList: [UInt8]?
    /// PnP id, 7 bytes.
    public var pnpID: [UInt8]?

    /// The strings of an application's own, for example for tests.
    public init(
        systemID: [UInt8]? = nil,
        modelNumber: String? = nil,
        serialNumber: String? = nil,
        firmwareRevision: String? = nil,
        hardwareRevision: String? = nil,
        softwareRevision: String? = nil,
        manufacturerName: String? = nil,
        regulatoryCertificationDataList: [UInt8]? = nil,
        pnpID: [UInt8]? = nil
    ) {
        self.systemID = systemID
        self.modelNumber = modelNumber
        self.serialNumber = serialNumber
        self.firmwareRevision = firmwareRevision
        self.hardwareRevision = hardwareRevision
        self.softwareRevision = softwareRevision
        self.manufacturerName = manufacturerName
        self.regulatoryCertificationDataList = regulatoryCertificationDataList
        self.pnpID = pnpID
    }

    init(_ c: tendon_bose_device_strings) {
        let all = elements(c.strings, of: tendon_bose_device_string.self, Int(TENDON_BOSE_STRING_COUNT.rawValue))
        func text(_ which: tendon_bose_string) -> String? {
            let one = all[Int(which.rawValue)]
            guard one.present else { return nil }
            return String(decoding: elements(one.bytes, of: UInt8.self, Int(one.length)), as: UTF8.self)
        }
        modelNumber = text(TENDON_BOSE_STRING_MODEL)
        serialNumber = text(TENDON_BOSE_STRING_SERIAL)
        firmwareRevision = text(TENDON_BOSE_STRING_FIRMWARE)
        hardwareRevision = text(TENDON_BOSE_STRING_HARDWARE)
        softwareRevision = text(TENDON_BOSE_STRING_SOFTWARE)
        manufacturerName = text(TENDON_BOSE_STRING_MANUFACTURER)
        systemID = c.has_system_id ? elements(c.system_id, of: UInt8.self, 8) : nil
        pnpID = c.has_pnp_id ? elements(c.pnp_id, of: UInt8.self, 7) : nil
        regulatoryCertificationDataList =
            c.has_regulatory ? elements(c.regulatory, of: UInt8.self, Int(c.regulatory_length)) : nil
    }
}

/// The installed firmware, and the checker's result for it.
public struct FirmwareVersion: Sendable, Hashable {
    /// Result of a check of installed firmware.
    public enum Check: UInt32, Sendable, Hashable {
        /// No checker is set, or it does not know the product.
        case unknown = 0
        /// No newer firmware exists.
        case upToDate
        /// Newer firmware exists; the installed firmware can be used.
        case available
        /// The installed firmware is too old: opening fails.
        case required
    }

    /// Firmware revision string of the device; empty if it has none.
    public var version: String
    /// The vendor's form of `check`: up to date unless the checker reported newer firmware.
    public var updateStatus: FirmwareUpdateStatus {
        switch check {
        case .unknown, .upToDate: .upToDate
        case .available, .required: .updateAvailable(version: "")
        }
    }
    /// The vendor's application that updates the firmware; `nil` if the product is not known.
    public var firmwareUpdateApp: FirmwareUpdateApp?
    /// The checker's result when the session was opened.
    public let check: Check
}

/// Result of a check of installed firmware, in the vendor's form.
public enum FirmwareUpdateStatus: Sendable, Hashable {
    /// Newer firmware exists. The version is empty: a `FirmwareChecker` does not report it.
    case updateAvailable(version: String)
    /// No newer firmware is known.
    case upToDate
}

/// The vendor's applications that update firmware.
public enum FirmwareUpdateApp: Sendable, Hashable {
    /// The older application.
    case boseConnect
    /// The newer application.
    case boseMusic

    /// Name of the application, for the user.
    public var name: String {
        switch self {
        case .boseConnect: "Bose Connect"
        case .boseMusic: "Bose Music"
        }
    }

    /// The application for a product; `nil` if the product is not known.
    init?(productID: UInt16) {
        switch productID {
        case 0x402C, 0x4020: self = .boseConnect
        case 0x4024: self = .boseMusic
        default: return nil
        }
    }
}

/// Checks the firmware of a product; called once per opening. Bose's own service for it has been shut down.
public typealias FirmwareChecker = @Sendable (_ productID: UInt16, _ installed: String) -> FirmwareVersion.Check
