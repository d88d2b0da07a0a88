// SPDX-License-Identifier: MIT
import CTendon
import Tendon

/// Errors of a wearable.
///
/// ```swift
/// do { _ = try await BoseWearable.shared.startConnection() } catch { print(error.localizedDescription) }
/// ```
public enum BoseWearableError: Error, Sendable, Hashable {
    // Of a device.
    /// The firmware does not have the sensor service, or the checker requires newer firmware.
    case firmwareUpdateRequired
    /// A Bose device that does not support the sensor service; an update does not change this.
    case unsupportedDevice
    /// It does not have the sensor service.
    case noMatchingDeviceType
    /// A required characteristic is missing.
    case missingCharacteristic(service: BluetoothUUID, characteristic: BluetoothUUID)
    /// The application cancelled the operation.
    case cancelled
    /// The device ended the connection.
    case disconnectedByDevice
    /// The cached attributes of the device are out of date: forget the device and pair again.
    case refreshRequired
    /// Pairing failed.
    case bondingFailed
    /// The wearer must put the device into pairing mode, and neither a pairing delegate nor a handler is set.
    case pairingDelegateMissing
    // Of an operation.
    /// The device sent an invalid response.
    case invalidResponse
    /// The device was found, but did not respond to the connection request.
    case deviceOutOfRange
    /// No device was found within the timeout.
    case deviceNotFound
    /// Another application has the focus of the device.
    case noFocus
    /// A configuration was changed before it was read.
    case missingRequiredData
    /// A gesture configuration was written before the gesture information was read.
    case missingGestureInformation
    /// The device does not meet the requirements of an intent: the sensors that it does not have, the periods that it does
    /// not offer for all of the sensors, and the gestures that it does not support.
    case intentsNotFulfilled(
        sensors: Set<SensorType>, samplePeriods: Set<SamplePeriod>, gestures: Set<GestureType>)
    /// The device rejected the request.
    case service(ErrorCode)
    /// A function that this library does not support, such as the functions of BMAP.
    case functionNotSupported
    /// `BoseWearable.configure` was called again, or after the first use.
    case alreadyConfigured
    /// An error of a lower layer: ATT, the radio, the system.
    case host(TendonError)

    /// Error codes of the sensor service.
    public enum ErrorCode: UInt8, Error, Sendable, Hashable {
        /// The configuration has the wrong number of bytes.
        case invalidRequestLength = 0x80
        /// A sensor does not have the period.
        case invalidSamplePeriod = 0x81
        /// An inconsistent configuration, for example sensors with different periods.
        case invalidSensorConfiguration = 0x82
        /// More samples than the device can send.
        case configExceedsMaxThroughput = 0x83
        /// The service is suspended.
        case wearableSensorServiceUnavailable = 0x84
        /// The device does not have the sensor.
        case invalidSensor = 0x85
        /// The device timed out.
        case timeout = 0x86
    }

    /// Status codes with their own case.
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

    init(_ check: IntentsCheckFailed) {
        self = .intentsNotFulfilled(
            sensors: check.missingSensors, samplePeriods: check.missingSamplePeriods, gestures: check.missingGestures)
    }

    init(_ error: TendonError) {
        if error.layer == .bose, let service = ErrorCode(rawValue: error.code) {
            self = .service(service)
        } else {
            self = Self.statuses.first { $0.0 == Int(error.status) }?.1 ?? .host(error)
        }
    }

    /// The error of an event with details in addition to its status.
    init(_ event: tendon_bose_event, _ operation: TendonError.Operation) {
        switch Int(event.status) {
        case TENDON_BOSE_ERROR_MISSING_CHARACTERISTIC:
            self = .missingCharacteristic(
                service: BluetoothUUID(event.service_uuid), characteristic: BluetoothUUID(event.characteristic_uuid))
        case TENDON_BOSE_ERROR_INTENTS_CHECK_FAILED where event.intents != nil:
            self.init(IntentsCheckFailed(event.intents.pointee))
        default: self.init(event.status, operation)
        }
    }

    private var status: Int {
        switch self {
        case .missingCharacteristic: TENDON_BOSE_ERROR_MISSING_CHARACTERISTIC
        case .intentsNotFulfilled: TENDON_BOSE_ERROR_INTENTS_CHECK_FAILED
        case .service(let error): -(Int(TENDON_LAYER_BOSE) << 8 | Int(error.rawValue))
        case .functionNotSupported: TENDON_ERROR_UNSUPPORTED
        case .alreadyConfigured: TENDON_ERROR_WRONG_STATE
        case .host(let error): Int(error.status)
        default: Self.statuses.first { $0.1 == self }?.0 ?? TENDON_ERROR_WRONG_STATE
        }
    }
}

extension BoseWearableError: CancellableError {
    /// Whether the application cancelled the operation.
    public var isCancelled: Bool { status == TENDON_ERROR_CANCELLED }
}

extension BoseWearableError {
    /// One line of plain English.
    public var localizedDescription: String {
        let text = TendonError(status: Int32(status), operation: .wait).text
        return switch self {
        case .missingCharacteristic(let service, let characteristic):
            "\(text): \(characteristic) of service \(service)"
        case .intentsNotFulfilled(let sensors, let periods, let gestures):
            "\(text): \(IntentsCheckFailed(sensors, periods, gestures).names.joined(separator: ", "))"
        case .alreadyConfigured: "BoseWearable is configured already, or in use"
        case .host(let error): error.description
        default: text
        }
    }
}

extension BoseWearableError {
    /// The same as `localizedDescription`, in the form of Foundation's `LocalizedError`. The module `TendonFoundation` adds
    /// the conformance.
    public var errorDescription: String? { localizedDescription }
}

extension BoseWearableError.ErrorCode {
    /// One line of plain English.
    public var errorDescription: String? { BoseWearableError.service(self).localizedDescription }
}
