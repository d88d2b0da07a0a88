// SPDX-License-Identifier: MIT
import CTendon
import Tendon
import Testing

@testable import TendonFeelSpace

private final class Witness: FSCommandDelegate {
    private(set) var news: [String] = []
    private(set) var orientations: [FSBeltOrientation] = []

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
        await eventually("home") { witness.news.last == "home short wait wait" }
        await site.belt.press(.compass, .long)
        await eventually("compass, long") { witness.news.last == "compass long wait calibration" }
        // One callback for a change of mode, not two.
        await site.belt.changeMode(.compass)
        await eventually("mode") { witness.news.last == "mode compass" }
        #expect(witness.news.filter { $0.hasPrefix("mode") } == ["mode compass"])
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
        // What the belt does not answer is told as a time-out.
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
        #expect(await site.belt.counters.refused_writes == 0)
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
                channelIndex: 0, pattern: .singleLong, orientationType: .angle, orientation: 270, patternIterations: 5,
                patternPeriod: 1000, exclusiveChannel: false, clearOtherChannels: false)
        }
        #expect(commands.lastWarnings == [])
        #expect(await site.belt.writes.suffix(2).map(\.outcome) == [.wrongMode, .taken])
        #expect(await site.belt.motors[12] == 50)
    }

    /// What no packet can be is refused here; what the belt refuses is told with the belt's own code.
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
        #expect(await site.belt.counters.refused_writes == 0)
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
        #expect(await site.belt.counters.refused_writes == 1)
        #expect(await site.belt.writes.last?.outcome == .badLength)
        // The queue goes on.
        try await commands.confirmed { $0.stopVibration() }
    }

    @Test @TendonActor func errorLog() async throws {
        let site = try await Site()
        let commands = try await site.connected().commandManager
        await site.belt.raiseError(0xA1)
        await site.belt.raiseError(0xA2)
        var logged: [UInt32]?
        #expect(
            commands.requestBeltErrorLog { entries, error in
                logged = error == nil ? entries.map(\.code) : nil
            })
        await eventually("the log") { logged == [0xA1, 0xA2] }
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
        // Only what is far enough from the last one told.
        commands.startOrientationNotifications(minPeriod: 0, minHeadingVariation: 10)
        let before = witness.orientations.count
        await site.belt.setHeading(275)
        try await Task.sleep(for: .milliseconds(100))
        #expect(witness.orientations.count <= before + 1)
        await site.belt.setHeading(300)
        await eventually("a turn") { witness.orientations.last?.beltMagHeading == -60 }
        try await commands.confirmed { $0.stopOrientationNotifications() }
        #expect(!commands.orientationNotifEnabled && commands.beltOrientation == nil)
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
        for try await update in updates {
            if case .orientation(let orientation) = update { headings.append(orientation.beltMagHeading) }
            if headings.count == 10_000 { break }
        }
        #expect(headings.enumerated().allSatisfy { ($1 + 360) % 360 == $0 % 360 })
        #expect(updates.dropped == 0)
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
        for try await update in updates.ending(after: .seconds(2)) {
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
}
