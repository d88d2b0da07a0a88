// SPDX-License-Identifier: MIT
// Ctrl-C and SIGTERM: every command ends cleanly, with its summary and status 0.
import Glibc
import Synchronization

/// The wish to end. A second signal ends the program at once.
final class Stop: Sendable {
    static let shared = Stop()

    private struct State {
        var requested = false
        var actions: [@Sendable () -> Void] = []
    }
    private let state = Mutex(State())

    /// Blocks the signals, for this thread and those it starts, and waits for them on a thread of its own. To be called
    /// before any other thread is started.
    static func watchSignals() {
        var signals = sigset_t()
        sigemptyset(&signals)
        sigaddset(&signals, SIGINT)
        sigaddset(&signals, SIGTERM)
        pthread_sigmask(SIG_BLOCK, &signals, nil)
        let watched = signals
        startThread {
            var signals = watched
            var number: Int32 = 0
            while sigwait(&signals, &number) == 0 {
                guard Stop.shared.request() else { _exit(128 + number) }
            }
        }
    }

    var isRequested: Bool { state.withLock { $0.requested } }

    /// False when it was requested before.
    @discardableResult
    func request() -> Bool {
        let actions = state.withLock { state -> [@Sendable () -> Void]? in
            guard !state.requested else { return nil }
            state.requested = true
            return state.actions
        }
        actions?.forEach { $0() }
        return actions != nil
    }

    /// Runs `action` once the end is requested; at once when it was already. From any thread.
    func onRequest(_ action: @escaping @Sendable () -> Void) {
        let late = state.withLock { state in
            state.actions.append(action)
            return state.requested
        }
        if late { action() }
    }

    /// Runs a task that a signal, or the end of `--for`, cancels.
    static func task<Result: Sendable>(
        for milliseconds: UInt64?, _ body: @escaping @Sendable () async throws(CommandError) -> Result
    ) async throws(CommandError) -> Result {
        let work = Task { () async -> Swift.Result<Result, CommandError> in
            do throws(CommandError) { return .success(try await body()) } catch { return .failure(error) }
        }
        shared.onRequest { work.cancel() }
        let timer = Task {
            guard let milliseconds else { return }
            try await Task.sleep(for: .milliseconds(Int64(milliseconds)))
            work.cancel()
        }
        defer { timer.cancel() }
        return try await work.value.get()
    }
}
