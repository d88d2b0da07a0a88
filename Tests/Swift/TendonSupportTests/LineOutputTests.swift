// SPDX-License-Identifier: MIT
import Dispatch
import Foundation
import Synchronization
import TendonSupport
import TestSupport
import Testing

#if canImport(Glibc)
    import Glibc
#else
    import Musl
#endif

/// Output that never blocks: what a reader of the other end receives.
@Suite(.serialized, .timeLimit(.minutes(2))) struct LineOutputTests {
    /// The two ends of a socket pair; the reader never blocks.
    private final class Ends: Sendable {
        let reader: Int32
        let writer: Int32

        /// - Parameter packets: each write arrives as a packet of its own.
        init(packets: Bool = false, isBlocking: Bool = true) {
            var ends: [Int32] = [-1, -1]
            let type = Int32((packets ? SOCK_SEQPACKET : SOCK_STREAM).rawValue)
            precondition(socketpair(AF_UNIX, type, 0, &ends) == 0)
            (reader, writer) = (ends[0], ends[1])
            _ = fcntl(reader, F_SETFL, O_NONBLOCK)
            if !isBlocking { _ = fcntl(writer, F_SETFL, O_NONBLOCK) }
        }

        deinit {
            close(reader)
            close(writer)
        }

        /// What is there now, at most so much.
        func read(_ maximum: Int = 1 << 20) -> [UInt8] {
            var bytes = [UInt8](repeating: 0, count: maximum)
            let count = Glibc.read(reader, &bytes, maximum)
            return count > 0 ? Array(bytes[..<count]) : []
        }

        var hasBytes: Bool {
            var wait = pollfd(fd: reader, events: Int16(POLLIN), revents: 0)
            return poll(&wait, 1, 0) == 1
        }

        /// Reads until so many bytes have come.
        func read(total: Int) async -> [UInt8] {
            var all: [UInt8] = []
            await eventually("\(total) bytes") {
                while all.count < total {
                    let more = read()
                    if more.isEmpty { return false }
                    all += more
                }
                return true
            }
            return all
        }
    }

    private static let kilobyte = String(repeating: "x", count: 1023) + "\n"

    /// Nobody reads: the thread stands in the write of the first lines, and so many kilobytes wait behind them.
    private func fill(_ output: LineOutput, _ ends: Ends, waiting: Int) async {
        output.append { $0.raw(String(repeating: Self.kilobyte, count: Self.first)) }
        await eventually("the thread writes") { ends.hasBytes }
        for _ in 0..<waiting { output.append { $0.raw(Self.kilobyte) } }
    }

    /// Kilobytes; more than a socket takes.
    private static let first = 900

    @Test func linesArriveInTheirOrder() async {
        let ends = Ends()
        let output = LineOutput(descriptor: ends.writer)
        #expect(output.isIdle)
        for number in 0..<100 {
            #expect(output.append { $0.raw("line \(number)\n") })
        }
        #expect(await onThread { output.flush(patience: 20_000) } == 0)
        #expect(output.isIdle && output.error == nil && output.dropped == 0)
        #expect(ends.read() == Array((0..<100).map { "line \($0)\n" }.joined().utf8))
        // And again, after a rest.
        #expect(await onThread { output.appendBlocking { $0.raw("more\n") } })
        #expect(await onThread { output.flush(patience: 20_000) } == 0)
        #expect(ends.read() == Array("more\n".utf8))
    }

    @Test func compactNumbersAreASetting() async {
        let ends = Ends()
        let output = LineOutput(descriptor: ends.writer)
        #expect(!output.isCompact)
        output.isCompact = true
        #expect(output.isCompact)
        output.append { $0.number(0.126, decimals: 2) }
        #expect(await onThread { output.flush(patience: 20_000) } == 0)
        #expect(ends.read() == Array("0.13".utf8))
    }

    /// Two lines a moment apart leave in one write, unless the machine takes the processor in between.
    @Test func linesThatComeTogetherAreWrittenTogether() async {
        let ends = Ends(packets: true)
        let output = LineOutput(descriptor: ends.writer)
        output.append { $0.raw("first\n") }
        #expect(await onThread { output.flush(patience: 20_000) } == 0)
        _ = ends.read()
        var joined = 0
        for _ in 0..<40 {
            let both = await onThread {
                output.append { $0.raw("a\n") }
                let start = ContinuousClock.now
                while ContinuousClock.now - start < .microseconds(200) {}
                output.append { $0.raw("b\n") }
                return output.flush(patience: 20_000)
            }
            #expect(both == 0)
            let packet = ends.read()
            if packet == Array("a\nb\n".utf8) {
                joined += 1
            } else {
                #expect(packet == Array("a\n".utf8) && ends.read() == Array("b\n".utf8))
            }
        }
        #expect(joined >= 10)
    }

    @Test func whatTheReaderLeavesIsCounted() async {
        let ends = Ends()
        let output = LineOutput(descriptor: ends.writer)
        // Far more than a socket takes: 1 MiB may wait, and what comes then is dropped, line by line.
        await fill(output, ends, waiting: 1024)
        #expect(output.dropped == 0 && !output.isIdle)
        #expect(!output.append { $0.raw("dropped\n") })
        #expect(!output.append { $0.raw("dropped\n") })
        #expect(output.dropped == 2)
        let accepted = (Self.first + 1024) * 1024
        let start = ContinuousClock.now
        let left = await onThread { output.flush(patience: 100) }
        #expect(ContinuousClock.now - start >= .milliseconds(95))
        // What is left and what is in the socket is all.
        var seen = ends.read().count
        #expect(left + seen >= accepted && left < accepted)
        seen += await ends.read(total: accepted - seen).count
        #expect(seen == accepted)
        #expect(await onThread { output.flush(patience: 20_000) } == 0)
        #expect(ends.read().isEmpty && output.isIdle)
        // There is space again.
        #expect(output.append { $0.raw("last\n") })
        #expect(await ends.read(total: 5) == Array("last\n".utf8))
    }

    @Test func aReaderThatIsSlowIsWaitedFor() async {
        let ends = Ends()
        let output = LineOutput(descriptor: ends.writer)
        await fill(output, ends, waiting: 300)
        let total = 1200 * 1024
        // On a thread of its own: the other tests do not delay it.
        async let reading = onThread {
            var seen = 0
            while seen < total {
                // In all longer than the patience, which counts from the last byte that left.
                usleep(200_000)
                for _ in 0..<48 { seen += ends.read(1024).count }
            }
            return seen
        }
        #expect(await onThread { output.flush(patience: 3000) } == 0)
        #expect(await reading == total)
    }

    /// A loop that writes at the end of its turn: no thread takes part while the reader reads.
    @Test(arguments: [true, false]) func linesOfATurnAreWrittenAtItsEnd(_ isPipe: Bool) {
        let (output, read) = isPipe ? Self.pipeOutput() : Self.socketOutput()
        let turns = Counter()
        output.onPending {
            turns.add()
            return true
        }
        let starts = calls(of: "pthread_create") {
            for line in 0..<3 { #expect(output.append { $0.raw("line \(line)\n") }) }
            #expect(turns.value == 1, "asked for once")
            #expect(read().isEmpty)
            output.writeNow()
            #expect(read() == Array("line 0\nline 1\nline 2\n".utf8))
            output.writeNow()
            #expect(output.append { $0.raw("more\n") } && turns.value == 2)
            output.writeNow()
            #expect(read() == Array("more\n".utf8))
        }
        #expect(starts == 0 && output.isIdle && output.dropped == 0)
    }

    /// The reader takes a part: the thread writes the rest, in order, and later lines behind it. Then the loop writes again.
    @Test(arguments: [true, false]) func whatTheReaderDoesNotTakeIsTheThreads(_ isPipe: Bool) async {
        let (output, read) = isPipe ? Self.pipeOutput() : Self.socketOutput()
        output.onPending { true }
        let count = 1000
        for _ in 0..<count { #expect(output.append { $0.raw(Self.kilobyte) }) }
        output.writeNow()
        #expect(output.append { $0.raw("last\n") })
        output.writeNow()
        var all: [UInt8] = []
        await eventually("all") {
            all += read()
            return all.count >= count * 1024 + 5
        }
        #expect(all == Array((String(repeating: Self.kilobyte, count: count) + "last\n").utf8))
        await eventually("idle") { output.isIdle }
        #expect(output.append { $0.raw("again\n") })
        output.writeNow()
        #expect(read() == Array("again\n".utf8))
    }

    /// Who flushes does not wait for the end of the turn; the loop is asked again for what comes later.
    @Test func aFlushWithinATurn() async {
        let (output, read) = Self.pipeOutput()
        let turns = Counter()
        output.onPending {
            turns.add()
            return true
        }
        #expect(output.append { $0.raw("first\n") })
        #expect(await onThread { output.flush(patience: 20_000) } == 0)
        #expect(read() == Array("first\n".utf8) && turns.value == 1)
        #expect(output.append { $0.raw("second\n") } && turns.value == 2)
        output.writeNow()
        #expect(read() == Array("second\n".utf8) && output.isIdle)
    }

    /// Nobody will read what waits: it is not left over at the end.
    @Test func aReaderThatHasLeft() async {
        let (output, _) = Self.pipeOutput()
        output.onPending { true }
        let failures = Counter()
        output.onFailure { failures.add() }
        #expect(output.append { $0.raw("lost\n") } && !output.isIdle)
        for _ in 0..<2 { output.readerLeft() }
        #expect(output.error == EPIPE && output.isIdle && failures.value == 1)
        #expect(await onThread { output.flush(patience: 20_000) } == 0)
        #expect(!output.append { $0.raw("no more\n") })
    }

    /// A caller that cannot write soon leaves it to the thread.
    @Test func anotherThreadsLinesAreTheThreads() async {
        let (output, read) = Self.pipeOutput()
        output.onPending { false }
        #expect(output.append { $0.raw("line\n") })
        var all: [UInt8] = []
        await eventually("the line") {
            all += read()
            return all == Array("line\n".utf8)
        }
    }

    /// Samples find a limit of lines; other lines do not.
    @Test func samplesFindALimit() {
        let (output, read) = Self.pipeOutput()
        output.onPending { true }
        #expect(output.append(atMost: 2) { $0.raw("a\n") } && output.append(atMost: 2) { $0.raw("b\n") })
        #expect(!output.append(atMost: 2) { $0.raw("c\n") })
        #expect(output.append { $0.raw("event\n") } && output.dropped == 0)
        output.writeNow()
        #expect(output.append(atMost: 2) { $0.raw("d\n") })
        output.writeNow()
        #expect(read() == Array("a\nb\nevent\nd\n".utf8))
    }

    /// A reader that has closed: the thread meets the error and reports it.
    @Test func aTurnOfWhichNobodyReads() async {
        signal(SIGPIPE, SIG_IGN)
        var ends: [Int32] = [-1, -1]
        #expect(Glibc.pipe(&ends) == 0)
        let output = LineOutput(descriptor: ends[1])
        output.onPending { true }
        let counter = Counter()
        output.onFailure { counter.add() }
        close(ends[0])
        #expect(output.append { $0.raw("lost\n") })
        output.writeNow()
        await eventually("the failure") { output.error == EPIPE && counter.value == 1 }
        close(ends[1])
    }

    private static func pipeOutput() -> (LineOutput, () -> [UInt8]) {
        var ends: [Int32] = [-1, -1]
        precondition(Glibc.pipe(&ends) == 0)
        let reader = ends[0]
        _ = fcntl(reader, F_SETFL, O_NONBLOCK)
        return (LineOutput(descriptor: ends[1]), { Self.taken(reader) })
    }

    private static func socketOutput() -> (LineOutput, () -> [UInt8]) {
        let ends = Ends()
        return (LineOutput(descriptor: ends.writer), { ends.read() })
    }

    private static func taken(_ descriptor: Int32) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: 1 << 20)
        let count = Glibc.read(descriptor, &bytes, bytes.count)
        return count > 0 ? Array(bytes[..<count]) : []
    }

    /// The first use of each makes what stays.
    @Test func aLockAndAThreadLeaveNothing() {
        var lock: ThreadLock? = ThreadLock()
        lock = nil
        for (name, expected) in [("pthread_mutex_destroy", 1), ("pthread_cond_destroy", 1), ("free", 3)] {
            lock = ThreadLock()
            lock?.locked {}
            let own = calls(of: name) {}
            #expect(calls(of: name) { lock = nil } - own == expected, "\(name)")
        }
        var number: Int32 = -1
        #expect(calls(of: "pthread_detach") { number = startThread {} } == 1)
        #expect(number == 0)
    }

    @Test func whoBlocksGoesOnWhenTheReaderReads() async {
        let ends = Ends()
        let output = LineOutput(descriptor: ends.writer)
        await fill(output, ends, waiting: 65)
        let isAdded = Flag()
        let thread = Mutex("")
        let adding = Task.detached {
            await onThread {
                let own = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/thread-self")
                thread.withLock { $0 = own ?? "" }
                let added = output.appendBlocking { $0.raw("end\n") }
                isAdded.set()
                return added
            }
        }
        await eventually("its thread sleeps") {
            let stat = try? String(contentsOfFile: "/proc/\(thread.withLock { $0 })/stat", encoding: .utf8)
            return stat?.contains(") S ") == true
        }
        #expect(!isAdded.isSet)
        let all = await ends.read(total: 965 * 1024 + 4)
        #expect(all.suffix(4) == Array("end\n".utf8))
        #expect(await adding.value)
    }

    /// A descriptor that never blocks: the thread waits for it.
    @Test func aDescriptorThatTakesNoMoreNow() async {
        let ends = Ends(isBlocking: false)
        let output = LineOutput(descriptor: ends.writer)
        await fill(output, ends, waiting: 65)
        #expect(output.error == nil)
        let all = await ends.read(total: 965 * 1024)
        #expect(all == Array(String(repeating: Self.kilobyte, count: 965).utf8))
        #expect(await onThread { output.flush(patience: 20_000) } == 0)
    }

    /// What the thread has taken and cannot write is not lost from sight.
    @Test func aReaderThatDoesNotBegin() async {
        let ends = Ends(isBlocking: false)
        var filled = 0
        while case let count = systemWrite(ends.writer, Self.kilobyte, 1024), count > 0 { filled += count }
        let output = LineOutput(descriptor: ends.writer)
        output.append { $0.raw("line\n") }
        for _ in 0..<2 { #expect(await onThread { output.flush(patience: 50) } == 5) }
        #expect(!output.isIdle)
        #expect(await ends.read(total: filled + 5).suffix(5) == Array("line\n".utf8))
        #expect(await onThread { output.flush(patience: 20_000) } == 0)
        #expect(output.isIdle)
    }

    @Test func aLockIsHeldByOne() async {
        final class Count: @unchecked Sendable {
            // Guarded by `lock`.
            var value = 0
        }
        let (lock, count) = (ThreadLock(), Count())
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<4 {
                group.addTask { await onThread { for _ in 0..<50_000 { lock.locked { count.value += 1 } } } }
            }
        }
        #expect(count.value == 200_000)
    }

    @Test func aFullDiskEndsTheOutput() async {
        let full = open("/dev/full", O_WRONLY)
        #expect(full >= 0)
        defer { close(full) }
        let output = LineOutput(descriptor: full)
        let counter = Counter()
        output.onFailure { counter.add() }
        #expect(output.append { $0.raw("lost\n") })
        await eventually("the failure") { output.error == ENOSPC }
        await eventually("the action") { counter.value == 1 }
        #expect(await onThread { output.flush(patience: 20_000) } == 0)
        #expect(!output.append { $0.raw("no more\n") } && !output.appendBlocking { $0.raw("no more\n") })
        #expect(output.dropped == 0 && output.isIdle && counter.value == 1)
    }

    /// The reader closes its end while a caller blocks: it returns.
    @Test func aReaderThatClosesEndsTheWait() async {
        signal(SIGPIPE, SIG_IGN)
        let ends = Ends()
        let output = LineOutput(descriptor: ends.writer)
        let failed = Flag()
        output.onFailure { failed.set() }
        await fill(output, ends, waiting: 65)
        let adding = Task.detached { await onThread { output.appendBlocking { $0.raw("lost\n") } } }
        let flushing = Task.detached { await onThread { output.flush(patience: 60_000) } }
        shutdown(ends.reader, Int32(SHUT_RDWR))
        #expect(await !adding.value)
        #expect(await flushing.value == 0)
        await eventually("the failure") { failed.isSet && output.error == EPIPE && output.isIdle }
    }

    /// The command ends and the reader does not read: who blocks goes on, and what comes then finds a limit.
    @Test func theEndStopsTheWait() async {
        let ends = Ends()
        let output = LineOutput(descriptor: ends.writer)
        await fill(output, ends, waiting: 65)
        let adding = Task.detached { await onThread { output.appendBlocking { $0.raw("last\n") } } }
        output.stopWaiting()
        #expect(await adding.value)
        var accepted = (Self.first + 65) * 1024 + 5
        while output.append({ $0.raw(Self.kilobyte) }) { accepted += 1024 }
        #expect(output.dropped == 1)
        // The summary has a place, but no endless one.
        while await onThread({ output.appendBlocking { $0.raw(Self.kilobyte) } }) { accepted += 1024 }
        #expect(output.dropped == 2)
        #expect(accepted >= (Self.first + 1024 + 64) * 1024 && accepted < (Self.first + 1024 + 66) * 1024)
        #expect(await ends.read(total: accepted).count == accepted)
        #expect(await onThread { output.flush(patience: 20_000) } == 0)
    }

    /// The lines wait, each line tries again to start the thread, and nobody waits for a thread that is not there.
    @Test func aThreadThatCannotStart() async {
        let ends = Ends()
        let output = LineOutput(descriptor: ends.writer)
        for number in 0..<2 {
            let (added, starts) = failing("pthread_create", with: EAGAIN) {
                output.append { $0.raw("line \(number)\n") }
            }
            #expect(added && starts == 1)
        }
        #expect(!output.isIdle && output.error == nil)
        #expect(await onThread { output.flush(patience: 1) } == 14)
        let mebibyte = String(repeating: Self.kilobyte, count: 1024)
        let added = failing("pthread_create", with: EAGAIN, all: true) {
            output.append { $0.raw(mebibyte) } && output.appendBlocking { $0.raw("end\n") }
        }
        #expect(added.result && added.calls == 2)
        #expect(ends.read().isEmpty)
        #expect(!output.append { $0.raw("dropped\n") }, "it starts the thread")
        let all = "line 0\nline 1\n" + mebibyte + "end\n"
        #expect(await ends.read(total: all.utf8.count) == Array(all.utf8))
        #expect(output.dropped == 1)
    }

    @Test func systemCalls() {
        var ends: [Int32] = [-1, -1]
        #expect(pipe(&ends) == 0)
        #expect(systemWrite(ends[1], "ab", 2) == 2)
        systemClose(ends[1])
        var bytes: [UInt8] = [0, 0, 0]
        #expect(read(ends[0], &bytes, 3) == 2 && bytes == [0x61, 0x62, 0])
        #expect(read(ends[0], &bytes, 3) == 0)
        systemClose(ends[0])
        #expect(systemWrite(-1, "a", 1) == -1)
    }
}

private final class Counter: Sendable {
    private let count = Atomic<Int>(0)
    var value: Int { count.load(ordering: .acquiring) }
    func add() { count.add(1, ordering: .releasing) }
}
