// SPDX-License-Identifier: MIT
import CTendon
import TestSupport
import Testing

@testable import Tendon

/// A device of the program's own: start, stop, reuse, and what is left of it.
struct LocalPeripheralLifeTests {
    @Test func itStartsAndStopsAnyNumberOfTimes() async throws {
        let stage = try await LocalSite()
        let events = stage.peripheral.events()
        #expect(await stage.peripheral.isAdvertising == false)
        await stage.peripheral.stop()
        for round in 1...3 as ClosedRange<UInt64> {
            try await stage.peripheral.start()
            #expect(
                await statusOf { try await stage.peripheral.start() }
                    == Int32(TENDON_RADIO_ERROR_ALREADY_STARTED))
            let client = try await stage.connect()
            let central = await stage.peripheral.centrals[0]
            #expect(central.id == round)
            await stage.peripheral.stop()
            #expect(await stage.peripheral.centrals == [])
            let core = stage.peripheral.core
            #expect(await Loop.shared.run { (Mirror(reflecting: core).descendant("ending") as? [Any])?.count } == 0)
            #expect(await stage.peripheral.isAdvertising == false)
            var iterator = events.makeAsyncIterator()
            #expect(try await iterator.next() == .connected(central))
            #expect(try await iterator.next() == .disconnected(central, nil))
            await eventually("the central notices") {
                if case .disconnected = await client.peripheral.state { true } else { false }
            }
        }
        #expect(await statusOf { try await stage.peripheral.stopAdvertising() } == Int32(TENDON_ERROR_WRONG_STATE))
        #expect(await statusOf { try await stage.peripheral.advertise() } == Int32(TENDON_ERROR_WRONG_STATE))
    }

    @Test func withoutAdvertisingTheConnectionsStay() async throws {
        let stage = try await LocalSite()
        try await stage.peripheral.start()
        let client = try await stage.connect()
        try await stage.peripheral.stopAdvertising()
        try await stage.peripheral.stopAdvertising()
        #expect(await stage.peripheral.isAdvertising == false)
        #expect(try await client.peripheral.read(client["2a19"]) == [100])
        let central = try await Central(radio: stage.directory.radio, bonds: .none)
        let once = ConnectOptions(timeout: .seconds(2), attempts: 1)
        let brief = ConnectOptions(timeout: .milliseconds(100), attempts: 1)
        #expect(await statusOf { _ = try await central.connect(stage.directory.address, options: brief) } != 0)
        try await stage.peripheral.advertise()
        #expect(await stage.peripheral.isAdvertising)
        _ = try await central.connect(stage.directory.address, options: once)
        try await stage.peripheral.stopAdvertising()
        await stage.peripheral.stop()
        try await stage.peripheral.start()
        #expect(await stage.peripheral.isAdvertising)
    }

    /// The stop that waits for the connections ends: they stay.
    @Test(.timeLimit(.minutes(1))) @TendonActor func startedWhileItStops() async throws {
        let stage = try await LocalSite()
        try stage.peripheral.start()
        let client = try await stage.connect()
        let core = stage.peripheral.core
        // One after the other, in one turn of the loop: the connection is there yet.
        let stopping = Task { @TendonActor in await stage.peripheral.stop() }
        let starting = Task { @TendonActor in
            #expect(core.centrals.count == 1 && !stage.peripheral.isAdvertising)
            try stage.peripheral.start()
        }
        try await starting.value
        await stopping.value
        #expect(stage.peripheral.isAdvertising)
        withExtendedLifetime(client) {}
        await stage.peripheral.stop()
        #expect(!stage.peripheral.isAdvertising && core.centrals.isEmpty)
    }

    @Test func newDataAreAdvertisedAtOnce() async throws {
        let stage = try await LocalSite()
        try await stage.peripheral.start()
        let central = try await Central(radio: stage.directory.radio)
        let reports = try await central.scan(ScanOptions(isActive: true))
        let data = try AdvertisingData([.flags, .serviceData("180f", [99])])
        try await stage.peripheral.advertise(data)
        for try await found in reports where found.data == data.bytes { break }
        // The scan response is as before.
        for try await found in reports where found.isScanResponse {
            #expect(found.localName == "Tendon HR")
            break
        }
        try await stage.peripheral.advertise(scanResponse: AdvertisingData([.localName("Other")]))
        for try await found in reports where found.localName == "Other" { break }
        for try await found in reports where !found.isScanResponse {
            #expect(found.data == data.bytes)
            break
        }
    }

    @Test func aReleasedDeviceLeavesNothing() async throws {
        let directory = RadioDirectory()
        let client: LocalClient
        let central = try await Central(radio: directory.radio, bonds: .none)
        do {
            let rate = LocalCharacteristic("2a37", properties: .indicate)
            var peripheral: LocalPeripheral? = try await LocalPeripheral(
                name: "", services: [LocalService("180d", [rate])], radio: directory.radio, address: directory.address)
            try await peripheral?.start()
            client = try await LocalClient(central.connect(directory.address))
            _ = try await client.peripheral.indications(of: client["2a37"])
            #expect(descriptors(of: directory.path) == 2)
            peripheral = nil
        }
        await eventually("its radio is closed") { descriptors(of: directory.path) == 1 }
        await eventually("its connections end") {
            if case .disconnected = await client.peripheral.state { true } else { false }
        }
    }

    @Test func aSequenceKeepsTheDevice() async throws {
        let directory = RadioDirectory()
        let core: Weakly<LocalPeripheralCore>
        do {
            let events: EventSequence<LocalPeripheral.Event>
            do {
                let peripheral = try await LocalPeripheral(
                    name: "Tendon", services: [], radio: directory.radio, address: directory.address)
                try await peripheral.start()
                events = peripheral.events()
                core = await onLoop { Weakly(peripheral.core) }
            }
            let central = try await Central(radio: directory.radio, bonds: .none)
            let client = try await LocalClient(central.connect(directory.address))
            for try await event in events {
                guard case .connected = event else { continue }
                break
            }
            #expect(try await client.peripheral.read(client["2a00"]) == Array("Tendon".utf8))
        }
        await eventually("nothing is left") { await onLoop { core.object == nil } }
        #expect(descriptors(of: directory.path) == 0)
    }

    @Test func oneThatWasNeverStartedLeavesNothing() async throws {
        let directory = RadioDirectory()
        let core: Weakly<LocalPeripheralCore>
        do {
            let peripheral = try await LocalPeripheral(name: "Tendon", services: [], radio: directory.radio)
            core = await onLoop { Weakly(peripheral.core) }
        }
        await eventually("nothing is left") { await onLoop { core.object == nil } }
        #expect(descriptors(of: directory.path) == 0)
    }

    @Test func whatCannotBeServedOpensNothing() async throws {
        let directory = RadioDirectory()
        let level = LocalCharacteristic("2a19", properties: .read)
        let cases: [([LocalService], String, Int32)] = [
            ([LocalService("180f", [level, level])], "", Int32(TENDON_ERROR_INVALID_ARGUMENT)),
            ([LocalService("180f", [level]), LocalService("180f", [level])], "", Int32(TENDON_ERROR_INVALID_ARGUMENT)),
            (
                [LocalService("180f", [LocalCharacteristic("2803", properties: .read)])], "",
                Int32(TENDON_ERROR_INVALID_ARGUMENT)
            ),
            (
                [
                    LocalService(
                        "180f",
                        [
                            LocalCharacteristic("2a19", properties: .read, value: [UInt8](repeating: 0, count: 513))
                        ])
                ], "", Int32(TENDON_GATT_ERROR_VALUE_TOO_LONG)
            ),
            (
                [
                    LocalService(
                        "180f",
                        [
                            LocalCharacteristic(
                                "2a19", properties: .read, descriptors: [LocalDescriptor("2902", value: [0, 0])])
                        ])
                ], "", Int32(TENDON_ERROR_INVALID_ARGUMENT)
            ),
            (
                [
                    LocalService(
                        "180f",
                        [
                            LocalCharacteristic(
                                "2a19", properties: .read,
                                descriptors: [LocalDescriptor("2901", value: [UInt8](repeating: 0, count: 513))])
                        ])
                ], "", Int32(TENDON_ERROR_INVALID_ARGUMENT)
            ),
            ([], String(repeating: "x", count: 249), Int32(TENDON_ERROR_INVALID_ARGUMENT)),
            (
                [LocalService("180f", [LocalCharacteristic("2a19", properties: .read, requiresEncryption: true)])], "",
                Int32(TENDON_RADIO_ERROR_NO_PAIRING_SERVICE)
            ),
        ]
        for (services, name, status) in cases {
            #expect(
                await statusOf {
                    _ = try await LocalPeripheral(name: name, services: services, radio: directory.radio)
                } == status)
            #expect(descriptors(of: directory.path) == 0)
        }
        let tooFast = try await LocalPeripheral(
            name: "", services: [], interval: .milliseconds(19), radio: directory.radio)
        #expect(await statusOf { try await tooFast.start() } == Int32(TENDON_ERROR_INVALID_ARGUMENT))
        #expect(await tooFast.isAdvertising == false)
    }

    /// Its value is read once the central has paired.
    @Test func encryptionRequiresPairing() async throws {
        let directory = RadioDirectory()
        let level = LocalCharacteristic("2a19", properties: [.read, .notify], value: [7], requiresEncryption: true)
        let peripheral = try await LocalPeripheral(
            name: "", services: [LocalService("180f", [level])], radio: directory.radio, address: directory.address,
            bonds: .memory)
        try await peripheral.start()
        let stranger = try await Central(radio: directory.radio, bonds: .none)
        let rejected = try await LocalClient(stranger.connect(directory.address))
        #expect(await statusOf { _ = try await rejected.peripheral.read(rejected["2a19"]) } == attError(0x05))
        await rejected.peripheral.disconnect()
        let central = try await Central(radio: directory.radio, bonds: .memory)
        let client = try await LocalClient(central.connect(directory.address))
        try await client.peripheral.pair()
        #expect(try await client.peripheral.read(client["2a19"]) == [7])
        #expect(await client.peripheral.isEncrypted)
    }

    /// A key that was made without a passkey is not enough; the declaration makes the device pairable by itself.
    @Test(arguments: [false, true])
    func authenticationRequiresAPasskey(_ entersIt: Bool) async throws {
        let directory = RadioDirectory()
        let shown = Asked()
        let level = LocalCharacteristic(
            "2a19", properties: [.read, .write, .notify], value: [7], requiresAuthentication: true)
        #expect(level.requiresEncryption)
        let owner = try await Central(radio: directory.radio, bonds: .memory)
        try await owner.setPairingAgent(
            PairingAgent(inputOutput: .displayOnly, requiresAuthentication: false) { _, question in
                shown.note(question)
                return .accept
            })
        let peripheral = try await LocalPeripheral(name: "", services: [LocalService("180f", [level])], on: owner)
        try await peripheral.start()
        let central = try await Central(radio: directory.radio, bonds: .memory)
        let entering = PairingAgent.asking { _, _ in
            await eventually("a passkey is shown") { shown.passkey != nil }
            return shown.passkey.map { .passkey($0) } ?? .reject
        }
        try await central.setPairingAgent(entersIt ? entering : .accepting)
        let client = try await LocalClient(central.connect(owner.address))
        try await client.peripheral.pair()
        #expect(await client.peripheral.isEncrypted)
        let expected = entersIt ? 0 : attError(0x05)
        #expect(await statusOf { _ = try await client.peripheral.read(client["2a19"]) } == expected)
        #expect(await statusOf { try await client.peripheral.write([8], to: client["2a19"]) } == expected)
        #expect(await statusOf { _ = try await client.peripheral.notifications(of: client["2a19"]) } == expected)
        await client.peripheral.disconnect()
    }

    @Test func itSharesTheRadioOfACentral() async throws {
        let directory = RadioDirectory()
        let core: Weakly<LocalPeripheralCore>
        do {
            let central = try await Central(radio: directory.radio, bonds: .none)
            let level = LocalCharacteristic("2a19", properties: .read, value: [3])
            let peripheral = try await LocalPeripheral(
                name: "Both", services: [LocalService("180f", [level])], on: central)
            core = await onLoop { Weakly(peripheral.core) }
            try await peripheral.start()
            #expect(peripheral.address == central.address)
            #expect(descriptors(of: directory.path) == 1)
            let visitor = try await Central(radio: directory.radio, bonds: .none)
            let client = try await LocalClient(visitor.connect(central.address))
            #expect(try await client.peripheral.read(client["2a19"]) == [3])
            await central.close()
            #expect(try await client.peripheral.read(client["2a19"]) == [3])
            await statusIsFailure(of: peripheral, central)
        }
        await eventually("nothing is left") { await onLoop { core.object == nil } }
        await eventually("the radio is closed") { descriptors(of: directory.path) == 0 }
    }

    /// The adapter is removed: the sequences throw, later ones too, and it does not start again.
    private func statusIsFailure(of peripheral: LocalPeripheral, _ central: Central) async {
        let events = peripheral.events()
        await onLoop { central.core.failNow(Int32(TENDON_RADIO_ERROR_ADAPTER_DOWN)) }
        #expect(await statusOf { for try await _ in events {} } == Int32(TENDON_RADIO_ERROR_ADAPTER_DOWN))
        for _ in 0..<2 {
            let later = peripheral.events().timeout(.seconds(10))
            #expect(await statusOf { for try await _ in later {} } == Int32(TENDON_RADIO_ERROR_ADAPTER_DOWN))
        }
        #expect(await statusOf { try await peripheral.start() } == Int32(TENDON_RADIO_ERROR_ADAPTER_DOWN))
        await eventually("its centrals are disconnected") { await peripheral.centrals.isEmpty }
        #expect(
            await statusOf {
                _ = try await LocalPeripheral(name: "", services: [], on: central)
            } == Int32(TENDON_RADIO_ERROR_ADAPTER_DOWN))
    }
}
