// SPDX-License-Identifier: MIT
// The options of OSC and OpenTrack.
#if OSC
    import TendonOSC
    import TendonOutputs
    import TendonSupport

    enum OSCOptions {
        private static func option(
            _ name: String, _ value: String?, _ help: String, key: String, choices: [String] = [],
            standard: String? = nil, takes: ValueRule = .text, isRepeated: Bool = false
        ) -> Option {
            Option(
                name: name, value: value, help: help, choices: choices, standard: standard, takes: takes,
                setting: Setting("osc", key: key, isRepeated: isRepeated, isFixed: true))
        }

        private static let send = option(
            "--osc", "HOST:PORT/PRESET",
            "send samples there by UDP: 127.0.0.1:7000/iem; presets: "
                + OSCDestination.presets.map { "\($0.name) (\($0.summary))" }.joined(separator: ", ")
                + "; without a preset raw; HOST:PORT/PRESET/DEVICE: of this device only", key: "send",
            takes: .parsed { (text) throws(CommandError) in
                // Address and map of the preset custom are known when all of the settings are.
                _ = try checked { () throws(OSCError) in try OSCDestination(text, custom: ("/", "yaw")) }
            }, isRepeated: true)
        private static let address = option(
            "--osc-address", "ADDRESS", "the address of the preset custom, such as /head/ypr", key: "address",
            takes: .parsed { (text) throws(CommandError) in
                try checked { () throws(OSCError) in try OSCDestination.check(address: text) }
            })
        private static let map = option(
            "--osc-map", "MAP",
            "the numbers of the preset custom: w, x, y, z, yaw, pitch, roll, 0 with commas between them, each with - "
                + "before it if its sign changes; scene: before all: the rotation of the scene, such as "
                + "scene:w,x,y,z or -yaw,pitch,-roll", key: "map",
            takes: .parsed { (text) throws(CommandError) in
                _ = try checked { () throws(OSCError) in try OSCDestination.map(text) }
            })
        private static let rate = option(
            "--osc-rate", "N", "send at most N orientations per second of a device; 0: all of them", key: "rate",
            standard: "0", takes: .integer(0...1000))
        private static let smoothing = option(
            "--osc-smoothing", "MS",
            "smooth orientations by a low pass of this time constant, which delays them by as much; 0: not",
            key: "smoothing", standard: "0", takes: .milliseconds(0...10_000))
        private static let recenter = option(
            "--osc-recenter", "full|yaw",
            "what recentering changes: full: yaw, pitch and roll; yaw: the yaw alone, pitch and roll stay those of "
                + "gravity", key: "recenter", choices: ["full", "yaw"], standard: "full")
        private static let listen = option(
            "--osc-in", "PORT",
            "take /tendon/NAME/ACTION and /tendon/recenter on this port of this machine; ADDRESS:PORT: also from others",
            key: "listen",
            takes: .parsed { (text) throws(CommandError) in
                _ = try checked { () throws(OSCError) in try OSCListener(text) }
            })

        static let all = [send, address, map, rate, smoothing, recenter, listen]

        private static func checked<Result>(
            _ body: () throws(OSCError) -> Result
        ) throws(CommandError) -> Result {
            do throws(OSCError) { return try body() } catch { throw .usage(error.text) }
        }

        /// All that can be wrong before a socket is opened. Nil: nothing is sent or received.
        static func settings(_ arguments: Arguments) throws(CommandError) -> OSCSettings? {
            let texts = arguments.all(send.name)
            let listener = try arguments.value(listen.name).map { (text) throws(CommandError) in
                try checked { () throws(OSCError) in try OSCListener(text) }
            }
            guard !texts.isEmpty else {
                if let other = [address, map, rate, smoothing, recenter].first(where: { arguments.changes($0) }) {
                    throw .usage("\(other.name) needs --osc", next: "tendon run --osc 127.0.0.1:7000/iem")
                }
                return listener.map { OSCSettings([], listener: $0) }
            }
            let custom = try custom(arguments, texts)
            var destinations: [OSCDestination] = []
            for text in texts {
                let destination = try checked { () throws(OSCError) in try OSCDestination(text, custom: custom) }
                destinations.append(destination)
            }
            var settings = OSCSettings(destinations, listener: listener)
            settings.rate = try arguments.integer(rate) ?? 0
            settings.smoothing =
                try arguments.value(smoothing.name).map { (text) throws(CommandError) in
                    try milliseconds(text, in: 0...10_000, called: smoothing.name)
                } ?? 0
            settings.recentersYawOnly = arguments.value(recenter.name) == "yaw"
            return settings
        }

        /// Both or none; with them a destination that uses them.
        private static func custom(
            _ arguments: Arguments, _ destinations: [String]
        ) throws(CommandError) -> (address: String, map: String)? {
            let (place, numbers) = (arguments.value(address.name), arguments.value(map.name))
            guard let place, let numbers else {
                guard place == nil, numbers == nil else {
                    let (given, lacking) = place == nil ? (map, address) : (address, map)
                    throw .usage("\(given.name) needs \(lacking.name), and a destination with the preset custom")
                }
                return nil
            }
            guard destinations.contains(where: { $0.split(separator: "/").dropFirst().first == "custom" }) else {
                throw .usage(
                    "\(address.name) is of the preset custom, and no --osc names it",
                    next: "tendon run --osc 127.0.0.1:9000/custom --osc-address /head --osc-map yaw,pitch,roll")
            }
            return (place, numbers)
        }

        static func output(
            _ arguments: Arguments, _ commands: GatewayCommands
        ) throws(CommandError) -> (any EventOutput)? {
            guard let settings = try settings(arguments) else { return nil }
            do throws(OSCError) {
                return try OSCOutput(
                    settings, handler: commands, family: { try? familyName($0) },
                    report: { Log.write(.warning, "osc: \($0)") })
            } catch {
                throw CommandError(
                    .failed, "osc: \(error.text)", next: error.isPortInUse ? "another port: \(listen.name) PORT" : nil)
            }
        }
    }
#endif
