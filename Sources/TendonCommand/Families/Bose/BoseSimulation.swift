// SPDX-License-Identifier: MIT
// Bose: the simulated wearable of `tendon simulate bose`.
import CTendon
import Tendon
import TendonSupport

final class BoseSimulation: SimulatedDevice<tendon_simulated_bose>, FamilySimulation {
    init(_ settings: SimulationSettings, number: Int) throws(CommandError) {
        try super.init(
            "wearable", name: settings.name(of: number, usually: "LE-Bose Frames"),
            firmware: settings.firmware(usually: "1.0.0"),
            device: { tendon_simulated_bose_device($0) }, actor: { tendon_simulated_bose_actor($0) }
        ) { pointer, name, firmware in
            var options = tendon_simulated_bose_frames()
            options.flat_out = settings.flatOut
            options.pairing_required = settings.pairing != .none
            options.pairing_enabled = settings.pairing == .ready
            options.notification_limit = settings.notifications ?? 0
            options.legacy_gesture_information = settings.legacy
            options.name = name
            options.firmware = firmware
            return tendon_simulated_bose_init(pointer, &options)
        }
    }

    var server: CPointer<tendon_gatt_server> { block.member(\.server) }
    var notifications: UInt64 { block.pointer.pointee.counters.notifications }

    var counters: JSON {
        let counters = block.pointer.pointee.counters
        return [
            "notifications": JSON(counters.notifications), "samples": JSON(counters.samples),
            "malformed": JSON(counters.malformed), "gestures": JSON(counters.gestures),
            "gestures_lost": JSON(counters.gestures_lost), "blocked": JSON(counters.blocked),
            "configuration_writes": JSON(counters.configuration_writes),
            "refused_writes": JSON(counters.refused_writes), "device_time_ms": JSON(block.pointer.pointee.device_ms),
        ]
    }

    /// The script's period, in milliseconds of the device's clock.
    static let scriptPeriod = 20_000

    /// The true head angles at every millisecond of the motion script.
    func writeTruth(_ line: (String) -> Bool) {
        for time in 0..<BoseSimulation.scriptPeriod {
            let pose = tendon_simulated_bose_pose(UInt64(time))
            let degrees = 180 / Double.pi
            let truth: JSON = [
                "device_time_ms": JSON(time), "pitch_deg": .real(pose.pitch * degrees),
                "roll_deg": .real(pose.roll * degrees), "yaw_deg": .real(pose.yaw * degrees),
            ]
            guard line(LineWriter.text(truth)) else { return }
        }
    }
}
