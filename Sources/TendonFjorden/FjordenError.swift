// SPDX-License-Identifier: MIT
import CTendon

/// What can go wrong with a grip.
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
    /// The program ended it.
    case gripDiscoveryCancelled
    /// The answer to the prompt was no, or the grip refused to pair.
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
    /// It says nothing of itself.
    case gripUnableToReadGripInfo
    /// Its firmware is older than the configuration's minimum.
    case gripUnsupportedFirmwareVersion
    /// Nobody says what the latest firmware is.
    case unableToReachFirmwareServer
    /// Anything else: the link, the radio.
    case unknown

    private static let statuses: [Int32] = [
        Int32(TENDON_FJORDEN_ERROR_MANAGER_NOT_CONFIGURED), Int32(TENDON_FJORDEN_ERROR_MANAGER_ALREADY_CONFIGURED),
        Int32(TENDON_FJORDEN_ERROR_INVALID_MANAGER_STATE), Int32(TENDON_FJORDEN_ERROR_ALREADY_SCANNING),
        Int32(TENDON_FJORDEN_ERROR_NO_BOND), Int32(TENDON_FJORDEN_ERROR_CONNECTION_TIMEOUT),
        Int32(TENDON_FJORDEN_ERROR_DISCOVERY_CANCELLED), Int32(TENDON_FJORDEN_ERROR_PAIRING_DECLINED),
        Int32(TENDON_FJORDEN_ERROR_NO_SERVICE), Int32(TENDON_FJORDEN_ERROR_NO_CHARACTERISTICS),
        Int32(TENDON_FJORDEN_ERROR_NO_NOTIFY), Int32(TENDON_FJORDEN_ERROR_NO_BATTERY_INFO),
        Int32(TENDON_FJORDEN_ERROR_NO_FIRMWARE_VERSION), Int32(TENDON_FJORDEN_ERROR_NO_GRIP_INFO),
        Int32(TENDON_FJORDEN_ERROR_UNSUPPORTED_FIRMWARE), Int32(TENDON_FJORDEN_ERROR_NO_FIRMWARE_SERVER),
        Int32(TENDON_FJORDEN_ERROR_UNKNOWN),
    ]

    init(_ status: tendon_status) {
        let index = FjordenError.statuses.firstIndex(of: status)
        self = index.map { FjordenError.allCases[$0] } ?? .unknown
    }

    /// The C core's status of it.
    public var status: Int32 {
        FjordenError.allCases.firstIndex(of: self).map { FjordenError.statuses[$0] }
            ?? Int32(TENDON_FJORDEN_ERROR_UNKNOWN)
    }

    /// One line of plain English.
    public var localizedDescription: String { String(cString: tendon_fjorden_status_text(status)) }
}

extension FjordenError: CustomStringConvertible {
    /// The case's name.
    public var description: String { String(cString: tendon_fjorden_status_name(status)) }
}
