// SPDX-License-Identifier: MIT
// The kernel's monitor channel into a file: every HCI packet of every controller, from all programs.
import TendonSupport
#if BlueZ || KernelSockets
    import CTendon
    import Tendon

    /// A capture on this thread, by a loop of its own. The blocks live as long as the object.
    final class MonitorCapture {
        private let loop = CBlock<tendon_loop>()
        private let file = CBlock<tendon_capture>()
        private let monitor = CBlock<tendon_bluez_monitor>()
        private var isStopping = false
        private var isCreated = false
        private var isOpen = false
        private let path: String

        init(_ path: String, adapter: String?) throws(CommandError) {
            self.path = path
            try check(tendon_loop_init(loop.pointer), .start)
            let created = path.withCString { tendon_capture_create(file.pointer, $0, UInt32(TENDON_CAPTURE_MONITOR)) }
            guard created >= 0 else {
                throw CommandError(file: path, created)
            }
            isCreated = true
            let status: tendon_status
            if let adapter {
                status = adapter.withCString {
                    tendon_bluez_monitor_open(monitor.pointer, loop.pointer, file.pointer, $0)
                }
            } else {
                status = tendon_bluez_monitor_open(monitor.pointer, loop.pointer, file.pointer, nil)
            }
            try check(status, .openRadio)
            isOpen = true
        }

        deinit {
            if isOpen { tendon_bluez_monitor_close(monitor.pointer) }
            if isCreated { _ = tendon_capture_close(file.pointer) }
            tendon_loop_close(loop.pointer)
        }

        /// Runs until the time has passed, a signal is received, or the file cannot be written. How many records the
        /// kernel lost.
        func run(for milliseconds: UInt64?) throws(CommandError) -> UInt32 {
            tendon_loop_on_wake(
                loop.pointer, { context, _ in object(MonitorCapture.self, context).isStopping = true },
                context(of: self))
            Termination.shared.onRequest(wake: loop)
            let end = milliseconds.map { tendon_monotonic_ms() + $0 } ?? .max
            while !isStopping, tendon_monotonic_ms() < end, file.pointer.pointee.status >= 0 {
                try check(tendon_loop_step(loop.pointer, end), .receive)
            }
            let lost = tendon_bluez_monitor_lost(monitor.pointer)
            tendon_bluez_monitor_close(monitor.pointer)
            let failed = file.pointer.pointee.status
            let closed = tendon_capture_close(file.pointer)
            isCreated = false
            isOpen = false
            guard failed >= 0, closed >= 0 else { throw CommandError(file: path, failed < 0 ? failed : closed) }
            return lost
        }

        private func check(_ status: tendon_status, _ operation: TendonError.Operation) throws(CommandError) {
            guard status >= 0 else { throw CommandError(TendonError(status: status, operation: operation)) }
        }
    }
#endif
