// SPDX-License-Identifier: MIT
import CTendon
import Tendon

/// Holds the core: it ends when the managers, their sequences and the navigation controller are gone.
final class BeltLifetime: Sendable {
    let core: BeltCore

    init(_ core: BeltCore) { self.core = core }

    deinit {
        let core = core
        core.loop.post { core.abandon() }
    }
}

/// A belt's session of the C core with its radio, its links and its timer. All of it is for the loop's thread.
final class BeltCore: @unchecked Sendable {
    // Touched on the loop's thread alone; the C core's pointers to it are valid until the last link has closed.
    let loop = Loop.shared
    var choice: RadioChoice
    private let bonds: BondStorage
    private let block = CBlock<tendon_feelspace_session>()
    private let knownBelts = CBlock<tendon_feelspace_known>()
    private var radio: RadioCore?
    private var ownsRadio = false
    private var link: BeltLink?
    private var scan: Task<Void, Never>?
    private var timer: LoopTimer?
    private var abandoned = false
    private(set) var navigation: NavigationCore?
    private var waiting: [UInt32: (TendonError?) -> Void] = [:]
    private var log: (entries: [FSBeltError], completion: ([FSBeltError], TendonError?) -> Void)?
    private var connectionUpdates: [EventQueue<FSConnectionUpdate>] = []
    private var commandUpdates: [EventQueue<FSCommandUpdate>] = []
    weak var connectionManager: FSConnectionManager?
    weak var commandManager: FSCommandManager?

    /// What may be read of the C core's session.
    var c: tendon_feelspace_session { _read { yield block.pointer.pointee } }
    var session: CPointer<tendon_feelspace_session> { block.pointer }

    init(_ choice: RadioChoice, bonds: BondStorage, radio: RadioCore? = nil, reconnects: Bool) {
        self.choice = choice
        self.bonds = bonds
        self.radio = radio
        radio?.retain()
        var config = tendon_feelspace_session_config()
        config.link.context = context(of: self)
        config.link.connect = { context in object(BeltCore.self, context).startLink() }
        config.link.disconnect = { context in object(BeltCore.self, context).link?.close() }
        config.link.pair = { context in
            object(BeltCore.self, context).link?.pair() ?? Int32(TENDON_ERROR_WRONG_STATE)
        }
        config.link.bonded = { context in object(BeltCore.self, context).link?.isBonded ?? false }
        config.scan = { context, on in object(BeltCore.self, context).setScanning(on) }
        config.context = context(of: self)
        config.on_event = { context, event, now in
            guard let event else { return }
            object(BeltCore.self, context).received(event, now)
        }
        config.reconnect = reconnects
        tendon_feelspace_session_init(block.pointer, &config)
        timer = LoopTimer(loop.core) { [unowned self] in self.tick() }
    }

    /// Nobody can ask for anything any more: the link ends, and with it this object.
    func abandon() {
        guard !abandoned else { return }
        tendon_feelspace_session_stop_scan(block.pointer, tendon_now_ms())
        tendon_feelspace_session_disconnect(block.pointer, tendon_now_ms())
        abandoned = true
        link?.detach()
        link?.close()
        link = nil
        scan?.cancel()
        timer?.remove()
        timer = nil
        navigation = nil
        for queue in connectionUpdates { queue.finish() }
        for queue in commandUpdates { queue.finish() }
        closeRadio()
    }

    // MARK: Time

    private func tick() {
        let now = tendon_now_ms()
        let inputs = feelspaceSessionInputs.pointer.pointee
        if inputs.deadline(block.pointer) <= now { inputs.tick(block.pointer, now) }
        if let navigation, tendon_feelspace_navigation_deadline(navigation.pointer) <= now {
            tendon_feelspace_navigation_tick(navigation.pointer, now)
        }
        setTimer()
    }

    private func setTimer() {
        var deadline = feelspaceSessionInputs.pointer.pointee.deadline(block.pointer)
        if let navigation { deadline = min(deadline, tendon_feelspace_navigation_deadline(navigation.pointer)) }
        timer?.deadline = deadline
    }

