// SPDX-License-Identifier: MIT
// What the streaming commands show: JSON lines in a pipe, a live table on a terminal, and the same counters at the end.
import CTendon
import Synchronization
import Tendon
import TendonOutputs
import TendonSupport

/// Counters of a stream. At its end: samples = delivered + dropped.
struct StreamCounters: Sendable, Equatable {
    /// Sensor notifications that were received and decoded.
    var notifications: UInt64 = 0
    /// Samples in them.
    var samples: UInt64 = 0
    /// Samples that the outputs took, and those that found standard output full.
    var delivered: UInt64 = 0
    var dropped: UInt64 = 0
    /// Values that the decoder rejected, and records that it skipped.
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
            "dropped": JSON(dropped), "malformed": JSON(malformed), "skipped": JSON(skipped),
        ]
    }
}

/// A number with its name, and its unit if the name does not contain it.
struct Reading: Sendable {
    var name: String
    var value: Double
    var unit = ""
    var decimals = 1
    /// It can be shown without decimals, such as an angle.
    var canBeWhole = true
}

/// One device as the table shows it.
struct DeviceRow: Sendable {
    let label: DeviceLabel
    var state = "found"
    /// What it measures; the family's choice.
    var readings: [Reading] = []
    /// Percent.
    var battery: Int?
    /// Of the present session.
    var counters = StreamCounters()
    /// Of the device's sessions before.
    fileprivate var earlier = StreamCounters()
    /// Of all sessions of the device.
    var total: StreamCounters { earlier + counters }
    /// Samples per second, over the last refresh.
    var rate = 0.0
    var note = ""
    var wasConnected = false
    fileprivate var seen: UInt64 = 0
    /// Its device was forgotten; the next new device takes the row.
    fileprivate var isFree = false
}

final class Reporter: Sendable {
    private struct State {
        var rows: [DeviceRow] = []
        /// Of devices that were forgotten.
        var former = StreamCounters()
        /// Their addresses: one that comes back is still one device.
        var formers: Set<Address> = []
        var formerWasConnected = false
        var area = LiveArea()
        var lastRate: UInt64 = 0
        var wasDrawn = false
        var searching = "searching for devices"
        var lostPackets: UInt64 = 0
        var adapterCounters = AdapterCounters()
    }

    let events: Events
    let isTable: Bool
    private let state = Mutex(State())
    /// Forgotten devices that are counted.
    private static let formerLimit = 4096
    /// Milliseconds from one picture to the next.
    static let refresh = 200

    /// JSON when it is requested or when standard output is no terminal; else a table, or lines of text on a terminal that
    /// cannot draw one. And the other outputs.
    /// - Parameters:
    ///   - lines: false: nothing on standard output.
    ///   - sampleLimit: number of lines that may wait when a sample is added.
    init(json: Bool, lines: Bool = true, sampleLimit: Int = .max, others: [any EventOutput] = []) {
        let isText = !json && Output.standard.isTerminal
        isTable = lines && isText && Output.standard.isDrawable
        events = Events(
            style: isTable || !lines ? .none : isText ? .text : .json, sampleLimit: sampleLimit, others: others)
        if isTable, Output.error.isTerminal {
            Log.draw { [weak self] _, message in self?.state.withLock { $0.area.add(message) } }
        }
    }

    /// Neither: only counters.
    init() {
        isTable = false
        events = .none
    }

    /// A new row; its number.
    func add(_ label: DeviceLabel) -> Int {
        state.withLock { state in
            guard let free = state.rows.firstIndex(where: \.isFree) else {
                state.rows.append(DeviceRow(label: label))
                return state.rows.count - 1
            }
            state.rows[free] = DeviceRow(label: label)
            return free
        }
    }

    /// The device of a row is forgotten: it is shown no more, but its counters are in the sums.
    func release(_ row: Int) {
        state.withLock { state in
            let old = state.rows[row]
            state.former = state.former + old.total
            if state.formers.count < Reporter.formerLimit { state.formers.insert(old.label.address) }
            state.formerWasConnected = state.formerWasConnected || old.wasConnected
            state.rows[row] = DeviceRow(label: old.label)
            state.rows[row].isFree = true
        }
    }

    /// A row for another device than before, or for another session of the device, which goes on with its counters.
    func replace(_ row: Int, with label: DeviceLabel) -> Int {
        state.withLock { state in
            let old = state.rows[row]
            state.rows[row] = DeviceRow(label: label)
            guard old.label.address == label.address else { return }
            state.rows[row].earlier = old.total
            state.rows[row].wasConnected = old.wasConnected
            state.rows[row].seen = old.seen
        }
        return row
    }

