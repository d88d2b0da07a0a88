// SPDX-License-Identifier: MIT
import CTendon
import Tendon
import TestSupport
import Testing

@testable import TendonFeelSpace

/// Calls that wait for the result of a command, and what a released manager leaves.
@Suite(.timeLimit(.minutes(1))) struct OutcomeTests {
    private static let lost = TendonError(status: Int32(TENDON_ERROR_DISCONNECTED), operation: .write)

    @Test func aResultIsForItsOwnCommand() {
        var outcomes = CommandOutcomes()
        var results: [String] = []
        func note(_ name: String) -> (TendonError?) -> Void { { results.append("\(name) \($0?.name ?? "done")") } }
        _ = outcomes.wait(for: 7, note("a"))
        _ = outcomes.wait(for: 8, note("b"))
        let withdrawn = outcomes.wait(for: 8, note("c"))
        outcomes.withdraw(withdrawn)
        func finish(_ id: UInt32, _ error: TendonError?) {
            for waiter in outcomes.finished(id, error) { waiter.completion(error) }
        }
        finish(9, nil)
        #expect(results == [])
        finish(8, Self.lost)
        finish(8, nil)
        #expect(results == ["b ERROR_DISCONNECTED"])
        finish(7, nil)
        #expect(results == ["b ERROR_DISCONNECTED", "a done"])
        _ = outcomes.wait(for: 10, note("d"))
        _ = outcomes.wait(for: 11, note("e"))
        for waiter in outcomes.takeAll() { waiter.completion(Self.lost) }
        #expect(outcomes.takeAll().isEmpty)
        #expect(results.suffix(2) == ["d ERROR_DISCONNECTED", "e ERROR_DISCONNECTED"])
        #expect(results.count == 4)
    }

    /// In the middle of a search, and connected.
    @Test(arguments: [false, true]) @TendonActor func nothingIsLeftOfWhatIsAbandoned(isConnected: Bool) async throws {
        let site = try await Site()
        let manager = FSConnectionManager(radio: site.radio, bonds: .memory)
        if isConnected { try await manager.connect(to: site.device) } else { manager.scanForBelt() }
        let core = manager.lifetime.core
        #expect(leftovers(of: core).contains("connectionFeed"))
        core.abandon()
        #expect(leftovers(of: core) == [])
        await eventually("the belt sees us go") { await site.belt.connections == 0 }
    }

    /// A command that ends in the call that queues it, also when that call is within another one.
    @Test func aResultThatIsEarly() {
        var outcomes = CommandOutcomes()
        outcomes.begin()
        _ = outcomes.finished(7, Self.lost)
        let early = outcomes.end(7)
        #expect(early?.id == 7 && early?.error == Self.lost)
        // It is not kept for the next one.
        outcomes.begin()
        let next = outcomes.end(7)
        #expect(next == nil)
        outcomes.begin()
        outcomes.begin()
        _ = outcomes.finished(1, nil)
        _ = outcomes.finished(2, Self.lost)
        let inner = outcomes.end(2)
        let outer = outcomes.end(1)
        #expect(inner?.error == Self.lost)
        #expect(outer?.id == 1 && outer?.error == nil)
        // Outside of such calls nothing is early.
        _ = outcomes.finished(3, nil)
        outcomes.begin()
        let late = outcomes.end(3)
        #expect(late == nil)
    }
}
