// SPDX-License-Identifier: MIT
import CTendon
import Synchronization

/// The event loop of the C core on its own thread, as a Swift executor.
///
/// Actors with this executor run on the thread that reads the sockets. Between a packet and such an actor there is
/// neither a lock nor a thread switch.
///
/// ```swift
/// actor Recorder {
///     nonisolated var unownedExecutor: UnownedSerialExecutor { Loop.shared.asUnownedSerialExecutor() }
/// }
/// ```
public final class Loop: SerialExecutor {
    /// The loop of `TendonActor`; runs until the process ends.
    ///
    /// With the package trait `MainActorLoop` the main queue drives it.
    public static let shared: Loop = {
        do { return try Loop(isShared: true) } catch { fatalError("the event loop cannot be started: \(error)") }
    }()

    package let core: LoopCore

    /// Starts a thread, which ends when the last reference to the loop is released.
    public convenience init() throws(TendonError) {
        try self.init(isShared: false)
    }

    private init(isShared: Bool) throws(TendonError) {
        core = try LoopCore(isShared: isShared)
        let core = core
        guard !core.isOnMainQueue else { return }
        do throws(TendonError) {
            try startThread { core.run() }
        } catch {
            core.close()  // what the thread would do at its end
            throw error
        }
    }

    deinit {
        core.stop()
    }

    /// True on the loop's thread.
    public var isCurrent: Bool { core.isCurrent }

    /// Returns of epoll_wait so far; for tests and benchmarks.
    public func wakeups() async -> UInt64 {
        await run { [core] in core.block.pointer.pointee.wakeups }
    }

    /// The job runs on the loop's thread, in order.
    public func enqueue(_ job: consuming ExecutorJob) { core.enqueue(job) }

    /// The executor for actors. Jobs that are pending when the last reference to the loop is released still run.
    public func asUnownedSerialExecutor() -> UnownedSerialExecutor { core.executor }

    public func checkIsolated() { core.checkIsolated() }

    public func isIsolatingCurrentContext() -> Bool? {
        core.isCurrent
    }

    /// Returns after `duration`, or throws when the task is cancelled. A deadline of this loop: `Task.sleep` is one of the
    /// system's library, whose threads wake up once a second from then on.
    package func sleep(for duration: Duration) async throws(TendonError) {
        try await LoopContext(self).sleep(for: duration)
    }

    /// Runs `body` on the loop's thread.
    public func run<Result: Sendable>(_ body: @Sendable () -> Result) async -> Result {
        await LoopContext(self).run(body)
    }

    /// Runs `body` on the loop's thread later, in order with other posts; never within this call.
    package func post(_ body: @escaping @Sendable () -> Void) {
        core.enqueue(.block(body))
    }

    /// Runs `body` in this call if called on the loop's thread; otherwise before anything that the caller posts next.
    package func runOrPost(_ body: @escaping @Sendable () -> Void) {
        if isCurrent { body() } else { post(body) }
    }
}

/// An actor on a loop, for code that must run on it.
package actor LoopContext {
    private let loop: Loop

    package init(_ loop: Loop) { self.loop = loop }

    package nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }

    package func run<Result: Sendable>(_ body: @Sendable () -> Result) -> Result { body() }

    func sleep(for duration: Duration) async throws(TendonError) {
        let end = Pending<Void, TendonError>(loop)
        let timer = LoopTimer(loop.core) { end.finish(.success(())) }
        timer.deadline = Duration.deadline(duration)
        defer { timer.remove() }
        try await end.value()
    }
}

/// The shared loop for what a task calls that belongs to no actor: without a preference, that runs on the pool of the system's
/// library. For tasks that do not block.
package final class LoopPreference: TaskExecutor {
    package static let shared = LoopPreference()

    package func enqueue(_ job: consuming ExecutorJob) { Loop.shared.core.enqueue(.free(UnownedJob(job))) }
}

/// A thread for each job: for work that blocks, which must not run on the loop, and is rare.
package final class BlockingWork: TaskExecutor {
    package static let shared = BlockingWork()

    package func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        let run = { @Sendable in job.runSynchronously(on: BlockingWork.shared.asUnownedTaskExecutor()) }
        do throws(TendonError) {
            try startThread(run)
        } catch {
            run()  // late is better than never
        }
    }
}

