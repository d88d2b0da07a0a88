// SPDX-License-Identifier: MIT
import CTendon
import Synchronization
import TestSupport
import Testing

@testable import Tendon

struct FeedTests {
    private final class Owner: Sendable {}

    private final class Second: @unchecked Sendable {
        // Touched on the loop's thread alone.
        var token: FeedToken?
    }

    private final class Calls: Sendable {
        private let lines = Mutex<[String]>([])
        let isSet = Atomic<Bool>(false)

        func add(_ line: String) { lines.withLock { $0.append(line) } }
        var all: [String] { lines.withLock { $0 } }
    }

    @Test func eventsReachSequencesDelegateAndClosures() async throws {
        let feed = Feed<Int>()
        let log = Calls()
        let (sequence, token) = await onLoop {
            #expect(feed.isEmpty)
            feed.delegate(isSet: { log.isSet.load(ordering: .relaxed) }) { number in log.add("d\(number)") }
            #expect(feed.isEmpty, "there is no delegate")
            feed.push(0)
            log.isSet.store(true, ordering: .relaxed)
            #expect(!feed.isEmpty)
            let sequence = feed.sequence(capacity: 8, policy: .dropNewest, keeping: nil)
            let token = feed.add { number in log.add("c\(number)") }
            feed.push(1)
            return (sequence, token)
        }
        await onLoop { token.cancel() }
        await onLoop {
            feed.push(2)
            feed.close()
            feed.push(3)
            #expect(feed.isEmpty)
        }
        var got: [Int] = []
        for try await number in sequence { got.append(number) }
        #expect(got == [1, 2])
        #expect(log.all == ["d1", "c1", "d2"])
    }

    /// Consumers that another thread adds receive what is pushed by the block that it posts next.
    @Test func consumersOfOtherThreads() async throws {
        let feed = Feed<Int>()
        let log = Calls()
        let (sequence, token) = await Task.detached {
            #expect(!Loop.shared.isCurrent)
            let sequence = feed.sequence(capacity: 8, policy: .dropNewest, keeping: nil)
            feed.add { number in log.add("cancelled \(number)") }.cancel()
            let token = feed.add { number in log.add("\(number)") }
            Loop.shared.post { feed.push(1) }
            token.cancel()
            Loop.shared.post {
                feed.push(2)
                feed.close()
            }
            return (sequence, token)
        }.value
        var got: [Int] = []
        for try await number in sequence { got.append(number) }
        #expect(got == [1, 2])
        #expect(log.all == ["1"])
        await Task.detached {
            var late = feed.sequence(capacity: 8, policy: .dropNewest, keeping: nil).makeAsyncIterator()
            let element = try? await late.next()
            #expect(element == nil, "the feed is closed")
        }.value
        withExtendedLifetime(token) {}
    }

    /// A closure may remove other listeners and end the feed; a removed listener is not called.
    @Test func consumersMayGoWithinAnEvent() async throws {
        let feed = Feed<Int>()
        let calls = Calls()
        await onLoop {
            let second = Second()
            feed.add { _ in
                calls.add("first")
                second.token?.cancel()
            }
            second.token = feed.add { _ in calls.add("second") }
            feed.add { number in if number == 2 { feed.close() } }
            feed.add { number in calls.add("last \(number)") }
            feed.push(1)
            feed.push(2)
            feed.push(3)
        }
        #expect(calls.all == ["first", "last 1", "first"])
    }

    @Test func finishServesLaterConsumersAndCloseDoesNot() async throws {
        let feed = Feed<Int>()
        let down = TendonError(status: Int32(TENDON_ERROR_DISCONNECTED), operation: .receive)
        let first = await onLoop { feed.sequence(capacity: 4, policy: .dropOldest, keeping: nil) }
        await onLoop { feed.finish(down) }
        await #expect(throws: down) { for try await _ in first {} }
        let second = await onLoop { feed.sequence(capacity: 4, policy: .dropOldest, keeping: nil) }
        await onLoop {
            feed.push(5)
            feed.close(down)
        }
        var iterator = second.makeAsyncIterator()
        #expect(try await iterator.next() == 5)
        await #expect(throws: down) { try await iterator.next() }
        let late = await onLoop { feed.sequence(capacity: 4, policy: .dropOldest, keeping: nil) }
        await #expect(throws: down) { for try await _ in late {} }
    }

    @Test func aSequenceKeepsItsSourceUntilItIsReleased() async throws {
        let feed = Feed<Int>()
        var owner: Owner? = Owner()
        let kept = Weakly(owner)
        var sequence: EventSequence<Int>? = await onLoop { [owner] in
            feed.sequence(capacity: 4, policy: .dropOldest, keeping: owner)
        }
        owner = nil
        #expect(await onLoop { kept.object != nil })
        #expect(sequence != nil)
        sequence = nil
        await eventually("released") { await onLoop { kept.object == nil } }
        #expect(await onLoop { feed.isEmpty })
    }

    @Test func soonIsAfterTheCallAndInOrder() async throws {
        let feed = Feed<Int>()
        let calls = Calls()
        await onLoop {
            feed.add { number in calls.add("\(number)") }
            feed.pushSoon(1)
            feed.pushSoon(2)
            #expect(calls.all.isEmpty)
        }
        await onLoop {}
        #expect(calls.all == ["1", "2"])
    }
}

struct PendingTests {
    @TendonActor private func wait(
        _ pending: Pending<Int, TendonError>, _ onCancel: @escaping @Sendable () -> Void = {}
    ) async throws(TendonError) -> Int {
        try await pending.value(onCancel: onCancel)
    }

    @Test func theFirstResultCounts() async throws {
        let pending = Pending<Int, TendonError>()
        let waiting = Task { try await wait(pending) }
        await onLoop {
            pending.finish(.success(1))
            pending.finish(.success(2))
        }
        #expect(try await waiting.value == 1)
    }

    @Test func cancellingWithdrawsOnce() async throws {
        for isEarly in [true, false] {
            let pending = Pending<Int, TendonError>()
            let withdrawn = Mutex(0)
            let started = Mutex(false)
            let waiting = Task { @TendonActor in
                started.withLock { $0 = true }
                return try await pending.value { withdrawn.withLock { $0 += 1 } }
            }
            if !isEarly { await eventually("started") { started.withLock { $0 } } }
            waiting.cancel()
            await #expect(throws: TendonError.cancelled) { try await waiting.value }
            await onLoop { pending.finish(.success(1)) }
            #expect(withdrawn.withLock { $0 } == 1)
            #expect(await onLoop { pending.isFinished })
        }
    }

    @Test func aResultThatIsThereWins() async throws {
        let pending = Pending<Int, TendonError>()
        await onLoop { pending.finish(.success(3)) }
        let waiting = Task { @TendonActor in
            withUnsafeCurrentTask { $0?.cancel() }
            return try await pending.value { Issue.record("withdrawn") }
        }
        #expect(try await waiting.value == 3)
    }
}
