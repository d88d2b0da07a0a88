// SPDX-License-Identifier: MIT
import CTendon

extension Central {
    /// Returns when a Bluetooth adapter exists: at once, or when one is plugged in. Nothing wakes the process until then.
    /// Returns as well when one appears that is not configured, since opening it says what it lacks.
    ///
    /// The adapter of a central can be unplugged; its scans and connections end then, with
    /// `TENDON_RADIO_ERROR_NO_ADAPTER`. Wait, and open another central:
    ///
    /// ```swift
    /// while !Task.isCancelled {
    ///     try await Central.waitForAdapter()
    ///     let central = try await Central(radio: .bluez())
    ///     do { for try await found in try await central.scan() { print(found.address) } } catch { print(error) }
    /// }
    /// ```
    ///
    /// - Parameters:
    ///   - name: `hci0` and so on, an address, or a USB path as in `1-1.4`; `nil`: any adapter.
    ///   - loop: the event loop that waits.
    public static func waitForAdapter(_ name: String? = nil, loop: Loop = .shared) async throws(TendonError) {
        #if BlueZ || KernelSockets
            try await LoopContext(loop).wait(
                for: AdapterArrival(loop, AdapterArrival.start(name, tendon_bluez_await_adapter)))
        #else
            throw TendonError(status: Int32(TENDON_RADIO_ERROR_NO_KERNEL_SUPPORT), operation: .openRadio)
        #endif
    }

    /// The same, but an adapter that another program has switched off is not enough: returns when it is on again, or when
    /// no other program is left that could switch it on. Opening it does that then.
    package static func waitForUsableAdapter(_ name: String?, loop: Loop = .shared) async throws(TendonError) {
        #if BlueZ || KernelSockets
            try await LoopContext(loop).wait(
                for: AdapterArrival(loop, AdapterArrival.start(name, tendon_bluez_await_usable_adapter)))
        #else
            throw TendonError(status: Int32(TENDON_RADIO_ERROR_NO_KERNEL_SUPPORT), operation: .openRadio)
        #endif
    }
}

#if BlueZ || KernelSockets
    /// One wait for an adapter. For the loop's thread.
    package final class AdapterArrival: @unchecked Sendable {
        // Used only on the loop's thread.
        /// Begins to wait, as `tendon_bluez_await_adapter()` does.
        package typealias Start =
            @Sendable (
                _ arrival: CPointer<tendon_bluez_arrival>, _ loop: CPointer<tendon_loop>,
                _ context: UnsafeMutableRawPointer,
                _ onAdapter: @escaping @convention(c) (UnsafeMutableRawPointer?, tendon_status, UInt64) -> Void
            ) -> tendon_status

        private let loop: Loop
        private let begin: Start
        private let arrival = CBlock<tendon_bluez_arrival>()
        private let result: Pending<Void, TendonError>

        package init(_ loop: Loop, _ begin: @escaping Start) {
            self.loop = loop
            self.begin = begin
            result = Pending(loop)
        }

        fileprivate typealias Wait =
            @Sendable (
                CPointer<tendon_bluez_arrival>?, CPointer<tendon_loop>?, UnsafePointer<CChar>?,
                UnsafeMutableRawPointer?,
                (@convention(c) (UnsafeMutableRawPointer?, tendon_status, UInt64) -> Void)?
            ) -> tendon_status

        fileprivate static func start(_ name: String?, _ wait: @escaping Wait) -> Start {
            { arrival, loop, context, onAdapter in
                guard let name else { return wait(arrival, loop, nil, context, onAdapter) }
                return name.withCString { wait(arrival, loop, $0, context, onAdapter) }
            }
        }

        fileprivate func wait(isolation: isolated (any Actor)) async throws(TendonError) {
            if Task.isCancelled { throw .cancelled }
            let status = begin(arrival.pointer, loop.core.block.pointer, context(of: self)) { context, status, _ in
                let arrival = object(AdapterArrival.self, context)
                arrival.result.finish(
                    status < 0 ? .failure(TendonError(status: status, operation: .openRadio)) : .success(()))
                // The loop may be in the middle of a step with its source.
                arrival.loop.post { withExtendedLifetime(arrival) {} }
            }
            try check(status, .openRadio)
            loop.core.touched()
            try await result.value { [self] in
                tendon_bluez_arrival_close(arrival.pointer)
                loop.core.touched()
                loop.post { withExtendedLifetime(self) {} }
            }
        }
    }

    extension LoopContext {
        package func wait(for arrival: AdapterArrival) async throws(TendonError) {
            try await arrival.wait(isolation: self)
        }
    }
#endif
