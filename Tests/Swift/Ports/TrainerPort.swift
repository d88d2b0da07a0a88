// SPDX-License-Identifier: MIT
//
// The samples of the trainer's document, written for this test: one screen after another, as an
// application has them. A phone would bring the radio and the trainer.

import Glibc
import Tendon
import TendonActiv5
import TestSupport
import Testing

/// Where a phone's screens live: one radio for the program, a trainer in reach.
private enum Gym {
    static let radio = RadioChoice.virtual(directory: "/tmp/tendon-port-activ5-\(getpid())")

    static func trainer(
        _ name: String, _ change: @Sendable (inout SimulatedTrainer.Options) -> Void = { _ in }
    ) async throws -> SimulatedTrainer {
        var options = SimulatedTrainer.Options()
        options.name = name
        change(&options)
        return try await SimulatedTrainer(options, radio: radio, loop: try Loop(), interval: .milliseconds(20))
    }
}

/// The screen that finds and connects a device, and shows its force in whole newtons.
@TendonActor
private final class TrainingScreen: A5DeviceDelegate {
    let wanted: String
    var aDevice: A5Device?
    private(set) var shown: [String] = []
    private(set) var values: [Int] = []
    private(set) var squeezes = 0

    init(_ wanted: String) { self.wanted = wanted }

    /// The framework is started once, long before; the screen takes the callbacks when it is loaded.
    func viewDidLoad() {
        A5DeviceManager.radio = Gym.radio
        A5DeviceManager.initializeDeviceManager()
        A5DeviceManager.delegate = self
    }

    func show(_ text: String) { if shown.last != text { shown.append(text) } }

    func searchCompleted() { show("search completed") }

    func deviceFound(device: A5Device) {
        guard device.name == wanted else { return }
        aDevice = device
        show("found")
    }

    func deviceConnected(device: A5Device) { show("connected") }
    func deviceDisconnected(device: A5Device) { show("disconnected") }
    func deviceInitialized(device: A5Device) { show("initialized") }
    func didReceiveIsometric(device: A5Device, value: Int) { values.append(value) }
    /// The spelling of the document.
    func didDetectDoubleSqeeze(device: A5Device) { squeezes += 1 }
}

/// A screen of the time when the document was written, with its other spellings.
@TendonActor
private final class OldScreen: A5DeviceManagerDelegate {
    private(set) var failed: [String] = []

    func searchCompleted() {}
    func deviceFound(device: A5Device) {}
    func deviceConnected(device: A5Device) {}
    func deviceDisconnected(device: A5Device) {}
    func deviceInitialized(device: A5Device) {}
    func didFailToConnect(device: A5Device.Handle, error: (any Error)?) { failed.append(device.name) }
}

@Suite(.serialized, .timeLimit(.minutes(1)))
struct TrainerPort {
    /// A device that is not there, by its handle; what the document names by itself.
    @Test @TendonActor func otherSpellings() async throws {
        let central = try await Central(radio: Gym.radio)
        let handle = A5Device.Handle(name: "ACTIV5-AC-9999", address: Address(0xD0FF_FFFF_FFFE, type: .random))
        let device = A5Device(device: handle, on: central)
        let screen = OldScreen()
        device.delegate = screen
        await #expect(throws: A5Error.self) { try await device.openAndWait() }
        #expect(screen.failed == ["ACTIV5-AC-9999"])
        #expect(device.name == "ACTIV5-AC-9999")
        let states: [A5DeviceDataState] = [.handshake, .isometric, .stop, .disconnected]
        #expect(Set(states).count == 4)
        let state: DoublePressState = .initial
        DoubleSqueezeHelper.reset()
        #expect(DoubleSqueezeHelper.doublePressState == state)
        var pressed = 0
        let onPressed: VoidClosure = { pressed += 1 }
        // Above the limits that a test beside this one may have set for the process.
        DoubleSqueezeHelper.evaluateDoublePress(force: 60, onPressed: onPressed, onSuccess: {})
        #expect(pressed == 1)
        DoubleSqueezeHelper.reset()
    }

    /// A device that is forgotten with its connection, and one that is kept.
    @Test(arguments: [false, true]) @TendonActor func forgetAfterDisconnected(_ forget: Bool) async throws {
        let name = forget ? "ACTIV5-AC-1008" : "ACTIV5-AC-1009"
        let trainer = try await Gym.trainer(name)
        let screen = TrainingScreen(name)
        screen.viewDidLoad()
        A5DeviceManager.options.searchTimeout = 30
        A5DeviceManager.scanForDevices()
        await eventually("found") { screen.aDevice != nil }
        A5DeviceManager.stopScanningForDevices()
        let device = try #require(screen.aDevice)
        A5DeviceManager.connect(device: device.device)
        await eventually("initialized") { screen.shown.last == "initialized" }
        #expect(!device.forgetAfterDisconnected)
        device.forgetAfterDisconnected = forget
        device.disconnect()
        await eventually("disconnected") { screen.shown.last == "disconnected" }
        #expect((A5DeviceManager.devices[name] == nil) == forget)
        A5DeviceManager.disconnectAllDevices()
        await trainer.stop()
    }

