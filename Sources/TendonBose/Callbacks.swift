// SPDX-License-Identifier: MIT
import Synchronization
import Tendon

/// Where a callback runs; blocks keep their order.
///
/// ```swift
/// let dispatch = SensorDispatch(queue: .main)
/// dispatch.gestureCallback = { gesture, _ in print(gesture) }
/// ```
public final class CallbackQueue: Sendable {
    /// On the loop's thread, at once: no hop.
    public static let loop = CallbackQueue(nil)
    /// On the main actor.
    public static let main = CallbackQueue { drain in Task { @MainActor in drain() } }

    private struct Waiting {
        var blocks: [@Sendable () -> Void] = []
        var isScheduled = false
    }

    private let schedule: (@Sendable (@escaping @Sendable () -> Void) -> Void)?
    private let waiting = Mutex(Waiting())

    private init(_ schedule: (@Sendable (@escaping @Sendable () -> Void) -> Void)?) {
        self.schedule = schedule
    }

    /// `schedule` brings a block to where callbacks are to run, e.g. `{ queue.async(execute: $0) }`.
    public convenience init(schedule: @escaping @Sendable (@escaping @Sendable () -> Void) -> Void) {
        self.init(.some(schedule))
    }

    /// On an executor of Swift.
    public convenience init(executor: any TaskExecutor) {
        self.init { drain in Task(executorPreference: executor) { drain() } }
    }

    /// From the loop's thread.
    func run(_ block: @escaping @Sendable () -> Void) {
        guard let schedule else { return block() }
        let first = waiting.withLock { waiting in
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

/// A registration; it ends when the token goes, or is told to.
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
