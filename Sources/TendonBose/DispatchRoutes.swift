// SPDX-License-Identifier: MIT
import Tendon

/// All dispatches of the program. For the loop's thread: the sessions deliver through it without a closure, which would
/// be an allocation for each sample.
final class DispatchTable: @unchecked Sendable {
    // Used only on the loop's thread.
    static let shared = DispatchTable()
    var all: [DispatchRoutes] = []

    var wantsData: Bool { all.contains { $0.handler != nil || $0.sensorData != nil } }

    func deliver(_ data: SensorData) {
        for routes in all { routes.deliver(data) }
    }

    func deliver(_ value: SensorValue) {
        for routes in all { routes.deliver(value) }
    }

    func deliver(_ gesture: GestureData) {
        for routes in all { routes.deliver(gesture) }
    }
}

#if MainActorLoop
    typealias RoutedCallback<each Argument> = @TendonActor (repeat each Argument) -> Void

    extension CallbackQueue {
        /// Callbacks run where the loop calls: nothing is queued.
        var isImmediate: Bool { self === CallbackQueue.loop || self === CallbackQueue.main }

        /// A queue of the application's own only delays the call: it runs on the main actor.
        func later(_ body: @escaping @TendonActor () -> Void) {
            run { Loop.shared.runOrPost { TendonActor.assumeIsolated { body() } } }
        }
    }
#else
    typealias RoutedCallback<each Argument> = @Sendable (repeat each Argument) -> Void

    extension CallbackQueue {
        /// Callbacks run where the loop calls: nothing is queued.
        var isImmediate: Bool { self === CallbackQueue.loop }

        func later(_ body: @escaping @Sendable () -> Void) { run(body) }
    }
#endif

/// Where the samples of one dispatch go: the callback first, then the handler. For the loop's thread.
final class DispatchRoutes: @unchecked Sendable {
    // Used only on the loop's thread.
    private let queue: CallbackQueue
    weak var handler: (any SensorDispatchHandler)?
    var sensorData: SensorDispatch.DataCallback?
    var accelerometer: SensorDispatch.VectorCallback?
    var gyroscope: SensorDispatch.VectorCallback?
    var rotation: SensorDispatch.RotationCallback?
    var gameRotation: SensorDispatch.GameRotationCallback?
    var orientation: SensorDispatch.VectorCallback?
    var magnetometer: SensorDispatch.VectorCallback?
    var uncalibratedMagnetometer: SensorDispatch.UncalibratedVectorCallback?
    var gesture: SensorDispatch.GestureCallback?

    init(_ queue: CallbackQueue) {
        self.queue = queue
    }

    private func call<each Argument: Sendable>(
        _ callback: RoutedCallback<repeat each Argument>?, _ argument: repeat each Argument
    ) {
        guard let callback else { return }
        if queue.isImmediate {
            TendonActor.assumeIsolated { callback(repeat each argument) }
        } else {
            let arguments = (repeat each argument)
            queue.later { callback(repeat each arguments) }
        }
    }

    private func tell(_ body: @TendonActor (any SensorDispatchHandler) -> Void) {
        guard handler != nil else { return }
        TendonActor.assumeIsolated {
            if let handler { body(handler) }
        }
    }

    func deliver(_ data: SensorData) {
        call(sensorData, data)
        tell { $0.receivedSensorData(data) }
    }

    func deliver(_ data: GestureData) {
        call(gesture, data.gesture, data.timestamp)
        tell { $0.receivedGesture(type: data.gesture, timestamp: data.timestamp) }
    }

    func deliver(_ value: SensorValue) {
        let time = value.timestamp
        switch value.sample {
        case .accelerometer(let vector, let accuracy):
            call(accelerometer, vector, accuracy, time)
            tell { $0.receivedAccelerometer(vector: vector, accuracy: accuracy, timestamp: time) }
        case .gyroscope(let vector, let accuracy):
            call(gyroscope, vector, accuracy, time)
            tell { $0.receivedGyroscope(vector: vector, accuracy: accuracy, timestamp: time) }
        case .rotation(let quaternion, let accuracy):
            call(rotation, quaternion, accuracy, time)
            tell { $0.receivedRotation(quaternion: quaternion, accuracy: accuracy, timestamp: time) }
        case .gameRotation(let quaternion):
            call(gameRotation, quaternion, time)
            tell { $0.receivedGameRotation(quaternion: quaternion, timestamp: time) }
        case .orientation(let vector, let accuracy):
            call(orientation, vector, accuracy, time)
            tell { $0.receivedOrientation(vector: vector, accuracy: accuracy, timestamp: time) }
        case .magnetometer(let vector, let accuracy):
            call(magnetometer, vector, accuracy, time)
            tell { $0.receivedMagnetometer(vector: vector, accuracy: accuracy, timestamp: time) }
        case .uncalibratedMagnetometer(let vector, let bias):
            call(uncalibratedMagnetometer, vector, bias, time)
            tell { $0.receivedUncalibratedMagnetometer(vector: vector, bias: bias, timestamp: time) }
        }
    }
}
