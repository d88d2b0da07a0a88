// SPDX-License-Identifier: MIT
import CTendon
import Synchronization
import Testing

@testable import Tendon

#if BlueZ || KernelSockets
    /// Opening an adapter, with the C core's part played by the test: Tests/C/linux/test_bluez_open.c is about that.
    struct AdapterUseTests {
        @Test func theNameAndTheErrorArePassedOn() async {
            let names = Mutex<[String?]>([])
            await onLoop {
                for adapter in ["hci3", nil] {
                    let error = #expect(throws: TendonError.self) {
                        try RadioCore.openBluez(adapter, .shared) { _, _, name in
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
                    let core = try RadioCore.openBluez(nil, .shared) { radio, _, _ in
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

        @Test func theVirtualRadioHasNoWatchdog() async throws {
            let site = try await Site()
            let central = try await Central(radio: site.radio, bonds: .none)
            #expect(await central.adapterCounters == AdapterCounters())
            await central.close()
        }
    }
#endif
