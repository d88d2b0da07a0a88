// SPDX-License-Identifier: MIT
import CTendon
import Tendon
import TestSupport
import Testing

@testable import TendonActiv5

/// Every wait ends: with the connection, with the device, with the manager, with its task.
@Suite(.serialized, .timeLimit(.minutes(1)))
struct WaitTests {
    /// A manager with the device that it found.
    @TendonActor
    private func found(_ site: Site) async throws -> (A5DeviceManager, A5Device) {
        let manager = A5DeviceManager(radio: site.radio)
        let events = manager.events
        manager.scanForDevices()
        for await case .deviceFound(let device) in events { return (manager, device) }
        throw A5Error.notReady
    }

    /// What a task threw; `nil`: it returned.
    private func failure<Value>(_ task: Task<Value, any Error>) async -> A5Error? {
        if case .failure(let error) = await task.result { return error as? A5Error }
        return nil
    }

    @Test @TendonActor func openEndsWithTheManager() async throws {
        let site = try await Site()
        let halt = await Halt(site.loop)
        defer { halt.release() }
        var manager: A5DeviceManager? = A5DeviceManager(radio: site.radio)
        var events = manager?.events
        halt.release()
        manager?.scanForDevices()
        var device: A5Device?
        for await case .deviceFound(let found) in try #require(events) {
            device = found
            break
        }
        let again = await Halt(site.loop)
        defer { again.release() }
        let trainer = try #require(device)
        let opening = Task { @TendonActor in try await trainer.openAndWait() }
        await eventually("connecting") { trainer.deviceDataState != .disconnected }
        (manager, events) = (nil, nil)
        #expect(await failure(opening) == .host(TendonError(status: -13, operation: .wait)))
        // From then on, immediately.
        await #expect(throws: A5Error.self) { try await trainer.openAndWait() }
        await #expect(throws: A5Error.self) { try await trainer.batteryLevel() }
        for await _ in trainer.force {}
        for await _ in trainer.motion {}
        for await _ in trainer.events {}
        await trainer.closeAndWait()
    }

    /// The table of a manager has 32 entries; the 33rd device takes that of the first.
    @Test @TendonActor func theEntryOfADeviceIsTaken() async throws {
        let site = try await Site()
        let (manager, device) = try await found(site)
        let events = device.events
        await site.trainer.stop()
        manager.stopScanningForDevices()  // or an advertisement on its way lists the device again
        manager.disconnectAllDevices()
        var others: [SimulatedTrainer] = []
        for number in 0..<32 {
            var options = SimulatedTrainer.Options()
            options.name = "ACTIV5-AC-\(2000 + number)"
            others.append(
                try await SimulatedTrainer(
                    options, radio: site.radio, address: Address(0xD100_0000_0000 | UInt64(number), type: .random),
                    // Not all at once: the socket of the radio queues ten datagrams.
                    loop: site.loop, interval: .milliseconds(200 + 7 * number)))
        }
        manager.scanForDevices()
        await eventually("all others") { manager.devices.count == 32 && manager.devices["ACTIV5-AC-0001"] == nil }
        for await _ in events {}
        await #expect(throws: A5Error.self) { try await device.openAndWait() }
        for await _ in device.force {}
        manager.stopScanningForDevices()
        for other in others { await other.stop() }
    }

    /// The trainer has the request and gives no response.
    @Test(arguments: [false, true]) @TendonActor
    func batteryLevelEnds(isCancelled: Bool) async throws {
        let site = try await Site()
        let device = try await site.open()
        let halt = await Halt(site.loop)
        defer { halt.release() }
        let asking = Task { @TendonActor in try await device.batteryLevel() }
        await eventually("asked") { device.core.pendingRequests > 0 }
        if isCancelled { asking.cancel() } else { device.disconnect() }
        #expect(await failure(asking) == .cancelled)
        #expect(device.connected == isCancelled)
    }

    /// Whenever the trainer goes, one of the calls throws and none waits.
    @Test @TendonActor func batteryLevelEndsWithTheTrainer() async throws {
        let site = try await Site()
        let device = try await site.open()
        for _ in 0..<10 {
            let asking = Task { @TendonActor () async throws -> Void in
                while true { #expect(try await device.batteryLevel() == 75) }
            }
            try await Task.sleep(for: .milliseconds(3))
            await site.trainer.setPower(false)
            let error = await failure(asking)
            #expect(error != nil && error != .cancelled)
            await site.trainer.setPower(true)
            await eventually("the end") { device.connectionState == .disconnected }
            try await device.openAndWait()
        }
    }

    /// At its start, while it connects, and while the trainer is silent.
    @Test(arguments: [0, 1, 30]) @TendonActor
    func openIsCancelled(_ milliseconds: Int) async throws {
        let site = try await Site()
        let halt = await Halt(site.loop)
        let central = try await Central(radio: site.radio)
        let device = A5Device(site.trainer.address, name: "a", on: central)
        let opening = Task { @TendonActor in try await device.openAndWait() }
        if milliseconds > 0 { try await Task.sleep(for: .milliseconds(milliseconds)) }
        opening.cancel()
        #expect(await failure(opening) == .cancelled)
        #expect(!device.connected)
        halt.release()
        await eventually("no connection is left") { await site.trainer.connections == 0 }
        try await device.openAndWait()
        #expect(device.deviceVersion == "1.00")
    }

    /// A connection that another call made stays.
    @Test @TendonActor func openOfAnOpenDeviceReturns() async throws {
        let site = try await Site()
        let device = try await site.open()
        try await device.openAndWait()
        let opening = Task { @TendonActor in try await device.openAndWait() }
        opening.cancel()
        _ = await opening.result
        #expect(device.connected)
    }

    /// A request that waits for its outcome, and calls that begin none.
    @Test @TendonActor func confirmedWaitsForItsRequest() async throws {
        let site = try await Site()
        let device = try await site.open()
        for _ in 0..<3 {
            device.sendCommand(.battery)
            try await device.confirmed { $0.tare() }
        }
        #expect(device.connected)
        await #expect(throws: A5Error.notReady) { try await device.confirmed { _ in .success(()) } }
        await #expect(throws: A5Error.self) { try await device.confirmed { $0.sendMessage(message: "") } }
        let halt = await Halt(site.loop)
        let waiting = Task { @TendonActor in try await device.confirmed { $0.tare() } }
        await eventually("requested") { device.core.pendingRequests > 0 }
        waiting.cancel()
        #expect(await failure(waiting) == .cancelled)
        halt.release()
    }

    /// What the radio does is what the manager says.
    @Test @TendonActor func theSearchEndsOnTheRadio() async throws {
        let site = try await Site()
        let (manager, _) = try await found(site)
        let radio = try #require(manager.core.holder.radio)
        #expect(manager.isScanning && radio.radio.pointee.scanning)
        manager.stopScanningForDevices()
        #expect(!manager.isScanning && !radio.radio.pointee.scanning)
        manager.scanForDevices()
        #expect(manager.isScanning && radio.radio.pointee.scanning)
        let found = try await manager.devicesFound(limit: 1)
        #expect(found.count == 1)
        manager.stopScanningForDevices()
        #expect(!manager.isScanning && !radio.radio.pointee.scanning)
    }

    /// The adapter is switched off while the manager searches, and while it does not.
    @Test(arguments: [false, true]) @TendonActor func theRadioFails(isScanning: Bool) async throws {
        let site = try await Site()
        let (manager, _) = try await found(site)
        if !isScanning { manager.stopScanningForDevices() }
        let first = try #require(manager.core.holder.radio)
        let events = manager.events
        let down = Int32(TENDON_RADIO_ERROR_ADAPTER_DOWN)
        first.radio.pointee.on_failure?(first.radio.pointee.report_context, down, tendon_monotonic_ms())
        for await event in events {
            if case .didChangeBluetoothState(let state) = event {
                #expect(state == .poweredOff)
                break
            }
        }
        #expect(!manager.isScanning && manager.radioError?.status == down)
        // The next search opens it again.
        await eventually("released") { manager.core.holder.radio == nil }
        manager.scanForDevices()
        #expect(manager.radioError == nil && manager.isScanning && manager.core.holder.radio !== first)
    }

    /// A delegate that searches again as soon as the adapter is off: the search is refused, and its closure is called.
    @Test(arguments: [false, true]) @TendonActor func aSearchWhileTheFailureIsReported(isScanning: Bool) async throws {
        let site = try await Site()
        let (manager, _) = try await found(site)
        if !isScanning { manager.stopScanningForDevices() }
        let recorder = Recorder()
        recorder.onState = { [unowned manager, unowned recorder] _ in
            manager.scanForDevices { recorder.note("ended") }
        }
        manager.delegate = recorder
        let first = try #require(manager.core.holder.radio)
        let down = Int32(TENDON_RADIO_ERROR_ADAPTER_DOWN)
        first.radio.pointee.on_failure?(first.radio.pointee.report_context, down, tendon_monotonic_ms())
        await eventually("told") { !recorder.calls.isEmpty && manager.core.holder.radio == nil }
        #expect(recorder.calls == ["poweredOff", "ended", "bluetoothIsSwitchedOff"])
        #expect(!manager.isScanning && manager.radioError?.status == down)
        // Later the radio can be opened.
        manager.delegate = nil
        manager.scanForDevices()
        #expect(manager.isScanning && manager.core.holder.radio?.radio.pointee.scanning == true)
    }

    /// A trainer that is stopped gives its address back, and another one can have it.
    @Test @TendonActor func aStoppedTrainerLeavesTheRadio() async throws {
        let site = try await Site()
        let address = site.trainer.address
        for _ in 0..<2 {
            let device = try await site.open()
            #expect(device.connected)
            await device.closeAndWait()
        }
        await site.trainer.stop()
        let other = try await SimulatedTrainer(
            radio: site.radio, address: address, loop: site.loop, interval: .milliseconds(20))
        let device = try await site.open()
        #expect(await other.connections == 1)
        await device.closeAndWait()
        await other.stop()
    }

    /// Advertising that the radio rejects: the radio is closed, and its address can be used.
    @Test @TendonActor func aTrainerThatCannotAdvertise() async throws {
        let directory = RadioDirectory()
        let loop = try Loop()
        await #expect(throws: TendonError.self) {
            try await SimulatedTrainer(
                radio: directory.radio, address: directory.address, loop: loop, interval: .milliseconds(1))
        }
        let trainer = try await SimulatedTrainer(
            radio: directory.radio, address: directory.address, loop: loop, interval: .milliseconds(20))
        let manager = A5DeviceManager(radio: directory.radio)
        #expect(try await manager.devicesFound(limit: 1).count == 1)
        await trainer.stop()
    }

    @Test func errorsMeetTheContract() {
        func cancelled<Failure: CancellableError>(_: Failure.Type) -> Failure { .cancelled }
        #expect(cancelled(A5Error.self) == .cancelled)
        #expect(A5Error.cancelled.isCancelled && !A5Error.notReady.isCancelled)
    }
}
