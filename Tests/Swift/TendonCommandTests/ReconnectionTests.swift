// SPDX-License-Identifier: MIT
import CTendon
import Synchronization
import Tendon
import TendonOutputs
import TendonSupport
import TestSupport
import Testing

@testable import TendonCommand

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
        let (lines, turns) = (Lines(), Turns(random: .zero))
        let label = DeviceLabel("bose", directory.address)
        let reporter = Reporter(json: true, lines: false, others: [lines])
        let server = Server(
            ServedDevice(
                label: label, central: central, settings: try StreamSettings(arguments), reporter: reporter,
                rules: RuleBoard([]), turns: turns, row: reporter.add(label)))
        try turns.use(central, as: 0)
        let scripts: [Script] = [.fails, .fails, .isLost, .fails, .isEnded, .fails, .fails, .fails, .fails, .fails]
        for script in scripts {
            _ = turns.received(directory.address)
            server.script = script
            await server.serve()
        }
        // The third setback, 4 s, was the short connection.
        #expect(lines.pauses.withLock { $0 } == [1, 2, 8, 16, 32, 60, 60, 60])
        turns.stop(0, central)
        central.close()
    }
}
