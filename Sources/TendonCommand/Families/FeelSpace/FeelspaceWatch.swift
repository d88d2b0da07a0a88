// SPDX-License-Identifier: MIT
// feelspace watch: the belt as a ring of its motors, with heading and mode; the same as JSON lines in a pipe.
import CTendon
import Tendon
import TendonFeelSpace
import TendonSupport

extension Command {
    static let feelspaceWatch = Command(
        "feelspace watch",
        summary: "draw heading, mode, buttons and battery of a feelSpace belt",
        details: [
            "On a terminal the belt from above: its 16 motors, front at the top, N at north, the motor that its compass "
                + "lets vibrate. In a pipe JSON lines. Until Ctrl-C, or --for."
        ],
        options: DeviceAccess.options,
        examples: [
            ("tendon feelspace watch", "the ring"),
            ("tendon feelspace watch --json | grep button", "presses of its buttons"),
        ]
    ) { (arguments: Arguments) throws(CommandError) in
        let duration = try arguments.duration()
        try await FeelspaceAccess(arguments, "feelspace watch").withDevice { (belt) throws(CommandError) in
            try await Termination.task(for: duration) { () throws(CommandError) in
                try await BeltWatch(belt).run()
            }
        }
        return .done
    }
}

/// The belt from above.
struct BeltRing {
    /// Degrees from north; nil: unknown.
    var heading: Int?
    /// Motors that vibrate.
    var active: Set<Int> = []

    private static let width = 37
    private static let height = 13

    /// The motor that serves an angle from the front.
    static func motor(at angle: Int) -> Int { (((angle % 360 + 360) % 360) * 4 + 45) / 90 % 16 }

    /// The motor that points north.
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
    private var ring = BeltRing()
    private var last = ""
    private var area = LiveArea()

    init(_ belt: OpenBelt) {
        self.belt = belt
    }

    func run() async throws(CommandError) {
        let updates = belt.commands.updates(capacity: 4096)
        let ends = belt.manager.updates
        if belt.events.draws { draw() } else { tellState() }
        do {
            try await belt.ask { $0.startOrientationNotifications() }
        } catch {
            // Ctrl-C between the first picture and the belt's answer ends it like any other.
            if Task.isCancelled { return }
            throw error
        }
        let reader = Task { @TendonActor [self] in
            var iterator = updates.makeAsyncIterator()
            while let update = await iterator.next(isolation: TendonActor.shared) { take(update) }
        }
        // The sequence of a belt's values outlives its connection.
        var iterator = ends.makeAsyncIterator()
        while belt.manager.state == .connected, !Task.isCancelled {
            guard await iterator.next(isolation: TendonActor.shared) != nil else { break }
        }
        reader.cancel()
        if !Task.isCancelled { throw CommandError(.failed, Ending.lost.text) }
    }

    private func tellState() {
        let commands = belt.commands
        belt.events.event("belt", belt.label) { line in
            line.member("mode", "\(commands.mode)")
            line.member("firmware", "\(commands.firmwareVersion)")
            line.member("intensity_percent", commands.defaultIntensity)
            line.member("battery_percent", commands.beltBatteryStatus.batteryLevel, decimals: 1)
        }
    }

    private func take(_ update: FSCommandUpdate) {
        guard belt.events.draws else {
            FeelspaceLines.print(update) { belt.events.event($0, belt.label, at: nil, $1) }
            return
        }
        switch update {
        case .orientation(let orientation): ring.heading = orientation.beltMagHeading
        case .buttonPressed(let button, let press, _, let mode): last = "button \(button) (\(press)), mode \(mode)"
        case .modeChanged(let mode): last = "mode \(mode)"
        case .defaultIntensityChanged(let percent): last = "default intensity \(percent) %"
        case .headingOffsetChanged(let degrees): last = "heading offset \(degrees)°"
        case .battery(let status): last = "battery " + fixed(status.batteryLevel, 0) + " %"
        case .rejected: last = "a malformed value"
        default: break
        }
        draw()
    }

    private func draw() {
        guard LiveArea.isFree else { return }
        let commands = belt.commands
        // The belt reports its mode, not its motors: what its compass does is known.
        ring.active = commands.mode == .compass ? Set([ring.north].compactMap { $0 }) : []
        let battery = commands.beltBatteryStatus
        let title =
            "mode \(commands.mode)   intensity \(commands.defaultIntensity) %   battery "
            + fixed(battery.batteryLevel, 0) + " % \(battery.powerStatus)"
        var lines: [(text: String, style: Output.Style?)] = [(title, .bold)]
        if LiveArea.rows >= 15 {
            lines += ring.lines().map { ("  " + $0, nil) }
        } else {
            lines.append((ring.heading.map { "heading \($0)°" } ?? "heading -", nil))
        }
        area.draw(lines + [(last, .faint)])
    }
}
