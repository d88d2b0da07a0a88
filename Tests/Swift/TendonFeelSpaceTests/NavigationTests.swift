// SPDX-License-Identifier: MIT
import Tendon
import TestSupport
import Testing

@testable import TendonFeelSpace

private final class Witness: FSNavigationControllerDelegate {
    private(set) var news: [String] = []
    private(set) var headings: [Int] = []

    func onNavigationStateChange(state: FSNavigationState) { news.append("\(state)") }
    func onBeltHomeButtonPressed(navigating: Bool) { news.append("home \(navigating)") }
    func onBeltDefaultVibrationIntensityChanged(intensity: Int) { news.append("intensity \(intensity)") }
    func onBeltOrientationUpdated(beltHeading: Int, accurate: Bool) { headings.append(beltHeading) }
    func onBeltBatteryLevelUpdated(batteryLevel: Int, status: FSPowerStatus) {
        news.append("battery \(batteryLevel) \(status)")
    }
    func onCompassAccuracySignalStateUpdated(enabled: Bool) { news.append("signal \(enabled)") }
    func onBeltConnectionStateChanged(state: FSBeltConnectionState) { news.append("connection \(state)") }
    func onBeltConnectionLost() { news.append("lost") }
    func onBeltConnectionFailed() { news.append("failed") }
    func onNoBeltFound() { news.append("no belt") }
    func onBeltFound(belt: FSBelt) { news.append("found") }
}

/// What the vendor's document proposes for complex signals.
private final class Knocking: FSNavigationController {
    private(set) var sent = 0

    override func sendVibrationCommand(
        beltConnection: FSConnectionManager, direction: Int, isMagneticBearing: Bool, signal: FSBeltVibrationSignal
    ) {
        guard signal == .turnOngoing else {
            return super.sendVibrationCommand(
                beltConnection: beltConnection, direction: direction, isMagneticBearing: isMagneticBearing,
                signal: signal)
        }
        sent += 1
        beltConnection.commandManager.configureVibrationChannel(
            channelIndex: FSNavigationController.NAVIGATION_SIGNAL_CHANNEL, pattern: .doubleLong, intensity: 70,
            orientationType: isMagneticBearing ? .magneticBearing : .angle, orientation: direction,
            patternIterations: -1, patternPeriod: 900, exclusiveChannel: false, clearOtherChannels: false)
    }
}

@Suite(.timeLimit(.minutes(1)))
struct NavigationTests {
    @TendonActor private func controller(_ site: Site) -> (FSNavigationController, Witness) {
        let controller = FSNavigationController(
            connectionManager: FSConnectionManager(radio: site.radio, bonds: .memory))
        let witness = Witness()
        controller.delegate = witness
        return (controller, witness)
    }