/// Work that blocks and is done in order, on a thread that exists while there is any.
package final class SerialWork: Sendable {
    /// Powers adapters off and on: see `tendon_bluez_set_worker()`.
    package static let adapters = SerialWork()

    /// The first of them runs.
    private let pieces = Mutex<[@Sendable () -> Void]>([])

    package func run(_ work: @escaping @Sendable () -> Void) {
        let isFirst = pieces.withLock { pieces in
            pieces.append(work)
            return pieces.count == 1
        }
        guard isFirst else { return }
        do throws(TendonError) {
            try startThread { self.runAll() }
        } catch {
            runAll()  // late is better than never
        }
    }

    private func runAll() {
        var next = pieces.withLock { $0.first }
        while let work = next {
            work()
            next = pieces.withLock { pieces in
                pieces.removeFirst()
                return pieces.first
            }
        }
    }
}

#if !MainActorLoop
    /// The shared loop as a global actor.
    ///
    /// The vendors' interfaces are isolated to it: their delegates and handlers run on the loop's thread. With the package
    /// trait `MainActorLoop` it is another name of the main actor.
    ///
    /// ```swift
    /// await TendonActor.run { print(Loop.shared.isCurrent) }   // true
    /// ```
    @globalActor
    public actor TendonActor {
        public static let shared = TendonActor()

        public nonisolated var unownedExecutor: UnownedSerialExecutor { Loop.shared.asUnownedSerialExecutor() }

        /// Runs `body` on the shared loop.
        @TendonActor
        public static func run<Result: Sendable>(_ body: @TendonActor () throws -> Result) async rethrows -> Result {
            try body()
        }
    }
#endif

/// State owned by the loop's thread, and the executor itself. It outlives `Loop`, so that the thread can end in order.
package final class LoopCore: SerialExecutor, @unchecked Sendable {
    // `local` is used only on the loop's thread; all other members are constant, atomic or protected by the mutex.
    enum Entry {
        case job(UnownedJob)
        /// Of no actor.
        case free(UnownedJob)
        case block(@Sendable () -> Void)
    }

    private struct Inbox {
        var entries: [Entry] = []
        var stopping = false
    }

    /// Maximum number of entries that run before the sockets are read again.
    private static let burst = 64

    package let block = CBlock<tendon_loop>()
    private let thread = Atomic<UInt>(0)
    private let inbox = Mutex(Inbox())
    private var local: [Entry] = []
    private var spare: [Entry] = []
    /// Entries that have run and are being released; releasing them can enqueue more.
    private var finished: [Entry] = []
    private var first = 0

    #if MainActorLoop
        private var mainQueue: MainQueue?
        var isOnMainQueue: Bool { mainQueue != nil }
    #else
        var isOnMainQueue: Bool { false }
    #endif

    fileprivate init(isShared: Bool) throws(TendonError) {
        try check(tendon_loop_init(block.pointer), .start)
        #if MainActorLoop
            if isShared {
                mainQueue = try MainQueue(
                    block.pointer, runEntries: { [unowned self] in runEntries() },
                    poll: { [unowned self] in step(until: 0) })
            }
        #endif
        local.reserveCapacity(Self.burst)
        spare.reserveCapacity(Self.burst)
        finished.reserveCapacity(Self.burst)
    }

    package var isCurrent: Bool {
        #if MainActorLoop
            if let mainQueue { return mainQueue.isCurrent }
        #endif
        return thread.load(ordering: .relaxed) == currentThread()
    }

    /// The executor of the actors on this loop.
    var executor: UnownedSerialExecutor {
        #if MainActorLoop
            if isOnMainQueue { return MainActor.sharedUnownedExecutor }
        #endif
        return asUnownedSerialExecutor()
    }

    /// The C core was called on the loop's thread outside its callbacks, so a deadline may have changed. A loop with
    /// its own thread checks the deadlines anyway.
    @inline(__always) package func touched() {
        #if MainActorLoop
            mainQueue?.touched()
        #endif
    }

    package func enqueue(_ job: consuming ExecutorJob) { enqueue(.job(UnownedJob(job))) }

    package func checkIsolated() { precondition(isCurrent, "not on the thread of this Tendon loop") }

    package func isIsolatingCurrentContext() -> Bool? { isCurrent }

    func enqueue(_ entry: Entry) {
        if isCurrent {
            local.append(entry)
            touched()
            return
        }
        let wasEmpty = inbox.withLock { inbox in
            inbox.entries.append(entry)
            return inbox.entries.count == 1
        }
        if wasEmpty { wake() }
    }

    private func wake() {
        #if MainActorLoop
            if let mainQueue { return mainQueue.schedule() }
        #endif
        tendon_loop_wake(block.pointer)
    }

    #if MainActorLoop
        /// Runs what is pending, all of it: a job of the main actor that was enqueued after an entry runs after it, too.
        /// False: nothing was pending.
        private func runEntries() -> Bool {
            _ = takeInbox()
            let count = local.count - first
            for _ in stride(from: 0, to: count, by: Self.burst) { drain() }
            return count > 0
        }
    #endif

    /// Number of entries of other threads that the loop's thread has not received yet; for tests.
    var waiting: Int { inbox.withLock { $0.entries.count } }

    fileprivate func stop() {
        inbox.withLock { $0.stopping = true }
        tendon_loop_wake(block.pointer)
    }

    /// The thread.
    fileprivate func run() {
        thread.store(currentThread(), ordering: .relaxed)
        while true {
            let stopping = takeInbox()
            drain()
            if local.isEmpty, stopping { break }
            step(until: local.isEmpty ? .max : 0)
        }
        close()
    }

    fileprivate func close() { tendon_loop_close(block.pointer) }

    private func step(until deadline: UInt64) {
        let status = tendon_loop_step(block.pointer, deadline)
        // The descriptor is broken: no event would ever arrive.
        if status < 0 { fatalError("the event loop failed: \(TendonError(status: status, operation: .wait))") }
    }

    /// Appends the entries of other threads to the pending entries.
    private func takeInbox() -> Bool {
        let stopping = inbox.withLock { inbox in
            swap(&inbox.entries, &spare)
            return inbox.stopping
        }
        if !spare.isEmpty {
            local.append(contentsOf: spare)
            spare.removeAll(keepingCapacity: true)
        }
        return stopping
    }

    private func drain() {
        guard !local.isEmpty else { return }
        let executor = executor
        var runs = 0
        while first < local.count, runs < Self.burst {
            let entry = local[first]
            first += 1
            runs += 1
            switch entry {
            case .job(let job): job.runSynchronously(on: executor)
            case .free(let job): job.runSynchronously(on: LoopPreference.shared.asUnownedTaskExecutor())
            case .block(let body): body()
            }
        }
        guard first == local.count || first >= Self.burst else { return }
        swap(&local, &finished)
        local.append(contentsOf: finished[first...])
        first = 0
        finished.removeAll(keepingCapacity: true)
    }
}

