// SPDX-License-Identifier: MIT
// feelSpace: its row of the table, and the values that `decode` and `encode` know.
import CTendon
import Tendon
import TendonFeelSpace
import TendonSupport

extension Family {
    static let feelspace = Family(
        name: "feelspace", stream: FeelspaceStream.self,
        simulation: FeelspaceSimulation.init,
        description: .feelspace, sensors: ["orientation"],
        commands: [
            .feelspaceVibrate, .feelspaceNavigate, .feelspaceSignal, .feelspaceIntensity, .feelspaceMode,
            .feelspaceStop, .feelspaceWatch,
        ],
        decoded: [
            value(TENDON_FEELSPACE_BUTTON_PRESS, "button", "a press of a button and the mode after it"),
            value(TENDON_FEELSPACE_BATTERY_STATUS, "battery", "charge in percent, power and time"),
            value(TENDON_FEELSPACE_ORIENTATION_DATA, "orientation", "heading in degrees and its accuracy"),
            value(TENDON_FEELSPACE_PARAMETER_NOTIFICATION, "parameter", "the value of a parameter"),
            value(TENDON_FEELSPACE_FIRMWARE_INFO, "firmware", "version and variant"),
        ],
        encoded: [
            EncodedValue(
                kind: "vibration",
                operands: "angle=DEGREES|bearing=DEGREES [channel=0..5] [pattern=NAME] [intensity=PERCENT] "
                    + "[iterations=N] [period_ms=MS]",
                summary: "a vibration of one channel", encode: vibration),
            EncodedValue(
                kind: "mode", operands: "mode=" + FeelspaceWords.modes.map(\.name).joined(separator: "|"),
                summary: "the request of a mode"
            ) { (words) throws(CommandError) in
                let word = try NamedValues(words, names: ["mode"]).text("mode")
                let mode = try FeelspaceWords.find(word, FeelspaceWords.modes, "mode")
                return try packet { tendon_feelspace_encode_set_mode(Int32(mode.rawValue), $0, $1) }
            },
            EncodedValue(
                kind: "default_intensity", operands: "percent=5..100", summary: "the default intensity, in percent"
            ) { (words) throws(CommandError) in
                let percent = try NamedValues(words, names: ["percent"]).number("percent", in: Int32(5)...100)
                return try packet { tendon_feelspace_encode_set_default_intensity(percent, true, $0, $1) }
            },
        ])

    @Sendable private static func vibration(_ words: [String]) throws(CommandError) -> [UInt8] {
        let values = try NamedValues(
            words, names: ["angle", "bearing", "channel", "pattern", "intensity", "iterations", "period_ms"])
        var channel = tendon_feelspace_channel()
        channel.channel = try values.number("channel", in: 0...5, default: 1)
        channel.intensity = try values.has("intensity") ? values.number("intensity", in: 0...100) : -1
        channel.iterations = try values.has("iterations") ? values.number("iterations", in: 1...255) : -1
        channel.period_ms = try values.number("period_ms", in: 1...65535, default: 500)
        let pattern = try values.has("pattern") ? values.text("pattern") : "continuous"
        channel.pattern = Int32(try FeelspaceWords.find(pattern, FeelspaceWords.patterns, "pattern").rawValue)
        guard values.has("angle") != values.has("bearing") else { throw .usage("either angle or bearing") }
        let isBearing = values.has("bearing")
        channel.orientation = try values.number(isBearing ? "bearing" : "angle", in: Int32.min...Int32.max)
        channel.orientation_type = Int32((isBearing ? FSOrientationType.magneticBearing : .angle).rawValue)
        return try packet {
            tendon_feelspace_encode_channel(&channel, TENDON_FEELSPACE_CHANNELS_EXTENDED, $0, $1)
        }
    }

    private static func packet(
        _ encode: (UnsafeMutablePointer<UInt8>, Int) -> tendon_status
    ) throws(CommandError) -> [UInt8] {
        try EncodedValue.packet(capacity: Int(TENDON_FEELSPACE_PACKET_MAX), encode)
    }

    private static func value(
        _ which: tendon_feelspace_characteristic, _ kind: String, _ summary: String
    ) -> DecodedValue {
        DecodedValue(kind: kind, characteristic: tendon_uuid_from_u16(UInt16(which.rawValue)), summary: summary)
    }
}
