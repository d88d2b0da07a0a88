// SPDX-License-Identifier: MIT
import CTendon
import Tendon

/// The double-squeeze detector: its limits, and how far a double squeeze is.
///
/// Each device has a detector in the C core, which follows its forces. The properties are those of the device that sent the
/// latest force; after `evaluateDoublePress` they are those of a detector for the forces that the program itself has.
///
/// ```swift
/// DoubleSqueezeHelper.squeezeThreshold = SqueezeThreshold(pressed: 50, depressed: 10)
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

    /// Newtons; the same as `A5DeviceManager.options.squeezeThreshold`.
    public static var squeezeThreshold: SqueezeThreshold {
        get { A5DeviceManager.options.squeezeThreshold }
        set { A5DeviceManager.options.squeezeThreshold = newValue }
    }
    private static var detector = tendon_activ5_squeeze()

    /// How far a double squeeze is; falls back to `initial` 5 s after the last force above the limit.
    public static var doublePressState: DoublePressState {
        get { DoublePressState(rawValue: current.press.rawValue) ?? .initial }
        set { change { $0.press = tendon_activ5_press(newValue.rawValue) } }
    }

    /// When the state falls back to `initial`, in monotonic milliseconds; `nil` if nothing is pending.
    public static var resetTimer: UInt64? {
        get { current.has_deadline ? current.deadline : nil }
        set {
            change {
                $0.has_deadline = newValue != nil
                $0.deadline = newValue ?? 0
            }
        }
    }

    /// The detector of the latest force.
    private static var current: tendon_activ5_squeeze {
        if let device = latestSqueeze.device { return device.c.squeeze }
        var config = config
        tendon_activ5_squeeze_tick(&detector, &config, tendon_monotonic_ms())
        return detector
    }

    private static func change(_ body: (inout tendon_activ5_squeeze) -> Void) {
        if let device = latestSqueeze.device {
            device.change { body(&$0.squeeze) }
        } else {
            body(&detector)
        }
    }

    /// One force in newtons, now. `onPressed` comes for every force above the limit.
    public static func evaluateDoublePress(
        force: Double, onPressed: VoidClosure? = nil, onDepressed: VoidClosure? = nil, onSuccess: VoidClosure
    ) {
        evaluateDoublePress(
            force: force, at: tendon_monotonic_ms(), onPressed: onPressed, onDepressed: onDepressed,
            onSuccess: onSuccess)
    }

    /// The same for a force of a known time, monotonic milliseconds.
    public static func evaluateDoublePress(
        force: Double, at time: UInt64, onPressed: VoidClosure? = nil, onDepressed: VoidClosure? = nil,
        onSuccess: VoidClosure
    ) {
        latestSqueeze.device = nil
        var config = config
        let happened = Int(tendon_activ5_squeeze_sample(&detector, &config, force, time))
        func any(_ bits: Int) -> Bool { happened & bits != 0 }
        if any(TENDON_ACTIV5_SQUEEZE_SQUEEZED | TENDON_ACTIV5_SQUEEZE_ABOVE) { onPressed?() }
        if any(TENDON_ACTIV5_SQUEEZE_DEPRESSED | TENDON_ACTIV5_SQUEEZE_BELOW) { onDepressed?() }
        if any(TENDON_ACTIV5_SQUEEZE_DOUBLE) { onSuccess() }
    }

    /// The detector of `evaluateDoublePress` starts again; the properties are its own from now on.
    public static func reset() {
        latestSqueeze.device = nil
        detector = tendon_activ5_squeeze()
    }

    private static var config: tendon_activ5_squeeze_config {
        var config = tendon_activ5_squeeze_defaults()
        config.pressed = squeezeThreshold.pressed
        config.depressed = squeezeThreshold.depressed
        return config
    }
}

/// The device that sent the latest force.
let latestSqueeze = LatestSqueeze()

final class LatestSqueeze: @unchecked Sendable {
    // Used only on the loop's thread.
    weak var device: DeviceCore?

    func follow(_ core: DeviceCore) {
        if device !== core { device = core }
    }
}

/// As the vendor's document names it, by itself.
public typealias DoublePressState = DoubleSqueezeHelper.DoublePressState

/// What the detector calls.
public typealias VoidClosure = () -> Void

/// As the vendor spells it.
@available(*, deprecated, renamed: "DoubleSqueezeHelper")
public typealias DoubleSqeezeHelper = DoubleSqueezeHelper
