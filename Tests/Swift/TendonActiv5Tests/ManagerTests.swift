// SPDX-License-Identifier: MIT
import CTendon
import Tendon
import TestSupport
import Testing

@testable import TendonActiv5

/// The manager and its delegate over the virtual radio, against the simulated trainer.
@Suite(.serialized, .timeLimit(.minutes(1)))
struct ManagerTests {
    @TendonActor
    private func ready(_ site: Site) async throws -> (A5DeviceManager, Recorder, A5Device) {
        let manager = A5DeviceManager(radio: site.radio)
        let recorder = Recorder()
        manager.delegate = recorder
        manager.initializeDeviceManager()
        manager.scanForDevices()
        await eventually("found") { !recorder.found.isEmpty }
        let device = recorder.found[0]
        manager.stopScanningForDevices()
        try manager.connect(device: device.device).get()
        await eventually("initialized") { device.communicationInitialized && device.deviceVersion != nil }
        return (manager, recorder, device)
    }

    @Test(arguments: [false, true]) @TendonActor
    func bothGenerations(isLegacy: Bool) async throws {
        let site = try await Site { $0.isLegacy = isLegacy }
        let (manager, recorder, device) = try await ready(site)
        await eventually("who it is") { device.uuid != nil && device.serialNumber == "A5-000123" }
        #expect(device.usesNewProtocol == !isLegacy)
        #expect(device.uuid == "00112233445566")
        #expect(device.deviceVersion == "1.00")
        #expect(device.deviceDataState == .stop)
        #expect(device.connected)
        #expect((device.forceCharacteristic != nil) == !isLegacy)
        #expect(device.writeCharacteristic?.uuid == "5a02")
        #expect(manager.connectedDevices["ACTIV5-AC-0001"] == device)
        #expect(manager.connectionState == .connected)
        #expect(manager.device(for: device.device)?.value === device)
        #expect(recorder.calls.firstIndex(of: "deviceConnected")! < recorder.calls.firstIndex(of: "deviceInitialized")!)
        #expect(recorder.count("deviceInitialized") == 1)
        device.startIsometric()
        await eventually("force") { recorder.newtons.count >= 3 }
        #expect(device.deviceDataState == .isometric)
        device.stop()
        #expect(device.deviceDataState == .stop)
        device.disconnect()
        await eventually("disconnected") { recorder.count("deviceDisconnected") == 1 }
        #expect(!device.connected)
        #expect(device.rssi == 0)
        #expect(!manager.isScanning)
        #expect(recorder.calls.allSatisfy { !$0.hasPrefix("refused") && !$0.hasPrefix("error") })
    }

    @Test(arguments: [false, true]) @TendonActor
    func squeezes(isLegacy: Bool) async throws {
        let site = try await Site {
            $0.isLegacy = isLegacy
            $0.isAtRest = true
            $0.forcePeriod = .milliseconds(20)
        }
        let (manager, recorder, device) = try await ready(site)
        device.startIsometric()
        await eventually("force") { !recorder.newtons.isEmpty }
        await site.trainer.doubleSqueeze()
        await eventually("double squeeze") { recorder.count("didDetectDoubleSqueeze") == 1 }
        let squeezes = recorder.calls.filter { ["squeezed", "depressed", "didDetectDoubleSqueeze"].contains($0) }
        #expect(squeezes == ["squeezed", "depressed", "squeezed", "depressed", "didDetectDoubleSqueeze"])
        #expect(manager.squeezeState == .depressed)
        #expect(device.counters.doubleSqueezes == 1)
        #expect(recorder.newtons.max()! > 40)
        device.tare()
        await site.trainer.load(100)
        await eventually("load") { recorder.newtons.last! > 20 }
        device.tare()
        await eventually("tared") { abs(recorder.newtons.last!) < 1 }
    }

