// SPDX-License-Identifier: MIT
import BenchPeer
import Tendon
import TendonFeelSpace

/// Orientations of a belt.
let feelSpaceSequences: [VendorSequence] = [
    VendorSequence(name: "feelspace_updates") { radio, count in
        try await feelSpace(radio) { manager in
            let updates = manager.commandManager.updates(capacity: 4096)
            guard manager.commandManager.startOrientationNotifications() else { fatalError("not queued") }
            return await consume(updates, count: count)
        }
    }
]

@TendonActor
private func feelSpace(
    _ radio: RadioChoice, _ body: @TendonActor (FSConnectionManager) async throws -> (heap: UInt64, ns: UInt64)
) async throws -> (heap: UInt64, ns: UInt64) {
    var options = SimulatedBelt.Options()
    options.isFlatOut = true
    let belt = try await SimulatedBelt(options, radio: radio, loop: try Loop(), interval: .milliseconds(20))
    let manager = FSConnectionManager(on: try await Central(radio: radio, bonds: .memory))
    try await manager.connect(to: FSBelt(address: belt.address))
    let result = try await body(manager)
    manager.disconnectBelt()
    await belt.stop()
    return result
}
