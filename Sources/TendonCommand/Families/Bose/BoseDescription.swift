// SPDX-License-Identifier: MIT
// Bose: what outputs show of a wearable.
import TendonOutputs

extension FamilyDescription {
    static let bose = FamilyDescription(
        family: "bose", manufacturer: "Bose", model: "AR wearable",
        states: ["suspended", "resumed", "device_information"],
        entities: [
            Entity("pitch", "Pitch", .sensor(path: "rotation.pitch_deg", unit: "°")),
            Entity("roll", "Roll", .sensor(path: "rotation.roll_deg", unit: "°")),
            Entity("yaw", "Yaw", .sensor(path: "rotation.yaw_deg", unit: "°")),
            Entity(
                "gesture", "Gesture", .happening(event: "gesture", member: "gesture", types: BoseNames.gestures)),
        ], hasOrientation: true)
}
