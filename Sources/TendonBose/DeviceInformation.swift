// SPDX-License-Identifier: MIT
import CTendon
import Tendon

/// What the device says about itself in the sensor service.
public struct WearableDeviceInformation: Sendable {
    let c: tendon_bose_device_information

    init(_ c: tendon_bose_device_information) { self.c = c }

    /// Of the sensor service's specification.
    public var majorVersion: Int { Int(c.major) }
    public var minorVersion: Int { Int(c.minor) }
    public var productID: UInt16 { c.product_id }
    public var variant: UInt8 { c.variant }
    public var productInfo: ProductInfo { ProductInfo(id: c.product_id, variant: c.variant) }
    public var availableSensors: [SensorType] {
        (0..<32).filter { c.sensor_mask & (1 << $0) != 0 }.map { SensorType(id: UInt8($0)) }
    }
    public var availableGestures: [GestureType] { GestureType.all(in: c.gesture_mask) }
    /// Milliseconds; 0: each sample is sent at once.
    public var transmissionPeriod: Int { Int(c.transmission_period_ms) }
    /// Bytes; 0: no limit.
    public var maximumPayloadPerTransmissionPeriod: Int { Int(c.max_payload) }
    /// 0: no limit.
    public var maximumActiveSensors: Int { Int(c.max_active_sensors) }
    public var deviceStatus: DeviceStatus { DeviceStatus(rawValue: c.status) }
}

/// The product by number and name.
public struct ProductInfo: Sendable, Hashable {
    public let id: UInt16
    public let variant: UInt8

    /// "unknown" for products that this version does not know.
    public var idName: String { String(cString: tendon_bose_product_name(id)) }
    public var variantName: String { String(cString: tendon_bose_variant_name(id, variant)) }
}

public struct DeviceStatus: RawRepresentable, Sendable, Hashable {
    /// Reserved bits are kept.
    public let rawValue: UInt16

    public init(rawValue: UInt16) { self.rawValue = rawValue }

    private func has(_ bit: Int) -> Bool { rawValue & UInt16(bit) != 0 }

    /// In pairing mode now.
    public var pairingEnabled: Bool { has(TENDON_BOSE_STATUS_PAIRING_ENABLED) }
    public var secureBLEPairingRequired: Bool { has(TENDON_BOSE_STATUS_PAIRING_REQUIRED) }
    public var alreadyPairedToClient: Bool { has(TENDON_BOSE_STATUS_ALREADY_PAIRED) }
    public var wearableSensorsServiceSuspended: Bool { has(TENDON_BOSE_STATUS_SUSPENDED) }
    /// `nil` unless suspended.
    public var suspensionReason: SuspensionReason? {
        wearableSensorsServiceSuspended ? SuspensionReason(tendon_bose_suspension_reason_of(rawValue)) : nil
    }
}

/// Why the device sends no sensor data.
public enum SuspensionReason: UInt8, Sendable, Hashable, CaseIterable {
    case unknown = 0
    case voicePersonalAssistant
    case multipointConnection
    case musicShare
    case otaFirmwareUpdate

    init(_ c: tendon_bose_suspension_reason) {
        self = SuspensionReason(rawValue: UInt8(truncatingIfNeeded: c.rawValue)) ?? .unknown
    }
}

/// The texts of the Device Information service; `nil`: the device does not have one.
public struct DeviceInformation: Sendable, Hashable {
    public let modelNumber, serialNumber, firmwareRevision, hardwareRevision, softwareRevision: String?
    public let manufacturerName: String?
    public let systemID, pnpID, regulatoryCertifications: [UInt8]?

    init(_ c: tendon_bose_device_texts) {
        let all = elements(c.texts, of: tendon_bose_device_text.self, Int(TENDON_BOSE_TEXT_COUNT.rawValue))
        func text(_ which: tendon_bose_text) -> String? {
            let one = all[Int(which.rawValue)]
            guard one.present else { return nil }
            return String(decoding: elements(one.bytes, of: UInt8.self, Int(one.length)), as: UTF8.self)
        }
        modelNumber = text(TENDON_BOSE_TEXT_MODEL)
        serialNumber = text(TENDON_BOSE_TEXT_SERIAL)
        firmwareRevision = text(TENDON_BOSE_TEXT_FIRMWARE)
        hardwareRevision = text(TENDON_BOSE_TEXT_HARDWARE)
        softwareRevision = text(TENDON_BOSE_TEXT_SOFTWARE)
        manufacturerName = text(TENDON_BOSE_TEXT_MANUFACTURER)
        systemID = c.has_system_id ? elements(c.system_id, of: UInt8.self, 8) : nil
        pnpID = c.has_pnp_id ? elements(c.pnp_id, of: UInt8.self, 7) : nil
        regulatoryCertifications =
            c.has_regulatory ? elements(c.regulatory, of: UInt8.self, Int(c.regulatory_length)) : nil
    }
}

/// The firmware that is installed, and what the checker says about it.
public struct FirmwareVersion: Sendable, Hashable {
    public enum Update: UInt32, Sendable, Hashable {
        /// Nobody was asked, or the checker does not know the product.
        case unknown = 0
        case upToDate, available
        /// `startConnection` fails.
        case required
    }

    public let installed: String?
    public let update: Update
}

/// Judges the firmware of a product; asked once per opening. Bose's own service for it is gone.
public typealias FirmwareChecker = @Sendable (_ productID: UInt16, _ installed: String) -> FirmwareVersion.Update
