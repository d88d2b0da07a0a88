// SPDX-License-Identifier: MIT
import CTendon
import Tendon

/// Values and events of a connected belt, and commands to it.
///
/// Commands are queued: `true` means that the command is pending, `false` that it was rejected, see `lastError`. The
/// result of a command is reported as an update; `confirmed` waits for it.
///
/// ```swift
/// try await commandManager.confirmed { $0.changeBeltMode(.app) }
/// commandManager.vibrateAtMagneticBearing(direction: 90, signal: .continuous)
/// ```
@TendonActor
public final class FSCommandManager {
    /// Service: modes, vibration, parameters, battery.
    public nonisolated static let BELT_CONTROL_SERVICE_UUID = BluetoothUUID(UInt16(0xFE51))
    /// Characteristic: firmware, read.
    public nonisolated static let FIRMWARE_INFO_CHAR_UUID = BluetoothUUID(UInt16(0xFE01))
    /// Characteristic: keep-alive requests of the belt.
    public nonisolated static let KEEP_ALIVE_CHAR_UUID = BluetoothUUID(UInt16(0xFE02))
    /// Characteristic: channels, pulses, signals, stop.
    public nonisolated static let VIBRATION_COMMAND_CHAR_UUID = BluetoothUUID(UInt16(0xFE03))
    /// Characteristic: buttons.
    public nonisolated static let BUTTON_PRESS_NOTIFICATION_CHAR_UUID = BluetoothUUID(UInt16(0xFE04))
    /// Characteristic: parameters, to the belt.
    public nonisolated static let PARAMETER_REQUEST_CHAR_UUID = BluetoothUUID(UInt16(0xFE05))
    /// Characteristic: parameters, from the belt.
    public nonisolated static let PARAMETER_NOTIFICATION_CHAR_UUID = BluetoothUUID(UInt16(0xFE06))
    /// Characteristic: battery.
    public nonisolated static let BATTERY_STATUS_CHAR_UUID = BluetoothUUID(UInt16(0xFE09))
    /// Service: orientation.
    public nonisolated static let BELT_SENSOR_SERVICE_UUID = BluetoothUUID(UInt16(0xFE52))
    /// Characteristic: orientations.
    public nonisolated static let ORIENTATION_DATA_NOTIFICATION_CHAR_UUID = BluetoothUUID(UInt16(0xFE0C))
    /// Service for debugging by the vendor; optional.
    public nonisolated static let BELT_DEBUG_SERVICE_UUID = BluetoothUUID(UInt16(0xFE53))
    /// Characteristic: debugging, to the belt.
    public nonisolated static let BELT_DEBUG_INPUT_CHAR_UUID = BluetoothUUID(UInt16(0xFE13))
    /// Characteristic: debugging, from the belt.
    public nonisolated static let BELT_DEBUG_OUTPUT_CHAR_UUID = BluetoothUUID(UInt16(0xFE14))

    /// Receives the values and events of the belt; a weak reference.
    public weak var delegate: (any FSCommandDelegate)?
    /// The reason why the last command was rejected; `nil` if it was not.
    public private(set) var lastError: TendonError?
    /// Warnings about the last command that was queued.
    public private(set) var lastWarnings: Warnings = []
    let lifetime: BeltLifetime
    nonisolated var core: BeltCore { lifetime.core }

    /// Warnings about a queued command.
    public struct Warnings: OptionSet, Sendable {
        public let rawValue: Int32
        public init(rawValue: Int32) { self.rawValue = rawValue }
        /// 128 to 255 iterations: the vibration never ends.
        public static let runsForEver = Warnings(rawValue: Int32(TENDON_FEELSPACE_WARNING_ENDLESS))
        /// The belt ignores the command in its current mode.
        public static let isIgnored = Warnings(rawValue: Int32(TENDON_FEELSPACE_WARNING_IGNORED))
    }

    init(_ lifetime: BeltLifetime) {
        self.lifetime = lifetime
        lifetime.core.commandFeed.delegate(isSet: { [weak self] in self?.delegate != nil }) { [weak self] update in
            if let delegate = self?.delegate { update.deliver(to: delegate) }
        }
    }

    // MARK: Values of the belt

