// SPDX-License-Identifier: MIT
// What the streaming commands show: JSON lines in a pipe, a live table on a terminal, and the same counters at the end.
import CTendon
import Synchronization
import TendonSupport

/// Counters of a stream. At its end: received = delivered + dropped.
struct StreamCounters: Sendable, Equatable {
    /// Sensor notifications that came over the link and were decoded.
    var notifications: UInt64 = 0
    /// Samples in them.
    var samples: UInt64 = 0
    /// Events that the program took from the sequence, and those that the sequence dropped because it did not.
    var delivered: UInt64 = 0
    var dropped: UInt64 = 0
    /// Values that the decoder rejected, and records that it passed over.
    var malformed: UInt64 = 0
    var skipped: UInt64 = 0

    static func + (a: StreamCounters, b: StreamCounters) -> StreamCounters {
        StreamCounters(
            notifications: a.notifications + b.notifications, samples: a.samples + b.samples,
            delivered: a.delivered + b.delivered, dropped: a.dropped + b.dropped,
            malformed: a.malformed + b.malformed, skipped: a.skipped + b.skipped)
    }

    var json: JSON {
        [
            "notifications": JSON(notifications), "samples": JSON(samples), "delivered": JSON(delivered),
            "drops": JSON(dropped), "malformed": JSON(malformed), "skipped": JSON(skipped),
        ]
    }
}

/// A number with its name, and its unit where the name does not say it.
struct Reading: Sendable {
    var name: String
    var value: Double
    var unit = ""
    var decimals = 1
}

/// One device as the table shows it.
struct DeviceRow: Sendable {
    var address: String
    var family: String
    var name = ""
    var state = "found"
    /// What it measures; the family's choice.
    var readings: [Reading] = []
    /// Percent.
    var battery: Int?
    var counters = StreamCounters()
    /// Samples a second, over the last refresh.
    var rate = 0.0
    var note = ""
    var wasOpened = false
    fileprivate var seen: UInt64 = 0
}

final class Reporter: Sendable {
    enum Mode: Sendable {
        case json
        case table
        case quiet
    }

    private struct State {
        var rows: [DeviceRow] = []
        var drawn = 0
        var lastDraw: UInt64 = 0
        var lastRate: UInt64 = 0
        var readerGone = false
    }

    let mode: Mode
    private let state = Mutex(State())
    private static let refresh: UInt64 = 200

    init(mode: Mode) {
        self.mode = mode
    }

    /// JSON when asked for or when nobody watches.
    init(json: Bool) {
        mode = json || !Output.standard.isTerminal ? .json : .table
    }

    /// One line of JSON; nothing on a terminal. Ends the program when nobody reads any more.
    func event(_ json: @autoclosure () -> JSON) {
        guard mode == .json else { return }
        if !Output.standard.line(json().text) { Stop.shared.request() }
    }

    /// Changes a device's row, which is made when it is not there yet, and draws the table if it is time.
    func update(_ address: String, family: String, _ change: (inout DeviceRow) -> Void) {
        state.withLock { state in
            let index: Int
            if let found = state.rows.firstIndex(where: { $0.address == address }) {
                index = found
            } else {
                index = state.rows.count
                state.rows.append(DeviceRow(address: address, family: family))
            }
            change(&state.rows[index])
            if mode == .table { draw(&state, force: false) }
        }
    }

    func rename(_ address: String, _ name: String) {
        state.withLock { state in
            guard let index = state.rows.firstIndex(where: { $0.address == address }) else { return }
            state.rows[index].name = name
        }
    }

    /// Also without news: rates fall to 0.
    func tick() {
        guard mode == .table else { return }
        state.withLock { draw(&$0, force: false) }
    }

    var rows: [DeviceRow] { state.withLock { $0.rows } }

    var total: StreamCounters {
        state.withLock { $0.rows.reduce(StreamCounters()) { $0 + $1.counters } }
    }

    /// The end: the last table, or the summary as JSON.
    func finish() {
        let total = total
        state.withLock { state in
            if mode == .table { draw(&state, force: true) }
        }
        guard mode == .json else {
            guard mode == .table else { return }
            Output.standard.line(
                "\(total.notifications) notifications, \(total.samples) samples, \(total.dropped) dropped")
            return
        }
        var summary: JSON = ["event": "summary", "devices": JSON(rows.count)]
        if case .object(let members) = total.json { for member in members { summary[member.key] = member.value } }
        event(summary)
    }

    private func draw(_ state: inout State, force: Bool) {
        let now = tendon_now_ms()
        guard force || now >= state.lastDraw + Reporter.refresh else { return }
        state.lastDraw = now
        if now >= state.lastRate + 1000 || state.lastRate == 0 {
            for index in state.rows.indices {
                let samples = state.rows[index].counters.samples
                let elapsed = state.lastRate == 0 ? 0 : Double(now - state.lastRate) / 1000
                state.rows[index].rate = elapsed == 0 ? 0 : Double(samples &- state.rows[index].seen) / elapsed
                state.rows[index].seen = samples
            }
            state.lastRate = now
        }
        let output = Output.standard
        let size = output.size
        var lines = [output.styled(Reporter.header, .bold)]
        lines += state.rows.prefix(max(1, size.rows - 3)).map { Reporter.line($0, size.columns) }
        if state.rows.isEmpty { lines.append(output.styled("searching...", .faint)) }
        let back = state.drawn > 0 ? "\u{1B}[\(state.drawn)A" : ""
        output.write(back + lines.map { "\r\u{1B}[2K" + $0 + "\n" }.joined())
        state.drawn = lines.count
    }

    private static let header =
        "ADDRESS            DEVICE            STATE        RATE  BATTERY   SAMPLES  DROPS  READINGS"

    private static func line(_ row: DeviceRow, _ columns: Int) -> String {
        let name = row.name.isEmpty ? row.family : row.name
        var text = left(row.address, 19) + left(String(name.prefix(16)), 18) + left(row.state, 10)
        text += right(fixed(row.rate, 1), 7) + right(row.battery.map { "\($0) %" } ?? "-", 9)
        text += right("\(row.counters.samples)", 10) + right("\(row.counters.dropped)", 7)
        for reading in row.readings {
            text += "  \(reading.name) " + right(fixed(reading.value, reading.decimals), 6)
            if !reading.unit.isEmpty { text += " \(reading.unit)" }
        }
        if !row.note.isEmpty { text += "  " + row.note }
        return String(text.prefix(max(20, columns - 1)))
    }
}

/// A number with so many decimals.
func fixed(_ value: Double, _ decimals: Int) -> String {
    guard value.isFinite, abs(value) < 1e15 else { return "-" }
    var scale = 1.0
    for _ in 0..<decimals { scale *= 10 }
    let scaled = Int64((abs(value) * scale).rounded())
    let sign = value < 0 && scaled != 0 ? "-" : ""
    guard decimals > 0 else { return sign + "\(scaled)" }
    let digits = "\(scaled % Int64(scale))"
    return sign + "\(scaled / Int64(scale))." + String(repeating: "0", count: decimals - digits.count) + digits
}

func left(_ text: String, _ width: Int) -> String {
    text + String(repeating: " ", count: max(0, width - text.count))
}

func right(_ text: String, _ width: Int) -> String {
    String(repeating: " ", count: max(0, width - text.count)) + text
}
