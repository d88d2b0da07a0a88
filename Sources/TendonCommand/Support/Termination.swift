// SPDX-License-Identifier: MIT
// Ctrl-C, SIGTERM and SIGHUP: every command ends cleanly, with its summary and status 0.
import CTendon
import Synchronization
import Tendon
import TendonSupport

#if canImport(Glibc)
    import Glibc
#else
    import Musl
#endif

/// Where the signal handler writes. Set once, before the handler is.
nonisolated(unsafe) private var signalPipe: Int32 = -1

/// The request to end the command. A second signal ends the program immediately.
final class Termination: Sendable {
    static let shared = Termination()

    private struct State {
        var requested = false
        var isSignalled = false
        var restarts = false
        var actions: [@Sendable () -> Void] = []
        /// Instead of the end, for SIGHUP.
        var reload: (@Sendable () -> Void)?
        /// A pipe or socket, and what is done when its other end is closed.
        var watched: (descriptor: Int32, action: @Sendable () -> Void)?
    }
    private let state = Mutex(State())
    /// Milliseconds after which a second signal counts.
    private static let patience: UInt64 = 500

    /// Call it once, before other threads are started. The handler writes into a pipe that a separate thread reads.
    /// Signal masks are not sufficient, because Swift's main thread waits with all signals unblocked.
    static func watchSignals() {
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else { return }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        signalPipe = ends[1]
        let reading = ends[0]
        let number = TendonSupport.startThread {
            var first: UInt64?
            var number: UInt8 = 0
            while Termination.shared.wait(for: reading), read(reading, &number, 1) == 1 {
                if number == Termination.lookAgain { continue }
                if Int32(number) == SIGHUP, let reload = Termination.shared.state.withLock({ $0.reload }) {
                    reload()
                    continue
                }
                let now = tendon_monotonic_ms()
                // Shells and timeout(1) may send one signal twice.
                if let first, now > first + Termination.patience { _exit(128 + Int32(number)) }
                first = first ?? now
                Termination.shared.state.withLock { $0.isSignalled = true }
                Termination.shared.request()
            }
        }
        // Without the thread, signals end the process as they would by themselves.
        guard number == 0 else {
            signalPipe = -1
            for end in ends { systemClose(end) }
            return
        }
        var action = sigaction()
        action[keyPath: Termination.handler] = { number in
            var byte = UInt8(truncatingIfNeeded: number)
            let saved = errno
            _ = write(signalPipe, &byte, 1)
            errno = saved
        }
        action.sa_flags = SA_RESTART
        sigaction(SIGINT, &action, nil)
        sigaction(SIGTERM, &action, nil)
        // nohup(1) ignores it; a terminal that goes away ends the command.
        var hangup = sigaction()
        if sigaction(SIGHUP, nil, &hangup) == 0, !isIgnored(hangup) { sigaction(SIGHUP, &action, nil) }
    }

    /// No signal: there is another descriptor to watch.
    private static let lookAgain: UInt8 = 0

    /// Calls `action`, on the thread of signals, when the other end of a pipe or socket is closed.
    func watch(_ descriptor: Int32, _ action: @escaping @Sendable () -> Void) {
        guard signalPipe >= 0 else { return }
        state.withLock { $0.watched = (descriptor, action) }
        var byte = Termination.lookAgain
        _ = systemWrite(signalPipe, &byte, 1)
    }

    /// Waits for a byte of the pipe; meanwhile looks after what is watched. False: the pipe cannot be read.
    private func wait(for reading: Int32) -> Bool {
        while true {
            let watched = state.withLock { $0.watched }
            var waiting = [
                pollfd(fd: reading, events: Int16(POLLIN), revents: 0),
                pollfd(fd: watched?.descriptor ?? -1, events: 0, revents: 0),
            ]
            guard poll(&waiting, nfds_t(waiting.count), -1) >= 0 else {
                if errno == EINTR { continue }
                return false
            }
            if waiting[1].revents != 0 {
                state.withLock { $0.watched = nil }
                watched?.action()
            }
            if waiting[0].revents != 0 { return true }
        }
    }

    #if canImport(Glibc)
        private static var handler: WritableKeyPath<sigaction, (@convention(c) (Int32) -> Void)?> {
            \.__sigaction_handler.sa_handler
        }
    #else
        private static var handler: WritableKeyPath<sigaction, (@convention(c) (Int32) -> Void)?> {
            \.__sa_handler.sa_handler
        }
    #endif

    private static func isIgnored(_ action: sigaction) -> Bool {
        action[keyPath: Termination.handler].map { unsafeBitCast($0, to: Int.self) } == 1  // SIG_IGN
    }

    /// Whether a signal was received.
    var isSignalled: Bool { state.withLock { $0.isSignalled } }

    /// Whether the program starts again when its command has ended.
    var restarts: Bool { state.withLock { $0.restarts && !$0.isSignalled } }

    /// Requests the end, and a new start with the same arguments.
    func requestRestart() {
        state.withLock { $0.restarts = true }
        request()
    }

    var isRequested: Bool { state.withLock { $0.requested } }

    /// Requests the end. Returns false if it was requested before.
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

    /// Runs `action` when the end is requested; in this call if it was already. From any thread.
    func onRequest(_ action: @escaping @Sendable () -> Void) {
        let late = state.withLock { state in
            state.actions.append(action)
            return state.requested
        }
        if late { action() }
    }

    /// SIGHUP runs `action`, on the thread of signals, instead of requesting the end.
    func onHangup(_ action: @escaping @Sendable () -> Void) { state.withLock { $0.reload = action } }

    /// Runs a task that a signal, or the end of `--for`, cancels. Output waits no more then, because what is cancelled
    /// may wait for it.
    static func task<Result: Sendable>(
        for milliseconds: UInt64?, isolation: isolated (any Actor)? = #isolation,
        _ body: @escaping @Sendable () async throws(CommandError) -> Result
    ) async throws(CommandError) -> Result {
        // On the loop, also what belongs to no actor: the pool of the system's library would wake up once a second.
        let work = Task(executorPreference: LoopPreference.shared) { () async -> Swift.Result<Result, CommandError> in
            do throws(CommandError) { return .success(try await body()) } catch { return .failure(error) }
        }
        shared.onRequest { work.cancel() }
        let timer = Task { @TendonActor in
            guard let milliseconds else { return }
            try await Loop.shared.sleep(for: .milliseconds(Int64(milliseconds)))
            Output.stopWaiting()
            work.cancel()
        }
        defer { timer.cancel() }
        return try await work.value.get()
    }
}
