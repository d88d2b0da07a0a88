// SPDX-License-Identifier: MIT
// A configuration that is read again while devices are served.
import Foundation
import Synchronization
import Tendon
import TendonOutputs
import TendonSupport
import TestSupport
import Testing

@testable import TendonCommand

/// A file of configuration, and a gateway that runs with it.
private final class Site {
    let path = NSTemporaryDirectory() + "tendon-reload-\(UUID().uuidString).conf"
    let gateway: Gateway
    private let origin: Gateway.Origin

    init(_ text: String) throws {
        try Data(text.utf8).write(to: URL(fileURLWithPath: path))
        let options = try Arguments([], options: Option.common + Command.runAll.options)
        let configuration = try Configuration(reading: path).checked()
        gateway = try Gateway(try GatewayPlan(options, configuration, family: nil), outputs: nil)
        origin = Gateway.Origin(options: options, family: nil, path: path)
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    func reload(_ text: String) throws {
        try Data(text.utf8).write(to: URL(fileURLWithPath: path))
        gateway.reload(origin)
    }
}

/// A reload changes what the whole program has: the names of devices, the level of messages. One of these tests at a time.
@Suite(.serialized) enum ConfigurationInUse {}

extension ConfigurationInUse {
    @Suite struct ReloadTests {
        /// The radios that are open are counted by their numbers: there are as many as before.
        @Test func fewerAdapters() throws {
            let site = try Site("[gateway]\nadapter = hci0, hci1, hci2\n")
            try site.reload("[gateway]\nadapter = hci0, hci1\nreconnect = no\n[output]\nlog-level = info\n")
            site.gateway.count([2: AdapterCounters(connectReissues: 1)])
            let settings = site.gateway.settings
            #expect(settings.radios.count == 3)
            #expect(settings.reconnects)
            #expect(settings.logLevel == .info)
            #expect(site.gateway.plan.needsRestart == ["gateway.adapter", "gateway.reconnect"])
            // It is still so after another one, until the file has the running values again.
            try site.reload("[gateway]\nadapter = hci0, hci1\n")
            #expect(site.gateway.plan.needsRestart == ["gateway.adapter"])
            try site.reload("[gateway]\nadapter = hci0, hci1, hci2\n")
            #expect(site.gateway.plan.needsRestart == [])
            Log.level = .warning
        }

        /// A wrong value is reported now, also of a key that needs a restart.
        @Test func aWrongValueOfAFixedKey() throws {
            let site = try Site("[gateway]\nradio = virtual\n")
            try site.reload("[gateway]\nadapter = hci0, hci1\n[output]\ncapture = file\nlog-level = debug\n")
            #expect(site.gateway.settings.logLevel == .warning)
            #expect(site.gateway.plan.needsRestart == [])
        }

        /// The table decides, for each of its rows.
        @Test func eachRowOfTheTable() throws {
            let options = try Arguments([], options: Option.common + Command.runAll.options)
            for row in SettingsTable.rows where !row.name.isEmpty {
                var (running, wanted) = (options, options)
                running.prepend(row.name, [Arguments.Given(text: "before", source: .line(1))])
                wanted.prepend(row.name, [Arguments.Given(text: "after", source: .line(1))])
                wanted.take(SettingsTable.fixed, from: running)
                #expect(wanted.all(row.name) == [row.setting?.isFixed ?? false ? "before" : "after"], "\(row.name)")
            }
            let atOnce = SettingsTable.rows.filter {
                !($0.setting?.isFixed ?? false) && !($0.setting?.isPerDevice ?? false)
            }
            #expect(
                Set(atOnce.map(\.key)) == [
                    "known-only", "rule", "file", "log-level", "name", "serve", "command", "timeout", "at-most",
                ])
        }

        /// Rules change and go on another thread while a device reports values: each decision does what its own rule says.
        @Test func rulesWhileEventsFlow() async throws {
            let lines = PlayedLines()
            let first = try ["one", "two", "three"].map { try Rule("activ5.force > 0 => publish \($0) \($0)") }
            let second = try [Rule("activ5.force > 0 => publish four four")]
            let board = RuleBoard(first)
            board.report(to: Events(style: .none, others: [lines]))
            let device = OutputDevice(family: "activ5", address: "C0:00:00:00:00:01", addressType: "random")
            let isOver = Flag()
            async let reloads: Int = onThread {
                var count = 0
                while !isOver.isSet {
                    board.replace(count % 3 == 0 ? second : count % 3 == 1 ? [] : first, [:])
                    count += 1
                }
                return count
            }
            // How many of them are decided depends on the two threads.
            await onThread {
                var number = 0
                while number < 20_000 || (number < 2_000_000 && lines.all.withLock { $0.count } <= 100) {
                    board.event("sample", of: device) { $0.raw("{\"event\":\"sample\",\"force_n\":\(number % 2)}\n") }
                    number += 1
                }
                isOver.set()
            }
            #expect(await reloads > 0)
            // A line of `publish`, then that of its rule.
            let all = lines.all.withLock { $0 }
            #expect(all.count > 100)
            for index in stride(from: 0, to: all.count - 1, by: 2) {
                let name = all[index]["topic"]?.string ?? ""
                #expect(all[index + 1]["rule"]?.string == "activ5.force > 0 => publish \(name) \(name)")
            }
        }
    }
}
