// SPDX-License-Identifier: MIT
// feelSpace: serves one belt for `run` and `stream`.
import CTendon
import Synchronization
import Tendon
import TendonFeelSpace
import TendonSupport

/// The stream options of a belt.
struct FeelspaceStream: FamilyStream {
    /// Milliseconds; nil: the belt's.
    let period: Int?

    /// Percent; nil: the belt's.
    let defaultIntensity: Int?

    private static let orientationPeriod = Option(
        name: "--orientation-period", value: "MS", help: "time between two headings; default: the belt's 500",
        takes: .milliseconds(20...65535))
    private static let intensity = Option(
        name: "--default-intensity", value: "PERCENT",
        help: "vibration intensity that the belt uses if a signal has none; default: the setting of the belt",
        takes: .integer(5...100))
    static let options = [orientationPeriod, intensity]

    init(_ arguments: Arguments) throws(CommandError) {
        period = try arguments.milliseconds(Self.orientationPeriod)
        defaultIntensity = try arguments.integer(Self.intensity)
    }

    static let happenings = [
        RuleEvent(
            name: "button", details: FeelspaceWords.buttons.map(\.name),
            sources: [RuleSource("button", detail: "button")]),
        RuleEvent(
            name: "mode", details: FeelspaceWords.modes.map(\.name) + ["calibration"],
            sources: [
                RuleSource("mode", detail: "mode"), RuleSource("button", detail: "mode", unlike: "previous_mode"),
            ]),
    ]
    static let values = [RuleValue(name: "heading", event: "sample", member: "heading_deg"), RuleValue.battery]

    static let actions = RuleAction.all(of: "feelspace")

    static func advice(on cause: TendonError) -> String? {
        let pairing = "hold its home button until it pulses fast, then try again"
        if cause.status == Int32(TENDON_RADIO_ERROR_PAIRING_FAILED) {
            return "the belt is not in pairing mode: \(pairing)"
        }
        guard tendon_ending_of(cause.status) == TENDON_ENDING_DEVICE_DISCONNECTED else { return nil }
        return "a belt has one connection: if another device or program is connected to it, disconnect that one; if it "
            + "is in standby mode, switch it on; if it requires pairing, \(pairing)"
    }

    @TendonActor
    func server(of device: ServedDevice) -> any DeviceServer { FeelspaceServer(self, device) }
}

extension FSCommandManager {
    /// Sends what a rule has the belt do. False: it is not connected, or has no such command.
    fileprivate func send(_ call: FamilyCall) -> Bool {
        switch call.kind {
        case TENDON_ACT_FEELSPACE_SIGNAL:
            UInt8(exactly: call.number).flatMap(FSSystemSignal.init).map { signal(signalType: $0) } ?? false
        case TENDON_ACT_FEELSPACE_VIBRATE:
            // On channel 0, once: belts take that in every mode.
            configureVibrationChannel(
                channelIndex: 0, pattern: .continuous, orientationType: .angle, orientation: call.number,
                patternIterations: 1, patternPeriod: 1000, exclusiveChannel: false, clearOtherChannels: false)
        case TENDON_ACT_FEELSPACE_MODE:
            UInt8(exactly: call.number).flatMap(FSBeltMode.init).map { changeBeltMode($0) } ?? false
        case TENDON_ACT_FEELSPACE_STOP: stopVibration()
        default: false
        }
    }
}

/// One belt.
@TendonActor
private final class FeelspaceServer: DeviceServer {
    let served: ServedDevice
    private let wanted: FeelspaceStream
    private let manager: FSConnectionManager
    private var commands: FSCommandManager { manager.commandManager }

    init(_ wanted: FeelspaceStream, _ served: ServedDevice) {
        self.wanted = wanted
        self.served = served
        manager = FSConnectionManager(on: served.central)
    }

    func open() async throws(ServingError) {
        do throws(FSConnectionError) {
            try await manager.connect(to: FSBelt(address: served.address))
        } catch {
            if Task.isCancelled { throw .cancelled }
            throw .failed(describe(error), canRetry: true)
        }
    }

