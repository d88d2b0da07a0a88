// SPDX-License-Identifier: MIT
// feelSpace: the simulated belt of `tendon simulate feelspace`.
import CTendon
import Tendon
import TendonSupport

final class FeelspaceSimulation: FamilySimulation {
    private let block = CBlock<tendon_simulated_feelspace>()
    private let name: CText
    private var reported: UInt64 = 0

    init(_ settings: SimulationSettings, number: Int) throws(CommandError) {
        name = settings.name(of: number, usually: "naviGuertel SIM")
        var options = tendon_simulated_feelspace_options()
        options.generation = UInt8(settings.generation ?? 1)
        if let firmware = settings.firmware {
            guard let version = UInt16(firmware), version > 0 else {
                throw .usage("the firmware of a belt is a number, e.g. --firmware 52")
            }
            options.firmware = version
        }
        options.pairing_required = settings.pairing != .none
        options.pairing_mode = settings.pairing == .ready
        options.flat_out = settings.flatOut
        options.notification_limit = settings.notifications ?? 0
        options.name = name.pointer
        try SimulationSettings.check(tendon_simulated_feelspace_init(block.pointer, &options), "belt")
    }

    var device: tendon_peripheral_device { tendon_simulated_feelspace_device(block.pointer) }
    var actor: tendon_scenario_actor { tendon_simulated_feelspace_actor(block.pointer) }
    var server: CPointer<tendon_gatt_server> { block.member(\.server) }
    var notifications: UInt64 { block.pointer.pointee.counters.orientations }

    var counters: JSON {
        let belt = block.pointer.pointee
        let counters = belt.counters
        return [
            "notifications": JSON(counters.notifications), "orientations": JSON(counters.orientations),
            "lost": JSON(counters.notifications_lost), "malformed": JSON(counters.malformed),
            "blocked": JSON(counters.blocked), "keep_alives": JSON(counters.keep_alives),
            "answers": JSON(counters.answers), "disconnects": JSON(counters.disconnects),
            "writes": JSON(counters.writes),
            "taken": JSON(counters.taken), "ignored": JSON(counters.ignored),
            "refused_writes": JSON(counters.refused_writes), "vibrations": JSON(counters.vibrations),
            "signals": JSON(counters.signals), "mode": .string(text(tendon_feelspace_mode_name(belt.mode))),
            "default_intensity": JSON(belt.settings.intensity),
        ]
    }

    /// The commands since the last call, without keep-alive responses, and the state of the motors.
    func takeNews() -> [JSON] {
        var news: [JSON] = []
        let total = block.pointer.pointee.recorded
        let kept = UInt64(TENDON_SIMULATED_FEELSPACE_RECORDS)
        if total > reported + kept { reported = total - kept }
        while reported < total {
            if let record = tendon_simulated_feelspace_recorded(block.pointer, reported) {
                news.append(line(record.pointee))
            }
            reported += 1
        }
        return news
    }

    /// "mode app, vibrates: motor 4 (90°) 50 %".
    func words(of news: JSON) -> String? {
        guard case .array(let motors)? = news["motors"] else { return nil }
        let on = motors.enumerated().compactMap { motor, power -> String? in
            guard let power = power.integer, power > 0 else { return nil }
            return "motor \(motor) (\(fixed(Double(motor) * 360 / Double(motors.count), 0))°) \(power) %"
        }
        let mode = "mode \(news["mode"]?.string ?? "")"
        return mode + ", " + (on.isEmpty ? "no motor vibrates" : "vibrates: " + on.joined(separator: ", "))
    }

    private func line(_ record: tendon_simulated_feelspace_record) -> JSON {
        let count = min(Int(record.length), 20)
        let bytes = elements(of: record.bytes, 20, like: UInt8(0)).prefix(count)
        var motors = [UInt8](repeating: 0, count: Int(TENDON_SIMULATED_FEELSPACE_MOTORS))
        tendon_simulated_feelspace_motors(block.pointer, record.at, &motors)
        return [
            "characteristic": .string(String(record.characteristic, radix: 16)),
            "bytes": .string(hexText(bytes)), "length": JSON(record.length),
            "outcome": .string(text(tendon_simulated_feelspace_outcome_name(record.outcome))),
            "mode": .string(text(tendon_feelspace_mode_name(block.pointer.pointee.mode))),
            "motors": JSON(motors),
        ]
    }

    /// Nothing that a client could not see.
    func writeTruth(_ line: (String) -> Bool) {}
}
