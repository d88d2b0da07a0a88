// SPDX-License-Identifier: MIT
import CTendon

/// Sensors and sample periods that an application requires; empty sets require nothing.
///
/// ```swift
/// let intent = SensorIntent(sensors: [.rotation], samplePeriods: [._20ms])
/// let session = try await BoseWearable.shared.startConnection(sensorIntent: intent)
/// ```
public struct SensorIntent: Sendable, Hashable {
    /// The required sensors.
    public var sensors: Set<SensorType>
    /// The required sample periods; each must be offered by every sensor.
    public var samplePeriods: Set<SamplePeriod>

    /// Requires sensors and sample periods.
    public init(sensors: Set<SensorType>, samplePeriods: Set<SamplePeriod> = []) {
        self.sensors = sensors
        self.samplePeriods = samplePeriods
    }
}

/// Gestures that a program needs.
///
/// ```swift
/// try device.checkIntents(sensor: nil, gesture: GestureIntent(gestures: [.headNod, .headShake]))
/// ```
public struct GestureIntent: Sendable, Hashable {
    /// The required gestures.
    public var gestures: Set<GestureType>

    /// Requires gestures.
    public init(gestures: Set<GestureType>) { self.gestures = gestures }
}

/// The requirements that a device does not meet.
public struct IntentsCheckFailed: Error, Sendable, Hashable {
    /// Sensors that the device does not have.
    public let missingSensors: Set<SensorType>
    /// Periods that it does not offer for all of the sensors.
    public let missingSamplePeriods: Set<SamplePeriod>
    /// Gestures that it does not support.
    public let missingGestures: Set<GestureType>

    init(_ sensors: Set<SensorType>, _ periods: Set<SamplePeriod>, _ gestures: Set<GestureType>) {
        (missingSensors, missingSamplePeriods, missingGestures) = (sensors, periods, gestures)
    }

    init(_ c: tendon_bose_intent_check) {
        missingSensors = Set((0..<32).filter { c.missing_sensors & (1 << $0) != 0 }.map { SensorType(id: UInt8($0)) })
        missingSamplePeriods = Set(SamplePeriod.all(in: c.missing_periods))
        missingGestures = Set(GestureType.all(in: c.missing_gestures))
    }

    /// What the device does not support, in a stable order.
    var names: [String] {
        missingSensors.map { "\($0)" }.sorted()
            + missingSamplePeriods.sorted { $0.milliseconds < $1.milliseconds }.map { "\($0)" }
            + missingGestures.map { "\($0)" }.sorted()
    }
}

/// Requirements that are met, but perhaps with a lower rate.
public struct IntentsWarnings: Sendable, Hashable {
    /// More sensors than can be active at the same time.
    public let tooManySensors: Bool
    /// More bytes than the device sends in a transmission period.
    public let overPayload: Bool
}

extension tendon_bose_intent {
    /// Returns `nil` if nothing is required.
    init?(_ sensor: SensorIntent?, _ gesture: GestureIntent?) {
        guard sensor != nil || gesture != nil else { return nil }
        self.init()
        sensors = (sensor?.sensors ?? []).reduce(0) { $0 | ($1.rawValue < 32 ? UInt32(1) << UInt32($1.rawValue) : 0) }
        periods = (sensor?.samplePeriods ?? []).reduce(0) { $0 | $1.bit }
        gestures = (gesture?.gestures ?? []).reduce(0) { $0 | $1.bit }
    }
}
