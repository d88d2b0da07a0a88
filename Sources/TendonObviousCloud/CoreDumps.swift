// SPDX-License-Identifier: MIT
#if ObviousCloud
    import CSystemCurl
    import Synchronization

    /// Whether there are core dumps of the process: not while a payment is sent, as libcurl and TLS then have card data in
    /// memory that is like any other. A process without core dumps keeps none.
    final class CoreDumps: Sendable {
        static let ofProcess = CoreDumps(
            arePermitted: { tendon_process_dumpable() == 1 }, permit: { tendon_process_set_dumpable($0 ? 1 : 0) })

        private struct State {
            var users = 0
            var werePermitted = false
        }

        private let state = Mutex(State())
        private let isPermitted: @Sendable () -> Bool
        private let permit: @Sendable (Bool) -> Void

        init(arePermitted: @escaping @Sendable () -> Bool, permit: @escaping @Sendable (Bool) -> Void) {
            isPermitted = arePermitted
            self.permit = permit
        }

        var arePermitted: Bool { isPermitted() }

        /// No core dump is made while `body` runs.
        func prevented<Value: Sendable, Failure: Error>(
            _ body: () async throws(Failure) -> Value
        ) async throws(Failure) -> Value {
            state.withLock { state in
                state.users += 1
                guard state.users == 1 else { return }
                state.werePermitted = isPermitted()
                if state.werePermitted { permit(false) }
            }
            defer {
                state.withLock { state in
                    state.users -= 1
                    if state.users == 0, state.werePermitted { permit(true) }
                }
            }
            return try await body()
        }
    }
#endif
