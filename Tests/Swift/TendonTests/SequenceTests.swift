// SPDX-License-Identifier: MIT
import CTendon
import Synchronization
import TestSupport
import Testing

@testable import Tendon

private func makeQueue(
    capacity: Int, policy: OverflowPolicy = .dropNewest, time: TestTime? = nil
) -> (EventQueue<Int>, EventSequence<Int>) {
    let queue = EventQueue<Int>(.shared, capacity: capacity, policy: policy, time: time)
    return (queue, EventSequence(queue))
}

private func next(of sequence: EventSequence<Int>, onLoop isolated: Bool) async throws -> Int? {
    var iterator = sequence.makeAsyncIterator()
    return isolated ? try await nextOnLoop(&iterator) : try await iterator.next()
}

@TendonActor private func nextOnLoop(_ iterator: inout EventSequence<Int>.Iterator) async throws -> Int? {
    try await iterator.next(isolation: TendonActor.shared)
}

/// Isolated to an executor of its own: whoever reads `got` finds the consumer waiting.
private actor Consumer {
    private(set) var got = 0

    func consume(_ sequence: EventSequence<Int>) async throws {
        for try await number in sequence { got = number }
    }
}

/// A time that stands still until the test moves it.
private final class TestTime: WaitTime {
    private let milliseconds = Atomic<UInt64>(1_000_000)
    private let all = Mutex<[Weak]>([])
    private struct Weak { weak var alarm: TestAlarm? }
    private var alarms: [TestAlarm] { all.withLock { $0.compactMap(\.alarm) } }

    var now: UInt64 { milliseconds.load(ordering: .relaxed) }

    func alarm(_ fire: @escaping () -> Void) -> any Alarm {
        let alarm = TestAlarm(fire)
        all.withLock { $0.append(Weak(alarm: alarm)) }
        return alarm
    }

    /// The deadline of the next alarm; `.max` if none is set.
    func nextAlarm() async -> UInt64 {
        await onLoop { self.alarms.map(\.deadline).min() ?? .max }
    }

    func advance(_ duration: UInt64) async {
        await onLoop { self.moveNow(duration) }
    }

    /// On the loop's thread.
    func moveNow(_ duration: UInt64) {
        milliseconds.wrappingAdd(duration, ordering: .relaxed)
        for alarm in alarms where alarm.deadline <= now {
            alarm.deadline = .max
            alarm.fire()
        }
    }

    /// Goes on once a consumer waits for this time.
    func reached(_ deadline: UInt64) async {
        await eventually("a consumer waits until \(deadline)") { await nextAlarm() == deadline }
    }
}

private final class TestAlarm: Alarm, @unchecked Sendable {
    // Touched on the loop's thread alone.
    var deadline = UInt64.max
    let fire: () -> Void

    init(_ fire: @escaping () -> Void) { self.fire = fire }
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

    /// What comes between a look that finds nothing and the wait is not lost.
    @Test func aSignalBeforeTheWait() async throws {
        let waiter = DistantWaiter(.shared, TestTime())
        waiter.state.withLock { _ = $0.signal() }
        try await waiter.wait(Patience())
    }

    /// The numbers of the values show where those are missing that were dropped.
    @Test func aDroppedValueLeavesAGap() async throws {
        let queue = EventQueue<AttributeValue>(.shared, capacity: 3, policy: .dropOldest)
        let values = EventSequence(queue)
        await onLoop {
            let byte: [UInt8] = [7]
            byte.withUnsafeBufferPointer { bytes in
                for number in UInt64(1)...8 {
                    var value = tendon_gatt_value()
                    (value.value, value.length, value.sequence) = (bytes.baseAddress, 1, number)
                    queue.push(AttributeValue(value, time: 0))
                }
            }
            queue.finish()
        }
        var numbers: [UInt64] = []
        for try await value in values { numbers.append(value.sequence) }
        #expect(numbers == [6, 7, 8] && values.dropped == 5)
    }

