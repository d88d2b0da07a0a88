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
            holder, rssiCutoff: rssiCutoff, lostAfter: lostAfter,
            changed: { [weak self] device, change in
                guard let self, change == TENDON_BOSE_SEARCH_FOUND else { return }
                delegate?.bluetoothManager(self, didDiscover: device)
            },
            lost: { [weak self] device in
                guard let self else { return }
                delegate?.bluetoothManager(self, didLose: device)
            },
            failed: { [weak self] error in
                guard let self else { return }
                stopScanning()
                delegate?.bluetoothManager(self, didFailWithError: BoseWearableError(error))
            })
        do { try search.start() } catch { throw BoseWearableError(error) }
        self.search = search
    }

    /// Ends the search; the delegate is not notified.
    public func stopScanning() {
        guard let search else { return }
        found = search.devices
        search.stop()
        self.search = nil
    }

    /// A device of `devices`; `nil` if it is not in range.
    public func deviceByAddress(_ address: Address) -> DiscoveredDevice? {
        devices.first { $0.address == address }
    }

    // MARK: Sessions

    /// Returns the session of a device; creates a closed session if there is none.
    public func session(for device: DiscoveredDevice) async throws(BoseWearableError) -> WearableDeviceSession {
        guard !Task.isCancelled else { throw .cancelled }
        if let known = sessions[device.address]?.session { return known }
        return makeSession(device, try openRadio(), nil)
    }

    /// Of those that were open.
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
        sessions[device.address] = WeakSession(session: session)
        return session
    }

    func makeSimulatedSession(
        _ wearable: SimulatedWearable, _ radio: RadioCore, _ name: String
    ) -> WearableDeviceSession {
        let device = DiscoveredDevice(
            address: wearable.address, name: name, rssi: nil, lastSeen: 0, hasOldFirmware: false)
        let session = makeSession(device, radio, nil)
        session.simulated = wearable
        return session
    }

    func remember(_ session: WearableDeviceSession) {
        lastAddress = session.address
    }
}
