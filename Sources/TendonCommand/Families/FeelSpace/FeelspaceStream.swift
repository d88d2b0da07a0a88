// SPDX-License-Identifier: MIT
// feelSpace: serves one belt for `run` and `stream`.
import CTendon
import Tendon
import TendonFeelSpace
import TendonSupport

/// What the options want of a belt.
struct FeelspaceStream: FamilyStream {
    /// Milliseconds; nil: the belt's.
    let period: Int?

    static let options: [Option] = [
        Option(
            name: "--orientation-period", value: "MS",
            help: "feelspace: time between two headings, 20 at least; default: the belt's 500")
    ]

    init(_ arguments: Arguments) throws(CommandError) {
        period = try arguments.integer("--orientation-period", in: 20...65535)
    }

    static let happenings = [
        RuleEvent(name: "button", details: FeelspaceWords.buttons.map(\.name)),
        RuleEvent(name: "mode", details: FeelspaceWords.modes.map(\.name) + ["calibration"]),
    ]

    static let actions = [
        RuleAction(name: "signal", arguments: "warning|goal_reached|battery") { (words) throws(CommandError) in
            let signal = try FeelspaceCall.one(words, FeelspaceWords.systemSignals, "signal")
            return FeelspaceCall { $0.signal(signalType: signal) }
        },
        RuleAction(name: "vibrate", arguments: "ANGLE") { (words) throws(CommandError) in
            guard words.count == 1, let angle = Int(words[0]) else { throw .usage("vibrate takes an angle in degrees") }
            // On channel 0, once: belts take that in every mode.
            return FeelspaceCall {
                $0.configureVibrationChannel(
                    channelIndex: 0, pattern: .continuous, orientationType: .angle, orientation: angle,
                    patternIterations: 1, patternPeriod: 1000, exclusiveChannel: false, clearOtherChannels: false)
            }
        },
        RuleAction(name: "mode", arguments: "MODE") { (words) throws(CommandError) in
            let mode = try FeelspaceCall.one(words, FeelspaceWords.modes, "mode")
            return FeelspaceCall { $0.changeBeltMode(mode) }
        },
        RuleAction(name: "stop", arguments: "") { (words) throws(CommandError) in
            guard words.isEmpty else { throw .usage("it takes no arguments, not '\(sanitized(words[0]))'") }
            return FeelspaceCall { $0.stopVibration() }
        },
    ]

    @TendonActor
    func server(of device: ServedDevice) -> any DeviceServer { FeelspaceServer(self, device) }
}

/// What a rule can have done.
struct FeelspaceCall: RuleCall {
    let command: @TendonActor @Sendable (FSCommandManager) -> Bool

    init(_ command: @escaping @TendonActor @Sendable (FSCommandManager) -> Bool) { self.command = command }

    static func one<Value>(
        _ words: [String], _ table: [(name: String, value: Value)], _ what: String
    ) throws(CommandError) -> Value {
        guard words.count == 1 else {
            throw .usage("\(what) takes one of: \(table.map(\.name).joined(separator: ", "))")
        }
        return try FeelspaceWords.find(words[0], table, what)
    }
}

/// One belt.
@TendonActor
private final class FeelspaceServer: DeviceServer {
    let served: ServedDevice
    private let wanted: FeelspaceStream
    private let manager: FSConnectionManager
    private var dropped: UInt64 = 0
    private var orientations: UInt64 = 0
    private var commands: FSCommandManager { manager.commandManager }

    init(_ wanted: FeelspaceStream, _ served: ServedDevice) {
        self.wanted = wanted
        self.served = served
        // The command's centrals are on the shared loop.
        manager = try! FSConnectionManager(on: served.central)
    }

    func open() async throws(ServingError) {
        do throws(FSConnectionError) {
            try await manager.connect(to: FSBelt(address: served.address))
        } catch {
            if Task.isCancelled { throw .cancelled }
            throw .failed("\(error)", mayMend: true)
        }
    }

    var identity: JSON {
        [
            "firmware": JSON(commands.firmwareVersion),
            "variant": commands.firmwareVariant < 0 ? .null : JSON(commands.firmwareVariant),
            "mode": .string("\(commands.mode)"), "default_intensity": JSON(commands.defaultIntensity),
        ]
    }

    func stream() async -> String? {
        let ends = manager.updates
        let updates = commands.updates(capacity: served.settings.capacity)
        let consumer = consume(updates)
        let level = commands.beltBatteryStatus.batteryLevel
        if level >= 0 { served.update { $0.battery = Int(level) } }
        if let period = wanted.period { commands.changeOrientationPeriod(period) }
        if !commands.startOrientationNotifications(), let error = commands.lastError {
            served.event("configuration_failed", ["error": .string(error.description)])
        }
        served.show("open", note: "\(commands.mode)")
        var reason: FSConnectionError?
        var iterator = ends.makeAsyncIterator()
        while manager.state == .connected, let end = try? await iterator.next(isolation: TendonActor.shared) {
            if case .stateChanged(_, .notConnected, _, let error) = end { reason = error }
        }
        let isCancelled = Task.isCancelled
        manager.disconnectBelt()
        consumer.cancel()
        await consumer.value
        dropped += updates.dropped
        return isCancelled ? nil : reason.map { "\($0)" }
    }

    func perform(_ call: any RuleCall) async throws(CommandError) {
        guard let call = call as? FeelspaceCall else { return }
        do throws(TendonError) {
            try await commands.confirmed(call.command)
        } catch {
            throw CommandError(error)
        }
    }

    // MARK: What the belt tells; not on the loop, so that output never holds it

    private func consume(_ updates: EventSequence<FSCommandUpdate>) -> Task<Void, Never> {
        let (served, before) = (served, dropped)
        return Task.detached { [weak self] in
            var iterator = updates.makeAsyncIterator()
            var count = 0
            while let update = try? await iterator.next() {
                if let line = FeelspaceLines.line(update), case .object(let members) = line,
                    let name = line["event"]?.string
                {
                    served.event(name, .object(members.filter { $0.key != "event" }))
                }
                guard case .orientation(let orientation) = update else {
                    FeelspaceServer.tell(update, served)
                    continue
                }
                count += 1
                served.update { row in
                    row.counters.notifications += 1
                    row.counters.samples += 1
                    row.counters.delivered += 1
                    row.counters.dropped = before + updates.dropped
                    row.readings = [
                        Reading(name: "heading", value: Double(orientation.beltMagHeading), unit: "°", decimals: 0)
                    ]
                }
                served.stopAtLimit()
                if count == served.settings.pauseAt { try? await Task.sleep(for: .seconds(served.settings.pauseFor)) }
            }
            _ = self
        }
    }

    private nonisolated static func tell(_ update: FSCommandUpdate, _ served: ServedDevice) {
        switch update {
        case .modeChanged(let mode):
            served.update { $0.note = "\(mode)" }
            served.happened("mode", "\(mode)")
        case .buttonPressed(let button, _, let previous, let new):
            served.update { $0.note = "\(button), \(new)" }
            served.happened("button", "\(button)")
            if previous != new { served.happened("mode", "\(new)") }
        case .battery(let status): served.update { $0.battery = Int(status.batteryLevel) }
        case .rejected: served.update { $0.counters.malformed += 1 }
        default: break
        }
    }
}
