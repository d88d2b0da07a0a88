// SPDX-License-Identifier: MIT
import Tendon
import TendonBose
import TestSupport
import Testing

/// Central and peripheral, with the simulated wearable for a device.
@Suite(.timeLimit(.minutes(1)))
struct PeripheralTests {
    private let information: BluetoothUUID = "7b61ad83-041c-4333-a0ab-efb2ab7bdd43"
    private let sensorConfiguration: BluetoothUUID = "5af38af6-000e-404b-9b46-07f77580890b"
    private let sensorData: BluetoothUUID = "56a72ab8-4988-4cc8-a752-fbd1d54a953d"

    private func connect(_ site: Site) async throws -> (Central, Peripheral) {
        let central = try await Central(radio: site.radio)
        return (central, try await central.connect(site.wearable.address))
    }

    private func characteristic(_ uuid: BluetoothUUID, _ peripheral: Peripheral) async throws -> Characteristic {
        let service = try #require(try await peripheral.discoverServices("fdd2").first)
        return try #require(try await peripheral.discoverCharacteristics(uuid, of: service).first)
    }

    @Test func scanFindsTheServiceAndTheName() async throws {
        let site = try await Site()
        let central = try await Central(radio: site.radio)
        #expect(central.radioName == "virtual")
        #expect(await central.state == .idle)
        var hasService = false
        var name: String?
        for try await found in try await central.scan().timeout(.seconds(5)) {
            #expect(found.address == site.wearable.address)
            if found.isScanResponse { name = found.localName } else { hasService = found.serviceUUIDs.contains("fdd2") }
            if hasService, name != nil { break }
        }
        #expect(name == "LE-Bose Frames")
        await eventually("the scan ends with its sequence") { await central.state == .idle }
    }

    @Test func aPassiveScanHasNoScanResponses() async throws {
        let site = try await Site()
        let central = try await Central(radio: site.radio)
        var count = 0
        let scan = try await central.scan(ScanOptions(isActive: false))
        // In an active scan, a scan response follows each advertisement.
        for try await found in scan.timeout(.seconds(10)) {
            #expect(!found.isScanResponse)
            count += 1
            if count == 5 { break }
        }
    }

    @Test func aClosedCentralScansNoMore() async throws {
        let site = try await Site()
        let central = try await Central(radio: site.radio)
        let scan = try await central.scan()
        await central.close()
        for try await _ in scan {}
        #expect(await central.state == .closed)
        await #expect(throws: TendonError.self) { try await central.scan() }
    }

    @Test func discoversAndReads() async throws {
        let site = try await Site()
        let (_, peripheral) = try await connect(site)
        #expect(await peripheral.state == .connected)
        #expect(await peripheral.mtu > 185)
        let services = try await peripheral.discoverServices()
        #expect(Set(services.map(\.uuid)).isSuperset(of: ["fdd2", "180a"]))
        let service = try #require(services.first { $0.uuid == "fdd2" })
        let all = try await peripheral.discoverCharacteristics(of: service)
        #expect(all.count == 7)
        let info = try #require(all.first { $0.uuid == information })
        #expect(info.properties.isSuperset(of: [.read, .notify]))
        let value = try await peripheral.read(info)
        #expect(value.count == 19)
        #expect(Array(value[2...3]) == [0x40, 0x2C])
        #expect(try await peripheral.discoverDescriptors(of: info).map(\.uuid).contains("2902"))
        await peripheral.disconnect()
        #expect(await peripheral.state == .disconnected(nil))
        await #expect(throws: TendonError.self) { try await peripheral.read(info) }
    }

