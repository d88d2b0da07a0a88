// SPDX-License-Identifier: MIT
// The simulated device of a file.
import CTendon
import Tendon
import TendonSupport

final class DefinedSimulation: FamilySimulation {
    private let block = CBlock<tendon_simulated_defined>()
    private let definition: Definition
    private let name: CText?
    private var reported: UInt64 = 0

    init(_ definition: Definition, _ settings: SimulationSettings, number: Int) throws(CommandError) {
        self.definition = definition
        let wanted = definition.word(definition.pointer.pointee.find.name)
        let usual = wanted.map { $0.hasSuffix("*") ? String($0.dropLast()) : $0 }
        // Of several with the one name that `find` means, addresses tell them apart.
        let isOneName = wanted.map { !$0.hasSuffix("*") } ?? false
        name =
            settings.name == nil && (settings.count == 1 || isOneName)
            ? nil : settings.name(of: number, usually: usual ?? definition.title)
        var options = tendon_simulated_defined_options()
        options.name = name.map { UnsafePointer($0.pointer) }
        options.notification_limit = settings.notifications ?? 0
        options.period_ms = UInt32(settings.period ?? 0)
        try SimulationSettings.check(
            tendon_simulated_defined_init(block.pointer, definition.pointer, &options), definition.title)
    }

    var device: tendon_peripheral_device { tendon_simulated_defined_device(block.pointer) }
    var actor: tendon_scenario_actor { tendon_simulated_defined_actor(block.pointer) }
    var server: CPointer<tendon_gatt_server> { block.member(\.server) }
    var notifications: UInt64 { block.pointer.pointee.notifications }

    var counters: JSON {
        let device = block.pointer.pointee
        return [
            "notifications": JSON(device.notifications), "samples": JSON(device.notifications),
            "writes": JSON(device.writes), "refused_writes": JSON(device.refused_writes),
        ]
    }

    /// What was written last.
    func takeNews() -> [JSON] {
        let device = block.pointer.pointee
        guard device.writes != reported else { return [] }
        reported = device.writes
        let bytes: [UInt8] = elements(of: device.written.bytes, Int(device.written.length))
        let row = definition.rows[Int(device.written.row)]
        return [["characteristic": .string(definition.word(row.name) ?? ""), "bytes": .string(hexText(bytes))]]
    }

    /// The values are those of the file.
    func writeTruth(_ line: (String) -> Bool) {}
}
