// SPDX-License-Identifier: MIT
//
// The samples of the belt's document, written for this test: both ways of controlling a belt. A phone's peripheral is an
// FSBelt here; the rest are the vendor's names.

import Glibc
import Synchronization
import Tendon
import TendonFeelSpace
import TestSupport
import Testing

/// A simulated belt on a loop of its own, and a manager that reaches it.
private struct BeltSurroundings: Sendable {
    private static let next = Atomic<UInt32>(0)
    let belt: SimulatedBelt
    let radio: RadioChoice

    init() async throws {
        let number = Self.next.wrappingAdd(1, ordering: .relaxed).newValue
        radio = RadioChoice.virtual(directory: "/tmp/tendon-belt-port-\(getpid())-\(number)")
        belt = try await SimulatedBelt(
            radio: radio, address: Address(0xDB00_0000_0000 | UInt64(number), type: .random), loop: try Loop(),
            interval: .milliseconds(20))
    }

    @TendonActor func manager() -> FSConnectionManager { FSConnectionManager(radio: radio, bonds: .memory) }
    func vibrations() async -> [[UInt8]] {
        await belt.writes.filter { $0.characteristic == 0xFE03 }.map(\.bytes)
    }
}

// MARK: The navigation API

/// Registers as delegate in its initialiser and follows a route.
@TendonActor
private final class RouteGuide: FSNavigationControllerDelegate {
    var beltController: FSNavigationController! = FSNavigationController()
    private(set) var states: [FSBeltConnectionState] = []
    private(set) var title = ""
    private(set) var problems: [String] = []
    private(set) var homePresses: [Bool] = []
    private(set) var intensities: [Int] = []
    private(set) var headings: [Int] = []
    private(set) var levels: [Int] = []
    private(set) var signals: [Bool] = []

    init(_ connectionManager: FSConnectionManager) {
        beltController = FSNavigationController(connectionManager: connectionManager)
        beltController.delegate = self
    }

    func searchAndConnect() { beltController.searchAndConnectBelt() }
    func connectOwnFind(_ belt: FSBelt) { beltController.searchAndConnectBelt(belt) }
    func disconnect() { beltController.disconnectBelt() }

    func goEast() { beltController.startNavigation(direction: 90, isMagneticBearing: true, signal: .continuous) }
    func fallSilent() { beltController.updateNavigationSignal(direction: 0, isMagneticBearing: true, signal: nil) }
    func warn() { beltController.notifyWarning() }
    func arrive() { beltController.notifyDestinationReached() }
    func pointLeft() { beltController.notifyDirection(direction: 270, isMagneticBearing: false) }

    func onBeltConnectionStateChanged(state: FSBeltConnectionState) {
        states.append(state)
        // As the vendor's demo does.
        switch state {
        case .notConnected: title = "Connect"
        case .searching: title = "Searching"
        case .connecting: title = "Connecting"
        case .connected: title = "Disconnect"
        }
    }
    func onBluetoothNotAvailable() { problems.append("not available") }
    func onBluetoothPoweredOff() { problems.append("powered off") }
    func onBeltConnectionFailed() { problems.append("failed") }
    func onBeltConnectionLost() { problems.append("lost") }
    func onNoBeltFound() { problems.append("no belt") }
    func onNavigationStateChange(state: FSNavigationState) {}
    func onBeltHomeButtonPressed(navigating: Bool) {
        homePresses.append(navigating)
        if navigating { beltController.stopNavigation() } else { goEast() }
    }
    func onBeltDefaultVibrationIntensityChanged(intensity: Int) { intensities.append(intensity) }
    func onBeltOrientationUpdated(beltHeading: Int, accurate: Bool) { headings.append(beltHeading) }
    func onBeltBatteryLevelUpdated(batteryLevel: Int, status: FSPowerStatus) { levels.append(batteryLevel) }
    func onCompassAccuracySignalStateUpdated(enabled: Bool) { signals.append(enabled) }
}

// MARK: The general API

/// Scans, shows what it finds, connects.
@TendonActor
private final class MyBeltConnectionDelegate: FSConnectionDelegate {
    var connectionManager: FSConnectionManager
    private(set) var nearby: [FSBelt] = []
    private(set) var cause: FSScanTerminationCause?
    private(set) var isConnecting = false

    init(_ manager: FSConnectionManager = FSConnectionManager.instance) {
        connectionManager = manager
        connectionManager.delegate = self
    }

