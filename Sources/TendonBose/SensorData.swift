// SPDX-License-Identifier: MIT
import CTendon
import Tendon

/// The device's clock in milliseconds; wraps at 65536.
public typealias SensorTimestamp = UInt16

/// A sample of one sensor.
public enum SensorSample: Sendable, Hashable {
    /// g.
    case accelerometer(vector: Vector, accuracy: VectorAccuracy)
    /// Degrees per second.
    case gyroscope(vector: Vector, accuracy: VectorAccuracy)
    /// Refers to magnetic north.
    case rotation(quaternion: Quaternion, accuracy: QuaternionAccuracy)
    /// Of an arbitrary heading, without the magnetometer's disturbances.
    case gameRotation(quaternion: Quaternion)
    /// Angles in the unit that the device reports; no released firmware has it on.
    case orientation(vector: Vector, accuracy: VectorAccuracy)
    /// The magnetic field in the unit that the device reports; no released firmware has it on.
    case magnetometer(vector: Vector, accuracy: VectorAccuracy)
    /// The magnetic field and its estimated offset, both in the unit that the device reports.
    case uncalibratedMagnetometer(vector: Vector, bias: Vector)

    init?(_ c: tendon_bose_sample) {
        let vector = { Vector(c.vector) }
        let accuracy = VectorAccuracy(rawValue: c.accuracy) ?? .unreliable
        switch SensorType(id: c.sensor_id) {
        case .accelerometer: self = .accelerometer(vector: vector(), accuracy: accuracy)
        case .gyroscope: self = .gyroscope(vector: vector(), accuracy: accuracy)
        case .rotation:
            let estimate = c.accuracy_unknown ? nil : c.accuracy_rad
            self = .rotation(
                quaternion: Quaternion(c.quaternion), accuracy: QuaternionAccuracy(estimatedAccuracy: estimate))
        case .gameRotation: self = .gameRotation(quaternion: Quaternion(c.quaternion))
        case .orientation: self = .orientation(vector: vector(), accuracy: accuracy)
        case .magnetometer: self = .magnetometer(vector: vector(), accuracy: accuracy)
        case .uncalibratedMagnetometer: self = .uncalibratedMagnetometer(vector: vector(), bias: Vector(c.bias))
        case .unknown: return nil
        }
    }

    /// For sensors that have it; otherwise `nil`.
    public var vector: Vector? {
        switch self {
        case .accelerometer(let vector, _), .gyroscope(let vector, _), .orientation(let vector, _),
            .magnetometer(let vector, _), .uncalibratedMagnetometer(let vector, _):
            vector
        case .rotation, .gameRotation: nil
        }
    }

    /// For sensors that have it; otherwise `nil`.
    public var vectorAccuracy: VectorAccuracy? {
        switch self {
        case .accelerometer(_, let accuracy), .gyroscope(_, let accuracy), .orientation(_, let accuracy),
            .magnetometer(_, let accuracy):
            accuracy
        case .rotation, .gameRotation, .uncalibratedMagnetometer: nil
        }
    }

    /// For the two rotations; otherwise `nil`.
    public var quaternion: Quaternion? {
        switch self {
        case .rotation(let quaternion, _), .gameRotation(let quaternion): quaternion
        default: nil
        }
    }

    /// For `rotation`; otherwise `nil`.
    public var quaternionAccuracy: QuaternionAccuracy? {
        if case .rotation(_, let accuracy) = self { return accuracy }
        return nil
    }

    /// For `uncalibratedMagnetometer`; otherwise `nil`.
    public var bias: Vector? {
        if case .uncalibratedMagnetometer(_, let bias) = self { return bias }
        return nil
    }
}

/// One sample with its time.
public struct SensorValue: Sendable, Hashable {
    /// The sensor.
    public let sensor: SensorType
    /// The device's clock, which wraps after 65.5 s.
    public let timestamp: SensorTimestamp
    /// The device's clock without the wrap, milliseconds.
    public let deviceTime: UInt64
    /// The measured values.
    public let sample: SensorSample

    init?(_ c: tendon_bose_sample, deviceTime: UInt64) {
        guard let sample = SensorSample(c) else { return nil }
        sensor = SensorType(id: c.sensor_id)
        timestamp = c.timestamp
        self.deviceTime = deviceTime
        self.sample = sample
    }
}

/// All samples of one notification, in their order.
public struct SensorData: Sendable, Hashable {
    /// The samples of known sensors.
    public let values: [SensorValue]
}

/// A gesture with its time.
public struct GestureData: Sendable, Hashable {
    /// Which one.
    public let type: GestureType
    /// The device's clock, which wraps after 65.5 s.
    public let timestamp: SensorTimestamp
    /// The device's clock without the wrap, milliseconds.
    public let deviceTime: UInt64
}
