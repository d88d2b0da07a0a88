// SPDX-License-Identifier: MIT
// The outputs of `run` and `stream` beside standard output, by package traits: a new output adds its options and a line.
import TendonOutputs
import TendonSupport

enum OutputChoice {
    static let options: [Option] = {
        var options = RecordingOptions.all
        #if MQTT
            options += MQTTOptions.all
        #endif
        #if Metrics
            options += MetricsOptions.all
        #endif
        #if OSC
            options += OSCOptions.all
        #endif
        #if LSL
            options += LSLOptions.all
        #endif
        #if Web
            options += WebOptions.all
        #endif
        return options
    }()

    /// What `run` would refuse about the outputs, by the same code; nothing is opened.
    static func check(_ arguments: Arguments) throws(CommandError) {
        try RecordingOptions.check(arguments)
        #if MQTT
            _ = try MQTTOptions.settings(arguments)
        #endif
        #if Web
            _ = try WebOptions.settings(arguments)
        #endif
        #if Metrics
            try MetricsOptions.check(arguments)
        #endif
        #if OSC
            _ = try OSCOptions.settings(arguments)
        #endif
        #if LSL
            _ = try LSLOptions.settings(arguments)
        #endif
    }

    /// What outputs show of each family; what only another output makes possible is left out without it.
    static func descriptions(_ arguments: Arguments) -> [FamilyDescription] {
        var descriptions = families.compactMap(\.description)
        #if OSC
            guard (try? OSCOptions.settings(arguments))??.sendsOrientations ?? false else { return descriptions }
            for index in descriptions.indices where descriptions[index].hasOrientation {
                descriptions[index].entities.append(.recenter)
            }
        #endif
        return descriptions
    }

    /// What outputs cannot do with the settings of the devices, and what does nothing without an output.
    static func warnings(_ arguments: Arguments, _ plan: GatewayPlan) -> [String] {
        var warnings: [String] = []
        #if OSC
            let settings = (try? OSCOptions.settings(arguments)) ?? nil
            warnings = settings?.unused(plan.sendsOrientations).map { "osc: \($0)" } ?? []
            let recenters = plan.rules.flatMap(\.steps).contains { $0.text.hasPrefix("osc.recenter") }
            if recenters, !(settings?.sendsOrientations ?? false) {
                warnings.append("rules: osc.recenter does nothing: no orientation of a device is sent; see --osc")
            }
        #endif
        return warnings
    }

    /// Those that the options request. A port or a broker's queue that is in use is found before those are made that leave files.
    static func outputs(
        _ arguments: Arguments, _ commands: GatewayCommands, _ figures: FigureBoard
    ) throws(CommandError) -> [any EventOutput] {
        var outputs: [any EventOutput] = []
        #if MQTT
            if let output = try MQTTOptions.output(arguments, commands) { outputs.append(output) }
        #endif
        #if OSC
            if let output = try OSCOptions.output(arguments, commands) { outputs.append(output) }
        #endif
        #if LSL
            if let output = try LSLOptions.output(arguments) { outputs.append(output) }
        #endif
        // Without a reader nothing is counted.
        var readers: [any EventOutput] = []
        #if Web
            if let output = try WebOptions.output(arguments, commands, figures) { readers.append(output) }
        #endif
        #if Metrics
            if let output = try MetricsOptions.output(arguments, figures) { readers.append(output) }
        #endif
        if let output = try RecordingOptions.output(arguments) { outputs.append(output) }
        return outputs + readers + (readers.isEmpty ? [] : [figures])
    }
}
