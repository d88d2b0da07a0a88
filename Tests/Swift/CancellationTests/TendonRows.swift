// SPDX-License-Identifier: MIT
import CTendon
import Glibc
import Synchronization
import Tendon
import TendonBose
import TendonFjorden
import TestSupport
import Testing

/// A simulated device on a loop of its own, and what is left of a central after use.
final class Site: Sendable {
    private static let next = Atomic<UInt32>(0)
    let directory: String
    let loop: Loop
    private let device: SimulatedHost<tendon_simulated_bose>

    init() async throws {
        let number = Self.next.wrappingAdd(1, ordering: .relaxed).newValue
        directory = "/tmp/tendon-cancel-\(getpid())-\(number)"
        loop = try Loop()
        device = try await SimulatedHost.open(
            radio: .virtual(directory: directory), address: Address(0xD200_0000_0000 | UInt64(number), type: .random),
            loop: loop, interval: .milliseconds(20), keeping: [],
            prepare: { device in
                var options = tendon_simulated_bose_options()
                return tendon_simulated_bose_init(device, &options)
            },
            seam: { tendon_simulated_bose_device($0) })
    }

    deinit { rmdir(directory) }

    var radio: RadioChoice { .virtual(directory: directory) }
    var address: Address { device.address }
    func connections() async -> Int { await loop.run { [device] in device.host.connections } }
}

private final class WeakRadio: @unchecked Sendable {
    // Read on the loop's thread alone.
    weak var radio: RadioCore?
    init(_ radio: RadioCore) { self.radio = radio }
}

/// `body` uses a central; after it, nothing of the radio is left, and the device has no connection.
private func withCentral(_ body: (Site, Central) async throws -> Void) async throws {
    let site = try await Site()
    let weakly: WeakRadio
    do {
        let central = try await Central(radio: site.radio)
        weakly = WeakRadio(central.core)
        try await body(site, central)
    }
    await expectReleased({ await Loop.shared.run { weakly.radio } }, "a connection, a search or a request is left")
    // A connection that was cancelled early may still be accepted, and is closed then.
    await eventually("the device has no connection") { await site.connections() == 0 }
}

private let sensorData: BluetoothUUID = "56a72ab8-4988-4cc8-a752-fbd1d54a953d"

/// The same with a connection and a characteristic.
private func withPeripheral(
    _ body: (Site, Peripheral, Service, Characteristic) async throws -> Void
) async throws {
    try await withCentral { site, central in
        let peripheral = try await central.connect(site.address)
        let service = try #require(try await peripheral.discoverServices("fdd2").first)
        let characteristic = try #require(
            try await peripheral.discoverCharacteristics(sensorData, of: service).first)
        try await body(site, peripheral, service, characteristic)
    }
}

/// Writes more than the queue of the socket holds: it waits as long as the device does not read. One call on the
/// loop.
@TendonActor
private func fillQueue(of peripheral: Peripheral, _ handle: AttributeHandle) throws(TendonError) {
    for _ in 0..<1000 {
        do throws(TendonError) { try peripheral.writeWithoutResponse([0], to: handle) } catch {
            if error.status == Int32(TENDON_ERROR_WOULD_BLOCK) { return }
            throw error
        }
    }
}

/// A row for one request of a peripheral.
private func request(
    _ name: String,
    _ call: @escaping @Sendable (Peripheral, Service, Characteristic) async throws(TendonError) -> Void
) -> Row {
    Row(name) { moment in
        try await withPeripheral { site, peripheral, service, characteristic in
            await expectCancelled(TendonError.self, moment, device: site.loop, mayFinish: moment != .silent) {
                try await call(peripheral, service, characteristic)
            }
            // The connection works as before.
            if moment != .silent { _ = try await peripheral.discoverServices("fdd2") }
        }
    }
}

