// SPDX-License-Identifier: MIT
import CTendon
import Glibc
import Testing

@testable import Tendon

/// Which devices may pair, as Swift sets it; and errors as people read them.
struct PairingPolicyTests {
    private func mayPair(_ core: RadioCore, _ address: Address, after ms: UInt64 = 0) -> Bool {
        var peer = address.c
        return tendon_radio_may_pair(core.radio, &peer, tendon_monotonic_ms() + ms)
    }

    @Test func thePolicyReachesTheRadio() async throws {
        let directory = "/tmp/tendon-policy-\(getpid())"
        defer { rmdir(directory) }
        await onLoop {
            let listed = Address(0xC102_0304_0501, type: .random)
            let twin = Address(0xC102_0304_0501, type: .public)
            guard let core = try? RadioCore.open(.virtual(directory: directory), bonds: .memory, loop: .shared) else {
                Issue.record("no radio")
                return
            }
            #expect(mayPair(core, twin))
            core.setPairingPolicy(.restricted())
            #expect(!mayPair(core, listed))
            core.setPairingPolicy(.restricted(allowed: [Address(0xC102_0304_0599, type: .random), listed]))
            #expect(mayPair(core, listed))
            #expect(!mayPair(core, twin))
            core.setPairingPolicy(.restricted(window: .seconds(60)))
            #expect(mayPair(core, twin))
            #expect(mayPair(core, twin, after: 59_000))
            #expect(!mayPair(core, twin, after: 61_000))
            core.setPairingPolicy(.restricted(window: .seconds(Int64.max)))
            #expect(mayPair(core, twin, after: 1 << 60))
            core.setPairingPolicy(.restricted(window: .microseconds(1)))
            #expect(!mayPair(core, twin, after: 2))
            core.setPairingPolicy(.unrestricted)
            #expect(mayPair(core, twin, after: 61_000))
            core.close()
        }
    }

    @Test func aConnectionIsToldOnce() async {
        let directory = "/tmp/tendon-told-\(getpid())"
        defer { rmdir(directory) }
        await onLoop {
            let (device, other) = (Address(0xC102_0304_0501, type: .random), Address(0xC102_0304_0502, type: .random))
            guard let core = try? RadioCore.open(.virtual(directory: directory), bonds: .memory, loop: .shared) else {
                Issue.record("no radio")
                return
            }
            var calls = 0
            core.onConnection(to: device) { calls += 1 }
            for address in [other, device, device] { core.connected(to: address) }
            #expect(calls == 1)
            core.close()
        }
    }

    @Test func errorsHaveTheirNumber() {
        let full = TendonError(status: TendonError.system(ENOSPC), operation: .receive)
        #expect(full.cause == "the disk has no space left (SYSTEM_ENOSPC, 28)")
        #expect(full.description == "receive: the disk has no space left (SYSTEM_ENOSPC, 28)")
        let refused = TendonError(status: Int32(TENDON_RADIO_ERROR_PAIRING_NOT_ALLOWED), operation: .pair)
        #expect(
            refused.cause
                == "the device is not bonded, and pairing with new devices is not enabled (RADIO_ERROR_PAIRING_NOT_ALLOWED)"
        )
        let ours = TendonError(status: Int32(TENDON_BOSE_ERROR_DEVICE_NOT_FOUND), operation: .connect)
        #expect(ours.cause == "\(ours.text) (\(ours.name))")
    }
}
