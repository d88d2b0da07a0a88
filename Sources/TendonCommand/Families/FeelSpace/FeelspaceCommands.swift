// SPDX-License-Identifier: MIT
// feelspace vibrate, navigate, signal, intensity, mode, stop: a belt from the shell.
import CTendon
import Tendon
import TendonFeelSpace
import TendonSupport

private let directionOptions = [
    Option(name: "--bearing", value: "DEGREES", help: "from magnetic north, clockwise; whole turns do not count"),
    Option(name: "--angle", value: "DEGREES", help: "from the front of the belt, clockwise; whole turns do not count"),
]

extension Command {
    static let feelspaceVibrate = Command(
        "feelspace vibrate",
        summary: "make a feelSpace belt vibrate",
        details: [
            "Sets the belt to app mode, vibrates for --for seconds (default 3) or until --iterations end, and restores "
                + "the mode of the belt. Uses the first belt in range, or the one given by --address."
        ],
        options: DeviceAccess.options + directionOptions + [
            Option(
                name: "--motors", value: "LIST",
                help: "motor numbers separated by commas, 0 (front) to 15, clockwise; at most six"),
            Option(
                name: "--pattern", value: "NAME",
                help: FeelspaceWords.patterns.map(\.name).joined(separator: ", ") + "; default: continuous",
                choices: FeelspaceWords.patterns.map(\.name)),
            Option(name: "--intensity", value: "PERCENT", help: "0 to 100; default: the setting of the belt"),
            Option(name: "--channel", value: "N", help: "0 to 3; default 1"),
            Option(name: "--iterations", value: "N", help: "repetitions of the pattern, 1 to 127; default: endless"),
            Option(name: "--period", value: "MS", help: "duration of one iteration; default 500"),
        ],
        examples: [
            ("tendon feelspace vibrate --bearing 90 --pattern continuous --intensity 40", "toward East"),
            (
                "tendon feelspace vibrate --angle 270 --pattern single_long --iterations 5 --period 1000",
                "vibrate five times on the left"
            ),
        ]
    ) { (arguments: Arguments) throws(CommandError) in
        let vibration = try FeelspaceVibration(arguments)
        let hold = try arguments.duration() ?? vibration.duration ?? 3000
        try await FeelspaceAccess(arguments, "feelspace vibrate").withDevice { (belt) throws(CommandError) in
            try await belt.inAppMode { (belt) throws(CommandError) in
                try await belt.ask { vibration.start($0) }
                try await belt.hold(for: hold)
                try await belt.ask { $0.stopVibration() }
            }
            await belt.done("feelspace vibrate")
        }
        return .done
    }

    static let feelspaceNavigate = Command(
        "feelspace navigate",
        summary: "navigate with a feelSpace belt and its buttons",
        details: [
            "Ends on Ctrl-C or after --for. The pause, home and compass buttons work as in the vendor's applications; events "
                + "are printed, as JSON lines in a pipe."
        ],
        options: DeviceAccess.options + directionOptions + [
            Option(
                name: "--signal", value: "NAME", help: "default: navigation",
                choices: FeelspaceWords.navigationSignals.map(\.name))
        ],
        examples: [("tendon feelspace navigate --bearing 90", "navigate east until Ctrl-C")]
    ) { (arguments: Arguments) throws(CommandError) in
        guard let direction = try FeelspaceDirection(arguments) else {
            throw .usage(
                "feelspace navigate needs --bearing or --angle", next: "tendon feelspace navigate --bearing 90")
        }
        let name = arguments.value("--signal") ?? "navigation"
        let signal = try FeelspaceWords.find(name, FeelspaceWords.navigationSignals, "signal")
        let duration = try arguments.duration()
        try await FeelspaceAccess(arguments, "feelspace navigate").withDevice { (belt) throws(CommandError) in
            try await belt.navigate(direction, signal, for: duration)
        }
        return .done
    }

    static let feelspaceSignal = Command(
        "feelspace signal", operands: "warning|goal_reached|battery",
        summary: "start a built-in signal of a feelSpace belt",
        options: DeviceAccess.options,
        common: Command.once,
        examples: [("tendon feelspace signal warning", "play the warning signal, in any mode of the belt")]
    ) { (arguments: Arguments) throws(CommandError) in
        let signal = try FeelspaceWords.operand(arguments, FeelspaceWords.systemSignals, "feelspace signal", "signal")
        try await FeelspaceAccess(arguments).withDevice { (belt) throws(CommandError) in
            try await belt.ask { $0.signal(signalType: signal) }
            await belt.done("feelspace signal")
        }
        return .done
    }

