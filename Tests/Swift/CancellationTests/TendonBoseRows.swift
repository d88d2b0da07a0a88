// SPDX-License-Identifier: MIT
import Synchronization
import Tendon
import TestSupport
import Testing

@testable import TendonBose

/// A wearable on a loop of its own; after `body` it has no connection.
private func withWearable(
    requiresPairing: Bool = false, _ body: (RadioChoice, SimulatedWearable, Loop) async throws -> Void
) async throws {
    let directory = RadioDirectory()
    let loop = try Loop()
    var options = SimulatedWearable.Options()
    options.requiresPairing = requiresPairing
    let wearable = try await SimulatedWearable(
        options, radio: directory.radio, loop: loop, interval: .milliseconds(20))
    try await body(directory.radio, wearable, loop)
    await eventually("the wearable still has a connection") { await wearable.connections == 0 }
    await wearable.stop()
}

/// The same with a session on a central; after `body` nothing of the central's radio is left.
private func withSession(
    isOpen: Bool = true, _ body: @Sendable (WearableDeviceSession, Loop) async throws -> Void
) async throws {
    try await withWearable { radio, wearable, loop in
        let weakly: WeakReference
        do {
            let central = try await Central(radio: radio, bonds: .memory)
            weakly = WeakReference(central.core)
            let session = await WearableDeviceSession(wearable.address, on: central)
            if isOpen { try await session.openAndWait() }
            try await body(session, loop)
        }
        await expectReleased({ weakly.object }, "a connection, a search or a request is left")
    }
}

/// Connects with a configuration and cancels; after it nothing of the radio is left.
private func startAndCancel(
    _ moment: Moment, mode: ConnectUIMode = .alwaysShow, mayFinish: Bool = true, requiresPairing: Bool = false,
    _ change: @Sendable (inout BoseWearable.Configuration, Address) -> Void
) async throws {
    try await withWearable(requiresPairing: requiresPairing) { radio, wearable, loop in
        var configuration = BoseWearable.Configuration()
        configuration.radio = radio
        change(&configuration, wearable.address)
        let weakly: WeakReference?
        do {
            let bose = BoseWearable(configuration)
            await expectCancelled(BoseWearableError.self, moment, device: loop, mayFinish: mayFinish) {
                _ = try await bose.startConnection(mode: mode)
            }
            let holder = bose.manager.holder
            weakly = await Loop.shared.run { holder.radio.map { WeakReference($0) } }
        }
        await expectReleased({ weakly?.object }, "a connection, a search or a request is left")
    }
}

/// Ends with the search.
@Sendable private func noChoice(_ list: EventSequence<[DiscoveredDevice]>) async -> DiscoveredDevice? {
    var devices = list.makeAsyncIterator()
    while (try? await devices.next(isolation: nil)) != nil {}
    return nil
}

/// Ignores the cancellation.
@Sendable private func stubbornChoice(_ list: EventSequence<[DiscoveredDevice]>) async -> DiscoveredDevice? {
    await Task.detached { try? await Task.sleep(for: .milliseconds(300)) }.value
    return nil
}

private final class Prompts: Sendable {
    let open = Atomic<Int>(0)
}

let tendonBoseRows: [Row] = [
    Row("BoseWearable.startConnection(mode:sensorIntent:gestureIntent:)") { moment in
        try await startAndCancel(moment) { $0.deviceChoice = .address($1) }
        try await startAndCancel(moment) { configuration, _ in configuration.deviceChoice = .firstFound }
        try await startAndCancel(moment) { configuration, _ in
            configuration.deviceChoice = .strongestSignal(within: .milliseconds(10))
        }
        // The search for the last device does not find it.
        try await startAndCancel(moment, mode: .connectToLast(timeout: 60), mayFinish: false) { configuration, _ in
            configuration.lastDevice = Address(0xC000_0000_0001, type: .random)
        }
        // A choice that ends with the search, and one that ignores the cancellation.
        try await startAndCancel(moment, mayFinish: false) { configuration, _ in
            configuration.deviceChoice = .custom(noChoice)
        }
        try await startAndCancel(moment, mayFinish: false) { configuration, _ in
            configuration.deviceChoice = .custom(stubbornChoice)
        }
        // The wearer is prompted: each prompt ends.
        let prompts = Prompts()
        try await startAndCancel(moment, mayFinish: false, requiresPairing: true) { configuration, address in
            configuration.deviceChoice = .address(address)
            configuration.pairing = .scripted(succeeds: true, after: .seconds(60))
            configuration.pairingHandler = { prompt in
                switch prompt {
                case .begin: prompts.open.add(1, ordering: .relaxed)
                case .end: prompts.open.subtract(1, ordering: .relaxed)
                }
            }
        }
        await eventually("a prompt is left") { prompts.open.load(ordering: .relaxed) <= 0 }
    },
    Row("BoseWearable.makeSimulatedSession(_:)") { moment in
        let bose = BoseWearable(BoseWearable.Configuration())
        await expectCancelled(BoseWearableError.self, moment, device: nil) {
            _ = try await bose.makeSimulatedSession()
        }
    },
    Row("BluetoothManager.session(for:)") { moment in
        try await withWearable { radio, wearable, loop in
            var configuration = BoseWearable.Configuration()
            configuration.radio = radio
            let bose = BoseWearable(configuration)
            let device = DiscoveredDevice(wearable.address)
            await expectCancelled(BoseWearableError.self, moment, device: loop) {
                _ = try await bose.bluetoothManager.session(for: device)
            }
            if moment == .before {
                #expect(await Loop.shared.run { bose.manager.holder.radio == nil }, "the radio is not opened")
            }
        }
    },
    Row("WearableDeviceSession.openAndWait()") { moment in
        try await withSession(isOpen: false) { session, loop in
            await expectCancelled(BoseWearableError.self, moment, device: loop, mayFinish: moment != .silent) {
                try await session.openAndWait()
            }
            // The session can be opened again.
            await session.closeAndWait()
            try await session.openAndWait()
            #expect(await session.isOpen)
        }
    },
    Row("WearableDeviceSession.closeAndWait()") { moment in
        try await withSession { session, loop in
            await expectReturned(moment, device: loop) { await session.closeAndWait() }
            await eventually("the session closes") { await session.stateName == "closed" }
            try await session.openAndWait()
        }
    },
    Row("WearableDevice.configureSensorsAndWait(_:)") { moment in
        try await withSession { session, loop in
            let device = try #require(await session.device)
            await expectCancelled(BoseWearableError.self, moment, device: loop, mayFinish: moment != .silent) {
                try await device.configureSensorsAndWait { $0.disableAll() }
            }
            // The session works as before.
            try await device.configureSensorsAndWait { $0.disableAll() }
        }
    },
    Row("WearableDevice.configureGesturesAndWait(_:)") { moment in
        try await withSession { session, loop in
            let device = try #require(await session.device)
            await expectCancelled(BoseWearableError.self, moment, device: loop, mayFinish: moment != .silent) {
                try await device.configureGesturesAndWait { $0.disableAll() }
            }
            try await device.configureGesturesAndWait { $0.enableAll() }
        }
    },
]

let tendonBoseExemptions: [Exemption] = [
    Exemption("SimulatedWearable.init(_:radio:address:loop:interval:)", "opens the radio in one step of the loop")
]
