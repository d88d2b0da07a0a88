// SPDX-License-Identifier: MIT
import CTendon
import Tendon

/// Results and steps of a feature update.
public enum FeatureUpdateConstants {
    /// The device has the features that it may have.
    public static let SUCCESS = Int(TENDON_OBVIOUS_UPDATE_SUCCESS.rawValue)
    /// A step: the package was applied, and the device restarts.
    public static let SUCCESS_RESETTING = Int(TENDON_OBVIOUS_UPDATE_SUCCESS_RESETTING.rawValue)
    /// A step: the device has disconnected to restart.
    public static let RESET_COMPLETE = Int(TENDON_OBVIOUS_UPDATE_RESET_COMPLETE.rawValue)
    /// A step: all features were removed.
    public static let CLEAR_SUCCESS = Int(TENDON_OBVIOUS_UPDATE_CLEAR_SUCCESS.rawValue)
    /// The cloud does not know the device, or does not permit to provision it.
    public static let NOT_PROVISIONED = Int(TENDON_OBVIOUS_UPDATE_NOT_PROVISIONED.rawValue)
    /// There is no package, or it is not valid; nothing was sent to the device.
    public static let DOWNLOAD_FAILED = Int(TENDON_OBVIOUS_UPDATE_DOWNLOAD_FAILED.rawValue)
    /// The device rejected the package, or the connection was lost too often.
    public static let WRITE_FAILED = Int(TENDON_OBVIOUS_UPDATE_WRITE_FAILED.rawValue)
    /// The same for a package that removes all features.
    public static let CLEAR_FAILED = Int(TENDON_OBVIOUS_UPDATE_CLEAR_FAILED.rawValue)
    /// Everything else.
    public static let FAILED = Int(TENDON_OBVIOUS_UPDATE_FAILED.rawValue)
    /// A time limit.
    public static let TIMEOUT = Int(TENDON_OBVIOUS_UPDATE_TIMEOUT.rawValue)

    /// The names of the vendor's other document.
    public static let FEATUREUPDATE_SUCCESS = SUCCESS
    /// The same as `SUCCESS_RESETTING`.
    public static let FEATUREUPDATE_SUCCESS_RESETTING = SUCCESS_RESETTING
    /// The same as `RESET_COMPLETE`.
    public static let FEATUREUPDATE_RESET_COMPLETE = RESET_COMPLETE
    /// The same as `NOT_PROVISIONED`.
    public static let FEATUREUPDATE_NOT_PROVISIONED = NOT_PROVISIONED

    /// Whether a status is a step, and others follow.
    public static func isStep(_ status: Int) -> Bool { (SUCCESS_RESETTING...CLEAR_SUCCESS).contains(status) }

    /// "SUCCESS"; `nil`: there is no such status.
    public static func name(_ status: Int) -> String? {
        switch status {
        case SUCCESS: "SUCCESS"
        case SUCCESS_RESETTING: "SUCCESS_RESETTING"
        case RESET_COMPLETE: "RESET_COMPLETE"
        case CLEAR_SUCCESS: "CLEAR_SUCCESS"
        case NOT_PROVISIONED: "NOT_PROVISIONED"
        case DOWNLOAD_FAILED: "DOWNLOAD_FAILED"
        case WRITE_FAILED: "WRITE_FAILED"
        case CLEAR_FAILED: "CLEAR_FAILED"
        case FAILED: "FAILED"
        case TIMEOUT: "TIMEOUT"
        default: nil
        }
    }
}

/// Results and steps of provisioning, a part of a feature update.
public enum ProvisionUpdateConstants {
    /// The device is provisioned.
    public static let SUCCESS = Int(TENDON_OBVIOUS_PROVISION_SUCCESS)
    /// Begins.
    public static let START = Int(TENDON_OBVIOUS_PROVISION_START)
    /// There is no package, or it is not valid.
    public static let DOWNLOAD_FAILED = Int(TENDON_OBVIOUS_PROVISION_DOWNLOAD_FAILED)
    /// The device rejected the package, or the connection was lost too often.
    public static let WRITE_FAILED = Int(TENDON_OBVIOUS_PROVISION_WRITE_FAILED)
    /// The cloud does not permit it, or everything else.
    public static let FAILED = Int(TENDON_OBVIOUS_PROVISION_FAILED)
    /// A time limit.
    public static let TIMEOUT = Int(TENDON_OBVIOUS_PROVISION_TIMEOUT)

    /// "START"; `nil`: there is no such status.
    public static func name(_ status: Int) -> String? {
        switch status {
        case SUCCESS: "SUCCESS"
        case START: "START"
        case DOWNLOAD_FAILED: "DOWNLOAD_FAILED"
        case WRITE_FAILED: "WRITE_FAILED"
        case FAILED: "FAILED"
        case TIMEOUT: "TIMEOUT"
        default: nil
        }
    }
}

/// Constants of the service and of what its values mean.
public enum OcelotServiceConstants {
    /// Result of a write.
    public static let WRITE_DATA_SUCCESS: UInt8 = 0
    /// Result of a write.
    public static let WRITE_DATA_FAILURE: UInt8 = 1
    /// The characteristic of the data, as text in upper case. Its write results are not passed to the connector.
    public static let BLE_CHARACTERISTIC_OBVIOUS_DATA = OGP_DATA.uuidString
    /// The version of a firmware that cannot be read.
    public static let INVALID_FIRMWARE_VERSION: Int64 = -1

    /// The service that devices advertise.
    public static let OGP_SERVICE = BluetoothUUID(tendon_obvious_gatt_defaults().service)
    /// Its characteristic of the data.
    public static let OGP_DATA = BluetoothUUID(tendon_obvious_gatt_defaults().data)
    /// Its characteristic of the protocol's version.
    public static let OGP_STATUS = BluetoothUUID(tendon_obvious_gatt_defaults().status)
}

/// The UUIDs of the service and its characteristics. Owners of a license for devices with others set theirs; what is sent
/// stays OGP/1.
///
/// ```swift
/// let uuids = OcelotUUIDs(service: "fe01", data: "fe02", status: "fe03")
/// let connector = OcelotDeviceConnector(to: address, productId: "1234", uuids: uuids)
/// ```
public struct OcelotUUIDs: Sendable, Hashable {
    /// The service.
    public let service: BluetoothUUID
    /// Its characteristic of the data.
    public let data: BluetoothUUID
    /// Its characteristic of the protocol's version.
    public let status: BluetoothUUID

    /// Defaults: those of ``OcelotServiceConstants``.
    public init(
        service: BluetoothUUID = OcelotServiceConstants.OGP_SERVICE,
        data: BluetoothUUID = OcelotServiceConstants.OGP_DATA, status: BluetoothUUID = OcelotServiceConstants.OGP_STATUS
    ) {
        (self.service, self.data, self.status) = (service, data, status)
    }

    var c: tendon_obvious_gatt { tendon_obvious_gatt(service: service.c, data: data.c, status: status.c) }
}

/// "1.3.0" of 1003000; `nil`: no version.
func versionText(_ code: UInt32) -> String? {
    guard code <= UInt32(TENDON_OBVIOUS_VERSION_MAX) else { return nil }
    return printed(size: Int(TENDON_OBVIOUS_VERSION_SIZE)) { tendon_obvious_format_version(code, $0) }
}
