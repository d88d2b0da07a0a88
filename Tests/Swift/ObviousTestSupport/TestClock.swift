// SPDX-License-Identifier: MIT
#if ObviousCloud
    import Synchronization
    import TendonObvious

    /// Time that passes when somebody waits for it.
    public final class TestClock: ObviousClock {
        private struct State {
            var now: UInt64 = 1000
            public var sleeps: [UInt64] = []
        }
        private let state = Mutex(State())

        public init() {}

        public var now: UInt64 { state.withLock { $0.now } }
        /// Milliseconds of each sleep so far.
        public var sleeps: [UInt64] { state.withLock { $0.sleeps } }

        public func sleep(until time: UInt64) async throws {
            try Task.checkCancellation()
            state.withLock { state in
                state.sleeps.append(time - min(time, state.now))
                state.now = max(state.now, time)
            }
        }
    }
#endif