/// A device of the program's own with a connected central, which is silent in the case `.silent`. After `body`, nothing
/// of the device's radio is left.
private func withLocalPeripheral(
    _ body: (Peripheral, LocalPeripheral, LocalCharacteristic, ConnectedCentral) async throws -> Void
) async throws {
    let directory = RadioDirectory()
    let central = try await Central(radio: directory.radio, bonds: .none)
    do {
        let value = LocalCharacteristic("2a37", properties: [.notify, .indicate])
        let local = try await LocalPeripheral(
            name: "Tendon", services: [LocalService("180d", [value])], interval: .milliseconds(20),
            radio: directory.radio, address: directory.address)
        try await local.start()
        let peripheral = try await central.connect(directory.address)
        let service = try #require(try await peripheral.discoverServices("180d").first)
        let found = try #require(try await peripheral.discoverCharacteristics(of: service).first)
        try await peripheral.write([3, 0], to: AttributeHandle(rawValue: found.handle.rawValue + 1))
        let one = try #require(await local.centrals.first)
        try await body(peripheral, local, value, one)
    }
    await eventually("the device's radio is left") { descriptors(of: directory.path) == 1 }
}

/// As above, for a central that may not read.
@TendonActor
private func fillQueue(of local: LocalPeripheral, _ value: LocalCharacteristic) throws(TendonError) {
    for _ in 0..<1000 {
        if try !local.notify([1], for: value).isEmpty { return }
    }
}

let tendonRows: [Row] = [
    Row("LocalPeripheral.indicate(_:for:to:)") { moment in
        try await withLocalPeripheral { peripheral, local, value, central in
            await expectCancelled(TendonError.self, moment, device: peripheral, mayFinish: moment != .silent) {
                try await local.indicate([1], for: value, to: central)
            }
        }
    },
    Row("LocalPeripheral.readyToNotify(_:timeout:)") { moment in
        try await withLocalPeripheral { peripheral, local, value, central in
            await expectCancelled(TendonError.self, moment, device: peripheral, mayFinish: moment != .silent) {
                try await fillQueue(of: local, value)
                try await local.readyToNotify(central)
            }
        }
    },
    Row("Central.waitForAdapter(_:loop:)") { moment in
        #if BlueZ || KernelSockets
            let site = try await Site()
            await expectCancelled(TendonError.self, moment, device: site.loop, mayFinish: false) {
                // This machine may have an adapter, or no Bluetooth sockets.
                let arrival = AdapterArrival(.shared) { arrival, _, _, _ in
                    arrival.pointee.source.fd = -1
                    return 0
                }
                try await LoopContext(.shared).wait(for: arrival)
            }
        #endif
    },
    Row("Central.connect(_:options:)") { moment in
        try await withCentral { site, central in
            await expectCancelled(TendonError.self, moment, device: site.loop) {
                _ = try await central.connect(site.address)
            }
            // A device that is not there.
            await expectCancelled(TendonError.self, moment, device: site.loop, mayFinish: false) {
                _ = try await central.connect(Address(0xC000_0000_0001, type: .random))
            }
        }
    },
    Row("Central.first(of:within:)") { moment in
        try await withCentral { site, central in
            await expectCancelled(TendonError.self, moment, device: site.loop) {
                _ = try await central.first(of: .bose)
            }
            await expectCancelled(TendonError.self, moment, device: site.loop, mayFinish: false) {
                _ = try await central.first(of: .fjorden, within: .seconds(1000))
            }
        }
    },
    Row("CentralGroup.connect(_:options:)") { moment in
        try await withCentral { site, central in
            let group = CentralGroup()
            try await group.add(central)
            await expectCancelled(TendonError.self, moment, device: site.loop) {
                _ = try await group.connect(site.address)
            }
            // A device that is not there.
            await expectCancelled(TendonError.self, moment, device: site.loop, mayFinish: false) {
                _ = try await group.connect(Address(0xC000_0000_0001, type: .random))
            }
            await group.remove(central)
        }
    },
    Row("Peripheral.connect(_:)") { moment in
        try await withCentral { site, central in
            let peripheral = try await central.connect(site.address)
            await peripheral.disconnect()
            await expectCancelled(TendonError.self, moment, device: site.loop) { try await peripheral.connect() }
        }
    },
    Row("Peripheral.pair()") { moment in
        let site = try await Site()
        let central = try await Central(radio: site.radio, bonds: .memory)
        let peripheral = try await central.connect(site.address)
        await expectCancelled(TendonError.self, moment, device: site.loop) {
            do throws(TendonError) { try await peripheral.pair() } catch {
                // The device does not pair: it may be faster than the cancellation.
                if moment == .midway, !error.isCancelled { return }
                throw error
            }
        }
    },
    request("Peripheral.characteristic(_:in:timeout:)") { peripheral, _, _ throws(TendonError) in
        _ = try await peripheral.characteristic(sensorData, in: 0xFDD2)
    },
    request("Peripheral.discoverServices(_:timeout:)") { peripheral, _, _ throws(TendonError) in
        _ = try await peripheral.discoverServices()
    },
    request("Peripheral.includedServices(of:timeout:)") { peripheral, service, _ throws(TendonError) in
        _ = try await peripheral.includedServices(of: service)
    },
    request("Peripheral.discoverCharacteristics(_:of:timeout:)") { peripheral, service, _ throws(TendonError) in
        _ = try await peripheral.discoverCharacteristics(of: service)
    },
    request("Peripheral.discoverDescriptors(of:timeout:)") { peripheral, _, characteristic throws(TendonError) in
        _ = try await peripheral.discoverDescriptors(of: characteristic)
    },
    request("Peripheral.read(_:timeout:)") { peripheral, service, _ throws(TendonError) in
        let all = try await peripheral.discoverCharacteristics(of: service)
        if let readable = all.first(where: { $0.properties.contains(.read) }) {
            _ = try await peripheral.read(readable)
            _ = try await peripheral.read(readable.handle)
        }
    },
    request("Peripheral.write(_:to:timeout:)") { peripheral, service, _ throws(TendonError) in
        let all = try await peripheral.discoverCharacteristics(of: service)
        if let writable = all.first(where: { $0.properties.contains(.write) }) {
            do throws(TendonError) { try await peripheral.write([0], to: writable) } catch {
                if error.layer != .att { throw error }
            }
        }
    },
    request("Peripheral.readyToWriteWithoutResponse(timeout:)") {
        peripheral, _, characteristic throws(TendonError) in
        try await fillQueue(of: peripheral, characteristic.handle)
        try await peripheral.readyToWriteWithoutResponse()
    },
    request("Peripheral.notifications(of:capacity:policy:timeout:)") {
        peripheral, _, characteristic throws(TendonError) in
        _ = try await peripheral.notifications(of: characteristic)
    },
    request("Peripheral.serviceChanges(timeout:)") { peripheral, _, _ throws(TendonError) in
        do throws(TendonError) { _ = try await peripheral.serviceChanges() } catch {
            // The device has no Service Changed.
            if error.status != Int32(TENDON_ERROR_NOT_FOUND) { throw error }
        }
    },
    request("Peripheral.indications(of:capacity:policy:timeout:)") {
        peripheral, _, characteristic throws(TendonError) in
        do throws(TendonError) { _ = try await peripheral.indications(of: characteristic) } catch {
            if error.layer != .att { throw error }
        }
    },
]

