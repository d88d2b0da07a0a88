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
    /// The one of the program.
    public static let instance = FSConnectionManager()

    /// 15 s.
    public nonisolated static let SCAN_DEFAULT_TIMEOUT_SEC = Double(TENDON_FEELSPACE_SCAN_TIMEOUT_MS) / 1000
    /// 20 s, from the call to the state connected.
    public nonisolated static let CONNECTION_HANDSHAKE_TIMEOUT_SEC =
        Double(TENDON_FEELSPACE_CONNECT_TIMEOUT_MS) / 1000
    /// 7 s, for a belt of an earlier connection.
    public nonisolated static let CONNECTION_HANDSHAKE_SHORT_TIMEOUT_SEC =
        Double(TENDON_FEELSPACE_CONNECT_SHORT_TIMEOUT_MS) / 1000
    /// 3 s, of release 2.2; nothing here waits for it.
    public nonisolated static let BT_WAKEUP_TIMEOUT_SEC = 3.0
    /// What belts before the newer hardware advertise.
    public nonisolated static let ADVERTISED_SERVICE_UUID = BluetoothUUID(tendon_feelspace_advertised_uuid())
    /// What belts of both kinds of hardware advertise.
    public nonisolated static let ADVERTISED_SERVICES_UUIDS = [
        ADVERTISED_SERVICE_UUID, FSCommandManager.BELT_CONTROL_SERVICE_UUID,
    ]
    /// Compared without regard to case.
    public nonisolated static let BELT_NAME_PREFIX = "naviGuertel"

    /// Told what happens to search and connection; kept weakly.
    public weak var delegate: (any FSConnectionDelegate)?
    /// Always there, also unconnected.
    public let commandManager: FSCommandManager
    /// Prints events on standard error.
    public var logBleEvents: Bool {
        get { core.logsEvents }
        set { core.logsEvents = newValue }
    }
    let lifetime: BeltLifetime
    private var core: BeltCore { lifetime.core }

    /// Another one beside `instance`, for programs with several belts. With `reconnects` it tries again by itself after
    /// a loss, twice.
    public convenience init(
        radio: RadioChoice = .automatic, bonds: BondStorage = .standard, reconnects: Bool = false
    ) {
        self.init(BeltCore(radio, bonds: bonds, reconnects: reconnects))
    }

    /// On a radio that the program opened; no other is opened when it fails. Throws if the central is not on
    /// `Loop.shared`.
    public convenience init(on central: Central, reconnects: Bool = false) throws(TendonError) {
        self.init(try BeltCore(on: central, reconnects: reconnects))
    }

    private init(_ core: BeltCore) {
        lifetime = BeltLifetime(core)
        commandManager = FSCommandManager(lifetime)
        core.connectionFeed.delegate(isSet: { [weak self] in self?.delegate != nil }) { [weak self] update in
            if let delegate = self?.delegate { update.deliver(to: delegate) }
        }
    }

    /// What to reach belts with; before the first search or connection. Has no effect on the program's own central.
    public var radio: RadioChoice {
        get { core.choice ?? .automatic }
        set { if core.choice != nil { core.choice = newValue } }
    }
    /// Why the radio did not open, or why it failed; `nil`: it is open, or was not used yet.
    public var radioFailure: TendonError? { core.radioFailure }

    /// The present state, as the vendor's document has it.
    public var state: FSConnectionState { FSConnectionState(core.c.state) }
    /// The same with what the document does not have: a search, and the pause before another attempt.
    public var phase: FSConnectionPhase { FSConnectionPhase(core.c.state) }
    /// Events of search and connection, from now on.
    public var updates: EventSequence<FSConnectionUpdate> {
        core.connectionFeed.sequence(capacity: 64, policy: .dropOldest, keeping: lifetime)
    }

    // MARK: Searching

    /// Searches until the time is over, `stopScan()` or a connection; the delegate is told of each belt once.
    public func scanForBelt(timeoutSec: Double = SCAN_DEFAULT_TIMEOUT_SEC) {
        core.openRadio()
        core.refreshed(tendon_feelspace_session_scan(core.session, milliseconds(timeoutSec), tendon_monotonic_ms()))
    }

    /// Ends the search; the delegate is told.
    public func stopScan() {
        tendon_feelspace_session_stop_scan(core.session, tendon_monotonic_ms())
        core.refreshed(0)
    }

    // MARK: Connecting

    /// Ends a search and connects; the delegate is told of each step.
    public func connectBelt(_ device: FSBelt, timeoutSec: Double = CONNECTION_HANDSHAKE_TIMEOUT_SEC) {
        core.openRadio()
        var options = tendon_feelspace_connect_options()
        options.timeout_ms = milliseconds(timeoutSec)
        options.known = core.isKnown(device.address)
        var peer = device.address.c
        core.refreshed(tendon_feelspace_session_connect(core.session, &peer, &options, tendon_monotonic_ms()))
    }

    /// Connects and waits for the outcome. Throws `.cancelled` when the task is cancelled, or when the program ends the
    /// attempt.
    public func connect(
        to device: FSBelt, timeoutSec: Double = CONNECTION_HANDSHAKE_TIMEOUT_SEC
    ) async throws(FSConnectionError) {
        guard !Task.isCancelled else { throw .cancelled }
        guard phase == .notConnected || phase == .scanning else { throw .connectionFailed }
        var updates = updates.makeAsyncIterator()
        connectBelt(device, timeoutSec: timeoutSec)
        while let update = try? await updates.next(isolation: TendonActor.shared) {
            guard case .stateChanged(_, let state, let event, let error) = update else { continue }
            if state == .connected { return }
            if event == .connectionClosed { throw .cancelled }
            if state == .notConnected, event != .scanStarted { throw error ?? .connectionFailed }
        }
        disconnectBelt()
        throw Task.isCancelled ? .cancelled : .connectionFailed
    }

    /// Ends the connection, or the attempt.
    public func disconnectBelt() {
        tendon_feelspace_session_disconnect(core.session, tendon_monotonic_ms())
        core.refreshed(0)
    }

    // MARK: Belts of earlier connections

    /// Belts that this program is connected to.
    public func retrieveConnectedBelt() -> [FSBelt] {
        state == .connected ? [FSBelt(address: Address(core.c.peer))] : []
    }

    /// The last one that was connected.
    public func retrieveLastConnectedBelt() -> FSBelt? {
        core.lastKnown.first.map { FSBelt(address: $0) }
    }

    /// One of the last ten that this program was connected to.
    public func isPreviouslyConnectedBelt(uuid address: Address) -> Bool { core.isKnown(address) }
    /// Ten at most, most recent first.
    public func getLastConnectedBeltUUIDs() -> [Address] { core.lastKnown }

    /// 0, the default, for what is no positive number; `.infinity` is without end.
    private func milliseconds(_ seconds: Double) -> UInt64 {
        guard seconds > 0 else { return 0 }
        return seconds < 1e15 ? UInt64(seconds * 1000) : .max
    }
}
