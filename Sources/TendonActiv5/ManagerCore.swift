// SPDX-License-Identifier: MIT
import CTendon
import Tendon

/// A manager of the C core with its table of devices, its radio and its timer. All of it is for the loop's thread.
final class ManagerCore: @unchecked Sendable {
    // Touched on the loop's thread alone; the C core's pointers to it are valid until `abandon()`.
    /// Devices in the list at once; more are left out and counted.
    static let capacity = 32

    let loop: Loop
    private let choice: () -> RadioChoice
    private let block = CBlock<tendon_activ5_manager>()
    private let table = CTable<tendon_activ5_device>(capacity: ManagerCore.capacity)
    private var objects = [A5Device?](repeating: nil, count: ManagerCore.capacity)
    private var timer: LoopTimer?
    private var radio: RadioCore?
    private var scan: Task<Void, Never>?
    private var heard: [Address: Heard] = [:]
    private var events: [EventQueue<A5Event>] = []
    private var closures: [() -> Void] = []
    private var abandoned = false
    weak var owner: A5DeviceManager?

    /// What an address has said in advertisement and scan response.
    private struct Heard {
        var isWanted = false
        var name: String?
    }

    init(_ choice: @escaping () -> RadioChoice, loop: Loop) {
        self.choice = choice
        self.loop = loop
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
        timer = LoopTimer(loop.core) { [unowned self] in
            tendon_activ5_manager_tick(self.block.pointer, tendon_now_ms())
            self.refresh()
        }
    }

    /// Nobody can ask for anything any more. Links that are still up end; the last of them lets this object go.
    func abandon() {
        guard !abandoned else { return }
        abandoned = true
        tendon_activ5_manager_stop_scanning(block.pointer, tendon_now_ms())
        tendon_activ5_manager_disconnect_all(block.pointer, tendon_now_ms())
        for case let device? in objects { device.core.abandon() }
        objects = []
        timer?.remove()
        timer = nil
        for queue in events { queue.finish() }
        events.removeAll()
        closeRadio()
    }

    // MARK: State

    var c: tendon_activ5_manager { _read { yield block.pointer.pointee } }
    var options: CPointer<tendon_activ5_options> { block.member(\.options) }
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
        if radio == nil { openRadio() }
        if tendon_activ5_manager_scan(block.pointer, tendon_now_ms()) < 0 { closures.removeAll() }
        refresh()
    }

    func stopScanning() {
        closures.removeAll()
        tendon_activ5_manager_stop_scanning(block.pointer, tendon_now_ms())
        refresh()
    }

    func disconnectAll() {
        tendon_activ5_manager_disconnect_all(block.pointer, tendon_now_ms())
        for case let device? in objects { device.core.refresh() }
        refresh()
    }

    private func refresh() {
        timer?.deadline = tendon_activ5_manager_deadline(block.pointer)
    }

    // MARK: The radio

    /// Says at once whether there is one.
    func openRadio() {
        guard radio == nil, !abandoned else { return }
        radio = try? RadioCore.open(choice(), loop: loop)
        tendon_activ5_manager_bluetooth(block.pointer, radio != nil, tendon_now_ms())
        refresh()
    }

    private func closeRadio() {
        scan?.cancel()
        scan = nil
        radio?.close()
        radio = nil
    }

    private func radioFailed() {
        closeRadio()
        tendon_activ5_manager_bluetooth(block.pointer, false, tendon_now_ms())
        refresh()
    }

    private func perform(_ request: tendon_activ5_request) -> tendon_status {
        switch request.kind {
        case TENDON_ACTIV5_REQUEST_SCAN_START: return startRadioScan()
        case TENDON_ACTIV5_REQUEST_SCAN_STOP:
            scan?.cancel()
            scan = nil
            return 0
        case TENDON_ACTIV5_REQUEST_CONNECT:
            guard let radio, let device = request.device else { return Int32(TENDON_RADIO_ERROR_ADAPTER_DOWN) }
            return self.device(at: device)?.core.startLink(radio) ?? Int32(TENDON_ERROR_WRONG_STATE)
        default: return Int32(TENDON_ERROR_WRONG_STATE)
        }
    }

    private func startRadioScan() -> tendon_status {
        guard scan == nil else { return 0 }
        guard let radio else { return Int32(TENDON_RADIO_ERROR_ADAPTER_DOWN) }
        heard.removeAll()
        let found: EventSequence<Advertisement>
        do {
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
        if heard.count == 4096, heard[advertisement.address] == nil { heard.removeAll() }
        var known = heard[advertisement.address] ?? Heard()
        let matches = lending(advertisement.data) { tendon_activ5_manager_matches(block.pointer, $0, $1) }
        known.isWanted = known.isWanted || matches
        known.name = advertisement.localName ?? known.name
        heard[advertisement.address] = known
        guard known.isWanted, let name = known.name else { return }
        var peer = advertisement.address.c
        let rssi = Double(advertisement.rssi ?? 0)
        lending(name) {
            _ = tendon_activ5_manager_advertised(block.pointer, $0, $1, &peer, rssi, tendon_now_ms())
        }
        refresh()
    }

    // MARK: What happens

    /// The object of an entry; made anew when the entry is another device's than before.
    private func device(at entry: CPointer<tendon_activ5_device>) -> A5Device? {
        guard !abandoned else { return nil }
        let place = entry - table.pointer
        if entry.pointee.program != nil, let known = objects[place] { return known }
        let name = string(entry.pointee.name, Int(entry.pointee.name_length))
        if let index = objects.firstIndex(where: { $0?.name == name }), let known = objects[index] {
            // The same name in a fresh entry is the same device to the program.
            objects[index] = nil
            if index != place { objects[place]?.core.detach() }
            known.core.rebind(entry)
            objects[place] = known
            return known
        }
        objects[place]?.core.detach()
        let core = DeviceCore(
            entry, in: self, loop: loop, isHeard: { [unowned self] in self.isHeard },
            report: { [unowned self] in self.emit($0) })
        core.rebind(entry)
        let device = A5Device(core)
        core.object = device
        objects[place] = device
        return device
    }

    private func received(_ event: CEvent, _ now: UInt64) {
        if let entry = event.pointee.device {
            if let device = device(at: entry) { device.core.received(event, now) }
        } else {
            switch event.pointee.kind {
            case TENDON_ACTIV5_EVENT_SEARCH_COMPLETED:
                let waiting = closures
                closures.removeAll()
                emit(.searchCompleted)
                for closure in waiting { closure() }
            case TENDON_ACTIV5_EVENT_BLUETOOTH_STATE:
                emit(.didChangeBluetoothState(event.pointee.on ? .poweredOn : .poweredOff))
            case TENDON_ACTIV5_EVENT_BLUETOOTH_OFF: emit(.bluetoothIsSwitchedOff)
            default: break
            }
        }
        refresh()
    }

    // MARK: Who listens

    private var isHeard: Bool { !events.isEmpty || TendonActor.assumeIsolated { owner?.delegate != nil } }

    func observe(_ capacity: Int) -> EventSequence<A5Event> {
        let queue = EventQueue<A5Event>(loop, capacity: capacity, policy: .dropOldest)
        events.append(queue)
        queue.onTermination { [weak self, unowned queue] in self?.events.removeAll { $0 === queue } }
        return EventSequence(queue)
    }

    private func emit(_ event: A5Event) {
        for queue in events { queue.push(event) }
        TendonActor.assumeIsolated {
            if let delegate = owner?.delegate { event.deliver(to: delegate) }
        }
    }
}
