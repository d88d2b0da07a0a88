// SPDX-License-Identifier: MIT
import CTendon
import Tendon

/// Receives the results of a search; a weak reference. Called on the loop's thread.
///
/// ```swift
/// final class Shelf: BluetoothManagerDelegate {
///     func bluetoothManager(_ manager: BluetoothManager, didDiscover device: DiscoveredDevice) { print(device.name ?? "") }
///     func bluetoothManager(_ manager: BluetoothManager, didLose device: DiscoveredDevice) {}
///     func bluetoothManager(_ manager: BluetoothManager, didFailWithError error: BoseWearableError) { print(error) }
/// }
/// ```
@TendonActor
public protocol BluetoothManagerDelegate: AnyObject {
    /// A wearable that was not in range before.
    func bluetoothManager(_ manager: BluetoothManager, didDiscover device: DiscoveredDevice)
    /// A wearable that was not received for the `lostAfter` of the search.
    func bluetoothManager(_ manager: BluetoothManager, didLose device: DiscoveredDevice)
    /// The search ended by itself.
    func bluetoothManager(_ manager: BluetoothManager, didFailWithError error: BoseWearableError)
}

/// Results of a search.
public enum DiscoveryEvent: Sendable, Hashable {
    /// A wearable that was not in range before.
    case added(DiscoveredDevice)
    /// Name or signal strength of a device, as it was received again.
    case updated(DiscoveredDevice)
    /// A wearable that was not received for the timeout of the search.
    case removed(DiscoveredDevice)
}

/// Errors of the vendor's BLECore. Of these, `startScanning(removeAfter:callback:)` throws the first; the errors of
/// everything else are `BoseWearableError`.
public enum BLECoreError: Error, Sendable, Hashable {
    /// A search is running.
    case scanAlreadyInProgress
    /// The device does not have the service.
    case missingService(BluetoothUUID)
    /// Another type of service.
    case incorrectServiceType
    /// Not a device that can be opened.
    case noMatchingDeviceTypesFound

    /// One line of plain English.
    public var errorDescription: String? {
        switch self {
        case .scanAlreadyInProgress: "a search is running already"
        case .missingService(let service): "the device does not have the service \(service)"
        case .incorrectServiceType: "the service has another type"
        case .noMatchingDeviceTypesFound: "the device is not a wearable that can be opened"
        }
    }
}

/// Search and sessions, one by one.
///
/// ```swift
/// let manager = BoseWearable.shared.bluetoothManager
/// try manager.startScanning(rssiCutoff: -70)
/// if let device = manager.devices.first { let session = try await manager.session(for: device) }
/// ```
@TendonActor
public final class BluetoothManager {
    /// Receives the results of a search; a weak reference.
    public weak var delegate: (any BluetoothManagerDelegate)?
    private var search: WearableSearch?
    private var discovered: ((DiscoveryEvent) -> Void)?
    private var found: [DiscoveredDevice] = []
    private var sessions: [Address: WeakSession] = [:]
    private(set) var lastAddress: Address?
    nonisolated let holder: RadioHolder
    /// That of the latest attempt to connect.
    weak var watchdog: Watchdog?

    private struct WeakSession {
        weak var session: WearableDeviceSession?
    }

    private let configured: @Sendable () -> BoseWearable.Configuration

    nonisolated init(_ configured: @escaping @Sendable () -> BoseWearable.Configuration) {
        self.configured = configured
        holder = RadioHolder({ configured().radio }, bonds: { .standard })
    }

    /// Creates a manager of its own, with the default configuration.
    ///
    /// - Parameter rssiCutoff: devices with a weaker signal (dBm) are ignored.
    public nonisolated convenience init(rssiCutoff: Int) {
        var configuration = BoseWearable.Configuration()
        configuration.rssiCutoff = rssiCutoff
        let constant = configuration
        self.init { constant }
    }

    deinit {
        let (holder, search) = (holder, search)
        holder.loop.post {
            search?.stop()
            holder.close()
        }
    }

    /// The radio of the configuration; opened at first use.
    func openRadio() throws(BoseWearableError) -> RadioCore {
        do { return try holder.open() } catch { throw BoseWearableError(error) }
    }

