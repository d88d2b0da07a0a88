// SPDX-License-Identifier: MIT
import CTendon
import Glibc
import Synchronization
import Testing

@testable import Tendon

#if BlueZ || KernelSockets
    /// Opening an adapter, with the C core's part played by the test: Tests/C/linux/adapter/test_open.c is about that.
    struct AdapterUseTests {
        @Test func theNameAndTheErrorArePassedOn() async {
            let names = Mutex<[String?]>([])
            await onLoop {
                for adapter in ["hci3", nil] {
                    let error = #expect(throws: TendonError.self) {
                        try RadioCore.prepareBluez(adapter, .shared) { _, name in
                            let text = name.map { String(cString: $0) }
                            names.withLock { $0.append(text) }
                            return Int32(TENDON_RADIO_ERROR_NO_CAP_NET_ADMIN)
                        }
                    }
                    #expect(error?.status == Int32(TENDON_RADIO_ERROR_NO_CAP_NET_ADMIN))
                }
            }
            #expect(names.withLock { $0 } == ["hci3", nil])
        }

        /// A radio that never did anything but count.
        @Test func whatTheWatchdogDidIsPassedOn() async throws {
            let ops = CBlock<tendon_radio_ops>()
            ops.pointer.pointee.close = { _ in }
            try await onLoop {
                Result { () throws(TendonError) in
                    let core = try RadioCore.prepareBluez(nil, .shared) { radio, _ in
                        radio.pointee.radio.ops = UnsafePointer(ops.pointer)
                        return 0
                    }
                    #expect(core.adapterCounters == AdapterCounters())
                    let radio = UnsafeMutableRawPointer(core.radio).assumingMemoryBound(to: tendon_bluez_radio.self)
                    radio.pointee.counters.connect_reissues = 3
                    radio.pointee.counters.scan_restarts = 2
                    radio.pointee.counters.power_cycles = 1
                    #expect(
                        core.adapterCounters == AdapterCounters(connectReissues: 3, scanRestarts: 2, powerCycles: 1))
                    core.close()
                }
            }.get()
            withExtendedLifetime(ops) {}
        }

        /// Opening an adapter may block for 20 s: what else runs on the loop does not notice.
        @Test func theLoopGoesOnWhileAnAdapterOpens() async throws {
            let gate = Gate()
            let opening = Task {
                try await RadioCore.attached(.shared) { () throws(TendonError) in
                    gate.wait()
                    throw TendonError(status: Int32(TENDON_RADIO_ERROR_COMMAND_TIMEOUT), operation: .openRadio)
                }
            }
            await gate.reached()
            #expect(await Loop.shared.run { Loop.shared.isCurrent })
            gate.open()
            let error = await #expect(throws: TendonError.self) { try await opening.value }
            #expect(error?.status == Int32(TENDON_RADIO_ERROR_COMMAND_TIMEOUT))
        }

        /// Power off, then on: the other way round the adapter would stay off.
        @Test func workOnAdaptersIsDoneInOrder() async {
            let gate = Gate()
            let done = Mutex<[Int]>([])
            let work = SerialWork()
            work.run {
                gate.wait()
                done.withLock { $0.append(1) }
            }
            work.run { done.withLock { $0.append(2) } }
            await gate.reached()
            #expect(done.withLock { $0 } == [])
            gate.open()
            await withCheckedContinuation { finished in work.run { finished.resume() } }
            #expect(done.withLock { $0 } == [1, 2])
        }

        @Test func theVirtualRadioHasNoWatchdog() async throws {
            let site = try await Site()
            let central = try await Central(radio: site.radio, bonds: .none)
            #expect(await central.adapterCounters == AdapterCounters())
            await central.close()
        }
    }

    /// A thread waits at it until it is opened.
    private final class Gate: Sendable {
        /// A byte on the way to the one end says that a thread waits; one to the other end lets it go on.
        private let outside, inside: Int32

        init() {
            var ends: [Int32] = [0, 0]
            precondition(socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0, &ends) == 0)
            (outside, inside) = (ends[0], ends[1])
        }

        deinit {
            close(outside)
            close(inside)
        }

        private static func receive(_ end: Int32) {
            var byte: UInt8 = 0
            precondition(recv(end, &byte, 1, 0) == 1)
        }

        private static func signal(_ end: Int32) { precondition(send(end, [1], 1, 0) == 1) }

        func wait() {
            Gate.signal(inside)
            Gate.receive(inside)
        }

        /// Returns once a thread waits.
        func reached() async {
            await Task(executorPreference: BlockingWork.shared) { Gate.receive(self.outside) }.value
        }

        func open() { Gate.signal(outside) }
    }
#endif
