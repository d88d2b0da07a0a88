// SPDX-License-Identifier: MIT
import CTendon
import Tendon

/// The device's clock in milliseconds; wraps at 65536.
public typealias SensorTimestamp = UInt16

/// A sample of one sensor.
public enum SensorSample: Sendable, Hashable {
    /// g.
    case accelerometer(value: Vector, accuracy: VectorAccuracy)
    /// Degrees per second.
    case gyroscope(value: Vector, accuracy: VectorAccuracy)
    /// Refers to magnetic north.
    case rotation(value: Quaternion, accuracy: QuaternionAccuracy)
    /// Of an arbitrary heading, without the magnetometer's disturbances.
    case gameRotation(value: Quaternion)
    /// Angles in the unit that the device reports; no released firmware has it on.
    case orientation(value: Vector, accuracy: VectorAccuracy)
    /// The magnetic field in the unit that the device reports; no released firmware has it on.
    case magnetometer(value: Vector, accuracy: VectorAccuracy)
    /// The magnetic field and its estimated offset, both in the unit that the device reports.
    case uncalibratedMagnetometer(value: Vector, bias: Vector)

    init?(_ c: tendon_bose_sample) {
        let vector = { Vector(c.vector) }
        let accuracy = VectorAccuracy(rawValue: c.accuracy) ?? .unreliable
        switch SensorType(id: c.sensor_id) {
        case .accelerometer: self = .accelerometer(value: vector(), accuracy: accuracy)
        case .gyroscope: self = .gyroscope(value: vector(), accuracy: accuracy)
        case .rotation:
            let estimate = c.accuracy_unknown ? .infinity : c.accuracy_rad
            self = .rotation(
                value: Quaternion(c.quaternion), accuracy: QuaternionAccuracy(estimatedAccuracy: estimate))
        case .gameRotation: self = .gameRotation(value: Quaternion(c.quaternion))
        case .orientation: self = .orientation(value: vector(), accuracy: accuracy)
        case .magnetometer: self = .magnetometer(value: vector(), accuracy: accuracy)
        case .uncalibratedMagnetometer: self = .uncalibratedMagnetometer(value: vector(), bias: Vector(c.bias))
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

extension SensorSample: CustomDebugStringConvertible {
    /// Sensor and values: "rotation(…)".
    public var debugDescription: String {
        switch self {
        case .accelerometer(let value, let accuracy): "accelerometer(\(value), \(accuracy))"
        case .gyroscope(let value, let accuracy): "gyroscope(\(value), \(accuracy))"
        case .rotation(let value, let accuracy): "rotation(\(value), \(accuracy.estimatedAccuracy))"
        case .gameRotation(let value): "gameRotation(\(value))"
        case .orientation(let value, let accuracy): "orientation(\(value), \(accuracy))"
        case .magnetometer(let value, let accuracy): "magnetometer(\(value), \(accuracy))"
        case .uncalibratedMagnetometer(let value, let bias): "uncalibratedMagnetometer(\(value), \(bias))"
        }
    }
}

/// One sample with its time.
public struct SensorValue: Sendable, Hashable, CustomDebugStringConvertible {
    /// The sensor.
    public var sensor: SensorType
    /// The device's clock, which wraps after 65.5 s.
    public var timestamp: SensorTimestamp
    /// The device's clock without the wrap, milliseconds.
    public let deviceTime: UInt64
    /// When it arrived, and when it was measured.
    public let times: SampleTimes
    /// The measured values.
    public var sample: SensorSample

    /// A value of an application's own, for example for tests; its `deviceTime` is the timestamp.
    public init(sensor: SensorType, timestamp: SensorTimestamp, sample: SensorSample) {
        self.sensor = sensor
        self.timestamp = timestamp
        deviceTime = UInt64(timestamp)
        times = SampleTimes()
        self.sample = sample
    }

    init?(_ c: tendon_bose_sample, deviceTime: UInt64, times: SampleTimes = SampleTimes()) {
        guard let sample = SensorSample(c) else { return nil }
        sensor = SensorType(id: c.sensor_id)
        timestamp = c.timestamp
        self.deviceTime = deviceTime
        self.times = times
        self.sample = sample
    }

    /// Time and sample.
    public var debugDescription: String { "\(timestamp) ms: \(sample.debugDescription)" }
}

/// All samples of one notification, in their order.
public struct SensorData: Sendable, Hashable, CustomDebugStringConvertible {
    /// The samples of known sensors.
    public var values: [SensorValue]

    /// The values, separated by commas.
    public var debugDescription: String { values.map(\.debugDescription).joined(separator: ", ") }
}

/// A gesture with its time.
public struct GestureData: Sendable, Hashable, CustomDebugStringConvertible {
    /// Type of the gesture.
    public var gesture: GestureType
    /// The device's clock, which wraps after 65.5 s.
    public var timestamp: SensorTimestamp
    /// Further bytes of the notification: empty in received gestures, because the decoder skips them. No firmware is known
    /// to send any.
    public var payload: [UInt8] = []
    /// The device's clock without the wrap, milliseconds.
    public let deviceTime: UInt64
    /// When it arrived, and when the device detected it.
    public let times: SampleTimes

    /// Gesture data of an application's own, for example for tests; its `deviceTime` is the timestamp.
    public init(gesture: GestureType, timestamp: SensorTimestamp, payload: [UInt8]) {
        self.gesture = gesture
        self.timestamp = timestamp
        self.payload = payload
        deviceTime = UInt64(timestamp)
        times = SampleTimes()
    }

    init(
        _ gesture: GestureType, _ timestamp: SensorTimestamp, deviceTime: UInt64, times: SampleTimes = SampleTimes()
    ) {
        self.gesture = gesture
        self.timestamp = timestamp
        self.deviceTime = deviceTime
        self.times = times
    }

    /// Time and gesture.
    public var debugDescription: String { "\(timestamp) ms: \(gesture)" }
}