    @Test @TendonActor func searchConnectNavigate() async throws {
        let site = try await Site()
        await site.belt.setHeading(90)
        let (controller, witness) = controller(site)
        #expect(controller.navigationState == .stopped && controller.connectionState == .notConnected)
        #expect(controller.beltHeading == -1 && controller.beltBatteryLevel == -1)
        #expect(controller.startNavigation(direction: 90, isMagneticBearing: true, signal: .continuous))
        #expect(!controller.startNavigation(direction: 90, isMagneticBearing: true, signal: .criticalWarning))
        controller.searchAndConnectBelt()
        await eventually("the belt vibrates") { await site.belt.motors[0] > 0 }
        #expect(await site.belt.mode == .app)
        #expect(
            await site.vibrations().first
                == [0x02, 1, 0xAA, 0xAA, 0, 0, 3, 90, 0, 0, 0, 0, 0xF4, 1, 0, 0, 0, 0])
        #expect(witness.news.first == "navigating" && witness.news.contains("connection connected"))
        await eventually("orientation and signal") {
            controller.beltHeading == 90 && controller.compassAccuracySignalEnabled == 1
        }
        #expect(controller.beltOrientationAccurate == 1 && controller.beltBatteryLevel == 80)
        #expect(controller.beltPowerStatus == .onBattery && controller.beltFirmwareVersion == 52)
        #expect(controller.updateNavigationSignal(direction: 0, isMagneticBearing: true, signal: nil))
        await eventually("stopped vibrating") { await site.vibrations().last == [0x30, 0xFF] }
        controller.stopNavigation()
        await eventually("wait") { await site.belt.mode == .wait }
        #expect(controller.navigationState == .stopped)
        controller.disconnectBelt()
        #expect(controller.connectionState == .notConnected && controller.detailedConnectionState == .notConnected)
        #expect(controller.beltHeading == -1 && controller.beltBatteryLevel == -1)
    }

    /// As the guides do it: the belt is found and opened, then a controller navigates with it.
    @Test @TendonActor func aBeltThatIsConnectedAlready() async throws {
        let site = try await Site()
        await site.belt.setHeading(90)
        let manager = try await site.connected()
        let controller = FSNavigationController(connectionManager: manager)
        let witness = Witness()
        controller.delegate = witness
        #expect(controller.connectionState == .connected)
        await eventually("orientation and signal") {
            controller.beltHeading == 90 && controller.compassAccuracySignalEnabled == 1
        }
        await eventually("the delegate receives it") { witness.headings.last == 90 }
        #expect(!witness.news.contains { $0.hasPrefix("connection") }, "nothing has changed")
        manager.disconnectBelt()
        #expect(witness.news.last == "connection notConnected")
    }

    @Test @TendonActor func buttonsOfTheBelt() async throws {
        let site = try await Site()
        let (controller, witness) = controller(site)
        controller.connectBelt(site.device)
        await eventually("connected") { controller.connectionState == .connected }
        await site.belt.press(.home)
        await eventually("home, stopped") { witness.news.contains("home false") }
        controller.startNavigation(direction: 0, isMagneticBearing: false, signal: .navigation)
        await eventually("app mode") { await site.belt.mode == .app }
        await site.belt.press(.home)
        await eventually("home, navigating") { witness.news.contains("home true") }
        await site.belt.press(.pause)
        await eventually("paused") { controller.navigationState == .paused }
        await eventually("the belt pauses too") { await site.belt.mode == .pause }
        await site.belt.press(.pause)
        await eventually("and goes on") { controller.navigationState == .navigating }
        await eventually("the belt too") { await site.belt.mode == .app }
        await site.belt.press(.compass)
        await eventually("compass pauses") { controller.navigationState == .paused }
        #expect(await site.belt.mode == .compass)
    }

    @Test @TendonActor func stateOutlivesTheConnection() async throws {
        let site = try await Site()
        let (controller, witness) = controller(site)
        controller.startNavigation(direction: 45, isMagneticBearing: false, signal: .navigation)
        controller.connectBelt(site.device)
        await eventually("vibrates") { await site.belt.motors[2] > 0 }
        await site.belt.disconnectAll()
        await eventually("lost") { witness.news.contains("lost") }
        #expect(controller.navigationState == .navigating)
        await eventually("the belt waits") { await site.belt.mode == .wait }
        let updates = controller.updates
        controller.retryBeltConnection()
        await eventually("vibrates again") { await site.belt.motors[2] > 0 }
        var states: [FSBeltConnectionState] = []
        for await update in updates.ending(after: .milliseconds(50)) {
            if case .connection(let state, _) = update { states.append(state) }
        }
        #expect(states == [.connecting, .connected], "the belt is known: no search")
        #expect(witness.news.last { $0.hasPrefix("connection") } == "connection connected")
    }

    @Test @TendonActor func notifications() async throws {
        let site = try await Site()
        let (controller, witness) = controller(site)
        #expect(!controller.notifyWarning(critical: true) && !controller.notifyBeltBatteryLevel())
        controller.connectBelt(site.device)
        await eventually("connected") { controller.connectionState == .connected }
        #expect(controller.notifyDestinationReached(shouldStopNavigation: true))
        #expect(controller.notifyDirection(direction: 270, isMagneticBearing: false))
        #expect(controller.notifyWarning(critical: true) && controller.notifyWarning(critical: false))
        #expect(controller.notifyBeltBatteryLevel())
        await eventually("all arrived") { await site.vibrations().count == 5 }
        #expect(
            await site.vibrations() == [
                [0x20, 1], [0, 1, 0xAA, 0xAA, 0, 0, 2, 0x0E, 1, 0, 0, 1, 0xE8, 3, 0, 0, 0, 0],
                [0, 3, 0xAA, 0xAA, 0, 0, 0, 0x11, 0x11, 0, 0, 3, 0xBC, 2, 0, 0, 1, 0],
                [0, 6, 25, 0, 0, 0, 1, 0, 0, 0, 0, 2, 0xF4, 1, 0, 0, 1, 0], [0x20, 2],
            ])
        #expect(await site.belt.writes.allSatisfy { $0.outcome == .taken })
        #expect(!controller.changeDefaultVibrationIntensity(intensity: 4))
        #expect(controller.changeDefaultVibrationIntensity(intensity: 70))
        await eventually("intensity") { witness.news.contains("intensity 70") }
        #expect(controller.defaultVibrationIntensity == 70)
        #expect(controller.setCompassAccuracySignal(enable: false, persistent: false))
        await eventually("signal") { witness.news.contains("signal false") }
        #expect(controller.compassAccuracySignalEnabled == 0)
    }

    @Test @TendonActor func aSubclassMakesSignalsOfItsOwn() async throws {
        let site = try await Site()
        let controller = Knocking(connectionManager: FSConnectionManager(radio: site.radio, bonds: .memory))
        controller.connectBelt(site.device)
        await eventually("connected") { controller.connectionState == .connected }
        controller.startNavigation(direction: 180, isMagneticBearing: false, signal: .turnOngoing)
        await eventually("its own") { await site.vibrations().count == 1 }
        #expect(
            await site.vibrations().first
                == [2, 5, 70, 0, 0, 0, 2, 180, 0, 0, 0, 0xFF, 0x84, 3, 0, 0, 0, 0])
        controller.updateNavigationSignal(direction: 180, isMagneticBearing: false, signal: .navigation)
        await eventually("the usual one") { await site.vibrations().count == 2 }
        #expect(controller.sent == 1)
    }

    @Test @TendonActor func nobodyThere() async throws {
        let site = try await Site()
        await site.belt.stop()
        let (controller, witness) = controller(site)
        let updates = controller.updates
        controller.connectionManager.scanForBelt(timeoutSec: 0.1)
        await eventually("told") { witness.news.contains("no belt") }
        var first: FSNavigationUpdate?
        for await update in updates {
            first = update
            break
        }
        #expect(first != nil)
    }

    /// Both forms of each callback, where the vendor's documents have two.
    @Test @TendonActor func updatesCallTheirHandlers() {
        final class All: FSNavigationControllerDelegate {
            private(set) var news: [String] = []
            func onBeltConnectionStateChanged(state: FSBeltConnectionState) { news.append("state \(state)") }
            func onConnectionStateChanged(state: FSBeltConnectionState, error: FSBeltConnectionError) {
                news.append("state \(state) \(error)")
            }
            func onBluetoothNotAvailable() { news.append("not available") }
            func onBluetoothPoweredOff() { news.append("off") }
            func onBeltConnectionLost() { news.append("lost") }
            func onBeltConnectionFailed() { news.append("failed") }
            func onBeltConnectionFailed(checkPairing: Bool) { news.append("failed \(checkPairing)") }
            func onNoBeltFound() { news.append("no belt") }
            func onBeltSearchFinished() { news.append("searched") }
            func onBeltFound(belt: FSBelt) { news.append("found") }
            func onBeltFound(belt: FSBelt, status: FSBeltConnectionStatus) { news.append("found \(status)") }
        }
        let belt = FSBelt(address: Address(1, type: .public))
        let witness = All()
        for update in [
            FSNavigationUpdate.connection(.connected, .noError), .bluetoothNotAvailable, .bluetoothPoweredOff,
            .connectionLost, .connectionFailed(.noError), .connectionFailed(.pairingPermissionError), .noBeltFound,
            .searchFinished, .found(belt),
        ] {
            update.deliver(to: witness) { _ in false }
        }
        FSNavigationUpdate.found(belt).deliver(to: witness) { $0 == belt }
        #expect(
            witness.news == [
                "state connected", "state connected noError", "not available", "off", "lost", "failed",
                "failed false", "failed", "failed true", "no belt", "searched", "found", "found advertising", "found",
                "found knownAdvertising",
            ])
    }

    @Test @TendonActor func searchRetryAndPause() async throws {
        let site = try await Site()
        let (controller, witness) = controller(site)
        controller.searchBelt()
        await eventually("found") { witness.news.contains("found") }
        controller.disconnectBelt()
        // Nothing was connected yet: it searches.
        controller.retryBeltConnection()
        await eventually("connected") { witness.news.contains("connection connected") }
        controller.startNavigation(direction: 90, isMagneticBearing: false, signal: .continuous)
        await eventually("navigating") { await site.belt.mode == .app }
        controller.pauseNavigation()
        await eventually("paused") { await site.belt.mode == .pause }
        await eventually("reported") { witness.news.contains("paused") }
        controller.stopNavigation()
        await eventually("stopped") { await site.belt.mode == .wait }
        controller.disconnectBelt()
        await eventually("disconnected") { await site.belt.connections == 0 }
        // Now there is one that it knows.
        controller.retryBeltConnection()
        await eventually("connected") { await site.belt.connections == 1 }
    }

    @Test func signals() {
        let repeated: Set<FSBeltVibrationSignal> = [
            .noVibration, .continuous, .navigation, .approachingDestination, .turnOngoing, .nextWaypointLongDistance,
            .nextWaypointMediumDistance, .nextWaypointShortDistance, .nextWaypointAreaReached,
            .destinationReachedRepeated,
        ]
        for signal in FSBeltVibrationSignal.allCases { #expect(signal.isRepeated == repeated.contains(signal)) }
        #expect(FSBeltVibrationSignal.isRepeated(.navigation) && !FSBeltVibrationSignal.isRepeated(.batteryLevel))
        #expect(FSBeltVibrationSignal.isDirectional(.navigation) && !FSBeltVibrationSignal.isDirectional(.batteryLevel))
        #expect(FSBeltVibrationSignal.directionNotification.isDirectional)
        #expect(!FSBeltVibrationSignal.destinationReachedRepeated.isDirectional)
        #expect(FSBeltVibrationSignal.batteryLevel.rawValue == 14)
    }
}
