// SPDX-License-Identifier: MIT
import CTendon
import Tendon

/// Finds belts and connects to one.
///
/// ```swift
/// let manager = FSConnectionManager.instance
/// manager.delegate = self
/// manager.scanForBelt()
/// ```
@TendonActor
public final class FSConnectionManager {
    /// The shared instance.
    public static let instance = FSConnectionManager()

    /// 15 s.
    public nonisolated static let SCAN_DEFAULT_TIMEOUT_SEC = Double(TENDON_FEELSPACE_SCAN_TIMEOUT_MS) / 1000
    /// 20 s, from the call to the state connected.
    public nonisolated static let CONNECTION_HANDSHAKE_TIMEOUT_SEC =
        Double(TENDON_FEELSPACE_CONNECT_TIMEOUT_MS) / 1000
    /// 7 s, for a belt of an earlier connection.
    public nonisolated static let CONNECTION_HANDSHAKE_SHORT_TIMEOUT_SEC =
        Double(TENDON_FEELSPACE_CONNECT_SHORT_TIMEOUT_MS) / 1000
    /// 3 s, from release 2.2; not used by this library.
    public nonisolated static let BT_WAKEUP_TIMEOUT_SEC = 3.0
    /// The service that belts before the newer hardware advertise.
    public nonisolated static let ADVERTISED_SERVICE_UUID = BluetoothUUID(tendon_feelspace_advertised_uuid())
    /// The services that belts of both hardware generations advertise.
    public nonisolated static let ADVERTISED_SERVICES_UUIDS = [
        ADVERTISED_SERVICE_UUID, FSCommandManager.BELT_CONTROL_SERVICE_UUID,
    ]
    /// Compared without regard to case.
    public nonisolated static let BELT_NAME_PREFIX = "naviGuertel"

    /// Receives the events of search and connection; a weak reference.
    public weak var delegate: (any FSConnectionDelegate)?
    /// The command manager; exists also when not connected.
    public let commandManager: FSCommandManager
    /// Whether the events of all managers are logged, a message to `Tendon.onMessage` per event.
    public static var logBleEvents: Bool {
        get { BeltCore.isLogged.load(ordering: .relaxed) }
        set { BeltCore.isLogged.store(newValue, ordering: .relaxed) }
    }
    let lifetime: BeltLifetime
    /// The belt of `openAndWait()`.
    var found: FSBelt?
    nonisolated var core: BeltCore { lifetime.core }

    /// Creates a manager in addition to `instance`, for applications with several belts. With `reconnects`, it tries to
    /// reconnect twice after the connection was lost.
    public convenience init(
        radio: RadioChoice = .automatic, bonds: BondStorage = .standard, reconnects: Bool = false
    ) {
        self.init(BeltCore(radio, bonds: bonds, reconnects: reconnects))
    }

    /// Creates a manager on a radio that the application opened; it never opens another radio.
    public convenience init(on central: Central, reconnects: Bool = false) {
        self.init(BeltCore(on: central, reconnects: reconnects))
    }

    private init(_ core: BeltCore) {
        lifetime = BeltLifetime(core)
        commandManager = FSCommandManager(lifetime)
        core.connectionFeed.delegate(isSet: { [weak self] in self?.delegate != nil }) { [weak self] update in
            if let delegate = self?.delegate { update.deliver(to: delegate) }
        }
    }

    /// The radio to use. Set it before the first search or connection. Has no effect if the manager was created with a
    /// central.
    public var radio: RadioChoice {
        get { core.choice ?? .automatic }
        set { if core.choice != nil { core.choice = newValue } }
    }
    /// The reason why the radio could not be opened, or why it failed; `nil` if it is open or was not used yet.
    public var radioFailure: TendonError? { core.radioFailure }

    /// The connection state, including a search and the pause before another attempt.
    public var state: FSConnectionState { FSConnectionState(core.c.state) }
    /// Events of search and connection, from now on. Each access creates a new sequence: keep the one that you iterate.
    public nonisolated var updates: EventStream<FSConnectionUpdate> {
        EventStream(core.connectionFeed.sequence(capacity: 64, policy: .dropOldest, keeping: lifetime))
    }

    // MARK: Searching