    /// The mode of the belt; `.unknown` if not connected.
    public var mode: FSBeltMode { FSBeltMode(core.c.mode) }
    /// Percent; -1: unknown.
    public var defaultIntensity: Int { Int(core.c.default_intensity) }
    /// -1: unknown.
    public var firmwareVersion: Int { core.c.has_firmware ? Int(core.c.firmware.version) : -1 }
    /// -1: unknown, or not reported by the belt.
    public var firmwareVariant: Int {
        core.c.has_firmware && core.c.firmware.has_variant ? Int(core.c.firmware.variant) : -1
    }
    /// Empty if no patch was required.
    public var firmwarePatch: String {
        switch core.c.patch {
        case TENDON_FEELSPACE_PATCH_WRITTEN: "patch 1"
        case TENDON_FEELSPACE_PATCH_CONFIRMED: "patch 1 confirmed"
        default: ""
        }
    }
    /// The last value; unknown values while no belt is connected.
    public var beltBatteryStatus: FSBatteryStatus {
        core.c.has_battery ? FSBatteryStatus(core.c.battery) : FSBatteryStatus()
    }
    /// The last value, also after notifications were stopped; `nil` while no belt is connected.
    public var beltOrientation: FSBeltOrientation? {
        core.c.has_orientation ? FSBeltOrientation(core.c.orientation) : nil
    }
    /// Degrees.
    public var beltHeadingOffset: Int? { core.c.heading_offset < 0 ? nil : Int(core.c.heading_offset) }
    /// The modes in which the belt signals an inaccurate compass; `nil` if not read yet.
    public var accuracySignal: FSAccuracySignal? { FSAccuracySignal(core.c.accuracy_state) }
    /// Whether the belt signals an inaccurate compass in any mode; `nil` if not read yet.
    public var beltCompassAccuracySignalEnabled: Bool? { accuracySignal.map { $0.inApp || $0.inCompass } }
    /// The belt sends orientations.
    public var orientationNotifEnabled: Bool { core.c.orientation_enabled }
    /// Seconds.
    public var orientationNotifMinPeriod: Double { Double(core.c.orientation_period_ms) / 1000 }
    /// Degrees.
    public var orientationNotifMinHeadingVariation: Int { Int(core.c.orientation_variation_deg) }
    /// Number of the last command that was queued.
    public var lastCommand: UInt32 { core.c.last_command }
    /// Counters of received and reported values.
    public var counters: Counters {
        Counters(core.c.counters, reported: core.reported, orientations: core.orientations)
    }

    /// Counters of received and reported values since the manager was created.
    public struct Counters: Sendable, Hashable {
        /// Notifications of the belt, including keep-alives.
        public let notifications: UInt64
        /// Keep-alives among them.
        public let keepAlives: UInt64
        /// Malformed packets.
        public let rejected: UInt64
        /// Parameters that this library does not know.
        public let unsupported: UInt64
        /// Commands that ended, successfully or not.
        public let commands: UInt64
        /// Updates that were reported to sequences and to the delegate. For a sequence that was created before the
        /// first update, this is the number of updates that it delivered, holds or dropped.
        public let reported: UInt64
        /// Orientations among the updates.
        public let orientations: UInt64

        init(_ c: tendon_feelspace_counters, reported: UInt64, orientations: UInt64) {
            notifications = c.notifications
            keepAlives = UInt64(c.keep_alives)
            rejected = UInt64(c.rejected)
            unsupported = UInt64(c.unsupported)
            commands = UInt64(c.commands)
            self.reported = reported
            self.orientations = orientations
        }
    }

    /// Updates of the belt, from now on. Each access creates a new sequence: keep the one that you iterate.
    public nonisolated var updates: EventStream<FSCommandUpdate> { updates(capacity: 256) }
    /// The same with a buffer of `capacity` updates; when it is full, new updates are dropped.
    public nonisolated func updates(capacity: Int) -> EventStream<FSCommandUpdate> {
        EventStream(core.commandFeed.sequence(capacity: capacity, policy: .dropNewest, keeping: lifetime))
    }

    /// The same as a closure, on the loop, until the token is cancelled.
    package func onUpdate(_ body: @escaping @TendonActor (FSCommandUpdate) -> Void) -> FeedToken {
        core.commandFeed.add(body)
    }

    // MARK: Outcomes

