// SPDX-License-Identifier: MIT
import CTendon
import Tendon

/// Device information of the sensor service.
public struct WearableDeviceInformation: Sendable {
    let c: tendon_bose_device_information

    init(_ c: tendon_bose_device_information) { self.c = c }

    /// Of the sensor service's specification.
    public var majorVersion: Int { Int(c.major) }
    /// Of the sensor service's specification.
    public var minorVersion: Int { Int(c.minor) }
    /// The product's number.
    public var productID: UInt16 { c.product_id }
    /// Color or model of the product, by number.
    public var variant: UInt8 { c.variant }
    /// Product and variant by number and name.
    public var productInfo: ProductInfo { ProductInfo(id: c.product_id, variant: c.variant) }
    /// In the order of their numbers.
    public var availableSensors: [SensorType] {
        (0..<32).filter { c.sensor_mask & (1 << $0) != 0 }.map { SensorType(id: UInt8($0)) }
    }
    /// Those that have a name.
    public var availableGestures: [GestureType] { GestureType.all(in: c.gesture_mask) }
    /// Milliseconds; 0: each sample is sent immediately.
    public var transmissionPeriod: Int { Int(c.transmission_period_ms) }
    /// Bytes; 0: no limit.
    public var maximumPayloadPerTransmissionPeriod: Int { Int(c.max_payload) }
    /// 0: no limit.
    public var maximumActiveSensors: Int { Int(c.max_active_sensors) }
    /// Pairing and suspension when it was read.
    public var deviceStatus: DeviceStatus { DeviceStatus(rawValue: c.status) }
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
public struct DeviceStatus: RawRepresentable, Sendable, Hashable {
    /// Reserved bits are kept.
    public let rawValue: UInt16

    public init(rawValue: UInt16) { self.rawValue = rawValue }

    private func has(_ bit: Int) -> Bool { rawValue & UInt16(bit) != 0 }

    /// Whether it is in pairing mode.
    public var pairingEnabled: Bool { has(TENDON_BOSE_STATUS_PAIRING_ENABLED) }
    /// Whether it requires pairing.
    public var secureBLEPairingRequired: Bool { has(TENDON_BOSE_STATUS_PAIRING_REQUIRED) }
    /// Whether it has a bond with this host.
    public var alreadyPairedToClient: Bool { has(TENDON_BOSE_STATUS_ALREADY_PAIRED) }
    /// Whether the sensor service is suspended.
    public var wearableSensorsServiceSuspended: Bool { has(TENDON_BOSE_STATUS_SUSPENDED) }
    /// `nil` unless suspended.
    public var suspensionReason: SuspensionReason? {
        wearableSensorsServiceSuspended ? SuspensionReason(tendon_bose_suspension_reason_of(rawValue)) : nil
    }
}

/// Reason of a suspension.
public enum SuspensionReason: UInt8, Sendable, Hashable, CaseIterable {
    /// An unknown reason.
    case unknown = 0
    /// The wearer talks to an assistant.
    case voicePersonalAssistant
    /// It serves several hosts.
    case multipointConnection
    /// It shares its music.
    case musicShare
    /// Its firmware is being replaced.
    case otaFirmwareUpdate

    init(_ c: tendon_bose_suspension_reason) {
        self = SuspensionReason(rawValue: UInt8(truncatingIfNeeded: c.rawValue)) ?? .unknown
    }
}

/// The strings of the Device Information service; `nil`: the device does not have one.
public struct DeviceInformation: Sendable, Hashable {
    /// Model number string.
    public let modelNumber: String?
    /// Serial number string.
    public let serialNumber: String?
    /// Firmware revision string, as "1.0.0".
    public let firmwareRevision: String?
    /// Hardware revision string.
    public let hardwareRevision: String?
    /// Software revision string.
    public let softwareRevision: String?
    /// Manufacturer name string.
    public let manufacturerName: String?
    /// System id, 8 bytes.
    public let systemID: [UInt8]?
    /// PnP id, 7 bytes.
    public let pnpID: [UInt8]?
    /// Regulatory certification data, not decoded.
    public let regulatoryCertifications: [UInt8]?

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
        regulatoryCertifications =
            c.has_regulatory ? elements(c.regulatory, of: UInt8.self, Int(c.regulatory_length)) : nil
    }
}

extension WearableDevice {
    /// The installed firmware, and the checker's result for it.
    public struct FirmwareVersion: Sendable, Hashable {
        /// Result of a check of installed firmware.
        public enum Update: UInt32, Sendable, Hashable {
            /// No checker is set, or it does not know the product.
            case unknown = 0
            /// No newer firmware exists.
            case upToDate
            /// Newer firmware exists; the installed firmware can be used.
            case available
            /// The installed firmware is too old: opening fails.
            case required
        }

        /// Firmware revision string of the device; `nil` if it has none.
        public let installed: String?
        /// The checker's result when the session was opened.
        public let update: Update
    }
}

/// Checks the firmware of a product; called once per opening. Bose's own service for it has been shut down.
public typealias FirmwareChecker =
    @Sendable (_ productID: UInt16, _ installed: String) -> WearableDevice.FirmwareVersion.Update
