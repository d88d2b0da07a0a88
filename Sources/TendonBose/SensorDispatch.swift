// SPDX-License-Identifier: MIT
import Tendon

/// Told about every sample and gesture of every open wearable; each method may be left out. Called on the loop's thread.
@TendonActor
public protocol SensorDispatchHandler: AnyObject {
    /// A whole notification, before its samples one by one.
    func receivedSensorData(_ data: SensorData)
    func receivedAccelerometer(vector: Vector, accuracy: VectorAccuracy, timestamp: SensorTimestamp)
    func receivedGyroscope(vector: Vector, accuracy: VectorAccuracy, timestamp: SensorTimestamp)
    func receivedRotation(quaternion: Quaternion, accuracy: QuaternionAccuracy, timestamp: SensorTimestamp)
    func receivedGameRotation(quaternion: Quaternion, timestamp: SensorTimestamp)
    func receivedOrientation(vector: Vector, accuracy: VectorAccuracy, timestamp: SensorTimestamp)
    func receivedMagnetometer(vector: Vector, accuracy: VectorAccuracy, timestamp: SensorTimestamp)
    func receivedUncalibratedMagnetometer(vector: Vector, bias: Vector, timestamp: SensorTimestamp)
    func receivedGesture(type: GestureType, timestamp: SensorTimestamp)
}

extension SensorDispatchHandler {
    public func receivedSensorData(_ data: SensorData) {}
    public func receivedAccelerometer(vector: Vector, accuracy: VectorAccuracy, timestamp: SensorTimestamp) {}
    public func receivedGyroscope(vector: Vector, accuracy: VectorAccuracy, timestamp: SensorTimestamp) {}
    public func receivedRotation(quaternion: Quaternion, accuracy: QuaternionAccuracy, timestamp: SensorTimestamp) {}
    public func receivedGameRotation(quaternion: Quaternion, timestamp: SensorTimestamp) {}
    public func receivedOrientation(vector: Vector, accuracy: VectorAccuracy, timestamp: SensorTimestamp) {}
    public func receivedMagnetometer(vector: Vector, accuracy: VectorAccuracy, timestamp: SensorTimestamp) {}
    public func receivedUncalibratedMagnetometer(vector: Vector, bias: Vector, timestamp: SensorTimestamp) {}
    public func receivedGesture(type: GestureType, timestamp: SensorTimestamp) {}
}

/// Takes the samples of all open wearables apart, for as long as it lives.
///
/// A sample goes to its callback, on `queue`, and then to the handler, on the loop's thread.
///
/// ```swift
/// let dispatch = SensorDispatch()
/// dispatch.rotationCallback = { quaternion, _, _ in print(quaternion.headAngles.yaw) }
/// ```
@TendonActor
public final class SensorDispatch {
    public typealias VectorCallback = @Sendable (Vector, VectorAccuracy, SensorTimestamp) -> Void

    public weak var handler: (any SensorDispatchHandler)?
    public var sensorDataCallback: (@Sendable (SensorData) -> Void)?
    public var accelerometerCallback: VectorCallback?
    public var gyroscopeCallback: VectorCallback?
    public var rotationCallback: (@Sendable (Quaternion, QuaternionAccuracy, SensorTimestamp) -> Void)?
    public var gameRotationCallback: (@Sendable (Quaternion, SensorTimestamp) -> Void)?
    public var orientationCallback: VectorCallback?
    public var magnetometerCallback: VectorCallback?
    public var uncalibratedMagnetometerCallback: (@Sendable (Vector, Vector, SensorTimestamp) -> Void)?
    public var gestureCallback: (@Sendable (GestureType, SensorTimestamp) -> Void)?
    private let queue: CallbackQueue

    private struct Entry {
        weak var dispatch: SensorDispatch?
    }
    private static var entries: [Entry] = []

    public init(queue: CallbackQueue = .loop) {
        self.queue = queue
        Self.entries.removeAll { $0.dispatch == nil }
        Self.entries.append(Entry(dispatch: self))
    }

    private func call<each Argument: Sendable>(
        _ callback: (@Sendable (repeat each Argument) -> Void)?, _ argument: repeat each Argument
    ) {
        guard let callback else { return }
        if queue === CallbackQueue.loop {
            callback(repeat each argument)
        } else {
            let arguments = (repeat each argument)
            queue.run { callback(repeat each arguments) }
        }
    }

    // MARK: From the sessions, on the loop's thread

    nonisolated static var wantsData: Bool {
        TendonActor.assumeIsolated {
            entries.contains { $0.dispatch.map { $0.handler != nil || $0.sensorDataCallback != nil } ?? false }
        }
    }

    nonisolated static func deliver(_ data: SensorData) {
        TendonActor.assumeIsolated {
            for entry in entries {
                guard let dispatch = entry.dispatch else { continue }
                dispatch.call(dispatch.sensorDataCallback, data)
                dispatch.handler?.receivedSensorData(data)
            }
        }
    }

    nonisolated static func deliver(_ value: SensorValue) {
        TendonActor.assumeIsolated {
            for entry in entries { entry.dispatch?.deliver(value) }
        }
    }

    nonisolated static func deliver(_ gesture: GestureData) {
        TendonActor.assumeIsolated {
            for entry in entries {
                guard let dispatch = entry.dispatch else { continue }
                dispatch.call(dispatch.gestureCallback, gesture.type, gesture.timestamp)
                dispatch.handler?.receivedGesture(type: gesture.type, timestamp: gesture.timestamp)
            }
        }
    }

    private func deliver(_ value: SensorValue) {
        let time = value.timestamp
        switch value.sample {
        case .accelerometer(let vector, let accuracy):
            call(accelerometerCallback, vector, accuracy, time)
            handler?.receivedAccelerometer(vector: vector, accuracy: accuracy, timestamp: time)
        case .gyroscope(let vector, let accuracy):
            call(gyroscopeCallback, vector, accuracy, time)
            handler?.receivedGyroscope(vector: vector, accuracy: accuracy, timestamp: time)
        case .rotation(let quaternion, let accuracy):
            call(rotationCallback, quaternion, accuracy, time)
            handler?.receivedRotation(quaternion: quaternion, accuracy: accuracy, timestamp: time)
        case .gameRotation(let quaternion):
            call(gameRotationCallback, quaternion, time)
            handler?.receivedGameRotation(quaternion: quaternion, timestamp: time)
        case .orientation(let vector, let accuracy):
            call(orientationCallback, vector, accuracy, time)
            handler?.receivedOrientation(vector: vector, accuracy: accuracy, timestamp: time)
        case .magnetometer(let vector, let accuracy):
            call(magnetometerCallback, vector, accuracy, time)
            handler?.receivedMagnetometer(vector: vector, accuracy: accuracy, timestamp: time)
        case .uncalibratedMagnetometer(let vector, let bias):
            call(uncalibratedMagnetometerCallback, vector, bias, time)
            handler?.receivedUncalibratedMagnetometer(vector: vector, bias: bias, timestamp: time)
        }
    }
}