    static let feelspaceIntensity = Command(
        "feelspace intensity", operands: "[PERCENT]",
        summary: "print or change the default intensity of a feelSpace belt",
        details: ["5 to 100 percent; the belt vibrates once at the new intensity and stores it."],
        options: DeviceAccess.options,
        common: Command.once,
        examples: [
            ("tendon feelspace intensity", "print it"), ("tendon feelspace intensity 40", "change it"),
        ]
    ) { (arguments: Arguments) throws(CommandError) in
        guard arguments.operands.count <= 1 else { throw .usage("feelspace intensity takes one number") }
        var wanted: Int?
        if let word = arguments.operands.first {
            guard let percent = Int(word), (5...100).contains(percent) else {
                throw .usage("an intensity is 5 to 100, not '\(sanitized(word))'")
            }
            wanted = percent
        }
        let percent = wanted
        try await FeelspaceAccess(arguments).withDevice { (belt) throws(CommandError) in
            if let percent { try await belt.ask { $0.changeDefaultIntensity(percent) } }
            await belt.showIntensity()
        }
        return .done
    }

    static let feelspaceMode = Command(
        "feelspace mode", operands: "[MODE]",
        summary: "print or change the mode of a feelSpace belt",
        details: [
            "standby (off), wait, compass, app, pause, crossing. A belt leaves app mode when the connection ends: --for keeps "
                + "it."
        ],
        options: DeviceAccess.options,
        examples: [("tendon feelspace mode", "print it"), ("tendon feelspace mode compass", "change it")]
    ) { (arguments: Arguments) throws(CommandError) in
        guard arguments.operands.count <= 1 else { throw .usage("feelspace mode takes one mode") }
        var wanted: FSBeltMode?
        if !arguments.operands.isEmpty {
            wanted = try FeelspaceWords.operand(arguments, FeelspaceWords.modes, "feelspace mode", "mode")
        }
        let mode = wanted
        let hold = try arguments.duration() ?? 0
        try await FeelspaceAccess(arguments).withDevice { (belt) throws(CommandError) in
            if let mode { try await belt.change(to: mode) }
            await belt.show(mode: mode)
            if mode != .standby { try await belt.hold(for: hold) }
        }
        return .done
    }

    static let feelspaceStop = Command(
        "feelspace stop",
        summary: "stop the vibration that programs started on a feelSpace belt",
        details: ["The belt's own vibrations, such as its compass, continue."],
        options: DeviceAccess.options,
        common: Command.once,
        examples: [("tendon feelspace stop", "all channels")]
    ) { (arguments: Arguments) throws(CommandError) in
        try await FeelspaceAccess(arguments, "feelspace stop").withDevice { (belt) throws(CommandError) in
            // A belt accepts this only in app mode.
            try await belt.inAppMode { (belt) throws(CommandError) in try await belt.ask { $0.stopVibration() } }
            await belt.done("feelspace stop")
        }
        return .done
    }
}

/// The command line's words for the belt's values.
enum FeelspaceWords {
    static let patterns: [(name: String, value: FSVibrationPattern)] = [
        ("continuous", .continuous), ("single_short", .singleShort), ("single_long", .singleLong),
        ("double_short", .doubleShort), ("double_long", .doubleLong), ("short_shift_wave", .shortShiftWave),
        ("goal_reached", .goalReached), ("circular_right", .circularRight), ("fade_out", .fadeOut),
        ("front_cross", .frontCross),
    ]
    static let systemSignals: [(name: String, value: FSSystemSignal)] = [
        ("warning", .warning), ("goal_reached", .goalReached), ("battery", .battery),
    ]
    static let modes: [(name: String, value: FSBeltMode)] = [
        ("standby", .standby), ("wait", .wait), ("compass", .compass), ("app", .app), ("pause", .pause),
        ("crossing", .crossing),
    ]
    static let buttons: [(name: String, value: FSBeltButton)] = [
        ("power", .power), ("pause", .pause), ("compass", .compass), ("home", .home),
    ]
    static let navigationSignals: [(name: String, value: FSBeltVibrationSignal)] =
        FSBeltVibrationSignal.allCases.filter(\.isRepeated).map { ("\($0)", $0) }

