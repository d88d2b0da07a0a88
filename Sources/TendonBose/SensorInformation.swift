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
        records.first { $0.sensor_id == sensor.id }
    }

    /// In the device's order.
    public var availableSensors: [SensorType] { records.map { SensorType(id: $0.sensor_id) } }

    /// Those that every sensor offers, longest first.
    public var availableSamplePeriods: [SamplePeriod] {
        guard !records.isEmpty else { return [] }
        return SamplePeriod.all(in: records.reduce(.max) { $0 & $1.period_mask })
    }

    /// Longest first; none for a sensor that the device does not have.
    public func availableSamplePeriods(for sensor: SensorType) -> [SamplePeriod] {
        SamplePeriod.all(in: record(sensor)?.period_mask ?? 0)
    }

    /// In the sensor's unit.
    public func scaledValueRange(for sensor: SensorType) -> ClosedRange<Int>? {
        record(sensor).map { Int($0.scaled_min)...Int($0.scaled_max) }
    }

    /// In counts.
    public func rawValueRange(for sensor: SensorType) -> ClosedRange<Int>? {
        record(sensor).map { Int($0.raw_min)...Int($0.raw_max) }
    }

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
        change { tendon_bose_enable_sensor(&$0, sensor.id, period.rawValue, $1) }
    }

    /// Disables a sensor. Returns false if the device does not have the sensor.
    @discardableResult
    public mutating func disable(sensor: SensorType) -> Bool {
        tendon_bose_disable_sensor(&c, sensor.id) >= 0
    }

    /// Disables all sensors.
    public mutating func disableAll() {
        tendon_bose_disable_all_sensors(&c)
    }

    /// The period of the enabled sensors; `nil` if none is enabled. Setting it to `nil` disables all sensors.
    public var enabledSensorsSamplePeriod: SamplePeriod? {
        get {
            var copy = c
            return SamplePeriod(rawValue: tendon_bose_enabled_period(&copy))
        }
        set { _ = change { tendon_bose_set_sensor_period(&$0, newValue?.rawValue ?? 0, $1) } }
    }

    /// False also for a sensor that the device does not have.
    public func isEnabled(sensor: SensorType) -> Bool { enabledSensors.contains(sensor) }

    /// `nil`: off, or a period without a name.
    public func samplePeriod(for sensor: SensorType) -> SamplePeriod? {
        settings.first { $0.sensor_id == sensor.id }.flatMap { SamplePeriod(rawValue: $0.period_ms) }
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
