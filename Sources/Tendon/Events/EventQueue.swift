// SPDX-License-Identifier: MIT
import CTendon
import Synchronization

/// The element that is dropped when a sequence is full.
public enum OverflowPolicy: Sendable {
    /// The one that arrives.
    case dropNewest
    /// The one that waited longest.
    case dropOldest
}

/// Ring of a fixed capacity.
struct Ring<Element>: ~Copyable {
    private let storage: RingStorage<Element>
    private var head = 0
    private(set) var count = 0

    init(capacity: Int) {
        storage = RingStorage(capacity: max(capacity, 1))
    }

    /// False when an element was dropped.
    mutating func push(_ element: consuming Element, _ policy: OverflowPolicy) -> Bool {
        let full = count == storage.capacity
        if full {
            guard case .dropOldest = policy else { return false }
            _ = pop()
        }
        let place = head + count
        storage.put(element, at: place < storage.capacity ? place : place - storage.capacity)
        count += 1
        return !full
    }

    mutating func pop() -> Element? {
        guard count > 0 else { return nil }
        let element = storage.take(at: head)
        head = head + 1 < storage.capacity ? head + 1 : 0
        count -= 1
        return element
    }

    deinit {
        for index in 0..<count {
            _ = storage.take(at: (head + index) % storage.capacity)
        }
        storage.deallocate()
    }
}

/// How long a consumer waits.
struct Patience: Sendable {
    /// For one element; past it: a timeout.
    var limit: Duration?
    /// For all, milliseconds of the queue's time; past it: the end.
    var end = UInt64.max

    func isOver(_ time: any WaitTime) -> Bool { end != .max && time.now >= end }
    var isLimited: Bool { limit != nil || end != .max }
    func deadline(_ time: any WaitTime) -> UInt64 { min(Duration.deadline(limit, from: time.now), end) }
}

/// The time that waits go by: the loop's, or in tests one that they move themselves.
package protocol WaitTime: AnyObject, Sendable {
    /// Milliseconds; from any thread.
    var now: UInt64 { get }
    /// For the loop's thread, as `fire` is.
    func alarm(_ fire: @escaping () -> Void) -> any Alarm
}

/// Fires once the time has come, and not after its release. For the loop's thread.
package protocol Alarm: AnyObject {
    /// `.max`: never.
    var deadline: UInt64 { get set }
}

extension LoopTimer: Alarm {}

extension LoopCore: WaitTime {
    package var now: UInt64 { tendon_monotonic_ms() }
    package func alarm(_ fire: @escaping () -> Void) -> any Alarm { LoopTimer(self, fire: fire) }
}

/// Ends a consumer that always finds an element, and never waits. Looks at every eighth element only, because
/// `Task.isCancelled` costs about 30 ns.
struct CancellationCheck: ~Copyable {
    private var elements: UInt8 = 0

    mutating func isCancelled() -> Bool {
        elements &+= 1
        return elements & 7 == 0 && Task.isCancelled
    }
}

/// Where a consumer waits, whatever it waits for: nothing here is generic. For the loop's thread.
private final class Waiter: @unchecked Sendable {
    // Used only on the loop's thread.
    let loop: Loop
    let time: any WaitTime
    private let parking: Parking
    private var ticket: UInt64 = 0
    private var alarm: (any Alarm)?
    private var timedOut = false

    init(_ loop: Loop, _ time: any WaitTime) {
        self.loop = loop
        self.time = time
        parking = Parking(loop)
    }

    func wake() { parking.resume() }

    /// No consumer will wait again.
    func end() {
        alarm = nil
        wake()
    }

    /// The consumer is about to look for an element.
    func prepare() { parking.prepare() }

    /// Until `wake()` since `prepare()`, or its task is cancelled. Returns true if the time came first, or meanwhile.
    func wait(_ patience: Patience, isolation: isolated (any Actor)? = #isolation) async -> Bool {
        ticket &+= 1
        let ticket = ticket
        timedOut = false
        if patience.isLimited { arm(patience) }
        await withTaskCancellationHandler {
            _ = isolation  // Only a closure that captures it stays on the loop.
            await parking.wait()
        } onCancel: {
            self.loop.post { if self.ticket == ticket { self.wake() } }
        }
        alarm?.deadline = .max
        return timedOut
    }

    private func arm(_ patience: Patience) {
        let alarm =
            alarm
            ?? time.alarm { [unowned self] in
                self.timedOut = true
                self.wake()
            }
        self.alarm = alarm
        alarm.deadline = patience.deadline(time)
    }
}