let tendonExemptions: [Exemption] = [
    Exemption("Wearable.openAndWait()", "that of each family has a row"),
    Exemption("Wearable.closeAndWait()", "that of each family has a row"),
    Exemption("Central.init(radio:bonds:gattCache:)", "opens the radio in one step of the loop"),
    Exemption("Central.shared", "opens the radio that other tasks wait for too"),
    Exemption(
        "LocalPeripheral.init(name:appearance:services:advertisement:scanResponse:interval:radio:address:bonds:subscriptions:)",
        "opens the radio in one step of the loop"),
    Exemption(
        "LocalPeripheral.init(name:appearance:services:advertisement:scanResponse:interval:subscriptions:on:)",
        "builds the table in one step of the loop"),
    Exemption("LocalPeripheral.stop()", "closes the connections on our side; does not wait for the centrals"),
    Exemption("EventSequence.Iterator.next()", "ends instead of throwing: SequenceTests"),
    Exemption("EventSequence.Iterator.next(isolation:)", "ends instead of throwing: SequenceTests"),
    Exemption("EventStream.Iterator.next()", "that of EventSequence"),
    Exemption("EventStream.Iterator.next(isolation:)", "that of EventSequence"),
    Exemption("Loop.wakeups()", "reads a counter"),
    Exemption("Loop.run(_:)", "runs the program's synchronous closure"),
    Exemption("TendonActor.run(_:)", "runs the program's synchronous closure"),
    Exemption("Peripheral.disconnect()", "closes the connection on our side; does not wait for the device"),
]
