// SPDX-License-Identifier: MIT
// Activ5: what outputs show of a trainer.
import TendonOutputs

extension FamilyDescription {
    static let activ5 = FamilyDescription(
        family: "activ5", manufacturer: "Activbody", model: "Activ5", states: ["squeeze"],
        entities: [
            .battery,
            Entity("force", "Force", .sensor(path: "force.force_n", unit: "N")),
            Entity("squeezed", "Squeezed", .binary(path: "squeeze", on: "squeezed")),
            Entity(
                "squeeze", "Squeeze", .happening(event: "squeeze", member: "state", types: ["squeezed", "released"])),
            Entity(
                "double_squeeze", "Double squeeze",
                .happening(event: "double_squeeze", member: nil, types: ["double_squeeze"])),
            Entity("tare", "Tare", .button(payload: #"{"tare":true}"#)),
            Entity("start", "Start measuring", .button(payload: #"{"start":true}"#)),
            Entity("stop", "Stop measuring", .button(payload: #"{"stop":true}"#)),
        ])
}
