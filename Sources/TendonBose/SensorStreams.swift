// SPDX-License-Identifier: MIT
import Tendon

/// A sample of `rotation` or `gameRotation`.
public struct RotationSample: Sendable, Hashable {
    /// The orientation of the wearable.
    public let quaternion: Quaternion
    /// The estimate of the device; infinite if it has none, as of `gameRotation`.
    public let accuracy: QuaternionAccuracy
    /// The device's clock, which wraps after 65.5 s.
    public let timestamp: SensorTimestamp
    /// The device's clock without the wrap, milliseconds.
    public let deviceTime: UInt64
    /// When it arrived, and when it was measured.
    public let times: SampleTimes
}

/// A sample of `accelerometer` or `gyroscope`.
public struct VectorSample: Sendable, Hashable {
    /// g, or degrees per second.
    public let vector: Vector
    /// As the device reports it.
    public let accuracy: VectorAccuracy
    /// The device's clock, which wraps after 65.5 s.
    public let timestamp: SensorTimestamp
    /// The device's clock without the wrap, milliseconds.
    public let deviceTime: UInt64
    /// When it arrived, and when it was measured.
    public let times: SampleTimes
}

/// The samples of each sensor that released firmware has. For the loop's thread.
final class SensorFeeds: Sendable {
    let rotation = Feed<RotationSample>()
    let gameRotation = Feed<RotationSample>()
    let accelerometer = Feed<VectorSample>()
    let gyroscope = Feed<VectorSample>()

    func push(_ value: SensorValue) {
        switch value.sample {
        case .rotation(let quaternion, let accuracy): push(value, quaternion, accuracy, rotation)
        case .gameRotation(let quaternion):
            push(value, quaternion, QuaternionAccuracy(estimatedAccuracy: .infinity), gameRotation)
        case .accelerometer(let vector, let accuracy): push(value, vector, accuracy, accelerometer)
        case .gyroscope(let vector, let accuracy): push(value, vector, accuracy, gyroscope)
        case .orientation, .magnetometer, .uncalibratedMagnetometer: break
        }
    }

    private func push(
        _ value: SensorValue, _ quaternion: Quaternion, _ accuracy: QuaternionAccuracy, _ feed: Feed<RotationSample>
    ) {
        feed.push(
            RotationSample(
                quaternion: quaternion, accuracy: accuracy, timestamp: value.timestamp, deviceTime: value.deviceTime,
                times: value.times))
    }

    private func push(
        _ value: SensorValue, _ vector: Vector, _ accuracy: VectorAccuracy, _ feed: Feed<VectorSample>
    ) {
        feed.push(
            VectorSample(
                vector: vector, accuracy: accuracy, timestamp: value.timestamp, deviceTime: value.deviceTime,
                times: value.times))
    }

    func finish(_ error: TendonError?) {
        for feed in [rotation, gameRotation] { feed.finish(error) }
        for feed in [accelerometer, gyroscope] { feed.finish(error) }
    }

    func close() {
        for feed in [rotation, gameRotation] { feed.close() }
        for feed in [accelerometer, gyroscope] { feed.close() }
    }
}

/// The samples of one sensor, from now until the session closes; if the connection is lost they throw. Each access creates
/// a new sequence: keep the one that you iterate. At most 256 samples are buffered; then new ones are dropped. They come
/// once the sensor is enabled, see ``configureSensors(_:)``; `sensorData()` has the samples of all sensors.
///
/// ```swift
/// for try await sample in device.rotation { print(sample.quaternion.headAngles.degrees.yaw) }
/// ```
extension WearableDevice {
    /// Orientations that refer to magnetic north.
    public nonisolated var rotation: EventSequence<RotationSample> { stream(\.rotation) }
    /// Orientations of an arbitrary heading, without the magnetometer's disturbances.
    public nonisolated var gameRotation: EventSequence<RotationSample> { stream(\.gameRotation) }
    /// Accelerations in g.
    public nonisolated var accelerometer: EventSequence<VectorSample> { stream(\.accelerometer) }
    /// Turning rates in degrees per second.
    public nonisolated var gyroscope: EventSequence<VectorSample> { stream(\.gyroscope) }

    private nonisolated func stream<Sample>(_ feed: KeyPath<SensorFeeds, Feed<Sample>>) -> EventSequence<Sample> {
        lifetime.core.sensors[keyPath: feed].sequence(capacity: 256, policy: .dropNewest, keeping: lifetime)
    }
}
