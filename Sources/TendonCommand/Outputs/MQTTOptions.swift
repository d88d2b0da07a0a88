// SPDX-License-Identifier: MIT
// The options of the MQTT output.
#if MQTT
    import CTendon
    import TendonMQTT
    import TendonOutputs
    import TendonSupport

    #if canImport(Glibc)
        import Glibc
    #else
        import Musl
    #endif

    enum MQTTOptions {
        /// Of all families: which of them has devices in range is not known yet.
        private static let sensors = Help.once(families.flatMap(\.sensors))

        private static func option(
            _ name: String, _ value: String?, _ help: String, key: String? = nil, choices: [String] = [],
            isList: Bool = false, standard: String? = nil, takes: ValueRule = .text, isPrivate: Bool = false
        ) -> Option {
            Option(
                name: name, value: value, help: help, choices: choices, isList: isList, standard: standard,
                takes: takes,
                setting: Setting(
                    "mqtt", key: key ?? String(name.dropFirst(7)), isFixed: true, isPrivate: isPrivate))
        }

        private static let broker = option(
            "--mqtt", "URL", "publish to this broker: mqtt://HOST[:PORT], or mqtts:// for TLS", key: "broker",
            takes: .parsed { (text) throws(CommandError) in _ = try settings(text) })
        private static let version = option(
            "--mqtt-version", "5|3.1.1", "MQTT version", choices: ["5", "3.1.1"], standard: "5")
        private static let user = option(
            "--mqtt-user", "NAME", "user name at the broker", isPrivate: true)
        private static let passwordFile = option(
            "--mqtt-password-file", "FILE", "the password is the first line of this file, which other users cannot read"
        )
        private static let authorities = option(
            "--mqtt-ca", "FILE", "trust these authorities (PEM) instead of those of the system")
        private static let certificate = option(
            "--mqtt-certificate", "FILE", "client certificate (PEM); needs --mqtt-key")
        private static let key = option(
            "--mqtt-key", "FILE", "key of the client certificate (PEM), which other users cannot read")
        private static let base = option("--mqtt-topic", "TOPIC", "first part of every topic", standard: "tendon")
        private static let gateway = option(
            "--mqtt-gateway", "NAME", "name of this gateway in topics and message ids; default: the name of the machine"
        )
        private static let discovery = option(
            "--mqtt-discovery", "TOPIC", "topic of Home Assistant's discovery, or none", standard: "homeassistant")
        private static let streams = option(
            "--mqtt-stream", "LIST", "publish samples of these sensors, separated by commas, or all, or none",
            choices: sensors + ["all", "none"], isList: true, standard: "none",
            takes: Option.words { (word) throws(CommandError) in
                guard (sensors + ["all", "none"]).contains(word) else {
                    throw .unknown("sensor", word, among: sensors)
                }
            })
        private static let rate = option(
            "--mqtt-stream-rate", "HZ", "messages per second of one sensor; further samples are left out",
            standard: "10", takes: .number(0.01...1000))
        private static let batch = option(
            "--mqtt-stream-batch", "MS", "all samples of this time in one message, instead of a rate; 0: off",
            standard: "0", takes: .milliseconds(0...60_000))
        private static let store = option(
            "--mqtt-stream-store", nil, "also queue stream messages while the broker is away")
        private static let share = option(
            "--mqtt-share", nil,
            "agree with the other gateways of the broker which one connects to a device that several receive")
        private static let interval = option(
            "--mqtt-state-interval", "MS", "shortest time between two states of a device", standard: "1000",
            takes: .milliseconds(50...3_600_000))
        private static let queue = option(
            "--mqtt-queue", "FILE",
            "messages wait in this file while the broker is away; default: mqtt-GATEWAY.db in $STATE_DIRECTORY, "
                + "$XDG_STATE_HOME/tendon or ~/.local/state/tendon")
        private static let limit = option(
            "--mqtt-queue-limit", "N", "messages that wait at most; the oldest is dropped for a new one",
            standard: "100000", takes: .integer(1...10_000_000))

        static let all = [
            broker, version, user, passwordFile, authorities, certificate, key, base, gateway, discovery, streams, rate,
            batch, store, interval, share, queue, limit,
        ]

        private static func settings(_ url: String) throws(CommandError) -> MQTTSettings {
            do throws(MQTTError) { return try MQTTSettings(url: url) } catch { throw .usage(error.text) }
        }

        /// All that can be wrong before a broker is asked. Nil: no broker is named.
        static func settings(_ arguments: Arguments) throws(CommandError) -> MQTTSettings? {
            guard let url = arguments.value(broker.name) else {
                if let other = all.first(where: { arguments.changes($0) }) {
                    throw .usage("\(other.name) needs --mqtt", next: "tendon run --mqtt mqtt://localhost")
                }
                return nil
            }
            var settings = try settings(url)
            settings.version = arguments.value(version.name) == "3.1.1" ? .threeOneOne : .five
            settings.user = arguments.value(user.name)
            guard settings.user != nil || !arguments.has(passwordFile.name) else {
                throw .usage("\(passwordFile.name) needs \(user.name)", next: "\(user.name) NAME")
            }
            settings.passwordFile = arguments.value(passwordFile.name)
            settings.caFile = arguments.value(authorities.name)
            settings.certificateFile = arguments.value(certificate.name)
            settings.keyFile = arguments.value(key.name)
            settings.base = arguments.value(base.name) ?? settings.base
            settings.gateway = arguments.value(gateway.name) ?? machineName
            let topic = arguments.value(discovery.name) ?? "homeassistant"
            settings.discovery = topic == "none" ? nil : topic
            settings.isCompact = !arguments.has(Option.exact.name)
            settings.streams = streams(arguments.value(streams.name) ?? "none")
            if settings.streams == .none, let other = [rate, batch, store].first(where: { arguments.changes($0) }) {
                throw .usage("\(other.name) needs \(streams.name)", next: "\(streams.name) all")
            }
            settings.streamRate = try arguments.number(rate) ?? settings.streamRate
            settings.streamBatch = try arguments.milliseconds(batch) ?? 0
            settings.storesStreams = arguments.has(store.name)
            settings.sharesDevices = arguments.has(share.name)
            settings.stateInterval = try arguments.milliseconds(interval).map(UInt64.init) ?? settings.stateInterval
            if let file = arguments.value(queue.name) { try SettingsCheck.checkFile(file, of: queue) }
            settings.queueLimit = try arguments.integer(limit) ?? settings.queueLimit
            do throws(MQTTError) { try settings.checkValues() } catch { throw .usage("MQTT: \(error.text)") }
            do throws(MQTTError) { try settings.check() } catch { throw CommandError(.failed, "MQTT: \(error.text)") }
            return settings
        }

        static func output(
            _ arguments: Arguments, _ commands: GatewayCommands
        ) throws(CommandError) -> (any EventOutput)? {
            guard var settings = try settings(arguments) else { return nil }
            do throws(MQTTError) {
                if let path = arguments.value(queue.name) {
                    settings.queuePath = path
                } else {
                    settings.queuePath = try standardQueue(settings.gateway)
                }
                return try MQTTOutput(
                    settings, families: OutputChoice.descriptions(arguments), version: TendonCommand.version,
                    handler: commands, report: { Log.write(.warning, "MQTT: \($0)") })
            } catch {
                throw CommandError(.failed, "MQTT: \(error.text)")
            }
        }

        private static func streams(_ text: String) -> MQTTSettings.Streams {
            let words = Set(listWords(text)).subtracting(["none"])
            if words.contains("all") { return .all }
            return words.isEmpty ? .none : .these(words)
        }

        /// Up to the first dot; what a topic cannot have becomes a dash.
        private static var machineName: String {
            var buffer = [CChar](repeating: 0, count: 256)
            gethostname(&buffer, buffer.count - 1)
            let name = String(decoding: buffer.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
            let clean = name.prefix { $0 != "." }.map { $0.isLetter || $0.isNumber || "-_".contains($0) ? $0 : "-" }
            return clean.isEmpty ? "gateway" : String(clean.prefix(32))
        }

        /// The directory is made if it is missing.
        private static func standardQueue(_ gateway: String) throws(MQTTError) -> String {
            let file = "mqtt-\(gateway).db"
            var path: String
            if let directory = environment("STATE_DIRECTORY"), !directory.isEmpty {
                path = "\(directory.prefix { $0 != ":" })/\(file)"
            } else if let directory = environment("XDG_STATE_HOME"), directory.hasPrefix("/") {
                path = "\(directory)/tendon/\(file)"
            } else if let home = environment("HOME"), home.hasPrefix("/"), home.count > 1 {
                path = "\(home)/.local/state/tendon/\(file)"
            } else {
                path = "/var/lib/tendon/\(file)"
            }
            guard let failure = WholeFile.makeFolders(above: path) else { return path }
            throw MQTTError(
                "no folder for messages that wait: \(sanitized(failure.folder)): \(text(strerror(failure.error))); "
                    + "--mqtt-queue names a file for them")
        }
    }
#endif
