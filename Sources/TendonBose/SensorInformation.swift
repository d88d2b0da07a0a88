// SPDX-License-Identifier: MIT
import CTendon
import Tendon

/// Sensor information of a device.
public struct SensorInformation: Sendable {
    let c: tendon_bose_sensor_information
    private var records: [tendon_bose_sensor_record] {
        elements(c.records, of: tendon_bose_sensor_record.self, c.count)
    }

    init(_ c: tendon_bose_sensor_information) { self.c = c }

    private func record(_ sensor: SensorType) -> tendon_bose_sensor_record? {
        records.first { $0.sensor_id == sensor.rawValue }
    }

    /// In the device's order.
    public var availableSensors: [SensorType] { records.map { SensorType(id: $0.sensor_id) } }

    /// Those that every sensor offers, longest first.
    public var availableSamplePeriods: [SamplePeriod] {
        guard !records.isEmpty else { return [] }
        return SamplePeriod.all(in: records.reduce(.max) { $0 & $1.period_mask })
    }

    /// None for a sensor that the device does not have.
    public func availableSamplePeriods(for sensor: SensorType) -> Set<SamplePeriod> {
        Set(SamplePeriod.all(in: record(sensor)?.period_mask ?? 0))
    }

    /// From the minimum to the maximum, in the sensor's unit. As in the vendor's SDK the type is `Range`: its upper bound
    /// is the maximum itself. `nil` also if the device reports a minimum above the maximum.
    public func scaledValueRange(for sensor: SensorType) -> Range<Int16>? {
        record(sensor).flatMap { range($0.scaled_min, $0.scaled_max) }
    }

    /// The same in counts.
    public func rawValueRange(for sensor: SensorType) -> Range<Int16>? {
        record(sensor).flatMap { range($0.raw_min, $0.raw_max) }
    }

    private func range(_ low: Int16, _ high: Int16) -> Range<Int16>? { low <= high ? low..<high : nil }

    /// Bytes of a sample, without its header of three.
    public func sampleLength(for sensor: SensorType) -> Int? {
        record(sensor).map { Int($0.sample_length) }
    }
}

/// The enabled sensors. A value: change a copy and write it to the device.
///
/// ```swift
/// try await device.configureSensors { configuration in
///     configuration.disableAll()
///     configuration.enable(sensor: .gyroscope, at: ._40ms)
/// }
/// ```
public struct SensorConfiguration: Sendable {
    private(set) var c: tendon_bose_sensor_configuration
    private let information: SensorInformation?

    init(_ c: tendon_bose_sensor_configuration, _ information: SensorInformation?) {
        self.c = c
        self.information = information
    }

    private var settings: [tendon_bose_sensor_setting] {
        elements(c.settings, of: tendon_bose_sensor_setting.self, c.count)
    }

    /// Executes a change with the C core, with the sensor information if it is known.
    private mutating func change(
        _ body: (
            inout tendon_bose_sensor_configuration, CPointer<tendon_bose_sensor_information>?
        ) -> tendon_status
    ) -> Bool {
        guard var offered = information?.c else { return body(&c, nil) >= 0 }
        return body(&c, &offered) >= 0
    }

    /// Enables a sensor, and sets the period of all enabled sensors. Returns false, without a change, if the device
    /// does not have the sensor, or the sensor does not have the period.
    @discardableResult
    public mutating func enable(sensor: SensorType, at period: SamplePeriod) -> Bool {
        change { tendon_bose_enable_sensor(&$0, sensor.rawValue, period.milliseconds, $1) }
    }

    /// Disables a sensor. Returns false if the device does not have the sensor.
    @discardableResult
    public mutating func disable(sensor: SensorType) -> Bool {
        tendon_bose_disable_sensor(&c, sensor.rawValue) >= 0
    }

    /// Disables all sensors.
    public mutating func disableAll() {
        tendon_bose_disable_all_sensors(&c)
    }

    /// The period of the enabled sensors; `nil` if none is enabled. Setting it to `nil` disables all sensors.
    public var enabledSensorsSamplePeriod: SamplePeriod? {
        get {
            var copy = c
            return SamplePeriod(milliseconds: tendon_bose_enabled_period(&copy))
        }
        set { _ = change { tendon_bose_set_sensor_period(&$0, newValue?.milliseconds ?? 0, $1) } }
    }

    /// False also for a sensor that the device does not have.
    public func isEnabled(sensor: SensorType) -> Bool { enabledSensors.contains(sensor) }

    /// `nil`: off, or a period without a name.
    public func samplePeriod(for sensor: SensorType) -> SamplePeriod? {
        settings.first { $0.sensor_id == sensor.rawValue }.flatMap { SamplePeriod(milliseconds: $0.period_ms) }
    }

    /// In the device's order.
    public var allSensors: [SensorType] { settings.map { SensorType(id: $0.sensor_id) } }
    /// Those with a period, in the device's order.
    public var enabledSensors: [SensorType] {
        settings.filter { $0.period_ms != 0 }.map { SensorType(id: $0.sensor_id) }
    }
    /// Those without, in the device's order.
    public var disabledSensors: [SensorType] {
        settings.filter { $0.period_ms == 0 }.map { SensorType(id: $0.sensor_id) }
    }
}

extension SensorInformation: CustomDebugStringConvertible {
    /// The available sensors by name.
    public var debugDescription: String { "SensorInformation(\(names(availableSensors)))" }
}

extension SensorConfiguration: Equatable, CustomDebugStringConvertible {
    /// Compares the sensors and their periods.
    public static func == (a: SensorConfiguration, b: SensorConfiguration) -> Bool {
        a.settings.elementsEqual(b.settings) { $0.sensor_id == $1.sensor_id && $0.period_ms == $1.period_ms }
    }

    /// The enabled sensors by name, and their period.
    public var debugDescription: String {
        let period = enabledSensorsSamplePeriod.map { " every \($0)" } ?? ""
        return "SensorConfiguration(enabled: \(names(enabledSensors))\(period))"
    }
}
