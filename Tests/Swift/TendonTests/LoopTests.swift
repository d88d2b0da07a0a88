// SPDX-License-Identifier: MIT
import CTendon
import Glibc
import Synchronization
import TestSupport
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

/// An actor whose loop may be gone.
private actor Orphan {
    nonisolated let core: LoopCore
    nonisolated var unownedExecutor: UnownedSerialExecutor { core.asUnownedSerialExecutor() }

    init(_ core: LoopCore) { self.core = core }

    func isOnLoop() -> Bool { core.isCurrent }
}

@Suite(.timeLimit(.minutes(1)))
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

    /// One test: two exit tests at the same time disturb each other's wait.
    @Test func whatMustNotBeEndsTheProcess() async {
        // A foreign thread, and another loop.
        await #expect(processExitsWith: .failure) {
            try Loop().checkIsolated()
        }
        await #expect(processExitsWith: .failure) {
            let loop = try Loop()
            await TendonActor.run { loop.checkIsolated() }
        }
        // A loop whose descriptor is broken: it would spin, and no event would arrive any more.
        await #expect(processExitsWith: .failure) {
            let loop = try Loop()
            await loop.run { _ = close(loop.core.block.pointer.pointee.epoll_fd) }
            await loop.run {}
            try await Task.sleep(for: .seconds(20))
            exit(0)
        }
        // Two tasks that wait in one place: the first would never be resumed.
        await #expect(processExitsWith: .failure) {
            let parking = Parking(.shared)
            let first = Task { @TendonActor in await parking.wait() }
            await eventually("the first waits") { await onLoop { parking.isOccupied } }
            let second = Task { @TendonActor in await parking.wait() }
            await onLoop {}
            withExtendedLifetime((first, second)) {}
            exit(0)
        }
        // A byte behind the value's end.
        await #expect(processExitsWith: .failure) {
            let value = AttributeValue(tendon_gatt_value(), time: 0)
            exit(Int32(value[0]))
        }
        // Two consumers of one sequence at a time.
        await #expect(processExitsWith: .failure) {
            let sequence = EventSequence(EventQueue<Int>(.shared, capacity: 4, policy: .dropNewest))
            async let first: Void = { for try await _ in sequence {} }()
            async let second: Void = { for try await _ in sequence.timeout(.seconds(20)) {} }()
            _ = try? await (first, second)
            exit(0)
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
        await eventually("its last reference is gone") { core == nil }
    }

    @Test func postsBeforeTheEndAreRun() async throws {
        let ran = Mutex(false)
        try { try Loop().post { ran.withLock { $0 = true } } }()
        await eventually("it runs") { ran.withLock { $0 } }
    }

    /// The last reference is released while the thread is busy: what arrives before it ends still runs.
    @Test func aJobOfAReleasedLoopRuns() async throws {
        let gate = Atomic<Bool>(false)
        let isBusy = Atomic<Bool>(false)
        var loop: Loop? = try Loop()
        let core = try #require(loop?.core)
        loop?.post {
            isBusy.store(true, ordering: .releasing)
            while !gate.load(ordering: .acquiring) { sched_yield() }
        }
        await eventually("busy") { isBusy.load(ordering: .acquiring) }
        loop = nil
        let orphan = Orphan(core)
        let job = Task { await orphan.isOnLoop() }
        await eventually("the job waits") { core.waiting > 0 }
        gate.store(true, ordering: .releasing)
        #expect(await job.value)
    }

    private final class Held: @unchecked Sendable {
        // Touched on the loop's thread alone, but for the release that is the test.
        var timer: LoopTimer?
    }

    /// A timer that is released while it is armed leaves the loop and does not fire, whatever thread releases it.
    @Test func aTimerThatIsReleasedWhileArmed() async throws {
        let loop = try Loop()
        let fired = Mutex(0)
        let before = await loop.run { UInt(bitPattern: loop.core.block.pointer.pointee.sources) }
        func arm(_ held: Held, _ deadline: UInt64) async {
            await loop.run {
                held.timer = LoopTimer(loop.core) { fired.withLock { $0 += 1 } }
                held.timer?.deadline = deadline
            }
        }
        let held = Held()
        await arm(held, tendon_monotonic_ms() + 1_000_000)
        held.timer = nil
        await loop.run {
            #expect(UInt(bitPattern: loop.core.block.pointer.pointee.sources) == before)
            held.timer = LoopTimer(loop.core) { fired.withLock { $0 += 1 } }
            held.timer?.deadline = 0
            held.timer = nil
            #expect(UInt(bitPattern: loop.core.block.pointer.pointee.sources) == before)
        }
        // Released while the loop's thread is busy and the deadline is over.
        let isBusy = Atomic<Bool>(false)
        let gate = Atomic<Bool>(false)
        await arm(held, tendon_monotonic_ms() + 1_000_000)
        loop.post {
            isBusy.store(true, ordering: .releasing)
            while !gate.load(ordering: .acquiring) { sched_yield() }
            held.timer?.deadline = 0
        }
        await eventually("busy") { isBusy.load(ordering: .acquiring) }
        held.timer = nil
        gate.store(true, ordering: .releasing)
        // One that is due later.
        let later = Held()
        let hasFired = Flag()
        await loop.run {
            #expect(UInt(bitPattern: loop.core.block.pointer.pointee.sources) == before)
            later.timer = LoopTimer(loop.core) { hasFired.set() }
            later.timer?.deadline = tendon_monotonic_ms()
        }
        await eventually("the later one") { hasFired.isSet }
        await loop.run { later.timer = nil }
        #expect(fired.withLock { $0 } == 0)
    }

    /// In its own callback.
    @Test func aTimerThatReleasesItself() async throws {
        let loop = try Loop()
        let fired = Mutex(0)
        let held = Held()
        await loop.run {
            held.timer = LoopTimer(loop.core) {
                held.timer = nil
                fired.withLock { $0 += 1 }
            }
            held.timer?.deadline = 0
        }
        await eventually("fired") { fired.withLock { $0 } > 0 }
        await loop.run { #expect(held.timer == nil) }
    }

    private final class Kept: Sendable {}

    @Test func aTimerThatIsRemovedReleasesItsClosure() async throws {
        let loop = try Loop()
        await loop.run {
            weak var kept: Kept?
            let timer: LoopTimer
            do {
                let object = Kept()
                kept = object
                timer = LoopTimer(loop.core) { withExtendedLifetime(object) {} }
            }
            #expect(kept != nil)
            timer.remove()
            #expect(kept == nil)
            withExtendedLifetime(timer) {}
        }
    }

    /// What else is due comes between them.
    @Test func manyPostsDoNotKeepATimerWaiting() async throws {
        let loop = try Loop()
        let order = Mutex<[Int]>([])
        let held = Held()
        await loop.run {
            held.timer = LoopTimer(loop.core) { order.withLock { $0.append(-1) } }
            held.timer?.deadline = 0
            for number in 0..<200 { loop.post { order.withLock { $0.append(number) } } }
        }
        await loop.run { held.timer = nil }
        let all = order.withLock { $0 }
        #expect(all.filter { $0 >= 0 } == Array(0..<200))
        #expect(try #require(all.firstIndex(of: -1)) <= 128)
    }

    /// By its thread, when that ends.
    @Test func aReleasedLoopClosesItsDescriptors() async throws {
        var loop: Loop? = try Loop()
        let core = try #require(loop?.core)
        #expect(core.block.pointer.pointee.epoll_fd >= 0)
        withExtendedLifetime(loop) {}
        loop = nil
        await eventually("closed") { core.block.pointer.pointee.epoll_fd < 0 && core.block.pointer.pointee.wake_fd < 0 }
    }

    /// A post wakes it once at most, and nothing else does: a slow machine makes it no more.
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
