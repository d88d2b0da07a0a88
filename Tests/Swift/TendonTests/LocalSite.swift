// SPDX-License-Identifier: MIT
import CTendon
import Synchronization
import TestSupport

@testable import Tendon

/// A device of the program's own, on a virtual radio.
final class LocalSite: Sendable {
    /// What the closures of its characteristics were called with.
    final class Notes: Sendable {
        let reads = Atomic<Int>(0)
        let written = Mutex<[WriteRequest]>([])
    }

    let directory = RadioDirectory()
    let notes = Notes()
    let rate = LocalCharacteristic(
        "2a37", properties: [.notify, .indicate], descriptors: [.userDescription("beats")])
    let level = LocalCharacteristic("2a19", properties: [.read, .write, .notify], value: [100])
    let place: LocalCharacteristic
    let control: LocalCharacteristic
    let peripheral: LocalPeripheral

    init() async throws {
        let notes = notes
        place = LocalCharacteristic(
            "2a38", properties: .read,
            onRead: { _ in
                notes.reads.add(1, ordering: .relaxed)
                return [1]
            })
        control = LocalCharacteristic(
            "2a39", properties: [.write, .writeWithoutResponse],
            onWrite: { _, request throws(AttributeError) in
                guard request.value != [0xFF] else { throw AttributeError(rawValue: 0x80) }
                notes.written.withLock { $0.append(request) }
            })
        peripheral = try await LocalPeripheral(
            name: "Tendon HR", appearance: 0x0341,
            services: [LocalService("180d", [rate, place, control]), LocalService("180f", [level])],
            interval: .milliseconds(20), radio: directory.radio, address: directory.address)
    }

    func connect() async throws -> LocalClient {
        let central = try await Central(radio: directory.radio, bonds: .none)
        return try await LocalClient(central.connect(directory.address))
    }

}

/// A central that has discovered a device.
struct LocalClient: Sendable {
    let peripheral: Peripheral
    private let characteristics: [BluetoothUUID: Characteristic]

    init(_ peripheral: Peripheral) async throws {
        self.peripheral = peripheral
        var all: [BluetoothUUID: Characteristic] = [:]
        for service in try await peripheral.discoverServices() {
            for one in try await peripheral.discoverCharacteristics(of: service) { all[one.uuid] = one }
        }
        characteristics = all
    }

    subscript(_ uuid: BluetoothUUID) -> Characteristic { characteristics[uuid]! }
}

/// The status that `body` throws; 0: it returns.
func statusOf(_ body: () async throws -> Void, isolation: isolated (any Actor)? = #isolation) async -> Int32 {
    do {
        try await body()
        return 0
    } catch {
        return (error as? TendonError)?.status ?? 1
    }
}

/// The status of an Error Response.
func attError(_ code: Int32) -> Int32 { -(256 + code) }
