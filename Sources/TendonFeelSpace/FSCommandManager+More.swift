// SPDX-License-Identifier: MIT
import CTendon
import Tendon

/// A series of pulses; firmware 45 and later.
///
/// ```swift
/// var pulse = FSPulse()
/// pulse.orientation = 270
/// commandManager.pulse(pulse)
/// ```
public struct FSPulse: Sendable, Hashable {
    /// Effect on the channel's timer.
    public enum Timer: Int32, Sendable, CaseIterable {
        /// Restarts the timer.
        case reset = 0
        /// Continues the timer if the period stays the same.
        case resetWhenPeriodDiffers
        /// Continues the timer.
        case keep
    }

    /// 0 to 3.
    public var channelIndex = 1
    /// The meaning of `orientation`.
    public var orientationType = FSOrientationType.angle
    /// A mask, a motor or degrees.
    public var orientation = 0
    /// Percent; -1: the belt's default.
    public var intensity = -1
    /// Milliseconds of one pulse.
    public var onDuration = 150
    /// Milliseconds from the start of one pulse to the start of the next.
    public var pulsePeriod = 500
    /// Pulses of a series.
    public var pulses = 1
    /// Milliseconds from the start of one series to the start of the next.
    public var seriesPeriod = 500
    /// Number of series; -1: endless.
    public var series = -1
    /// Effect on the channel's timer.
    public var timer = Timer.resetWhenPeriodDiffers
    /// Whether other channels are suspended while this one is active.
    public var exclusiveChannel = false
    /// Whether other channels are stopped.
    public var clearOtherChannels = false

    /// Endless pulses of 150 ms, two per second, at the front.
    public init() {}
}

/// Functions of the vendor's other clients.
extension FSCommandManager {
    /// Starts a series of pulses. Returns false if a value is out of range, or if the firmware is older than 45.
    @discardableResult
    public func pulse(_ pulse: FSPulse) -> Bool {
        let c = tendon_feelspace_pulse(
            channel: Int32(clamping: pulse.channelIndex), orientation_type: Int32(pulse.orientationType.rawValue),
            orientation: Int32(clamping: pulse.orientation), intensity: Int32(clamping: pulse.intensity),
            on_ms: Int32(clamping: pulse.onDuration), pulse_period_ms: Int32(clamping: pulse.pulsePeriod),
            pulse_iterations: Int32(clamping: pulse.pulses), series_period_ms: Int32(clamping: pulse.seriesPeriod),
            series_iterations: Int32(clamping: pulse.series), timer_option: pulse.timer.rawValue,
            exclusive: pulse.exclusiveChannel, clear_others: pulse.clearOtherChannels)
        return ask(
            rejected(
                c, by: tendon_feelspace_encode_pulse,
                [
                    ("channelIndex \(pulse.channelIndex)", { $0.channel = 1 }),
                    ("orientation \(pulse.orientation)", { $0.orientation = 0 }),
                    ("intensity \(pulse.intensity)", { $0.intensity = -1 }),
                    ("onDuration \(pulse.onDuration)", { $0.on_ms = 1 }),
                    ("pulsePeriod \(pulse.pulsePeriod)", { $0.pulse_period_ms = 500 }),
                    ("pulses \(pulse.pulses)", { $0.pulse_iterations = 1 }),
                    ("seriesPeriod \(pulse.seriesPeriod)", { $0.series_period_ms = 65535 }),
                    ("series \(pulse.series)", { $0.series_iterations = 1 }),
                ])
        ) { session, now in withPointer(to: c) { tendon_feelspace_session_pulse(session, $0, now) } }
    }

    /// Vibrates with one pulse per period.
    @discardableResult
    public func pulseAtMagneticBearing(
        direction: Float, onDuration: Int, period: Int, iterations: Int = -1, intensity: Int = -1,
        channelIndex: Int = 1
    ) -> Bool {
        pulse(at: direction, .magneticBearing, onDuration, period, iterations, intensity, channelIndex)
    }

    /// Vibrates with one pulse per period; degrees from the front.
    @discardableResult
    public func pulseAtAngle(
        angle: Float, onDuration: Int, period: Int, iterations: Int = -1, intensity: Int = -1, channelIndex: Int = 1
    ) -> Bool {
        pulse(at: angle, .angle, onDuration, period, iterations, intensity, channelIndex)
    }

