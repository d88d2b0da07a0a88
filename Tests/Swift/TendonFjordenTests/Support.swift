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
    for await grips in try manager.scanForFjordenGrips() {
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

/// Asks again until the answer is yes; fails the test after 30 seconds.
@TendonActor
func eventually(_ what: Comment, _ question: () async throws -> Bool) async rethrows {
    let deadline = ContinuousClock.now + .seconds(30)
    while try await !question() {
        if ContinuousClock.now > deadline {
            Issue.record(what)
            return
        }
        try? await Task.sleep(for: .milliseconds(5))
    }
}

/// Waits for a task that was cancelled. It must end within 100 ms; on a busy machine, within 100 passes through the loop
/// and the pool of threads, each of which takes its time.
func endsInTime<Value: Sendable, Failure: Error>(
    _ task: Task<Value, Failure>, _ what: Comment = "it ends in time",
    sourceLocation: SourceLocation = #_sourceLocation
) async -> Result<Value, Failure> {
    let isOver = Over()
    let watch = Task.detached {
        _ = await task.result
        isOver.flag.store(true, ordering: .releasing)
    }
    let start = ContinuousClock.now
    var passes = 0
    while !isOver.flag.load(ordering: .acquiring), passes < 100 || ContinuousClock.now - start < .milliseconds(100) {
        await Task.detached { await Loop.shared.run {} }.value
        passes += 1
    }
    let hasEnded = isOver.flag.load(ordering: .acquiring)
    #expect(hasEnded, what, sourceLocation: sourceLocation)
    await watch.value
    return await task.result
}

private final class Over: Sendable {
    let flag = Atomic<Bool>(false)
}