    var identity: JSON {
        [
            "firmware": .string("\(commands.firmwareVersion)"),
            "variant": commands.firmwareVariant < 0 ? .null : JSON(commands.firmwareVariant),
            "mode": .string("\(commands.mode)"), "intensity_percent": JSON(commands.defaultIntensity),
        ]
    }

    func stream() async -> Ending {
        let ends = manager.updates
        let updates = commands.onUpdate { [self] in take($0) }
        defer { updates.cancel() }
        if commands.beltBatteryStatus.batteryLevel >= 0 { take(.battery(commands.beltBatteryStatus)) }
        if let period = wanted.period { commands.changeOrientationPeriod(period) }
        if let intensity = wanted.defaultIntensity, intensity != commands.defaultIntensity {
            // Without the signal of the belt: its wearer did not change it.
            commands.changeDefaultIntensity(intensity, feedbackSignal: false)
        }
        if !commands.startOrientationNotifications(), let error = commands.lastError {
            served.event("configuration_failed", ["text": .string(describe(error))])
        }
        served.show("connected", note: "\(commands.mode)")
        var reason: FSConnectionError?
        var iterator = ends.makeAsyncIterator()
        while manager.state == .connected, let end = await iterator.next(isolation: TendonActor.shared) {
            if case .stateChanged(_, .notConnected, _, let error) = end { reason = error }
        }
        let isCancelled = Task.isCancelled
        manager.disconnectBelt()
        count()
        guard !isCancelled else { return .requested }
        return Ending(TENDON_ENDING_CONNECTION_LOST, text: reason.map(describe))
    }

    func perform(_ call: any RuleCall) async throws(CommandError) {
        guard let call = call as? FamilyCall else { return }
        let before = commands.mode
        // A belt takes this in app mode only.
        let changesMode = call.kind == TENDON_ACT_FEELSPACE_STOP && before != .app
        do throws(TendonError) {
            if changesMode { try await commands.confirmed { $0.changeBeltMode(.app) } }
            try await commands.confirmed { $0.send(call) }
            if changesMode, before != .unknown, before != .calibration {
                try await commands.confirmed { $0.changeBeltMode(before) }
            }
        } catch {
            throw CommandError(error)
        }
    }

    /// The counters of what the belt sent.
    private func count() {
        let counters = commands.counters
        served.update { row in
            row.counters.malformed = UInt64(counters.rejected)
            row.counters.skipped = UInt64(counters.unsupported)
        }
    }

    private func take(_ update: FSCommandUpdate) {
        guard case .orientation(let orientation) = update else {
            FeelspaceLines.print(update) { served.reporter.events.event($0, served.label, at: nil, $1) }
            FeelspaceServer.tell(update, served)
            return
        }
        let isTable = served.reporter.isTable
        served.sample(numbers: orientation.numbers) {
            orientation.write(to: &$0)
        } row: { row in
            row.counters.notifications += 1
            row.counters.samples += 1
            guard isTable else { return }
            row.readings = [
                Reading(name: "heading", value: Double(orientation.beltMagHeading), unit: "°", decimals: 0)
            ]
        }
        served.stopAtLimit()
    }

    private static func tell(_ update: FSCommandUpdate, _ served: ServedDevice) {
        switch update {
        case .modeChanged(let mode): served.update { $0.note = "\(mode)" }
        case .buttonPressed(let button, _, _, let new): served.update { $0.note = "\(button), \(new)" }
        case .battery(let status): served.update { $0.battery = Int(status.batteryLevel) }
        case .rejected: served.update { $0.counters.malformed += 1 }
        default: break
        }
    }
}

/// The error as one line. Advice depends on the cause: see `FeelspaceStream.advice(on:)`.
func describe(_ error: FSConnectionError) -> String {
    switch error {
    case .pairingFailed: "pairing with the belt failed"
    case .gattDiscoveryPermissionError, .handshakePermissionError: "the belt requires pairing"
    default: error.localizedDescription
    }
}
