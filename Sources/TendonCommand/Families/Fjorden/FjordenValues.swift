// SPDX-License-Identifier: MIT
// Fjorden: its row of the table, and the values that `decode` and `encode` know.
import CTendon
import Tendon
import TendonFjorden
import TendonSupport

extension Family {
    static let fjorden = Family(
        name: "fjorden", stream: FjordenStream.self, simulation: FjordenSimulation.init,
        description: .fjorden,
        commands: [.fjordenInfo, .fjordenWatch, .fjordenForget],
        decoded: [
            DecodedValue(kind: "event", characteristic: profile.event, summary: "events of a notification"),
            DecodedValue(
                kind: "control_state", characteristic: profile.state, summary: "shutter, dial, lever and fn button"),
            DecodedValue(
                kind: "battery", characteristic: tendon_uuid_from_u16(0x2A19), summary: "charge in percent"),
        ],
        encoded: [
            EncodedValue(
                kind: "led", operands: "mode=off|on|blinkSlow|blinkFast [duration_ms=0..65535] [request_id=0..255]",
                summary: "a request to the LED; duration_ms 0: until the next request"
            ) { (words) throws(CommandError) in
                let values = try NamedValues(words, names: ["mode", "duration_ms", "request_id"])
                let word = try values.text("mode")
                let mode = tendon_fjorden_led_mode_named(word, word.utf8.count)
                guard mode >= 0 else { throw .unknown("mode", word, among: ["off", "on", "blinkSlow", "blinkFast"]) }
                var command = tendon_fjorden_command()
                command.opcode = TENDON_FJORDEN_SET_LED
                command.request_id = try values.number("request_id", in: 0...255, default: 1)
                command.led_mode = UInt8(mode)
                command.led_duration_ms = try values.number("duration_ms", in: 0...65535, default: 0)
                return try EncodedValue.packet(capacity: Int(TENDON_FJORDEN_COMMAND_MAX)) {
                    tendon_fjorden_encode_command(&command, $0, $1)
                }
            }
        ])

    private static var profile: tendon_fjorden_profile {
        var profile = tendon_fjorden_profile()
        tendon_fjorden_profile_init(&profile)
        return profile
    }
}
