// SPDX-License-Identifier: MIT
// Home Assistant's device classes of sensors, for the member `class` of device files. One that it does not know makes it
// refuse the whole device: https://www.home-assistant.io/integrations/sensor/#device-class
import CTendon

enum DeviceClass {
    /// Of numbers, up to Home Assistant 2025.12.
    private static let ofNumbers = Set(
        """
        absolute_humidity apparent_power aqi area atmospheric_pressure battery blood_glucose_concentration carbon_dioxide \
        carbon_monoxide conductivity current data_rate data_size distance duration energy energy_distance energy_storage \
        frequency gas humidity illuminance irradiance moisture monetary nitrogen_dioxide nitrogen_monoxide nitrous_oxide ozone \
        ph pm1 pm10 pm25 pm4 power power_factor precipitation precipitation_intensity pressure reactive_energy reactive_power \
        signal_strength sound_pressure speed sulphur_dioxide temperature temperature_delta volatile_organic_compounds \
        volatile_organic_compounds_parts voltage volume volume_flow_rate volume_storage water weight wind_direction wind_speed
        """.split(separator: " ").map(String.init))
    /// Of a time with its zone.
    private static let ofTimes: Set = ["timestamp"]

    static func all(of field: tendon_field) -> Set<String> { field.isDate ? ofTimes : ofNumbers }
}

extension DefinitionMistake {
    /// The first class that Home Assistant does not have for its field; nil: there is none.
    static func unknownClass(_ definition: Definition, _ bytes: [UInt8], _ path: String) -> DefinitionMistake? {
        for field in definition.fields {
            guard let word = definition.word(field.kind), !DeviceClass.all(of: field).contains(word) else { continue }
            let known = DeviceClass.all(of: field).sorted()
            return DefinitionMistake(
                path: path, at: place(of: word, in: "class", bytes),
                text: CommandError.unknown("device class of Home Assistant", word, among: known).message)
        }
        return nil
    }
}
