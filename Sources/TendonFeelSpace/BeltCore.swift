// SPDX-License-Identifier: MIT
import CTendon
import Synchronization
import Tendon

typealias BeltLifetime = Lifetime<BeltCore>

/// A belt's session of the C core with its radio, its connection and its timer. Use it only on the loop's thread.
final class BeltCore: Abandonable, @unchecked Sendable {
    // Used only on the loop's thread. The C core's pointers to it are valid while a connection is not idle.
    let loop = Loop.shared
    /// The radio to use; `nil` if the manager was created with a central.
    var choice: RadioChoice?
    let connectionFeed = Feed<FSConnectionUpdate>(Loop.shared)
    let commandFeed = Feed<FSCommandUpdate>(Loop.shared)
    private let block = CBlock<tendon_feelspace_session>()
    private let knownBelts = CBlock<tendon_feelspace_known>()
    private(set) var holder: RadioHolder!
    private var link: SessionLink?
    /// Calls that wait for the end of the link, which follows that of the session.
    private let ending = Waiters()
    private var timer: LoopTimer?
    private var abandoned = false
    private(set) var navigation: NavigationCore?
    private var outcomes = CommandOutcomes()
    private var log: (entries: [FSBeltError], completion: ([FSBeltError], TendonError?) -> Void)?
    private(set) var reported: UInt64 = 0
    private(set) var orientations: UInt64 = 0
    private lazy var search = Search(
        holder,
        report: { [unowned self] report, now in
            tendon_feelspace_session_advertised(block.pointer, report, now)
            refreshed(0)
        },
        failed: { _ in })

    /// The readable state of the C core's session.
    var c: tendon_feelspace_session { _read { yield block.pointer.pointee } }
    var session: CPointer<tendon_feelspace_session> { block.pointer }
    /// The reason why the radio could not be opened, or why it failed.
    var radioFailure: TendonError? { holder.failure }

    /// Opens its own radio.
    convenience init(_ choice: RadioChoice, bonds: BondStorage, reconnects: Bool) {
        self.init(reconnects: reconnects)
        self.choice = choice
        holder = RadioHolder({ [unowned self] in self.choice ?? .automatic }, bonds: { bonds }, loop: loop)
        observeRadio()
    }

    /// Uses the radio of the application's central and never opens another one.
    convenience init(on central: Central, reconnects: Bool) {
        self.init(reconnects: reconnects)
        holder = RadioHolder(central.core, keeping: central)
        observeRadio()
    }

