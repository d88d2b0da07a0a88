// SPDX-License-Identifier: MIT
// feelspace watch: the belt as a ring of its motors, with heading and mode; the same as JSON lines in a pipe.
import CTendon
import Tendon
import TendonFeelSpace
import TendonSupport

extension Command {
    static let feelspaceWatch = Command(
        "feelspace watch",
        summary: "heading, mode, buttons and battery of a feelSpace belt",
        details: [
            "On a terminal the belt from above: its 16 motors, front at the top, N where North is, the motor that its compass "
                + "lets vibrate. In a pipe JSON lines. Until Ctrl-C, or --for."
        ],
        options: Visit.options,
        examples: [
            ("tendon feelspace watch", "the ring"),
            ("tendon feelspace watch --json | grep button", "presses of its buttons"),
        ]
    ) { (arguments: Arguments) throws(CommandError) in
        let duration = try arguments.duration()
        let json = arguments.has("--json") || !Output.standard.isTerminal
        try await FeelspaceVisit(arguments, "feelspace watch").visit { (belt) throws(CommandError) in
            try await Stop.task(for: duration) { () throws(CommandError) in
                try await BeltWatch(belt, json: json).run()
            }
        }
        return .done
    }
}

/// The belt from above.
struct BeltRing {
    /// Degrees from North; nil: unknown.
    var heading: Int?
    /// Motors that vibrate.
    var active: Set<Int> = []

    private static let width = 37
    private static let height = 13

    /// The motor that serves an angle from the front.
    static func motor(at angle: Int) -> Int { (((angle % 360 + 360) % 360) * 4 + 45) / 90 % 16 }

    /// The motor that points North.
    var north: Int? { heading.map { BeltRing.motor(at: -$0) } }

    private static let places: [(row: Int, column: Int)] = [
        (0, 18), (1, 24), (2, 30), (4, 34), (6, 36), (8, 34), (10, 30), (11, 24), (12, 18), (11, 12), (10, 6), (8, 2),
        (6, 0), (4, 2), (2, 6), (1, 12),
    ]

    func lines() -> [String] {
        var cells = Array(
            repeating: Array(repeating: Character(" "), count: BeltRing.width), count: BeltRing.height)
        for (motor, place) in BeltRing.places.enumerated() {
            cells[place.row][place.column] = active.contains(motor) ? "●" : motor == north ? "N" : "○"
        }
        func write(_ text: String, _ row: Int) {
            for (index, character) in text.enumerated() {
                cells[row][(BeltRing.width - text.count) / 2 + index] = character
            }
        }
        write("front", 1)
        write(heading.map { "\(($0 % 360 + 360) % 360)°" } ?? "-", 6)
        return cells.map { String($0) }
    }
}

@TendonActor
private final class BeltWatch {
    private let belt: OpenBelt
    private let json: Bool
    private var ring = BeltRing()
    private var last = ""
    private var drawn = 0

    init(_ belt: OpenBelt, json: Bool) {
        self.belt = belt
        self.json = json
    }

    func run() async throws(CommandError) {
        var updates = belt.commands.updates(capacity: 4096).makeAsyncIterator()
        let ends = belt.manager.updates
        let watcher = Task { @TendonActor in
            for try await case .stateChanged(_, .notConnected, _, _) in ends { return }
        }
        defer { watcher.cancel() }
        if json { tellState() } else { draw() }
        try await belt.ask { $0.startOrientationNotifications() }
        while belt.manager.state == .connected,
            let update = try? await updates.next(isolation: TendonActor.shared)
        {
            take(update)
        }
        if !Task.isCancelled { throw CommandError(.failed, "the connection was lost") }
    }

    private func tellState() {
        let commands = belt.commands
        let line: JSON = [
            "event": "belt", "mode": .string("\(commands.mode)"), "firmware": JSON(commands.firmwareVersion),
            "default_intensity": JSON(commands.defaultIntensity),
            "battery_percent": .real(commands.beltBatteryStatus.batteryLevel),
        ]
        if !Output.standard.line(line.text) { Stop.shared.request() }
    }

    private func take(_ update: FSCommandUpdate) {
        guard let line = FeelspaceLines.line(update) else { return }
        if json {
            if !Output.standard.line(line.text) { Stop.shared.request() }
            return
        }
        if case .orientation(let orientation) = update {
            ring.heading = orientation.beltMagHeading
        } else {
            last = FeelspaceLines.words(line)
        }
        draw()
    }

    private func draw() {
        let output = Output.standard
        let commands = belt.commands
        // The belt tells its mode, not its motors: what its compass does is known.
        ring.active = commands.mode == .compass ? Set([ring.north].compactMap { $0 }) : []
        let battery = commands.beltBatteryStatus
        var lines = [
            output.styled("mode \(commands.mode)", .bold) + "   intensity \(commands.defaultIntensity) %   battery "
                + fixed(battery.batteryLevel, 0) + " % \(battery.powerStatus)"
        ]
        lines += ring.lines().map { "  " + $0 }
        lines.append(output.styled(last, .faint))
        let back = drawn > 0 ? "\u{1B}[\(drawn)A" : ""
        output.write(back + lines.map { "\r\u{1B}[2K" + $0 + "\n" }.joined())
        drawn = lines.count
    }
}