/// The producer's end of an `EventSequence`. All but `dropped` and `fill` is for the loop's thread.
///
/// A consumer on the loop takes elements without a lock. While the queue is open to one elsewhere, both take the lock of
/// `distant` for each access.
@usableFromInline
package final class EventQueue<Element: Sendable>: @unchecked Sendable {
    // Used only on the loop's thread, except `dropCount`, which is atomic, and what is marked.
    private let policy: OverflowPolicy
    private let waiter: Waiter
    private let distant: DistantWaiter
    private var check = CancellationCheck()
    private var onTermination: (() -> Void)?
    private let dropCount = Atomic<UInt64>(0)
    // Changed on the loop's thread under the lock; read there, or under the lock.
    private var isOpen = true
    private var ended = false
    // Under the lock while the queue is open; else used only on the loop's thread.
    private var ring: Ring<Element>
    private var failure: TendonError?

    package init(_ loop: Loop, capacity: Int, policy: OverflowPolicy, time: (any WaitTime)? = nil) {
        self.policy = policy
        ring = Ring(capacity: capacity)
        waiter = Waiter(loop, time ?? loop.core)
        distant = DistantWaiter(loop, waiter.time)
    }

    var loop: Loop { waiter.loop }
    var time: any WaitTime { waiter.time }
    package var dropped: UInt64 { dropCount.load(ordering: .relaxed) }

    @usableFromInline
    package func push(_ element: consuming Element) {
        guard !ended else { return }
        if isOpen { return pushOpen(element) }
        if !ring.push(element, policy) {
            dropCount.add(1, ordering: .relaxed)
        }
        waiter.wake()
    }

    private func pushOpen(_ element: Element) {
        let isWaited = distant.state.withLock { state in
            if !ring.push(element, policy) { dropCount.add(1, ordering: .relaxed) }
            return state.mark()
        }
        if isWaited { distant.resumeLater() }
    }

    /// No more elements; those that wait are still delivered.
    package func finish(_ error: TendonError? = nil) {
        guard !ended else { return }
        let consumer = distant.state.withLock { state in
            ended = true
            failure = error
            return state.signal()
        }
        consumer?.resume()
        onTermination = nil
        distant.end()
        waiter.end()
    }

    /// Called once, when the sequence and its iterators were released; not after `finish`.
    package func onTermination(_ body: @escaping () -> Void) {
        onTermination = body
    }

    func terminate() {
        let body = onTermination
        finish()
        body?()
    }

    /// On the loop's thread: the next element, after waiting if need be.
    @_specialize(where Element == AttributeValue)
    func next(
        _ patience: Patience, isolation: isolated (any Actor)? = #isolation
    ) async throws(TendonError) -> Element? {
        if isOpen { distant.state.withLock { _ in isOpen = false } }
        while true {
            waiter.prepare()
            if check.isCancelled() || patience.isOver(waiter.time) { return nil }
            if let element = ring.pop() { return element }
            if ended {
                if let error = failure.take() { throw error }
                return nil
            }
            if Task.isCancelled { return nil }
            if await waiter.wait(patience), ring.count == 0, !ended, !patience.isOver(waiter.time) {
                throw .timeout(.receive)
            }
        }
    }

    /// For a consumer on another executor: all available elements, after waiting for one if need be. None: the end.
    @_specialize(where Element == AttributeValue)
    func fill(
        _ batch: EventBatch<Element>, _ patience: Patience, isolation: isolated (any Actor)?
    ) async throws(TendonError) {
        while !Task.isCancelled, !patience.isOver(waiter.time) {
            switch move(to: batch) {
            case .moved: return
            case .closed: await waiter.loop.run { self.open() }
            case .ended(let error):
                if let error { throw error }
                return
            case .nothing: try await distant.wait(patience, isolation: isolation)
            }
        }
    }

    private enum Move {
        case moved, nothing
        /// A consumer on the loop was there since.
        case closed
        case ended(TendonError?)
    }

    @_specialize(where Element == AttributeValue)
    private func move(to batch: EventBatch<Element>) -> Move {
        distant.state.withLock { state in
            guard isOpen else { return .closed }
            while batch.hasRoom, let element = ring.pop() { batch.append(element) }
            if !batch.isEmpty { return .moved }
            if ended { return .ended(failure.take()) }
            state.reset()
            return .nothing
        }
    }

    private func open() { distant.state.withLock { _ in isOpen = true } }
}

/// The elements that a consumer on another executor has buffered.
final class EventBatch<Element: Sendable>: @unchecked Sendable {
    // Used by one iterator; the loop's thread fills it while that iterator waits.
    private static var capacity: Int { 32 }
    private var ring = Ring<Element>(capacity: EventBatch.capacity)
    private var check = CancellationCheck()

    var isEmpty: Bool { ring.count == 0 }
    var hasRoom: Bool { ring.count < Self.capacity }
    func append(_ element: consuming Element) { _ = ring.push(element, .dropNewest) }
    func pop() -> Element? { ring.pop() }
    /// Of a batch that is not empty; `nil`: the consumer's task was cancelled.
    func next() -> Element? { check.isCancelled() ? nil : ring.pop() }
}
