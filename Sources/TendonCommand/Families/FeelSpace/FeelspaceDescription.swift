// SPDX-License-Identifier: MIT
// feelSpace: what outputs show of a belt.
import TendonOutputs

extension FamilyDescription {
    static let feelspace = FamilyDescription(
        family: "feelspace", manufacturer: "feelSpace", model: "naviBelt",
        states: ["mode", "default_intensity", "heading_offset", "accuracy_signal", "navigation", "belt"],
        entities: [
            .battery,
            Entity("heading", "Heading", .sensor(path: "orientation.heading_deg", unit: "°")),
            Entity(
                "compass_accurate", "Compass accurate", .binary(path: "orientation.accurate", on: "true"),
                isDiagnostic: true),
            Entity("intensity", "Intensity", .sensor(path: "intensity_percent", unit: "%"), isDiagnostic: true),
            Entity(
                "button", "Button",
                .happening(
                    event: "button", member: "button", types: FeelspaceWords.buttons.map(\.name), deviceClass: "button")
            ),
            Entity("mode", "Mode", .choice(path: "mode", action: "mode", options: FeelspaceWords.modes.map(\.name))),
            Entity("vibrate", "Vibrate at", .number(path: nil, action: "vibrate", range: 0...359, unit: "°")),
            Entity("stop", "Stop vibration", .button(payload: #"{"stop":true}"#)),
        ]
            + FeelspaceWords.systemSignals.map { signal in
                Entity(
                    "signal_\(signal.name)", "Signal \(signal.name)", .button(payload: #"{"signal":"\#(signal.name)"}"#)
                )
            })
}