    /// Queues a command and waits until the belt has responded to it, or has accepted it if the command has no
    /// response. If the closure queues no command, the call returns immediately. Throws `FEELSPACE_ERROR_WRONG_MODE` if
    /// the belt ignored the command because of its mode, and `.cancelled` if the task is cancelled; a command that was
    /// sent is not undone.
    public func confirmed(_ command: @TendonActor (FSCommandManager) -> Bool) async throws(TendonError) {
        guard !Task.isCancelled else { throw .cancelled }
        let pending = Pending<Void, TendonError>(core.loop)
        let waiter = outcome(of: command) { error in
            pending.finish(error.map { .failure($0) } ?? .success(()))
        }
        let core = core
        try await pending.value { if let waiter { core.withdraw(waiter) } }
    }

    /// The same with a handler, which is called once, on the loop's thread.
    public func confirmed(
        _ command: @TendonActor (FSCommandManager) -> Bool, completion: @escaping @TendonActor (TendonError?) -> Void
    ) {
        _ = outcome(of: command) { error in TendonActor.assumeIsolated { completion(error) } }
    }

    private func outcome(
        of command: @TendonActor (FSCommandManager) -> Bool, _ completion: @escaping (TendonError?) -> Void
    ) -> CommandOutcomes.Waiter? {
        var isIgnored = false
        let core = core
        return core.outcome(
            of: {
                lastWarnings = []
                let isQueued = command(self)
                isIgnored = lastWarnings.contains(.isIgnored)
                return isQueued
            }, { lastError ?? TendonError(status: Int32(TENDON_ERROR_WRONG_STATE), operation: .write) }
        ) { error in
            // An earlier command may have changed the mode to app mode.
            let wasIgnored = error == nil && isIgnored && core.c.mode != FSBeltMode.app.rawValue
            completion(
                wasIgnored ? TendonError(status: Int32(TENDON_FEELSPACE_ERROR_WRONG_MODE), operation: .write) : error)
        }
    }

    /// Stops every vibration that an application started, in any mode of the belt. A belt executes stop commands only
    /// in app mode: if it is in another mode, it is switched to app mode first and back afterwards. If this function
    /// throws, also because the task was cancelled, the command that restores the mode is queued without waiting for
    /// its result.
    public func stopAllVibration() async throws(TendonError) {
        guard !Task.isCancelled else { throw .cancelled }
        let before = mode
        let returns = before == .wait || before == .compass || before == .pause || before == .crossing
        do throws(TendonError) {
            if before != .app { try await confirmed { $0.changeBeltMode(.app) } }
            try await confirmed { $0.stopVibration() }
            if returns { try await confirmed { $0.changeBeltMode(before) } }
        } catch {
            // Required even if the last step had begun: a cancelled task queues nothing. Setting the same mode twice is
            // harmless.
            if returns { changeBeltMode(before) }
            throw error
        }
    }

    /// `argument` returns the name of the argument that is out of range.
    func queued(_ status: tendon_status, _ argument: () -> String? = { nil }) -> Bool {
        core.refreshed(status)
        let rejected = status == Int32(TENDON_ERROR_INVALID_ARGUMENT) ? argument() : nil
        lastError = status < 0 ? TendonError(status: status, operation: .write, detail: rejected) : nil
        lastWarnings = Warnings(rawValue: max(status, 0))
        return status >= 0
    }

    /// One call of the C core's session.
    func ask(
        _ argument: @autoclosure () -> String? = nil,
        _ call: (CPointer<tendon_feelspace_session>, UInt64) -> tendon_status
    ) -> Bool {
        queued(call(core.session, tendon_monotonic_ms()), argument)
    }

    /// Finds the argument that the C core rejects: the one whose replacement makes the C core accept the others.
    func rejected<Value>(
        _ value: Value, by encode: (UnsafePointer<Value>, UnsafeMutablePointer<UInt8>, Int) -> tendon_status,
        _ arguments: [(name: String, replace: (inout Value) -> Void)]
    ) -> String? {
        arguments.first { argument in
            var other = value
            argument.replace(&other)
            return withPacket { packet, size in
                withPointer(to: other) { encode($0, packet, size) }
            } _: {
                $1 >= 0
            }
        }?.name
    }

    func send(
        _ characteristic: tendon_feelspace_characteristic,
        _ encode: (UnsafeMutablePointer<UInt8>, Int) -> tendon_status
    ) -> Bool {
        withPacket(encode) { packet, length in
            ask { tendon_feelspace_session_send($0, characteristic, packet, length, $1) }
        }
    }

