// SPDX-License-Identifier: MIT
import CTendon
import Synchronization
import Tendon
import TendonOutputs
import TendonSupport
import TestSupport
import Testing

@testable import TendonCommand

/// How long a device waits for its next turn. Times are milliseconds since the start of the test's clock.
@Suite struct ReconnectionTests {
    private let device = Address(0xC000_0000_0001, type: .random)
    private static let pauses: [UInt64] = [
        1000, 2000, 4000, 8000, 16_000, 32_000, 60_000, 60_000, 60_000, 60_000, 60_000, 60_000,
    ]

    /// Gives the device a turn, which it must have at this time and not a millisecond before.
    private func begin(_ admission: Admission, at time: UInt64) {
        for now in [time - 1, time] {
            _ = admission.received(device, family: "bose", isPreferred: false, awaitsResponse: false, now: now)
            // Other attempts that failed do not hold this one back.
            #expect(admission.next(now: now).map(\.address) == (now == time ? [device] : []), "\(now)")
        }
    }

    private func found(_ random: @escaping @Sendable () -> UInt64) -> Admission {
        let admission = Admission(random: random)
        _ = admission.received(device, family: "bose", isPreferred: false, awaitsResponse: false, now: 500)
        #expect(admission.next(now: 500).map(\.address) == [device])
        return admission
    }

    @Test func thePauseIsDoubledUpToAMinute() {
        let admission = found { 0 }
        var now: UInt64 = 600
        for pause in Self.pauses {
            #expect(admission.left(device, failed: true, now: now) == pause)
            begin(admission, at: now + pause)
            now += pause + 10
        }
        // A failure that was not the device's, and the series goes on.
        #expect(admission.left(device, failed: false, now: now) == 500)
        begin(admission, at: now + 500)
        #expect(admission.left(device, failed: true, now: now + 600) == 60_000)
    }

    /// At most half of the pause is random.
    @Test(arguments: [UInt64.max, 500, 250])
    func aRandomPartIsAdded(_ number: UInt64) {
        let admission = found { number }
        for pause in Self.pauses {
            let expected = pause + number % (pause / 2 + 1)
            #expect(admission.left(device, failed: true, now: 1000) == expected)
            #expect(expected <= pause + pause / 2)
        }
        #expect(admission.left(device, failed: false, now: 1000) == 500 + number % 251)
    }

    @Test func gatewaysDoNotRetryAtTheSameTime() {
        let pauses = (0..<64).map { _ in
            let admission = Admission()
            _ = admission.received(device, family: "bose", isPreferred: false, awaitsResponse: false, now: 500)
            return admission.left(device, failed: true, now: 600)
        }
        #expect(Set(pauses).count > 8)
        #expect(pauses.allSatisfy { (1000...1500).contains($0) })
    }

    /// A device that connects and is lost again does not come back every half second for ever.
    @Test func aShortConnectionIsLikeAFailure() {
        let admission = found { 0 }
        var now: UInt64 = 600
        for (turn, pause) in Self.pauses.enumerated() {
            admission.connected(device, now: now)
            now += turn % 2 == 0 ? 0 : 9_999
            #expect(admission.lost(device, now: now) == pause)
            begin(admission, at: now + pause)
            now += pause + 10
        }
        // Failures and short connections are one series, which ends with a connection of ten seconds.
        #expect(admission.left(device, failed: true, now: now) == 60_000)
        now += 60_000
        begin(admission, at: now)
        admission.connected(device, now: now)
        #expect(admission.lost(device, now: now + 10_000) == 500)
        begin(admission, at: now + 10_500)
        #expect(admission.left(device, failed: true, now: now + 10_600) == 1000)
    }

    /// A user, a new configuration or a lost radio ended it: the next turn comes soon.
    @Test func aShortConnectionThatWasEndedIsNoSetback() {
        let admission = found { 0 }
        for time: UInt64 in [1000, 2000, 3000] {
            admission.connected(device, now: time)
            #expect(admission.left(device, failed: false, now: time + 100) == 500)
        }
        admission.connected(device, now: 4000)
        #expect(admission.lost(device, now: 4100) == 1000)
    }
}

/// What a series of turns reports.
@Suite struct TurnTests {
    /// Fails, connects and is lost at once, or connects and is ended by the user.
    private enum Script { case fails, isLost, isEnded }

    @TendonActor
    private final class Server: DeviceServer {
        nonisolated let served: ServedDevice
        var script = Script.fails
        var identity: JSON { [:] }

        init(_ served: ServedDevice) { self.served = served }

        func open() async throws(ServingError) {
            if script == .fails { throw .failed("no response", canRetry: true) }
        }

        func stream() async -> Ending { script == .isLost ? .lost : .requested }
    }

    private final class Lines: EventOutput {
        let pauses = Mutex<[Double]>([])

        func event(_ event: EventName, of device: OutputDevice?, _ compose: (inout LineWriter) -> Void) {
            guard event.isEqual(to: "connect_failed") else { return }
            var writer = LineWriter()
            compose(&writer)
            guard let pause = (try? JSON(parsing: writer.bytes))?["retry_in_s"]?.number else { return }
            pauses.withLock { $0.append(pause) }
        }
    }

    @TendonActor
    @Test func theEventHasThePause() async throws {
        let directory = RadioDirectory()
        let central = try await Central(radio: directory.radio, bonds: .none)
        let arguments = try Arguments([], options: Option.common + Command.runAll.options)
        let (lines, admission) = (Lines(), Admission(random: { 0 }))
        let label = DeviceLabel("bose", directory.address)
        let reporter = Reporter(json: true, lines: false, others: [lines])
        let server = Server(
            ServedDevice(
                label: label, central: central, settings: try StreamSettings(arguments), reporter: reporter,
                rules: RuleBoard([]), admission: admission, row: reporter.add(label)))
        let scripts: [Script] = [.fails, .fails, .isLost, .fails, .isEnded, .fails, .fails, .fails, .fails, .fails]
        for script in scripts {
            _ = admission.received(directory.address, family: "bose", isPreferred: false, awaitsResponse: false)
            server.script = script
            await server.serve()
        }
        // The third setback, 4 s, was the short connection.
        #expect(lines.pauses.withLock { $0 } == [1, 2, 8, 16, 32, 60, 60, 60])
        central.close()
    }
}
