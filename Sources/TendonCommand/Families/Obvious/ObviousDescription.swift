// SPDX-License-Identifier: MIT
// Obvious: what outputs show of a device. Its features are members of the state; which there are, differs by product.
import TendonOutputs

extension FamilyDescription {
    static let obvious = FamilyDescription(
        family: "obvious", manufacturer: "Obvious", model: "Platform device",
        states: ["feature", "firmware_check", "progress", "protocol", "update"],
        entities: [
            .battery,
            Entity(
                "firmware", "Firmware",
                .firmware(installed: "firmware", latest: "available", install: #"{"firmware":"upgrade"}"#)),
            Entity(
                "feature", "Feature",
                .happening(
                    event: "feature", member: "state",
                    types: ObviousStream.happenings.first { $0.name == "feature" }?.details ?? [])),
        ])
}
