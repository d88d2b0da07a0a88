// SPDX-License-Identifier: MIT
// Output that never blocks who writes. Lines wait in a buffer until the end of a turn of the event loop, which then writes
// them, as far as the reader takes them without waiting. What it does not take, and what goes to a file or a terminal, is
// written by a thread of the output's own.
import CTendon

#if canImport(Glibc)
    import Glibc
#else
    import Musl
#endif

/// A descriptor and the lines that wait for it.
package final class LineOutput: @unchecked Sendable {
    // All members are guarded by `lock`.
    private let descriptor: Int32
    /// The same pipe or socket for writes that never wait.
    private let channel: Channel?
    private let lock = ThreadLock()
    private var pending = LineWriter(capacity: 1 << 16)
    private var spare: [UInt8] = []
    private var isWriting = false
    private var hasThread = false
    private var failure: Int32?
    private var droppedLines: UInt64 = 0
    private var onFailure: (@Sendable () -> Void)?
    private var isEnding = false
    private var schedule: (@Sendable () -> Bool)?
    /// `writeNow()` will be called.
    private var isScheduled = false
    /// Lines that wait.
    private var lines = 0
    /// They wait for the reader, so that gathering more would only delay them.
    private var isBacklog = false
    /// Who can wait, waits from this many bytes on.
    private static let enough = 1 << 16
    /// A line that cannot wait is dropped from this many bytes on.
    private static let capacity = 1 << 20
    /// Additional bytes for the last text of a command, such as its summary.
    private static let reserve = 1 << 16

    /// Microseconds for which more lines may come before they are written.
    private static let gathering: UInt32 = 500
    /// Bytes of one write: it returns when they are taken, so that flush() sees that a slow reader reads.
    private static let piece = 1 << 14

    package init(descriptor: Int32) {
        self.descriptor = descriptor
        channel = Channel(descriptor)
        spare.reserveCapacity(1 << 16)
    }

    deinit { channel?.end() }

    /// Sets who calls `writeNow()`. `schedule` is called when lines begin to wait, on the thread that adds one. It returns
    /// false if the caller cannot call `writeNow()` soon: the output's thread writes then.
    package func onPending(_ schedule: (@Sendable () -> Bool)?) {
        guard channel != nil else { return }
        lock.locked { self.schedule = schedule }
    }

    /// Writes the lines that wait, as many as the reader takes at once. The thread writes the rest. Never blocks.
    package func writeNow() {
        guard let channel else { return }
        lock.locked {
            isScheduled = false
            guard !isWriting, failure == nil, pending.count > 0 else { return }
            spare.removeAll(keepingCapacity: true)
            pending.swapBytes(&spare)
            let written = channel.write(spare)
            guard written < spare.count else {
                lines = 0
                return
            }
            spare.removeFirst(written)
            pending.swapBytes(&spare)
            isBacklog = true
            wakeThread()
        }
    }

    /// `action` is called once, on another thread, when the descriptor takes no more.
    package func onFailure(_ action: @escaping @Sendable () -> Void) {
        lock.locked { onFailure = action }
    }

    /// The reader has closed the pipe, although nothing was written since: the next write would fail.
    package func readerLeft() {
        let action = lock.locked { () -> (@Sendable () -> Void)? in
            guard failure == nil else { return nil }
            failure = EPIPE
            pending.removeAll()
            (isScheduled, lines) = (false, 0)
            lock.wakeAll()
            return onFailure
        }
        action?()
    }

    package var isCompact: Bool {
        get { lock.locked { pending.isCompact } }
        set { lock.locked { pending.isCompact = newValue } }
    }

    /// The number of the error that ended the output.
    package var error: Int32? { lock.locked { failure } }

    /// Lines that were dropped because the reader did not read.
    package var dropped: UInt64 { lock.locked { droppedLines } }

    /// Nothing waits and nothing is being written: what is written now is seen now.
    package var isIdle: Bool { lock.locked { pending.count == 0 && !isWriting } }

    /// Adds a line. Never blocks; false if the line was dropped or the output has failed.
    /// - Parameter isLast: a summary, for which there is space after lines were dropped.
    @discardableResult
    package func append(isLast: Bool = false, _ body: (inout LineWriter) -> Void) -> Bool {
        lock.locked { add(body, limit: LineOutput.capacity + (isLast ? LineOutput.reserve : 0)) }
    }

    /// Adds a line whose loss is counted by the caller. Never blocks; false if `limit` lines wait already, or the output has
    /// failed.
    package func append(atMost limit: Int, _ body: (inout LineWriter) -> Void) -> Bool {
        lock.locked {
            guard lines < limit, pending.count < LineOutput.capacity else { return false }
            return add(body, limit: LineOutput.capacity)
        }
    }

    /// Adds text that must not be lost; blocks while much waits, until `stopWaiting()`. Not on the loop.
    @discardableResult
    package func appendBlocking(_ body: (inout LineWriter) -> Void) -> Bool {
        lock.locked {
            while mustWait { lock.wait() }
            return add(body, limit: isEnding ? LineOutput.capacity + LineOutput.reserve : .max)
        }
    }

    /// The end: nothing waits for the reader any more, except `flush(patience:)`. A line that finds the buffer full is
    /// dropped and counted. From any thread.
    package func stopWaiting() {
        lock.locked {
            isEnding = true
            lock.wakeAll()
        }
    }

    private func add(_ body: (inout LineWriter) -> Void, limit: Int) -> Bool {
        guard failure == nil else { return false }
        guard pending.count < limit else {
            droppedLines += 1
            if !isScheduled, !hasThread { start() }
            return false
        }
        let wasEmpty = pending.count == 0
        body(&pending)
        lines += 1
        // A thread that could not start is tried again with each line.
        if !isWriting, !isScheduled, wasEmpty || !hasThread {
            isScheduled = schedule?() ?? false
            if !isScheduled { wakeThread() }
        }
        return true
    }

    private func wakeThread() {
        if !hasThread { start() }
        lock.wakeAll()
    }

    /// Much waits, and a thread writes it.
    private var mustWait: Bool { pending.count > LineOutput.enough && failure == nil && hasThread && !isEnding }

    /// Waits until all is written; gives up when the reader takes nothing for so long. The bytes that are left.
    package func flush(patience milliseconds: UInt64) -> Int {
        lock.locked {
            var end = tendon_monotonic_ms() + milliseconds
            if isScheduled {
                isScheduled = false  // the loop may stand still, or wait for this call
                wakeThread()
            }
            while failure == nil, pending.count > 0 || isWriting {
                // Woken: the reader has taken a piece, or all.
                if !lock.wait(until: end) { return pending.count + remaining }
                end = tendon_monotonic_ms() + milliseconds
            }
            return failure == nil ? 0 : pending.count + remaining
        }
    }

    // MARK: The thread

    /// Of what the thread writes now.
    private var remaining = 0

    private func start() {
        // Without it the lines wait, and the next one tries again.
        hasThread = startThread { [self] in writeForEver() } == 0
    }

    private func writeForEver() {
        while true {
            lock.locked {
                isWriting = false
                lock.wakeAll()
                while pending.count == 0 { lock.wait() }
                isWriting = true
            }
            // Lines that come together are written together.
            if !lock.locked({ isBacklog }) { usleep(LineOutput.gathering) }
            let bytes = lock.locked { () -> [UInt8] in
                spare.removeAll(keepingCapacity: true)
                pending.swapBytes(&spare)
                (lines, isBacklog) = (0, false)
                remaining = spare.count
                var taken: [UInt8] = []
                swap(&taken, &spare)
                return taken
            }
            let error = write(bytes)
            lock.locked {
                spare = bytes
                guard let error else { return }
                failure = error
                pending.removeAll()
                remaining = 0
            }
            if error != nil {
                let action = lock.locked { onFailure }
                lock.locked {
                    isWriting = false
                    lock.wakeAll()
                }
                action?()
                return
            }
        }
    }

    /// The number of the error; nil: all is written.
    private func write(_ bytes: [UInt8]) -> Int32? {
        bytes.withUnsafeBytes { bytes in
            var written = 0
            while written < bytes.count {
                let piece = min(bytes.count - written, LineOutput.piece)
                let count = systemWrite(descriptor, bytes.baseAddress! + written, piece)
                if count >= 0 {
                    written += count
                    lock.locked {
                        remaining = bytes.count - written
                        lock.wakeAll()
                    }
                } else if errno == EAGAIN {
                    var wait = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
                    poll(&wait, 1, -1)
                } else if errno != EINTR {
                    return errno
                }
            }
            return nil
        }
    }
}

