// SPDX-License-Identifier: MIT
import CTendon
import Tendon

/// Why an operation with a device, or with the cloud for a device, failed.
///
/// ```swift
/// do { try await manager.updateFeatures() } catch .busy { print("wait for the other operation") }
/// ```
public enum OcelotError: Error, Sendable, Hashable {
    /// The task was cancelled, or the program called `cancel()`.
    case cancelled
    /// Another operation with this device is in progress.
    case busy
    /// A feature id outside 1 to 1024, an empty list, or a switch that cannot be set.
    case argument
    /// The connector's callback gave no product identifier, or one that is no number.
    case noProduct
    /// The device, the connection or the radio; or what arrived from the cloud is not for this device.
    case device(TendonError)
    /// The cloud.
    case cloud(ObviousCloudError)
    /// A feature update ended with this one of ``FeatureUpdateConstants``. `cause`: of the device, if there is one.
    case update(status: Int, cause: TendonError?)
    /// A firmware upgrade ended with this status. `cause`: of the device, if there is one.
    case upgrade(OcelotFirmwareManager.OcelotFirmwareUpgradeStatus, cause: TendonError?)
}

extension OcelotError: CancellableError {
    /// Whether the operation ended because the program cancelled it.
    public var isCancelled: Bool { self == .cancelled }
}

extension OcelotError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .cancelled: "cancelled"
        case .busy: "another operation with this device is in progress"
        case .argument: "bad argument"
        case .noProduct: "no product id"
        case .device(let error): error.description
        case .cloud(let error): error.description
        case .upgrade(let status, let cause): "\(status)" + (cause.map { " (\($0))" } ?? "")
        case .update(let status, let cause):
            (FeatureUpdateConstants.name(status) ?? "status \(status)") + (cause.map { " (\($0))" } ?? "")
        }
    }
}

extension TendonError.Operation {
    /// An operation of a manager: information, features, firmware.
    public static let obvious = TendonError.Operation(rawValue: "obvious")
}

extension OcelotError {
    /// Of a status of the C core.
    init(_ status: tendon_status) {
        self =
            switch status {
            case Int32(TENDON_ERROR_CANCELLED): .cancelled
            case Int32(TENDON_ERROR_BUSY): .busy
            case Int32(TENDON_ERROR_INVALID_ARGUMENT): .argument
            default: .device(TendonError(status: status, operation: .obvious))
            }
    }
}
