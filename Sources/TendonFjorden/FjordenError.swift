// SPDX-License-Identifier: MIT
import CTendon
import Tendon

/// Errors of a grip or of the manager.
public enum FjordenError: Error, Sendable, Hashable, CaseIterable {
    /// `configure(with:)` comes first.
    case managerNotConfigured
    /// `configure(with:)` a second time.
    case managerAlreadyConfigured
    /// Not in the present state.
    case invalidManagerState
    /// The bonded grip is being looked for.
    case alreadyScanningForBondedGrip
    /// There is no bonded grip.
    case bondDoesNotExists
    /// The grip was not found or not connected in time.
    case connectionTimeout
    /// The program ended the search or the attempt, or cancelled the task.
    case gripDiscoveryCancelled
    /// The user declined, or the grip rejected pairing. If the grip was reset, it no longer has the key of this host:
    /// forget the grip, then connect again.
    case gripPairingRequestDeclined
    /// The grip does not have the profile's service.
    case gripUnableToDiscoverService
    /// It does not have the profile's characteristics.
    case gripUnableToDiscoverCharacteristics
    /// It does not send its events.
    case gripUnableToEnableNotify
    /// Its battery cannot be read.
    case gripUnableToReadBatteryInfo
    /// Its firmware cannot be read, or is no version.
    case gripUnableToReadFirmwareVersion
    /// The grip has no device information.
    case gripUnableToReadGripInfo
    /// Its firmware is older than the configuration's minimum.
    case gripUnsupportedFirmwareVersion
    /// The latest firmware version is not known.
    case unableToReachFirmwareServer
    /// Anything else: the link, the radio.
    case unknown

    init(_ status: tendon_status) { self = FjordenError.allCases.first { $0.status == status } ?? .unknown }

    /// The C core's status of it.
    public var status: Int32 {
        let status =
            switch self {
            case .managerNotConfigured: TENDON_FJORDEN_ERROR_MANAGER_NOT_CONFIGURED
            case .managerAlreadyConfigured: TENDON_FJORDEN_ERROR_MANAGER_ALREADY_CONFIGURED
            case .invalidManagerState: TENDON_FJORDEN_ERROR_INVALID_MANAGER_STATE
            case .alreadyScanningForBondedGrip: TENDON_FJORDEN_ERROR_ALREADY_SCANNING
            case .bondDoesNotExists: TENDON_FJORDEN_ERROR_NO_BOND
            case .connectionTimeout: TENDON_FJORDEN_ERROR_CONNECTION_TIMEOUT
            case .gripDiscoveryCancelled: TENDON_FJORDEN_ERROR_DISCOVERY_CANCELLED
            case .gripPairingRequestDeclined: TENDON_FJORDEN_ERROR_PAIRING_DECLINED
            case .gripUnableToDiscoverService: TENDON_FJORDEN_ERROR_NO_SERVICE
            case .gripUnableToDiscoverCharacteristics: TENDON_FJORDEN_ERROR_NO_CHARACTERISTICS
            case .gripUnableToEnableNotify: TENDON_FJORDEN_ERROR_NO_NOTIFY
            case .gripUnableToReadBatteryInfo: TENDON_FJORDEN_ERROR_NO_BATTERY_INFO
            case .gripUnableToReadFirmwareVersion: TENDON_FJORDEN_ERROR_NO_FIRMWARE_VERSION
            case .gripUnableToReadGripInfo: TENDON_FJORDEN_ERROR_NO_GRIP_INFO
            case .gripUnsupportedFirmwareVersion: TENDON_FJORDEN_ERROR_UNSUPPORTED_FIRMWARE
            case .unableToReachFirmwareServer: TENDON_FJORDEN_ERROR_NO_FIRMWARE_SERVER
            case .unknown: TENDON_FJORDEN_ERROR_UNKNOWN
            }
        return Int32(status)
    }

    /// The same as `localizedDescription`, in the form of Foundation's `LocalizedError`. The module `TendonFoundation` adds
    /// the conformance.
    public var errorDescription: String? { localizedDescription }

    /// One line of plain English.
    public var localizedDescription: String { String(cString: tendon_fjorden_status_text(status)) }
}

/// The vendor's name of `FjordenError`.
public typealias Errors = FjordenError

extension FjordenError: CancellableError {
    /// The error that a function throws because its task was cancelled: `gripDiscoveryCancelled`.
    public static var cancelled: FjordenError { .gripDiscoveryCancelled }
    /// Whether the operation ended because the program cancelled it.
    public var isCancelled: Bool { self == .gripDiscoveryCancelled }
}

extension FjordenError: CustomStringConvertible {
    /// The case's name.
    public var description: String { String(cString: tendon_fjorden_status_name(status)) }
}