    func onBeltFound(device: FSBelt) { nearby.append(device) }
    func onBeltScanFinished(cause: FSScanTerminationCause) { self.cause = cause }
    func onConnectionStateChanged(
        previousState: FSConnectionState, newState: FSConnectionState, event: FSConnectionEvent
    ) {
        switch newState {
        // The states of the document; those of the last release are more.
        case .connecting, .discoveringServices, .handshake: isConnecting = true
        case .notConnected, .connected: isConnecting = false
        default: break
        }
    }
}

/// Keeps what the belt says.
@TendonActor
private final class MyBeltCommandDelegate: FSCommandDelegate {
    var commandManager: FSCommandManager
    private(set) var currentMode: FSBeltMode
    private(set) var presses: [String] = []
    private(set) var battery: FSBatteryStatus
    private(set) var intensity: Int

    init(_ manager: FSConnectionManager) {
        commandManager = manager.commandManager
        currentMode = commandManager.mode
        battery = commandManager.beltBatteryStatus
        intensity = commandManager.defaultIntensity
        commandManager.delegate = self
    }

    func onBeltModeChanged(_ newBeltMode: FSBeltMode) { currentMode = newBeltMode }
    func onBeltButtonPressed(
        button: FSBeltButton, pressType: FSPressType, previousMode: FSBeltMode, newMode: FSBeltMode
    ) {
        presses.append("\(button) \(pressType)")
        currentMode = newMode
    }
    func onBeltBatteryStatusUpdated(status: FSBatteryStatus) { battery = status }
    func onDefaultIntensityChanged(_ defaultIntensity: Int) { intensity = defaultIntensity }
}

@Suite(.timeLimit(.minutes(1)))
struct BeltPort {
    @Test @TendonActor func navigation() async throws {
        let here = try await BeltSurroundings()
        let guide = RouteGuide(here.manager())
        guide.searchAndConnect()
        await eventually("connected") { guide.states.last == .connected }
        #expect(guide.beltController.connectionState == .connected)
        guide.goEast()
        await eventually("app mode") { await here.belt.mode == .app }
        await eventually("toward East") { await here.belt.motors[4] > 0 }
        guide.fallSilent()
        await eventually("silent") { await here.vibrations().last == [0x30, 0xFF] }
        guide.pointLeft()
        await eventually("on the left, for a second") { await here.belt.motors[12] > 0 }
        guide.warn()
        guide.arrive()
        await eventually("the destination's signal") { await here.belt.lastSignal == .goalReached }
        #expect(guide.beltController.navigationState == .navigating)
        await here.belt.press(.home)
        await eventually("stopped by the home button") { guide.beltController.navigationState == .stopped }
        await eventually("the belt waits") { await here.belt.mode == .wait }
        await here.belt.press(.home)
        await eventually("started by the home button") { guide.beltController.navigationState == .navigating }
        #expect(guide.homePresses == [true, false])
        await eventually("values come by themselves") {
            guide.headings.first == 0 && guide.signals == [true] && guide.beltController.beltHeading == 0
        }
        guide.beltController.changeDefaultVibrationIntensity(intensity: 30)
        guide.beltController.setCompassAccuracySignal(enable: false, persistent: false)
        await here.belt.setBattery(42)
        await eventually("told") {
            guide.intensities.last == 30 && guide.signals.last == false && guide.levels.last == 42
        }
        #expect(guide.beltController.defaultVibrationIntensity == 30 && guide.beltController.beltBatteryLevel == 42)
        guide.disconnect()
        #expect(guide.states.last == .notConnected && guide.problems == [] && guide.title == "Connect")
        #expect(guide.states == [.searching, .connecting, .connected, .notConnected])
    }

    @Test @TendonActor func problems() async throws {
        let here = try await BeltSurroundings()
        let guide = RouteGuide(here.manager())
        guide.connectOwnFind(FSBelt(address: here.belt.address))
        await eventually("connected") { guide.states.last == .connected }
        await here.belt.disconnectAll()
        await eventually("lost") { guide.problems == ["lost"] }
        #expect(guide.states.last == .disconnected)
    }

    @Test @TendonActor func scanning() async throws {
        let here = try await BeltSurroundings()
        let model = MyBeltConnectionDelegate(here.manager())
        model.connectionManager.scanForBelt()
        await eventually("a belt") { model.nearby.count == 1 }
        model.connectionManager.stopScan()
        #expect(model.cause == .canceled)
        model.connectionManager.connectBelt(model.nearby[0])
        #expect(model.isConnecting)
        await eventually("connected") { model.connectionManager.state == .connected }
        #expect(!model.isConnecting)
        model.connectionManager.disconnectBelt()
        #expect(model.connectionManager.state == .notConnected)
    }