    // MARK: Parameters

    /// Sets the mode; the delegate is notified of the new mode. Not for `.calibration`, which only the belt can start.
    @discardableResult
    public func changeBeltMode(_ requestedMode: FSBeltMode) -> Bool {
        ask("requestedMode \(requestedMode)") {
            tendon_feelspace_session_set_mode($0, Int32(requestedMode.rawValue), $1)
        }
    }

    /// Sets the default intensity: 0 to 100 percent; the belt raises values below 5 to 5.
    @discardableResult
    public func changeDefaultIntensity(_ intensity: Int, feedbackSignal: Bool = true) -> Bool {
        ask("intensity \(intensity)") {
            tendon_feelspace_session_set_default_intensity($0, Int32(clamping: intensity), feedbackSignal, $1)
        }
    }

    /// 0 to 359 degrees.
    @discardableResult
    public func changeHeadingOffset(_ degrees: Int) -> Bool {
        ask("degrees \(degrees)") { tendon_feelspace_session_set_heading_offset($0, Int32(clamping: degrees), $1) }
    }

    /// Enables or disables the accuracy signal in app mode and in compass mode. `persistent`: the belt stores the
    /// setting, also for its compass mode, so inform the user.
    @discardableResult
    public func changeCompassAccuracySignalState(enable: Bool, persistent: Bool) -> Bool {
        change(accuracySignal: FSAccuracySignal(inApp: enable, inCompass: enable), persistent: persistent)
    }

    /// The same, with a separate setting for app mode and compass mode.
    @discardableResult
    public func change(accuracySignal signal: FSAccuracySignal, persistent: Bool) -> Bool {
        ask { tendon_feelspace_session_set_accuracy_signal($0, signal.inApp, signal.inCompass, persistent, $1) }
    }

    /// Requests the state; the delegate is notified of it.
    @discardableResult
    public func requestCompassAccuracySignalState() -> Bool {
        ask { tendon_feelspace_session_request_accuracy_signal($0, $1) }
    }

    // MARK: Vibration

    /// Vibrates towards a bearing, in app mode. Returns false if the command was rejected, see `lastError`.
    ///
    /// - Parameters:
    ///   - direction: degrees from magnetic north; any value.
    ///   - intensity: percent; -1: the belt's default; 0 stops the channel.
    ///   - signal: the vibration signal.
    ///   - channelIndex: 0 to 3; the belt uses 0 for its own signals.
    ///   - stopOtherChannels: whether vibrations on other channels are stopped.
    @discardableResult
    public func vibrateAtMagneticBearing(
        direction: Float, intensity: Int = -1, signal: FSVibrationSignal = .continuous, channelIndex: Int = 1,
        stopOtherChannels: Bool = false
    ) -> Bool {
        vibrate(direction, true, intensity, signal, channelIndex, stopOtherChannels)
    }

    /// Vibrates at a position of the belt, in app mode: `angle` is in degrees from the front, clockwise; other
    /// parameters as for `vibrateAtMagneticBearing`.
    @discardableResult
    public func vibrateAtAngle(
        angle: Float, intensity: Int = -1, signal: FSVibrationSignal = .continuous, channelIndex: Int = 1,
        stopOtherChannels: Bool = false
    ) -> Bool {
        vibrate(angle, false, intensity, signal, channelIndex, stopOtherChannels)
    }

    /// The same, with the argument label of the vendor's document.
    @discardableResult
    public func vibrateAtAngle(
        direction: Float, intensity: Int = -1, signal: FSVibrationSignal = .continuous, channelIndex: Int = 1,
        stopOtherChannels: Bool = false
    ) -> Bool {
        vibrate(direction, false, intensity, signal, channelIndex, stopOtherChannels)
    }

    private func vibrate(
        _ direction: Float, _ isBearing: Bool, _ intensity: Int, _ signal: FSVibrationSignal, _ channel: Int,
        _ stopOthers: Bool
    ) -> Bool {
        let vibration = tendon_feelspace_vibration(
            signal: Int32(signal.rawValue), direction: Double(direction), is_bearing: isBearing,
            intensity: Int32(clamping: intensity), channel: Int32(clamping: channel), stop_others: stopOthers)
        let channels = core.c.config.channels
        return ask(
            rejected(
                vibration, by: { tendon_feelspace_encode_vibration($0, channels, $1, $2) },
                [
                    ("direction \(direction)", { $0.direction = 0 }), ("intensity \(intensity)", { $0.intensity = -1 }),
                    ("channelIndex \(channel)", { $0.channel = 1 }),
                ])
        ) { session, now in withPointer(to: vibration) { tendon_feelspace_session_vibrate(session, $0, now) } }
    }

