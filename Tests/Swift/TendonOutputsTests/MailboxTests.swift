// SPDX-License-Identifier: MIT
// What waits for an output's thread: order, bounds, and what wakes the thread.
import CTendon
import TendonSupport
import TestSupport
import Testing

@testable import TendonOutputs

@Suite struct MailboxTests {
    enum Item: Equatable {
        case line(String, String)
        case word(String)
    }

    private let device = OutputDevice(family: "bose", address: "C0:01", addressType: "random")

    private func mailbox(leisure: UInt64 = 60_000) -> Mailbox<LineItem?> { Mailbox(leisure: leisure) { $0 } }

    private func take(_ mailbox: Mailbox<LineItem?>, until time: UInt64 = 0) -> Mailbox<LineItem?>.Batch {
        var batch = Mailbox<LineItem?>.Batch()
        mailbox.take(until: time, into: &batch)
        return batch
    }

    private func text(_ item: LineItem?, _ batch: Mailbox<LineItem?>.Batch) -> String? {
        item.map { "\($0.event) \($0.device.key) " + String(decoding: batch.text[$0.bytes], as: UTF8.self) }
    }

    @Test func itemsStayInOrderAndAreTakenOnce() {
        let mailbox = mailbox()
        mailbox.line("press", device) { $0.raw("one\n") }
        mailbox.post(nil)
        mailbox.line("sample", device) { $0.raw("two\n") }
        let batch = take(mailbox)
        #expect(batch.items.map { text($0, batch) } == ["press C0:01/random one\n", nil, "sample C0:01/random two\n"])
        #expect(take(mailbox).items.isEmpty)
        // The buffers that went round are empty.
        var next = batch
        for text in ["three\n", "four\n", "five\n"] {
            mailbox.line("press", device) { $0.raw(text) }
            mailbox.take(until: 0, into: &next)
            #expect(next.items.map { self.text($0, next) } == ["press C0:01/random \(text)"])
            #expect(next.text.count == text.utf8.count)
        }
    }

    /// 4 MiB of what other programs send: they may be faster than the thread.
    @Test func whatComesFromOutsideIsBounded() {
        let mailbox = mailbox()
        mailbox.post(nil, bytes: 3 << 20)
        mailbox.post(nil, bytes: 1 << 20)
        mailbox.post(nil, bytes: 1000)
        mailbox.post(nil)
        var batch = take(mailbox)
        #expect(batch.items.count == 3 && batch.droppedItems == 1)
        mailbox.post(nil, bytes: 3 << 20)
        batch = take(mailbox)
        #expect(batch.items.count == 1 && batch.droppedItems == 0, "there is room again")
        // Without content there is a limit, too.
        for _ in 0..<100_000 { mailbox.post(nil, bytes: 0) }
        #expect(take(mailbox).items.count == 32768)
    }

    /// 1 MiB of lines, half of it for samples; posted items always find room.
    @Test func linesAreBoundedAndCounted() {
        let mailbox = mailbox()
        let line = String(repeating: "x", count: 1 << 18)
        for _ in 0..<4 { mailbox.line("sample", device) { $0.raw(line) } }
        for _ in 0..<4 { mailbox.line("press", device) { $0.raw(line) } }
        mailbox.post(nil)
        let batch = take(mailbox)
        #expect((batch.items.count, batch.droppedSamples, batch.droppedEvents) == (5, 2, 2))
        #expect(batch.items.compactMap { $0?.event.description } == ["sample", "sample", "press", "press"])
        let next = take(mailbox)
        #expect((next.droppedSamples, next.droppedEvents) == (0, 0))
        mailbox.line("sample", device) { $0.raw("x") }
        #expect(take(mailbox).items.count == 1)
    }

    /// None of these waits: the time is further away than any test.
    @Test func eventsAndItemsDoNotWait() {
        let far = tendon_monotonic_ms() + 600_000
        let mailbox = mailbox()
        mailbox.post(nil)
        #expect(take(mailbox, until: far).items.count == 1)
        mailbox.line("press", device) { $0.raw("x") }
        #expect(take(mailbox, until: far).items.count == 1)
        // What was urgent is not urgent for the next time.
        #expect(take(mailbox, until: 0).items.isEmpty)
        mailbox.line("sample", device) { $0.raw("x") }
        #expect(take(mailbox, until: 0).items.count == 1)
    }

    /// The first sample is taken at once; those in the leisure after it wait for its end.
    @Test(.timeLimit(.minutes(1))) func samplesAreCollectedInTheLeisureAfterABatch() {
        let far = tendon_monotonic_ms() + 600_000
        let mailbox = mailbox(leisure: 40)
        for _ in 0..<2 {
            let begin = tendon_monotonic_ms()
            mailbox.line("sample", device) { $0.raw("x") }
            #expect(take(mailbox, until: far).items.count == 1)
            mailbox.line("sample", device) { $0.raw("x") }
            mailbox.line("sample", device) { $0.raw("x") }
            #expect(take(mailbox, until: far).items.count == 2)
            #expect(tendon_monotonic_ms() >= begin + 40)
            // Nothing comes in the next leisure: the thread waits on.
            let end = tendon_monotonic_ms() + 60
            #expect(take(mailbox, until: end).items.isEmpty)
            #expect(tendon_monotonic_ms() >= end)
        }
    }

    /// A thread that waits for longer looks when the sample may not wait any more.
    @Test(.timeLimit(.minutes(1))) func aSampleShortensTheWait() async {
        let mailbox = mailbox(leisure: 0)
        let far = tendon_monotonic_ms() + 600_000
        let isTaken = Flag()
        let taking = Task.detached { [self] in
            let count = take(mailbox, until: far).items.count
            isTaken.set()
            return count
        }
        await eventually("taken") {
            mailbox.line("sample", device) { $0.raw("x") }
            return isTaken.isSet
        }
        #expect(await taking.value > 0)
    }
}