    @Test @TendonActor func motionAndBattery() async throws {
        let site = try await Site()
        let (manager, recorder, device) = try await ready(site)
        defer { withExtendedLifetime(manager) {} }
        #expect(throws: A5Error.batteryLevelNotReadable) { try device.getBatteryLevel() }
        await eventually("battery") { recorder.count("didReceiveBattery 75") == 1 }
        #expect(try device.getBatteryLevel() == 75)
        await site.trainer.setBattery(30)
        #expect(try await device.batteryLevel() == 30)
        try device.startIMU()
        await eventually("motion") { recorder.motions.count >= 5 }
        try device.stopIMU()
        for motion in recorder.motions {
            let gravity = motion.accelerationY * motion.accelerationY + motion.accelerationZ * motion.accelerationZ
            #expect(abs(gravity - 1) < 0.001)
        }
        #expect(abs(recorder.motions[1].seconds(since: recorder.motions[0]) - 0.040) < 1e-4)
        #expect(recorder.motions[0].scaledValue.gyroX == recorder.motions[0].gyroX * 1.15)
        #expect(device.getSerialNumber() == "A5-000123")
        try device.setSampleRate(sampleRate: 100).get()
        #expect(throws: A5Error.range) { try device.setSampleRate(sampleRate: 40000).get() }
        device.setSampleRate(sampleRate: 1000)
        await eventually("refused") { recorder.calls.contains { $0.hasPrefix("refused sampleRate") } }
        #expect(await site.trainer.counters.refusedWrites == 1)
    }

    /// The simulated trainer rolls by a script whose true angle is known to it.
    @Test @TendonActor func orientation() async throws {
        let site = try await Site {
            $0.isFlatOut = true
            $0.limit = 1000
        }
        let device = try await site.open()
        let motion = device.motion(capacity: 1024)
        try device.startIMU()
        let provider = OrientationProvider()
        #expect(provider.eulerAngles == [0, 0, 0])
        var largest = 0.0
        var before = provider.orientation
        for try await sample in motion {
            let orientation = provider.update(sample)
            let angles = provider.eulerAngles
            let gravity = Quaternion(x: sample.accelerationX, y: sample.accelerationY, z: sample.accelerationZ, w: 0)
            let up = orientation * gravity * orientation.inverse
            #expect(up.z > 0.99, "what it feels points up")
            #expect(abs(angles[0]) < 1 && abs(angles[1]) < 1, "it rolls, and does nothing else")
            largest = max(largest, abs(angles[2]))
            #expect(OrientationProvider.angularDifference(orientation, before) < 0.5)
            before = orientation
            if sample.timestamp > 20 { break }
        }
        #expect(largest > 10)
        let backwards = provider.update(
            IMUObject(
                accelerationX: 1, accelerationY: 0, accelerationZ: 0, gyroX: 9, gyroY: 9, gyroZ: 9, timestamp: 1))
        #expect(backwards == before)
        provider.tare(duration: 0)
        #expect(provider.isTaring)
        provider.resetOrientation()
        #expect(provider.orientation == Quaternion(x: 0, y: 0, z: 0, w: 1))
    }

    @Test @TendonActor func whatALegacyDeviceLacks() async throws {
        let site = try await Site { $0.isLegacy = true }
        let (manager, _, device) = try await ready(site)
        defer { withExtendedLifetime(manager) {} }
        #expect(throws: A5Error.imuUnsupported) { try device.startIMU() }
        #expect(throws: A5Error.imuUnsupported) { try device.stopIMU() }
        #expect(throws: A5Error.batteryLevelNotReadable) { try device.getBatteryLevel() }
        #expect(throws: A5Error.unsupported) { try device.setSampleRate(sampleRate: 25).get() }
        #expect(throws: A5Error.notReady) { try device.sendCommand(.battery).get() }
        #expect(device.getSerialNumber() == "")
    }