    /// Searches until the timeout, `stopScan()` or a connection; the delegate is notified of each belt once.
    public func scanForBelt(timeoutSec: Double = SCAN_DEFAULT_TIMEOUT_SEC) {
        core.openRadio()
        core.refreshed(tendon_feelspace_session_scan(core.session, milliseconds(timeoutSec), tendon_monotonic_ms()))
    }

    /// Ends the search; the delegate is notified.
    public func stopScan() {
        tendon_feelspace_session_stop_scan(core.session, tendon_monotonic_ms())
        core.refreshed(0)
    }

    // MARK: Connecting

    /// Ends a search and connects; the delegate is notified of each step.
    public func connectBelt(_ device: FSBelt, timeoutSec: Double = CONNECTION_HANDSHAKE_TIMEOUT_SEC) {
        core.openRadio()
        var options = tendon_feelspace_connect_options()
        options.timeout_ms = milliseconds(timeoutSec)
        options.known = core.isKnown(device.address)
        var peer = device.address.c
        core.refreshed(tendon_feelspace_session_connect(core.session, &peer, &options, tendon_monotonic_ms()))
    }

    /// Connects and waits for the result. Throws `.cancelled` if the task is cancelled, or if the application ends the
    /// attempt.
    public func connect(
        to device: FSBelt, timeoutSec: Double = CONNECTION_HANDSHAKE_TIMEOUT_SEC
    ) async throws(FSConnectionError) {
        guard !Task.isCancelled else { throw .cancelled }
        guard state == .notConnected || state == .scanning else { throw .connectionFailed }
        var updates = updates.makeAsyncIterator()
        connectBelt(device, timeoutSec: timeoutSec)
        while let update = await updates.next(isolation: TendonActor.shared) {
            guard case .stateChanged(_, let state, let event, let error) = update else { continue }
            if state == .connected { return }
            if event == .connectionClosed { throw .cancelled }
            if state == .notConnected, event != .scanStarted { throw error ?? .connectionFailed }
        }
        disconnectBelt()
        throw Task.isCancelled ? .cancelled : .connectionFailed
    }

    /// Connects to the first belt that a search finds, and waits for the result. Throws `.cancelled` if the task is
    /// cancelled, or if the application ends the attempt.
    public func searchAndConnect(
        timeoutSec: Double = SCAN_DEFAULT_TIMEOUT_SEC
    ) async throws(FSConnectionError) {
        guard !Task.isCancelled else { throw .cancelled }
        stopScan()  // an older search has already reported its belts
        guard state == .notConnected else { throw .connectionFailed }
        var updates = updates.makeAsyncIterator()
        scanForBelt(timeoutSec: timeoutSec)
        // Also if the task is cancelled between the belt and its connection.
        defer { stopScan() }
        while let update = await updates.next(isolation: TendonActor.shared) {
            switch update {
            case .found(let belt): return try await connect(to: belt)
            case .scanFinished(let cause): throw FSConnectionError(cause)
            case .stateChanged: continue
            }
        }
        throw .cancelled
    }

    /// Ends the connection, or the attempt.
    public func disconnectBelt() {
        tendon_feelspace_session_disconnect(core.session, tendon_monotonic_ms())
        core.refreshed(0)
    }

    // MARK: Belts of earlier connections

    /// The belts that are connected.
    public func retrieveConnectedBelt() -> [FSBelt] {
        state == .connected ? [FSBelt(address: Address(core.c.peer))] : []
    }

    /// The belt that was connected last.
    public func retrieveLastConnectedBelt() -> FSBelt? {
        core.lastKnown.first.map { FSBelt(address: $0) }
    }

    /// Returns true if the belt is one of the last ten that were connected.
    public func isPreviouslyConnectedBelt(uuid address: Address) -> Bool { core.isKnown(address) }
    /// At most ten belts, most recent first.
    public func getLastConnectedBeltUUIDs() -> [Address] { core.lastKnown }

    /// Returns 0 (the default) if `seconds` is not a positive number; `.infinity` means no timeout.
    private func milliseconds(_ seconds: Double) -> UInt64 {
        guard seconds > 0 else { return 0 }
        return seconds < 1e15 ? UInt64(seconds * 1000) : .max
    }
}
