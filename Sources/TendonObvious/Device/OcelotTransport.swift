// SPDX-License-Identifier: MIT
import CTendon
import Tendon

/// The connection of a session: over a radio, or the application's own. For the loop's thread.
protocol OcelotTransport: AnyObject {
    /// Before each operation: opens what it needs.
    func prepare() throws(TendonError)
    /// The device; `nil`: the application does not name it.
    var address: Address? { get }
    /// The product; `nil`: unknown.
    func productId() -> String?
    func connect() -> tendon_status
    func disconnect()
    func pair() -> tendon_status
    func isBonded() -> Bool
    func forget() -> tendon_status
    /// Deadlines may have changed: after each call of the session or of the manager.
    func refresh()
    /// Why it ended the connection by itself; `nil`: the C core knows the reason.
    var reason: tendon_status? { get }
    /// Disconnects permanently. What needs the core until then keeps it.
    func close()
}

/// A connection over a radio.
final class RadioTransport: OcelotTransport {
    private let holder: RadioHolder
    private let peer: Address
    private let product: String
    private unowned let core: OcelotCore
    private var link: SessionLink?

    init(_ holder: RadioHolder, to peer: Address, productId: String, _ core: OcelotCore) {
        self.holder = holder
        self.peer = peer
        product = productId
        self.core = core
    }

    /// A radio that failed is replaced: its connection has ended.
    func prepare() throws(TendonError) {
        let radio = try holder.open()
        guard link?.radio !== radio else { return }
        link?.abandon()
        let link = SessionLink(radio, to: peer, owner: core)
        self.link = link
        link.attach(obviousManagerInputs, core.manager)
    }

    var address: Address? { peer }
    func productId() -> String? { product }
    var reason: tendon_status? { nil }

    func connect() -> tendon_status {
        do throws(TendonError) {
            try prepare()
        } catch {
            return error.status
        }
        return link?.connect() ?? Int32(TENDON_ERROR_WRONG_STATE)
    }

    func disconnect() { link?.disconnect() }
    func pair() -> tendon_status { link?.pair() ?? Int32(TENDON_ERROR_WRONG_STATE) }
    func isBonded() -> Bool { link?.isBonded ?? false }
    func forget() -> tendon_status { link?.forget() ?? Int32(TENDON_ERROR_NOT_FOUND) }
    func refresh() { link?.refresh() }

    func close() {
        link?.abandon()
        // It opens no radio from now on, so that prepare() makes no other connection.
        holder.close()
    }
}