    @Test func whatArrivesAfterTheSequenceWasReleasedIsNeitherKeptNorCounted() async {
        let isTerminated = Mutex(false)
        var (queue, sequence): (EventQueue<Int>, EventSequence<Int>?) = makeQueue(capacity: 2)
        await onLoop { [queue] in queue.onTermination { isTerminated.withLock { $0 = true } } }
        sequence = nil
        await onLoop { [queue] in
            #expect(isTerminated.withLock { $0 })
            for number in 0..<3 { queue.push(number) }
        }
        #expect(queue.dropped == 0)
        withExtendedLifetime(sequence) {}
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

    /// What an iteration fetched and did not take is there for the next, wherever that runs.
    @Test func breakLosesNothing() async throws {
        let (queue, sequence) = makeQueue(capacity: 64)
        await onLoop {
            for number in 0..<40 { queue.push(number) }
            queue.finish()
        }
        var got: [Int] = []
        for _ in 0..<5 {
            for try await number in sequence {
                got.append(number)
                break
            }
        }
        got += try await Task { @TendonActor in
            var got: [Int] = []
            for try await number in sequence {
                got.append(number)
                if number == 34 { break }
            }
            return got
        }.value
        for try await number in sequence.ending(after: .zero) { Issue.record("\(number) after the end") }
        for try await number in sequence { got.append(number) }
        #expect(got == Array(0..<40))
        #expect(sequence.dropped == 0)
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
        await eventually("started") { started.withLock { $0 } }
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
        await eventually("started") { started.withLock { $0 } }
        await turns()
        consumer.cancel()
        #expect(try await consumer.value)
        // Another consumer goes on.
        await Loop.shared.run { queue.push(7) }
        var iterator = sequence.makeAsyncIterator()
        #expect(try await iterator.next() == 7)
    }

    /// A consumer that is slower than its source always finds an element, and never waits.
    @Test(arguments: [false, true]) func cancellationEndsASlowConsumer(onLoop isolated: Bool) async throws {
        let (queue, sequence) = makeQueue(capacity: 64)
        await onLoop { for number in 0..<64 { queue.push(number) } }
        let started = Mutex(false)
        let consumer =
            isolated
            ? Task { @TendonActor in
                var got: [Int] = []
                for try await number in sequence {
                    got.append(number)
                    started.withLock { $0 = true }
                    await untilCancelled()
                }
                return got
            }
            : Task {
                var got: [Int] = []
                for try await number in sequence {
                    got.append(number)
                    started.withLock { $0 = true }
                    await untilCancelled()
                }
                return got
            }
        await eventually("started") { started.withLock { $0 } }
        consumer.cancel()
        let got = try await consumer.value
        #expect(got.count <= 8 && got == Array(0..<got.count))
        // What it did not take is there for the next, also a part that is off the loop already.
        let next = Task { @TendonActor in
            var iterator = sequence.makeAsyncIterator()
            return try await iterator.next(isolation: TendonActor.shared)
        }
        #expect(try await next.value == got.count)
        await onLoop { queue.finish() }
        var rest: [Int] = []
        for try await number in sequence { rest.append(number) }
        #expect(rest == Array(got.count + 1..<64) && sequence.dropped == 0)
    }

    @Test func aTaskCancelledBeforeTheWaitDoesNotWait() async throws {
        let (_, sequence) = makeQueue(capacity: 4)
        let consumer = Task {
            await untilCancelled()
            var iterator = sequence.makeAsyncIterator()
            return try await iterator.next()
        }
        consumer.cancel()
        #expect(try await consumer.value == nil)
    }

    @Test(arguments: [false, true]) func anElementLateIsATimeout(onLoop isolated: Bool) async throws {
        let time = TestTime()
        let (queue, sequence) = makeQueue(capacity: 4, time: time)
        let start = time.now
        let consumer = Task {
            let limited = sequence.timeout(.seconds(3600))
            await #expect(throws: TendonError.timeout(.receive)) { try await next(of: limited, onLoop: isolated) }
            // It goes on after that.
            return try await next(of: limited, onLoop: isolated)
        }
        await time.reached(start + 3_600_000)
        await time.advance(3_599_999)
        #expect(await time.nextAlarm() == start + 3_600_000, "a millisecond is left")
        await time.advance(1)
        await time.reached(start + 7_200_000)
        await onLoop { queue.push(3) }
        #expect(try await consumer.value == 3)
        // Elsewhere the alarm stays as it is, and nobody is there when it fires.
        #expect(await time.nextAlarm() == (isolated ? .max : start + 7_200_000))
        await time.advance(3_600_000)
        #expect(await time.nextAlarm() == .max, "nobody waits any more")
    }

    /// The time starts anew with each element; the alarm is moved once it fires.
    @Test func anElementInTimeIsNoTimeout() async throws {
        let time = TestTime()
        let (queue, sequence) = makeQueue(capacity: 4, time: time)
        let start = time.now
        let consumer = Consumer()
        let end = Task { try await consumer.consume(sequence.timeout(.seconds(10))) }
        await time.reached(start + 10_000)
        await time.advance(4000)
        await onLoop { queue.push(1) }
        await eventually("it waits again") { await consumer.got == 1 }
        await time.advance(6000)
        #expect(await time.nextAlarm() == start + 14_000)
        // An element and the alarm in one turn: the element is there.
        await onLoop {
            queue.push(2)
            time.moveNow(4000)
        }
        await eventually("it waits again") { await consumer.got == 2 }
        await time.reached(start + 24_000)
        await time.advance(9999)
        #expect(await time.nextAlarm() == start + 24_000)
        await time.advance(1)
        await #expect(throws: TendonError.timeout(.receive)) { try await end.value }
    }

    /// It is resumed where it is: the loop wakes up for what is pushed, and not for the wait.
    @Test func aConsumerElsewhereDoesNotWakeTheLoop() async throws {
        let loop = try Loop()
        let queue = EventQueue<Int>(loop, capacity: 4, policy: .dropNewest)
        let sequence = EventSequence(queue)
        let got = Mutex(-1)
        let consumer = Task {
            for try await number in sequence { got.withLock { $0 = number } }
        }
        let before = await loop.wakeups()
        for number in 0..<100 {
            await loop.run { queue.push(number) }
            await eventually("taken") { got.withLock { $0 } == number }
        }
        // A wait on the loop would make it 200.
        #expect(await loop.wakeups() - before < 150)
        consumer.cancel()
        try await consumer.value
    }

    /// From elsewhere to the loop and back, while elements come.
    @Test func consumersTakeTurns() async throws {
        let (queue, sequence) = makeQueue(capacity: 4)
        for number in 0..<200 {
            let isolated = number / 3 % 2 == 1
            let taken = Task { try await next(of: sequence, onLoop: isolated) }
            if number % 2 == 0 { await turns() }
            await onLoop { queue.push(number) }
            #expect(try await taken.value == number)
        }
        await onLoop { queue.finish(.disconnected(.receive)) }
        await #expect(throws: TendonError.disconnected(.receive)) { try await next(of: sequence, onLoop: false) }
        #expect(try await next(of: sequence, onLoop: true) == nil)
        #expect(sequence.dropped == 0)
    }

    @Test func aSequenceEndsWhenItsTimeIsOver() async throws {
        let time = TestTime()
        let (queue, sequence) = makeQueue(capacity: 4, time: time)
        let start = time.now
        let limited = sequence.ending(after: .seconds(60)).ending(after: .seconds(600))
        let consumer = Task {
            var got: [Int] = []
            for try await number in limited { got.append(number) }
            return got
        }
        // Elements keep coming, and the end stays where it is.
        for second in 0..<60 {
            await time.reached(start + 60_000)
            await onLoop { queue.push(second) }
            await time.reached(start + 60_000)
            await time.advance(second == 59 ? 999 : 1000)
        }
        #expect(await time.nextAlarm() == start + 60_000, "a millisecond is left")
        await time.advance(1)
        #expect(try await consumer.value == Array(0..<60))
        // What waits when the time is over is not given out any more.
        await onLoop { queue.push(60) }
        for try await number in limited { Issue.record("\(number) after the end") }
        #expect(queue.dropped == 0)
    }

    /// On the loop's own time.
    @Test func aTimeoutOfTheLoop() async throws {
        let (_, sequence) = makeQueue(capacity: 4)
        var iterator = sequence.timeout(.milliseconds(1)).makeAsyncIterator()
        await #expect(throws: TendonError.timeout(.receive)) { try await iterator.next() }
        for try await _ in sequence.ending(after: .milliseconds(1)) {}
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
        await eventually("released") { item == nil }
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
