// SPDX-License-Identifier: MIT
// A device that is forgotten, in one order for all who want it: its turn ends, its bond is removed, then the outputs are notified.
// So nothing that its connection still reports comes after it.
import CTendon
import Tendon
import TendonOutputs
import TendonSupport

extension Gateway {
    /// Of a request. Returns whether there was a bond. After an error the device is served again, as a new one.
    @TendonActor
    func forget(_ address: Address) async throws(CommandError) -> Bool {
        let isNew = turns.dismiss(address)
        await endTurn(of: address)
        var wasBonded = false
        do throws(TendonError) {
            for central in centrals where try central.forget(address) { wasBonded = true }
        } catch {
            if isNew { turns.recall(address) }
            throw CommandError(error)
        }
        turns.bondChanged(address)
        remove(address)
        return wasBonded
    }

    /// By another program, such as `tendon forget`.
    func bondRemoved(of address: Address) {
        Log.write(.notice, "\(address): its bond was removed; it is left alone until it is paired again")
        forgetServed(address)
    }

    /// The turn of the device ends, and what is known of it goes.
    func forgetServed(_ address: Address) {
        Task { @TendonActor in
            await endTurn(of: address)
            remove(address)
        }
    }

    /// Nothing of the device is kept, and the outputs remove what they have.
    @TendonActor
    private func remove(_ address: Address) {
        let (isIdle, row) = state.withLock { state in
            guard state.turns[address] == nil else { return (false, nil as Int?) }  // it is served again
            state.timings[address] = nil
            return (true, state.known.removeValue(forKey: address)?.row)
        }
        guard isIdle else { return }
        if let row { reporter.release(row) }
        turns.forget(address)
        reporter.events.device(DeviceLabel(nil, address), is: .forgotten)
    }
}
