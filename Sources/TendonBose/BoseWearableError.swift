// SPDX-License-Identifier: MIT
import CTendon
import Tendon

/// What can go wrong with a wearable.
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
    /// The program gave it up.
    case cancelled
    /// The link ended without our asking for it.
    case disconnectedByDevice
    /// What is remembered of the device is stale: forget it and pair again.
    case refreshRequired
    /// Pairing failed.
    case bondingFailed
    /// The device wants pairing, and nobody is there to prompt the wearer.
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
