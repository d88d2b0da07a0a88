// SPDX-License-Identifier: MIT
import CTendon
import Tendon
import TestSupport
import Testing

@testable import TendonFeelSpace

private final class Witness: FSConnectionDelegate {
    private(set) var found: [FSBelt] = []
    private(set) var causes: [FSScanTerminationCause] = []
    private(set) var changes: [String] = []
    private(set) var errors: [FSConnectionError?] = []
    var onFound: ((FSBelt) -> Void)?

    func onBeltFound(device: FSBelt) {
        found.append(device)
        onFound?(device)
    }
    func onBeltScanFinished(cause: FSScanTerminationCause) { causes.append(cause) }
    func onConnectionStateChanged(
        previousState: FSConnectionState, newState: FSConnectionState, event: FSConnectionEvent
    ) {
        changes.append("\(previousState) \(newState) \(event)")
    }
    func onConnectionStateChanged(
        previousState: FSConnectionState, newState: FSConnectionState, error: FSConnectionError?
    ) {
        errors.append(error)
    }
}

@Suite(.timeLimit(.minutes(1)))
struct ConnectionTests {
    @Test @TendonActor func constants() {
        #expect(FSConnectionManager.SCAN_DEFAULT_TIMEOUT_SEC == 15)
        #expect(FSConnectionManager.CONNECTION_HANDSHAKE_TIMEOUT_SEC == 20)
        #expect(FSConnectionManager.CONNECTION_HANDSHAKE_SHORT_TIMEOUT_SEC == 7)
        #expect(FSConnectionManager.BELT_NAME_PREFIX == "naviGuertel")
        let older = BluetoothUUID("65333333-A115-11E2-9E9A-0800200CA100")
        #expect(FSConnectionManager.ADVERTISED_SERVICE_UUID == older)
        #expect(FSConnectionManager.ADVERTISED_SERVICES_UUIDS.count == 2)
        #expect(FSConnectionManager.instance === FSConnectionManager.instance)
        #expect(FSConnectionManager.instance.state == .notConnected)
        #expect(FSCommandManager.ORIENTATION_DATA_NOTIFICATION_CHAR_UUID == BluetoothUUID(UInt16(0xFE0C)))
    }