    /// The device wants the handshake first; its refusals reach the program.
    @Test @TendonActor func refusedBeforeTheHandshake() async throws {
        let site = try await Site { $0.isLegacy = true }
        let manager = A5DeviceManager(radio: site.radio)
        let recorder = Recorder()
        manager.delegate = recorder
        manager.options.autoHandshake = false
        manager.scanForDevices()
        await eventually("found") { !recorder.found.isEmpty }
        let device = recorder.found[0]
        manager.connect(device: device.device)
        await eventually("greeted") { recorder.calls.contains { $0.hasPrefix("didReceiveMessage initialMessage") } }
        #expect(device.deviceDataState == .handshake)
        device.startIsometric()
        await eventually("refused") { recorder.calls.contains { $0.hasPrefix("refused write") } }
        device.sendCommand(.doHandshake)
        device.startIsometric()
        await eventually("force") { !recorder.newtons.isEmpty }
    }

    @Test @TendonActor func searchEndsByItself() async throws {
        let site = try await Site()
        let manager = A5DeviceManager(radio: site.radio)
        let recorder = Recorder()
        manager.delegate = recorder
        manager.options.searchTimeout = 0.3
        var order: [String] = []
        manager.scanForDevices { order = recorder.calls }
        #expect(manager.connectionState == .searching)
        await eventually("completed") { !order.isEmpty }
        #expect(order.last == "searchCompleted", "the delegate is told before the closure")
        #expect(!manager.isScanning)
        #expect(try await manager.devicesFound().keys.sorted() == ["ACTIV5-AC-0001"])
    }

    /// Without a callback, also when a later search has ended.
    @Test @TendonActor func aSearchThatIsStopped() async throws {
        let directory = RadioDirectory()
        let manager = A5DeviceManager(radio: directory.radio)
        manager.options.searchTimeout = 0.05
        var calls: [String] = []
        manager.scanForDevices { calls.append("stopped") }
        manager.stopScanningForDevices()
        manager.scanForDevices { calls.append("completed") }
        await eventually("completed") { !calls.isEmpty }
        #expect(calls == ["completed"])
    }

    /// A call that ends, by its limit or by its task, leaves the search to others.
    @Test @TendonActor func aSearchThatOthersUse() async throws {
        let site = try await Site()
        let manager = A5DeviceManager(radio: site.radio)
        func cancelledCall() async {
            let call = Task { @TendonActor in try await manager.devicesFound() }
            await turns()
            #expect(manager.isScanning)
            call.cancel()
            await #expect(throws: A5Error.cancelled) { try await call.value }
        }
        await cancelledCall()
        #expect(!manager.isScanning, "nobody else")

        var list: EventSequence<A5Device>? = manager.scan()
        #expect(try await manager.devicesFound(limit: 1).count == 1)
        await cancelledCall()
        #expect(manager.isScanning)
        withExtendedLifetime(list) {}
        list = nil
        await eventually("the last one ends it") { !manager.isScanning }

        let first = Task { @TendonActor in try await manager.devicesFound() }
        await turns()
        await cancelledCall()
        #expect(manager.isScanning, "another call")
        list = manager.scan()
        first.cancel()
        await #expect(throws: A5Error.cancelled) { try await first.value }
        #expect(manager.isScanning, "a sequence")
        withExtendedLifetime(list) {}
        list = nil
        await eventually("the last one ends it") { !manager.isScanning }

        var isCompleted = false
        manager.options.searchTimeout = 5
        manager.scanForDevices { isCompleted = true }
        await cancelledCall()
        await eventually("the closure is called") { isCompleted }
    }

    @Test @TendonActor func lostAndFoundAgain() async throws {
        let site = try await Site()
        let (manager, recorder, device) = try await ready(site)
        await site.trainer.disconnectAll()
        await eventually("again") { recorder.count("deviceInitialized") == 2 }
        #expect(recorder.count("deviceDisconnected") == 1)
        #expect(recorder.count("deviceConnected") == 2)
        #expect(manager.devices["ACTIV5-AC-0001"] === device, "the same object")
        manager.options.reconnectionStrategy = .manually
        let found = recorder.count("deviceFound")
        await site.trainer.disconnectAll()
        await eventually("disconnected") { recorder.count("deviceDisconnected") == 2 }
        await eventually("found") { recorder.count("deviceFound") > found }
        #expect(recorder.count("deviceConnected") == 2)
    }

