// SPDX-License-Identifier: MIT
// Activ5: the simulated trainer of `tendon simulate activ5`.
import CTendon
import Tendon
import TendonSupport

final class Activ5Simulation: SimulatedDevice<tendon_simulated_activ5>, FamilySimulation {
    init(_ settings: SimulationSettings, number: Int) throws(CommandError) {
        // The name of a trainer contains its number.
        let usual = "ACTIV5-AC-" + String("\(10001 + number)".dropFirst())
        try super.init(
            "trainer", name: settings.name == nil ? CText(usual) : settings.name(of: number, usually: usual),
            firmware: settings.firmware(usually: "1.00"),
            device: { tendon_simulated_activ5_device($0) }, actor: { tendon_simulated_activ5_actor($0) }
        ) { pointer, name, version in
            var options = tendon_simulated_activ5_options()
            options.legacy = settings.legacy
            options.flat_out = settings.flatOut
            options.force_period_ms = UInt16(settings.period ?? 0)
            options.notification_limit = settings.notifications ?? 0
            options.name = name
            options.version = version
            return tendon_simulated_activ5_init(pointer, &options)
        }
    }

    var server: CPointer<tendon_gatt_server> { block.member(\.server) }
    var notifications: UInt64 { block.pointer.pointee.counters.notifications }

    var counters: JSON {
        let counters = block.pointer.pointee.counters
        return [
            "notifications": JSON(counters.notifications), "samples": JSON(counters.force + counters.motion),
            "force": JSON(counters.force), "motion": JSON(counters.motion), "malformed": JSON(counters.malformed),
            "texts": JSON(counters.texts), "texts_lost": JSON(counters.texts_lost),
            "blocked": JSON(counters.blocked), "commands": JSON(counters.commands), "stops": JSON(counters.stops),
            "refused_writes": JSON(counters.refused_writes), "switch_offs": JSON(counters.switch_offs),
            "device_time_ms": JSON(block.pointer.pointee.device_ms),
        ]
    }

    /// The true force and roll at every millisecond of the script.
    func writeTruth(_ line: (String) -> Bool) {
        for time in 0..<UInt64(TENDON_SIMULATED_ACTIV5_SCRIPT_MS) {
            let truth: JSON = [
                "device_time_ms": JSON(time),
                "force_n": .real(tendon_simulated_activ5_newtons(tendon_simulated_activ5_script(time))),
                "roll_deg": .real(tendon_simulated_activ5_roll(time) * 180 / .pi),
            ]
            guard line(LineWriter.text(truth)) else { return }
        }
    }
}
