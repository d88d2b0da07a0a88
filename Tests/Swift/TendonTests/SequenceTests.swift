// SPDX-License-Identifier: MIT
import Synchronization
import Testing

@testable import Tendon

/// Runs `body` on the shared loop.
private func onLoop<Value: Sendable>(_ body: @escaping @Sendable () -> Value) async -> Value {
    await Loop.shared.run(body)
}

private func makeQueue(
    capacity: Int, policy: OverflowPolicy = .dropNewest
) -> (EventQueue<Int>, EventSequence<Int>) {
    let queue = EventQueue<Int>(.shared, capacity: capacity, policy: policy)
    return (queue, EventSequence(queue))
}

@Suite(.timeLimit(.minutes(1)))
struct SequenceTests {
    @Test(arguments: [(OverflowPolicy.dropNewest, Array(0..<8)), (.dropOldest, Array(92..<100))])
    func whatDoesNotFitIsCounted(policy: OverflowPolicy, kept: [Int]) async throws {
        let (queue, sequence) = makeQueue(capacity: 8, policy: policy)
        await onLoop {
            for number in 0..<100 { queue.push(number) }
            queue.finish()
        }
        #expect(sequence.dropped == 92)
        var got: [Int] = []
        for try await number in sequence { got.append(number) }
        #expect(got == kept)
    }

    /// The consumer stops while the loop goes on: what it misses is exactly what was counted.
    @Test func whatASlowConsumerMissesEqualsTheCounter() async throws {
        let (queue, sequence) = makeQueue(capacity: 16)
        let total = 10_000
        let producer = Task {
            for batch in 0..<100 {
                await onLoop { for number in 0..<100 { queue.push(batch * 100 + number) } }
            }
            await onLoop { queue.finish() }
        }
        var got: [Int] = []
        for try await number in sequence {
            got.append(number)
            if got.count == 10 { await producer.value }
        }
        #expect(got.count + Int(sequence.dropped) == total)
        #expect(sequence.dropped > 0)
        #expect(zip(got, got.dropFirst()).allSatisfy { $0 < $1 })
    }

    @Test func aConsumerOnTheLoopGetsAll() async throws {
        let (queue, sequence) = makeQueue(capacity: 4)
        let started = Mutex(false)
        let consumer = Task { @TendonActor in
            started.withLock { $0 = true }
            var sum = 0
            for try await number in sequence {
                #expect(Loop.shared.isCurrent)
                sum += number
            }
            return sum
        }
        while !started.withLock({ $0 }) { await Task.yield() }
        for number in 0..<1000 { await onLoop { queue.push(number) } }
        await onLoop { queue.finish() }
        #expect(try await consumer.value == 499_500)
        #expect(sequence.dropped == 0)
    }

    @Test func aFailureComesAfterWhatWaits() async throws {
        let (queue, sequence) = makeQueue(capacity: 4)
        await onLoop {
            queue.push(1)
            queue.finish(.disconnected(.receive))
            queue.push(2)
        }
        var iterator = sequence.makeAsyncIterator()
        #expect(try await iterator.next() == 1)
        await #expect(throws: TendonError.disconnected(.receive)) { try await iterator.next() }
        #expect(try await iterator.next() == nil)
    }

    @Test(arguments: [false, true]) func cancellationEndsTheWait(onLoop isolated: Bool) async throws {
        let (queue, sequence) = makeQueue(capacity: 4)
        let started = Mutex(false)
        let consumer =
            isolated
            ? Task { @TendonActor in
                started.withLock { $0 = true }
                for try await _ in sequence {}
                return Task.isCancelled
            }
            : Task {
                started.withLock { $0 = true }
                for try await _ in sequence {}
                return Task.isCancelled
            }
        while !started.withLock({ $0 }) { await Task.yield() }
        try await Task.sleep(for: .milliseconds(10))
        consumer.cancel()
        #expect(try await consumer.value)
        // Another consumer goes on.
        await Loop.shared.run { queue.push(7) }
        var iterator = sequence.makeAsyncIterator()
        #expect(try await iterator.next() == 7)
    }

