// SPDX-License-Identifier: MIT
// activ5 watch: the force curve of a trainer on a terminal, its squeezes marked; the same as JSON lines in a pipe.
import CTendon
import Tendon
import TendonActiv5
import TendonSupport

/// Force over time, as characters.
struct ForceCurve {
    struct Point {
        var newtons: Double
        /// What happened at this sample, ' ': nothing.
        var mark: Character = " "
    }

    private(set) var points: [Point] = []
    private let threshold: Double
    private static let blocks = Array(" ▁▂▃▄▅▆▇█")
    /// Columns of the scale at the left.
    private static let margin = 7

    init(threshold: Double) { self.threshold = threshold }

    mutating func add(_ newtons: Double, columns: Int) {
        points.append(Point(newtons: newtons))
        let room = max(10, columns - ForceCurve.margin)
        if points.count > room { points.removeFirst(points.count - room) }
    }

    /// Of the last sample; a double squeeze counts more than the release that ends it.
    mutating func mark(_ mark: Character) {
        guard !points.isEmpty else { return }
        points[points.count - 1].mark = mark
    }

    /// The top of the scale: 40 N, or what the curve needs.
    private var top: Double {
        let highest = points.map(\.newtons).filter(\.isFinite).max() ?? 0
        return max(40, (highest / 10).rounded(.up) * 10)
    }

    /// Number of rows of the curve, without the row of marks.
    func lines(rows: Int) -> [String] {
        let top = top
        let limit = Int((threshold / top * Double(rows)).rounded(.down))
        var lines = (0..<rows).reversed().map { row -> String in
            let isLabelled = row == rows - 1 || row == 0 || row == limit
            let value = row == rows - 1 ? top : row == 0 ? 0 : threshold
            let label = isLabelled ? right(fixed(value, 0), 4) + " N " : String(repeating: " ", count: 7)
            return label + String(points.map { cell($0.newtons, row, rows, top, isLimit: row == limit) })
        }
        lines.append(String(repeating: " ", count: ForceCurve.margin) + String(points.map(\.mark)))
        return lines
    }

    private func cell(_ newtons: Double, _ row: Int, _ rows: Int, _ top: Double, isLimit: Bool) -> Character {
        let height = newtons.isFinite ? max(0, newtons) / top * Double(rows) - Double(row) : 0
        let eighths = Int((min(max(height, 0), 1) * 8).rounded())
        return eighths == 0 && isLimit ? "·" : ForceCurve.blocks[eighths]
    }
}

@TendonActor
final class Activ5Watch {
    private let open: Activ5Access.Open
    private let access: Activ5Access
    private var curve = ForceCurve(threshold: SqueezeThreshold.base.pressed)
    private var squeezes = 0
    private var doubles = 0
    private var area = LiveArea()
    private var lastDraw: UInt64 = 0

    init(_ open: Activ5Access.Open, _ access: Activ5Access) {
        self.open = open
        self.access = access
    }

    /// Until --count samples came, or the link ends.
    func run() async throws(CommandError) {
        var events = open.device.events(capacity: 4096).makeAsyncIterator()
        try access.start(open)
        var taken = 0
        var isUp = true
        while isUp, taken < access.count, let event = await events.next(isolation: TendonActor.shared) {
            if case .didReceiveIsometric = event { taken += 1 }
            if case .deviceDisconnected = event { isUp = false }
            show(event)
        }
        draw(force: true)
        if !isUp, !Task.isCancelled { throw CommandError(.failed, Ending.lost.text) }
    }

    private func tell(_ event: EventName, _ body: (inout LineWriter) -> Void = { _ in }) {
        if !access.events.draws { access.events.event(event, open.label, at: nil, body) }
    }

    private func draw(force: Bool = false) {
        guard access.events.draws, force || LiveArea.isFree else { return }
        let now = tendon_monotonic_ms()
        guard force || now >= lastDraw + 100 else { return }
        lastDraw = now
        let newtons = right(fixed(curve.points.last?.newtons ?? 0, 1), 7) + " N"
        let state = open.device.squeezeState == .squeezed ? "squeezed" : ""
        let title =
            sanitized(open.device.name ?? "") + newtons + "   squeezes \(squeezes)   double \(doubles)   " + state
        let lines = curve.lines(rows: min(12, max(1, LiveArea.rows - 3)))
        area.draw([(title, .bold)] + lines.map { ($0, nil) })
    }

    private func show(_ event: A5Event) {
        switch event {
        case .didReceiveIsometric(_, let force):
            curve.add(force.newtons, columns: Output.standard.size.columns)
            tell("sample") { force.write(to: &$0) }
            draw()
        case .squeezeStateChanged(let state, _):
            let isSqueezed = state == .squeezed
            squeezes += isSqueezed ? 1 : 0
            curve.mark(isSqueezed ? "▲" : "▼")
            tell("squeeze") { $0.member("state", isSqueezed ? "squeezed" : "released") }
            draw(force: true)
        case .didDetectDoubleSqueeze:
            doubles += 1
            curve.mark("◆")
            tell("double_squeeze")
            draw(force: true)
        case .didReceiveError(_, let characteristic, let error):
            tell("malformed") { line in
                line.member("characteristic", characteristic.rawValue)
                line.member("text", describe(error))
            }
        default: break
        }
    }
}
