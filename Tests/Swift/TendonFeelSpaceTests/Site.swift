// SPDX-License-Identifier: MIT
import Glibc
import Synchronization
import Tendon
import TendonFeelSpace
import Testing

/// A directory of the virtual radio with one simulated belt on a second loop thread.
final class Site: Sendable {
    private static let next = Atomic<UInt32>(0)

    let directory: String
    let belt: SimulatedBelt
    var radio: RadioChoice { .virtual(directory: directory) }
    var device: FSBelt { FSBelt(address: belt.address) }

    init(_ options: SimulatedBelt.Options = SimulatedBelt.Options()) async throws {
        let number = Self.next.wrappingAdd(1, ordering: .relaxed).newValue
        directory = "/tmp/tendon-feelspace-\(getpid())-\(number)"
        belt = try await SimulatedBelt(
            options, radio: .virtual(directory: directory),
            address: Address(0xD300_0000_0000 | UInt64(number), type: .random), loop: try Loop(),
            interval: .milliseconds(20))
    }

    deinit {
        rmdir(directory)
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

/// Asks again until the answer is yes; fails the test after 30 seconds.
func eventually(
    _ what: Comment, isolation: isolated (any Actor)? = #isolation, _ question: () async throws -> Bool
) async rethrows {
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
