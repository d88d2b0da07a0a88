// SPDX-License-Identifier: MIT
// What a task does that belongs to no actor: on the loop, on a thread of its own, and the wait for a time.
import CTendon
import TestSupport
import Testing

@testable import Tendon

@Suite(.timeLimit(.minutes(1)))
struct LoopTaskTests {
    /// Of no actor.
    private nonisolated static func isOnLoop() async -> Bool { Loop.shared.isCurrent }

    /// The way through the pool of the system's library would start its monitor, which wakes up once a second.
    @Test func whatATaskCallsRunsOnTheLoop() async {
        let answers = await Task(executorPreference: LoopPreference.shared) {
            var answers = [await Self.isOnLoop()]
            // Back from an actor of the loop, from one elsewhere, and from a wait.
            await TendonActor.run {}
            answers.append(await Self.isOnLoop())
            await MainActor.run {}
            answers.append(await Self.isOnLoop())
            try? await Loop.shared.sleep(for: .milliseconds(1))
            answers.append(await Self.isOnLoop())
            return answers
        }.value
        #expect(answers == [true, true, true, true])
    }

    /// Each ends, whatever comes between a look at the result and the wait for it.
    @Test func manyWaitsEnd() async {
        await withTaskGroup(of: Void.self) { group in
            for number in 0..<8 {
                group.addTask(executorPreference: LoopPreference.shared) {
                    for _ in 0..<2000 { try? await Loop.shared.sleep(for: .milliseconds(number % 2)) }
                }
            }
        }
    }

    @Test func blockingWorkHasAThreadOfItsOwn() async {
        let threads = await withTaskGroup(of: UInt.self) { group in
            for _ in 0..<2 {
                group.addTask(executorPreference: BlockingWork.shared) { currentThread() }
            }
            return await group.reduce(into: []) { $0.append($1) }
        }
        let loop = await Loop.shared.run { currentThread() }
        #expect(threads.count == 2)
        #expect(!threads.contains(loop))
    }

    @Test func aWaitEndsAtItsTime() async throws {
        let loop = try Loop()
        let begin = tendon_monotonic_ms()
        try await loop.sleep(for: .milliseconds(20))
        #expect(tendon_monotonic_ms() >= begin + 20)
    }

    @Test func aWaitThatIsCancelledEnds() async throws {
        let loop = try Loop()
        // Before its beginning, and in its middle.
        for isEarly in [true, false] {
            let wait = Task(executorPreference: LoopPreference.shared) { () async -> TendonError? in
                do throws(TendonError) {
                    try await loop.sleep(for: .seconds(3600))
                    return nil
                } catch {
                    return error
                }
            }
            if !isEarly { _ = await loop.wakeups() }
            wait.cancel()
            #expect(await wait.value == .cancelled)
        }
    }
}
