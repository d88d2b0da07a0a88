// SPDX-License-Identifier: MIT
// Fjorden: the simulated grip of `tendon simulate fjorden`.
import CTendon
import Tendon
import TendonSupport

final class FjordenSimulation: SimulatedDevice<tendon_simulated_fjorden>, FamilySimulation {
    init(_ settings: SimulationSettings, number: Int) throws(CommandError) {
        try super.init(
            "grip", name: settings.name(of: number, usually: "Fjorden Grip Simulator"),
            firmware: settings.firmware(usually: "1.2.0"),
            device: { tendon_simulated_fjorden_device($0) }, actor: { tendon_simulated_fjorden_actor($0) }
        ) { pointer, name, firmware in
            var options = tendon_simulated_fjorden_options()
            options.flat_out = settings.flatOut
            options.hand = !settings.flatOut && settings.scenario == nil
            // A grip requires pairing by default.
            options.open = settings.saysPairing && settings.pairing == .none
            options.rejects_pairing = settings.pairing == .required
            options.event_limit = settings.notifications ?? 0
            options.name = name
            options.firmware = firmware
            return tendon_simulated_fjorden_init(pointer, &options)
        }
    }

    var server: CPointer<tendon_gatt_server> { block.member(\.server) }
    var notifications: UInt64 { block.pointer.pointee.counters.sent }

    var counters: JSON {
        let counters = block.pointer.pointee.counters
        return [
            "notifications": JSON(counters.notifications), "samples": JSON(counters.sent),
            "records": JSON(counters.records), "lost": JSON(counters.lost),
            "overwritten": JSON(counters.overwritten), "malformed": JSON(counters.malformed),
            "blocked": JSON(counters.blocked), "requests": JSON(counters.requests),
            "refused_writes": JSON(counters.refused_writes), "bonded": .bool(block.pointer.pointee.bonded),
        ]
    }

    /// Nothing that a client could not see.
    func writeTruth(_ line: (String) -> Bool) {}
}