    static func find<Value>(
        _ word: String, _ table: [(name: String, value: Value)], _ what: String
    ) throws(CommandError) -> Value {
        guard let row = table.first(where: { $0.name == word }) else {
            throw .unknown(what, word, among: table.map(\.name))
        }
        return row.value
    }

    static func operand<Value>(
        _ arguments: Arguments, _ table: [(name: String, value: Value)], _ command: String, _ what: String
    ) throws(CommandError) -> Value {
        guard arguments.operands.count == 1 else {
            throw .usage("\(command) takes one of: \(table.map(\.name).joined(separator: ", "))")
        }
        return try find(arguments.operands[0], table, what)
    }
}

/// Where a vibration is.
struct FeelspaceDirection: Sendable {
    var degrees: Int
    var isBearing: Bool

    /// Nil if the command line contains no direction.
    init?(_ arguments: Arguments) throws(CommandError) {
        let bearing = try arguments.number("--bearing", in: -3600...3600)
        let angle = try arguments.number("--angle", in: -3600...3600)
        if bearing != nil, angle != nil { throw .usage("either --bearing or --angle, not both") }
        guard let degrees = bearing ?? angle else { return nil }
        self.degrees = Int(degrees)
        isBearing = bearing != nil
    }
}

/// A channel as the command line describes it.
struct FeelspaceVibration: Sendable {
    private let channel: Int
    private let pattern: FSVibrationPattern
    private let intensity: Int
    private let type: FSOrientationType
    private let orientation: Int
    private let iterations: Int
    private let period: Int

    init(_ arguments: Arguments) throws(CommandError) {
        guard arguments.operands.isEmpty else {
            let degrees = arguments.operands[0]
            throw .usage(
                "feelspace vibrate takes no operands",
                next: Double(degrees).map { _ in "--bearing \(degrees) or --angle \(degrees)" })
        }
        channel = try arguments.integer("--channel", in: 0...3) ?? 1
        pattern = try FeelspaceWords.find(
            arguments.value("--pattern") ?? "continuous", FeelspaceWords.patterns, "pattern")
        intensity = try arguments.integer("--intensity", in: 0...100) ?? -1
        iterations = try arguments.integer("--iterations", in: 1...127) ?? -1
        period = try arguments.milliseconds("--period", in: 1...65535) ?? 500
        let direction = try FeelspaceDirection(arguments)
        if let list = arguments.value("--motors") {
            guard direction == nil else { throw .usage("either --motors or a direction") }
            type = .binaryMask
            orientation = try FeelspaceVibration.mask(list)
        } else {
            guard let direction else {
                throw .usage(
                    "feelspace vibrate needs --bearing, --angle or --motors",
                    next: "tendon feelspace vibrate --bearing 90")
            }
            type = direction.isBearing ? .magneticBearing : .angle
            orientation = direction.degrees
        }
    }

    private static func mask(_ list: String) throws(CommandError) -> Int {
        var mask = 0
        for word in listWords(list) {
            guard let motor = Int(word), (0..<16).contains(motor) else {
                throw .usage("a motor is 0 to 15, not '\(sanitized(word))'")
            }
            mask |= 1 << motor
        }
        guard mask != 0, mask.nonzeroBitCount <= 6 else { throw .usage("--motors takes one to six motors") }
        return mask
    }

    /// Milliseconds; nil: it does not end.
    var duration: UInt64? { iterations > 0 ? UInt64(iterations * period) : nil }

    @TendonActor
    func start(_ commands: FSCommandManager) -> Bool {
        commands.configureVibrationChannel(
            channelIndex: channel, pattern: pattern, intensity: intensity, orientationType: type,
            orientation: orientation, patternIterations: iterations, patternPeriod: period, exclusiveChannel: false,
            clearOtherChannels: false)
    }
}

/// Finds one belt, connects, does something, disconnects.
struct FeelspaceAccess: Sendable {
    private let access: DeviceAccess
    let events: Events

