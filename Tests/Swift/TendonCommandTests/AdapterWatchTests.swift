// SPDX-License-Identifier: MIT
import Tendon
import TendonOutputs
import Testing

@testable import TendonCommand

/// What is reported when an adapter, or the kernel, does nothing.
@Suite struct AdapterWatchTests {
    @Test func eachChangeIsOneMessage() {
        var watch = AdapterWatch()
        #expect(watch.update(0, AdapterCounters()).isEmpty)
        let stuck = watch.update(0, AdapterCounters(connectReissues: 2))
        #expect(
            stuck == [
                .init(
                    level: .notice,
                    text: "an attempt to connect was repeated because the kernel did not act on it; 2 times so far")
            ])
        #expect(watch.update(0, AdapterCounters(connectReissues: 2)).isEmpty, "it did not change")
        let more = watch.update(
            0, AdapterCounters(connectReissues: 2, scanRestarts: 1, powerCycles: 1), adapter: "hci1")
        #expect(more.map(\.level) == [.notice, .warning])
        #expect(
            more.first?.text == "hci1: the scan was restarted because no advertisement was received; 1 times so far")
        #expect(more.last?.text == "hci1: the adapter was powered off and on because it did nothing; 1 times so far")
    }

    /// A radio that is opened again counts from 0, and so does another one.
    @Test func theSumsGoOn() {
        var watch = AdapterWatch()
        _ = watch.update(0, AdapterCounters(connectReissues: 5, powerCycles: 1))
        _ = watch.update(1, AdapterCounters(connectReissues: 1))
        #expect(watch.total == AdapterCounters(connectReissues: 6, powerCycles: 1))
        watch.close(0)
        #expect(watch.update(0, AdapterCounters(connectReissues: 2, scanRestarts: 4)).count == 2)
        #expect(watch.total == AdapterCounters(connectReissues: 8, scanRestarts: 4, powerCycles: 1))
        #expect(watch.update(1, AdapterCounters(connectReissues: 1)).isEmpty)
    }

    @Test func theFiguresHaveThem() throws {
        let arguments = try Arguments([], options: Option.common + Command.runAll.options)
        let gateway = try Gateway(try GatewayPlan(arguments, nil, family: nil), outputs: nil)
        gateway.count([0: AdapterCounters(connectReissues: 3)])
        gateway.count([0: AdapterCounters(connectReissues: 3, scanRestarts: 2), 1: AdapterCounters(connectReissues: 1)])
        #expect(gateway.reporter.adapterCounters == AdapterCounters(connectReissues: 4, scanRestarts: 2))

        let board = FigureBoard(GatewayCommands(RuleBoard([])))
        let reporter = Reporter()
        reporter.adapterCounters = AdapterCounters(connectReissues: 7, scanRestarts: 8, powerCycles: 9)
        board.watch(reporter, [])
        for (name, value) in [
            ("tendon_connect_reissues", 7.0), ("tendon_scan_restarts", 8), ("tendon_adapter_power_cycles", 9),
        ] {
            let metric = try #require(board.metrics().first { $0.name == name })
            #expect(metric.kind == .counter)
            #expect(metric.samples.map(\.value) == [value])
        }
    }
}
