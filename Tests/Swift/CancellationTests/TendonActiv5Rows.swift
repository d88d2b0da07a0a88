// SPDX-License-Identifier: MIT
import Tendon
import TendonActiv5
import TestSupport
import Testing

/// A trainer on a loop of its own; after `body` it has no connection.
private func withTrainer(_ body: (RadioChoice, SimulatedTrainer, Loop) async throws -> Void) async throws {
    let directory = RadioDirectory()
    let loop = try Loop()
    let trainer = try await SimulatedTrainer(radio: directory.radio, loop: loop, interval: .milliseconds(20))
    try await body(directory.radio, trainer, loop)
    await eventually("the trainer still has a connection") { await trainer.connections == 0 }
    await trainer.stop()
}

/// The same with a device on a central; after `body` nothing of the central's radio is left.
private func withDevice(_ body: (A5Device, Loop) async throws -> Void) async throws {
    try await withTrainer { radio, trainer, loop in
        let weakly: WeakReference
        do {
            let central = try await Central(radio: radio, bonds: .memory)
            weakly = WeakReference(central.core)
            try await body(await A5Device(trainer.address, on: central), loop)
        }
        await expectReleased({ weakly.object }, "a connection, a search or a request is left")
    }
}

let tendonActiv5Rows: [Row] = [
    Row("A5Device.openAndWait()") { moment in
        try await withDevice { device, loop in
            await expectCancelled(A5Error.self, moment, device: loop, mayFinish: moment != .silent) {
                try await device.openAndWait()
            }
            // The device can be used as before.
            try await device.openAndWait()
        }
    },
    Row("A5Device.batteryLevel()") { moment in
        try await withDevice { device, loop in
            try await device.openAndWait()
            await expectCancelled(A5Error.self, moment, device: loop, mayFinish: moment != .silent) {
                _ = try await device.batteryLevel()
            }
            #expect(await device.connected, "the connection is as before")
            _ = try await device.batteryLevel()
        }
    },
    Row("A5Device.closeAndWait()") { moment in
        try await withDevice { device, loop in
            try await device.openAndWait()
            await expectReturned(moment, device: loop) { await device.closeAndWait() }
            await eventually("the connection ends") { await device.connectionState == .disconnected }
        }
    },
    Row("A5DeviceManager.devicesFound(limit:)") { moment in
        try await withTrainer { radio, _, loop in
            let weakly: WeakReference
            do {
                let manager = await A5DeviceManager(radio: radio)
                weakly = WeakReference(manager)
                await expectCancelled(A5Error.self, moment, device: loop, mayFinish: false) {
                    _ = try await manager.devicesFound()
                }
                #expect(await !manager.isScanning)
                let found = try await manager.devicesFound(limit: 1)
                #expect(found.count == 1)
            }
            await expectReleased({ weakly.object }, "something keeps the manager")
        }
    },
]

let tendonActiv5Exemptions: [Exemption] = [
    Exemption("SimulatedTrainer.init(_:radio:address:loop:interval:)", "opens the radio in one step of the loop")
]
