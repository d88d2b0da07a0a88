// SPDX-License-Identifier: MIT
// Devices that were forgotten while this program runs.
import Synchronization
import Tendon

/// A forgotten device that still advertises would be connected to, and so be known again, a second later. It is left alone
/// until it is paired, until new devices may pair, or until the configuration is read again.
final class DismissedDevices: Sendable {
    private struct State {
        var dismissed: Set<Address> = []
        /// The radio that had a bond with the device when it was last looked at.
        var bonds: [Address: ObjectIdentifier] = [:]
    }
    private let state = Mutex(State())
    /// Devices that are remembered.
    private static let limit = 4096

    /// False: it was dismissed before.
    @discardableResult
    func insert(_ address: Address) -> Bool {
        state.withLock { state in
            if state.dismissed.count >= DismissedDevices.limit, !state.dismissed.contains(address) {
                state.dismissed.removeFirst()
            }
            state.bonds[address] = nil
            return state.dismissed.insert(address).inserted
        }
    }

    func remove(_ address: Address) { state.withLock { _ = $0.dismissed.remove(address) } }

    func removeAll() { state.withLock { $0.dismissed = [] } }

    func contains(_ address: Address) -> Bool { state.withLock { $0.dismissed.contains(address) } }

    /// Whether a radio has a bond with the device now: with a new one it is dismissed no more. True if the radio had one
    /// before: another program has removed it.
    func look(at address: Address, isBonded: Bool, with radio: ObjectIdentifier) -> Bool {
        state.withLock { state in
            guard isBonded else {
                guard state.bonds[address] == radio else { return false }
                state.bonds[address] = nil
                return true
            }
            state.dismissed.remove(address)
            if state.bonds.count >= DismissedDevices.limit { state.bonds.removeAll() }
            state.bonds[address] = radio
            return false
        }
    }
}
