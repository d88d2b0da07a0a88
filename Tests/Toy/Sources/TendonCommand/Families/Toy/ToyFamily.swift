// SPDX-License-Identifier: MIT
// Toy: its row of the table, its stream, its simulation.
import CTendon
import Tendon
import TendonSupport
import TendonToy

extension Family {
    static let toy = Family(
        name: "toy", stream: ToyStream.self, simulation: ToySimulation.init,
        decoded: [
            DecodedValue(
                kind: "level", characteristic: tendon_uuid_from_u16(UInt16(TENDON_TOY_LEVEL)),
                summary: "sequence number and level in percent")
        ])
}

struct ToyStream: FamilyStream {
    static let options: [Option] = []
    static let happenings: [RuleEvent] = []
    static let actions: [RuleAction] = []

    init(_ arguments: Arguments) throws(CommandError) {}

    @TendonActor
    func server(of device: ServedDevice) async -> any DeviceServer { ToyServer(device) }
}

@TendonActor
private final class ToyServer: DeviceServer {
    let served: ServedDevice
    private var toy: Toy?
    private var levels: EventSequence<ToyLevel>?

    init(_ served: ServedDevice) { self.served = served }

    func open() async throws(ServingError) {
        do throws(TendonError) {
            let toy = try await Toy.open(served.address, on: served.central)
            levels = toy.levels(capacity: served.settings.capacity)
            self.toy = toy
        } catch {
            throw error.isCancelled ? .cancelled : .failed(error.text, canRetry: true)
        }
    }

    var identity: JSON { [:] }

    func stream() async -> Ending {
        guard let toy, let levels else { return .lost }
        var iterator = levels.makeAsyncIterator()
        while let level = try? await iterator.next() {
            served.event("level") { line in
                line.member("sequence", level.sequence)
                line.member("percent", level.percent)
            }
            served.update { row in
                row.counters.notifications += 1
                row.counters.samples += 1
                row.counters.delivered += 1
            }
            served.stopAtLimit()
        }
        toy.close()
        return Task.isCancelled ? .requested : .lost
    }
}

final class ToySimulation: FamilySimulation {
    private let block = CBlock<tendon_simulated_toy>()
    private let name: CText

    init(_ settings: SimulationSettings, number: Int) throws(CommandError) {
        name = settings.name(of: number, usually: "Toy")
        try SimulationSettings.check(
            tendon_simulated_toy_init(block.pointer, name.pointer, settings.notifications ?? 0), "toy")
    }

    var device: tendon_peripheral_device { tendon_simulated_toy_device(block.pointer) }
    var actor: tendon_scenario_actor { tendon_simulated_toy_actor(block.pointer) }
    var server: CPointer<tendon_gatt_server> { block.member(\.server) }
    var notifications: UInt64 { block.pointer.pointee.notifications }
    var counters: JSON { ["notifications": JSON(notifications), "samples": JSON(notifications)] }

    /// Nothing that a client could not see.
    func writeTruth(_ line: (String) -> Bool) {}
}
