// SPDX-License-Identifier: MIT
import CTendon
import Tendon

/// A double-squeeze detector beside those of the devices, for forces that a program has from elsewhere.
///
/// ```swift
/// DoubleSqueezeHelper.evaluateDoublePress(force: newtons) { print("twice") }
/// ```
@TendonActor
public enum DoubleSqueezeHelper {
    /// How far a double squeeze has come.
    public enum DoublePressState: UInt32, Sendable, Hashable {
        /// Nothing was pressed, or too long ago.
        case initial = 0
        /// The first press has not ended.
        case firstPressed
        /// The second press is waited for.
        case firstPressCompleted
        /// Its end makes the double squeeze.
        case secondPressed
    }

    /// Newtons, of this detector alone; managers have their own in their options.
    public static var squeezeThreshold = SqueezeThreshold.base
    private static var detector = tendon_activ5_squeeze()

    /// Where it stands now; falls back to `initial` 5 s after the last force above the limit.
    public static var doublePressState: DoublePressState {
        var config = config
        tendon_activ5_squeeze_tick(&detector, &config, tendon_now_ms())
        return DoublePressState(rawValue: detector.press.rawValue) ?? .initial
    }

    /// When the state falls back to `initial`, monotonic milliseconds; `nil`: it does not wait.
    public static var resetTimer: UInt64? {
        let deadline = tendon_activ5_squeeze_deadline(&detector)
        return deadline == .max ? nil : deadline
    }

    /// One force in newtons, now. `onPressed` comes for every force above the limit.
    public static func evaluateDoublePress(
        force: Double, onPressed: VoidClosure? = nil, onDepressed: VoidClosure? = nil, onSuccess: VoidClosure
    ) {
        evaluateDoublePress(
            force: force, at: tendon_now_ms(), onPressed: onPressed, onDepressed: onDepressed, onSuccess: onSuccess)
    }

    /// The same for a force of a known time, monotonic milliseconds.
    public static func evaluateDoublePress(
        force: Double, at time: UInt64, onPressed: VoidClosure? = nil, onDepressed: VoidClosure? = nil,
        onSuccess: VoidClosure
    ) {
        var config = config
        let happened = Int(tendon_activ5_squeeze_sample(&detector, &config, force, time))
        func any(_ bits: Int) -> Bool { happened & bits != 0 }
        if any(TENDON_ACTIV5_SQUEEZE_SQUEEZED | TENDON_ACTIV5_SQUEEZE_ABOVE) { onPressed?() }
        if any(TENDON_ACTIV5_SQUEEZE_DEPRESSED | TENDON_ACTIV5_SQUEEZE_BELOW) { onDepressed?() }
        if any(TENDON_ACTIV5_SQUEEZE_DOUBLE) { onSuccess() }
    }

    /// As if nothing had been pressed.
    public static func reset() { detector = tendon_activ5_squeeze() }

    private static var config: tendon_activ5_squeeze_config {
        var config = tendon_activ5_squeeze_defaults()
        config.pressed = squeezeThreshold.pressed
        config.depressed = squeezeThreshold.depressed
        return config
    }
}

/// As the vendor's document names it, by itself.
public typealias DoublePressState = DoubleSqueezeHelper.DoublePressState

/// What the detector calls.
public typealias VoidClosure = () -> Void

/// As the vendor spells it.
@available(*, deprecated, renamed: "DoubleSqueezeHelper")
public typealias DoubleSqeezeHelper = DoubleSqueezeHelper
