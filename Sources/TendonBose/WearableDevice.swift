// SPDX-License-Identifier: MIT
import CTendon
import Tendon

/// A wearable: its information, measurements and configuration.
///
/// ```swift
/// let samples = device.sensorData()
/// try await device.configureSensorsAndWait { $0.enable(sensor: .rotation, at: ._20ms) }
/// for try await value in samples { print(value.timestamp, value.sample) }
/// ```
@TendonActor
public final class WearableDevice {
    /// The advertised name.
    public nonisolated let name: String?
    /// The address of the device.
    public nonisolated let address: Address
    let lifetime: Lifetime<SessionCore>
    private nonisolated var core: SessionCore { lifetime.core }

    init(_ lifetime: Lifetime<SessionCore>, name: String?) {
        self.lifetime = lifetime
        self.name = name
        address = lifetime.core.address
    }

    // MARK: Values

    /// Strings of the Device Information Service, as last read; `nil` if not read yet.
    public var deviceInformation: DeviceInformation? { core.c.has_device ? DeviceInformation(core.c.strings) : nil }
    /// The last device information; `nil` if not read yet.
    public var wearableDeviceInformation: WearableDeviceInformation? {
        core.c.has_device ? WearableDeviceInformation(core.c.device) : nil
    }
    /// The sensor information; `nil` if not read yet.
    public var sensorInformation: SensorInformation? { core.c.has_sensors ? SensorInformation(core.c.sensors) : nil }
    /// The sensor configuration; `nil` if not read yet.
    public var sensorConfiguration: SensorConfiguration? { core.sensorConfiguration }
    /// The gesture information; `nil` if not read, or if the device has no gestures.
    public var gestureInformation: GestureInformation? {
        core.c.has_gestures ? GestureInformation(core.c.gestures) : nil
    }
    /// The gesture configuration; `nil` if not read, or if the device has no gestures.
    public var gestureConfiguration: GestureConfiguration? { core.gestureConfiguration }
    /// The installed firmware, and the result of the checker at the last opening; `nil` if not read yet.
    public var firmwareVersion: FirmwareVersion? {
        guard let information = deviceInformation else { return nil }
        return FirmwareVersion(
            version: information.firmwareRevision ?? "",
            firmwareUpdateApp: FirmwareUpdateApp(productID: core.c.device.product_id),
            check: FirmwareVersion.Check(rawValue: core.c.firmware.rawValue) ?? .unknown)
    }
    /// Whether the device has suspended its sensors; the event `didSuspendWearableSensorService` has the reason.
    public var isWearableSensorServiceSuspended: Bool { core.state == TENDON_BOSE_SUSPENDED }

    /// Counters of received, skipped and rejected values.
    public struct Counters: Sendable, Hashable {
        /// Sensor data notifications decoded.
        public let notifications: UInt64
        /// Samples in them.
        public let samples: UInt64
        /// Gesture notifications decoded.
        public let gestures: UInt64
        /// Records skipped.
        public let skipped: UInt64
        /// Values rejected, whole or from an offset on.
        public let malformed: UInt64
        /// Sensor data received before the sensor information.
        public let dropped: UInt64
    }

    /// The counters since the session was created.
    public var counters: Counters {
        let c = core.counters
        return Counters(
            notifications: c.notifications, samples: c.samples, gestures: c.gestures, skipped: c.skipped,
            malformed: c.malformed, dropped: c.dropped)
    }

    // MARK: Refreshing; the update event follows

    /// A value that can be read again.
    public enum RefreshableValue: Sendable, Hashable, CaseIterable {
        /// The strings of the Device Information Service.
        case deviceInformation
        /// Product, sensors, gestures and status.
        case wearableDeviceInformation
        /// Ranges and periods of the sensors.
        case sensorInformation
        /// The enabled sensors.
        case sensorConfiguration
        /// The available gestures.
        case gestureInformation
        /// The enabled gestures.
        case gestureConfiguration
    }