    /// Changes a device's row. The table is drawn by `tick`.
    func update(_ row: Int, _ change: (inout DeviceRow) -> Void) {
        state.withLock { change(&$0.rows[row]) }
    }

    /// Draws the table, unless the terminal has not taken the last one.
    func tick() {
        guard isTable, LiveArea.isFree else { return }
        let picture = state.withLock { state in
            measureRates(&state)
            return Reporter.picture(state.rows.filter { !$0.isFree }, state.searching, rows: state.area.rows)
        }
        state.withLock { $0.area.draw(picture) }
    }

    var rows: [DeviceRow] { state.withLock { $0.rows.filter { !$0.isFree } } }

    /// Whether the device of a row was connected, and whether one of all devices was.
    func wasConnected(_ row: Int) -> Bool { state.withLock { $0.rows[row].wasConnected } }
    var wasConnected: Bool { state.withLock { $0.formerWasConnected || $0.rows.contains(where: \.wasConnected) } }

    /// What the run does while no device is shown.
    var searching: String {
        get { state.withLock { $0.searching } }
        set { state.withLock { $0.searching = newValue } }
    }

    /// Packets that the kernel dropped.
    var lostPackets: UInt64 {
        get { state.withLock { $0.lostPackets } }
        set { state.withLock { $0.lostPackets = newValue } }
    }

    /// Of all adapters.
    var adapterCounters: AdapterCounters {
        get { state.withLock { $0.adapterCounters } }
        set { state.withLock { $0.adapterCounters = newValue } }
    }

    var total: StreamCounters {
        state.withLock { $0.rows.reduce($0.former) { $0 + $1.total } }
    }

    /// Sensor notifications of all devices.
    var notifications: UInt64 {
        state.withLock { state in
            var sum = state.former.notifications
            for index in state.rows.indices { sum += state.rows[index].total.notifications }
            return sum
        }
    }

    /// The end: the last table, or the summary as JSON.
    /// - Parameter missing: rows that a recording lacks; nil: nothing is recorded.
    func finish(missing: UInt64? = nil) {
        let total = total
        if isTable {
            tick()
            Log.draw(nil)
            for message in state.withLock({ $0.area.takeDue() }) { Log.write(.error, message) }
            Output.standard.line(
                "\(total.notifications) notifications, \(total.samples) samples, \(total.dropped) dropped")
            return
        }
        let lines = Output.standard.lines?.dropped ?? 0
        let devices = state.withLock { $0.formers.union($0.rows.filter { !$0.isFree }.map(\.label.address)).count }
        events.event(
            "summary", nil,
            (["devices": JSON(devices)] as JSON).merging(total.json).merging([
                "dropped_lines": JSON(lines), "lost_packets": JSON(lostPackets),
            ]).merging(missing.map { ["missing_rows": JSON($0)] } ?? [:]))
    }

    private func measureRates(_ state: inout State) {
        let now = tendon_monotonic_ms()
        guard now >= state.lastRate + 1000 || state.lastRate == 0 else { return }
        for index in state.rows.indices {
            let samples = state.rows[index].total.samples
            let elapsed = state.lastRate == 0 ? 0 : Double(now - state.lastRate) / 1000
            state.rows[index].rate = elapsed == 0 ? 0 : Double(samples &- state.rows[index].seen) / elapsed
            state.rows[index].seen = samples
        }
        state.lastRate = now
    }

    // MARK: The table

    /// One column. A narrow terminal leaves some out.
    private struct Column: Sendable {
        var title: String
        var width: Int
        /// Shown from this many columns of the terminal on.
        var from: Int
        var isRight = false
        var text: @Sendable (DeviceRow) -> String
    }

    private static func name(_ row: DeviceRow) -> String { row.label.name ?? row.label.family ?? "" }

    /// The address goes first when there is little room, then counters. A name is as wide as it needs.
    private static func columns(_ rows: ArraySlice<DeviceRow>, of terminal: Int) -> [Column] {
        let all = [
            Column(title: "ADDRESS", width: 17, from: 110) { $0.label.address.description },
            Column(title: "DEVICE", width: 12, from: 0, text: name),
            Column(title: "STATE", width: 12, from: 0) { $0.state },
            Column(title: "RATE", width: 5, from: 50, isRight: true) { fixed($0.rate, $0.rate < 1000 ? 1 : 0) },
            Column(title: "BAT", width: 4, from: 60, isRight: true) { $0.battery.map { "\($0)%" } ?? "-" },
            Column(title: "SAMPLES", width: 9, from: 130, isRight: true) { "\($0.total.samples)" },
            Column(title: "DROP", width: 5, from: 70, isRight: true) { short($0.total.dropped) },
        ]
        var shown = all.filter { $0.from <= terminal }
        let others = shown.reduce(0) { $0 + $1.width + 1 } - 12
        let longest = rows.map { columnWidth(name($0)) }.max() ?? 0
        for index in shown.indices where shown[index].title == "DEVICE" {
            shown[index].width = max(12, min(longest, terminal - others - readingsWidth))
        }
        return shown
    }

