// SPDX-License-Identifier: MIT
import CTendon
import Tendon
import TestSupport
import Testing

@testable import TendonFeelSpace

private final class Witness: FSCommandDelegate {
    private(set) var news: [String] = []
    private(set) var orientations: [FSBeltOrientation] = []
    /// Of the form without an argument label.
    private(set) var unnamed: [FSPowerStatus] = []

    func onBeltModeChanged(_ newBeltMode: FSBeltMode) { news.append("mode \(newBeltMode)") }
    func onBeltButtonPressed(
        button: FSBeltButton, pressType: FSPressType, previousMode: FSBeltMode, newMode: FSBeltMode
    ) {
        news.append("\(button) \(pressType) \(previousMode) \(newMode)")
    }
    func onDefaultIntensityChanged(_ defaultIntensity: Int) { news.append("intensity \(defaultIntensity)") }
    func onHeadingOffsetChanged(_ headingOffset: Int) { news.append("offset \(headingOffset)") }
    func onBeltBatteryStatusUpdated(status: FSBatteryStatus) {
        news.append("battery \(status.batteryLevel) \(status.powerStatus)")
    }
    func onBeltBatteryStatusUpdated(_ status: FSBatteryStatus) { unnamed.append(status.powerStatus) }
    func onBeltOrientationNotified(beltOrientation: FSBeltOrientation) { orientations.append(beltOrientation) }
    func onBeltCompassAccuracySignalStateNotified(_ enabled: Bool) { news.append("signal \(enabled)") }
}

@Suite(.timeLimit(.minutes(1)))
struct CommandTests {
    @Test @TendonActor func whatTheBeltSays() async throws {
        let site = try await Site()
        let commands = try await site.connected().commandManager
        #expect(commands.mode == .wait && commands.defaultIntensity == 50)
        #expect(commands.firmwareVersion == 52 && commands.firmwarePatch == "")
        #expect(commands.beltBatteryStatus.batteryLevel == 80 && commands.beltBatteryStatus.powerStatus == .onBattery)
        await eventually("the heading offset") { commands.beltHeadingOffset == 45 }
        #expect(commands.beltOrientation == nil && !commands.orientationNotifEnabled)
        let witness = Witness()
        commands.delegate = witness
        await site.belt.setBattery(12, .charging)
        await eventually("battery") { witness.news == ["battery 12.0 charging"] }
        await site.belt.press(.home)
        await eventually("home") { witness.news.last == "home shortPress wait wait" }
        await site.belt.press(.compass, .long)
        await eventually("compass, long") { witness.news.last == "compass longPress wait calibration" }
        // One callback for a change of mode, not two.
        await site.belt.changeMode(.compass)
        await eventually("mode") { witness.news.last == "mode compass" }
        #expect(witness.news.filter { $0.hasPrefix("mode") } == ["mode compass"])
    }

    /// One that is called because the belt has responded, and one because nobody uses the belt any more.
    @Test @TendonActor func aHandlerGivesTheNextCommand() async throws {
        let site = try await Site()
        var commands: FSCommandManager? = try await site.connected().commandManager
        final class Ends { var all: [String] = [] }
        let ends = Ends()
        func next(_ left: Int) {
            commands?.confirmed({ $0.changeDefaultIntensity(10 * left) }) { error in
                ends.all.append("\(left) \(error == nil)")
                if left > 1 { next(left - 1) }
            }
        }
        next(3)
        await eventually("each has its outcome") { ends.all == ["3 true", "2 true", "1 true"] }
        await site.belt.stop()
        await eventually("disconnected") { commands?.mode == .unknown }
        next(2)
        await eventually("refused, and so is the next one") { ends.all.suffix(2) == ["2 false", "1 false"] }
        commands = nil
    }

