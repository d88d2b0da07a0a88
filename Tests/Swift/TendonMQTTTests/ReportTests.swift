// SPDX-License-Identifier: MIT
// Few lines about the broker, by the time that the test sets; and causes of failures in words.
import Testing

@testable import TendonMQTT

@Suite struct ReportTests {
    /// Two gateways of one name end each other's connections: one line, until there is peace.
    @Test func aConnectionThatComesAndGoes() {
        var report = ConnectionReport(broker: "b")
        var lines: [String] = []
        for second in UInt64(1)...100 {
            report.connected(1000 * second)
            lines += [report.due(1000 * second + 400, waiting: 0)].compactMap(\.self)
            lines += [report.disconnected("taken over", isRefused: false, 1000 * second + 500)].compactMap(\.self)
            lines += [report.disconnected("no route", isRefused: false, 1000 * second + 700)].compactMap(\.self)
        }
        #expect(lines == ["b: connection lost: taken over; trying again", "b: no connection: no route; trying again"])
        #expect(report.deadline == .max)
        report.connected(200_000)
        #expect(report.deadline == 205_000 && report.due(204_999, waiting: 3) == nil)
        #expect(report.due(205_000, waiting: 3) == "b: connected again after 198 s; 3 messages wait")
        #expect(report.deadline == .max && report.due(300_000, waiting: 3) == nil)
        // Then it is worth a line again.
        #expect(report.disconnected("taken over", isRefused: false, 400_000) != nil)
    }

    /// Each connection lasts long enough to be worth a line, and is lost again: lines of an hour, and of the next.
    @Test(arguments: [6, 60, 100] as [UInt64])
    func aBrokerThatIsRestartedForEver(seconds: UInt64) {
        var report = ConnectionReport(broker: "b")
        var hours = [0, 0]
        for now in stride(from: UInt64(0), to: 7_200_000, by: Int(1000 * seconds) + 30_000) {
            report.connected(now)
            for later in stride(from: now, through: now + 1000 * seconds, by: 1000)
            where report.due(later, waiting: 0) != nil {
                hours[later < 3_600_000 ? 0 : 1] += 1
            }
            let lost = now + 1000 * seconds
            hours[lost < 3_600_000 ? 0 : 1] += report.disconnected("gone", isRefused: false, lost) == nil ? 0 : 1
        }
        #expect(hours[0] <= 12 && hours[1] == 0, "\(hours)")
    }

    /// A broker that makes reasons up does not fill the log either.
    @Test func reasonsOfOneOutage() {
        var report = ConnectionReport(broker: "b")
        let lines = (0..<100).compactMap { report.disconnected("\($0)", isRefused: true, UInt64($0)) }
        #expect(lines.count == 8 && lines[0] == "b: the broker refuses the connection: 0; trying again")
    }

    /// An access list that permits nothing, for a day: two messages per second.
    @Test func refusedMessages() {
        var report = RefusalReport()
        var lines: [String] = []
        for now in stride(from: UInt64(1000), to: 86_401_000, by: 500) {
            lines += [report.due(now), report.refused("t/\(now)", "Not authorized", now)].compactMap(\.self)
        }
        #expect(lines.first == "the broker refuses a message to t/1000: Not authorized")
        #expect(lines[1] == "the broker has refused 119 more messages, the last one to t/60500: Not authorized")
        #expect(lines.count == 29)
        // A quiet time ends it.
        #expect(report.due(report.deadline)?.isEmpty == false)
        #expect(report.due(report.deadline) == nil && report.deadline == .max)
        #expect(report.refused(nil, "Quota exceeded", 99_999_999) == "the broker refuses a message: Quota exceeded")
    }

    /// A broker that ends the connection because of a message: three times, once for each message.
    @Test func aMessageWithWhichConnectionsEnd() {
        var report = ObstacleReport()
        #expect((0..<2).compactMap { _ in report.lost(with: (7, "t", 9)) }.isEmpty)
        #expect(report.lost(with: nil) == nil)
        let lines = (0..<10).map { _ in report.lost(with: (7, "t/x", 1200)) }
        #expect(lines.map { $0 != nil } == [false, false, true] + Array(repeating: false, count: 7))
        #expect(
            lines[2] == "3 connections were lost before the broker acknowledged the message to t/x (1200 bytes): "
                + "what follows waits; see whether the broker takes this topic, and so many bytes")
        #expect((0..<3).map { _ in report.lost(with: (8, "t", 9)) }.compactMap(\.self).count == 1)
    }

    /// As libmosquitto 2.0 with OpenSSL 3 logs them.
    @Test(arguments: [
        (["OpenSSL Error[0]: error:0A000086:SSL routines::certificate verify failed"], "is not trusted: self-signed"),
        (
            [
                "Error: host name verification failed.",
                "OpenSSL Error[0]: error:0A000086:SSL routines::certificate verify failed",
            ], "is for another host name"
        ),
        (["OpenSSL Error[0]: error:0A00010B:SSL routines::wrong version number"], "does not speak TLS"),
        (["OpenSSL Error[0]: error:0A000126:SSL routines::unexpected eof while reading"], "needs mqtt://"),
        (["OpenSSL Error[0]: error:0A00045C:SSL routines::tlsv13 alert certificate required"], "--mqtt-certificate"),
        (["OpenSSL Error[0]: error:0A000102:SSL routines::unsupported protocol"], "TLS: unsupported protocol"),
    ])
    func causesOfTLS(logged: [String], words: String) {
        #expect(FailureCause.words(for: logged)?.contains(words) == true)
        #expect(FailureCause.words(for: []) == nil)
    }
}
