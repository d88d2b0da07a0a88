// SPDX-License-Identifier: MIT
import Synchronization

/// Events from the loop: a bounded sequence for one consumer at a time. If it is full, elements are dropped and
/// counted.
///
/// It ends when its source ends, or when the consumer's task is cancelled: immediately if the consumer waits, else a few
/// elements later. It throws when the source failed.
/// A consumer on the loop's executor takes elements without a lock, a hop or an allocation; one elsewhere is resumed where
/// it is, and gets up to 32 of them at once. Elements that one iteration did not take, for example after `break`, are
/// there for the next.
///
/// ```swift
/// let values = try await peripheral.notifications(of: characteristic)
/// for try await value in values { print(value.count, values.dropped) }
/// ```
public struct EventSequence<Element: Sendable>: AsyncSequence, Sendable {
    public typealias Failure = TendonError

    /// Ends the source when the sequence and its iterators were released.
    final class Handle: @unchecked Sendable {
        // `batch` is touched by the one consumer that there is at a time, which `hasConsumer` checks.
        let queue: EventQueue<Element>
        private var batch: EventBatch<Element>?
        private let hasConsumer = Atomic<Bool>(false)

        init(_ queue: EventQueue<Element>) {
            self.queue = queue
        }

        /// Elements that came off the loop for an earlier consumer.
        var left: EventBatch<Element>? { batch.flatMap { $0.isEmpty ? nil : $0 } }

        func element(_ patience: Patience, isolation: isolated (any Actor)?) async throws(TendonError) -> Element? {
            let isFirst = !hasConsumer.exchange(true, ordering: .acquiring)
            precondition(isFirst, "one task consumes a sequence at a time")
            defer { hasConsumer.store(false, ordering: .releasing) }
            if patience.isOver(queue.time) { return nil }
            let batch = batch ?? EventBatch()
            self.batch = batch
            if !batch.isEmpty { return batch.next() }
            try await queue.fill(batch, patience, isolation: isolation)
            return batch.pop()
        }

        deinit {
            let queue = queue
            queue.loop.post { queue.terminate() }
        }
    }

    private let handle: Handle
    private var limit: Duration?
    private var end: UInt64 = .max

    package init(_ queue: EventQueue<Element>) {
        handle = Handle(queue)
    }

    /// Elements lost since the beginning because the consumer was too slow.
    public var dropped: UInt64 { handle.queue.dropped }

    /// The same sequence, which throws a timeout when an element is longer than this in coming.
    public func timeout(_ limit: Duration) -> EventSequence {
        var copy = self
        copy.limit = limit
        return copy
    }

    /// The same sequence, which ends this long from now.
    public func ending(after duration: Duration) -> EventSequence {
        var copy = self
        copy.end = Swift.min(end, Duration.deadline(duration, from: handle.queue.time.now))
        return copy
    }

    public func makeAsyncIterator() -> Iterator {
        Iterator(handle: handle, patience: Patience(limit: limit, end: end))
    }

    /// Takes the elements, for one task at a time.
    public struct Iterator: AsyncIteratorProtocol {
        let handle: Handle
        let patience: Patience

        public mutating func next() async throws(TendonError) -> Element? {
            try await next(isolation: nil)
        }

        // Specialized for values of characteristics, which avoids a type check per element.
        @_specialize(where Element == AttributeValue)
        public mutating func next(isolation actor: isolated (any Actor)?) async throws(TendonError) -> Element? {
            // Without an actor the caller may be about to leave the thread.
            if actor != nil, handle.queue.loop.isCurrent {
                if let left = handle.left, !patience.isOver(handle.queue.time) { return left.next() }
                return try await handle.queue.next(patience, isolation: actor)
            }
            return try await handle.element(patience, isolation: actor)
        }
    }
}
