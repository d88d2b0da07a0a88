// SPDX-License-Identifier: MIT
// OpenMetrics text 1.0. It is also valid in the older Prometheus text format, which a node exporter's textfile collector
// reads: no types that only OpenMetrics has, no timestamps.
import TendonOutputs
import TendonSupport

package enum Exposition {
    package static let contentType = "application/openmetrics-text; version=1.0.0; charset=utf-8"

    /// All figures, and those of this process.
    package static func text(_ source: any FigureSource, version: String) -> [UInt8] {
        let build = Metric(
            "tendon_build_info", .gauge, "1; the version is a label.", [Metric.Sample(1, [("version", version)])])
        return text([build] + ProcessFigures.metrics() + source.metrics() + devices(source.deviceFigures()))
    }

    package static func text(_ metrics: [Metric]) -> [UInt8] {
        var text = ""
        for metric in metrics where !metric.samples.isEmpty {
            text += "# TYPE \(metric.name) \(metric.kind.rawValue)\n"
            if let unit = metric.unit { text += "# UNIT \(metric.name) \(unit)\n" }
            text += "# HELP \(metric.name) \(escaped(metric.help))\n"
            for sample in metric.samples {
                text += metric.name + (metric.kind == .counter ? "_total" : "")
                if !sample.labels.isEmpty {
                    let labels = sample.labels.map { "\($0.name)=\"\(escaped($0.value))\"" }
                    text += "{\(labels.joined(separator: ","))}"
                }
                text += " \(number(sample.value))\n"
            }
        }
        return Array((text + "# EOF\n").utf8)
    }

    /// Quotes too: OpenMetrics escapes them in help as well as in labels.
    private static func escaped(_ text: String) -> String {
        var result = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\\": result += "\\\\"
            case "\"": result += "\\\""
            case "\n": result += "\\n"
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result
    }

    private static func number(_ value: Double) -> String {
        if value.isNaN { return "NaN" }
        if value.isInfinite { return value < 0 ? "-Inf" : "+Inf" }
        return Int64(exactly: value).map { "\($0)" } ?? "\(value)"
    }

    // MARK: Devices

    private static func devices(_ all: [DeviceFigures]) -> [Metric] {
        func metric(
            _ name: String, _ kind: Metric.Kind, unit: String? = nil, _ help: String,
            _ value: (DeviceFigures) -> Double?
        ) -> Metric {
            Metric(
                "tendon_device_" + name, kind, unit: unit, help,
                all.compactMap { figures in value(figures).map { Metric.Sample($0, labels(figures.device)) } })
        }
        let ends = all.flatMap { figures in
            figures.disconnections.sorted { $0.key < $1.key }.map {
                Metric.Sample(Double($0.value), labels(figures.device) + [("reason", $0.key)])
            }
        }
        return [
            metric("connected", .gauge, "1: the device is connected.") { $0.isConnected ? 1 : 0 },
            metric("notifications", .counter, "Sensor notifications that were received and decoded.") {
                Double($0.notifications)
            },
            metric("samples", .counter, unit: "samples", "Samples in the notifications.") { Double($0.samples) },
            metric(
                "dropped_samples", .counter, unit: "samples", "Samples that were dropped because the output was slow."
            ) { Double($0.dropped) },
            metric("malformed_values", .counter, unit: "values", "Values that the decoder rejected.") {
                Double($0.malformed)
            },
            metric("reconnections", .counter, "Connections after the first one.") { Double($0.reconnections) },
            metric("failed_connections", .counter, unit: "connections", "Attempts to connect that failed.") {
                Double($0.failedConnections)
            },
            Metric(
                "tendon_device_disconnections", .counter, "Connections that ended, by the reason of docs/events.md.",
                ends),
            metric("rssi_dbm", .gauge, unit: "dbm", "Signal strength of the newest advertisement.") {
                $0.signal.map(Double.init)
            },
            metric("battery_ratio", .gauge, unit: "ratio", "Battery level, 0 to 1.") {
                $0.battery.map { Double($0) / 100 }
            },
        ]
    }

    private static func labels(_ device: OutputDevice) -> [(name: String, value: String)] {
        [
            ("family", device.family), ("address", device.address), ("address_type", device.addressType),
            ("name", device.name ?? ""),
        ]
    }
}
