// SPDX-License-Identifier: MIT
// The options of the metrics for operators.
#if Metrics
    import TendonMetrics
    import TendonOutputs
    import TendonSupport

    enum MetricsOptions {
        private static let file = Option(
            name: "--metrics-file", value: "FILE",
            help: "write OpenMetrics to this file, for a node exporter's textfile collector",
            takes: .file, setting: Setting("metrics", key: "file", isFixed: true))
        private static let interval = Option(
            name: "--metrics-interval", value: "SECONDS", help: "time from one writing of the file to the next",
            standard: "15", takes: .seconds(0.1...3600), setting: Setting("metrics", key: "interval", isFixed: true))

        static let all = [file, interval]

        /// Nil: no file is named.
        private static func path(_ arguments: Arguments) throws(CommandError) -> String? {
            guard let path = arguments.value(file.name) else {
                if arguments.changes(interval) {
                    throw .usage(
                        "\(interval.name) needs --metrics-file", next: "tendon run --metrics-file tendon.prom")
                }
                return nil
            }
            try SettingsCheck.checkFile(path, of: file)
            return path
        }

        static func check(_ arguments: Arguments) throws(CommandError) {
            if let path = try path(arguments) { try SettingsCheck.checkPlace(of: path) }
        }

        /// Nil: no file is named.
        static func output(
            _ arguments: Arguments, _ figures: FigureBoard
        ) throws(CommandError) -> (any EventOutput)? {
            guard let path = try path(arguments) else { return nil }
            let seconds = try arguments.number(interval) ?? 15
            do throws(MetricsError) {
                return try MetricsFile(
                    path, interval: UInt64(seconds * 1000),
                    report: { Log.write(.warning, "metrics: \($0)") },
                    compose: { Exposition.text(figures, version: TendonCommand.version) })
            } catch {
                throw CommandError(.failed, "metrics: \(error.text)")
            }
        }
    }
#endif
