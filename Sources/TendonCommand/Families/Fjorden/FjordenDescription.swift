// SPDX-License-Identifier: MIT
// Fjorden: what outputs show of a grip.
import TendonOutputs

extension FamilyDescription {
    static let fjorden = FamilyDescription(
        family: "fjorden", manufacturer: "Fjorden", model: "Camera grip",
        entities: [
            .battery,
            Entity(
                "battery_low", "Battery low", .binary(path: "battery_low", on: "true", deviceClass: "battery"),
                isDiagnostic: true),
            Entity(
                "grip", "Controls",
                .happening(
                    event: "grip", member: "grip_event",
                    types: FjordenStream.happenings.first { $0.name == "event" }?.details ?? [], deviceClass: "button")),
        ]
            + ["off", "on", "blinkSlow", "blinkFast"].map { mode in
                Entity("led_\(mode.lowercased())", "LED \(mode)", .button(payload: #"{"led":"\#(mode)"}"#))
            })
}
