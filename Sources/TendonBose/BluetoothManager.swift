// SPDX-License-Identifier: MIT
import CTendon
import Tendon

/// Told what a search finds; kept weakly. Called on the loop's thread.
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
    /// A wearable that was not in reach before.
    func bluetoothManager(_ manager: BluetoothManager, didDiscover device: DiscoveredDevice)
    /// One that was not heard for so long as the search was told.
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
    /// Told what a search finds; kept weakly.
    public weak var delegate: (any BluetoothManagerDelegate)?
    private var central: Central?
    private var search: Task<Void, Never>?
    private var table = DeviceTable()
    private var sessions: [Address: WeakSession] = [:]
    private(set) var lastAddress: Address?

    private struct WeakSession {
        weak var session: WearableDeviceSession?
    }

    private let configured: @Sendable () -> BoseWearable.Configuration

    nonisolated init(_ configured: @escaping @Sendable () -> BoseWearable.Configuration) {
        self.configured = configured
    }

    /// The radio of the configuration; opened at first use.
    func openCentral() async throws(BoseWearableError) -> Central {
        if let central { return central }
        do {
            let opened = try await Central(radio: configured().radio)
            let central = central ?? opened
            self.central = central
            return central
        } catch {
            throw BoseWearableError(error)
        }
    }

    // MARK: Searching

    /// A search is running.
    public var isScanning: Bool { search != nil }
    /// What is in reach.
    public var devices: [DiscoveredDevice] { table.devices }

    /// Finds devices until told to stop, weaker ones than `rssiCutoff` left out; what is not heard for `lostAfter` is
    /// dropped.
    public func startScanning(rssiCutoff: Int? = nil, lostAfter: Duration = .seconds(15)) throws(BoseWearableError) {
        guard search == nil else {
            throw BoseWearableError(Int32(TENDON_RADIO_ERROR_ALREADY_STARTED), .scan)
        }
        table = DeviceTable()
        search = Task { @TendonActor [weak self] in
            do throws(BoseWearableError) {
                try await self?.scan(rssiCutoff, lostAfter)
            } catch {
                guard let self, !Task.isCancelled else { return }
                self.delegate?.bluetoothManager(self, didFailWithError: error)
            }
            self?.search = nil
        }
    }

    /// Ends the search; the delegate is not told.
    public func stopScanning() {
        search?.cancel()
        search = nil
    }

    private func scan(_ cutoff: Int?, _ lostAfter: Duration) async throws(BoseWearableError) {
        let central = try await openCentral()
        do {
            var iterator = try await central.scan().makeAsyncIterator()
            while let advertisement = try await iterator.next(isolation: TendonActor.shared) {
                if let cutoff, let rssi = advertisement.rssi, rssi < cutoff { continue }
                let isNew = !table.devices.contains { $0.address == advertisement.address }
                if let device = table.take(advertisement), isNew {
                    delegate?.bluetoothManager(self, didDiscover: device)
                }
                let now = advertisement.time
                for lost in table.drop(before: now - min(now, lostAfter.milliseconds)) {
                    delegate?.bluetoothManager(self, didLose: lost)
                }
            }
        } catch {
            throw BoseWearableError(error)
        }
    }

    /// A device of `devices`; `nil`: it is not in reach.
    public func deviceByAddress(_ address: Address) -> DiscoveredDevice? {
        table.devices.first { $0.address == address }
    }

    // MARK: Sessions

    /// The session of a device; made when there is none. Closed at first.
    public func session(for device: DiscoveredDevice) async throws(BoseWearableError) -> WearableDeviceSession {
        if let known = sessions[device.address]?.session { return known }
        return makeSession(device, try await openCentral(), nil)
    }

    /// Of those that were open.
    public var mostRecentlyConnectedDevice: Address? { lastAddress }

    /// Closes the session of a device and forgets it.
    public func removeSession(for device: DiscoveredDevice) {
        sessions[device.address]?.session?.close()
        sessions[device.address] = nil
    }

    func makeSession(
        _ device: DiscoveredDevice, _ central: Central, _ intent: tendon_bose_intent?
    ) -> WearableDeviceSession {
        let configuration = configured()
        let core = SessionCore(
            radio: central.core, address: device.address, isOldFirmware: device.hasOldFirmware, intent: intent,
            checker: configuration.firmwareChecker, pairing: configuration.pairing)
        let session = WearableDeviceSession(core: core, name: device.name)
        sessions[device.address] = WeakSession(session: session)
        return session
    }

    func makeSimulatedSession(
        _ wearable: SimulatedWearable, _ central: Central, _ name: String
    ) -> WearableDeviceSession {
        let device = DiscoveredDevice(
            address: wearable.address, name: name, rssi: nil, lastSeen: 0, hasOldFirmware: false)
        let session = makeSession(device, central, nil)
        session.simulated = wearable
        return session
    }

    func remember(_ session: WearableDeviceSession) {
        lastAddress = session.address
    }
}
