// SPDX-License-Identifier: MIT
import CTendon
import Glibc
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

        /// Nothing of it is left on the loop, and its socket is closed.
        @Test func aWaitThatIsCancelledIsClosed() async throws {
            var ends: [Int32] = [-1, -1]
            // Programs that other tests start do not keep it open.
            let kind = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue)
            try #require(socketpair(AF_UNIX, kind, 0, &ends) == 0)
            let (other, own, isBegun) = (ends[0], ends[1], Flag())
            defer { close(other) }
            let task = Task {
                try await wait { arrival, loop, _, _ in
                    (arrival.pointee.loop, arrival.pointee.lease) = (loop, -1)
                    tendon_source_init(&arrival.pointee.source, own, nil, nil, nil)
                    isBegun.set()
                    return tendon_loop_add(loop, &arrival.pointee.source)
                }
            }
            await eventually("it waits") { isBegun.isSet }
            task.cancel()
            await #expect(throws: TendonError.cancelled) { try await task.value }
            await eventually("the end of its stream") {
                var byte: UInt8 = 0
                return recv(other, &byte, 1, Int32(MSG_DONTWAIT)) == 0
            }
        }
    }
#endif