/// A deadline on a loop. For the loop's thread; it may be released on any, also while it is armed.
package final class LoopTimer: @unchecked Sendable {
    /// What the C core's source is in.
    private final class State: @unchecked Sendable {
        // Touched only on the thread of the loop, except `isOn`, which is atomic; freed after `remove()`.
        let block = CBlock<tendon_source>()
        let core: LoopCore
        let isOn = Atomic<Bool>(true)
        var fire: (() -> Void)?

        init(_ core: LoopCore, _ fire: @escaping () -> Void) {
            self.core = core
            self.fire = fire
        }

        func remove() {
            isOn.store(false, ordering: .relaxed)
            tendon_loop_remove(core.block.pointer, block.pointer)
            fire = nil
        }
    }

    private let state: State

    package init(_ core: LoopCore, fire: @escaping () -> Void) {
        state = State(core, fire)
        tendon_source_init(
            state.block.pointer, -1, context(of: state), nil,
            { context, _ in
                let state = object(State.self, context)
                state.block.pointer.pointee.deadline = .max
                if state.isOn.load(ordering: .relaxed) { state.fire?() }
            })
        tendon_loop_add(core.block.pointer, state.block.pointer)
    }

    /// Monotonic milliseconds; `.max`: never.
    package var deadline: UInt64 {
        get { state.block.pointer.pointee.deadline }
        set {
            state.block.pointer.pointee.deadline = newValue
            state.core.touched()
        }
    }

    package func remove() { state.remove() }

    deinit {
        guard state.isOn.exchange(false, ordering: .relaxed) else { return }
        if state.core.isCurrent {
            state.remove()
        } else {
            state.core.enqueue(.block { [state] in state.remove() })
        }
    }
}

extension Duration {
    /// Milliseconds, rounded up; at least 0.
    package var milliseconds: UInt64 {
        let (seconds, attoseconds) = components
        guard seconds >= 0, attoseconds >= 0 else { return 0 }
        let whole = UInt64(clamping: seconds).multipliedReportingOverflow(by: 1000)
        let part = UInt64((attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000)
        let sum = whole.partialValue.addingReportingOverflow(part)
        return whole.overflow || sum.overflow ? .max : sum.partialValue
    }

    /// The monotonic time that lies this far ahead; `nil`: never.
    package static func deadline(_ duration: Duration?, from now: @autoclosure () -> UInt64 = tendon_monotonic_ms())
        -> UInt64
    {
        guard let duration else { return .max }
        let sum = now().addingReportingOverflow(duration.milliseconds)
        return sum.overflow ? .max : sum.partialValue
    }
}