    /// Reads a value again; throws if the session is not open.
    public func refresh(_ value: RefreshableValue) throws(BoseWearableError) {
        switch value {
        case .deviceInformation: try core.refreshStrings()
        case .wearableDeviceInformation: try core.refresh(TENDON_BOSE_DEVICE_INFORMATION)
        case .sensorInformation: try core.refresh(TENDON_BOSE_SENSOR_INFORMATION)
        case .sensorConfiguration: try core.refresh(TENDON_BOSE_SENSOR_CONFIGURATION)
        case .gestureInformation: try core.refresh(TENDON_BOSE_GESTURE_INFORMATION)
        case .gestureConfiguration: try core.refresh(TENDON_BOSE_GESTURE_CONFIGURATION)
        }
    }

    private func refreshOrTell(_ value: RefreshableValue) {
        do { try refresh(value) } catch { core.fail(.didFailToRefresh(error)) }
    }

    /// Reads the device information again. Does not wait: an error is reported as the event `didFailToRefresh`.
    public func refreshWearableDeviceInformation() { refreshOrTell(.wearableDeviceInformation) }
    /// Reads the sensor information again. Does not wait: an error is reported as the event `didFailToRefresh`.
    public func refreshSensorInformation() { refreshOrTell(.sensorInformation) }
    /// Reads the sensor configuration again. Does not wait: an error is reported as the event `didFailToRefresh`.
    public func refreshSensorConfiguration() { refreshOrTell(.sensorConfiguration) }
    /// Reads the gesture information again. Does not wait: an error is reported as the event `didFailToRefresh`.
    public func refreshGestureInformation() { refreshOrTell(.gestureInformation) }
    /// Reads the gesture configuration again. Does not wait: an error is reported as the event `didFailToRefresh`.
    public func refreshGestureConfiguration() { refreshOrTell(.gestureConfiguration) }
    /// Reads the strings of the Device Information Service again. Does not wait: an error is reported as the event `didFailToRefresh`.
    public func refreshDeviceInformation() { refreshOrTell(.deviceInformation) }

    // MARK: Setting

    /// Writes a configuration; the result is reported as an event.
    public func changeSensorConfiguration(_ configuration: SensorConfiguration) {
        core.change(configuration)
    }

    /// Changes the last known configuration and writes it. Does not wait: the result is reported as an event.
    public func configureSensors(_ change: (inout SensorConfiguration) -> Void) {
        guard var draft = core.draft else {
            _ = writeSensors(change)
            return
        }
        draft.changeSensors(change)  // not in its place: `change` may read the configuration
        core.draft = draft
    }

    private func writeSensors(_ change: (inout SensorConfiguration) -> Void) -> Result<UInt16, BoseWearableError> {
        guard var configuration = sensorConfiguration else {
            core.fail(.didFailToWriteSensorConfiguration(.missingRequiredData))
            return .failure(.missingRequiredData)
        }
        change(&configuration)
        return core.configure(configuration)
    }

    /// Changes the configuration and waits until the device has accepted it; throws if the device rejects it. Each call
    /// has the outcome of its own write. A later change starts from the configuration that the device reported last: if it
    /// replaces this one before it is written, both have its outcome.
    public func configureSensorsAndWait(_ change: @Sendable (inout SensorConfiguration) -> Void)
        async throws(BoseWearableError)
    {
        guard !Task.isCancelled else { throw .cancelled }
        try await core.outcome(ofSensors: true, writeSensors(change))
    }

    /// Writes a configuration; the result is reported as an event.
    public func changeGestureConfiguration(_ configuration: GestureConfiguration) {
        core.change(configuration)
    }

    /// Changes the last known configuration and writes it. Does not wait: the result is reported as an event.
    public func configureGestures(_ change: (inout GestureConfiguration) -> Void) {
        guard var draft = core.draft else {
            _ = writeGestures(change)
            return
        }
        draft.changeGestures(change)  // not in its place: `change` may read the configuration
        core.draft = draft
    }

    private func writeGestures(_ change: (inout GestureConfiguration) -> Void) -> Result<UInt16, BoseWearableError> {
        guard var configuration = gestureConfiguration else {
            core.fail(.didFailToWriteGestureConfiguration(.missingRequiredData))
            return .failure(.missingRequiredData)
        }
        change(&configuration)
        return core.configure(configuration)
    }

