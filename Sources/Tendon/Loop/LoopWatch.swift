// SPDX-License-Identifier: MIT
//
// Part of the package trait `MainActorLoop`, see MainQueue.swift.

#if MainActorLoop
    private import CSystemEpoll

    #if canImport(Glibc)
        import Glibc
    #else
        import Musl
    #endif

    /// A thread that waits for a loop's descriptors and for its next deadline, and reports each once. It runs until the
    /// process ends, as the loop does.
    ///
    /// A dispatch source would do the same with two more switches of threads for an event: its own thread is woken
    /// again each time that the source is ready for the next.
    final class LoopWatch: Sendable {
        enum Event {
            /// The loop is to be stepped, then `goOn()` called.
            case readable
            case deadline
        }

        // As of <sys/epoll.h>: Glibc and Musl declare them differently, and Swift does not import all of them.
        private static let readable: UInt32 = 0x001
        private static let once: UInt32 = 1 << 30
        private static let edges: UInt32 = 1 << 31

        private let loop: Int32
        private let timer: Int32
        private let epoll: Int32

        init(_ loop: Int32) throws(TendonError) {
            self.loop = loop
            epoll = epoll_create1(Int32(EPOLL_CLOEXEC))
            timer = timerfd_create(CLOCK_MONOTONIC, Int32(TFD_CLOEXEC | TFD_NONBLOCK))
            guard epoll >= 0, timer >= 0, control(EPOLL_CTL_ADD, loop, Self.once),
                control(EPOLL_CTL_ADD, timer, Self.edges)
            else {
                let number = errno
                _ = [epoll, timer].map { close($0) }
                throw TendonError(status: TendonError.system(number), operation: .start)
            }
        }

        /// From now on `report` is called on the thread.
        func start(_ report: @escaping @Sendable (Event) -> Void) throws(TendonError) {
            try startThread { [epoll, timer] in
                var event = epoll_event()
                while true {
                    let count = epoll_wait(epoll, &event, 1, -1)
                    if count == 1 { report(event.data.fd == timer ? .deadline : .readable) }
                    if count < 0, errno != EINTR { fatalError("the event loop cannot be waited for: \(errno)") }
                }
            }
        }

        /// The descriptors were read: what is left or comes is reported.
        func goOn() { _ = control(EPOLL_CTL_MOD, loop, Self.once) }

        /// Monotonic milliseconds; `.max`: none.
        func setDeadline(_ deadline: UInt64) {
            var time = itimerspec()
            if deadline != .max {
                // Zero would switch the timer off.
                time.it_value = timespec(
                    tv_sec: Int(deadline / 1000), tv_nsec: max(1, Int(deadline % 1000) * 1_000_000))
            }
            timerfd_settime(timer, Int32(TFD_TIMER_ABSTIME), &time, nil)
        }

        private func control(_ operation: Int32, _ descriptor: Int32, _ how: UInt32) -> Bool {
            var event = epoll_event()
            event.events = Self.readable | how
            event.data.fd = descriptor
            return epoll_ctl(epoll, operation, descriptor, &event) == 0
        }
    }
#endif
