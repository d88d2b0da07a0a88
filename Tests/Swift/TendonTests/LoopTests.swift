// SPDX-License-Identifier: MIT
import Synchronization
import Testing

@testable import Tendon

/// An actor of a loop that a test makes.
private actor Resident {
    let loop: Loop
    nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }
    var count = 0

    init(_ loop: Loop) { self.loop = loop }

    func isOnLoop() -> Bool { loop.isCurrent }
    func add() { count += 1 }

    nonisolated func addIfIsolated() { assumeIsolated { $0.count += 1 } }
    func addThroughAssumption() { addIfIsolated() }
}

struct LoopTests {
    @Test func actorsRunOnTheirLoop() async throws {
        let loop = try Loop()
        let resident = Resident(loop)
        #expect(await resident.isOnLoop())
        #expect(!loop.isCurrent)
        #expect(!Loop.shared.isCurrent)
        #expect(await TendonActor.run { Loop.shared.isCurrent })
        #expect(await TendonActor.run { !loop.isCurrent })
    }

    @Test func isolationIsKnownOnTheLoop() async throws {
        let loop = try Loop()
        let resident = Resident(loop)
        await resident.addThroughAssumption()
        #expect(await resident.count == 1)
        // From a post, which is no job of Swift: only checkIsolated() can know.
        await withCheckedContinuation { done in
            loop.post {
                loop.checkIsolated()
                resident.addIfIsolated()
                done.resume()
            }
        }
        #expect(await resident.count == 2)
        #expect(loop.isIsolatingCurrentContext() == false)
        #expect(await loop.run { loop.isIsolatingCurrentContext() } == true)
    }

    @Test func foreignThreadAndOtherLoopAreRefused() async {
        // One test: two exit tests at the same time disturb each other's wait.
        await #expect(processExitsWith: .failure) {
            try Loop().checkIsolated()
        }
        await #expect(processExitsWith: .failure) {
            let loop = try Loop()
            await TendonActor.run { loop.checkIsolated() }
        }
    }

    @Test func workFromManyThreadsArrivesOnce() async throws {
        let loop = try Loop()
        let resident = Resident(loop)
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<32 {
                group.addTask { for _ in 0..<100 { await resident.add() } }
            }
        }
        #expect(await resident.count == 3200)
    }

    @Test func postsKeepTheirOrder() async throws {
        let loop = try Loop()
        let seen = Mutex<[Int]>([])
        for number in 0..<500 { loop.post { seen.withLock { $0.append(number) } } }
        await loop.run {}
        #expect(seen.withLock { $0 } == Array(0..<500))
    }

    @Test func aLoopEndsWithItsLastReference() async throws {
        weak var core: LoopCore?
        do {
            let loop = try Loop()
            core = loop.core
            await loop.run {}
        }
        let deadline = ContinuousClock.now + .seconds(5)
        while core != nil, ContinuousClock.now < deadline { try await Task.sleep(for: .milliseconds(2)) }
        #expect(core == nil)
    }

    @Test func postsBeforeTheEndAreRun() async throws {
        let ran = Mutex(false)
        try { try Loop().post { ran.withLock { $0 = true } } }()
        let deadline = ContinuousClock.now + .seconds(5)
        while !ran.withLock({ $0 }), ContinuousClock.now < deadline { try await Task.sleep(for: .milliseconds(2)) }
        #expect(ran.withLock { $0 })
    }

    @Test func anIdleLoopSleeps() async throws {
        let loop = try Loop()
        let before = await loop.wakeups()
        try await Task.sleep(for: .milliseconds(50))
        #expect(await loop.wakeups() - before <= 2)
    }

    @Test func durations() {
        #expect(Duration.milliseconds(1).milliseconds == 1)
        #expect(Duration.microseconds(1).milliseconds == 1)
        #expect(Duration.seconds(-1).milliseconds == 0)
        #expect(Duration.zero.milliseconds == 0)
        #expect(Duration.deadline(nil) == .max)
    }
}
