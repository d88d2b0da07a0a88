// SPDX-License-Identifier: MIT
// Activ5: its row of the table, and the values that `decode` and `encode` know.
import CTendon
import Tendon
import TendonActiv5
import TendonSupport

extension Family {
    static let activ5 = Family(
        name: "activ5", stream: Activ5Stream.self, simulation: Activ5Simulation.init,
        description: .activ5, sensors: ["force", "imu"],
        commands: [.activ5Force, .activ5IMU, .activ5Tare, .activ5Battery, .activ5Watch],
        decoded: [
            value(TENDON_ACTIV5_FORCE, "force", "force in newtons"),
            value(TENDON_ACTIV5_IMU, "imu", "acceleration in g, rotation in rad/s and time"),
            value(TENDON_ACTIV5_BATTERY, "battery", "charge in percent"),
            value(TENDON_ACTIV5_TEXT_OUTPUT, "text", "messages of the text protocol"),
        ],
        encoded: [
            EncodedValue(
                kind: "sample_rate", operands: "hz=RATE", summary: "the value of the sample rate, 1 to 32767 Hz"
            ) { (words) throws(CommandError) in
                let rate = try NamedValues(words, names: ["hz"]).number("hz", in: UInt16(1)...32767)
                return [UInt8(rate & 0xFF), UInt8(rate >> 8)]
            }
        ])

    private static func value(
        _ which: tendon_activ5_characteristic, _ kind: String, _ summary: String
    ) -> DecodedValue {
        DecodedValue(kind: kind, characteristic: tendon_uuid_from_u16(tendon_activ5_uuid(which)), summary: summary)
    }
}