    @Test func errorsOfThePeerCarryItsCode() async throws {
        let site = try await Site()
        let (_, peripheral) = try await connect(site)
        let error = await #expect(throws: TendonError.self) {
            try await peripheral.read(AttributeHandle(rawValue: 0xFFF0))
        }
        #expect(error?.layer == .att)
        #expect(error?.code == 0x01)
        #expect(error?.operation == .read)
    }

    @Test func writesAndNotifications() async throws {
        let site = try await Site()
        let (_, peripheral) = try await connect(site)
        let configuration = try await characteristic(sensorConfiguration, peripheral)
        let data = try await characteristic(sensorData, peripheral)
        let values = try await peripheral.notifications(of: data)
        let others = try await peripheral.notifications(of: data)
        try await peripheral.write([0, 0, 20, 1, 0, 0, 2, 0, 0, 3, 0, 0], to: configuration)
        #expect(try await peripheral.read(configuration).prefix(3) == [0, 0, 20])
        var iterator = values.timeout(.seconds(5)).makeAsyncIterator()
        let first = try #require(try await iterator.next())
        #expect(first.handle == data.handle)
        #expect(first.count == 10)
        #expect(first.bytes.count == 10)
        #expect(first[0] == 0)
        #expect(first.withBytes { $0.count } == 10)
        #expect(!first.isIndication)
        var other = others.timeout(.seconds(5)).makeAsyncIterator()
        #expect(try await other.next()?.bytes == first.bytes)
        // A length that the device does not take.
        let error = await #expect(throws: TendonError.self) { try await peripheral.write([0], to: configuration) }
        #expect(error?.layer == .att && error?.code == 0x80)
        await peripheral.disconnect()
        while try await iterator.next() != nil {}
    }

    @Test func aLostLinkEndsSequencesWithAnError() async throws {
        let site = try await Site()
        let (_, peripheral) = try await connect(site)
        let data = try await characteristic(sensorData, peripheral)
        let values = try await peripheral.notifications(of: data)
        var states = await peripheral.states().makeAsyncIterator()
        #expect(try await states.next() == .connected)
        await site.wearable.disconnectAll()
        await #expect(throws: TendonError.self) { for try await _ in values {} }
        guard case .disconnected(.some) = try await states.next() else {
            Issue.record("the state does not tell why")
            return
        }
        try await peripheral.connect()
        #expect(await peripheral.state == .connected)
    }

    /// The consumer stops while the loop goes on: what it misses equals the drop counter exactly.
    @Test func whatAStoppedConsumerMissesIsCounted() async throws {
        var options = SimulatedWearable.Options()
        options.isFlatOut = true
        let site = try await Site(options)
        let (_, peripheral) = try await connect(site)
        let configuration = try await characteristic(sensorConfiguration, peripheral)
        let data = try await characteristic(sensorData, peripheral)
        let values = try await peripheral.notifications(of: data, capacity: 32)
        try await peripheral.write([0, 0, 20, 1, 0, 0, 2, 0, 0, 3, 0, 0], to: configuration)
        await eventually("the ring overflows") { values.dropped > 2000 }
        try await peripheral.write([0, 0, 0, 1, 0, 0, 2, 0, 0, 3, 0, 0], to: configuration)
        // The answer is behind all notifications.
        let dropped = values.dropped
        var got: [UInt16] = []
        for try await value in values.ending(after: .milliseconds(50)) {
            got.append(UInt16(value[1]) << 8 | UInt16(value[2]))
        }
        #expect(got.count == 32)
        #expect(values.dropped == dropped)
        #expect(await site.wearable.counters.notifications == UInt64(got.count) + dropped)
        #expect(zip(got, got.dropFirst()).allSatisfy { $1 &- $0 == 20 })
    }

    @Test func connectingToNobodyTimesOut() async throws {
        let site = try await Site()
        let central = try await Central(radio: site.radio)
        let start = ContinuousClock.now
        let error = await #expect(throws: TendonError.self) {
            try await central.connect(
                Address(0xC000_0000_0001, type: .random), options: ConnectOptions(timeout: .milliseconds(120)))
        }
        #expect(error?.operation == .connect)
        #expect(error?.isTimeout == true)
        #expect(ContinuousClock.now - start < .seconds(5))
    }

    @Test func cancellingAConnectEndsIt() async throws {
        let site = try await Site()
        let central = try await Central(radio: site.radio)
        let isRunning = Flag()
        let attempt = Task { () -> TendonError? in
            isRunning.set()
            do throws(TendonError) {
                _ = try await central.connect(Address(0xC000_0000_0001, type: .random))
                return nil
            } catch {
                return error
            }
        }
        await eventually("it runs") { isRunning.isSet }
        await turns()
        attempt.cancel()
        #expect(await attempt.value?.isCancelled == true)
    }

    @Test func aCancelledReadIsTakenBack() async throws {
        let site = try await Site()
        let (_, peripheral) = try await connect(site)
        let info = try await characteristic(information, peripheral)
        for _ in 0..<50 {
            let read = Task { try await peripheral.read(info) }
            read.cancel()
            switch await read.result {
            case .success(let value): #expect(value.count == 19)
            case .failure(let error): #expect((error as? TendonError)?.isCancelled == true)
            }
        }
        #expect(try await peripheral.read(info).count == 19)
    }

    @Test func manyReadsAtOnceAllAnswer() async throws {
        let site = try await Site()
        let (_, peripheral) = try await connect(site)
        let info = try await characteristic(information, peripheral)
        try await withThrowingTaskGroup(of: Int.self) { group in
            for _ in 0..<8 { group.addTask { try await peripheral.read(info).count } }
            for try await count in group { #expect(count == 19) }
        }
    }

    @Test func theLinkEndsWithTheLastReference() async throws {
        let site = try await Site()
        let central = try await Central(radio: site.radio)
        var peripheral: Peripheral? = try await central.connect(site.wearable.address)
        #expect(await peripheral?.state == .connected)
        #expect(await site.wearable.connections == 1)
        peripheral = nil
        await eventually("the device sees the link go") { await site.wearable.connections == 0 }
    }
}
