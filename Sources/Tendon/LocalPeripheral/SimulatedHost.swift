// SPDX-License-Identifier: MIT
import CTendon
import Synchronization

#if canImport(Glibc)
    import Glibc
#else
    import Musl
#endif

/// A simulated device of any family: its C memory, served on its own radio until the last reference is released. Use
/// `device` only on the loop's thread.
package final class SimulatedHost<Device>: Sendable {
    /// The device, and what it points to.
    private final class Memory: @unchecked Sendable {
        // Used only on the loop's thread.
        let block = CBlock<Device>()
        let kept: [any AnyObject & Sendable]

        init(_ kept: [any AnyObject & Sendable]) { self.kept = kept }
    }

    private let memory: Memory
    package let host: HostCore
    /// Its own.
    package let address: Address

    package var device: CPointer<Device> { memory.block.pointer }
    package var loop: Loop { host.loop }

    private init(_ memory: Memory, _ host: HostCore) {
        self.memory = memory
        self.host = host
        address = host.address
    }

    deinit {
        let host = host
        host.loop.post { host.abandon() }
    }

    /// Opens the radio and advertises. Without an address it gets one that differs from the others of this process.
    package static func open(
        radio: RadioChoice, address: Address?, loop: Loop, interval: Duration,
        keeping kept: [any AnyObject & Sendable],
        prepare: @escaping @Sendable (CPointer<Device>) -> tendon_status,
        seam: @escaping @Sendable (CPointer<Device>) -> tendon_peripheral_device
    ) async throws(TendonError) -> SimulatedHost {
        let made = await loop.run { () -> Result<SimulatedHost, TendonError> in
            do throws(TendonError) {
                let memory = Memory(kept)
                try check(prepare(memory.block.pointer), .start)
                let host = try HostCore(
                    radio, address: address ?? nextSimulatedAddress(), loop: loop,
                    device: seam(memory.block.pointer), memory: memory, interval: interval)
                return .success(SimulatedHost(memory, host))
            } catch {
                return .failure(error)
            }
        }
        return try made.get()
    }
}

private let made = Atomic<UInt32>(0)

/// Differs from the address of this program's central, which the virtual radio derives from the process id.
package func nextSimulatedAddress() -> Address {
    let number = UInt64(made.wrappingAdd(1, ordering: .relaxed).newValue & 0xFF)
    return Address(0xD200_0000_0000 | UInt64(UInt32(bitPattern: getpid())) << 8 | number, type: .random)
}
