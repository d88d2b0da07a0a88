// SPDX-License-Identifier: MIT
import Tendon
import TendonFeelSpace
import TestSupport
import Testing

/// A belt on a loop of its own, and a manager on a central; after `body` the belt has no connection, and nothing of the
/// central's radio is left.
private func withBelt(
    connects: Bool = true, _ body: (FSConnectionManager, FSBelt, Loop) async throws -> Void
) async throws {
    let directory = RadioDirectory()
    let loop = try Loop()
    let belt = try await SimulatedBelt(radio: directory.radio, loop: loop, interval: .milliseconds(20))
    let device = FSBelt(address: belt.address)
    let weakly: WeakReference
    do {
        let central = try await Central(radio: directory.radio, bonds: .memory)
        weakly = WeakReference(central.core)
        let manager = await FSConnectionManager(on: central)
        if connects { try await manager.connect(to: device) }
        try await body(manager, device, loop)
    }
    await expectReleased({ weakly.object }, "a connection, a search or a request is left")
    await eventually("the belt still has a connection") { await belt.connections == 0 }
    await belt.stop()
}

let tendonFeelSpaceRows: [Row] = [
    Row("FSConnectionManager.connect(to:timeoutSec:)") { moment in
        try await withBelt(connects: false) { manager, belt, loop in
            await expectCancelled(FSConnectionError.self, moment, device: loop, mayFinish: moment != .silent) {
                try await manager.connect(to: belt)
            }
            // The manager can be used as before.
            if await manager.state != .connected {
                #expect(await manager.state == .notConnected)
                try await manager.connect(to: belt)
            }
        }
    },
    Row("FSConnectionManager.searchAndConnect(timeoutSec:)") { moment in
        try await withBelt(connects: false) { manager, _, loop in
            await expectCancelled(FSConnectionError.self, moment, device: loop, mayFinish: moment != .silent) {
                try await manager.searchAndConnect()
            }
            if await manager.state != .connected {
                #expect(await manager.state == .notConnected)
                try await manager.searchAndConnect()
            }
        }
    },
    Row("FSNavigationController.searchAndConnect()") { moment in
        try await withBelt(connects: false) { manager, _, loop in
            let belt = await FSNavigationController(connectionManager: manager)
            await expectCancelled(FSConnectionError.self, moment, device: loop, mayFinish: moment != .silent) {
                try await belt.searchAndConnect()
            }
            if await belt.connectionState != .connected { try await belt.searchAndConnect() }
        }
    },
    Row("FSConnectionManager.openAndWait()") { moment in
        try await withBelt(connects: false) { manager, _, loop in
            await expectCancelled(FSConnectionError.self, moment, device: loop, mayFinish: moment != .silent) {
                try await manager.openAndWait()
            }
            if await manager.state != .connected { try await manager.openAndWait() }
        }
    },
    Row("FSConnectionManager.closeAndWait()") { moment in
        try await withBelt { manager, _, loop in
            await expectReturned(moment, device: loop) { await manager.closeAndWait() }
            await eventually("the connection ends") { await manager.state == .notConnected }
        }
    },
    Row("FSCommandManager.confirmed(_:)") { moment in
        try await withBelt { manager, _, loop in
            let commands = await manager.commandManager
            await expectCancelled(TendonError.self, moment, device: loop, mayFinish: moment != .silent) {
                try await commands.confirmed { $0.changeBeltMode(.app) }
            }
            // The connection works as before.
            try await commands.confirmed { $0.changeBeltMode(.pause) }
            #expect(await commands.mode == .pause)
        }
    },
    Row("FSCommandManager.stopAllVibration()") { moment in
        try await withBelt { manager, _, loop in
            let commands = await manager.commandManager
            try await commands.confirmed { $0.changeBeltMode(.wait) }
            await expectCancelled(TendonError.self, moment, device: loop, mayFinish: moment != .silent) {
                try await commands.stopAllVibration()
            }
            // What was queued behind is done now: the belt is in the mode from before.
            try await commands.confirmed { $0.changeDefaultIntensity(50) }
            #expect(await commands.mode == .wait)
            try await commands.stopAllVibration()
            #expect(await commands.mode == .wait)
        }
    },
]

let tendonFeelSpaceExemptions: [Exemption] = [
    Exemption("SimulatedBelt.init(_:radio:address:loop:interval:)", "opens the radio in one step of the loop")
]
