// SPDX-License-Identifier: MIT
#if ObviousCloud
    import CSystemCurl
    import CTendon
    import Synchronization
    import Tendon
    import TendonObvious

    /// Runs transfers on a thread of its own with libcurl's multi interface.
    ///
    /// Not on Tendon's loop: a TLS handshake and the reading of certificate authorities take tens of milliseconds, which the
    /// loop's notifications would wait for. Not on Swift's pool: its threads must not block. Without transfers the thread
    /// sleeps.
    final class TransferEngine: Sendable {
        private let core: EngineCore

        init() throws(ObviousCloudError) { core = try EngineCore() }

        /// Runs a request; it ends with the task. When it has returned, nothing of it is left. For a task that was
        /// cancelled before, or is cancelled at this moment, the order to cancel may overtake the order to start: a flag
        /// keeps the transfer from starting.
        func run(_ request: HTTPRequest) async -> TransferResult {
            let transfer = Transfer(request)
            return await withTaskCancellationHandler {
                await withCheckedContinuation { continuation in
                    transfer.prepare(continuation)
                    core.post(.start(transfer))
                }
            } onCancel: {
                transfer.isCancelled.store(true, ordering: .releasing)
                core.post(.cancel(transfer))
            }
        }

        /// Transfers in progress; for tests.
        var active: Int { core.active.load(ordering: .acquiring) }

        deinit { core.post(.stop) }
    }

    private final class EngineCore: @unchecked Sendable {
        enum Command {
            case start(Transfer)
            case cancel(Transfer)
            case stop
        }

        private struct Inbox {
            var commands: [Command] = []
            var isRunning = false
            /// nil when the thread has ended.
            var multi: UnsafeMutableRawPointer?
        }

        private static let initialized: Bool = tendon_curl_global_init() == CURLE_OK

        private let inbox: Mutex<Inbox>
        let active = Atomic(0)
        // Used on the engine's thread only.
        private let multi: UnsafeMutableRawPointer
        private var transfers: [UnsafeMutableRawPointer: Transfer] = [:]

        init() throws(ObviousCloudError) {
            guard Self.initialized, let multi = curl_multi_init() else {
                throw ObviousCloudError(.storage, "libcurl cannot be initialized")
            }
            self.multi = multi
            let address = UInt(bitPattern: multi)
            inbox = Mutex(Inbox(multi: UnsafeMutableRawPointer(bitPattern: address)))
        }

        /// From any thread. The first transfer starts the thread.
        func post(_ command: Command) {
            let mustStart = inbox.withLock { inbox in
                guard let multi = inbox.multi else { return false }
                if case .stop = command, !inbox.isRunning {
                    curl_multi_cleanup(multi)
                    inbox.multi = nil
                    return false
                }
                inbox.commands.append(command)
                defer { inbox.isRunning = true }
                // Inside the lock: the thread ends only after it has emptied the inbox.
                if inbox.isRunning { curl_multi_wakeup(multi) }
                return !inbox.isRunning
            }
            if mustStart { start() }
        }

        private func start() {
            do {
                try startThread { self.run() }
            } catch {
                let commands = inbox.withLock { inbox in
                    inbox.isRunning = false
                    defer { inbox.commands = [] }
                    return inbox.commands
                }
                for case .start(let transfer) in commands { transfer.finish(.failure(.storage)) }
            }
        }

        private func run() {
            while take() {
                var running: Int32 = 0
                curl_multi_perform(multi, &running)
                collect()
                endStalled()
                curl_multi_poll(multi, nil, 0, pause(), nil)
            }
        }

        /// Takes what was posted; false: the engine ends.
        private func take() -> Bool {
            let commands = inbox.withLock { inbox in
                defer { inbox.commands = [] }
                return inbox.commands
            }
            for command in commands {
                switch command {
                case .start(let transfer): begin(transfer)
                case .cancel(let transfer): cancel(transfer)
                case .stop:
                    for transfer in Array(transfers.values) { finish(transfer, transfer.cancelled()) }
                    inbox.withLock { inbox in
                        inbox.multi = nil
                        curl_multi_cleanup(multi)
                    }
                    return false
                }
            }
            return true
        }

        private func begin(_ transfer: Transfer) {
            guard !transfer.isCancelled.load(ordering: .acquiring) else { return transfer.finish(transfer.cancelled()) }
            guard transfer.begin(), let easy = transfer.easy, curl_multi_add_handle(multi, easy) == CURLM_OK else {
                transfer.end()
                return transfer.finish(.failure(.storage))
            }
            transfers[easy] = transfer
            active.store(transfers.count, ordering: .releasing)
        }

        private func cancel(_ transfer: Transfer) {
            guard let easy = transfer.easy, transfers[easy] === transfer else { return }
            finish(transfer, transfer.cancelled())
        }

        /// Removes the transfer first: a caller that continues finds nothing of it.
        private func finish(_ transfer: Transfer, _ result: TransferResult) {
            if let easy = transfer.easy {
                curl_multi_remove_handle(multi, easy)
                transfers[easy] = nil
            }
            transfer.end()
            active.store(transfers.count, ordering: .releasing)
            transfer.finish(result)
        }

        private func collect() {
            var left: Int32 = 0
            while let message = curl_multi_info_read(multi, &left) {
                var code = CURLE_OK
                guard let easy = tendon_curl_message_done(message, &code), let transfer = transfers[easy] else {
                    continue
                }
                finish(transfer, transfer.result(code))
            }
        }

        private func endStalled() {
            let now = tendon_monotonic_ms()
            for transfer in Array(transfers.values) {
                if let deadline = transfer.progressDeadline, deadline <= now { finish(transfer, transfer.timedOut()) }
            }
        }

        /// Milliseconds until something of our own is due; libcurl's own times are shorter if need be.
        private func pause() -> Int32 {
            let now = tendon_monotonic_ms()
            let next = transfers.values.compactMap { $0.progressDeadline }.min()
            guard let next else { return Int32.max }
            return Int32(clamping: next > now ? next - now : 0)
        }
    }
#endif
