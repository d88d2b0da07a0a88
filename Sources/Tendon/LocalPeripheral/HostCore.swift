// SPDX-License-Identifier: MIT
import CTendon

/// A device of the C core that is served to centrals over a radio: the host of the simulated devices and of the
/// program's own. All of it is for the loop's thread.
package final class HostCore: @unchecked Sendable {
    // Used only on the loop's thread; the C core's pointer to it is valid while connections exist, see `abandon()`.
    private let radio: RadioCore
    private let isRadioShared: Bool
    private let block = CBlock<tendon_peripheral>()
    private var memory: AnyObject?
    private var subscriptions: CBlock<tendon_subscription_store>?
    private var keptAlive: HostCore?
    private var abandoned = false
    private var released = false
    /// Called for each central that is served, and once at the end of its connection.
    var onConnected: ((CPointer<tendon_peripheral_link>) -> Void)?
    var onDisconnected: ((CPointer<tendon_peripheral_link>, tendon_status) -> Void)?

    /// Called when it is closed and no link is left.
    var onIdle: (() -> Void)?

    package var loop: Loop { radio.loop }
    package var address: Address { radio.address }
    package var radioName: String { radio.name }
    package var connections: Int { tendon_peripheral_count(block.pointer) }
    var isOpen: Bool { block.pointer.pointee.open }
    var isAdvertising: Bool { block.pointer.pointee.open && !block.pointer.pointee.paused }

    /// Neither listens nor advertises yet. `memory` owns the memory of `device`, until this is abandoned and no link is
    /// left. A shared radio is that of a central; another one is closed at the end.
    init(_ radio: RadioCore, isShared: Bool, device: tendon_peripheral_device, memory: AnyObject) {
        self.radio = radio
        isRadioShared = isShared
        self.memory = memory
        if isShared { radio.retain() }
        var device = device
        var callbacks = tendon_peripheral_callbacks()
        callbacks.context = context(of: self)
        callbacks.connected = { context, link, _ in
            if let link { object(HostCore.self, context).onConnected?(link) }
        }
        callbacks.disconnected = { context, link, reason, _ in
            if let link { object(HostCore.self, context).onDisconnected?(link, reason) }
        }
        callbacks.idle = { context, _ in object(HostCore.self, context).idle() }
        tendon_peripheral_init(block.pointer, radio.radio, &device, &callbacks)
    }

    /// Opens its own radio, listens and advertises.
    package convenience init(
        _ choice: RadioChoice, address: Address?, loop: Loop, device: tendon_peripheral_device, memory: AnyObject,
        interval: Duration, bonds: BondStorage = .memory
    ) throws(TendonError) {
        let radio = try RadioCore.open(choice, address: address, bonds: bonds, loop: loop)
        self.init(radio, isShared: false, device: device, memory: memory)
        do throws(TendonError) {
            try open(interval)
        } catch {
            abandon()
            throw error
        }
    }

    /// Keeps what bonded centrals subscribe to. Called before `open()`.
    func keepSubscriptions(in store: CBlock<tendon_subscription_store>?) {
        subscriptions = store
        tendon_peripheral_keep_subscriptions(block.pointer, store?.pointer)
    }

    /// Why the latest access to the storage of subscriptions failed.
    var subscriptionFailure: TendonError? {
        guard let status = subscriptions?.pointer.pointee.status, status < 0 else { return nil }
        return TendonError(status: status, operation: .subscribe)
    }

    /// Listens and advertises.
    func open(_ interval: Duration) throws(TendonError) {
        guard !abandoned else { throw TendonError(status: Int32(TENDON_ERROR_WRONG_STATE), operation: .advertise) }
        try check(tendon_peripheral_open(block.pointer, UInt16(clamping: interval.milliseconds)), .advertise)
        keptAlive = self
        loop.core.touched()
    }

    /// After using the device from outside of its callbacks.
    package func refresh() {
        tendon_peripheral_refresh(block.pointer)
        loop.core.touched()
    }

    package func readvertise() throws(TendonError) {
        defer { loop.core.touched() }
        try check(tendon_peripheral_readvertise(block.pointer), .advertise)
    }

    /// Stops advertising and listening; the connections stay.
    func pause() throws(TendonError) {
        defer { loop.core.touched() }
        try check(tendon_peripheral_pause(block.pointer), .advertise)
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

    /// Stops listening and advertising, and disconnects all centrals.
    func close() {
        tendon_peripheral_close(block.pointer)
        loop.core.touched()
        if connections == 0 { idle() }
    }

    /// Stops permanently: disconnects all centrals. The object is released with the last connection.
    package func abandon() {
        guard !abandoned else { return }
        abandoned = true
        close()
    }

    /// Closed, and no link is left, served or not.
    private func idle() {
        keptAlive = nil
        onIdle?()
        guard abandoned, !released else { return }
        released = true
        onConnected = nil
        onDisconnected = nil
        onIdle = nil
        if isRadioShared { radio.release() } else { radio.close() }
        // The loop may be in the middle of a callback of this device.
        loop.post { self.memory = nil }
    }
}
