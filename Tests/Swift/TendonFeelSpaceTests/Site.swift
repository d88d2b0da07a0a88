// SPDX-License-Identifier: MIT
import Tendon
import TendonFeelSpace
import TestSupport
import Testing

/// A directory of the virtual radio with one simulated belt on a second loop thread.
final class Site: Sendable {
    let directory = RadioDirectory()
    let belt: SimulatedBelt
    var radio: RadioChoice { directory.radio }
    var device: FSBelt { FSBelt(address: belt.address) }

    init(_ options: SimulatedBelt.Options = SimulatedBelt.Options()) async throws {
        belt = try await SimulatedBelt(
            options, radio: directory.radio,
            address: directory.address, loop: try Loop(),
            interval: .milliseconds(20))
    }

    /// A manager that is connected to the belt.
    @TendonActor func connected() async throws -> FSConnectionManager {
        let manager = FSConnectionManager(radio: radio, bonds: .memory)
        try await manager.connect(to: device)
        return manager
    }

    /// Bytes that arrived at FE03, oldest first.
    func vibrations() async -> [[UInt8]] {
        await belt.writes.filter { $0.characteristic == 0xFE03 }.map(\.bytes)
    }
}
