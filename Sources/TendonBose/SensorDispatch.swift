// SPDX-License-Identifier: MIT
import Tendon

/// Receives every sample and gesture of all open wearables; each method is optional. Called on the loop's thread.
///
/// ```swift
/// final class Head: SensorDispatchHandler {
///     func receivedRotation(quaternion: Quaternion, accuracy: QuaternionAccuracy, timestamp: SensorTimestamp) {
///         print(quaternion.headAngles.degrees)
///     }
/// }
/// ```
@TendonActor
public protocol SensorDispatchHandler: AnyObject {
    /// A whole notification, before its samples one by one.
    func receivedSensorData(_ data: SensorData)
    /// g; (0, 0, -1) at rest.
    func receivedAccelerometer(vector: Vector, accuracy: VectorAccuracy, timestamp: SensorTimestamp)
    /// Degrees per second.
    func receivedGyroscope(vector: Vector, accuracy: VectorAccuracy, timestamp: SensorTimestamp)
    /// A rotation that refers to magnetic north.
    func receivedRotation(quaternion: Quaternion, accuracy: QuaternionAccuracy, timestamp: SensorTimestamp)
    /// A rotation of an arbitrary heading.
    func receivedGameRotation(quaternion: Quaternion, timestamp: SensorTimestamp)
    /// Angles in the unit that the device reports; no released firmware has it on.
    func receivedOrientation(vector: Vector, accuracy: VectorAccuracy, timestamp: SensorTimestamp)
    /// The magnetic field in the unit that the device reports; no released firmware has it on.
    func receivedMagnetometer(vector: Vector, accuracy: VectorAccuracy, timestamp: SensorTimestamp)
    /// The magnetic field and its estimated offset, both in the unit that the device reports.
    func receivedUncalibratedMagnetometer(vector: Vector, bias: Vector, timestamp: SensorTimestamp)
    /// A gesture of the wearer.
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

/// Dispatches the samples of all open wearables until it is released.
///
/// A sample goes to its callback, on `queue`, and then to the handler, on the loop's thread. With the package trait
/// `MainActorLoop` callbacks run on the main actor, so they can use its variables; a queue of the application's own then only
/// delays them.
///
/// ```swift
/// let dispatch = SensorDispatch()
/// dispatch.rotationCallback = { quaternion, _, _ in print(quaternion.headAngles.yaw) }
/// ```
@TendonActor
public final class SensorDispatch {
    /// Kept weakly.
    public var handler: (any SensorDispatchHandler)? {
        get { routes.handler }
        set { routes.handler = newValue }
    }
    /// Takes whole notifications; `nil`: none.
    public var sensorDataCallback: DataCallback? {
        get { routes.sensorData }
        set { routes.sensorData = newValue }
    }
    /// Takes g; `nil`: none.
    public var accelerometerCallback: VectorCallback? {
        get { routes.accelerometer }
        set { routes.accelerometer = newValue }
    }
    /// Takes degrees per second; `nil`: none.
    public var gyroscopeCallback: VectorCallback? {
        get { routes.gyroscope }
        set { routes.gyroscope = newValue }
    }
    /// Takes rotations that refer to magnetic north; `nil`: none.
    public var rotationCallback: RotationCallback? {
        get { routes.rotation }
        set { routes.rotation = newValue }
    }
    /// Takes rotations of an arbitrary heading; `nil`: none.
    public var gameRotationCallback: GameRotationCallback? {
        get { routes.gameRotation }
        set { routes.gameRotation = newValue }
    }
    /// Takes the orientation; `nil`: none.
    public var orientationCallback: VectorCallback? {
        get { routes.orientation }
        set { routes.orientation = newValue }
    }
    /// Takes the magnetometer; `nil`: none.
    public var magnetometerCallback: VectorCallback? {
        get { routes.magnetometer }
        set { routes.magnetometer = newValue }
    }
    /// Takes the uncalibrated magnetometer and its offset; `nil`: none.
    public var uncalibratedMagnetometerCallback: UncalibratedVectorCallback? {
        get { routes.uncalibratedMagnetometer }
        set { routes.uncalibratedMagnetometer = newValue }
    }
    /// Takes gestures; `nil`: none.
    public var gestureDataCallback: GestureCallback? {
        get { routes.gesture }
        set { routes.gesture = newValue }
    }

    private let routes: DispatchRoutes

    /// From now on; callbacks run on `queue`.
    public init(queue: CallbackQueue = .loop) {
        routes = DispatchRoutes(queue)
        DispatchTable.shared.all.append(routes)
    }

    deinit {
        let routes = routes
        Loop.shared.post { DispatchTable.shared.all.removeAll { $0 === routes } }
    }
}

#if MainActorLoop
    extension SensorDispatch {
        /// Takes the samples of a notification, on the main actor.
        public typealias DataCallback = @TendonActor (SensorData) -> Void
        /// Takes a vector, its accuracy and the device's time, on the main actor.
        public typealias VectorCallback = @TendonActor (Vector, VectorAccuracy, SensorTimestamp) -> Void
        /// Takes a rotation, its accuracy and the device's time, on the main actor.
        public typealias RotationCallback = @TendonActor (Quaternion, QuaternionAccuracy, SensorTimestamp) -> Void
        /// Takes a rotation and the device's time, on the main actor.
        public typealias GameRotationCallback = @TendonActor (Quaternion, SensorTimestamp) -> Void
        /// Takes a vector, its offset and the device's time, on the main actor.
        public typealias UncalibratedVectorCallback = @TendonActor (Vector, Vector, SensorTimestamp) -> Void
        /// Takes a gesture and the device's time, on the main actor.
        public typealias GestureCallback = @TendonActor (GestureType, SensorTimestamp) -> Void
    }

    extension WearableDevice {
        /// Takes the events of a device, on the main actor.
        public typealias WearableDeviceEventHandler = @TendonActor (WearableDeviceEvent) -> Void
    }
#else
    extension SensorDispatch {
        /// Takes the samples of a notification.
        public typealias DataCallback = @Sendable (SensorData) -> Void
        /// Takes a vector, its accuracy and the device's time.
        public typealias VectorCallback = @Sendable (Vector, VectorAccuracy, SensorTimestamp) -> Void
        /// Takes a rotation, its accuracy and the device's time.
        public typealias RotationCallback = @Sendable (Quaternion, QuaternionAccuracy, SensorTimestamp) -> Void
        /// Takes a rotation and the device's time.
        public typealias GameRotationCallback = @Sendable (Quaternion, SensorTimestamp) -> Void
        /// Takes a vector, its offset and the device's time.
        public typealias UncalibratedVectorCallback = @Sendable (Vector, Vector, SensorTimestamp) -> Void
        /// Takes a gesture and the device's time.
        public typealias GestureCallback = @Sendable (GestureType, SensorTimestamp) -> Void
    }

    extension WearableDevice {
        /// Takes the events of a device, on its queue.
        public typealias WearableDeviceEventHandler = @Sendable (WearableDeviceEvent) -> Void
    }
#endif