    private func pulse(
        at direction: Float, _ type: FSOrientationType, _ onDuration: Int, _ period: Int, _ iterations: Int,
        _ intensity: Int, _ channel: Int
    ) -> Bool {
        var degrees: UInt16 = 0
        guard tendon_feelspace_degrees(Double(direction), &degrees) else {
            return queued(Int32(TENDON_ERROR_INVALID_ARGUMENT))
        }
        var value = FSPulse()
        value.channelIndex = channel
        value.orientationType = type
        value.orientation = Int(degrees)
        value.intensity = intensity
        value.onDuration = onDuration
        value.pulsePeriod = period
        value.seriesPeriod = period
        value.series = iterations
        return pulse(value)
    }

    /// Vibrates continuously at up to six motors (0 to 15, clockwise from the front).
    @discardableResult
    public func vibrateAtPositions(
        _ motors: Set<Int>, intensity: Int = -1, channelIndex: Int = 1, stopOtherChannels: Bool = false
    ) -> Bool {
        let mask = motors.filter { (0..<16).contains($0) }.reduce(0) { $0 | 1 << $1 }
        return configureVibrationChannel(
            channelIndex: channelIndex, pattern: .continuous, intensity: intensity, orientationType: .binaryMask,
            orientation: mask, patternIterations: -1, patternPeriod: 500, exclusiveChannel: false,
            clearOtherChannels: stopOtherChannels)
    }

    /// Requests an advanced parameter. The delegate is notified of the value if the parameter is known.
    @discardableResult
    public func requestParameter(_ id: UInt8) -> Bool {
        send(TENDON_FEELSPACE_PARAMETER_REQUEST) { tendon_feelspace_encode_read_advanced(Int32(id), $0, $1) }
    }

    /// Sets whether the belt requires pairing. `persistent`: also after it was switched off.
    @discardableResult
    public func changePairingRequirement(_ required: Bool, persistent: Bool) -> Bool {
        send(TENDON_FEELSPACE_PARAMETER_REQUEST) { tendon_feelspace_encode_set_pairing(required, persistent, $0, $1) }
    }

    /// Sets the part of the name after "naviGuertel": up to 18 ASCII characters. The belt then disconnects.
    @discardableResult
    public func rename(suffix: String) -> Bool {
        lending(suffix) { text, count in
            send(TENDON_FEELSPACE_PARAMETER_REQUEST) { tendon_feelspace_encode_set_name(text, count, $0, $1) }
        }
    }

    /// Factory reset.
    @discardableResult
    public func reset(parameters: Bool, bluetooth: Bool, sensors: Bool) -> Bool {
        send(TENDON_FEELSPACE_PARAMETER_REQUEST) {
            tendon_feelspace_encode_reset(parameters, bluetooth, sensors, $0, $1)
        }
    }

    /// Sets the time between two orientations in milliseconds, at least 20; firmware 52 and later.
    @discardableResult
    public func changeOrientationPeriod(_ milliseconds: Int) -> Bool {
        ask("milliseconds \(milliseconds)") {
            tendon_feelspace_session_set_orientation_period($0, Int32(clamping: milliseconds), $1)
        }
    }

    /// Plays up to nine tones, each with seconds and hertz (0: silence); firmware 45 and later.
    @discardableResult
    public func play(_ tones: [(seconds: Float, hertz: Float)]) -> Bool {
        lending(tones.map(\.seconds)) { seconds in
            lending(tones.map(\.hertz)) { hertz in
                send(TENDON_FEELSPACE_BUZZER_COMMAND) {
                    tendon_feelspace_encode_tone(seconds, hertz, tones.count, $0, $1)
                }
            }
        }
    }

    /// Reads the belt's error log. The handler is called once, on the loop's thread: in this call if no belt is connected.
    public func requestBeltErrorLog(
        _ completion: @escaping @TendonActor (Result<FSBeltErrorLog, any Error>) -> Void
    ) {
        let isQueued = ask { tendon_feelspace_session_request_log($0, $1) }
        guard isQueued else { return completion(.failure(lastError ?? .cancelled)) }
        core.awaitLog { entries, error in
            let result: Result<FSBeltErrorLog, any Error> =
                error.map { .failure($0) } ?? .success(FSBeltErrorLog(entries))
            TendonActor.assumeIsolated { completion(result) }
        }
    }
}
