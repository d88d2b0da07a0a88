// SPDX-License-Identifier: MIT
// Progress of a transfer: a bar that is drawn in its place on a terminal, events otherwise.
import CTendon
import Synchronization
import TendonSupport

/// A transfer of known size. From any thread.
final class ProgressBar: Sendable {
    private struct State {
        var estimate: TransferEstimate?
        var percent = -1
        var isDrawn = false
    }

    private let events: Events
    private let label: DeviceLabel?
    /// "download", "transfer".
    private let what: String
    let total: Int
    /// False: events only, because something else is on the terminal.
    private let mayDraw: Bool
    private let state = Mutex(State())

    init(_ what: String, total: Int, _ label: DeviceLabel?, _ events: Events, mayDraw: Bool = true) {
        (self.what, self.total, self.label, self.events, self.mayDraw) = (what, total, label, events, mayDraw)
    }

    private var isBar: Bool { mayDraw && events.style == .text && Output.error.isDrawable }

    /// So many bytes have arrived. Reports whole percents, each once; a lower number begins again.
    func update(_ bytes: Int, at now: UInt64 = tendon_monotonic_ms()) {
        let percent = total > 0 ? min(100, bytes * 100 / total) : 100
        let report = state.withLock { state -> TransferEstimate? in
            guard percent != state.percent else { return nil }
            if state.estimate == nil || percent < state.percent {
                state.estimate = TransferEstimate(start: now, from: bytes)
            }
            state.percent = percent
            state.estimate?.update(bytes, of: total, at: now)
            state.isDrawn = true
            return state.estimate
        }
        guard let report else { return }
        if isBar {
            let columns = Output.error.size.columns
            Output.error.write("\r\u{1B}[2K" + ProgressBar.line(what, percent, report, columns: columns))
        } else {
            var members: JSON = [
                "what": .string(what), "percent": JSON(percent), "bytes": JSON(bytes), "total_bytes": JSON(total),
            ]
            if let rate = report.rate { members["rate_bytes_per_s"] = JSON(Int(rate)) }
            if let left = report.secondsLeft { members["time_left_s"] = JSON(left) }
            events.event("progress", label) { $0.members(members) }
        }
    }

    /// Removes the bar.
    func finish() {
        let wasDrawn = state.withLock { state in
            defer { state.isDrawn = false }
            return state.isDrawn
        }
        if isBar, wasDrawn { Output.error.write("\r\u{1B}[2K") }
    }

    /// "transfer  [#####     ]  50 %  12.3 kB/s  0:35 left", never wider than the terminal.
    static func line(_ what: String, _ percent: Int, _ estimate: TransferEstimate, columns: Int) -> String {
        var end = right("\(percent)", 3) + " %"
        if let rate = estimate.rate { end += "  " + ProgressBar.rate(rate) }
        if let left = estimate.secondsLeft { end += "  " + ProgressBar.time(left) + " left" }
        let width = min(40, columns - what.count - end.count - 7)
        guard width >= 4 else { return clipped("\(what) \(end)", columns - 1) }
        let filled = width * percent / 100
        let bar = String(repeating: "#", count: filled) + String(repeating: " ", count: width - filled)
        return "\(what)  [\(bar)]  \(end)"
    }

    /// "12.3 kB/s".
    static func rate(_ bytes: Double) -> String {
        if bytes < 1000 { return "\(Int(bytes)) B/s" }
        return bytes < 1_000_000 ? "\(fixed(bytes / 1000, 1)) kB/s" : "\(fixed(bytes / 1_000_000, 1)) MB/s"
    }

    /// "0:35", "1:02:03".
    static func time(_ seconds: Int) -> String {
        func two(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
        let minutes = seconds / 60
        return minutes < 60
            ? "\(minutes):\(two(seconds % 60))" : "\(minutes / 60):\(two(minutes % 60)):\(two(seconds % 60))"
    }
}

/// Rate and time left, over what was transferred since the start.
struct TransferEstimate: Sendable, Equatable {
    private let start: UInt64
    private let from: Int
    /// Bytes per second; nil: too early to tell.
    private(set) var rate: Double?
    private(set) var secondsLeft: Int?

    /// `from`: what was there before, which is no part of the rate.
    init(start: UInt64, from: Int) {
        self.start = start
        self.from = from
    }

    mutating func update(_ bytes: Int, of total: Int, at now: UInt64) {
        guard now >= start + 200, bytes > from else {
            (rate, secondsLeft) = (nil, nil)
            return
        }
        let perSecond = Double(bytes - from) * 1000 / Double(now - start)
        rate = perSecond
        secondsLeft = Int((Double(max(0, total - bytes)) / perSecond).rounded(.up))
    }
}
