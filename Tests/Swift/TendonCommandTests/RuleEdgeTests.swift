// SPDX-License-Identifier: MIT
// Rules at their limits, and when something else happens meanwhile.
import Foundation
import Synchronization
import Tendon
import TendonOutputs
import TendonSupport
import TestSupport
import Testing

@testable import TendonCommand

@Suite struct RuleEdgeTests {
    /// Devices come and go: those of which nothing matters any more make room for others.
    @Test(arguments: ["activ5.squeeze every 1 s => publish x y", "activ5.force > 5 every 1 s => publish x y"])
    func moreDevicesThanARuleRemembers(_ text: String) throws {
        var engine = RuleEngine([try Rule(text)])
        func decides(_ number: Int, at now: UInt64) -> Int {
            let device = RuleDevice(family: "activ5", address: "\(number)")
            let count =
                engine.happened("squeeze", to: device, at: now).count
                + engine.value("force", 6, of: device, at: now).count
            _ = engine.value("force", 1, of: device, at: now)
            _ = engine.happened("disconnected", to: device, at: now)
            return count
        }
        for number in 0..<1024 { #expect(decides(number, at: 1000) == 1) }
        #expect(decides(1024, at: 1999) == 0, "all of them still matter")
        for number in 1025..<4000 { #expect(decides(number, at: UInt64(number) * 1000) == 1, "\(number)") }
        #expect(decides(3999, at: 3_999_999) == 0, "too soon")
    }

    /// A line whose address is none has no device, and ends nothing.
    @Test(arguments: [("", ""), ("", "random"), ("/", "/"), ("C0:00:00:00:00:01", ""), ("x/y", "public")])
    func anAddressThatIsNone(_ address: String, _ type: String) throws {
        let lines = PlayedLines()
        let board = RuleBoard([try Rule("activ5.force > 0 => publish x y")])
        board.report(to: Events(style: .none, others: [lines]))
        let device = OutputDevice(family: "activ5", address: address, addressType: type)
        board.event("sample", of: device) { $0.raw("{\"event\":\"sample\",\"force_n\":1}\n") }
        let all = lines.all.withLock { $0 }
        #expect(all.count == 2 && all.allSatisfy { $0["address"] == nil }, "\(all)")
    }

    /// The device of the event if it has an orientation, else each that has one; what comes of it is in the line.
    @Test(arguments: [
        ("bose", 1, 0, ["C0:00:00:00:00:01/random"]), ("activ5", 3, 0, ["C0:00:00:00:00:01/random", "all"]),
    ])
    func recentering(_ family: String, _ devices: Int64, _ missed: Int64, _ wanted: [String]) throws {
        let lines = PlayedLines()
        let board = RuleBoard([try Rule("\(family).connected => osc.recenter")])
        board.report(to: Events(style: .none, others: [lines]))
        let device = OutputDevice(family: family, address: "C0:00:00:00:00:01", addressType: "random")
        func connect() { board.event("connected", of: device) { $0.raw("{\"event\":\"connected\"}\n") } }
        connect()
        #expect(lines.all.withLock { $0.last?["missed"] } == 1, "no output can do it")
        let asked = Mutex<[String]>([])
        board.onRecenter { device in
            asked.withLock { $0.append(device?.key ?? "all") }
            return device == nil ? 3 : device?.family == "bose" ? 1 : 0
        }
        connect()
        #expect(lines.all.withLock { $0.last?["devices"] } == .integer(devices))
        #expect(lines.all.withLock { $0.last?["missed"] } == .integer(missed))
        #expect(asked.withLock { $0 } == wanted)
    }

    /// Each device that was recentered has an event as of any other action.
    @Test func theEventOfRecentering() {
        final class Sound: EventOutput {
            let devices: [OutputDevice]
            init(_ devices: [OutputDevice]) { self.devices = devices }
            func event(_ event: EventName, of device: OutputDevice?, _ compose: (inout LineWriter) -> Void) {}
            func recenter(_ device: OutputDevice?) -> [OutputDevice] { devices }
        }
        let lines = PlayedLines()
        let devices = ["C0:00:00:00:00:01", "C0:00:00:00:00:02"].map {
            OutputDevice(family: "bose", address: $0, addressType: "random", name: "head \($0.last!)", isNamed: true)
        }
        let recenter = Gateway.recenter([lines, Sound(devices)], Events(style: .none, others: [lines]))
        #expect(recenter(nil) == 2)
        let made = lines.all.withLock { $0.map { LineWriter.text($0) } }
        #expect(made.count == 2)
        for (line, number) in zip(made, 1...) {
            #expect(
                line.contains(
                    #""event":"action","family":"bose","address":"C0:00:00:00:00:0\#(number)","address_type":"random","name":"head \#(number)","action":"osc.recenter""#
                ), "\(line)")
        }
    }

    /// What has held for a part of its time goes on with a rule that another configuration has as well.
    @Test func aTimeOverAReload() throws {
        let rules = [try Rule("activ5.force > 0 for 60 min => publish x y")]
        let board = RuleBoard(rules)
        let device = OutputDevice(family: "activ5", address: "C0:00:00:00:00:01", addressType: "random")
        func sample() { board.event("sample", of: device) { $0.raw("{\"event\":\"sample\",\"force_n\":1}\n") } }
        #expect(board.deadline == .max)
        sample()
        let first = board.deadline
        #expect(first != .max)
        board.replace([try Rule("bose.yaw > 0 => publish x y")] + rules, [:])
        #expect(board.deadline == first)
        board.replace([try Rule("activ5.force > 0 for 50 min => publish x y")], [:])
        #expect(board.deadline == .max, "of another one nothing is known")
        sample()
        #expect(board.deadline != .max)
    }

    /// A pause that is written after the condition is not cut short, and a value that is beyond its limit has crossed it.
    @Test func decisionsOverAReload() throws {
        let rules = try ["activ5.force > 5 => publish x y", "activ5.squeeze every 60 min => publish x y"].map {
            try Rule($0)
        }
        let device = RuleDevice(family: "activ5", address: "x")
        let line: [RuleInput] = [.value("force", 9), .happened("squeeze", [])]
        var engine = RuleEngine(rules)
        #expect(engine.take(line, of: device, at: 1000).map(\.index) == [0, 1])
        engine = RuleEngine(rules.reversed(), after: engine)
        #expect(engine.take(line, of: device, at: 2000).isEmpty)
        engine = RuleEngine(rules + rules, after: engine)
        #expect(engine.take(line, of: device, at: 3000).map(\.index) == [2, 3], "each once")
        // A rule about a name, of a device that has it no longer.
        let address = WantedAddress(Address(0xC0, type: .random))
        let named = [
            try DeviceNames.shared.during([(address, "left")]) {
                Result { () throws(CommandError) in try Rule("left.force > 5 for 10 s => publish x y") }
            }.get()
        ]
        let left = RuleDevice(family: "activ5", address: "x", name: "left")
        var names = RuleEngine(named)
        #expect(names.take([.value("force", 9)], of: left, at: 1000).isEmpty && names.deadline == 11_000)
        #expect(RuleEngine(named, after: names).deadline == 11_000)
        names = RuleEngine(named, after: names) { _, _ in false }
        #expect(names.deadline == nil && names.tick(20_000).isEmpty)
    }

    /// A capture over which the clock was set back by a year, and forward again: pauses and times pass as the lines do.
    @Test func aDryRunOverAClockThatIsSet() throws {
        let lines = PlayedLines()
        let run = RuleTrial(
            [try Rule("activ5.force > 0 every 2 s => publish x y")], Events(style: .none, others: [lines]))
        let device = OutputDevice(family: "activ5", address: "C0:00:00:00:00:01", addressType: "random")
        func sample(_ time: String, _ force: Int) {
            run.event("sample", of: device) {
                $0.raw("{\"time\":\"\(time).000000Z\",\"event\":\"sample\",\"force_n\":\(force)}\n")
            }
        }
        for time in ["2026-01-01T00:00:00", "2025-01-01T00:00:00", "2025-01-01T00:00:03", "2027-01-01T00:00:00"] {
            sample(time, 1)
            sample(time, 0)
        }
        let times = lines.all.withLock { $0.compactMap { $0["time"]?.string?.prefix(19) } }
        #expect(times == ["2026-01-01T00:00:00", "2025-01-01T00:00:03", "2027-01-01T00:00:00"])
    }

    /// A program that is not there any more, forty times: each execution fails with its reason and leaves its place.
    @Test func aProgramThatCannotBeStarted() async throws {
        let runner = ProgramRunner()
        let missing = Program("gone", ["command": missingPath(), "at-most": "16"])
        for _ in 0..<40 {
            let result = await withCheckedContinuation { continuation in
                runner.run(missing, [:]) { continuation.resume(returning: $0) }
            }
            #expect(result.failure == "No such file or directory")
        }
        // No thread, while sixteen wait for nothing.
        for _ in 0..<40 {
            let failure = Mutex<String?>(nil)
            _ = failing("pthread_create", with: EAGAIN) {
                runner.run(missing, [:]) { result in failure.withLock { $0 = result.failure } }
            }
            #expect(failure.withLock { $0 } == "Resource temporarily unavailable")
        }
        let there = Program("there", ["command": "/bin/true"])
        let result = await withCheckedContinuation { continuation in
            runner.run(there, [:]) { continuation.resume(returning: $0) }
        }
        #expect(result.failure == nil)
    }
}