    /// Sets all parameters of a channel, 0 to 3; -1 iterations are endless. A belt reads the number of iterations as
    /// signed, so 128 to 255 are also endless: `lastWarnings` then contains `.runsForEver`. For app mode. In other
    /// modes the belt accepts only vibrations on channel 0 that end by themselves and do not clear other channels.
    @discardableResult
    public func configureVibrationChannel(
        channelIndex: Int, pattern: FSVibrationPattern, intensity: Int = -1, orientationType: FSOrientationType,
        orientation: Int, patternIterations: Int, patternPeriod: Int, patternStartTime: Int = 0,
        exclusiveChannel: Bool, clearOtherChannels: Bool
    ) -> Bool {
        let channel = tendon_feelspace_channel(
            channel: Int32(clamping: channelIndex), pattern: Int32(pattern.rawValue),
            intensity: Int32(clamping: intensity), orientation_type: Int32(orientationType.rawValue),
            orientation: Int32(clamping: orientation), iterations: Int32(clamping: patternIterations),
            period_ms: Int32(clamping: patternPeriod), start_ms: Int32(clamping: patternStartTime),
            exclusive: exclusiveChannel, clear_others: clearOtherChannels)
        let channels = core.c.config.channels
        return ask(
            rejected(
                channel, by: { tendon_feelspace_encode_channel($0, channels, $1, $2) },
                [
                    ("channelIndex \(channelIndex)", { $0.channel = 1 }),
                    ("intensity \(intensity)", { $0.intensity = -1 }),
                    ("orientation \(orientation)", { $0.orientation = 0 }),
                    ("patternIterations \(patternIterations)", { $0.iterations = 1 }),
                    ("patternPeriod \(patternPeriod)", { $0.period_ms = 65535 }),
                    ("patternStartTime \(patternStartTime)", { $0.start_ms = 0 }),
                    ("pattern \(pattern)", { $0.pattern = Int32(FSVibrationPattern.continuous.rawValue) }),
                ])
        ) { session, now in
            withPointer(to: channel) { tendon_feelspace_session_configure_channel(session, $0, now) }
        }
    }

    /// Plays one of the belt's own signals, in every mode.
    @discardableResult
    public func signal(signalType: FSSystemSignal) -> Bool {
        ask { tendon_feelspace_session_signal($0, Int32(signalType.rawValue), $1) }
    }

    /// Stops the vibration of a channel; -1: all channels.
    @discardableResult
    public func stopVibration(_ channelIndex: Int = -1) -> Bool {
        ask("channelIndex \(channelIndex)") { tendon_feelspace_session_stop($0, Int32(clamping: channelIndex), $1) }
    }

    // MARK: Orientation

    /// Starts orientation notifications, which the belt sends every 500 ms. A value is reported if it differs from the
    /// last reported one by at least both limits.
    ///
    /// - Parameters:
    ///   - minPeriod: seconds.
    ///   - minHeadingVariation: degrees.
    @discardableResult
    public func startOrientationNotifications(minPeriod: Double = 0, minHeadingVariation: Int = 0) -> Bool {
        let milliseconds = minPeriod > 0 ? UInt32(min(minPeriod * 1000, Double(UInt32.max))) : 0
        return ask("minHeadingVariation \(minHeadingVariation)") {
            tendon_feelspace_session_start_orientation($0, milliseconds, UInt16(clamping: minHeadingVariation), $1)
        }
    }

    /// Stops orientation notifications and clears the limits.
    @discardableResult
    public func stopOrientationNotifications() -> Bool {
        ask { tendon_feelspace_session_stop_orientation($0, $1) }
    }

    // MARK: Debug

    /// Writes up to 20 bytes to the debugging characteristic. Returns false if the belt does not have it.
    @discardableResult
    public func sendDebugData(_ data: [UInt8]) -> Bool {
        lending(data) { bytes, count in
            ask { tendon_feelspace_session_send($0, TENDON_FEELSPACE_DEBUG_INPUT, bytes, Int32(clamping: count), $1) }
        }
    }
}
