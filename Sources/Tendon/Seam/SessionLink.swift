// SPDX-License-Identifier: MIT
import CTendon

/// A connection of the C core that drives a device session. For the loop's thread.
///
/// Keeps itself, the session's memory and its owner alive while the connection is not idle, so that the C core's
/// pointers to them stay valid. After `abandon()` the connection is closed, never opened again, and then released.
package final class SessionLink: @unchecked Sendable {
    // Used only on the loop's thread.
    /// The pairing service to use.
    package enum Pairing {
        /// The pairing service of the radio, if it has one.
        case radio
        /// Pairing is rejected.
        case none
        /// Another one; it must stay valid until the connection is idle.
        case service(CPointer<tendon_pairing_service>)
    }

    /// Memory that the C core's connection points to.
    private struct Memory: @unchecked Sendable {
        // Only kept.
        let inputs: CBlock<tendon_session_inputs>
        let session: AnyObject
    }

    package let radio: RadioCore
    private let connection = CBlock<tendon_connection>()
    private let cache = CBlock<tendon_gatt_cache>()
    private unowned let owner: AnyObject
    private let closed: (tendon_status) -> Void
    private var memory: Memory?
    private var keptAlive: (SessionLink, AnyObject)?
    private var finalised: (() -> Void)?
    private var isAbandoned = false
    private var isFinal = false

    /// - Parameters:
    ///   - owner: kept alive while the connection is not idle; it owns this object.
    ///   - closed: called each time the connection, or the attempt, has ended, after the session was notified. It must
    ///     not retain the owner.
    package init(
        _ radio: RadioCore, to peer: Address, pairing: Pairing = .radio, owner: AnyObject,
        closed: @escaping (tendon_status) -> Void = { _ in }
    ) {
        self.radio = radio
        self.owner = owner
        self.closed = closed
        radio.retain()
        var peer = peer.c
        var callbacks = tendon_connection_callbacks()
        callbacks.context = context(of: self)
        callbacks.connected = { context, _ in
            let link = object(SessionLink.self, context)
            link.radio.connected(to: link.peer)
        }
        callbacks.closed = { context, reason, _ in object(SessionLink.self, context).ended(reason) }
        let service: CPointer<tendon_pairing_service>? =
            switch pairing {
            case .radio: radio.pairing
            case .none: nil
            case .service(let service): service
            }
        tendon_connection_init(connection.pointer, radio.radio, &peer, service, &callbacks)
        loadCache()
    }

    /// The handles that an earlier connection discovered, if the radio has a store of them.
    private func loadCache() {
        guard let store = radio.gattStore else { return }
        var functions = tendon_gatt_store_functions(store.pointer)
        tendon_gatt_cache_init(cache.pointer, connection.member(\.peer), &functions)
        tendon_connection_use_cache(connection.pointer, cache.pointer)
    }

    /// How often the discovery of this connection was answered by the cache.
    package var cacheHits: UInt32 { cache.pointer.pointee.counters.hits }

    /// Drives a session from now on: before the first `connect()`.
    package func attach<Session>(_ inputs: CBlock<tendon_session_inputs>, _ session: CBlock<Session>) {
        attach(inputs, UnsafeMutableRawPointer(session.pointer), in: session)
    }

    /// The same for a session that is a part of other memory.
    package func attach(
        _ inputs: CBlock<tendon_session_inputs>, _ session: UnsafeMutableRawPointer, in memory: AnyObject
    ) {
        self.memory = Memory(inputs: inputs, session: memory)
        tendon_connection_attach(connection.pointer, inputs.pointer, session)
    }

    /// The session is no longer driven: it has another connection. Its memory is kept until this one is idle.
    package func detach() {
        tendon_connection_attach(connection.pointer, nil, nil)
    }

    /// For the session's configuration: the calls that a session makes on its connection.
    package var c: tendon_session_link {
        tendon_session_link(
            context: context(of: self),
            connect: { object(SessionLink.self, $0).connect() },
            disconnect: { object(SessionLink.self, $0).disconnect() },
            pair: { context in
                let link = object(SessionLink.self, context)
                return link.onPair.map { $0() } ?? link.pair()
            },
            bonded: { object(SessionLink.self, $0).isBonded },
            forget: { object(SessionLink.self, $0).forget() })
    }

    /// Called instead of `pair()` when the session requests pairing, for example to prompt the user first.
    package var onPair: (() -> tendon_status)?

    // MARK: Calls

    /// The device to connect to. May be changed while the connection is idle.
    package var peer: Address {
        get { Address(connection.pointer.pointee.peer) }
        set {
            precondition(isIdle, "the peer of a connection that is in use")
            connection.pointer.pointee.peer = newValue.c
            loadCache()
        }
    }

    /// The C connection, for functions that this type does not provide.
    package var pointer: CPointer<tendon_connection> { connection.pointer }

    /// Whether the C core has no pointer to the owner.
    package var isIdle: Bool { connection.pointer.pointee.state == UInt8(TENDON_CONNECTION_IDLE.rawValue) }

    private var calls: tendon_session_link { tendon_connection_session_link(connection.pointer) }

    /// Connects; the session is notified of the result. Fails after `abandon()`, and with the reason of the radio if
    /// the radio has failed.
    package func connect() -> tendon_status {
        if isAbandoned { return Int32(TENDON_ERROR_WRONG_STATE) }
        if let failure = radio.failure { return failure.status }
        let status = calls.connect(connection.pointer)
        radio.loop.core.touched()
        keepAlive()
        return status
    }

    package func disconnect() {
        calls.disconnect(connection.pointer)
        radio.loop.core.touched()
    }

    package func pair() -> tendon_status {
        defer { radio.loop.core.touched() }
        return calls.pair(connection.pointer)
    }

    package var isBonded: Bool { calls.bonded(connection.pointer) }

    package func forget() -> tendon_status { calls.forget(connection.pointer) }

    /// Updates the timer. Call this after you use the session outside its callbacks.
    package func refresh() {
        if !isFinal { tendon_connection_refresh(connection.pointer) }
        radio.loop.core.touched()
    }

    /// Closes the connection permanently. `finalised` is called once it is idle: in this call if it is already.
    package func abandon(_ finalised: (() -> Void)? = nil) {
        guard !isAbandoned else { return }
        isAbandoned = true
        self.finalised = finalised
        disconnect()
        if isIdle { finalise() }
    }

    // MARK: Memory

    private func keepAlive() { keptAlive = isIdle ? nil : (self, owner) }

    private func ended(_ reason: tendon_status) {
        closed(reason)
        // The loop may be in the middle of a step with this connection, and the session may have connected again.
        radio.loop.post { [self] in
            if isAbandoned, isIdle { finalise() }
            keepAlive()
        }
    }

    private func finalise() {
        guard !isFinal else { return }
        isFinal = true
        detach()
        tendon_loop_remove(radio.loop.core.block.pointer, connection.member(\.timer))
        radio.release()
        let body = finalised
        finalised = nil
        body?()
    }

    deinit {
        guard !isFinal else { return }
        // Only idle here. The loop may be in the middle of a step with its timer.
        if radio.loop.isCurrent { detach() }
        radio.loop.post { [radio, connection, cache, memory] in
            tendon_connection_attach(connection.pointer, nil, nil)
            tendon_loop_remove(radio.loop.core.block.pointer, connection.member(\.timer))
            radio.release()
            withExtendedLifetime((cache, memory)) {}
        }
    }
}
