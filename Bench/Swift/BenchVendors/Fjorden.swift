// SPDX-License-Identifier: MIT
import BenchPeer
import Tendon
import TendonFjorden

/// Events of a grip as the vendor has them, and as records.
let fjordenSequences: [VendorSequence] = [
    VendorSequence(name: "fjorden_events") { radio, count in
        try await fjorden(radio) { grip in await consume(grip.subscribeToGripEvents(), count: count) }
    },
    VendorSequence(name: "fjorden_records") { radio, count in
        try await fjorden(radio) { grip in await consume(grip.records(), count: count) }
    },
]

@TendonActor
private func fjorden(
    _ radio: RadioChoice, _ body: @TendonActor (ConnectedGrip) async throws -> (heap: UInt64, ns: UInt64)
) async throws -> (heap: UInt64, ns: UInt64) {
    var options = SimulatedGrip.Options()
    options.isFlatOut = true
    options.isOpen = true
    let simulated = try await SimulatedGrip.open(options, radio: radio, interval: .milliseconds(20))
    let manager = GripManager(on: try await Central(radio: radio, bonds: .memory))
    try manager.configure(with: GripManager.Configuration(persistentStorage: MemoryStorage())).get()
    try await manager.start()
    let grip = try await manager.connect(toGrip: ConnectableGrip(id: simulated.address))
    let result = try await body(grip)
    manager.disconnect()
    return result
}