    /// Search, and choose by the delegate; then the search's own end.
    @Test @TendonActor func search() async throws {
        let trainer = try await Gym.trainer("ACTIV5-AC-1001")
        let screen = TrainingScreen("ACTIV5-AC-1001")
        screen.viewDidLoad()
        A5DeviceManager.options.searchTimeout = 0.4
        var isOver = false
        A5DeviceManager.scanForDevices {
            isOver = true
        }
        #expect(A5DeviceManager.connectionState == .searching)
        await eventually("the search's end") { isOver }
        #expect(screen.shown == ["found", "search completed"])
        #expect(A5DeviceManager.devices["ACTIV5-AC-1001"] == screen.aDevice)
        A5DeviceManager.disconnectAllDevices()
        await trainer.stop()
    }

    /// The whole session of the document, on either generation.
    @Test(arguments: [false, true]) @TendonActor
    func session(isLegacy: Bool) async throws {
        let name = isLegacy ? "ACTIV5-AC-1002" : "ACTIV5-AC-1003"
        let trainer = try await Gym.trainer(name) { options in
            options.isLegacy = isLegacy
            options.isAtRest = true
            options.forcePeriod = .milliseconds(20)
        }
        let screen = TrainingScreen(name)
        screen.viewDidLoad()
        A5DeviceManager.options = A5DeviceManagerOptions()
        A5DeviceManager.scanForDevices {}
        await eventually("the device") { screen.aDevice != nil }
        A5DeviceManager.stopScanningForDevices()
        let device = try #require(screen.aDevice)
        A5DeviceManager.connect(device: device.device)
        await eventually("initialized") { screen.shown.contains("initialized") && device.deviceVersion != nil }
        #expect(screen.shown == ["found", "connected", "initialized"])

        device.startIsometric()
        await eventually("force") { !screen.values.isEmpty }
        await trainer.squeeze(newtons: 60)
        await eventually("a squeeze") { screen.values.contains { $0 >= 50 } }
        // A squeeze takes as long as a person's. A busy machine can miss all of its samples: then it is repeated.
        var next = ContinuousClock.now
        await eventually("twice") {
            if ContinuousClock.now >= next {
                await trainer.doubleSqueeze()
                next = .now + .seconds(4)
            }
            return screen.squeezes > 0
        }
        await eventually("released") { A5DeviceManager.squeezeState == .depressed }

        device.stop()
        #expect(device.deviceDataState == .stop)
        device.evergreenMode = true
        #expect(device.evergreenMode)

        device.disconnect()
        await eventually("disconnected") { screen.shown.last == "disconnected" }
        #expect(!device.connected)
        #expect(A5DeviceManager.connectedDevices.isEmpty)
        await trainer.stop()
    }

    /// The activity of a device, which the document's property derives from its state.
    @Test @TendonActor func states() async throws {
        func isConnected(_ device: A5Device) -> Bool {
            switch device.deviceDataState {
            case .disconnected: false
            default: true
            }
        }
        let trainer = try await Gym.trainer("ACTIV5-AC-1004")
        let screen = TrainingScreen("ACTIV5-AC-1004")
        screen.viewDidLoad()
        A5DeviceManager.scanForDevices {}
        await eventually("the device") { screen.aDevice != nil }
        let device = try #require(screen.aDevice)
        #expect(isConnected(device) == device.connected)
        A5DeviceManager.connect(device: device.device)
        #expect(device.deviceDataState == .disconnected && device.connectionState == .connecting)
        await eventually("up") { isConnected(device) }
        #expect(device.connected)
        let found = A5DeviceManager.device(for: device.device)
        #expect(found?.key == "ACTIV5-AC-1004")
        await eventually("its parts") { device.imuCharacteristic != nil }
        try device.startIMU()
        try device.stopIMU()
        device.sendCommand(.tare)
        A5DeviceManager.send(message: "STOP!", to: device)
        await eventually("its battery") { (try? device.getBatteryLevel()) == 75 }
        await eventually("its serial number") { device.getSerialNumber() == "A5-000123" }
        A5DeviceManager.disconnectAllDevices()
        await eventually("down") { !isConnected(device) }
        await trainer.stop()
    }

    /// The document's enum: its cases alone, without a default.
    @Test func statesOfTheDocument() {
        func text(_ state: A5DeviceDataState) -> String {
            switch state {
            case .handshake: "handshake"
            case .isometric: "isometric"
            case .heartRate: "heart rate"
            case .stop: "stop"
            case .disconnected: "disconnected"
            }
        }
        #expect(Set(A5DeviceDataState.allCases.map(text)).count == 5)
        func text(_ state: A5BluetoothState) -> String {
            switch state {
            case .unknown: "unknown"
            case .resetting: "resetting"
            case .unsupported: "unsupported"
            case .unauthorized: "unauthorized"
            case .poweredOff: "off"
            case .poweredOn: "on"
            }
        }
        #expect(text(.poweredOn) == "on")
    }

