// SPDX-License-Identifier: MIT
// Messages about the broker: few lines, however often the same thing happens. No input or output here: what
// happened and the time come in, lines go out. Times are milliseconds.

/// The connection. One that comes and goes is one line for each reason, until it has lasted for a time. That time doubles with
/// each outage: a broker that fails again and again must not fill the log.
struct ConnectionReport {
    let broker: String
    /// Reasons of this outage that were reported.
    private var reported: Set<String> = []
    private var lostAt: UInt64?
    private var connectedAt: UInt64?
    private var patience = ConnectionReport.firstPatience
    private static let firstPatience: UInt64 = 5000
    private static let longestPatience: UInt64 = 3_600_000
    /// Reasons of one outage that are reported at most.
    private static let limit = 8

    init(broker: String) { self.broker = broker }

    mutating func connected(_ now: UInt64) { connectedAt = now }

    /// The connection, or an attempt, ended.
    mutating func disconnected(_ reason: String, isRefused: Bool, _ now: UInt64) -> String? {
        let what =
            isRefused
            ? "the broker refuses the connection" : connectedAt != nil ? "connection lost" : "no connection"
        if let connectedAt {
            lostAt = lostAt ?? now
            if now - connectedAt >= ConnectionReport.longestPatience { patience = ConnectionReport.firstPatience }
        }
        connectedAt = nil
        guard reported.count < ConnectionReport.limit, reported.insert(reason).inserted else { return nil }
        return "\(broker): \(what): \(reason); trying again"
    }

    /// When `due` has something to say.
    var deadline: UInt64 {
        guard let connectedAt, !reported.isEmpty else { return .max }
        return connectedAt + patience
    }

    mutating func due(_ now: UInt64, waiting: Int) -> String? {
        guard let connectedAt, now >= deadline else { return nil }
        defer { (reported, lostAt) = ([], nil) }
        guard let lostAt else { return "\(broker): connected" }
        patience = min(2 * patience, ConnectionReport.longestPatience)
        return "\(broker): connected again after \((connectedAt - lostAt) / 1000) s; \(waiting) messages wait"
    }
}

/// Messages that the broker refuses: the first one with its topic, those that follow as a count from time to time.
struct RefusalReport {
    /// Since the last line.
    private var count = 0
    private var last = ""
    private var reportedAt: UInt64 = 0
    /// 0: none was refused for a time.
    private var pause: UInt64 = 0
    private static let firstPause: UInt64 = 60_000
    private static let longestPause: UInt64 = 3_600_000

    /// - Parameter topic: nil: a message of which only the number is known.
    mutating func refused(_ topic: String?, _ reason: String, _ now: UInt64) -> String? {
        last = (topic.map { " to \($0)" } ?? "") + ": " + reason
        guard pause == 0 else {
            count += 1
            return nil
        }
        (pause, reportedAt) = (RefusalReport.firstPause, now)
        return "the broker refuses a message" + last
    }

    var deadline: UInt64 { pause == 0 ? .max : reportedAt + pause }

    mutating func due(_ now: UInt64) -> String? {
        guard now >= deadline else { return nil }
        reportedAt = now
        guard count > 0 else {
            pause = 0
            return nil
        }
        pause = min(2 * pause, RefusalReport.longestPause)
        defer { count = 0 }
        return "the broker has refused \(count) more messages, the last one" + last
    }
}

/// A message with which connections end: a broker without the reasons of MQTT 5 that does not take it ends the connection, and it is
/// the first one of the next connection again.
struct ObstacleReport {
    private var number: UInt64 = 0
    /// Connections in succession that ended while it was the oldest one without an acknowledgement.
    private var losses = 0
    private static let suspicious = 3

    /// A connection was lost. Returns what is to be reported, once for each message.
    mutating func lost(with oldest: (number: UInt64, topic: String, size: Int)?) -> String? {
        guard let oldest else {
            losses = 0
            return nil
        }
        losses = oldest.number == number ? losses + 1 : 1
        number = oldest.number
        guard losses == ObstacleReport.suspicious else { return nil }
        return "\(losses) connections were lost before the broker acknowledged the message to \(oldest.topic) "
            + "(\(oldest.size) bytes): what follows waits; see whether the broker takes this topic, and so many bytes"
    }
}
