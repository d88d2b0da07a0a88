// SPDX-License-Identifier: MIT
import CTendon
import Glibc
import TestSupport
import Testing

@testable import Tendon

/// Devices with more attributes of a kind than most: every one of them is discovered.
@Suite(.timeLimit(.minutes(1)))
struct DiscoveryTests {
    private func peripheral(_ services: [LocalService]) async throws -> (LocalPeripheral, Peripheral) {
        let directory = RadioDirectory()
        let device = try await LocalPeripheral(
            name: "Many", services: services, interval: .milliseconds(20), radio: directory.radio,
            address: directory.address)
        try await device.start()
        let central = try await Central(radio: directory.radio)
        return (device, try await central.connect(directory.address))
    }

    private func uuid(_ number: Int) -> BluetoothUUID { BluetoothUUID(UInt16(0xB000 + number)) }

    @Test func seventyCharacteristics() async throws {
        let all = (0..<70).map { LocalCharacteristic(uuid($0), properties: .read, value: [1]) }
        let twins = (0..<70).map { _ in LocalCharacteristic("b100", properties: .read, value: [1]) }
        let (device, peripheral) = try await peripheral([LocalService("a001", all), LocalService("a002", twins)])
        let service = try #require(try await peripheral.discoverServices("a001").first)
        let found = try await peripheral.discoverCharacteristics(of: service)
        #expect(found.map(\.uuid) == all.map(\.uuid))
        let second = try #require(try await peripheral.discoverServices("a002").first)
        #expect(try await peripheral.discoverCharacteristics("b100", of: second).count == 70)
        await device.stop()
    }

    @Test func seventyServices() async throws {
        let all = (0..<70).map { LocalService(uuid($0), []) } + (0..<70).map { _ in LocalService("b100", []) }
        let (device, peripheral) = try await peripheral(all)
        // With Generic Access and Generic Attribute.
        #expect(try await peripheral.discoverServices().count == 142)
        #expect(try await peripheral.discoverServices("b100").count == 70)
        await device.stop()
    }

    @Test func seventyDescriptors() async throws {
        let descriptors = (0..<70).map { LocalDescriptor(uuid($0), value: [1]) }
        let one = LocalCharacteristic("b100", properties: .read, value: [1], descriptors: descriptors)
        let (device, peripheral) = try await peripheral([LocalService("a001", [one])])
        let service = try #require(try await peripheral.discoverServices("a001").first)
        let found = try #require(try await peripheral.discoverCharacteristics(of: service).first)
        #expect(try await peripheral.discoverDescriptors(of: found).map(\.uuid) == descriptors.map(\.uuid))
        await device.stop()
    }

    /// Of the C core's own device, as a program's device includes none.
    @Test func seventyIncludedServices() async throws {
        let (directory, loop) = (RadioDirectory(), try Loop())
        let attributes = CTable<tendon_gatt_attribute>(capacity: 200)
        let host = try await SimulatedHost.open(
            radio: directory.radio, address: directory.address, loop: loop, interval: .milliseconds(20),
            keeping: [attributes],
            prepare: { device in
                var options = tendon_simulated_bose_options()
                let status = tendon_simulated_bose_init(device, &options)
                guard status >= 0 else { return status }
                let server = member(device, \.server)
                // A longer table in the place of the device's own.
                attributes.pointer.update(from: server.pointee.attributes, count: server.pointee.count)
                server.pointee.attributes = attributes.pointer
                server.pointee.capacity = attributes.capacity
                var service = tendon_uuid_from_u16(0xA001)
                _ = tendon_gatt_add_service(server, &service, true)
                for _ in 0..<70 { _ = tendon_gatt_add_include(server, 1) }
                return min(server.pointee.status, 0)
            },
            seam: { tendon_simulated_bose_device($0) })
        let central = try await Central(radio: directory.radio)
        let peripheral = try await central.connect(directory.address)
        let service = try #require(try await peripheral.discoverServices("a001").first)
        let included = try await peripheral.includedServices(of: service)
        #expect(included.count == 70 && Set(included.map(\.start.rawValue)) == [1])
        withExtendedLifetime(host) {}
    }
}
