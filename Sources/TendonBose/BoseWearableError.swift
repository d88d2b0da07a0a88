// SPDX-License-Identifier: MIT
import CTendon
import Tendon

/// What can go wrong with a wearable.
///
/// ```swift
/// do { _ = try await BoseWearable.shared.startConnection() } catch { print(error.localizedDescription) }
/// ```
public enum BoseWearableError: Error, Sendable, Hashable {
    // Of a device.
    /// The firmware does not have the sensor service, or the checker insists on newer.
    case firmwareUpdateRequired
    /// A Bose device without the sensor service, which no update gives it.
    case unsupportedDevice
    /// It does not have the sensor service.
    case noMatchingDeviceType
    /// A characteristic that every wearable must have is not there.
    case missingCharacteristic(service: BluetoothUUID, characteristic: BluetoothUUID)
    /// The program cancelled it.
    case cancelled
    /// The device ended the connection.
    case disconnectedByDevice
    /// What is remembered of the device is stale: forget it and pair again.
    case refreshRequired
    /// Pairing failed.
    case bondingFailed
    /// The wearer must put the device into pairing mode, and neither a pairing delegate nor a handler is set.
    case pairingDelegateMissing
    // Of an operation.
    /// The device answered what it may not answer.
    case invalidResponse
    /// The device was found, and could not be reached.
    case deviceOutOfRange
    /// No device in the time that was given.
    case deviceNotFound
    /// Another program has the device's attention.
    case noFocus
    /// A configuration was changed before it was read.
    case missingRequiredData
    /// A gesture configuration was written before the device told which gestures it has.
    case missingGestureInformation
    /// The device lacks what an intent asks for.
    case intentsCheckFailed(IntentsCheckFailed)
    /// The device refuses.
    case service(SensorServiceError)
    /// What this library has no way to do, such as what goes over BMAP.
    case unsupported
    /// `BoseWearable.configure` a second time, or after first use.
    case alreadyConfigured
    /// From below: ATT, the radio, the system.
    case host(TendonError)

    /// Errors that the sensor service answers with.
    public enum SensorServiceError: UInt8, Sendable, Hashable {
        /// The configuration has the wrong number of bytes.
        case invalidRequestLength = 0x80
        /// A sensor does not have the period.
        case invalidSamplePeriod = 0x81
        /// Sensors with different periods, or the like.
        case invalidSensorConfiguration = 0x82
        /// More samples than the device can send.
        case configExceedsMaxThroughput = 0x83
        /// The service is suspended.
        case wearableSensorServiceUnavailable = 0x84
        /// The device does not have the sensor.
        case invalidSensor = 0x85
        /// The device could not do it in time.
        case timeout = 0x86
        /// The device does not say why.
        case unknown = 0x9F
    }

    /// Codes that are a case of their own.
    private static let statuses: [(Int, BoseWearableError)] = [
        (TENDON_BOSE_ERROR_FIRMWARE_UPDATE_REQUIRED, .firmwareUpdateRequired),
        (TENDON_BOSE_ERROR_UNSUPPORTED_DEVICE, .unsupportedDevice),
        (TENDON_BOSE_ERROR_NO_MATCHING_DEVICE_TYPE, .noMatchingDeviceType),
        (TENDON_BOSE_ERROR_DISCONNECTED_BY_DEVICE, .disconnectedByDevice),
        (TENDON_BOSE_ERROR_REFRESH_REQUIRED, .refreshRequired),
        (TENDON_BOSE_ERROR_BONDING_FAILED, .bondingFailed),
        (TENDON_BOSE_ERROR_PAIRING_DELEGATE_MISSING, .pairingDelegateMissing),
        (TENDON_BOSE_ERROR_INVALID_RESPONSE, .invalidResponse),
        (TENDON_BOSE_ERROR_DEVICE_OUT_OF_RANGE, .deviceOutOfRange),
        (TENDON_BOSE_ERROR_DEVICE_NOT_FOUND, .deviceNotFound),
        (TENDON_BOSE_ERROR_NO_FOCUS, .noFocus),
        (TENDON_BOSE_ERROR_MISSING_REQUIRED_DATA, .missingRequiredData),
        (TENDON_BOSE_ERROR_MISSING_GESTURE_INFORMATION, .missingGestureInformation),
        (TENDON_ERROR_CANCELLED, .cancelled),
    ]

    init(_ status: tendon_status, _ operation: TendonError.Operation) {
        self.init(TendonError(status: status, operation: operation))
    }

    init(_ error: TendonError) {
        if error.layer == .bose, let service = SensorServiceError(rawValue: error.code) {
            self = .service(service)
        } else {
            self = Self.statuses.first { $0.0 == Int(error.status) }?.1 ?? .host(error)
        }
    }

    /// Of an event that carries more than its status.
    init(_ event: tendon_bose_event, _ operation: TendonError.Operation) {
        switch Int(event.status) {
        case TENDON_BOSE_ERROR_MISSING_CHARACTERISTIC:
            self = .missingCharacteristic(
                service: BluetoothUUID(event.service_uuid), characteristic: BluetoothUUID(event.characteristic_uuid))
        case TENDON_BOSE_ERROR_INTENTS_CHECK_FAILED where event.intents != nil:
            self = .intentsCheckFailed(IntentsCheckFailed(event.intents.pointee))
        default: self.init(event.status, operation)
        }
    }

    private var status: Int {
        switch self {
        case .missingCharacteristic: TENDON_BOSE_ERROR_MISSING_CHARACTERISTIC
        case .intentsCheckFailed: TENDON_BOSE_ERROR_INTENTS_CHECK_FAILED
        case .service(let error): -(Int(TENDON_LAYER_BOSE) << 8 | Int(error.rawValue))
        case .unsupported: TENDON_ERROR_UNSUPPORTED
        case .alreadyConfigured: TENDON_ERROR_WRONG_STATE
        case .host(let error): Int(error.status)
        default: Self.statuses.first { $0.1 == self }?.0 ?? TENDON_ERROR_WRONG_STATE
        }
    }
}

extension BoseWearableError: CancellableError {
    /// Whether the program cancelled it.
    public var isCancelled: Bool { status == TENDON_ERROR_CANCELLED }
}

extension BoseWearableError {
    /// One line of plain English.
    public var localizedDescription: String {
        let text = TendonError(status: Int32(status), operation: .wait).text
        return switch self {
        case .missingCharacteristic(let service, let characteristic):
            "\(text): \(characteristic) of service \(service)"
        case .intentsCheckFailed(let check): "\(text): \(check.names.joined(separator: ", "))"
        case .alreadyConfigured: "BoseWearable is configured already, or in use"
        case .host(let error): error.description
        default: text
        }
    }
}