    @Test @TendonActor func parameters() async throws {
        let site = try await Site()
        let commands = try await site.connected().commandManager
        await eventually("the last answer of the handshake") { commands.beltHeadingOffset == 45 }
        let witness = Witness()
        commands.delegate = witness
        try await commands.confirmed { $0.changeBeltMode(.app) }
        #expect(commands.mode == .app)
        try await commands.confirmed { $0.changeDefaultIntensity(2) }
        #expect(commands.defaultIntensity == 5)  // The belt's least.
        try await commands.confirmed { $0.changeHeadingOffset(90) }
        try await commands.confirmed { $0.requestCompassAccuracySignalState() }
        try await commands.confirmed { $0.changeCompassAccuracySignalState(enable: false, persistent: false) }
        #expect(commands.beltCompassAccuracySignalEnabled == false)
        #expect(commands.accuracySignal == FSAccuracySignal(inApp: false, inCompass: false))
        #expect(witness.news == ["mode app", "intensity 5", "offset 90", "signal true", "signal false"])
        let refused = [
            commands.changeBeltMode(.calibration), commands.changeBeltMode(.unknown),
            commands.changeDefaultIntensity(101), commands.changeHeadingOffset(360), commands.stopVibration(4),
        ]
        #expect(refused == [false, false, false, false, false])
        #expect(commands.lastError != nil)
        // A request without a response is reported as a timeout.
        await site.belt.setSilent(true)
        await #expect { try await commands.confirmed { $0.changeBeltMode(.wait) } } throws: {
            ($0 as? TendonError)?.isTimeout == true
        }
    }

    @Test @TendonActor func vibrationsArriveByteForByte() async throws {
        let site = try await Site()
        let commands = try await site.connected().commandManager
        try await commands.confirmed { $0.changeBeltMode(.app) }
        commands.vibrateAtMagneticBearing(direction: 90, signal: .continuous)
        commands.vibrateAtAngle(angle: -45.5, intensity: 40, signal: .destinationReached, channelIndex: 2)
        commands.vibrateAtAngle(direction: 10, intensity: 0, channelIndex: 3)
        commands.signal(signalType: .goalReached)
        commands.vibrateAtPositions([0, 8], channelIndex: 0)
        try await commands.confirmed { $0.stopVibration() }
        #expect(
            await site.vibrations() == [
                [0x01, 1, 0xAA, 0xAA, 0, 0, 3, 90, 0, 0, 0, 0xFF, 0xF4, 1, 0, 0, 0, 0],
                [0x02, 9, 40, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0xC4, 9, 0, 0, 0, 0], [0x30, 3], [0x20, 1],
                [0x00, 1, 0xAA, 0xAA, 0, 0, 0, 1, 1, 0, 0, 0xFF, 0xF4, 1, 0, 0, 0, 0], [0x30, 0xFF],
            ])
        #expect(await site.belt.lastSignal == .goalReached)
        #expect(await site.belt.counters.refusedWrites == 0)
        var pulse = FSPulse()
        pulse.channelIndex = 0
        pulse.orientation = 90
        pulse.pulses = 3
        pulse.seriesPeriod = 1500
        pulse.series = 1
        pulse.timer = .reset
        try await commands.confirmed { $0.pulse(pulse) }
        #expect(
            await site.vibrations().last
                == [0x40, 0, 2, 0x5A, 0, 0xAA, 0x96, 0, 3, 1, 0xF4, 1, 0xDC, 5, 0, 0, 0])
        commands.pulseAtMagneticBearing(direction: 270, onDuration: 300, period: 1000)
        try await commands.confirmed { $0.play([(0.05, 800), (0.1, 0)]) }
        #expect(await site.belt.writes.last?.bytes == [1, 2, 25, 0, 5, 10])
    }

    @Test @TendonActor func outOfAppModeTheBeltIgnoresAndTheClientSaysSo() async throws {
        let site = try await Site()
        let commands = try await site.connected().commandManager
        #expect(commands.vibrateAtAngle(angle: 90))
        #expect(commands.lastWarnings.contains(.isIgnored))
        try await commands.confirmed {
            $0.configureVibrationChannel(
                channelIndex: 0, pattern: .continuous, orientationType: .angle, orientation: 270,
                patternIterations: 100, patternPeriod: 60_000, exclusiveChannel: false, clearOtherChannels: false)
        }
        #expect(commands.lastWarnings == [])
        #expect(await site.belt.writes.suffix(2).map(\.outcome) == [.wrongMode, .taken])
        #expect(await site.belt.motors[12] == 50)
    }

    /// A command that cannot be encoded is rejected here; an error of the belt is reported with the belt's code.
    @Test @TendonActor func badLengthsAreReported() async throws {
        let site = try await Site()
        let commands = try await site.connected().commandManager
        for data in [[], [UInt8](repeating: 0x02, count: 21)] {
            await #expect(
                throws: TendonError(status: Int32(TENDON_ERROR_INVALID_ARGUMENT), operation: .write)
            ) {
                try await commands.confirmed { $0.sendDebugData(data) }
            }
        }
        #expect(await site.belt.counters.refusedWrites == 0)
        let error = await #expect(throws: TendonError.self) {
            try await commands.confirmed {
                $0.send(TENDON_FEELSPACE_VIBRATION_COMMAND) { packet, _ in
                    packet[0] = 0x30  // stop, without its channel
                    return 1
                }
            }
        }
        #expect(error?.layer == .att)
        #expect(error?.code == 0x0D, "Invalid Attribute Value Length")
        #expect(error?.operation == .write)
        #expect(await site.belt.counters.refusedWrites == 1)
        #expect(await site.belt.writes.last?.outcome == .badLength)
        // The queue goes on.
        try await commands.confirmed { $0.signal(signalType: .warning) }
    }

    @Test @TendonActor func errorLog() async throws {
        let site = try await Site()
        let commands = try await site.connected().commandManager
        await site.belt.raiseError(0xA1)
        await site.belt.raiseError(0xA2)
        var logged: [UInt32]?
        var text = ""
        commands.requestBeltErrorLog { result in
            logged = try? result.get().entries.map(\.code)
            text = (try? result.get().toString()) ?? ""
        }
        await eventually("the log") { logged == [0xA1, 0xA2] }
        let lines = text.split(separator: "\n")
        #expect(lines.count == 2 && lines[0].hasSuffix(" 161") && lines[1].hasSuffix(" 162"))
    }

    /// The connection ends before the log does.
    @Test @TendonActor func errorLogFails() async throws {
        let site = try await Site()
        let manager = try await site.connected()
        await site.belt.raiseError(0xA1)
        var failure: TendonError?
        let completion: @TendonActor (Result<FSBeltErrorLog, any Error>) -> Void = { result in
            if case .failure(let error) = result { failure = error as? TendonError }
        }
        manager.commandManager.requestBeltErrorLog(completion)
        manager.disconnectBelt()
        #expect(failure?.isCancelled == true && failure?.operation == .read)
        failure = nil
        manager.commandManager.requestBeltErrorLog(completion)
        #expect(failure != nil, "no belt is connected")
    }

    @Test @TendonActor func orientation() async throws {
        let site = try await Site()
        await site.belt.setHeading(270)
        let commands = try await site.connected().commandManager
        let witness = Witness()
        commands.delegate = witness
        try await commands.confirmed { $0.changeOrientationPeriod(20) }
        #expect(commands.startOrientationNotifications())
        #expect(commands.orientationNotifEnabled)
        await eventually("orientations") { witness.orientations.count >= 3 }
        #expect(witness.orientations.allSatisfy { $0.beltMagHeading == -90 && !$0.beltCompassInaccurate })
        #expect(commands.beltOrientation?.beltMagHeading == -90)
        let arrivals = witness.orientations.map(\.times.receivedAt)
        #expect(
            arrivals == arrivals.sorted() && arrivals[0] > 0
                && arrivals.last! <= (tendon_monotonic_ms() + 1) * 1_000_000)
        #expect(witness.orientations[0] == witness.orientations[1], "the time is no part of the value")
        // Only values that differ enough from the last reported one.
        commands.startOrientationNotifications(minPeriod: 0, minHeadingVariation: 10)
        await site.belt.setHeading(275)
        await eventually("a turn that is too small") { commands.beltOrientation?.beltMagHeading == -85 }
        #expect(!witness.orientations.contains { $0.beltMagHeading == -85 })
        await site.belt.setHeading(300)
        await eventually("a turn") { witness.orientations.last?.beltMagHeading == -60 }
        try await commands.confirmed { $0.stopOrientationNotifications() }
        // The vendor's document: the last known one.
        #expect(!commands.orientationNotifEnabled && commands.beltOrientation?.beltMagHeading == -60)
    }

    @Test @TendonActor func updatesLoseNothing() async throws {
        var options = SimulatedBelt.Options()
        options.isFlatOut = true
        options.limit = 10_000
        let site = try await Site(options)
        let commands = try await site.connected().commandManager
        let updates = commands.updates(capacity: 16_384)
        commands.startOrientationNotifications()
        var headings: [Int] = []
        for await update in updates {
            if case .orientation(let orientation) = update { headings.append(orientation.beltMagHeading) }
            if headings.count == 10_000 { break }
        }
        #expect(headings.enumerated().allSatisfy { ($1 + 360) % 360 == $0 % 360 })
        #expect(updates.dropped == 0)
    }

    /// What was reported is what a sequence delivered and what it dropped.
    @Test @TendonActor func countersAddUp() async throws {
        var options = SimulatedBelt.Options()
        options.isFlatOut = true
        options.limit = 5_000
        let site = try await Site(options)
        let commands = try await site.connected().commandManager
        await eventually("the last answer of the handshake") { commands.beltHeadingOffset == 45 }
        let before = commands.counters
        let updates = commands.updates(capacity: 16)
        commands.startOrientationNotifications()
        await eventually("all orientations") { commands.counters.orientations == 5_000 }
        commands.stopOrientationNotifications()
        var delivered: UInt64 = 0
        for await _ in updates.ending(after: .milliseconds(300)) { delivered += 1 }
        #expect(updates.dropped > 0)
        #expect(commands.counters.reported - before.reported == delivered + updates.dropped)
        #expect(commands.counters.notifications - before.notifications >= 5_000)
        #expect(commands.counters.commands == before.commands + 2)
    }

    @Test @TendonActor func malformedPacketsChangeNothing() async throws {
        let site = try await Site()
        let commands = try await site.connected().commandManager
        let updates = commands.updates
        for kind in SimulatedBelt.Malformation.allCases where kind != .garbage {
            await site.belt.inject(kind)
            await site.belt.changeMode(kind == .cut ? .wait : .compass)
        }
        var rejected = 0
        for await update in updates.ending(after: .seconds(2)) {
            if case .rejected = update { rejected += 1 }
            if rejected == 2 { break }
        }
        #expect(rejected >= 2)
        #expect(commands.counters.rejected >= 2)
    }

    @Test @TendonActor func withoutAConnectionNothingIsSent() async throws {
        let commands = FSConnectionManager(radio: .virtual(directory: "/tmp/tendon-nothing")).commandManager
        #expect(!commands.changeBeltMode(.app) && commands.lastError?.layer == .base)
        #expect(!commands.signal(signalType: .warning))
        #expect(!commands.stopVibration() && !commands.startOrientationNotifications())
        await #expect(throws: TendonError.self) { try await commands.confirmed { $0.changeBeltMode(.app) } }
        #expect(commands.firmwareVersion == -1 && commands.mode == .unknown && commands.beltHeadingOffset == nil)
    }

    @Test @TendonActor func theFrontRangeOfNewerHardwareIsPatched() async throws {
        var options = SimulatedBelt.Options()
        options.isNewerHardware = true
        options.isUnpatched = true
        let site = try await Site(options)
        let commands = try await site.connected().commandManager
        await eventually("patched") { commands.firmwarePatch == "patch 1" }
        let again = try await Site(
            {
                options.isUnpatched = false; return options
            }()
        ).connected().commandManager
        await eventually("in place") { again.firmwarePatch == "patch 1 confirmed" }
    }

    // MARK: Outcomes

    @Test @TendonActor func aClosureThatQueuesNothingEndsAtOnce() async throws {
        let site = try await Site()
        let commands = try await site.connected().commandManager
        try await commands.confirmed { _ in true }
        try await commands.confirmed { $0.startOrientationNotifications() }
        try await commands.confirmed { $0.startOrientationNotifications() }
        await #expect(throws: TendonError.self) { try await commands.confirmed { _ in false } }
        // The failure of an earlier command is not taken for its own.
        await site.belt.setSilent(true)
        await #expect { try await commands.confirmed { $0.changeBeltMode(.wait) } } throws: {
            ($0 as? TendonError)?.isTimeout == true
        }
        try await commands.confirmed { _ in true }
    }

    @Test @TendonActor func pulsesArriveByteForByte() async throws {
        let site = try await Site()
        let commands = try await site.connected().commandManager
        try await commands.confirmed { $0.changeBeltMode(.app) }
        try await commands.confirmed { $0.pulseAtMagneticBearing(direction: 270, onDuration: 300, period: 1000) }
        try await commands.confirmed {
            $0.pulseAtAngle(angle: -90, onDuration: 20, period: 400, iterations: 2, intensity: 40, channelIndex: 3)
        }
        var pulse = FSPulse()
        pulse.channelIndex = 2
        pulse.orientationType = .vibromotorIndex
        pulse.orientation = 15
        pulse.intensity = 7
        pulse.onDuration = 11
        pulse.pulsePeriod = 22
        pulse.pulses = 3
        pulse.seriesPeriod = 99
        pulse.series = 4
        pulse.timer = .keep
        pulse.exclusiveChannel = true
        pulse.clearOtherChannels = true
        try await commands.confirmed { $0.pulse(pulse) }
        let written = await site.vibrations()
        #expect(
            written == [
                [0x40, 1, 3, 0x0E, 0x01, 0xAA, 0x2C, 0x01, 1, 0, 0xE8, 0x03, 0xE8, 0x03, 1, 0, 0],
                [0x40, 3, 2, 0x0E, 0x01, 40, 20, 0, 1, 2, 0x90, 0x01, 0x90, 0x01, 1, 0, 0],
                [0x40, 2, 1, 15, 0, 7, 11, 0, 3, 4, 22, 0, 99, 0, 2, 1, 1],
            ])
        let rejected = [
            commands.pulseAtAngle(angle: .nan, onDuration: 20, period: 400),
            commands.pulseAtMagneticBearing(direction: .infinity, onDuration: 20, period: 400),
        ]
        #expect(rejected == [false, false] && commands.lastError != nil)
    }

    @Test @TendonActor func anyNumberWaitForOneCommand() async throws {
        let site = try await Site()
        let commands = try await site.connected().commandManager
        var outcomes: [Int] = []
        for number in 0..<3 {
            commands.confirmed({ number == 0 ? $0.changeBeltMode(.app) : $0.requestCompassAccuracySignalState() }) {
                #expect($0 == nil)
                outcomes.append(number)
            }
        }
        await eventually("all of them") { outcomes.sorted() == [0, 1, 2] }
    }

    @Test @TendonActor func aCancelledWaitEnds() async throws {
        let site = try await Site()
        let commands = try await site.connected().commandManager
        await site.belt.setSilent(true)
        for delay in [0, 1, 50] {
            let task = Task { @TendonActor in try await commands.confirmed { $0.changeBeltMode(.app) } }
            if delay > 0 { try await Task.sleep(for: .milliseconds(delay)) }
            task.cancel()
            let result = await endsInTime(task)
            #expect(throws: TendonError.cancelled) { try result.get() }
        }
        // Those that waited are forgotten; the belt's silence ends the commands later.
        await eventually("the commands ended") { commands.counters.commands >= 2 }
    }

    @Test @TendonActor func theEndOfTheConnectionEndsAWait() async throws {
        let site = try await Site()
        let manager = try await site.connected()
        await site.belt.setSilent(true)
        let isRequested = Flag()
        let task = Task { @TendonActor in
            try await manager.commandManager.confirmed {
                isRequested.set()
                return $0.changeBeltMode(.app)
            }
        }
        await eventually("requested") { isRequested.isSet }
        manager.disconnectBelt()
        let error = await #expect(throws: TendonError.self) { try await task.value }
        #expect(error?.isCancelled == true)
    }

    @Test @TendonActor func standbyIsDoneWhenTheBeltDisconnects() async throws {
        let site = try await Site()
        let manager = try await site.connected()
        try await manager.commandManager.confirmed { $0.changeBeltMode(.standby) }
        await eventually("off") { manager.state == .notConnected }
    }

    /// A stop that the belt ignores is no stop.
    @Test(arguments: [FSBeltMode.wait, .pause, .compass])
    @TendonActor func whatTheBeltIgnoresIsNotConfirmed(mode: FSBeltMode) async throws {
        let site = try await Site()
        let commands = try await site.connected().commandManager
        if mode != .wait { try await commands.confirmed { $0.changeBeltMode(mode) } }
        let error = await #expect(throws: TendonError.self) { try await commands.confirmed { $0.stopVibration() } }
        #expect(error?.name == "FEELSPACE_ERROR_WRONG_MODE")
        #expect(await site.belt.writes.last?.outcome == .wrongMode)
        try await commands.confirmed {
            $0.configureVibrationChannel(
                channelIndex: 0, pattern: .continuous, orientationType: .angle, orientation: 0, patternIterations: 100,
                patternPeriod: 60_000, exclusiveChannel: false, clearOtherChannels: false)
        }
        try await commands.stopAllVibration()
        #expect(commands.mode == mode)
        let writes = await site.belt.writes.filter { $0.characteristic == 0xFE03 }
        #expect(writes.last?.bytes == [0x30, 0xFF] && writes.last?.outcome == .taken)
    }

    /// App mode is requested first, without waiting: the vibration behind it is done.
    @Test @TendonActor func whatFollowsAppModeIsConfirmed() async throws {
        let site = try await Site()
        let commands = try await site.connected().commandManager
        commands.changeBeltMode(.app)
        try await commands.confirmed { $0.vibrateAtAngle(angle: 0) }
        #expect(await site.belt.writes.last?.outcome == .taken)
    }

    // MARK: Mapping

    /// Each kind of the C core's events, field by field.
    @Test func updatesOfTheCore() {
        var session = tendon_feelspace_session()
        var event = tendon_feelspace_event()
        func update(_ kind: tendon_feelspace_event_kind) -> String {
            event.kind = kind
            return FSCommandUpdate(event, session).map { "\($0)" } ?? "nil"
        }
        session.mode = 4
        session.default_intensity = 37
        session.heading_offset = 271
        session.battery.power_status = 2
        session.battery.level_percent = 12.5
        session.battery.tte_ttf_s = 90
        session.orientation.heading = -90
        session.orientation.accurate = true
        session.orientation.accuracy_deg = 7
        #expect(update(TENDON_FEELSPACE_EVENT_MODE) == "modeChanged(TendonFeelSpace.FSBeltMode.pause)")
        #expect(update(TENDON_FEELSPACE_EVENT_DEFAULT_INTENSITY) == "defaultIntensityChanged(37)")
        #expect(update(TENDON_FEELSPACE_EVENT_HEADING_OFFSET) == "headingOffsetChanged(271)")
        guard
            case .battery(let battery)? = FSCommandUpdate(
                {
                    event.kind = TENDON_FEELSPACE_EVENT_BATTERY; return event
                }(), session),
            case .orientation(let orientation)? = FSCommandUpdate(
                {
                    event.kind = TENDON_FEELSPACE_EVENT_ORIENTATION; return event
                }(), session)
        else {
            Issue.record("no battery, or no orientation")
            return
        }
        #expect(battery.powerStatus == .charging && battery.batteryLevel == 12.5 && battery.batteryTteTtf == 90)
        #expect(orientation.beltMagHeading == -90 && !orientation.beltCompassInaccurate && orientation.accuracy == 7)
        event.press.button = 3
        event.press.is_long = true
        event.press.previous_mode = 1
        event.press.new_mode = 5
        #expect(
            update(TENDON_FEELSPACE_EVENT_BUTTON)
                == "buttonPressed(TendonFeelSpace.FSBeltButton.compass, TendonFeelSpace.FSPressType.longPress, "
                + "previousMode: TendonFeelSpace.FSBeltMode.wait, newMode: TendonFeelSpace.FSBeltMode.calibration)")
        event.command.id = 77
        event.status = 0
        #expect(update(TENDON_FEELSPACE_EVENT_COMMAND) == "commandFinished(77, nil)")
        event.status = Int32(TENDON_ERROR_TIMEOUT)
        if case .commandFinished(77, let error)? = FSCommandUpdate(event, session) {
            #expect(error?.isTimeout == true)
        } else {
            Issue.record("no command")
        }
        #expect(update(TENDON_FEELSPACE_EVENT_PARAMETER) == "nil")
        for state in Int8(-1)...3 {
            session.accuracy_state = state
            event.kind = TENDON_FEELSPACE_EVENT_ACCURACY_SIGNAL
            if case .accuracySignal(let signal)? = FSCommandUpdate(event, session) {
                #expect(signal.inCompass == (state & 1 != 0) && signal.inApp == (state & 2 != 0))
            } else {
                #expect(state == -1)
            }
        }
    }

    /// Each update calls its own method, with its own values.
    @Test @TendonActor func updatesCallTheirHandlers() {
        let witness = Witness()
        for (inApp, inCompass) in [(false, false), (true, false), (false, true), (true, true)] {
            FSCommandUpdate.accuracySignal(FSAccuracySignal(inApp: inApp, inCompass: inCompass)).deliver(to: witness)
            #expect(witness.news.last == "signal \(inApp || inCompass)")
        }
        FSCommandUpdate.modeChanged(.crossing).deliver(to: witness)
        FSCommandUpdate.defaultIntensityChanged(5).deliver(to: witness)
        FSCommandUpdate.headingOffsetChanged(6).deliver(to: witness)
        FSCommandUpdate.buttonPressed(.power, .shortPress, previousMode: .wait, newMode: .standby).deliver(to: witness)
        FSCommandUpdate.battery(FSBatteryStatus()).deliver(to: witness)
        FSCommandUpdate.commandFinished(1, nil).deliver(to: witness)
        FSCommandUpdate.debugOutput([1]).deliver(to: witness)
        #expect(
            witness.news.suffix(5) == [
                "mode crossing", "intensity 5", "offset 6", "power shortPress wait standby", "battery -1.0 unknown",
            ])
        #expect(witness.unnamed == [.unknown])
    }

    /// An error names the argument that is out of its range.
    @Test @TendonActor func errorsNameTheArgument() async throws {
        let site = try await Site()
        let commands = try await site.connected().commandManager
        func expect(_ name: String, _ command: (FSCommandManager) -> Bool) {
            #expect(!command(commands))
            #expect(commands.lastError?.operation == .write && commands.lastError?.detail == name)
            #expect(commands.lastError?.description.hasPrefix("write, \(name): ") == true)
        }
        func configure(
            _ channel: Int = 1, intensity: Int = -1, orientation: Int = 0, iterations: Int = 1, period: Int = 500
        ) -> (FSCommandManager) -> Bool {
            {
                $0.configureVibrationChannel(
                    channelIndex: channel, pattern: .continuous, intensity: intensity,
                    orientationType: .vibromotorIndex,
                    orientation: orientation, patternIterations: iterations, patternPeriod: period,
                    exclusiveChannel: false, clearOtherChannels: false)
            }
        }
        expect("intensity 101") { $0.changeDefaultIntensity(101) }
        expect("degrees 360") { $0.changeHeadingOffset(360) }
        expect("requestedMode calibration") { $0.changeBeltMode(.calibration) }
        expect("channelIndex 4") { $0.stopVibration(4) }
        expect("intensity 101") { $0.vibrateAtAngle(angle: 0, intensity: 101) }
        expect("channelIndex 9") { $0.vibrateAtAngle(angle: 0, channelIndex: 9) }
        expect("direction nan") { $0.vibrateAtAngle(angle: .nan) }
        expect("channelIndex 4", configure(4))
        expect("intensity 101", configure(intensity: 101))
        expect("patternIterations 256", configure(iterations: 256))
        expect("patternPeriod 65536", configure(period: 65536))
        var pulse = FSPulse()
        pulse.pulses = 0
        expect("pulses 0") { $0.pulse(pulse) }
    }

    @Test @TendonActor func limitsAreNotExceeded() async throws {
        let site = try await Site()
        let commands = try await site.connected().commandManager
        for (seconds, expected) in [(0.5, 0.5), (-1, 0), (.nan, 0), (.infinity, 4_294_967.295), (1e300, 4_294_967.295)]
        {
            #expect(commands.startOrientationNotifications(minPeriod: seconds))
            #expect(commands.orientationNotifMinPeriod == expected)
        }
        #expect(!commands.startOrientationNotifications(minHeadingVariation: .max))
        #expect(!commands.changeDefaultIntensity(.max) && !commands.changeHeadingOffset(.min))
    }
}
