// SPDX-License-Identifier: MIT
import CTendon
import Synchronization
import TestSupport
import Testing

@testable import Tendon

#if BlueZ || KernelSockets
    /// Waiting for an adapter, with the C core's part played by the test: Tests/C/linux/adapter/test_arrival.c is about that.
    struct AdapterArrivalTests {
        private func wait(_ begin: @escaping AdapterArrival.Start) async throws(TendonError) {
            try await LoopContext(.shared).wait(for: AdapterArrival(.shared, begin))
        }

        /// Begins, and calls back from the loop with this status.
        private static func reporting(_ status: tendon_status) -> AdapterArrival.Start {
            { arrival, _, context, onAdapter in
                arrival.pointee.source.fd = -1
                nonisolated(unsafe) let lent = context
                Loop.shared.post { onAdapter(lent, status, tendon_monotonic_ms()) }
                return 0
            }
        }

        @Test func anAdapterArrives() async throws {
            for _ in 0..<3 { try await wait(Self.reporting(0)) }
        }

        @Test func theReasonOfAnEndIsThrown() async throws {
            let status = Int32(TENDON_RADIO_ERROR_NO_KERNEL_SUPPORT)
            await #expect(throws: TendonError(status: status, operation: .openRadio)) {
                try await wait(Self.reporting(status))
            }
        }

        @Test func aWaitThatDoesNotBegin() async throws {
            let status = Int32(TENDON_ERROR_INVALID_ARGUMENT)
            await #expect(throws: TendonError(status: status, operation: .openRadio)) {
                try await wait { _, _, _, _ in status }
            }
            await #expect(throws: TendonError(status: status, operation: .openRadio)) {
                try await Central.waitForAdapter("eth0")
            }
        }

        @Test func aCancelledTaskWaitsForNothing() async throws {
            let begun = Mutex(0)
            let task = Task {
                withUnsafeCurrentTask { $0?.cancel() }
                try await wait { _, _, _, _ in
                    begun.withLock { $0 += 1 }
                    return 0
                }
            }
            await #expect(throws: TendonError.cancelled) { try await task.value }
            #expect(begun.withLock { $0 } == 0)
        }
    }
#endif
