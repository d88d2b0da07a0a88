// SPDX-License-Identifier: MIT
import CTendon
import Synchronization
import Tendon
import TendonBose
import TendonFeelSpace
import TestSupport
import Testing

@testable import TendonGateway

/// A directory of the virtual radio for simulated devices, each on a loop of its own, and for gateways.
final class Site: Sendable {
    private let devices = Mutex<[any Sendable]>([])
    let directory = RadioDirectory()

    /// The end of a test: until then the devices are there.
    func close(_ gateway: Gateway) async {
        await gateway.close()
        devices.withLock { $0.removeAll() }
    }

    /// Settings for a gateway there, which keeps no attributes in the user's cache.
    func settings(_ change: (inout GatewaySettings) -> Void = { _ in }) -> GatewaySettings {
        var settings = GatewaySettings(radio: .virtual(directory: directory.path), pairing: .always)  // belts pair
        settings.usesGATTCache = false
        change(&settings)
        return settings
    }

    func head(_ change: (inout SimulatedWearable.Options) -> Void = { _ in }) async throws -> SimulatedWearable {
        var options = SimulatedWearable.Options()
        change(&options)
        let head = try await SimulatedWearable(
            options, radio: directory.radio, address: Address("C0:00:00:00:00:01/random"), loop: try Loop(),
            interval: .milliseconds(20))
        devices.withLock { $0.append(head) }
        return head
    }

    /// It pairs, and has an address that no belt of an earlier run had: the gateway's bonds are in a file.
    func belt() async throws -> SimulatedBelt {
        let belt = try await SimulatedBelt(radio: directory.radio, loop: try Loop(), interval: .milliseconds(20))
        devices.withLock { $0.append(belt) }
        return belt
    }

    /// A device that a file describes, with the examples of the file as its values.
    func defined(_ json: String) async throws -> DefinedDevice {
        let device = try await DefinedDevice(
            json, radio: directory.radio, address: Address("C0:00:00:00:00:03/random")!)
        devices.withLock { $0.append(device) }
        return device
    }
}

/// A simulated device of a device file.
final class DefinedDevice: Sendable {
    private let host: SimulatedHost<tendon_simulated_defined>

    init(_ json: String, radio: RadioChoice, address: Address) async throws {
        let definition = CBlock<tendon_definition>()
        let scratch = CBlock<tendon_definition_scratch>()
        var mistake = tendon_definition_mistake()
        let status = lending(json) {
            tendon_definition_parse($0, $1, definition.pointer, scratch.pointer, &mistake)
        }
        try check(status, .parse)
        host = try await SimulatedHost.open(
            radio: radio, address: address, loop: try Loop(), interval: .milliseconds(20), keeping: [definition],
            prepare: { device in
                var options = tendon_simulated_defined_options()
                options.period_ms = 20
                return tendon_simulated_defined_init(device, definition.pointer, &options)
            },
            seam: { tendon_simulated_defined_device($0) })
    }

    /// Writes that it has received.
    var writes: UInt64 {
        get async {
            let host = host
            return await host.loop.run { host.device.pointee.writes }
        }
    }
}

/// The text of a file of this repository.
func source(_ path: String) throws -> String {
    let root = #filePath.components(before: "/Tests/Swift/")
    return String(decoding: try contents(of: root + path, limit: 1 << 20), as: UTF8.self)
}

extension String {
    fileprivate func components(before part: String) -> String {
        var index = startIndex
        while index < endIndex, !self[index...].hasPrefix(part) { index = self.index(after: index) }
        return String(self[..<index]) + "/"
    }
}

/// The first event for which `condition` is true.
func first(
    _ events: EventStream<GatewayEvent>, sourceLocation: SourceLocation = #_sourceLocation,
    where condition: (GatewayEvent) -> Bool
) async throws -> GatewayEvent {
    for await event in events.ending(after: .seconds(30)) where condition(event) { return event }
    return try #require(nil as GatewayEvent?, "no such event in 30 s", sourceLocation: sourceLocation)
}

/// What it throws.
func failure(
    isolation: isolated (any Actor)? = #isolation, of body: () async throws -> Void
) async -> GatewayError? {
    do {
        try await body()
        return nil
    } catch {
        return error as? GatewayError
    }
}
