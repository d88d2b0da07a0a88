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
    }
#endif
