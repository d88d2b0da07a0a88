// SPDX-License-Identifier: MIT
import CTendon

/// A radio of the C core and who uses it. All of it is for the loop's thread.
package final class RadioCore: @unchecked Sendable {
    // Used only on the loop's thread; `loop` and the pointers are constant.
    package let loop: Loop
    package let radio: CPointer<tendon_radio>
    private let memory: AnyObject
    private(set) var users = 1
    private var closing = false
    private var scanners: [Scanner] = []
    private var connectionObservers: [Address: () -> Void] = [:]
    private var failureObservers: [(owner: AnyObject, body: (TendonError) -> Void)] = []
    /// Why the radio can no longer be used.
    package private(set) var failure: TendonError?
    private let bonds = CBlock<tendon_bonds>()
    /// `nil`: every connection discovers.
    private(set) var gattStore: CBlock<tendon_gatt_store>?
    /// Which radio it is.
    package private(set) var choice = RadioChoice.automatic
    /// The C core borrows the list of the pairing policy.
    private var permitted: CTable<tendon_address>?
    /// The C core borrows its file's path and calls it.
    private var agent: PairingAgentCore?
    /// The reason why pairing is not available although it was requested: the bond file belongs to another user, or a
    /// capability is missing.
    package private(set) var bondFailure: TendonError?
    /// For `tendon_connection_init()`; `nil`: pairing is rejected.
    package private(set) var pairing: CPointer<tendon_pairing_service>?

    /// The cause of the latest failure of each device, as the radio reported it.
    private var peerFailures: [Address: TendonError] = [:]
    private static let peerFailureLimit = 256
    /// The device of the latest of them.
    package private(set) var latestFailedPeer: Address?

    private init(loop: Loop, radio: CPointer<tendon_radio>, memory: AnyObject) {
        self.loop = loop
        self.radio = radio
        self.memory = memory
        radio.pointee.report_context = context(of: self)
        radio.pointee.on_report = { context, report, now in
            guard let report else { return }
            object(RadioCore.self, context).received(report, now)
        }
        radio.pointee.on_failure = { context, status, _ in
            object(RadioCore.self, context).failed(TendonError(status: status, operation: .scan))
        }
        radio.pointee.on_peer_failure = { context, peer, status, _ in
            guard let peer else { return }
            let core = object(RadioCore.self, context)
            if core.peerFailures.count >= RadioCore.peerFailureLimit { core.peerFailures.removeAll() }
            core.latestFailedPeer = Address(peer.pointee)
            core.peerFailures[Address(peer.pointee)] = TendonError(status: status, operation: .connect)
        }
    }

    /// On the loop's thread, which waits for an adapter: up to 20 s for one that does not respond.
    package static func open(
        _ choice: RadioChoice, address: Address? = nil, bonds: BondStorage = .none, gattCache: GATTCacheStorage = .none,
        loop: Loop
    ) throws(TendonError) -> RadioCore {
        let core = try prepare(choice.requested(), address, bonds, gattCache, loop)
        try core.attach()
        return core
    }

    /// The same without a wait on the loop's thread: other radios of the loop go on.
    package static func opened(
        _ choice: RadioChoice, address: Address? = nil, bonds: BondStorage = .none, gattCache: GATTCacheStorage = .none,
        loop: Loop
    ) async throws(TendonError) -> RadioCore {
        let choice = try choice.requested()
        guard choice.isAdapter else {
            return try await loop.run {
                Result { () throws(TendonError) in
                    try open(choice, address: address, bonds: bonds, gattCache: gattCache, loop: loop)
                }
            }.get()
        }
        return try await attached(loop) { () throws(TendonError) in
            try prepare(choice, address, bonds, gattCache, loop)
        }
    }

    /// - Parameter prepare: runs on a thread of its own.
    static func attached(
        _ loop: Loop, _ prepare: @escaping @Sendable () throws(TendonError) -> RadioCore
    ) async throws(TendonError) -> RadioCore {
        let core = try await Task(executorPreference: BlockingWork.shared) {
            Result { () throws(TendonError) in try prepare() }
        }.value.get()
        try await loop.run { Result { () throws(TendonError) in try core.attach() } }.get()
        return core
    }

    /// All that may wait: the adapter, the files. On any thread; a virtual radio on the loop's.
    private static func prepare(
        _ choice: RadioChoice, _ address: Address?, _ bonds: BondStorage, _ gattCache: GATTCacheStorage, _ loop: Loop
    ) throws(TendonError) -> RadioCore {
        let store = try gattCache.open()
        let core =
            switch choice {
            case .bluez(let adapter, let use): try prepareBluez(adapter, use, loop)
            case .automatic: try prepareBluez(nil, .shared, loop)
            case .virtual(let directory): try openVirtual(directory, address, loop)
            }
        core.gattStore = store
        core.choice = choice
        core.use(bonds)
        return core
    }

    /// Nothing waits any more.
    private func attach() throws(TendonError) {
        #if BlueZ || KernelSockets
            if let block = memory as? CBlock<tendon_bluez_radio> {
                tendon_bluez_set_worker(block.pointer, nil) { _, work, index in
                    if let work { SerialWork.adapters.run { work(index) } }
                }
                try check(tendon_bluez_attach(block.pointer, loop.core.block.pointer), .openRadio)
            }
        #endif
        loop.core.touched()
    }

    private static func openVirtual(
        _ directory: String?, _ address: Address?, _ loop: Loop
    ) throws(TendonError) -> RadioCore {
        let block = CBlock<tendon_virtual_radio>()
        var own = address?.c ?? tendon_virtual_radio_default_address()
        let status: tendon_status
        if let directory {
            status = directory.withCString {
                tendon_virtual_radio_open(block.pointer, loop.core.block.pointer, $0, &own)
            }
        } else {
            status = tendon_virtual_radio_open(block.pointer, loop.core.block.pointer, nil, &own)
        }
        try check(status, .openRadio)
        return RadioCore(loop: loop, radio: block.member(\.radio), memory: block)
    }

    private static func prepareBluez(
        _ adapter: String?, _ use: AdapterUse, _ loop: Loop
    ) throws(TendonError) -> RadioCore {
        #if BlueZ || KernelSockets
            return try prepareBluez(adapter, loop) { tendon_bluez_prepare($0, $1, use.c) }
        #else
            throw TendonError(status: Int32(TENDON_RADIO_ERROR_NO_KERNEL_SUPPORT), operation: .openRadio)
        #endif
    }

    #if BlueZ || KernelSockets
        /// A function of the C core that prepares an adapter; a test plays its part.
        typealias Preparing = (_ radio: CPointer<tendon_bluez_radio>, _ name: UnsafePointer<CChar>?) -> tendon_status

        static func prepareBluez(
            _ adapter: String?, _ loop: Loop, _ preparing: Preparing
        ) throws(TendonError) -> RadioCore {
            let block = CBlock<tendon_bluez_radio>()
            let status = adapter?.withCString { preparing(block.pointer, $0) } ?? preparing(block.pointer, nil)
            try check(status, .openRadio)
            return RadioCore(loop: loop, radio: block.member(\.radio), memory: block)
        }
    #endif

    // MARK: Bonds

    private func use(_ storage: BondStorage) {
        let status: tendon_status
        switch storage {
        case .none: return
        case .memory:
            tendon_bonds_init(bonds.pointer)
            status = tendon_radio_use_bonds(radio, bonds.pointer)
        case .standard: status = tendon_radio_open_bonds(radio, bonds.pointer, nil)
        case .file(let path): status = path.withCString { tendon_radio_open_bonds(radio, bonds.pointer, $0) }
        }
        if status >= 0 {
            pairing = tendon_radio_pairing(radio).map { CPointer(mutating: $0) }
        } else {
            bondFailure = TendonError(status: status, operation: .pair)
        }
    }

    package func isBonded(with address: Address) -> Bool {
        var peer = address.c
        return pairing.map { $0.pointee.bonded($0.pointee.context, &peer) } ?? false
    }

    /// Why the latest bond was not stored; `nil`: it was, or there was none.
    package var storeFailure: TendonError? {
        let status = radio.pointee.store_failure
        return status < 0 ? TendonError(status: status, operation: .pair) : nil
    }

    /// The file of the bonds; `nil`: they are in memory.
    package var bondPath: String? { BondStorage.path(of: bonds) }

    /// Why pairing with this device, or the latest connection to it, failed: the cause behind the error that its session
    /// reports. `nil`: nothing failed since `clearPeerFailure(of:)`.
    package func peerFailure(of address: Address) -> TendonError? { peerFailures[address] }

    /// Before an attempt to connect, and once a device is connected.
    package func clearPeerFailure(of address: Address) { peerFailures[address] = nil }

    /// Sets which devices may pair from now on; a window opens now.
    package func setPairingPolicy(_ choice: PairingPolicy) {
        var policy = tendon_pairing_policy()
        var table: CTable<tendon_address>?
        if case .restricted(let allowed, let window) = choice {
            let list = CTable<tendon_address>(capacity: allowed.count)
            for (index, address) in allowed.enumerated() {
                (list.pointer + index).pointee = address.c
            }
            policy.restricted = true
            policy.allowed = UnsafePointer(list.pointer)
            policy.allowed_count = allowed.count
            policy.window_until = window > .zero ? Duration.deadline(window) : 0
            table = list
        }
        tendon_radio_set_pairing_policy(radio, &policy)
        permitted = table
    }

    /// Sets who answers when devices pair from now on. After an error the previous agent stays.
    package func setPairingAgent(_ choice: PairingAgent) throws(TendonError) {
        if let bondFailure { throw bondFailure }
        let previous = agent
        agent = try PairingAgentCore(choice, radio, loop)
        previous?.cancel()
        loop.core.touched()
    }

    package func requireSecurity(_ security: ConnectionSecurity) {
        _ = tendon_radio_set_security(radio, tendon_security(UInt32(security.rawValue)))  // every case is a level
    }

    /// False when there was no bond.
    @discardableResult
    package func forget(_ address: Address) throws(TendonError) -> Bool {
        if let bondFailure { throw bondFailure }
        var peer = address.c
        if let gattStore { _ = tendon_gatt_store_drop(gattStore.pointer, &peer) }
        let status = tendon_radio_forget(radio, &peer)
        if status == Int32(TENDON_ERROR_NOT_FOUND) { return false }
        try check(status, .pair)
        return true
    }

    func setConnectionParameters(_ parameters: ConnectionParameters?) {
        guard let parameters else {
            _ = tendon_radio_set_connection_parameters(radio, nil)  // cannot fail
            return
        }
        var c = parameters.c
        _ = tendon_radio_set_connection_parameters(radio, &c)  // they were checked when they were made
    }

    package func connectionTimings() -> [Address: ConnectionTiming] {
        var timings: [Address: ConnectionTiming] = [:]
        var next = radio.pointee.links
        while let link = next {
            if link.pointee.timing.interval != 0 {
                timings[Address(link.pointee.peer)] = ConnectionTiming(link.pointee.timing)
            }
            next = link.pointee.next
        }
        return timings
    }

    package func connectionSignals() -> [Address: Int] {
        var signals: [Address: Int] = [:]
        var next = radio.pointee.links
        while let link = next {
            if link.pointee.rssi != TENDON_RSSI_UNKNOWN {
                signals[Address(link.pointee.peer)] = Int(link.pointee.rssi)
            }
            next = link.pointee.next
        }
        _ = tendon_radio_ask_signals(radio)  // what it cannot be asked is not known at the next call
        return signals
    }

    package var lostPackets: UInt64 { radio.pointee.lost }

    package var adapterCounters: AdapterCounters {
        #if BlueZ || KernelSockets
            if let block = memory as? CBlock<tendon_bluez_radio> {
                return AdapterCounters(block.member(\.counters).pointee)
            }
        #endif
        return AdapterCounters()
    }

    var hasJoinedScan: Bool { radio.pointee.scan_joined }

    var name: String { String(cString: radio.pointee.ops.pointee.name) }
    var address: Address { Address(radio.pointee.address) }
    var isScanning: Bool { !scanners.isEmpty }

    /// A connection or a simulated device uses the radio: it stays open until `release()`.
    package func retain() {
        users += 1
    }

    package func release() {
        users -= 1
        guard users == 0 else { return }
        agent?.cancel()
        tendon_radio_close(radio)
        // The loop may be in the middle of a step with this radio.
        loop.post { withExtendedLifetime(self) {} }
    }

    /// Called when its owner is released.
    package func close() {
        guard !closing else { return }
        closing = true
        finishScans(nil)
        release()
    }

    // MARK: Scanning

    /// One consumer of the scan. For the loop's thread.
    package final class Scanner: @unchecked Sendable {
        // Used only on the loop's thread.
        fileprivate enum Consumer {
            case queue(EventQueue<Advertisement>)
            case closures(report: (CReport, UInt64) -> Void, ended: (TendonError?) -> Void)
        }

        private weak var radio: RadioCore?
        fileprivate let options: ScanOptions
        fileprivate let consumer: Consumer
        fileprivate var filter: ScanFilter
        /// The radio's until the scanner is removed.
        fileprivate let lease = CBlock<tendon_scan_lease>()
        fileprivate var isOn = true

        fileprivate init(_ radio: RadioCore, _ options: ScanOptions, _ consumer: Consumer) {
            self.radio = radio
            self.options = options
            self.consumer = consumer
            filter = ScanFilter(services: options.services, name: options.namePrefix)
        }

        /// Nothing is called after this.
        package func stop() {
            guard isOn else { return }
            isOn = false
            radio?.remove(self)
        }

        fileprivate func finish(_ error: TendonError?) {
            isOn = false
            switch consumer {
            case .queue(let queue): queue.finish(error)
            case .closures(_, let ended): ended(error)
            }
        }
    }

    /// A sequence's queue, which keeps `lifetime`.
    package func scan(
        _ options: ScanOptions, keeping lifetime: AnyObject? = nil
    ) throws(TendonError) -> EventQueue<Advertisement> {
        let queue = EventQueue<Advertisement>(loop, capacity: options.capacity, policy: options.policy)
        let scanner = Scanner(self, options, .queue(queue))
        try add(scanner)
        queue.onTermination { [unowned scanner] in
            scanner.stop()
            withExtendedLifetime(lifetime) {}
        }
        return queue
    }

    /// Reports as the C core makes them. `ended` is called once, unless the scanner is stopped before.
    package func scan(
        _ options: ScanOptions, report: @escaping (CReport, UInt64) -> Void, ended: @escaping (TendonError?) -> Void
    ) throws(TendonError) -> Scanner {
        let scanner = Scanner(self, options, .closures(report: report, ended: ended))
        try add(scanner)
        return scanner
    }

    private func add(_ scanner: Scanner) throws(TendonError) {
        if let failure { throw failure }
        guard !closing else { throw TendonError(status: Int32(TENDON_ERROR_WRONG_STATE), operation: .scan) }
        var parameters = tendon_scan_parameters()
        parameters.active = scanner.options.isActive
        parameters.filter_duplicates = scanner.options.filtersDuplicates
        parameters.coded = scanner.options.includesCodedPHY
        defer { loop.core.touched() }
        try check(tendon_radio_scan_acquire(radio, scanner.lease.pointer, &parameters), .scan)
        scanners.append(scanner)
    }

    private func remove(_ scanner: Scanner) {
        scanners.removeAll { $0 === scanner }
        _ = tendon_radio_scan_release(radio, scanner.lease.pointer)  // the C core reports an error that matters
        loop.core.touched()
    }

    private func received(_ report: CReport, _ now: UInt64) {
        var advertisement: Advertisement?
        for scanner in scanners where scanner.isOn {
            switch scanner.consumer {
            case .queue(let queue):
                let element = advertisement ?? Advertisement(report.pointee, time: now)
                advertisement = element
                if scanner.filter.passes(element) { queue.push(element) }
            case .closures(let body, _): body(report, now)
            }
        }
    }

    // MARK: Connections

    /// `body` is called once, when a session is connected to the device; `nil` takes it back. In a callback of the C core.
    package func onConnection(to address: Address, _ body: (() -> Void)?) { connectionObservers[address] = body }

    func connected(to address: Address) {
        guard !connectionObservers.isEmpty else { return }
        connectionObservers.removeValue(forKey: address)?()
    }

    // MARK: Failure

    /// `body` is called once, when the radio fails; `nil` takes it back. In a callback of the C core.
    package func onFailure(of owner: AnyObject, _ body: ((TendonError) -> Void)?) {
        failureObservers.removeAll { $0.owner === owner }
        if let body { failureObservers.append((owner, body)) }
    }

    private func failed(_ error: TendonError) {
        failure = error
        finishScans(error)
        let observers = failureObservers
        failureObservers.removeAll()
        for observer in observers { observer.body(error) }
    }

    private func finishScans(_ error: TendonError?) {
        let all = scanners
        for scanner in all { remove(scanner) }
        for scanner in all { scanner.finish(error) }
    }
}

#if BlueZ || KernelSockets
    extension AdapterUse {
        var c: tendon_bluez_use {
            switch self {
            case .shared: TENDON_BLUEZ_SHARED
            case .sole: TENDON_BLUEZ_SOLE
            case .observer: TENDON_BLUEZ_OBSERVER
            case .connectionsOnly: TENDON_BLUEZ_CONNECTIONS_ONLY
            }
        }
    }
#endif