    /// Three angles in whole degrees.
    private static let readingsWidth = 26

    private static func short(_ number: UInt64) -> String {
        number < 100_000 ? "\(number)" : number < 100_000_000 ? "\(number / 1000)k" : "\(number / 1_000_000)M"
    }

    private static func picture(
        _ rows: [DeviceRow], _ searching: String, rows height: Int
    ) -> [(text: String, style: Output.Style?)] {
        let terminal = Output.standard.size.columns
        let places = max(1, height - 2)
        let shown = columns(rows.prefix(places), of: terminal)
        let room = max(0, terminal - shown.reduce(0) { $0 + $1.width + 1 })
        func cells(_ text: (Column) -> String) -> String {
            shown.map { column in
                let cell = clipped(text(column), column.width)
                return (column.isRight ? right(cell, column.width) : left(cell, column.width)) + " "
            }.joined()
        }
        var picture: [(text: String, style: Output.Style?)] = [(cells(\.title) + "READINGS", .bold)]
        for row in rows.prefix(places) { picture.append((cells { $0.text(row) } + readings(row, room), nil)) }
        if rows.isEmpty || searching.hasPrefix("waiting") {
            var lines = Help.wrap(searching + "...", terminal - 1)
            if searching.hasPrefix("waiting") { lines += Help.wrap("try: " + CommandError.radioAdvice, terminal - 1) }
            picture += lines.prefix(max(1, places - rows.count)).map { ($0, .faint) }
        }
        if rows.count > places { picture.append(("and \(rows.count - places) more", .faint)) }
        return picture
    }

    /// As many letters of each name as tell it from the others.
    static func shortest(_ names: [String]) -> [String] {
        names.map { name in
            let length = (1..<max(name.count, 2)).first { length in
                names.filter { $0.hasPrefix(name.prefix(length)) }.count == 1
            }
            return String(name.prefix(length ?? name.count))
        }
    }

    /// "pitch   25.0 roll   11.0 yaw   42.0", in less room "pitch 25 roll 11 yaw 42", in little "p 25 r 11 y 42", then fewer
    /// of them: a number that is cut would be another number. Not all are rounded.
    private static func readings(_ row: DeviceRow, _ room: Int) -> String {
        func value(_ reading: Reading) -> String {
            fixed(reading.value, reading.decimals) + (reading.unit.isEmpty ? "" : " \(reading.unit)")
        }
        let names = row.readings.map(\.name)
        func whole(_ names: [String]) -> [String] {
            zip(names, row.readings).map { "\($0) \(fixed($1.value, $1.canBeWhole ? 0 : $1.decimals))" }
        }
        let long = row.readings.map { reading in
            "\(reading.name) \(right(fixed(reading.value, reading.decimals), 6))"
                + (reading.unit.isEmpty ? "" : " \(reading.unit)")
        }
        let forms =
            [long] + (row.readings.count > 1 ? [whole(names), whole(shortest(names))] : [row.readings.map(value)])
        let note = row.note.isEmpty ? [] : [row.note]
        let texts = forms.map { ($0 + note).joined(separator: " ") } + forms.map { $0.joined(separator: " ") }
        if let text = texts.first(where: { columnWidth($0) <= room }) { return text }
        var parts = forms[forms.count - 1]
        while !parts.isEmpty, columnWidth(parts.joined(separator: " ")) > room { parts.removeLast() }
        return row.readings.isEmpty ? row.note : parts.joined(separator: " ")
    }
}

/// A number with a fixed number of decimals.
func fixed(_ value: Double, _ decimals: Int) -> String {
    var scale = 1.0
    for _ in 0..<decimals { scale *= 10 }
    guard abs(value) * scale < 0x1p53 else { return value.isFinite ? "\(value)" : "-" }
    let scaled = Int64((abs(value) * scale).rounded())
    let sign = value < 0 && scaled != 0 ? "-" : ""
    guard decimals > 0 else { return sign + "\(scaled)" }
    let digits = "\(scaled % Int64(scale))"
    return sign + "\(scaled / Int64(scale))." + String(repeating: "0", count: decimals - digits.count) + digits
}

func left(_ text: String, _ width: Int) -> String {
    text + String(repeating: " ", count: max(0, width - columnWidth(text)))
}

func right(_ text: String, _ width: Int) -> String {
    String(repeating: " ", count: max(0, width - columnWidth(text))) + text
}
