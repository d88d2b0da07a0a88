// SPDX-License-Identifier: MIT
import Glibc
import Synchronization
import Tendon
import TendonFjorden
import Testing

/// A manager in simulated mode, with a simulator of its own.
@TendonActor
func simulated(
    _ options: SimulatedGrip.Options = SimulatedGrip.Options(),
    _ change: (inout GripManager.Configuration) -> Void = { _ in }
) throws -> (GripManager, GripSimulator) {
    let simulator = GripSimulator(options)
    simulator.pairingDelay = .milliseconds(5)
    var configuration = GripManager.Configuration.simulated
    configuration.simulator = simulator
    change(&configuration)
    let manager = GripManager()
    manager.configure(with: configuration)
    return (manager, simulator)
}

/// Searches and connects to the first grip that is found.
@TendonActor
func connectFirst(_ manager: GripManager) async throws -> ConnectedGrip {
    try await manager.start()
    for await grips in try manager.searchForGrips() {
        // The name comes with the scan response, right behind.
        if let grip = grips.first, !grip.name.isEmpty { return try await manager.connect(toGrip: grip) }
    }
    throw FjordenError.unknown
}

/// A directory of the virtual radio of its own.
func virtualRadio() -> RadioChoice {
    .virtual(directory: "/tmp/tendon-fjorden-\(getpid())-\(number.wrappingAdd(1, ordering: .relaxed).newValue)")
}

/// A file for the keys of one test.
func bondFile() -> String {
    "/tmp/tendon-fjorden-bonds-\(getpid())-\(number.wrappingAdd(1, ordering: .relaxed).newValue)"
}

private let number = Atomic<UInt32>(0)
