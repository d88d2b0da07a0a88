// SPDX-License-Identifier: MIT
//
// Package trait `MainActorLoop`: the shared loop without its own thread. The main queue drives it, by a dispatch source
// on the loop's epoll descriptor and a timer for its next deadline. This file is the only one that knows Dispatch.

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
    final class MainQueue: @unchecked Sendable {
        // Used only on the main queue, except for constant and atomic members.
        private static let key = DispatchSpecificKey<Bool>()
        private let descriptor: any DispatchSourceRead
        private let timer: any DispatchSourceTimer
        private let isScheduled = Atomic<Bool>(false)
        private var isTurning = false
        private var armed = UInt64.max
        private let loop: CPointer<tendon_loop>
        private let step: @Sendable () -> Bool

        /// `step` runs pending entries and polls the descriptors once; it returns true if it must be called again.
        init(_ loop: CPointer<tendon_loop>, _ step: @escaping @Sendable () -> Bool) {
            self.loop = loop
            self.step = step
            DispatchQueue.main.setSpecific(key: Self.key, value: true)
            descriptor = DispatchSource.makeReadSource(fileDescriptor: loop.pointee.epoll_fd, queue: .main)
            timer = DispatchSource.makeTimerSource(queue: .main)
            descriptor.setEventHandler { [unowned self] in turn() }
            timer.setEventHandler { [unowned self] in
                armed = .max
                turn()
            }
            timer.schedule(deadline: .distantFuture)
            descriptor.activate()
            timer.activate()
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
            let hasMore = step()
            isTurning = false
            if hasMore { schedule() }
            arm(tendon_loop_deadline(loop))
        }

        private func arm(_ deadline: UInt64) {
            guard deadline != armed else { return }
            armed = deadline
            guard deadline != .max else { return timer.schedule(deadline: .distantFuture) }
            let now = tendon_monotonic_ms()
            timer.schedule(
                deadline: .now() + .milliseconds(Int(clamping: deadline > now ? deadline - now : 0)),
                leeway: .nanoseconds(0))
        }
    }
#endif
