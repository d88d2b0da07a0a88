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

    /// Kept weakly.
    public var handler: (any SensorDispatchHandler)? {
        get { routes.handler }
        set { routes.handler = newValue }
    }
    public var sensorDataCallback: (@Sendable (SensorData) -> Void)? {
        get { routes.sensorData }
        set { routes.sensorData = newValue }
    }
    public var accelerometerCallback: VectorCallback? {
        get { routes.accelerometer }
        set { routes.accelerometer = newValue }
    }
    public var gyroscopeCallback: VectorCallback? {
        get { routes.gyroscope }
        set { routes.gyroscope = newValue }
    }
    public var rotationCallback: (@Sendable (Quaternion, QuaternionAccuracy, SensorTimestamp) -> Void)? {
        get { routes.rotation }
        set { routes.rotation = newValue }
    }
    public var gameRotationCallback: (@Sendable (Quaternion, SensorTimestamp) -> Void)? {
        get { routes.gameRotation }
        set { routes.gameRotation = newValue }
    }
    public var orientationCallback: VectorCallback? {
        get { routes.orientation }
        set { routes.orientation = newValue }
    }
    public var magnetometerCallback: VectorCallback? {
        get { routes.magnetometer }
        set { routes.magnetometer = newValue }
    }
    public var uncalibratedMagnetometerCallback: (@Sendable (Vector, Vector, SensorTimestamp) -> Void)? {
        get { routes.uncalibratedMagnetometer }
        set { routes.uncalibratedMagnetometer = newValue }
    }
    public var gestureCallback: (@Sendable (GestureType, SensorTimestamp) -> Void)? {
        get { routes.gesture }
        set { routes.gesture = newValue }
    }

    private let routes: DispatchRoutes

    public init(queue: CallbackQueue = .loop) {
        routes = DispatchRoutes(queue)
        DispatchTable.shared.all.append(routes)
    }

    deinit {
        let routes = routes
        Loop.shared.post { DispatchTable.shared.all.removeAll { $0 === routes } }
    }
}
