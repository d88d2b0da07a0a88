// SPDX-License-Identifier: MIT
import CTendon

/// A device of the C core that is served to centrals over a radio: the simulated devices' host. All of it is for the
/// loop's thread.
package final class HostCore: @unchecked Sendable {
    // Used only on the loop's thread; the C core's pointer to it is valid while connections exist, see `abandon()`.
    private let radio: RadioCore
    private let block = CBlock<tendon_peripheral>()
    private let memory: AnyObject
    private var keptAlive: HostCore?
    private var abandoned = false

    package var loop: Loop { radio.loop }
    package var address: Address { radio.address }
    package var radioName: String { radio.name }
    package var connections: Int { tendon_peripheral_count(block.pointer) }

    /// Opens its own radio, listens and advertises. `memory` owns the memory of `device`.
    package init(
        _ choice: RadioChoice, address: Address?, loop: Loop, device: tendon_peripheral_device, memory: AnyObject,
        interval: Duration, bonds: BondStorage = .memory
    ) throws(TendonError) {
        radio = try RadioCore.open(choice, address: address, bonds: bonds, loop: loop)
        self.memory = memory
        var device = device
        var callbacks = tendon_peripheral_callbacks()
        callbacks.context = context(of: self)
        callbacks.idle = { context, _ in object(HostCore.self, context).idle() }
        tendon_peripheral_init(block.pointer, radio.radio, &device, &callbacks)
        let status = tendon_peripheral_open(block.pointer, UInt16(clamping: interval.milliseconds))
        guard status >= 0 else {
            radio.close()
            throw TendonError(status: status, operation: .advertise)
        }
        keptAlive = self
        loop.core.touched()
    }

    /// After using the device from outside of its callbacks.
    package func refresh() {
        tendon_peripheral_refresh(block.pointer)
        loop.core.touched()
    }

    package func readvertise() throws(TendonError) {
        try check(tendon_peripheral_readvertise(block.pointer), .advertise)
    }

    /// What the device shows and enters when a central pairs with it.
    package func setPairingAgent(_ agent: PairingAgent) throws(TendonError) { try radio.setPairingAgent(agent) }

    /// Each link that is there.
    package func forEachBearer(_ body: (CPointer<tendon_att_bearer>) -> Void) {
        forEachLink { body(Tendon.member($0, \.bearer)) }
    }

    package func disconnectAll() {
        forEachLink { tendon_link_close(Tendon.member($0, \.link)) }
    }

    private func forEachLink(_ body: (CPointer<tendon_peripheral_link>) -> Void) {
        let links = first(of: block.member(\.links), as: tendon_peripheral_link.self)
        for index in 0..<Int(TENDON_PERIPHERAL_LINKS) where links[index].used {
            body(links + index)
        }
    }

    /// Stops permanently: disconnects all centrals. The object is released with the last connection.
    package func abandon() {
        guard !abandoned else { return }
        abandoned = true
        tendon_peripheral_close(block.pointer)
        if connections == 0 { idle() }
    }

    /// No link is left, served or not.
    private func idle() {
        radio.close()
        keptAlive = nil
    }
}