    @Test func aTaskCancelledBeforeTheWaitDoesNotWait() async throws {
        let (_, sequence) = makeQueue(capacity: 4)
        let consumer = Task {
            while !Task.isCancelled { await Task.yield() }
            var iterator = sequence.makeAsyncIterator()
            return try await iterator.next()
        }
        consumer.cancel()
        #expect(try await consumer.value == nil)
    }

    @Test func anElementLateIsATimeout() async throws {
        let (queue, sequence) = makeQueue(capacity: 4)
        var iterator = sequence.timeout(.milliseconds(20)).makeAsyncIterator()
        let start = ContinuousClock.now
        await #expect(throws: TendonError.timeout(.receive)) { try await iterator.next() }
        #expect(ContinuousClock.now - start >= .milliseconds(19))
        // It goes on after that.
        await onLoop { queue.push(3) }
        #expect(try await iterator.next() == 3)
    }

    @Test func aSequenceEndsWhenItsTimeIsOver() async throws {
        let (queue, sequence) = makeQueue(capacity: 4)
        let producer = Task {
            while !Task.isCancelled {
                await onLoop { queue.push(1) }
                try? await Task.sleep(for: .milliseconds(1))
            }
        }
        var count = 0
        for try await _ in sequence.ending(after: .milliseconds(200)) { count += 1 }
        producer.cancel()
        #expect(count > 1)
        var none = 0
        for try await _ in makeQueue(capacity: 1).1.ending(after: .milliseconds(10)) { none += 1 }
        #expect(none == 0)
    }

    @Test func theSourceIsToldWhenNobodyListens() async throws {
        let ended = Mutex(0)
        do {
            let (queue, sequence) = makeQueue(capacity: 4)
            await onLoop { queue.onTermination { ended.withLock { $0 += 1 } } }
            var iterator = sequence.makeAsyncIterator()
            await onLoop { queue.push(1) }
            #expect(try await iterator.next() == 1)
            #expect(ended.withLock { $0 } == 0)
        }
        await onLoop {}
        #expect(ended.withLock { $0 } == 1)
    }

    @Test func theSourceIsNotToldAfterItEnded() async throws {
        let ended = Mutex(0)
        do {
            let (queue, sequence) = makeQueue(capacity: 4)
            await onLoop {
                queue.onTermination { ended.withLock { $0 += 1 } }
                queue.finish()
            }
            for try await _ in sequence {}
        }
        await onLoop {}
        #expect(ended.withLock { $0 } == 0)
    }

    /// References in a ring are let go with it.
    @Test func elementsLeftBehindAreReleased() async throws {
        final class Item: Sendable {}
        weak var item: Item?
        do {
            let queue = EventQueue<Item>(.shared, capacity: 4, policy: .dropOldest)
            let sequence = EventSequence(queue)
            await onLoop {
                for _ in 0..<6 { queue.push(Item()) }
            }
            let last = Item()
            item = last
            await onLoop { queue.push(last) }
            #expect(sequence.dropped == 3)
        }
        await onLoop {}
        let deadline = ContinuousClock.now + .seconds(5)
        while item != nil, ContinuousClock.now < deadline { try await Task.sleep(for: .milliseconds(2)) }
        #expect(item == nil)
    }

    @Test func ringKeepsOrderOverItsEdge() {
        for capacity in 1...5 {
            for policy in [OverflowPolicy.dropNewest, .dropOldest] {
                var ring = Ring<Int>(capacity: capacity)
                var model: [Int] = []
                for number in 0..<200 {
                    if number % 7 < 4 {
                        let fits = ring.push(number, policy)
                        #expect(fits == (model.count < capacity))
                        if model.count < capacity || policy == .dropOldest { model.append(number) }
                        if model.count > capacity { model.removeFirst() }
                    } else {
                        let popped = ring.pop()
                        #expect(popped == (model.isEmpty ? nil : model.removeFirst()))
                    }
                    #expect(ring.count == model.count)
                }
            }
        }
    }
}
