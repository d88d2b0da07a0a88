// SPDX-License-Identifier: MIT
import CTendon
import Glibc
import TestSupport
import Testing

@testable import Tendon

/// A wearable with the characteristic Service Changed (Core Specification Vol 3 Part G 7.1).
private final class ChangingDevice: Sendable {
    private static let directoryPrefix = "/tmp/tendon-changes-\(getpid())-"
    let directory: String
    let loop: Loop
    let host: SimulatedHost<tendon_simulated_bose>

    init(_ number: UInt64, properties: UInt8 = UInt8(TENDON_GATT_INDICATE)) async throws {
        directory = Self.directoryPrefix + "\(number)"
        loop = try Loop()
        host = try await SimulatedHost.open(
            radio: .virtual(directory: directory), address: Address(0xD600_0000_0000 | number, type: .random),
            loop: loop, interval: .milliseconds(20), keeping: [],
            prepare: { device in
                var options = tendon_simulated_bose_options()
                let status = tendon_simulated_bose_init(device, &options)
                guard status >= 0 else { return status }
                let server = member(device, \.server)
                var (service, changed) = (tendon_uuid_from_u16(0x1801), tendon_uuid_from_u16(0x2A05))
                _ = tendon_gatt_add_service(server, &service, true)
                return min(tendon_gatt_add_characteristic(server, &changed, properties, 0), 0)
            },
            seam: { tendon_simulated_bose_device($0) })
    }

    deinit { rmdir(directory) }

    /// Of the value: its CCCD, the last attribute, is next.
    private var handle: UInt16 { UInt16(host.device.pointee.server.count) - 1 }

    private func connection() -> CPointer<tendon_gatt_connection>? {
        let places = first(of: member(host.device, \.centrals.places), as: tendon_simulated_central.self)
        guard let index = (0..<Int(TENDON_SIMULATED_CENTRALS)).first(where: { places[$0].used }) else { return nil }
        return member(places + index, \.connection)
    }

    /// Indicates these bytes once the previous indication is confirmed.
    func indicate(_ value: [UInt8]) async {
        await eventually("confirmed") {
            await loop.run { [self] in
                guard let connection = connection() else { return false }
                let status = tendon_gatt_indicate(connection, handle, value, value.count, tendon_monotonic_ms())
                host.host.refresh()
                return status == 0
            }
        }
    }

    var isSubscribed: Bool {
        get async {
            await loop.run { [self] in connection().map { tendon_gatt_connection_cccd($0, handle) } == 2 }
        }
    }

    func disconnectAll() async { await loop.run { [self] in host.host.disconnectAll() } }
}

@Suite(.timeLimit(.minutes(1)))
struct ServiceChangeTests {
    private func connect(_ device: ChangingDevice) async throws -> Peripheral {
        let central = try await Central(radio: .virtual(directory: device.directory))
        return try await central.connect(device.host.address)
    }

    private func range(_ first: UInt16, _ last: UInt16) -> ClosedRange<AttributeHandle> {
        AttributeHandle(rawValue: first)...AttributeHandle(rawValue: last)
    }

    @Test func everySequenceReceivesTheRanges() async throws {
        let device = try await ChangingDevice(1)
        let peripheral = try await connect(device)
        let (one, other) = (try await peripheral.serviceChanges(), try await peripheral.serviceChanges())
        #expect(await device.isSubscribed)
        await device.indicate([0x10, 0x00, 0x20, 0x00])
        await device.indicate([0x20, 0x00, 0x10, 0x00])  // confirmed and counted, not reported
        await device.indicate([0x01, 0x00, 0xFF])
        await device.indicate([0x01, 0x00, 0xFF, 0xFF])
        for sequence in [one, other] {
            var ranges = sequence.makeAsyncIterator()
            #expect(try await ranges.next() == range(0x0010, 0x0020))
            #expect(try await ranges.next() == range(0x0001, 0xFFFF))
        }
    }

    @Test func theLastSequenceDisablesTheIndications() async throws {
        let device = try await ChangingDevice(2)
        let peripheral = try await connect(device)
        for _ in 0..<3 {
            let changes = try await peripheral.serviceChanges()
            #expect(await device.isSubscribed)
            withExtendedLifetime(changes) {}
        }
        await eventually("disabled") { await !device.isSubscribed }
        let core = peripheral.core
        await eventually("nothing is left") {
            await onLoop { (Mirror(reflecting: core).descendant("changes") as? [AnyObject])?.isEmpty == true }
        }
    }

    @Test func itEndsWithTheConnection() async throws {
        let device = try await ChangingDevice(3)
        let peripheral = try await connect(device)
        var lost = try await peripheral.serviceChanges().makeAsyncIterator()
        await device.disconnectAll()
        let error = await #expect(throws: TendonError.self) { try await lost.next() }
        #expect(error?.status == Int32(TENDON_RADIO_ERROR_PEER_CLOSED))
        try await peripheral.connect()
        var closed = try await peripheral.serviceChanges().makeAsyncIterator()
        await device.indicate([0x01, 0x00, 0x02, 0x00])
        #expect(try await closed.next() == range(1, 2))
        await peripheral.disconnect()
        #expect(try await closed.next() == nil)
    }

    /// The device has the characteristic and no descriptor to enable its indications: nothing of the attempt stays.
    @Test func aDeviceThatCannotIndicate() async throws {
        let device = try await ChangingDevice(9, properties: UInt8(TENDON_GATT_READ))
        let central = try await Central(radio: .virtual(directory: device.directory))
        let peripheral = try await central.connect(device.host.address)
        await #expect(throws: TendonError.self) { try await peripheral.serviceChanges() }
        let core = peripheral.core
        await eventually("no queue is left") {
            await onLoop { (Mirror(reflecting: core).descendant("changes") as? [Any])?.isEmpty == true }
        }
    }

    @Test func aDeviceWhoseServicesDoNotChange() async throws {
        let site = try await Site()
        let central = try await Central(radio: site.radio)
        let peripheral = try await central.connect(site.address)
        let missing = TendonError(status: Int32(TENDON_ERROR_NOT_FOUND), operation: .discover)
        await #expect(throws: missing) { try await peripheral.serviceChanges() }
    }
}