    @Test @TendonActor func disconnectAll() async throws {
        let site = try await Site()
        let (manager, recorder, device) = try await ready(site)
        manager.disconnectAllDevices()
        await eventually("disconnected") { recorder.count("deviceDisconnected") == 1 }
        #expect(manager.devices.isEmpty)
        #expect(!device.connected)
        #expect(!manager.isScanning)
    }

    @Test @TendonActor func theManagerTakesItsLinksAlong() async throws {
        let site = try await Site()
        do {
            let (manager, _, _) = try await ready(site)
            #expect(manager.connectionState == .connected)
            #expect(await site.trainer.connections == 1)
        }
        await eventually("the trainer sees us go") { await site.trainer.connections == 0 }
    }

    @Test @TendonActor func aManagerAndItsDevicesAreReleased() async throws {
        let site = try await Site()
        weak var core: ManagerCore?
        weak var device: A5Device?
        do {
            let (manager, _, found) = try await ready(site)
            (core, device) = (manager.core, found)
        }
        await eventually("released") { core == nil && device == nil }
    }

    @Test @TendonActor func withoutARadio() async throws {
        let manager = A5DeviceManager(radio: .virtual(directory: "/proc/nowhere"))
        let recorder = Recorder()
        manager.delegate = recorder
        manager.scanForDevices()
        #expect(recorder.calls == ["unknown", "bluetoothIsSwitchedOff"])
        #expect(!manager.isBluetoothOn)
        #expect(!manager.isScanning)
        let error = try #require(manager.radioError)
        #expect(error.operation == .openRadio)
        var order: [String] = []
        manager.scanForDevices { order = recorder.calls }
        #expect(order.last == "bluetoothIsSwitchedOff", "the closure is called, after the delegate")
        await #expect(throws: A5Error.host(error)) { try await manager.devicesFound() }
    }

    @Test @TendonActor func malformedTextsAreReported() async throws {
        let site = try await Site {
            $0.isLegacy = true
            $0.hasStaleTails = true
            $0.forcePeriod = .milliseconds(20)
        }
        let (manager, recorder, device) = try await ready(site)
        defer { withExtendedLifetime(manager) {} }
        device.startIsometric()
        await eventually("force") { !recorder.newtons.isEmpty }
        await site.trainer.inject(.badNumber, count: 3)
        await eventually("errors") { recorder.count("error read") == 3 }
        let before = recorder.newtons.count
        await eventually("and on") { recorder.newtons.count > before + 5 }
    }

    /// 120 calls in 6 s for one device once: now one for each search.
    @Test @TendonActor func aDeviceIsFoundOncePerSearch() async throws {
        let site = try await Site()
        let (manager, recorder, device) = try await ready(site)
        for search in 2...4 {
            manager.scanForDevices()
            await eventually("found again") { recorder.count("deviceFound") == search }
        }
        let rssi = device.rssi
        device.rssi = 1
        await eventually("more advertisements") { device.rssi == rssi }
        #expect(recorder.count("deviceFound") == 4)
    }

    /// Set before the connection, and kept by everything that follows.
    @Test @TendonActor func shouldReconnectIsTheProgramsWord() async throws {
        let site = try await Site()
        let manager = A5DeviceManager(radio: site.radio)
        let device = try #require(try await manager.devicesFound(limit: 1).values.first)
        #expect(device.shouldReconnect)
        device.shouldReconnect = false
        device.evergreenMode = true
        try await device.openAndWait()
        #expect(!device.shouldReconnect && device.evergreenMode)
        await site.trainer.disconnectAll()
        await eventually("lost") { !device.connected }
        #expect(!manager.isScanning)
        #expect(!device.shouldReconnect && device.evergreenMode)
        try await manager.devicesFound(limit: 1).values.first?.openAndWait()
        #expect(device.connected && !device.shouldReconnect)
    }