    /// `deviceConnected` calls `startIsometric()`, as the document shows: the data comes.
    @TendonActor
    private final class ImpatientScreen: A5DeviceDelegate {
        private(set) var values: [Int] = []
        private(set) var motion: Result<Void, A5Error>?

        func searchCompleted() {}
        func deviceFound(device: A5Device) { A5DeviceManager.connect(device: device.device) }
        func deviceConnected(device: A5Device) {
            device.startIsometric()
            do throws(A5Error) { try device.startIMU() } catch { motion = .failure(error) }
        }
        func deviceDisconnected(device: A5Device) {}
        func deviceInitialized(device: A5Device) {}
        func didReceiveIsometric(device: A5Device, value: Int) { values.append(value) }
    }

    @Test(arguments: [false, true]) @TendonActor
    func theFlowOfTheDocument(isLegacy: Bool) async throws {
        let trainer = try await Gym.trainer("ACTIV5-AC-1010") {
            $0.isLegacy = isLegacy
            $0.forcePeriod = .milliseconds(20)
        }
        let screen = ImpatientScreen()
        A5DeviceManager.radio = Gym.radio
        A5DeviceManager.options = A5DeviceManagerOptions()
        A5DeviceManager.initializeDeviceManager()
        A5DeviceManager.delegate = screen
        A5DeviceManager.scanForDevices {}
        await eventually("force") { screen.values.count > 3 }
        guard case .failure(.notReady) = screen.motion else {
            Issue.record("before the discovery nobody knows whether there is a motion sensor")
            return
        }
        A5DeviceManager.stopScanningForDevices()
        A5DeviceManager.disconnectAllDevices()
        await trainer.stop()
    }

    /// The document's initializer, and its properties as variables.
    @Test @TendonActor func theInitializerOfTheDocument() async throws {
        let trainer = try await Gym.trainer("ACTIV5-AC-1011")
        A5DeviceManager.radio = Gym.radio
        let device = A5Device(
            device: A5Device.Handle(name: "ACTIV5-AC-1011", address: trainer.address), name: "mine",
            writeCharacteristic: A5Characteristic(uuid: "5A02"), readCharacteristic: A5Characteristic(uuid: "5A01"))
        #expect(device.name == "mine" && device.writeCharacteristic?.uuid == "5A02")
        #expect(device.readCharacteristic?.uuid == "5A01" && device.forceCharacteristic == nil)
        let serialNumber: String = device.getSerialNumber()
        #expect(serialNumber.isEmpty)
        device.rssi = -50
        device.shouldReconnect = false
        try A5DeviceManager.connect(device: device).get()
        await eventually("initialized") { device.communicationInitialized }
        await eventually("its serial number") { device.getSerialNumber() == "A5-000123" }
        device.disconnect()
        await eventually("disconnected") { device.connectionState == .disconnected }
        await trainer.stop()
    }

    /// A second press within five seconds, found without a device.
    @Test @TendonActor func doubleSqueeze() {
        DoubleSqueezeHelper.reset()
        DoubleSqueezeHelper.squeezeThreshold = SqueezeThreshold(pressed: 20, depressed: 5)
        var steps: [String] = []
        for force in [22.0, 3, 24, 4] {
            DoubleSqueezeHelper.evaluateDoublePress(
                force: force, onPressed: { steps.append("pressed") }, onDepressed: { steps.append("depressed") },
                onSuccess: { steps.append("twice") })
        }
        #expect(steps == ["pressed", "depressed", "pressed", "depressed", "twice"])
        #expect(DoubleSqueezeHelper.doublePressState == .initial)
    }

    /// Motion by hand, with the numbers' own conversions.
    @Test func motion() {
        let object = IMUObject(
            accelerationX: 4095.toGForce, accelerationY: 0.toGForce, accelerationZ: 0, gyroX: 100.toRadPerSec,
            gyroY: 0, gyroZ: 0, timestamp: 65574.toSec)
        #expect(object.accelerationX.fromGForce == 4095)
        #expect(object.scaledValue.gyroX > object.gyroX)
        #expect(abs(object.timestamp - 1) < 1e-5)
    }

    /// Values without a device.
    @Test func messages() {
        let (type, value) = MessageParser.parseLegacyMessage("IS20/IS")
        #expect(type == .isometric)
        #expect((value as? Double).map { Int($0) } == 21)
        #expect(MessageType(from: "TC5k;1.00") == .initialMessage)
        let battery = MessageParser.parseMessage(characteristic: A5Characteristic(uuid: "2A19", value: [50]))
        #expect(battery.type == .battery)
        #expect(MessageParser.parseValue(data: [0x2C, 0x01]) == 300)
    }

    /// How a program disables reconnection.
    @Test @TendonActor func options() {
        var options = A5DeviceManagerOptions()
        #expect(options.autoHandshake && options.searchTimeout == 30)
        options.reconnectionStrategy = .manually
        options.squeezeThreshold = SqueezeThreshold(pressed: 40, depressed: 10)
        options.services = ["0x5000"]
        A5DeviceManager.options = options
        #expect(A5DeviceManager.options == options)
        A5DeviceManager.options = A5DeviceManagerOptions()
    }
}