    @Test(arguments: [false, true]) @TendonActor func scanAndConnect(newer: Bool) async throws {
        var options = SimulatedBelt.Options()
        options.isNewerHardware = newer
        let site = try await Site(options)
        let manager = FSConnectionManager(radio: site.radio, bonds: .memory)
        let witness = Witness()
        manager.delegate = witness
        witness.onFound = { manager.connectBelt($0) }
        manager.scanForBelt()
        await eventually("connected") { manager.state == .connected }
        #expect(witness.found.map(\.name) == ["naviGuertel SIM"])
        #expect(witness.found.first?.isNewerHardware == newer)
        #expect(witness.causes == [.canceled])
        #expect(
            witness.changes.suffix(4) == [
                "scanning connecting connectionStarted",
                "connecting discoveringServices connectionEstablished",
                "discoveringServices handshake servicesDiscovered", "handshake connected handshakeFinished",
            ])
        #expect(manager.retrieveConnectedBelt() == [site.device])
        #expect(manager.retrieveLastConnectedBelt() == site.device)
        #expect(manager.isPreviouslyConnectedBelt(uuid: site.belt.address))
        #expect(manager.getLastConnectedBeltUUIDs() == [site.belt.address])
        #expect(manager.commandManager.firmwareVersion == (newer ? 4 : 52))
        #expect(manager.commandManager.firmwareVariant == (newer ? 4 : -1))
        manager.scanForBelt()
        #expect(witness.causes.last == .alreadyConnected)
        manager.disconnectBelt()
        #expect(manager.state == .notConnected)
        #expect(witness.changes.last == "connected notConnected connectionClosed")
        #expect(witness.errors.allSatisfy { $0 == nil })
        #expect(manager.retrieveConnectedBelt() == [])
        await eventually("the link is down") { await site.belt.connections == 0 }
    }

    @Test @TendonActor func scanEnds() async throws {
        let site = try await Site()
        await site.belt.stop()
        let manager = FSConnectionManager(radio: site.radio, bonds: .memory)
        let witness = Witness()
        manager.delegate = witness
        manager.scanForBelt(timeoutSec: 0.1)
        #expect(manager.state == .scanning)
        await eventually("the time is over") { witness.causes == [.timeout] }
        #expect(witness.changes == ["notConnected scanning scanStarted", "scanning notConnected scanTimeout"])
        manager.scanForBelt()
        manager.stopScan()
        #expect(witness.causes == [.timeout, .canceled])
        #expect(witness.changes.last == "scanning notConnected scanCanceled")
        manager.stopScan()
        #expect(witness.causes.count == 2)
    }

    /// The adapter is switched off: while the manager scans, and while it is connected.
    @Test(arguments: [false, true]) @TendonActor func theRadioFails(isConnected: Bool) async throws {
        let site = try await Site()
        let central = try await Central(radio: site.radio, bonds: .memory)
        let manager = FSConnectionManager(on: central)
        let witness = Witness()
        manager.delegate = witness
        if isConnected {
            try await manager.connect(to: site.device)
        } else {
            manager.scanForBelt()
            #expect(manager.state == .scanning)
        }
        let radio = central.core.radio
        radio.pointee.on_failure?(
            radio.pointee.report_context, Int32(TENDON_RADIO_ERROR_ADAPTER_DOWN), tendon_monotonic_ms())
        await eventually("noticed") { manager.state == .notConnected }
        #expect(isConnected ? witness.errors.last == .some(.btPoweredOff) : witness.causes == [.btNotActive])
        await eventually("no connection is left") { await site.belt.connections == 0 }
    }

    @Test @TendonActor func closedDuringASearch() async throws {
        let site = try await Site()
        await site.belt.stop()
        let manager = FSConnectionManager(radio: site.radio, bonds: .memory)
        let opening = Task { @TendonActor in try await manager.openAndWait() }
        await eventually("searching") { manager.state == .scanning }
        await manager.closeAndWait()
        #expect(manager.state == .notConnected)
        await #expect(throws: FSConnectionError.cancelled) { try await opening.value }
    }

    /// The state changes at once; the link ends later.
    @Test @TendonActor func closedToTheEnd() async throws {
        let site = try await Site()
        let manager = try await site.connected()
        manager.disconnectBelt()
        #expect(manager.state == .notConnected && manager.core.c.work.draining)
        await manager.closeAndWait()
        #expect(!manager.core.c.work.draining)
        try await manager.connect(to: site.device)
        await manager.closeAndWait()
        #expect(manager.state == .notConnected && !manager.core.c.work.draining)
        await manager.closeAndWait()  // there is nothing to wait for
    }

    @Test @TendonActor func aForeignDeviceIsNoBelt() async throws {
        var options = SimulatedBelt.Options()
        options.name = "Serial Port"
        let site = try await Site(options)
        let manager = FSConnectionManager(radio: site.radio, bonds: .memory)
        let witness = Witness()
        manager.delegate = witness
        manager.scanForBelt(timeoutSec: 0.5)
        await eventually("the time is over") { witness.causes == [.timeout] }
        #expect(witness.found == [])
    }

    @Test @TendonActor func lossAndPowerOff() async throws {
        let site = try await Site()
        let manager = try await site.connected()
        let witness = Witness()
        manager.delegate = witness
        await site.belt.disconnectAll()
        await eventually("lost") { manager.state == .notConnected }
        #expect(witness.changes == ["connected notConnected connectionLost"])
        #expect(manager.commandManager.mode == .unknown && manager.commandManager.defaultIntensity == -1)
        #expect(manager.commandManager.beltBatteryStatus.batteryLevel == -1)
        try await manager.connect(to: site.device)
        await site.belt.press(.power, .long)
        await eventually("off") { manager.state == .notConnected }
        #expect(witness.errors.last == .some(.powerOff))
        // The belt is off and rejects connections.
        await #expect(throws: FSConnectionError.self) { try await manager.connect(to: site.device, timeoutSec: 1) }
    }

    @Test @TendonActor func updatesAsASequence() async throws {
        let site = try await Site()
        let manager = FSConnectionManager(radio: site.radio, bonds: .memory)
        let updates = manager.updates
        manager.scanForBelt()
        var states: [FSConnectionState] = []
        for await update in updates {
            if case .found(let belt) = update { manager.connectBelt(belt) }
            if case .stateChanged(_, let state, _, _) = update { states.append(state) }
            if states.last == .connected { break }
        }
        #expect(states.suffix(4) == [.connecting, .discoveringServices, .handshake, .connected])
    }

    @Test @TendonActor func theLinkEndsWithTheLastReference() async throws {
        let site = try await Site()
        var manager: FSConnectionManager? = try await site.connected()
        let commands = try #require(manager?.commandManager)
        manager = nil
        // Over the link, and back.
        try await commands.confirmed { $0.changeOrientationPeriod(20) }
        #expect(await site.belt.connections == 1)
        #expect(commands.mode == .wait)
        try await lettingGo(commands, site)
    }

    @TendonActor private func lettingGo(_ commands: consuming FSCommandManager, _ site: Site) async throws {
        try await commands.confirmed { $0.changeBeltMode(.compass) }
    }

    @Test @TendonActor func bonding() async throws {
        var options = SimulatedBelt.Options()
        options.requiresPairing = true
        let site = try await Site(options)
        let manager = FSConnectionManager(radio: site.radio, bonds: .memory)
        await #expect(throws: FSConnectionError.self) { try await manager.connect(to: site.device, timeoutSec: 3) }
        // Its user holds the home button: pairing mode.
        await site.belt.press(.home, .long)
        try await manager.connect(to: site.device)
        #expect(manager.commandManager.mode == .wait)
        manager.disconnectBelt()
        await eventually("the link is down") { await site.belt.connections == 0 }
        try await manager.connect(to: site.device)
    }

    /// The button is held while a central is connected already, for which nothing else happens until it pairs.
    @Test func pairingModeBeginsWithTheButton() async throws {
        var options = SimulatedBelt.Options()
        options.requiresPairing = true
        let site = try await Site(options)
        let peripheral = try await Central(radio: site.radio, bonds: .memory).connect(site.belt.address)
        await site.belt.press(.home, .long)
        try await peripheral.pair()
        await peripheral.disconnect()
    }

    @Test @TendonActor func anUnansweredBeltFailsTheHandshake() async throws {
        let site = try await Site()
        await site.belt.setSilent(true)
        let manager = FSConnectionManager(radio: site.radio, bonds: .memory)
        await #expect(throws: FSConnectionError.self) { try await manager.connect(to: site.device, timeoutSec: 2) }
        #expect(manager.state == .notConnected)
        await eventually("the link is down") { await site.belt.connections == 0 }
    }

    // MARK: Cancellation, radios

    /// At the start, while the connection is made, while the belt is silent.
    @Test(arguments: [-1, 0, 2, 60]) @TendonActor func aCancelledConnectEnds(delay: Int) async throws {
        let site = try await Site()
        await site.belt.setSilent(true)
        let manager = FSConnectionManager(radio: site.radio, bonds: .memory)
        let task = Task { @TendonActor in
            if delay < 0 { await untilCancelled() }
            try await manager.connect(to: site.device)
        }
        if delay > 0 { try await Task.sleep(for: .milliseconds(delay)) }
        task.cancel()
        let result = await endsInTime(task)
        #expect(throws: FSConnectionError.cancelled) { try result.get() }
        #expect(manager.state == .notConnected)
        await eventually("the connection is closed") { await site.belt.connections == 0 }
        await site.belt.setSilent(false)
        try await manager.connect(to: site.device)
    }

    @Test @TendonActor func theProgramEndsAnAttempt() async throws {
        let site = try await Site()
        await site.belt.setSilent(true)
        let manager = FSConnectionManager(radio: site.radio, bonds: .memory)
        let task = Task { @TendonActor in try await manager.connect(to: site.device) }
        await eventually("handshake") { manager.state == .handshake }
        manager.disconnectBelt()
        let result = await task.result
        #expect(throws: FSConnectionError.cancelled) { try result.get() }
    }

    @Test @TendonActor func whyTheRadioDidNotOpen() async throws {
        let manager = FSConnectionManager(radio: .virtual(directory: "/proc/tendon"), bonds: .memory)
        let witness = Witness()
        manager.delegate = witness
        #expect(manager.radioFailure == nil)
        manager.scanForBelt()
        #expect(witness.causes == [.btNotAvailable])
        #expect(manager.radioFailure?.operation == .openRadio)
        await #expect(throws: FSConnectionError.btUnsupported) {
            try await manager.connect(to: FSBelt(address: Address(0xC000_0000_0001, type: .random)))
        }
    }

    @Test @TendonActor func aManagerKeepsItsCentral() async throws {
        let site = try await Site()
        do {
            // Nothing but the manager keeps the central.
            let manager = FSConnectionManager(on: try await Central(radio: site.radio, bonds: .memory))
            var updates = manager.updates.makeAsyncIterator()
            manager.scanForBelt()
            var found: FSBelt?
            while found == nil, let update = await updates.next() {
                if case .found(let belt) = update { found = belt }
            }
            #expect(found?.address == site.device.address)
        }
        let shared = try await Central(radio: site.radio, bonds: .memory)
        let manager = FSConnectionManager(on: shared)
        try await manager.connect(to: site.device)
        #expect(manager.state == .connected)
        manager.radio = .bluez()
        #expect(manager.radio == .automatic, "the central's radio stays")
    }

    @Test @TendonActor func withoutEndIsWithoutEnd() async throws {
        let site = try await Site()
        await site.belt.stop()
        let manager = FSConnectionManager(radio: site.radio, bonds: .memory)
        for seconds in [Double.infinity, 1e300, .nan, -1] {
            manager.scanForBelt(timeoutSec: seconds)
            #expect(manager.state == .scanning)
            manager.stopScan()
        }
    }

    /// A manager that is released while it is connected: the connection ends, and nothing is left.
    @Test @TendonActor func aReleasedManagerEndsItsConnection() async throws {
        let site = try await Site()
        var manager: FSConnectionManager? = try await site.connected()
        weak var core = manager?.lifetime.core
        #expect(core != nil)
        #expect(await site.belt.connections == 1)
        manager = nil
        await eventually("no connection") { await site.belt.connections == 0 }
        await eventually("released") { core == nil }
    }

    /// A manager that is released while it searches: its radio ends the search.
    @Test @TendonActor func aReleasedManagerEndsItsSearch() async throws {
        let site = try await Site()
        var manager: FSConnectionManager? = FSConnectionManager(radio: site.radio, bonds: .memory)
        manager?.scanForBelt()
        let radio = try #require(manager?.lifetime.core.holder.radio)
        #expect(radio.radio.pointee.scanning)
        manager = nil
        await eventually("no search") { !radio.radio.pointee.scanning }
    }

    /// A manager that is released while it connects: the belt has no connection, or one that ends.
    @Test @TendonActor func aReleasedManagerEndsItsAttempt() async throws {
        let site = try await Site()
        var manager: FSConnectionManager? = FSConnectionManager(radio: site.radio, bonds: .memory)
        manager?.connectBelt(site.device)
        weak var core = manager?.lifetime.core
        manager = nil
        await eventually("released") { core == nil }
        await eventually("no connection") { await site.belt.connections == 0 }
    }

    @Test func states() {
        let states = (0..<TENDON_FEELSPACE_STATE_COUNT.rawValue).map { FSConnectionState(tendon_feelspace_state($0)) }
        #expect(
            states == [
                .notConnected, .scanning, .connecting, .discoveringServices, .handshake, .connected, .reconnecting,
            ])
        #expect(FSConnectionState.allCases.map(\.rawValue) == Array(0..<8))
        let belt = (0..<TENDON_FEELSPACE_STATE_COUNT.rawValue).map { FSBeltConnectionState(tendon_feelspace_state($0)) }
        #expect(
            belt == [.notConnected, .searching, .connecting, .connecting, .connecting, .connected, .connecting])
        #expect(
            Set(FSConnectionError.allCases.map(\.localizedDescription)).count == FSConnectionError.allCases.count - 2)
        for code in 1...20 as ClosedRange<UInt32> {
            #expect(FSConnectionError(tendon_feelspace_connection_error(code))?.rawValue == code)
        }
        #expect(FSConnectionError(TENDON_FEELSPACE_NO_ERROR) == nil)
        #expect(FSConnectionError.cancelled.isCancelled && !FSConnectionError.powerOff.isCancelled)
    }

    @available(*, deprecated) @Test func misspellings() {
        #expect(FSConnectionState.hanshake == .handshake)
        final class Old: FSComandDelegate {
            func onBeltModeChanged(_ newBeltMode: FSBeltMode) {}
            func onBeltButtonPressed(
                button: FSBeltButton, pressType: FSPressType, previousMode: FSBeltMode, newMode: FSBeltMode
            ) {}
        }
        let _: any FSCommandDelegate.Type = Old.self
    }
}
