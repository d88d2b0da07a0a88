// SPDX-License-Identifier: MIT
import CTendon

/// What a central has done because its adapter, or the kernel, did nothing without reporting an error. All 0 on the
/// virtual radio.
///
/// ```swift
/// let counters = await central.adapterCounters
/// if counters.powerCycles > 0 { print("the adapter stopped working \(counters.powerCycles) times") }
/// ```
public struct AdapterCounters: Sendable, Hashable {
    /// Attempts to connect that were repeated because the kernel did not act on them.
    public var connectReissues: UInt64
    /// Scans that were restarted because no advertisement was received for a minute, which happens in a quiet place too.
    public var scanRestarts: UInt64
    /// Times that the adapter was powered off and on because it did nothing.
    public var powerCycles: UInt64

    /// Creates counters.
    public init(connectReissues: UInt64 = 0, scanRestarts: UInt64 = 0, powerCycles: UInt64 = 0) {
        self.connectReissues = connectReissues
        self.scanRestarts = scanRestarts
        self.powerCycles = powerCycles
    }
}

#if BlueZ || KernelSockets
    extension AdapterCounters {
        init(_ c: tendon_bluez_counters) {
            self.init(connectReissues: c.connect_reissues, scanRestarts: c.scan_restarts, powerCycles: c.power_cycles)
        }
    }
#endif
