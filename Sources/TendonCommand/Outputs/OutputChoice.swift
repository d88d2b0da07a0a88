// SPDX-License-Identifier: MIT
// The outputs of `run` and `stream` beside standard output, by package traits: a new output adds its options and a line.
import TendonOutputs
import TendonSupport

enum OutputChoice {
    static let options: [Option] = {
        var options: [Option] = []
        #if MQTT
            options += MQTTOptions.all
        #endif
        #if Metrics
            options += MetricsOptions.all
        #endif
        #if Web
            options += WebOptions.all
        #endif
        return options
    }()

    /// What `run` would refuse about the outputs, by the same code; nothing is opened.
    static func check(_ arguments: Arguments) throws(CommandError) {
        #if MQTT
            _ = try MQTTOptions.settings(arguments)
        #endif
        #if Web
            _ = try WebOptions.settings(arguments)
        #endif
        #if Metrics
            try MetricsOptions.check(arguments)
        #endif
    }

    /// Those that the options request.
    static func outputs(
        _ arguments: Arguments, _ commands: GatewayCommands, _ figures: FigureBoard
    ) throws(CommandError) -> [any EventOutput] {
        var outputs: [any EventOutput] = []
        #if MQTT
            if let output = try MQTTOptions.output(arguments, commands) { outputs.append(output) }
        #endif
        let others = outputs.count
        #if Metrics
            if let output = try MetricsOptions.output(arguments, figures) { outputs.append(output) }
        #endif
        #if Web
            if let output = try WebOptions.output(arguments, commands, figures) { outputs.append(output) }
        #endif
        // Without a reader nothing is counted.
        if outputs.count > others { outputs.append(figures) }
        return outputs
    }
}
