// SPDX-License-Identifier: MIT
import Tendon
import TendonFeelSpace
import TendonGateway
import TestSupport
import Testing

/// A belt and a gateway that is connected to it. Silence is the belt's: its loop stands still.
private struct Served: Sendable {
    let directory = RadioDirectory()
    let loop: Loop
    let belt: SimulatedBelt
    let gateway: Gateway
    let device: GatewayDevice

    init() async throws {
        loop = try Loop()
        // An address that no belt of an earlier run had: the gateway's bonds are in a file.
        belt = try await SimulatedBelt(radio: directory.radio, loop: loop, interval: .milliseconds(20))
        gateway = try await Gateway(Served.settings(directory))
        device = try await gateway.device(.feelspace)
    }

    static func settings(_ directory: RadioDirectory) -> GatewaySettings {
        var settings = GatewaySettings(radio: .virtual(directory: directory.path), pairing: .always)
        settings.usesGATTCache = false
        return settings
    }
}

let tendonGatewayRows: [Row] = [
    Row("Gateway.init(_:)") { moment in
        let directory = RadioDirectory()
        await expectCancelled(GatewayError.self, moment, device: nil) {
            let gateway = try await Gateway(Served.settings(directory))
            await gateway.close()
        }
    },
    Row("Gateway.device(_:named:address:within:)") { moment in
        let served = try await Served()
        await expectCancelled(GatewayError.self, moment, device: served.loop, mayFinish: false) {
            _ = try await served.gateway.device(.fjorden, within: nil)
        }
        await served.gateway.close()
    },
    Row("Gateway.perform(_:_:on:)") { moment in
        let served = try await Served()
        await expectCancelled(GatewayError.self, moment, device: served.loop, mayFinish: moment != .silent) {
            try await served.gateway.perform("vibrate", [90], on: served.device)
        }
        // The next one is carried out.
        try await served.gateway.perform("vibrate", [180], on: served.device)
        await served.gateway.close()
    },
    Row("Gateway.close()") { moment in
        let served = try await Served()
        await expectReturned(moment, device: served.loop) { await served.gateway.close() }
        await eventually("the connection ends") { await served.belt.connections == 0 }
    },
]
