// SPDX-License-Identifier: MIT
import CTendon
import Tendon

/// A manager of the C core with its table of devices, its radio and its timer. Use it only on the loop's thread.
final class ManagerCore: Abandonable, @unchecked Sendable {
    // Used only on the loop's thread; the C core's pointers to it are valid until `abandon()`.
    /// Maximum number of devices in the list; more are left out and counted.
    static let capacity = 32

    let loop: Loop
    let events: Feed<A5Event>
    private let block = CBlock<tendon_activ5_manager>()
    private let table = CTable<tendon_activ5_device>(capacity: ManagerCore.capacity)
    private var objects = [A5Device?](repeating: nil, count: ManagerCore.capacity)
    private var timer: LoopTimer?
    let holder: RadioHolder
    private lazy var search = Search(
        holder, options: ScanOptions(),
        report: { [unowned self] report, now in
            tendon_activ5_manager_on_advertisement(block.pointer, report, now)
            refresh()
        },
        failed: { [unowned self] error in radioFailed(error) })
    private var closures: [() -> Void] = []
    /// The sequences of `scan()`, the calls of `devicesFound()`, and whether the search was begun for them alone.
    private var scans: [(queue: EventQueue<A5Device>, token: FeedToken)] = []
    private var finders = 0
    private var searchesForScans = false
    /// Kept by sequences.
    weak var lifetime: Lifetime<ManagerCore>?
    private var abandoned = false
    /// The radio's state is being reported: a search that the delegate starts now must not open the radio again, which
    /// would be reported in turn, and so on.
    private var reportsRadio = false

    init(_ choice: @escaping () -> RadioChoice, loop: Loop = .shared) {
        self.loop = loop
        events = Feed(loop)
        holder = RadioHolder(choice, loop: loop)
        tendon_activ5_manager_init(
            block.pointer, table.pointer, ManagerCore.capacity,
            { context, event, now in
                guard let event else { return }
                object(ManagerCore.self, context).received(event, now)
            },
            { context, request, now in
                guard let request else { return Int32(TENDON_ERROR_INVALID_ARGUMENT) }
                return object(ManagerCore.self, context).perform(request.pointee)
            }, context(of: self))
        holder.onFailure = { [unowned self] error in radioFailed(error) }
        timer = LoopTimer(loop.core) { [unowned self] in
            tendon_activ5_manager_tick(self.block.pointer, tendon_monotonic_ms())
            self.refresh()
        }
    }

    /// The manager was released. Connections that are still up end; the last of them releases this object.
    func abandon() {
        guard !abandoned else { return }
        abandoned = true
        tendon_activ5_manager_stop_scanning(block.pointer, tendon_monotonic_ms())
        tendon_activ5_manager_disconnect_all(block.pointer, tendon_monotonic_ms())
        for case let device? in objects { device.core.abandon() }
        objects = []
        timer = nil
        events.close()
        finishScans(nil)
        search.stop()
        holder.close()
    }

    // MARK: State

    var c: tendon_activ5_manager { _read { yield block.pointer.pointee } }
    var options: CPointer<tendon_activ5_options> { block.member(\.options) }
    var radioError: TendonError? {
        c.radio_status < 0 ? TendonError(status: c.radio_status, operation: .openRadio) : nil
    }
    var connectionState: A5DeviceManagerConnectionState {
        switch tendon_activ5_manager_connection_state(block.pointer) {
        case TENDON_ACTIV5_MANAGER_SEARCHING: .searching
        case TENDON_ACTIV5_MANAGER_CONNECTED: .connected
        default: .disconnected
        }
    }

    /// Those in the list.
    var devices: [A5Device] {
        (0..<objects.count).compactMap { index in
            (table.pointer + index).pointee.listed ? device(at: table.pointer + index) : nil
        }
    }

    func device(named name: String) -> A5Device? {
        guard !abandoned, let found = lending(name, { tendon_activ5_manager_find(block.pointer, $0, $1) }) else {
            return nil
        }
        return device(at: found)
    }

    // MARK: Calls

    func startScanning(_ completed: (() -> Void)?) {
        if let completed { closures.append(completed) }
        searchesForScans = false
        begin()
    }

    private func begin() {
        openRadio()
        let status = tendon_activ5_manager_scan(block.pointer, tendon_monotonic_ms())
        if status < 0 { complete(TendonError(status: status, operation: .scan)) }
        refresh()
    }

    /// The devices of a search that begins now. It ends with the last sequence, unless the program began it otherwise.
    func scan(into queue: EventQueue<A5Device>, keeping lifetime: Lifetime<ManagerCore>) {
        let token = events.add { event in if case .deviceFound(let device) = event { queue.push(device) } }
        queue.onTermination { [weak self, unowned queue] in
            self?.released(queue)
            withExtendedLifetime(lifetime) {}
        }
        scans.append((queue, token))
        if !c.scanning { searchesForScans = true }
        begin()
    }