    private init(reconnects: Bool) {
        var config = tendon_feelspace_session_config()
        config.link.context = context(of: self)
        config.link.connect = { context in object(BeltCore.self, context).startLink() }
        config.link.disconnect = { context in object(BeltCore.self, context).link?.disconnect() }
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

    /// Called when the last reference was released: ends the connection; then this object is released.
    func abandon() {
        guard !abandoned else { return }
        tendon_feelspace_session_disconnect(block.pointer, tendon_monotonic_ms())
        abandoned = true
        search.stop()
        link?.abandon()
        timer = nil
        for waiter in outcomes.takeAll() { waiter.completion(.cancelled) }
        connectionFeed.close()
        commandFeed.close()
        holder.close()
    }

    // MARK: Time

    private func tick() {
        let now = tendon_monotonic_ms()
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

    /// Updates the timer. Call this after using the session outside the loop's callbacks.
    @discardableResult
    func refreshed(_ status: tendon_status) -> tendon_status {
        link?.refresh()
        setTimer()
        return status
    }

    // MARK: The radio

    /// Opens the radio if it is not open; the session is notified of its state.
    func openRadio() {
        guard !abandoned, holder.radio == nil else { return }
        do throws(TendonError) {
            try holder.open()
            tendon_feelspace_session_adapter(block.pointer, TENDON_FEELSPACE_ADAPTER_ON, tendon_monotonic_ms())
        } catch {
            tendon_feelspace_session_adapter(block.pointer, Self.adapter(error), tendon_monotonic_ms())
        }
    }

    private static func adapter(_ failure: TendonError) -> tendon_feelspace_adapter {
        switch failure.status {
        case Int32(TENDON_RADIO_ERROR_ADAPTER_DOWN), Int32(TENDON_RADIO_ERROR_RFKILL): TENDON_FEELSPACE_ADAPTER_OFF
        case Int32(TENDON_RADIO_ERROR_NO_CAP_NET_RAW): TENDON_FEELSPACE_ADAPTER_UNAUTHORIZED
        default: TENDON_FEELSPACE_ADAPTER_ABSENT
        }
    }

    private func observeRadio() {
        holder.onFailure = { [unowned self] _ in
            tendon_feelspace_session_adapter(block.pointer, TENDON_FEELSPACE_ADAPTER_OFF, tendon_monotonic_ms())
            refreshed(0)
        }
    }

    private func startLink() -> tendon_status {
        do throws(TendonError) {
            let link = SessionLink(
                try holder.open(), to: Address(block.pointer.pointee.peer), owner: self,
                closed: { [unowned self] _ in linkEnded() })
            self.link?.detach()
            self.link = link
            link.attach(feelspaceSessionInputs, block)
            return link.connect()
        } catch {
            return error.status
        }
    }

    private func linkEnded() { ending.finish(.success(())) }

    /// Waits until there is no link, or until the task is cancelled.
    func linkEnds(isolation: isolated (any Actor)? = #isolation) async {
        if let link, !link.isIdle { try? await ending.wait(on: loop) }
    }

    private func setScanning(_ on: Bool) -> tendon_status {
        search.stop()
        guard on else { return 0 }
        do throws(TendonError) {
            try search.start()
            return 0
        } catch {
            return error.status
        }
    }

    // MARK: Events

    /// Read for each event: a call of assumeIsolated would take memory.
    static let isLogged = Atomic<Bool>(false)

    private func received(_ event: CEvent, _ now: UInt64) {
        let kind = event.pointee.kind
        if kind == TENDON_FEELSPACE_EVENT_STATE, c.state == TENDON_FEELSPACE_CONNECTED {
            withPointer(to: c.peer) { tendon_feelspace_known_add(knownBelts.pointer, $0) }
        }
        if let navigation { tendon_feelspace_navigation_on_event(navigation.pointer, event, now) }
        takeLog(event)
        timer?.deadline = 0  // Deadlines have changed; they are read again at the end of this step.
        if let update = FSConnectionUpdate(event.pointee) {
            if BeltCore.isLogged.load(ordering: .relaxed) { Message("feelspace", "\(update)").send() }
            connectionFeed.push(update)
        } else if let update = FSCommandUpdate(event.pointee, c) {
            reported += 1
            if kind == TENDON_FEELSPACE_EVENT_ORIENTATION { orientations += 1 }
            if BeltCore.isLogged.load(ordering: .relaxed) { Message("feelspace", "\(update)").send() }
            commandFeed.push(update)
            if case .commandFinished(let id, let error) = update {
                for waiter in outcomes.finished(id, error) { waiter.completion(error) }
            }
        }
    }

    /// Queues a command with `body`, then calls `completion` once with its result: in this call if the command has
    /// ended already, or if nothing was queued. Returns `nil` if there is nothing to wait for.
    func outcome(
        of body: () -> Bool, _ failure: () -> TendonError, _ completion: @escaping (TendonError?) -> Void
    ) -> CommandOutcomes.Waiter? {
        let before = c.last_command
        outcomes.begin()
        let isQueued = body()
        let early = outcomes.end(c.last_command)
        if !isQueued {
            completion(failure())
        } else if let early {
            completion(early.error)
        } else if c.last_command == before {
            completion(nil)
        } else {
            return outcomes.wait(for: c.last_command, completion)
        }
        return nil
    }

    /// The caller no longer waits.
    func withdraw(_ waiter: CommandOutcomes.Waiter) { outcomes.withdraw(waiter) }

    /// Reads the belt's error log; `body` is called once with its entries.
    func awaitLog(_ body: @escaping ([FSBeltError], TendonError?) -> Void) { log = ([], body) }

    private func takeLog(_ event: CEvent) {
        if event.pointee.kind == TENDON_FEELSPACE_EVENT_DEBUG {
            let packet = event.pointee.packet
            if let entry = FSBeltError(packet.data, packet.length) { log?.entries.append(entry) }
        } else if event.pointee.kind == TENDON_FEELSPACE_EVENT_LOG_FINISHED {
            let status = event.pointee.status
            finishLog(status < 0 ? TendonError(status: status, operation: .read) : nil)
        }
    }

    private func finishLog(_ error: TendonError?) {
        guard let log else { return }
        self.log = nil
        log.completion(log.entries, error)
    }

    /// The one before ends.
    func attach(_ navigation: NavigationCore?) {
        self.navigation?.finish()
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
}

/// The calls that wait for the result of a command. Use it only on the loop's thread.
struct CommandOutcomes {
    /// One call that waits.
    final class Waiter: @unchecked Sendable {
        // Used only on the loop's thread.
        fileprivate let id: UInt32
        let completion: (TendonError?) -> Void

        fileprivate init(_ id: UInt32, _ completion: @escaping (TendonError?) -> Void) {
            self.id = id
            self.completion = completion
        }
    }

    private var waiters: [Waiter] = []
    /// Commands that ended while they were being queued, because the connection failed in that call.
    private var early: [(id: UInt32, error: TendonError?)] = []
    private var depth = 0

    mutating func begin() { depth += 1 }

    mutating func end(_ id: UInt32) -> (id: UInt32, error: TendonError?)? {
        depth -= 1
        let found = early.last { $0.id == id }
        if depth == 0 { early.removeAll() }
        return found
    }

    mutating func wait(for id: UInt32, _ completion: @escaping (TendonError?) -> Void) -> Waiter {
        let waiter = Waiter(id, completion)
        waiters.append(waiter)
        return waiter
    }

    mutating func withdraw(_ waiter: Waiter) { waiters.removeAll { $0 === waiter } }

    /// Those that waited for it. The caller calls them: one may give the next command, which changes this value.
    mutating func finished(_ id: UInt32, _ error: TendonError?) -> [Waiter] {
        if depth > 0 { early.append((id, error)) }
        guard !waiters.isEmpty else { return [] }
        let ended = waiters.filter { $0.id == id }
        waiters.removeAll { $0.id == id }
        return ended
    }

    mutating func takeAll() -> [Waiter] {
        defer { waiters.removeAll() }
        return waiters
    }
}