    /// After a call from outside of the loop's callbacks.
    @discardableResult
    func refreshed(_ status: tendon_status) -> tendon_status {
        link?.refresh()
        setTimer()
        return status
    }

    // MARK: The radio

    /// Opens it when need be; what the system says of it is told to the session.
    func openRadio() {
        guard radio == nil, !abandoned else { return }
        do throws(TendonError) {
            radio = try RadioCore.open(choice, bonds: bonds, loop: loop)
            ownsRadio = true
            tendon_feelspace_session_adapter(block.pointer, TENDON_FEELSPACE_ADAPTER_ON, tendon_now_ms())
        } catch {
            let isDown = error.status == Int32(TENDON_RADIO_ERROR_ADAPTER_DOWN)
            tendon_feelspace_session_adapter(
                block.pointer, isDown ? TENDON_FEELSPACE_ADAPTER_OFF : TENDON_FEELSPACE_ADAPTER_ABSENT, tendon_now_ms())
        }
    }

    private func closeRadio() {
        scan?.cancel()
        scan = nil
        if ownsRadio { radio?.close() } else { radio?.release() }
        radio = nil
        ownsRadio = false
    }

    private func radioFailed() {
        closeRadio()
        tendon_feelspace_session_adapter(block.pointer, TENDON_FEELSPACE_ADAPTER_OFF, tendon_now_ms())
        refreshed(0)
    }

    private func startLink() -> tendon_status {
        openRadio()
        guard let radio else { return Int32(TENDON_RADIO_ERROR_ADAPTER_DOWN) }
        link?.detach()
        let link = BeltLink(radio, block.pointer.pointee.peer, owner: self, session: block.pointer)
        self.link = link
        return link.connect()
    }

    private func setScanning(_ on: Bool) -> tendon_status {
        scan?.cancel()
        scan = nil
        guard on else { return 0 }
        openRadio()
        guard let radio else { return Int32(TENDON_RADIO_ERROR_ADAPTER_DOWN) }
        let found: EventSequence<Advertisement>
        do throws(TendonError) {
            found = EventSequence(try radio.scan(ScanOptions(capacity: 1024)))
        } catch {
            return error.status
        }
        scan = Task { @TendonActor [weak self] in
            do {
                var iterator = found.makeAsyncIterator()
                while let advertisement = try await iterator.next(isolation: TendonActor.shared) {
                    guard let self, !Task.isCancelled else { return }
                    self.take(advertisement)
                }
            } catch {
                if !Task.isCancelled { self?.radioFailed() }
            }
        }
        return 0
    }

    private func take(_ advertisement: Advertisement) {
        lending(advertisement.data) { bytes, count in
            var report = tendon_ad_report()
            report.address = advertisement.address.c
            report.rssi = Int8(clamping: advertisement.rssi ?? Int(TENDON_RSSI_UNKNOWN))
            report.data = bytes
            report.length = count
            tendon_feelspace_session_advertised(block.pointer, &report, tendon_now_ms())
        }
        refreshed(0)
    }

    // MARK: What happens

    private func received(_ event: CEvent, _ now: UInt64) {
        if event.pointee.kind == TENDON_FEELSPACE_EVENT_STATE, c.state == TENDON_FEELSPACE_CONNECTED {
            withPointer(to: c.peer) { tendon_feelspace_known_add(knownBelts.pointer, $0) }
        }
        if let navigation { tendon_feelspace_navigation_on_event(navigation.pointer, event, now) }
        takeLog(event.pointee)
        timer?.deadline = 0  // Deadlines have changed: looked at when this step ends.
        if let update = FSConnectionUpdate(event.pointee) {
            for queue in connectionUpdates { queue.push(update) }
            TendonActor.assumeIsolated {
                connectionManager?.log("\(update)")
                if let delegate = connectionManager?.delegate { update.deliver(to: delegate) }
            }
        } else if let update = FSCommandUpdate(event.pointee, c) {
            for queue in commandUpdates { queue.push(update) }
            if case .commandFinished(let id, let error) = update { waiting.removeValue(forKey: id)?(error) }
            TendonActor.assumeIsolated {
                connectionManager?.log("\(update)")
                if let delegate = commandManager?.delegate { update.deliver(to: delegate) }
            }
        }
    }