    /// Changes the configuration and waits until the device has accepted it; throws if the device rejects it. For several
    /// calls at the same time, see `configureSensorsAndWait(_:)`.
    public func configureGesturesAndWait(_ change: @Sendable (inout GestureConfiguration) -> Void)
        async throws(BoseWearableError)
    {
        guard !Task.isCancelled else { throw .cancelled }
        try await core.outcome(ofSensors: false, writeGestures(change))
    }

    /// Checks the requirements of an intent: throws the missing ones, returns warnings.
    @discardableResult
    public func checkIntents(
        sensor: SensorIntent?, gesture: GestureIntent?
    ) throws(IntentsCheckFailed) -> IntentsWarnings {
        try core.validate(sensor, gesture)
    }

    /// Checks the requirements of an intent. The error is `BoseWearableError.intentsNotFulfilled`.
    public func validateIntents(sensor: SensorIntent?, gesture: GestureIntent?) -> Result<Void, any Error> {
        do throws(IntentsCheckFailed) {
            try checkIntents(sensor: sensor, gesture: gesture)
            return .success(())
        } catch {
            return .failure(BoseWearableError(error))
        }
    }

    // MARK: Listening

    /// Calls `handler` on the loop's thread until the token is released.
    public func addEventListener(
        _ handler: @escaping @TendonActor (WearableDeviceEvent) -> Void
    ) -> ListenerToken {
        let token = core.events.add(handler)
        return ListenerToken { token.cancel() }
    }

    /// Calls `handler` on `queue` until the token is released; `nil` is `.loop`. With the package trait `MainActorLoop` the
    /// handler runs on the main actor, so it can use its variables; a queue of the application's own then only delays it.
    public func addEventListener(
        queue: CallbackQueue?, handler: @escaping WearableDeviceEventHandler
    ) -> ListenerToken {
        let queue = queue ?? .loop
        let isImmediate = queue.isImmediate
        let token = core.events.add { event in if isImmediate { handler(event) } else { queue.later { handler(event) } }
        }
        return ListenerToken { token.cancel() }
    }

    /// Makes a sequence of the device's events, from now until the session closes. If the connection is lost it throws.
    ///
    /// - Parameters:
    ///   - capacity: maximum number of elements that are buffered for a slow consumer.
    ///   - policy: which element is dropped when the buffer is full.
    public nonisolated func events(
        capacity: Int = 256, policy: OverflowPolicy = .dropNewest
    ) -> EventSequence<WearableDeviceEvent> {
        core.events.sequence(capacity: capacity, policy: policy, keeping: lifetime)
    }

    /// Makes a sequence of samples, from now until the session closes. If the connection is lost it throws.
    ///
    /// - Parameters:
    ///   - capacity: maximum number of elements that are buffered for a slow consumer.
    ///   - policy: which element is dropped when the buffer is full.
    public nonisolated func sensorData(
        capacity: Int = 256, policy: OverflowPolicy = .dropNewest
    ) -> EventSequence<SensorValue> {
        core.samples.sequence(capacity: capacity, policy: policy, keeping: lifetime)
    }

    /// Makes a sequence of gestures, from now until the session closes. If the connection is lost it throws.
    ///
    /// - Parameters:
    ///   - capacity: maximum number of elements that are buffered for a slow consumer.
    ///   - policy: which element is dropped when the buffer is full.
    public nonisolated func gestureData(
        capacity: Int = 64, policy: OverflowPolicy = .dropNewest
    ) -> EventSequence<GestureData> {
        core.gestures.sequence(capacity: capacity, policy: policy, keeping: lifetime)
    }

    // MARK: Functions of BMAP, whose format is not published

    /// Always true: no other application shares the connection.
    public var hasFocus: Bool { true }
    /// Does nothing, see `hasFocus`.
    public func requestFocus() {}
    /// Throws `functionNotSupported`.
    public func changeName(_ name: String) throws(BoseWearableError) { throw .functionNotSupported }
}