    /// With a name: a command without operands.
    init(_ arguments: Arguments, _ command: String? = nil) throws(CommandError) {
        if let command, !arguments.operands.isEmpty { throw .usage("\(command) takes no operands") }
        access = try DeviceAccess(arguments, family: "feelspace")
        events = Events(json: arguments.has("--json"))
        Output.standard.lines?.isCompact = !arguments.has("--exact")
    }

    func withDevice(_ body: @escaping @Sendable (OpenBelt) async throws(CommandError) -> Void)
        async throws(CommandError)
    {
        try await access.withDevice { (central, found) async throws(CommandError) in
            let manager = await FSConnectionManager(on: central)
            try await access.inTime { () throws(CommandError) in
                do throws(FSConnectionError) {
                    try await manager.connect(to: FSBelt(address: found.address, name: found.name))
                } catch {
                    throw CommandError(error)
                }
            }
            do throws(CommandError) {
                try await body(OpenBelt(manager: manager, label: found.label, events: events))
            } catch {
                await manager.closeAndWait()
                throw error
            }
            await manager.closeAndWait()
        }
    }
}

/// A connected belt.
@TendonActor
struct OpenBelt: Sendable {
    let manager: FSConnectionManager
    let label: DeviceLabel
    let events: Events
    var commands: FSCommandManager { manager.commandManager }

    /// Keeps the connection for this time.
    func hold(for milliseconds: UInt64?) async throws(CommandError) {
        try await DeviceAccess.hold(for: milliseconds) { [manager] in manager.state == .connected }
    }

    /// Sends a command and waits until the belt has accepted it.
    func ask(_ command: @TendonActor @Sendable (FSCommandManager) -> Bool) async throws(CommandError) {
        do throws(TendonError) {
            try await commands.confirmed(command)
        } catch {
            throw CommandError(error)
        }
    }

    /// In app mode, and back into the mode that it was in.
    func inAppMode(_ body: (OpenBelt) async throws(CommandError) -> Void) async throws(CommandError) {
        let before = commands.mode
        if before != .app { try await ask { $0.changeBeltMode(.app) } }
        try await body(self)
        if before != .app, before != .unknown, before != .calibration, manager.state == .connected {
            try await ask { $0.changeBeltMode(before) }
        }
    }

    /// A belt that is sent to standby ends the connection.
    func change(to mode: FSBeltMode) async throws(CommandError) {
        do throws(TendonError) {
            try await commands.confirmed { $0.changeBeltMode(mode) }
        } catch {
            guard mode == .standby, manager.state == .notConnected else { throw CommandError(error) }
        }
    }

    /// The requested one, or the present one.
    func show(mode: FSBeltMode?) {
        let word = "\(mode ?? commands.mode)"
        events.result("mode", label, ["mode": .string(word)], text: word + "\n")
    }

    func showIntensity() {
        let percent = commands.defaultIntensity
        events.result("default_intensity", label, ["intensity_percent": JSON(percent)], text: "\(percent) %\n")
    }

    /// A command without a result was carried out.
    func done(_ command: String) {
        events.result("done", label, ["command": .string(command)], text: "")
    }

    func navigate(
        _ direction: FeelspaceDirection, _ signal: FSBeltVibrationSignal, for duration: UInt64?
    ) async throws(CommandError) {
        let controller = FSNavigationController(connectionManager: manager)
        let updates = controller.updates
        if events.style == .text { Output.standard.line("navigating; Ctrl-C ends") }
        controller.startNavigation(direction: direction.degrees, isMagneticBearing: direction.isBearing, signal: signal)
        try await Termination.task(for: duration) { @TendonActor () throws(CommandError) in
            var iterator = updates.makeAsyncIterator()
            while let update = await iterator.next(isolation: TendonActor.shared) {
                FeelspaceLines.print(update) { events.event($0, label, at: nil, $1) }
                if manager.state == .notConnected { throw CommandError(.failed, Ending.lost.text) }
            }
        }
        controller.stopNavigation()
        // Wait until the belt has left app mode, then disconnect.
        for _ in 0..<100 where commands.mode == .app && manager.state == .connected {
            try? await Loop.shared.sleep(for: .milliseconds(10))
        }
    }
}

extension CommandError {
    init(_ error: FSConnectionError) {
        switch error {
        case .connectionTimeout: self.init(.noDevice, describe(error), next: "tendon scan")
        default: self.init(.failed, describe(error))
        }
    }
}
