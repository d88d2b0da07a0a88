// SPDX-License-Identifier: MIT
import Synchronization
import Tendon
import TendonBose
import Testing

/// The manager's search, and connecting by the program's own choice.
@Suite(.timeLimit(.minutes(1)))
struct SearchTests {
    @TendonActor
    private final class Shelf: BluetoothManagerDelegate {
        var found: [Address] = []
        var lost: [Address] = []
        func bluetoothManager(_ manager: BluetoothManager, didDiscover device: DiscoveredDevice) {
            found.append(device.address)
        }
        func bluetoothManager(_ manager: BluetoothManager, didLose device: DiscoveredDevice) {
            lost.append(device.address)
        }
        func bluetoothManager(_ manager: BluetoothManager, didFailWithError error: BoseWearableError) {}
    }

    /// The search of a stop is another one than that of the start behind it.
    @Test @TendonActor func stoppedAndStartedAtTheSameMoment() async throws {
        let site = try await Site()
        let manager = site.boseWearable().bluetoothManager
        let shelf = Shelf()
        manager.delegate = shelf
        try manager.startScanning()
        manager.stopScanning()
        try manager.startScanning()
        #expect(throws: BoseWearableError.self) { try manager.startScanning() }
        await eventually("found") { shelf.found == [site.wearable.address] }
        await eventually("the name") { manager.devices.first?.name == "LE-Bose Frames" }
        #expect(manager.isScanning)
        manager.stopScanning()
        #expect(!manager.isScanning)
        #expect(manager.devices.map(\.address) == [site.wearable.address])
        let seen = manager.devices.first?.lastSeen
        try await Task.sleep(for: .milliseconds(100))
        #expect(manager.devices.first?.lastSeen == seen)
    }

    /// Nothing else is received: the loss has a time of its own.
    @Test @TendonActor func aDeviceThatIsSilentIsLost() async throws {
        let site = try await Site()
        let manager = site.boseWearable().bluetoothManager
        let shelf = Shelf()
        manager.delegate = shelf
        try manager.startScanning(lostAfter: .milliseconds(300))
        await eventually("found") { shelf.found.count == 1 }
        await site.wearable.stop()
        await eventually("lost") { shelf.lost == [site.wearable.address] }
        #expect(manager.devices.isEmpty)
        manager.stopScanning()
    }

    /// A library that is released while it searches stops searching.
    @Test @TendonActor func aReleasedLibraryStopsSearching() async throws {
        let site = try await Site()
        weak var released: BluetoothManager?
        try { () throws in
            let library = site.boseWearable()
            try library.bluetoothManager.startScanning()
            released = library.bluetoothManager
        }()
        await eventually("released") { released == nil }
    }

    @Test @TendonActor func theRadiosReasonIsThrown() async throws {
        var configuration = BoseWearable.Configuration()
        configuration.radio = .virtual(directory: "/proc/tendon-cannot-be")
        let library = BoseWearable(configuration)
        let error = #expect(throws: BoseWearableError.self) { try library.bluetoothManager.startScanning() }
        guard case .host = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(!library.bluetoothManager.isScanning)
        await #expect(throws: BoseWearableError.self) { try await library.startConnection() }
    }

    @Test @TendonActor func theProgramChooses() async throws {
        let site = try await Site()
        let session = try await site.boseWearable {
            $0.deviceChoice = .custom { lists in
                var iterator = lists.makeAsyncIterator()
                while let list = try? await iterator.next() {
                    if let named = list.first(where: { $0.name != nil }) { return named }
                }
                return nil
            }
        }.startConnection()
        #expect(session.device?.name == "LE-Bose Frames")
    }

    /// Any number of seconds; the device answers at once.
    @Test(arguments: [Double.infinity, .greatestFiniteMagnitude, .nan, -1])
    @TendonActor func anyTimeForTheLastDevice(_ seconds: Double) async throws {
        let site = try await Site()
        let session = try await site.boseWearable { $0.lastDevice = site.wearable.address }.openLast(seconds)
        #expect(session.isOpen)
    }
}

extension BoseWearable {
    @TendonActor fileprivate func openLast(_ seconds: Double) async throws -> WearableDeviceSession {
        try await startConnection(mode: .connectToLast(timeout: seconds))
    }
}