    /// One detector: limits set anywhere count everywhere, and its state is that of the device.
    ///
    /// Other suites run beside this one and the helper is the process's: whatever is asked of it is asked in one turn.
    @Test @TendonActor func theHelperIsTheDetector() async throws {
        let site = try await Site {
            $0.isAtRest = true
            $0.forcePeriod = .milliseconds(20)
        }
        let recorder = Recorder()
        let central = try await Central(radio: site.radio)
        A5DeviceManager.options.squeezeThreshold = SqueezeThreshold(pressed: 31, depressed: 3)
        #expect(DoubleSqueezeHelper.squeezeThreshold == SqueezeThreshold(pressed: 31, depressed: 3))
        DoubleSqueezeHelper.squeezeThreshold = SqueezeThreshold(pressed: 30, depressed: 5)
        #expect(A5DeviceManager.options.squeezeThreshold.pressed == 30)
        let device = A5Device(site.trainer.address, on: central, options: A5DeviceManager.options)
        A5DeviceManager.options = A5DeviceManagerOptions()
        device.delegate = recorder
        try await device.openAndWait()
        try device.startIsometric().get()
        await eventually("force") { !recorder.newtons.isEmpty }
        await site.trainer.squeeze(for: .milliseconds(300), newtons: 43)
        await eventually("pressed") {
            latestSqueeze.device === device.core && DoubleSqueezeHelper.doublePressState == .firstPressed
                && DoubleSqueezeHelper.resetTimer != nil
        }
        await eventually("completed") {
            guard latestSqueeze.device === device.core,
                DoubleSqueezeHelper.doublePressState == .firstPressCompleted
            else { return false }
            DoubleSqueezeHelper.doublePressState = .initial
            DoubleSqueezeHelper.resetTimer = nil
            return DoubleSqueezeHelper.doublePressState == .initial && DoubleSqueezeHelper.resetTimer == nil
        }
        #expect(recorder.count("squeezed") == 1)
        await site.trainer.squeeze(for: .milliseconds(200), newtons: 25)
        let before = recorder.newtons.count
        await eventually("25 N") { recorder.newtons.dropFirst(before).contains { $0 > 20 } }
        #expect(recorder.count("squeezed") == 1, "25 N is below the limit of 30")
        await device.closeAndWait()
    }

    /// A program may keep the object of a device whose entry in the C core's table is another device's by now.
    @Test @TendonActor func anObjectWhoseEntryIsReusedKeepsItsState() async throws {
        let site = try await Site()
        let (manager, _, trainer) = try await ready(site)
        await eventually("who it is") { trainer.serialNumber == "A5-000123" }
        trainer.disconnect()
        await eventually("disconnected") { trainer.connectionState == .disconnected }
        let block = try #require(
            Mirror(reflecting: manager.core).descendant("block") as? CBlock<tendon_activ5_manager>)
        func advertise(_ names: [String]) {
            for (number, name) in names.enumerated() {
                var peer = Address(0xD000_0000_1000 + UInt64(number), type: .random).c
                lending(name) {
                    _ = tendon_activ5_manager_advertised(block.pointer, $0, $1, &peer, -60 - Double(number), 1)
                }
            }
        }
        var (force, motion) = (trainer.force.makeAsyncIterator(), trainer.motion.makeAsyncIterator())
        var all = trainer.events.makeAsyncIterator()
        var happenings = trainer.events(capacity: 64, includingSamples: false).makeAsyncIterator()
        manager.devices.removeAll()
        manager.scanForDevices()
        advertise((0..<ManagerCore.capacity).map { "AC-\($0)" })
        let objects = try (0..<ManagerCore.capacity - 1).map { try #require(manager.devices["AC-\($0)"]) }
        objects[1].shouldReconnect = false
        manager.devices.removeAll()
        advertise((0..<ManagerCore.capacity).map { "other-\($0)" })
        #expect(manager.devices.values.allSatisfy { $0.name?.hasPrefix("AC") != true })
        #expect(objects.map(\.name) == (0..<ManagerCore.capacity - 1).map { "AC-\($0)" })
        #expect(objects.map(\.rssi) == (0..<ManagerCore.capacity - 1).map { -60 - Double($0) })
        #expect(objects[0].shouldReconnect && !objects[1].shouldReconnect)
        #expect(trainer.name == "ACTIV5-AC-0001" && trainer.serialNumber == "A5-000123")
        #expect(trainer.connectionState == .disconnected && trainer.counters.values > 0)
        #expect(throws: A5Error.notReady) { try trainer.startIsometric().get() }
        await #expect(throws: A5Error.self) { try await trainer.openAndWait() }
        // Its sequences end.
        while await force.next() != nil {}
        while await motion.next() != nil {}
        while await all.next() != nil {}
        while await happenings.next() != nil {}
    }

