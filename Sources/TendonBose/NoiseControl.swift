// SPDX-License-Identifier: MIT
import Tendon

/// Noise reduction of a device, in modes. No function returns it: its format is not published.
public struct ActiveNoiseReduction: Sendable, Hashable {
    /// Modes of noise reduction.
    public enum Mode: UInt8, Sendable, Hashable, CustomStringConvertible {
        /// Off.
        case off = 0x00
        /// Strong.
        case high = 0x01
        /// Against wind.
        case wind = 0x02
        /// Weak.
        case low = 0x03
        /// Not a mode.
        case invalid = 0xFF

        /// The name of the case.
        public var description: String {
            switch self {
            case .off: "off"
            case .high: "high"
            case .wind: "wind"
            case .low: "low"
            case .invalid: "invalid"
            }
        }
    }

    /// The present mode.
    public var currentMode: Mode
    /// The modes of the device.
    public let availableModes: [Mode]

    /// Whether the device has a mode.
    public func isAvailable(mode: Mode) -> Bool { availableModes.contains(mode) }
}

/// Noise cancellation of a device, in steps. No function returns it: its format is not published.
public struct ControllableNoiseCancellation: Sendable, Hashable {
    /// Number of levels.
    public var numberOfSteps: UInt8
    /// The present level.
    public var currentLevel: UInt8
    /// Whether it is enabled.
    public var isEnabled: Bool
}

extension WearableDevice {
    /// Completes with `functionNotSupported`.
    public func getControllableNoiseCancellation(
        completionHandler: @escaping @TendonActor (Result<ControllableNoiseCancellation, any Error>) -> Void
    ) {
        unsupported(completionHandler)
    }

    /// Completes with `functionNotSupported`.
    public func setControllableNoiseCancellation(
        level: UInt8, isEnabled: Bool,
        completionHandler: @escaping @TendonActor (Result<ControllableNoiseCancellation, any Error>) -> Void
    ) {
        unsupported(completionHandler)
    }

    /// Completes with `functionNotSupported`.
    public func getActiveNoiseReduction(
        completionHandler: @escaping @TendonActor (Result<ActiveNoiseReduction, any Error>) -> Void
    ) {
        unsupported(completionHandler)
    }

    /// Completes with `functionNotSupported`.
    public func setActiveNoiseReduction(
        mode: ActiveNoiseReduction.Mode,
        completionHandler: @escaping @TendonActor (Result<ActiveNoiseReduction, any Error>) -> Void
    ) {
        unsupported(completionHandler)
    }

    /// After the call has returned, as a result of the device would be.
    private func unsupported<Value: Sendable>(
        _ completion: @escaping @TendonActor (Result<Value, any Error>) -> Void
    ) {
        Loop.shared.post {
            TendonActor.assumeIsolated { completion(.failure(BoseWearableError.functionNotSupported)) }
        }
    }
}
