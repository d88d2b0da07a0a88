// SPDX-License-Identifier: MIT
import CTendon
import TestSupport
import Testing

@testable import Tendon

/// The shared central, scans for devices with a service or a name, and the lookup of a characteristic.
@Suite(.timeLimit(.minutes(1)))
struct CentralTests {
    private let service: [UInt8] = [3, 0x03, 0x0D, 0x18]
    private let name: [UInt8] = [6, 0x09] + Array("Heart".utf8)

    private func packet(_ number: UInt64, _ data: [UInt8]) -> Advertisement {
        data.withUnsafeBufferPointer { bytes in
            var report = tendon_ad_report()
            report.address = Address(0xC000_0000_0000 | number, type: .random).c
            report.data = bytes.baseAddress
            report.length = bytes.count
            return Advertisement(report, time: 0)
        }
    }

    private func passed(_ filter: ScanFilter, _ packets: [Advertisement]) -> [Bool] {
        var filter = filter
        return packets.map { filter.passes($0) }
    }

    @Test func withoutAFilterEachPacketPasses() {
        #expect(passed(ScanFilter(services: [], name: nil), [packet(1, []), packet(2, service)]) == [true, true])
    }

    /// The scan response of a device that has advertised the service passes, too.
    @Test func whatADeviceHasShownCounts() {
        let packets = [packet(1, name), packet(1, service), packet(1, name), packet(2, name), packet(2, [])]
        #expect(
            passed(ScanFilter(services: [0x180F, 0x180D], name: nil), packets) == [false, true, true, false, false])
        #expect(passed(ScanFilter(services: [], name: "He"), packets) == [true, true, true, true, true])
        #expect(passed(ScanFilter(services: [], name: "heart"), packets) == [false, false, false, false, false])
    }

    /// Both are required, in whichever packets, and in either order.
    @Test func serviceAndName() {
        let filter = ScanFilter(services: [0x180D], name: "Heart")
        #expect(passed(filter, [packet(1, service), packet(1, name), packet(1, service)]) == [false, true, true])
        #expect(passed(filter, [packet(1, name), packet(1, service)]) == [false, true])
        #expect(passed(filter, [packet(1, name), packet(2, service)]) == [false, false])
        #expect(passed(filter, [packet(1, service + name)]) == [true])
    }

    /// Any number of advertisers costs no more than a table of 1,024: with one more, all have to show themselves again.
    @Test(arguments: [1024, 1025]) func theTableIsLimited(_ count: UInt64) {
        var filter = ScanFilter(services: [0x180D], name: "Heart")
        for number in 0..<count {
            let passes = filter.passes(packet(number, service))
            #expect(!passes)
        }
        let passes = filter.passes(packet(0, name))
        #expect(passes == (count == 1024))
    }

    @Test func aScanForAService() async throws {
        let directory = RadioDirectory()
        let central = try await Central(radio: directory.radio, bonds: .none)
        var devices: [LocalPeripheral] = []
        for (number, uuid) in ([0x180D, 0x180F] as [BluetoothUUID]).enumerated() {
            let device = try await LocalPeripheral(
                name: "Device \(number)", services: [LocalService(uuid, [])], interval: .milliseconds(20),
                radio: directory.radio, address: Address(0xC000_0000_0001 + UInt64(number), type: .random))
            try await device.start()
            devices.append(device)
        }
        var count = 0
        for try await found in try await central.scan(services: [0x180F]) {
            #expect(found.address == devices[1].address)
            count += 1
            if count == 8 { break }
        }
        for try await found in try await central.scan(ScanOptions(namePrefix: "Device 0")) {
            #expect(found.address == devices[0].address)
            break
        }
    }

    // MARK: The central that a program shares

    /// Any number of tasks get the same; after a failure, or its end, the next one opens another.
    @Test @TendonActor func theSharedCentral() async throws {
        let directory = RadioDirectory()
        var opened = 0
        let open: @TendonActor @Sendable () async throws(TendonError) -> Central = { () async throws(TendonError) in
            opened += 1
            guard opened > 1 else { throw TendonError(status: -1, operation: .openRadio) }
            return try await Central(radio: directory.radio, bonds: .none)
        }
        await #expect(throws: TendonError.self) { try await Central.shared(open) }
        let tasks = (0..<4).map { _ in Task { @TendonActor in try await Central.shared(open) } }
        let first = try await tasks[0].value
        for task in tasks { #expect(try await task.value === first) }
        #expect(opened == 2)
        first.close()
        let second = try await Central.shared(open)
        #expect(second !== first && opened == 3)
        second.close()
    }

    // MARK: One characteristic

    @Test func aCharacteristicOfAService() async throws {
        let stage = try await LocalSite()
        try await stage.peripheral.start()
        let client = try await stage.connect()
        let rate = try await client.peripheral.characteristic(0x2A37, in: 0x180D)
        #expect(rate.uuid == 0x2A37 && rate == client["2a37"])
        let error = await #expect(throws: TendonError.self) {
            try await client.peripheral.characteristic(0x2A19, in: 0x180D)
        }
        #expect(error == TendonError(status: Int32(TENDON_ERROR_NOT_FOUND), operation: .discover))
        #expect(error?.detail?.hasPrefix("characteristic 00002a19-") == true)
        let other = await #expect(throws: TendonError.self) {
            try await client.peripheral.characteristic(0x2A19, in: 0x1810)
        }
        #expect(other?.detail == "service 00001810-0000-1000-8000-00805f9b34fb")
    }

    /// For people alone.
    @Test func theDetailOfAnErrorIsNotCompared() {
        let plain = TendonError(status: -1, operation: .write)
        let detailed = TendonError(status: -1, operation: .write, detail: "intensity 300")
        #expect(plain == detailed && Set([plain, detailed]).count == 1)
        #expect(detailed.description == plain.description.replacing("write:", with: "write, intensity 300:"))
        #expect(plain != TendonError(status: -1, operation: .read))
    }
}
