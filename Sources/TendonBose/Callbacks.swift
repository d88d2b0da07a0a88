// SPDX-License-Identifier: MIT
import Synchronization
import Tendon

/// The execution context of callbacks; calls keep their order.
///
/// A queue holds a limited number of calls. If the callbacks are too slow, further calls are dropped and counted.
///
/// ```swift
/// let dispatch = SensorDispatch(queue: .main)
/// dispatch.gestureDataCallback = { gesture, _ in print(gesture) }
/// ```
public final class CallbackQueue: Sendable {
    /// On the loop's thread, immediately: nothing is queued.
    public static let loop = CallbackQueue(0, nil)
    /// On the main actor; at most 1024 calls are queued.
    public static let main = CallbackQueue(1024) { drain in Task { @MainActor in drain() } }

    private struct Waiting {
        var blocks: [@Sendable () -> Void] = []
        var isScheduled = false
        var dropped: UInt64 = 0
    }

    private let capacity: Int
    private let schedule: (@Sendable (@escaping @Sendable () -> Void) -> Void)?
    private let waiting = Mutex(Waiting())

    private init(_ capacity: Int, _ schedule: (@Sendable (@escaping @Sendable () -> Void) -> Void)?) {
        self.capacity = max(capacity, 1)
        self.schedule = schedule
    }

    /// Runs callbacks with `schedule`.
    ///
    /// - Parameters:
    ///   - capacity: maximum number of queued calls.
    ///   - schedule: runs a block later, for example `{ queue.async(execute: $0) }`.
    public convenience init(
        capacity: Int = 1024, schedule: @escaping @Sendable (@escaping @Sendable () -> Void) -> Void
    ) {
        self.init(capacity, .some(schedule))
    }

    /// Runs callbacks on a task executor.
    ///
    /// - Parameters:
    ///   - capacity: maximum number of queued calls.
    ///   - executor: the executor of the callbacks.
    public convenience init(capacity: Int = 1024, executor: any TaskExecutor) {
        self.init(capacity) { drain in Task(executorPreference: executor) { drain() } }
    }

    /// Calls dropped because the queue was full.
    public var dropped: UInt64 { waiting.withLock { $0.dropped } }

    /// From the loop's thread.
    func run(_ block: @escaping @Sendable () -> Void) {
        guard let schedule else { return block() }
        let first = waiting.withLock { waiting in
            guard waiting.blocks.count < capacity else {
                waiting.dropped += 1
                return false
            }
            waiting.blocks.append(block)
            defer { waiting.isScheduled = true }
            return !waiting.isScheduled
        }
        if first { schedule { self.drain() } }
    }

    private func drain() {
        while true {
            let blocks = waiting.withLock { waiting in
                let blocks = waiting.blocks
                waiting.blocks = []
                waiting.isScheduled = !blocks.isEmpty
                return blocks
            }
            if blocks.isEmpty { return }
            for block in blocks { block() }
        }
    }
}

/// A registration. It ends when the token is released or cancelled.
///
/// ```swift
/// let token = device.addEventListener { event in print(event) }
/// token.cancel()
/// ```
public final class ListenerToken: Sendable {
    private let body: Mutex<(@Sendable () -> Void)?>

    init(_ body: @escaping @Sendable () -> Void) {
        self.body = Mutex(body)
    }

    /// Ends the registration; any number of times, from any thread.
    public func cancel() {
        let once = body.withLock { body in
            defer { body = nil }
            return body
        }
        once?()
    }

    deinit {
        cancel()
    }
}