    private func released(_ queue: EventQueue<A5Device>) {
        for scan in scans where scan.queue === queue { scan.token.cancel() }
        scans.removeAll { $0.queue === queue }
        endUnusedSearch()
    }

    /// A call waits for devices; it ends a search that has no other user.
    func beginFinding() {
        finders += 1
        if !c.scanning { searchesForScans = true }
        begin()
    }

    func endFinding() {
        finders -= 1
        endUnusedSearch()
    }

    private func endUnusedSearch() {
        if scans.isEmpty, finders == 0, searchesForScans, c.scanning { stopScanning() }
    }

    private func finishScans(_ error: TendonError?) {
        let ended = scans
        scans = []
        for scan in ended {
            scan.token.cancel()
            scan.queue.finish(error)
        }
    }

    func stopScanning() {
        searchesForScans = false
        closures.removeAll()
        finishScans(nil)
        tendon_activ5_manager_stop_scanning(block.pointer, tendon_monotonic_ms())
        refresh()
    }

    func remove(_ device: A5Device) { tendon_activ5_manager_remove(block.pointer, device.core.pointer) }

    func setSqueezed(_ squeezed: Bool) { block.pointer.pointee.squeezed = squeezed }

    func disconnectAll() {
        tendon_activ5_manager_disconnect_all(block.pointer, tendon_monotonic_ms())
        for case let device? in objects { device.core.refresh() }
        refresh()
    }

    /// The search has ended, or could not be started.
    private func complete(_ error: TendonError?) {
        searchesForScans = false  // a reconnection searches by itself
        finishScans(error)
        let waiting = closures
        closures.removeAll()
        for closure in waiting { closure() }
    }

    private func refresh() {
        timer?.deadline = tendon_activ5_manager_deadline(block.pointer)
    }

    // MARK: The radio

    /// Opens the radio if it is not open, and reports the result.
    @discardableResult
    func openRadio() -> Bool {
        guard holder.radio == nil, !abandoned, !reportsRadio else { return holder.radio != nil }
        var status: tendon_status = 0
        do throws(TendonError) {
            try holder.open()
        } catch {
            status = error.status
        }
        setRadio(status)
        refresh()
        return status >= 0
    }

    private func setRadio(_ status: tendon_status) {
        reportsRadio = true
        tendon_activ5_manager_set_radio(block.pointer, status, tendon_monotonic_ms())
        reportsRadio = false
    }

    /// For a connection.
    func radioForDevice() throws(TendonError) -> RadioCore {
        openRadio()
        return try holder.open()
    }

    private func radioFailed(_ error: TendonError) {
        guard c.powered, !abandoned else { return }
        search.stop()
        setRadio(error.status)
        complete(error)
        refresh()
    }

    private func perform(_ request: tendon_activ5_request) -> tendon_status {
        switch request.kind {
        case TENDON_ACTIV5_REQUEST_SCAN_START:
            do throws(TendonError) {
                try search.start()
                return 0
            } catch {
                return error.status
            }
        case TENDON_ACTIV5_REQUEST_SCAN_STOP:
            search.stop()
            return 0
        case TENDON_ACTIV5_REQUEST_CONNECT:
            return request.device.flatMap { device(at: $0) }?.core.startLink() ?? Int32(TENDON_ERROR_WRONG_STATE)
        default: return Int32(TENDON_ERROR_WRONG_STATE)
        }
    }

    // MARK: What happens

    /// The object of an entry; a new one if the entry was another device's before.
    private func device(at entry: CPointer<tendon_activ5_device>) -> A5Device? {
        guard !abandoned else { return nil }
        let slot = entry - table.pointer
        if entry.pointee.program != nil, let known = objects[slot] { return known }
        objects[slot]?.core.detach()
        let core = DeviceCore(
            entry, in: self, loop: loop, reports: events,
            openRadio: { [unowned self] () throws(TendonError) in try radioForDevice() })
        entry.pointee.program = context(of: core)
        let device = A5Device(core)
        core.object = device
        objects[slot] = device
        return device
    }

    private func received(_ event: CEvent, _ now: UInt64) {
        if let entry = event.pointee.device {
            if let device = device(at: entry) { device.core.received(event, now) }
        } else {
            switch event.pointee.kind {
            case TENDON_ACTIV5_EVENT_SEARCH_COMPLETED:
                events.push(.searchCompleted)
                complete(nil)
            case TENDON_ACTIV5_EVENT_BLUETOOTH_STATE:
                events.push(.didChangeBluetoothState(A5BluetoothState(event.pointee.status)))
            case TENDON_ACTIV5_EVENT_BLUETOOTH_OFF: events.push(.bluetoothIsSwitchedOff)
            default: break
            }
        }
        refresh()
    }
}
