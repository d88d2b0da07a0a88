// SPDX-License-Identifier: MIT
import CTendon
import Synchronization
import Tendon
import TestSupport
import Testing

@testable import TendonBose

/// The manager's search, and connecting by the program's own choice.
@Suite(.timeLimit(.minutes(1)))
struct SearchTests {
    @TendonActor
    private final class Shelf: BluetoothManagerDelegate {
        var found: [Address] = []
        var lost: [Address] = []
        var errors: [BoseWearableError] = []
        func bluetoothManager(_ manager: BluetoothManager, didDiscover device: DiscoveredDevice) {
            found.append(device.address)
        }
        func bluetoothManager(_ manager: BluetoothManager, didLose device: DiscoveredDevice) {
            lost.append(device.address)
        }
        func bluetoothManager(_ manager: BluetoothManager, didFailWithError error: BoseWearableError) {
            errors.append(error)
        }
    }

    private static let down = Int32(TENDON_RADIO_ERROR_ADAPTER_DOWN)
    private static let failure = BoseWearableError(TendonError(status: down, operation: .scan))

    /// The radio of a search fails, as the C core reports it.
    @TendonActor
    private func failSearch(of library: BoseWearable) async {
        await eventually("searching") {
            library.bluetoothManager.holder.radio?.radio.pointee.scanning == true
        }
        guard let radio = library.bluetoothManager.holder.radio?.radio else { return }
        radio.pointee.on_failure?(radio.pointee.report_context, Self.down, tendon_monotonic_ms())
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
        // Another search hears the device meanwhile, more than once.
        let other = site.boseWearable().bluetoothManager
        try other.startScanning()
        await eventually("found by the other") { other.devices.first != nil }
        let first = other.devices.first?.lastSeen
        await eventually("heard again") { other.devices.first?.lastSeen != first }
        other.stopScanning()
        #expect(manager.devices.first?.lastSeen == seen)
    }