    /// A search of the program's own, by the two constants.
    @Test @TendonActor func customScan() async throws {
        let here = try await BeltSurroundings()
        let central = try await Central(radio: here.radio, bonds: .memory)
        var services: Set<Address> = []
        var found: FSBelt?
        for try await advertisement in try central.scan() {
            if advertisement.serviceUUIDs.contains(FSConnectionManager.ADVERTISED_SERVICE_UUID) {
                services.insert(advertisement.address)
            }
            if let name = advertisement.localName, services.contains(advertisement.address),
                name.lowercased().hasPrefix(FSConnectionManager.BELT_NAME_PREFIX.lowercased())
            {
                found = FSBelt(address: advertisement.address, name: name)
                break
            }
        }
        #expect(found?.address == here.belt.address)
        central.close()
    }

    @Test @TendonActor func statusEventsAndParameters() async throws {
        let here = try await BeltSurroundings()
        let manager = here.manager()
        let model = MyBeltCommandDelegate(manager)
        #expect(model.currentMode == .unknown && model.battery.batteryLevel == -1)
        manager.connectBelt(FSBelt(address: here.belt.address))
        await eventually("connected") { manager.state == .connected }
        #expect(model.commandManager.mode == .wait && model.commandManager.firmwareVersion == 52)
        model.commandManager.changeBeltMode(.app)
        await eventually("app mode") { model.currentMode == .app }
        await here.belt.press(.compass)
        await eventually("a button") { model.presses == ["compass shortPress"] && model.currentMode == .compass }
        await here.belt.setBattery(33, .charging)
        await eventually("battery") { model.battery.powerStatus == .charging && model.battery.batteryLevel == 33 }
        model.commandManager.changeDefaultIntensity(60)
        await eventually("intensity") { model.intensity == 60 && model.commandManager.defaultIntensity == 60 }
        model.commandManager.startOrientationNotifications()
        await eventually("orientation") { model.commandManager.beltOrientation != nil }
        model.commandManager.stopOrientationNotifications()
    }

    @Test @TendonActor func vibration() async throws {
        let here = try await BeltSurroundings()
        let manager = here.manager()
        try await manager.connect(to: FSBelt(address: here.belt.address))
        let commandManager = manager.commandManager
        try await commandManager.confirmed { $0.changeBeltMode(.app) }
        commandManager.vibrateAtMagneticBearing(direction: 90, signal: .continuous)
        commandManager.vibrateAtAngle(direction: 90, signal: .continuous)
        commandManager.signal(signalType: .warning)
        // Five pulses on the left.
        commandManager.configureVibrationChannel(
            channelIndex: 0, pattern: FSVibrationPattern.singleLong, intensity: -1,
            orientationType: FSOrientationType.angle, orientation: 270, patternIterations: 5, patternPeriod: 1000,
            patternStartTime: 0, exclusiveChannel: false, clearOtherChannels: true)
        // Three seconds toward East.
        commandManager.configureVibrationChannel(
            channelIndex: 0, pattern: FSVibrationPattern.continuous, intensity: -1,
            orientationType: FSOrientationType.magneticBearing, orientation: 90, patternIterations: 1,
            patternPeriod: 3000, patternStartTime: 0, exclusiveChannel: false, clearOtherChannels: true)
        // Front and back, for ever.
        try await commandManager.confirmed {
            $0.configureVibrationChannel(
                channelIndex: 0, pattern: FSVibrationPattern.singleShort, intensity: -1,
                orientationType: FSOrientationType.binaryMask, orientation: 0b0000_0001_0000_0001,
                patternIterations: -1, patternPeriod: 750, patternStartTime: 0, exclusiveChannel: false,
                clearOtherChannels: true)
        }
        #expect(
            await here.vibrations().suffix(3) == [
                [0, 3, 0xAA, 0xAA, 0, 0, 2, 0x0E, 1, 0, 0, 5, 0xE8, 3, 0, 0, 0, 1],
                [0, 1, 0xAA, 0xAA, 0, 0, 3, 0x5A, 0, 0, 0, 1, 0xB8, 0x0B, 0, 0, 0, 1],
                [0, 2, 0xAA, 0xAA, 0, 0, 0, 1, 1, 0, 0, 0xFF, 0xEE, 2, 0, 0, 0, 1],
            ])
        #expect(await here.belt.writes.allSatisfy { $0.outcome == .taken })
        commandManager.stopVibration()
        await eventually("stopped") { await here.belt.motors.allSatisfy { $0 == 0 } }
    }
}
