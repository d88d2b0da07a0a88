// SPDX-License-Identifier: MIT
// Output that never blocks who writes: lines wait in a buffer, a thread of its own hands them to the system, as many at
// a time as have come meanwhile.
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
    private let lock = ThreadLock()
    private var pending = LineWriter(capacity: 1 << 16)
    private var spare: [UInt8] = []
    private var isWriting = false
    private var hasThread = false
    private var failure: Int32?
    private var droppedLines: UInt64 = 0
    private var onFailure: (@Sendable () -> Void)?
    private var waiting: [CheckedContinuation<Void, Never>] = []
    private var isEnding = false
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
        spare.reserveCapacity(1 << 16)
    }

    /// `action` is called once, on another thread, when the descriptor takes no more.
    package func onFailure(_ action: @escaping @Sendable () -> Void) {
        lock.locked { onFailure = action }
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
            resumeWaiting()
            lock.wakeAll()
        }
    }

    private func add(_ body: (inout LineWriter) -> Void, limit: Int) -> Bool {
        guard failure == nil else { return false }
        if !hasThread { start() }
        guard pending.count < limit else {
            droppedLines += 1
            return false
        }
        let wasEmpty = pending.count == 0
        body(&pending)
        if wasEmpty, !isWriting { lock.wakeAll() }
        return true
    }

    /// Suspends while much waits, so that samples wait in their sequence, where they are counted.
    package func ready() async {
        guard lock.locked({ mustWait }) else { return }
        await withCheckedContinuation { continuation in
            let waits = lock.locked {
                guard mustWait else { return false }
                waiting.append(continuation)
                return true
            }
            if !waits { continuation.resume() }
        }
    }

    /// Much waits, and a thread writes it.
    private var mustWait: Bool { pending.count > LineOutput.enough && failure == nil && hasThread && !isEnding }

    /// Waits until all is written; gives up when the reader takes nothing for so long. The bytes that are left.
    package func flush(patience milliseconds: UInt64) -> Int {
        lock.locked {
            var end = tendon_monotonic_ms() + milliseconds
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
            usleep(LineOutput.gathering)
            let bytes = lock.locked { () -> [UInt8] in
                spare.removeAll(keepingCapacity: true)
                pending.swapBytes(&spare)
                remaining = spare.count
                resumeWaiting()
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
                resumeWaiting()
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

    private func resumeWaiting() {
        guard !waiting.isEmpty else { return }
        let ready = waiting
        waiting.removeAll(keepingCapacity: true)
        for continuation in ready { continuation.resume() }
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

/// A mutex with a condition.
package final class ThreadLock: @unchecked Sendable {
    // Both live as long as the object.
    private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
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

    package func locked<Result>(_ body: () -> Result) -> Result {
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