    /// The reason why there was no radio once is none for what fails later.
    @Test @TendonActor func anEarlierFailureOfTheRadioIsForgotten() async throws {
        final class Choice {
            var radio: RadioChoice
            init(_ radio: RadioChoice) { self.radio = radio }
        }
        let site = try await Site()
        let choice = Choice(site.radio)
        let core = ManagerCore({ choice.radio })
        defer { core.abandon() }
        core.startScanning(nil)
        await eventually("found") { !core.devices.isEmpty }
        let device = core.devices[0]
        core.stopScanning()
        let radio = try #require(core.holder.radio?.radio)
        let down = Int32(TENDON_RADIO_ERROR_ADAPTER_DOWN)
        radio.pointee.on_failure?(radio.pointee.report_context, down, tendon_monotonic_ms())
        await eventually("closed") { core.holder.radio == nil }
        choice.radio = .virtual(directory: "/proc/nowhere")
        await #expect(throws: A5Error.self) { try await device.openAndWait() }
        func kept() -> TendonError? { Mirror(reflecting: device.core).descendant("radioFailure") as? TendonError }
        #expect(kept()?.operation == .openRadio)
        choice.radio = site.radio
        try await device.openAndWait()
        #expect(kept() == nil && device.connected)
        await device.closeAndWait()
    }

    /// In the middle of a search, and with a device that is connected.
    @Test @TendonActor func nothingIsLeftOfWhatIsAbandoned() async throws {
        let site = try await Site()
        let (manager, _, device) = try await ready(site)
        manager.scanForDevices()
        #expect(manager.isScanning && leftovers(of: manager.core).contains("events"))
        for core in [manager.core, device.core] as [any Abandonable] {
            core.abandon()
            #expect(leftovers(of: core) == [])
        }
        await eventually("the trainer sees us go") { await site.trainer.connections == 0 }
    }

    @Test @TendonActor func everyFieldOfADevice() async throws {
        let site = try await Site()
        let (manager, _, device) = try await ready(site)
        defer { withExtendedLifetime(manager) {} }
        device.deviceVersion = "9.9"
        device.usesNewProtocol = false
        device.communicationInitialized = false
        device.deviceDataState = .isometric
        #expect(device.deviceVersion == "9.9" && !device.usesNewProtocol && !device.communicationInitialized)
        #expect(device.deviceDataState == .isometric)
        device.deviceDataState = .heartRate
        #expect(device.deviceDataState == .isometric)
        device.deviceDataState = .handshake
        #expect(device.deviceDataState == .handshake && device.connected)
        device.deviceVersion = nil
        #expect(device.deviceVersion == nil)
        #expect(device.connectionState == .connected)
        let counters = device.counters
        #expect(counters.values > 0 && counters.messages > 0 && counters.errors == 0)
        manager.squeezeState = .squeezed
        #expect(manager.squeezeState == .squeezed)
        manager.devices.removeAll()
        #expect(manager.devices.isEmpty && device.connected)
    }
}
