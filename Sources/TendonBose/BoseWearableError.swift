// SPDX-License-Identifier: MIT
import CTendon
import Tendon

/// What can go wrong with a wearable.
public enum BoseWearableError: Error, Sendable, Hashable {
    // Of a device.
    case firmwareUpdateRequired
    case unsupportedDevice
    case noMatchingDeviceType
    case missingCharacteristic(service: BluetoothUUID, characteristic: BluetoothUUID)
    case cancelled
    case disconnectedByDevice
    case refreshRequired
    case bondingFailed
    case pairingDelegateMissing
    // Of an operation.
    case invalidResponse
    case deviceOutOfRange
    case deviceNotFound
    case noFocus
    case missingRequiredData
    case missingGestureInformation
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
        case invalidRequestLength = 0x80
        case invalidSamplePeriod = 0x81
        case invalidSensorConfiguration = 0x82
        case configExceedsMaxThroughput = 0x83
        case wearableSensorServiceUnavailable = 0x84
        case invalidSensor = 0x85
        case timeout = 0x86
        case unknown = 0x9F
    }

    init(_ status: tendon_status, _ operation: TendonError.Operation) {
        let error = TendonError(status: status, operation: operation)
        if error.layer == .bose, let service = SensorServiceError(rawValue: error.code) {
            self = .service(service)
            return
        }
        self =
            switch Int(status) {
            case TENDON_BOSE_ERROR_FIRMWARE_UPDATE_REQUIRED: .firmwareUpdateRequired
            case TENDON_BOSE_ERROR_UNSUPPORTED_DEVICE: .unsupportedDevice
            case TENDON_BOSE_ERROR_NO_MATCHING_DEVICE_TYPE: .noMatchingDeviceType
            case TENDON_BOSE_ERROR_DISCONNECTED_BY_DEVICE: .disconnectedByDevice
            case TENDON_BOSE_ERROR_REFRESH_REQUIRED: .refreshRequired
            case TENDON_BOSE_ERROR_BONDING_FAILED: .bondingFailed
            case TENDON_BOSE_ERROR_PAIRING_DELEGATE_MISSING: .pairingDelegateMissing
            case TENDON_BOSE_ERROR_INVALID_RESPONSE: .invalidResponse
            case TENDON_BOSE_ERROR_DEVICE_OUT_OF_RANGE: .deviceOutOfRange
            case TENDON_BOSE_ERROR_DEVICE_NOT_FOUND: .deviceNotFound
            case TENDON_BOSE_ERROR_NO_FOCUS: .noFocus
            case TENDON_BOSE_ERROR_MISSING_REQUIRED_DATA: .missingRequiredData
            case TENDON_BOSE_ERROR_MISSING_GESTURE_INFORMATION: .missingGestureInformation
            case TENDON_ERROR_CANCELLED: .cancelled
            default: .host(error)
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
}
