// SPDX-License-Identifier: MIT
import CTendon
import TestSupport
import Testing

@testable import Tendon

/// Runs `body` on the shared loop.
func onLoop<Value: Sendable>(_ body: @escaping @Sendable () -> Value) async -> Value {
    await Loop.shared.run(body)
}

/// A directory of the virtual radio with simulated devices on a second loop.
final class Site: Sendable {
    let directory: RadioDirectory
    let loop: Loop
    private let device: SimulatedHost<tendon_simulated_bose>

    /// Of a connection for a session that is none.
    final class Owner {}

    /// - Parameter movesHandles: whether the hash differs and an empty service comes before Generic Attribute.
    init(
        hasDatabaseHash: Bool = false, movesHandles: Bool = false, in directory: RadioDirectory = RadioDirectory()
    ) async throws {
        self.directory = directory
        loop = try Loop()
        device = try await SimulatedHost.open(
            radio: directory.radio, address: directory.address,
            loop: loop, interval: .milliseconds(20), keeping: [],
            prepare: { device in
                var options = tendon_simulated_bose_options()
                let status = tendon_simulated_bose_init(device, &options)
                guard hasDatabaseHash, status >= 0 else { return status }
                let server = member(device, \.server)
                if movesHandles {
                    var battery = tendon_uuid_from_u16(0x180F)
                    _ = tendon_gatt_add_service(server, &battery, true)
                }
                return min(tendon_gatt_add_generic_attribute(server), 0)
            },
            seam: { tendon_simulated_bose_device($0) })
    }

    /// The attribute table of another firmware.
    func changeHash() async {
        await loop.run { [device] in device.device.pointee.server.database_hash.0 ^= 1 }
    }

    /// Service Changed, of all handles. False while the connection has not enabled it.
    func indicateChange() async -> Bool {
        await loop.run { [device] in
            let places = first(of: member(device.device, \.centrals.places), as: tendon_simulated_central.self)
            guard let index = (0..<Int(TENDON_SIMULATED_CENTRALS)).first(where: { places[$0].used }) else {
                return false
            }
            let handle = device.device.pointee.server.service_changed
            let connection = member(places + index, \.connection)
            guard tendon_gatt_connection_cccd(connection, handle) == 2 else { return false }
            defer { device.host.refresh() }
            return tendon_gatt_indicate(connection, handle, [1, 0, 0xFF, 0xFF], 4, tendon_monotonic_ms()) == 0
        }
    }

    var address: Address { device.address }
    var radio: RadioChoice { directory.radio }
    func connections() async -> Int { await loop.run { [device] in device.host.connections } }
    func disconnectAll() async { await loop.run { [device] in device.host.disconnectAll() } }
}

/// What a test keeps weakly.
final class Weakly<Object: AnyObject>: @unchecked Sendable {
    // Read on the loop's thread alone.
    weak var object: Object?
    init(_ object: Object?) { self.object = object }
}

extension RadioCore {
    /// As the C core reports it.
    func failNow(_ status: tendon_status) {
        radio.pointee.on_failure?(radio.pointee.report_context, status, tendon_monotonic_ms())
    }
}