    // MARK: Searching

    /// A search is running.
    public var isScanning: Bool { search != nil }
    /// Devices in range; those of the last search when none is running.
    public var devices: [DiscoveredDevice] { search?.devices ?? found }

    /// Finds devices until the search is stopped. Devices with a weaker signal than `rssiCutoff` are ignored; a device
    /// that is not received for `lostAfter` is lost. Throws if the radio does not open, or a search is running.
    public func startScanning(rssiCutoff: Int? = nil, lostAfter: Duration = .seconds(15)) throws(BoseWearableError) {
        guard search == nil else {
            throw BoseWearableError(Int32(TENDON_RADIO_ERROR_ALREADY_STARTED), .scan)
        }
        let search = WearableSearch(
            holder, rssiCutoff: rssiCutoff ?? configured().rssiCutoff, lostAfter: lostAfter,
            changed: { [weak self] device, change in
                guard let self else { return }
                let isNew = change == TENDON_BOSE_SEARCH_FOUND
                if isNew { LogSwitches.shared.write(.discovery, "found \(device.address) \(device.name ?? "")") }
                if isNew { delegate?.bluetoothManager(self, didDiscover: device) }
                discovered?(isNew ? .added(device) : .updated(device))
            },
            lost: { [weak self] device in
                guard let self else { return }
                LogSwitches.shared.write(.discovery, "lost \(device.address)")
                delegate?.bluetoothManager(self, didLose: device)
                discovered?(.removed(device))
            },
            failed: { [weak self] error in
                guard let self else { return }
                stopScanning()
                delegate?.bluetoothManager(self, didFailWithError: BoseWearableError(error))
            })
        do { try search.start() } catch { throw BoseWearableError(error) }
        self.search = search
    }

    /// The same with a closure that takes what was found and lost, until the search is stopped. Throws
    /// `BLECoreError.scanAlreadyInProgress` if a search is running.
    ///
    /// - Parameters:
    ///   - timeout: seconds; a device that is not received for this time is removed.
    ///   - callback: called on the loop's thread.
    public func startScanning(
        removeAfter timeout: Double, callback: @escaping @TendonActor (DiscoveryEvent) -> Void
    ) throws {
        guard !isScanning else { throw BLECoreError.scanAlreadyInProgress }
        try startScanning(lostAfter: Duration(clamping: timeout))
        discovered = callback
    }

    /// Ends the search; the delegate is not notified.
    public func stopScanning() {
        guard let search else { return }
        found = search.devices
        discovered = nil
        search.stop()
        self.search = nil
    }

    /// A device of `devices`; `nil` if it is not in range.
    public func deviceByAddress(_ address: Address) -> DiscoveredDevice? {
        devices.first { $0.address == address }
    }

    // MARK: Sessions

    /// Returns the session of a device; creates a closed session if there is none, or if the adapter of the known one has
    /// failed.
    public func session(for device: DiscoveredDevice) async throws(BoseWearableError) -> WearableDeviceSession {
        guard !Task.isCancelled else { throw .cancelled }
        if let known = sessions[device.address]?.session, known.core.radio.failure == nil { return known }
        return makeSession(device, try openRadio(), nil)
    }

    /// Of those that were open: the one that was opened last.
    public var mostRecentlyConnectedDevice: Address? { lastAddress }

    /// Closes the session of a device and forgets it.
    public func removeSession(for device: DiscoveredDevice) {
        sessions[device.address]?.session?.close()
        sessions[device.address] = nil
    }

    func makeSession(
        _ device: DiscoveredDevice, _ radio: RadioCore, _ intent: tendon_bose_intent?
    ) -> WearableDeviceSession {
        let configuration = configured()
        let core = SessionCore(
            radio: radio, address: device.address, isOldFirmware: device.hasOldFirmware, intent: intent,
            checker: configuration.firmwareChecker, pairing: configuration.pairing)
        let session = WearableDeviceSession(core: core, name: device.name)
        session.onOpen = { [weak self] in self?.lastAddress = device.address }
        sessions = sessions.filter { $0.value.session != nil }
        sessions[device.address] = WeakSession(session: session)
        return session
    }
}