extension LineOutput {
    /// A pipe or a socket, written to without waiting for its reader.
    private enum Channel {
        case socket(Int32)
        /// A description of its own of the same pipe: that of standard output belongs to other programs, too, so it is
        /// not made non-blocking.
        case pipe(Int32)

        /// Nil: a file or a terminal, or a pipe that another user has made.
        init?(_ descriptor: Int32) {
            var information = stat()
            guard fstat(descriptor, &information) == 0 else { return nil }
            switch information.st_mode & S_IFMT {
            case S_IFSOCK: self = .socket(descriptor)
            case S_IFIFO:
                let own = open("/proc/self/fd/\(descriptor)", O_WRONLY | O_NONBLOCK | O_CLOEXEC)
                guard own >= 0 else { return nil }
                self = .pipe(own)
            default: return nil
            }
        }

        func end() {
            if case .pipe(let own) = self { close(own) }
        }

        /// How many bytes were written; 0 also after an error, which the thread then meets and reports.
        func write(_ bytes: [UInt8]) -> Int {
            bytes.withUnsafeBytes { bytes in
                switch self {
                case .socket(let descriptor):
                    max(0, send(descriptor, bytes.baseAddress, bytes.count, Int32(MSG_DONTWAIT | MSG_NOSIGNAL)))
                case .pipe(let descriptor): max(0, systemWrite(descriptor, bytes.baseAddress!, bytes.count))
                }
            }
        }
    }
}

/// A mutex with a condition.
package final class ThreadLock: @unchecked Sendable {
    // Both live as long as the object.
    @usableFromInline let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    private let condition = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)

    package init() {
        pthread_mutex_init(mutex, nil)
        var attributes = pthread_condattr_t()
        pthread_condattr_init(&attributes)
        pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC)
        pthread_cond_init(condition, &attributes)
        pthread_condattr_destroy(&attributes)
    }

    deinit {
        pthread_cond_destroy(condition)
        pthread_mutex_destroy(mutex)
        condition.deallocate()
        mutex.deallocate()
    }

    /// Taken for each sample: the caller has a copy of its own, without metadata that are looked up.
    @inlinable package func locked<Result>(_ body: () -> Result) -> Result {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        return body()
    }

    package func wait() { pthread_cond_wait(condition, mutex) }

    /// False when the time (of tendon_monotonic_ms()) has passed.
    package func wait(until milliseconds: UInt64) -> Bool {
        var time = timespec(
            tv_sec: Int(milliseconds / 1000), tv_nsec: Int(milliseconds % 1000) * 1_000_000)
        return pthread_cond_timedwait(condition, mutex, &time) != ETIMEDOUT
    }

    package func wakeAll() { pthread_cond_broadcast(condition) }
}
