// SPDX-License-Identifier: MIT
//
// How tests wait: for a condition, and for a task that was cancelled.
import Dispatch
import Synchronization
import Tendon
import Testing

/// Repeats the question until the answer is yes; fails the test after 30 seconds.
public func eventually(
    _ what: Comment, isolation: isolated (any Actor)? = #isolation, sourceLocation: SourceLocation = #_sourceLocation,
    _ question: () async throws -> Bool
) async rethrows {
    let deadline = ContinuousClock.now + .seconds(30)
    while try await !question() {
        if ContinuousClock.now > deadline {
            Issue.record(what, sourceLocation: sourceLocation)
            return
        }
        try? await Task.sleep(for: .milliseconds(2))
    }
}

/// Returns when the calling task is cancelled; fails the test after 30 seconds.
public func untilCancelled(sourceLocation: SourceLocation = #_sourceLocation) async {
    // Throws when it is cancelled, at once if it was before.
    if (try? await Task.sleep(for: .seconds(30))) != nil {
        Issue.record("not cancelled", sourceLocation: sourceLocation)
    }
}

/// Turns of the loop: what was begun is under way then, and waits where there is something to wait for.
public func turns(_ count: Int = 64) async { for _ in 0..<count { await Loop.shared.run {} } }

/// Waits for a task that was cancelled just now, and fails unless it ends in time; see `timeToEnd`.
public func endsInTime<Value: Sendable, Failure: Error>(
    _ task: Task<Value, Failure>, _ what: Comment = "it ends in time",
    sourceLocation: SourceLocation = #_sourceLocation
) async -> Result<Value, Failure> {
    let (taken, allowed) = await timeToEnd(task)
    #expect(taken <= allowed, what, sourceLocation: sourceLocation)
    return await task.result
}

/// How long a task that was cancelled just now takes to end, and how long it may take.
///
/// On an idle machine it may take 100 ms. A busy machine adds to this what it takes from every task: bare tasks that only
/// wait and pass through the loop are cancelled one after another for as long as the other one is observed, and the
/// slowest of them shows how long a step had to wait for a processor. The task may take four such steps more (its
/// handler, the loop, the thread pool, the watch below), but never more than 2 s in all: a function that ends with a
/// timeout of its own fails on any machine.
public func timeToEnd<Value: Sendable, Failure: Error>(
    _ task: Task<Value, Failure>
) async -> (taken: Duration, allowed: Duration) {
    let clock = ContinuousClock()
    let start = clock.now
    let end = Mutex<ContinuousClock.Instant?>(nil)
    let watch = Task.detached {
        _ = await task.result
        end.withLock { $0 = clock.now }
    }
    var slowest = Duration.zero
    repeat {
        slowest = max(slowest, await clock.measure(bareTask))
    } while end.withLock({ $0 == nil }) && clock.now - start < .seconds(2)
    await watch.value
    let taken = (end.withLock { $0 } ?? clock.now) - start
    return (taken, min(.milliseconds(100) + slowest * 4, .seconds(2)))
}

/// A task that is cancelled immediately, and ends by way of the loop.
@Sendable private func bareTask() async {
    let task = Task.detached {
        try? await Task.sleep(for: .seconds(60))
        await Loop.shared.run {}
    }
    task.cancel()
    await task.value
}

/// Set once, on any thread.
public final class Flag: Sendable {
    private let value = Atomic<Bool>(false)
    public var isSet: Bool { value.load(ordering: .acquiring) }
    public init() {}
    public func set() { value.store(true, ordering: .releasing) }
}

/// Runs what blocks on a thread that may.
public func onThread<Value: Sendable>(_ body: @escaping @Sendable () -> Value) async -> Value {
    await withCheckedContinuation { continuation in
        DispatchQueue.global().async { continuation.resume(returning: body()) }
    }
}
