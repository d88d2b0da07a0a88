// SPDX-License-Identifier: MIT
// The text of OpenMetrics 1.0 (https://prometheus.io/docs/specs/om/open_metrics_spec/), character by character.
import TendonOutputs
import Testing

@testable import TendonMetrics

@Suite struct ExpositionTests {
    private func text(_ metrics: [Metric]) -> String { String(decoding: Exposition.text(metrics), as: UTF8.self) }

    @Test func kindsUnitsAndLabels() {
        #expect(text([]) == "# EOF\n")
        // A counter's samples end with _total; a metric without samples is left out.
        #expect(
            text([
                Metric("a_bytes", .counter, unit: "bytes", "Help.", 3), Metric("none", .gauge, "Help.", []),
                Metric("b", .gauge, "A \"b\" \\ c\nd.", [Metric.Sample(1.5, [("x", "1"), ("y", "a\"\\\nb")])]),
            ]) == """
                # TYPE a_bytes counter
                # UNIT a_bytes bytes
                # HELP a_bytes Help.
                a_bytes_total 3
                # TYPE b gauge
                # HELP b A \\"b\\" \\\\ c\\nd.
                b{x="1",y="a\\"\\\\\\nb"} 1.5
                # EOF

                """)
    }

    @Test(arguments: [
        (0.0, "0"), (-1, "-1"), (0.25, "0.25"), (.nan, "NaN"), (.infinity, "+Inf"), (-.infinity, "-Inf"),
        (1e15, "1000000000000000"), (1e300, "1e+300"),
    ])
    func numbers(value: Double, expected: String) {
        #expect(text([Metric("a", .gauge, "H.", value)]).contains("\na \(expected)\n"))
    }

    private struct Source: FigureSource {
        var figures: [DeviceFigures]
        func deviceFigures() -> [DeviceFigures] { figures }
        func metrics() -> [Metric] { [Metric("of_the_gateway", .gauge, "H.", 7)] }
    }

    @Test func figuresOfADevice() {
        var figures = DeviceFigures(
            OutputDevice(family: "bose", address: "C0:01", addressType: "random", name: "Frames"))
        figures.isConnected = true
        (figures.notifications, figures.samples, figures.delivered, figures.dropped) = (11, 12, 13, 14)
        (figures.malformed, figures.reconnections, figures.failedConnections) = (15, 16, 17)
        figures.disconnections = ["timeout": 2, "local": 1]
        (figures.signal, figures.battery) = (-61, 45)
        let other = DeviceFigures(OutputDevice(family: "activ5", address: "C0:02", addressType: "public"))
        let lines = String(
            decoding: Exposition.text(Source(figures: [figures, other]), version: "1.2"), as: UTF8.self
        ).split(separator: "\n").map(String.init)
        #expect(lines.contains(#"tendon_build_info{version="1.2"} 1"#))
        #expect(lines.contains("of_the_gateway 7"))
        let one = #"family="bose",address="C0:01",address_type="random",name="Frames""#
        let two = #"family="activ5",address="C0:02",address_type="public",name="""#
        #expect(
            lines.filter { $0.hasPrefix("tendon_device_") } == [
                "tendon_device_connected{\(one)} 1", "tendon_device_connected{\(two)} 0",
                "tendon_device_notifications_total{\(one)} 11", "tendon_device_notifications_total{\(two)} 0",
                "tendon_device_samples_total{\(one)} 12", "tendon_device_samples_total{\(two)} 0",
                "tendon_device_dropped_samples_total{\(one)} 14", "tendon_device_dropped_samples_total{\(two)} 0",
                "tendon_device_malformed_values_total{\(one)} 15", "tendon_device_malformed_values_total{\(two)} 0",
                "tendon_device_reconnections_total{\(one)} 16", "tendon_device_reconnections_total{\(two)} 0",
                "tendon_device_failed_connections_total{\(one)} 17",
                "tendon_device_failed_connections_total{\(two)} 0",
                #"tendon_device_disconnections_total{\#(one),reason="local"} 1"#,
                #"tendon_device_disconnections_total{\#(one),reason="timeout"} 2"#,
                "tendon_device_rssi_dbm{\(one)} -61", "tendon_device_battery_ratio{\(one)} 0.45",
            ])
    }
}