    /// Nothing else is received: the loss has a time of its own.
    @Test @TendonActor func aDeviceThatIsSilentIsLost() async throws {
        let site = try await Site()
        let manager = site.boseWearable().bluetoothManager
        let shelf = Shelf()
        manager.delegate = shelf
        try manager.startScanning(lostAfter: .milliseconds(300))
        await eventually("found") { !shelf.found.isEmpty }
        await site.wearable.stop()
        // On a busy machine it may have been lost and found again before it stopped: the last loss has no answer.
        await eventually("lost") { !shelf.found.isEmpty && shelf.lost == shelf.found }
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

    /// The search that the choice was shown does not outlive the library.
    @Test @TendonActor func aChoiceLeavesNoSearchBehind() async throws {
        let site = try await Site()
        var library: BoseWearable? = site.boseWearable {
            $0.deviceChoice = .custom { lists in
                var iterator = lists.makeAsyncIterator()
                return try? await iterator.next()?.first
            }
        }
        weak var holder = library?.bluetoothManager.holder
        #expect(holder != nil)
        let session = try await library?.startConnection()
        #expect(session?.isOpen == true)
        library = nil
        await eventually("the search is released") { holder == nil }
        withExtendedLifetime(session) {}
    }

    /// The choice sees the failure in its sequence; the attempt ends with it, without a time limit too.
    @Test @TendonActor func aSearchThatFailsEndsTheProgramsChoice() async throws {
        let site = try await Site()
        let thrown = Mutex<[TendonError]>([])
        let library = site.boseWearable {
            $0.timeout = nil
            $0.deviceChoice = .custom { lists in
                do throws(TendonError) {
                    var iterator = lists.makeAsyncIterator()
                    while try await iterator.next() != nil {}
                } catch {
                    thrown.withLock { $0.append(error) }
                }
                return nil
            }
        }
        let attempt = Task { @TendonActor in try await library.startConnection() }
        await failSearch(of: library)
        await #expect(throws: Self.failure) { try await attempt.value }
        #expect(thrown.withLock { $0.map(\.status) } == [Self.down])
    }

    @Test(arguments: [DeviceChoice.firstFound, .strongestSignal(within: .seconds(1000))])
    @TendonActor func aSearchThatFailsEndsTheAttempt(_ choice: DeviceChoice) async throws {
        let site = try await Site()
        await site.wearable.stop()
        let library = site.boseWearable {
            $0.timeout = nil
            $0.deviceChoice = choice
        }
        let attempt = Task { @TendonActor in try await library.startConnection() }
        await failSearch(of: library)
        await #expect(throws: Self.failure) { try await attempt.value }
    }

    @Test @TendonActor func theDelegateIsNotifiedOfASearchThatFails() async throws {
        let site = try await Site()
        let library = site.boseWearable()
        let shelf = Shelf()
        library.bluetoothManager.delegate = shelf
        try library.bluetoothManager.startScanning()
        await failSearch(of: library)
        await eventually("reported") { shelf.errors == [Self.failure] }
        #expect(!library.bluetoothManager.isScanning)
        // The library opens its radio again.
        await eventually("closed") { library.bluetoothManager.holder.radio == nil }
        try library.bluetoothManager.startScanning()
        await eventually("found") { shelf.found.last == site.wearable.address }
        library.bluetoothManager.stopScanning()
    }

    /// A wearable whose packets have no name is chosen after its second packet.
    @Test @TendonActor func aDeviceWithoutANameIsFound() async throws {
        var options = SimulatedWearable.Options()
        options.name = ""
        let site = try await Site(options)
        let session = try await site.boseWearable().startConnection()
        #expect(session.isOpen && session.device?.address == site.wearable.address)
    }

    /// The sequence of the application's own choice ends with the choice.
    @Test @TendonActor func theListsEndWithTheChoice() async throws {
        let site = try await Site()
        let (ended, hasEnded) = AsyncStream.makeStream(of: Void.self)
        let library = site.boseWearable {
            $0.deviceChoice = .custom { lists in
                // Somebody else goes on with the sequence.
                let (first, found) = AsyncStream.makeStream(of: DiscoveredDevice.self)
                Task.detached {
                    var all = lists.makeAsyncIterator()
                    while let list = try? await all.next(isolation: nil) {
                        if let device = list.first { found.yield(device) }
                    }
                    hasEnded.finish()
                }
                for await device in first { return device }
                return nil
            }
        }
        let session = try await library.startConnection()
        #expect(session.isOpen)
        for await _ in ended {}
    }

    /// The last device is in range, and its opening fails: the search follows.
    @Test @TendonActor func aLastDeviceThatCannotBeOpened() async throws {
        let site = try await Site()
        var old = SimulatedWearable.Options()
        old.firmware = "0.9.0"
        let last = try await SimulatedWearable(
            old, radio: site.radio,
            address: Address(0xD100_0000_0001, type: .random), loop: site.loop,
            interval: .milliseconds(20))
        let library = site.boseWearable {
            $0.lastDevice = last.address
            $0.firmwareChecker = { $1 == "0.9.0" ? .required : .unknown }
            let other = site.wearable.address
            $0.deviceChoice = .custom { lists in
                var iterator = lists.makeAsyncIterator()
                while let list = try? await iterator.next() {
                    if let device = list.first(where: { $0.address == other }) { return device }
                }
                return nil
            }
        }
        let session = try await library.openLast(20)
        #expect(session.address == site.wearable.address && session.isOpen)
        await eventually("its connection ends") { await last.connections == 0 }
    }

    /// It does not respond: the opening has no more time than the mode gives it. A request has 5 s.
    @Test @TendonActor func aLastDeviceThatDoesNotRespond() async throws {
        let site = try await Site()
        let silent = try await SilentDevice(site.radio)
        let other = site.wearable.address
        let library = site.boseWearable {
            $0.lastDevice = silent.peripheral.address
            $0.timeout = .seconds(5)
            $0.deviceChoice = .address(other)
        }
        let session = try await library.openLast(0.5)
        #expect(session.address == other && session.isOpen)
        silent.end()
    }

    /// Any number of seconds; the device responds immediately.
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

/// A wearable by its services, which does not respond to anybody who has connected.
@TendonActor
private final class SilentDevice {
    let peripheral: LocalPeripheral
    private let central: Central
    private var silencing: Task<Void, any Error>?

    init(_ radio: RadioChoice) async throws {
        let uuids: [BluetoothUUID] = [
            "7b61ad83-041c-4333-a0ab-efb2ab7bdd43", "855cb3e7-98ff-42a6-80fc-40b32a2221c1",
            "5af38af6-000e-404b-9b46-07f77580890b", "56a72ab8-4988-4cc8-a752-fbd1d54a953d",
            "a0384f52-f95a-4bcd-b898-7b9ceec92dad", "21e550af-f780-477b-9334-1f983296f1d7",
            "9014dd4e-79ba-4802-a275-894d3b85ac74",
        ]
        let characteristics = uuids.map { LocalCharacteristic($0, properties: [.read, .write, .notify]) }
        central = try await Central(radio: radio, bonds: .none)
        peripheral = try await LocalPeripheral(
            name: "silent", services: [LocalService(0xFDD2, characteristics)], interval: .milliseconds(20), on: central)
        try peripheral.start()
        let events = peripheral.events()
        silencing = Task { @TendonActor [core = central.core] in
            for try await event in events {
                guard case .connected = event, let link = core.radio.pointee.links else { continue }
                let offset = MemoryLayout<tendon_link>.offset(of: \.source)!
                let source = (UnsafeMutableRawPointer(link) + offset).assumingMemoryBound(to: tendon_source.self)
                _ = tendon_loop_update(core.loop.core.block.pointer, source, 0)
            }
        }
    }

    func end() { silencing?.cancel() }
}
