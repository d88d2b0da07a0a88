// SPDX-License-Identifier: MIT
// The outputs of `run` and `stream` beside standard output, by package traits: a new output adds its options and a line.
import TendonOutputs
import TendonSupport

enum OutputChoice {
    #if MQTT
        static let options = MQTTOptions.all
    #else
        static let options: [Option] = []
    #endif

    /// Those that the options request.
    static func outputs(
        _ arguments: Arguments, _ commands: GatewayCommands
    ) throws(CommandError) -> [any EventOutput] {
        var outputs: [any EventOutput] = []
        #if MQTT
            if let output = try MQTTOptions.output(arguments, commands) { outputs.append(output) }
        #endif
        return outputs
    }
}
