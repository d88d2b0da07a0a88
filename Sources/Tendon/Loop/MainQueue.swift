// SPDX-License-Identifier: MIT
//
// Package trait `MainActorLoop`: the shared loop does not run on its own thread. The main queue drives it; a thread only
// waits for the loop's epoll descriptor and its next deadline. This file is the only one that knows Dispatch.

#if MainActorLoop
    import CTendon
    import Dispatch
    import Synchronization

    /// With the package trait `MainActorLoop`, the main actor: delegates and handlers run on the main queue, and code that
    /// is isolated to the main actor calls the vendors' interfaces without `await`.
    ///
    /// ```swift
    /// await TendonActor.run { print(Loop.shared.isCurrent) }   // true
    /// ```
    public typealias TendonActor = MainActor

    /// Drives a loop from the main queue.
    ///
    /// A loop with its own thread runs everything that a packet resumed before it reads the next one: a task that waits
    /// for a device subscribes to its values in time. The main queue has no such order: an event of the descriptor that
    /// is queued already would overtake the tasks that were resumed last. Hence the fence: a block at the end of the main
    /// queue, and no packet is read until it has run.
    final class MainQueue: @unchecked Sendable {
        // Used only on the main queue, except for constant and atomic members.
        private static let key = DispatchSpecificKey<Bool>()
        /// Fences in a row after which the descriptors are read although entries keep coming.
        private static let patience = 8
        private let watch: LoopWatch
        private let isScheduled = Atomic<Bool>(false)
        private var isTurning = false
        /// The descriptors or the deadlines are to be looked at.
        private var isDue = false
        /// The watch reports the descriptors again after `goOn()`.
        private var isReported = false
        private var isFenced = false
        /// The watch waits for the end of this turn, and passes the fence that it places.
        private var isWatchTurn = false
        private var isWatchFence = false
        /// Entries ran after the fence was placed; what they resumed stands behind it.
        private var isFenceStale = false
        private var fences = 0
        private var armed = UInt64.max
        private let loop: CPointer<tendon_loop>
        private let runEntries: @Sendable () -> Bool
        private let poll: @Sendable () -> Void

        /// `runEntries` runs the pending entries and returns false if there were none; `poll` reads the descriptors once.
        init(
            _ loop: CPointer<tendon_loop>, runEntries: @escaping @Sendable () -> Bool,
            poll: @escaping @Sendable () -> Void
        ) throws(TendonError) {
            watch = try LoopWatch(loop.pointee.epoll_fd)
            self.loop = loop
            self.runEntries = runEntries
            self.poll = poll
            DispatchQueue.main.setSpecific(key: Self.key, value: true)
            // Synchronous: once `dispatchMain()` serves the main queue, what is called this way runs on the calling thread if the
            // queue is idle. No other thread is woken, for the fence after it neither.
            try watch.start { [unowned self] event in
                var isFencePending = DispatchQueue.main.sync { self.take(event) }
                while isFencePending { isFencePending = DispatchQueue.main.sync { self.passWatchFence() } }
            }
        }

        /// Returns true if the watch is to pass a fence.
        private func take(_ event: LoopWatch.Event) -> Bool {
            switch event {
            case .readable: isReported = true
            case .deadline: armed = .max
            }
            isDue = true
            return watchTurn { turn() }
        }

        private func passWatchFence() -> Bool { watchTurn { passFence() } }

        private func watchTurn(_ body: () -> Void) -> Bool {
            isWatchTurn = true
            isWatchFence = false
            body()
            isWatchTurn = false
            return isWatchFence
        }

        /// True on the main queue, whichever thread serves it.
        var isCurrent: Bool { DispatchQueue.getSpecific(key: Self.key) != nil }

        /// Something waits, or a deadline may have changed. From any thread.
        func schedule() {
            guard !isScheduled.exchange(true, ordering: .acquiringAndReleasing) else { return }
            DispatchQueue.main.async { [self] in
                isScheduled.store(false, ordering: .releasing)
                turn()
            }
        }

        /// The same from the main queue: changes within a turn are processed at its end.
        func touched() {
            if !isTurning { schedule() }
        }

        private func turn() {
            guard !isTurning else { return }
            isTurning = true
            var isQuiet = !runEntries()
            if !isQuiet { isFenceStale = true }
            if isDue, !isFenced, isQuiet || fences >= Self.patience {
                isDue = false
                isQuiet = false
                fences = 0
                poll()
                if isReported {
                    isReported = false
                    watch.goOn()
                }
            }
            isTurning = false
            if !isQuiet, !isFenced { placeFence() }
            arm(tendon_loop_deadline(loop))
        }

        private func placeFence() {
            isFenced = true
            isFenceStale = false
            if isWatchTurn {
                isWatchFence = true
            } else {
                DispatchQueue.main.async { [self] in passFence() }
            }
        }

        private func passFence() {
            fences += 1
            let isPassed = !isFenceStale || fences >= Self.patience
            if isPassed { isFenced = false } else { placeFence() }
            turn()
            if !isFenced { fences = 0 }
        }

        private func arm(_ deadline: UInt64) {
            guard deadline != armed else { return }
            armed = deadline
            watch.setDeadline(deadline)
        }
    }
#endif