    /// Called once, when the command is done.
    func await(_ command: UInt32, _ body: @escaping (TendonError?) -> Void) {
        waiting[command] = body
    }

    /// Called once, with what the belt's error log holds.
    func awaitLog(_ body: @escaping ([FSBeltError], TendonError?) -> Void) { log = ([], body) }

    private func takeLog(_ event: tendon_feelspace_event) {
        if event.kind == TENDON_FEELSPACE_EVENT_DEBUG {
            if let entry = FSBeltError(event.packet.data, event.packet.length) { log?.entries.append(entry) }
        } else if event.kind == TENDON_FEELSPACE_EVENT_LOG_FINISHED, let log {
            self.log = nil
            log.completion(log.entries, event.status < 0 ? TendonError(status: event.status, operation: .read) : nil)
        }
    }

    func attach(_ navigation: NavigationCore?) {
        self.navigation = navigation
        refreshed(0)
    }

    var lastKnown: [Address] {
        let known = knownBelts.pointer.pointee
        return elements(known.belts, of: tendon_address.self, known.count).map { Address($0) }
    }

    func isKnown(_ address: Address) -> Bool {
        withPointer(to: address.c) { tendon_feelspace_known_has(knownBelts.pointer, $0) }
    }

    // MARK: Who listens

    func observeConnection(_ lifetime: BeltLifetime) -> EventSequence<FSConnectionUpdate> {
        let queue = EventQueue<FSConnectionUpdate>(loop, capacity: 64, policy: .dropOldest)
        connectionUpdates.append(queue)
        queue.onTermination { [unowned queue] in lifetime.core.connectionUpdates.removeAll { $0 === queue } }
        return EventSequence(queue)
    }

    func observeCommands(_ capacity: Int, _ lifetime: BeltLifetime) -> EventSequence<FSCommandUpdate> {
        let queue = EventQueue<FSCommandUpdate>(loop, capacity: capacity, policy: .dropNewest)
        commandUpdates.append(queue)
        queue.onTermination { [unowned queue] in lifetime.core.commandUpdates.removeAll { $0 === queue } }
        return EventSequence(queue)
    }
}

/// One connection, from its start until it has closed. All of it is for the loop's thread.
private final class BeltLink: @unchecked Sendable {
    // Touched on the loop's thread alone; kept alive by itself while the C core may follow pointers to it.
    private let block = CBlock<tendon_connection>()
    private let radio: RadioCore
    private var keptAlive: BeltLink?
    /// The session's memory, which completions of this link point to.
    private var owner: BeltCore?

    init(_ radio: RadioCore, _ peer: tendon_address, owner: BeltCore, session: CPointer<tendon_feelspace_session>) {
        self.radio = radio
        self.owner = owner
        var peer = peer
        var callbacks = tendon_connection_callbacks()
        callbacks.context = context(of: self)
        callbacks.closed = { context, _, _ in object(BeltLink.self, context).closed() }
        tendon_connection_init(block.pointer, radio.radio, &peer, radio.pairing, &callbacks)
        tendon_connection_attach(block.pointer, feelspaceSessionInputs.pointer, session)
    }

    func connect() -> tendon_status {
        let status = tendon_connection_connect(block.pointer)
        if status >= 0 {
            radio.retain()
            keptAlive = self
        } else {
            owner = nil
        }
        return status
    }

    /// The session has no more to do with it.
    func detach() {
        tendon_connection_attach(block.pointer, nil, nil)
    }

    func close() { tendon_connection_close(block.pointer) }
    func refresh() { if keptAlive != nil { tendon_connection_refresh(block.pointer) } }

    func pair() -> tendon_status {
        let link = tendon_connection_session_link(block.pointer)
        return link.pair(link.context)
    }

    var isBonded: Bool {
        let link = tendon_connection_session_link(block.pointer)
        return link.bonded(link.context)
    }

    private func closed() {
        detach()
        tendon_loop_remove(radio.loop.core.block.pointer, block.member(\.timer))
        // The loop may still be in the middle of a step with this link.
        radio.loop.post { [self] in
            radio.release()
            owner = nil
            keptAlive = nil
        }
    }
}
