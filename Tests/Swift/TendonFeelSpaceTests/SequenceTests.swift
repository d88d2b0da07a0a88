// SPDX-License-Identifier: MIT
import Synchronization
import Tendon
import TestSupport
import Testing

@testable import TendonFeelSpace

/// Number of sequences that a feed serves.
private func sequences(of feed: Any) -> Int? {
    (Mirror(reflecting: feed).descendant("queues") as? any Collection)?.count
}

@Suite(.timeLimit(.minutes(1)))
struct SequenceTests {
    /// Each access to a property creates a sequence: one that is never iterated leaves nothing behind.
    @Test @TendonActor func oneThatIsNeverIteratedLeavesNothing() async throws {
        let manager = FSConnectionManager(radio: .virtual(directory: nil))
        let controller = FSNavigationController(connectionManager: manager)
        let navigation = try #require(Mirror(reflecting: controller).descendant("navigation") as? NavigationCore)
        let feeds: [Any] = [manager.lifetime.core.connectionFeed, manager.lifetime.core.commandFeed, navigation.feed]
        let before = feeds.map { sequences(of: $0) }
        let kept = (manager.updates, manager.commandManager.updates, controller.updates)
        #expect(feeds.map { sequences(of: $0) } == before.map { $0.map { $0 + 1 } })
        for _ in 0..<100 { _ = (manager.updates, manager.commandManager.updates, controller.updates) }
        await eventually("released") { feeds.map { sequences(of: $0) } == before.map { $0.map { $0 + 1 } } }
        withExtendedLifetime(kept) {}
    }

    /// The manager serves the latest controller; the one before ends its sequence.
    @Test @TendonActor func aControllerThatIsReplacedEndsItsSequence() async throws {
        let manager = FSConnectionManager(radio: .virtual(directory: nil))
        let core = manager.lifetime.core
        let first = FSNavigationController(connectionManager: manager)
        let updates = first.updates
        var second: FSNavigationController? = FSNavigationController(connectionManager: manager)
        for await _ in updates {}
        #expect(core.navigation != nil && second != nil)
        second = nil
        await eventually("detached") { core.navigation == nil }
        withExtendedLifetime(first) {}
    }

    /// Nothing but the sequence is left of the program: the connection lasts as long as it.
    @Test @TendonActor func aSequenceKeepsTheControllerAndItsConnection() async throws {
        let site = try await Site()
        var controller: FSNavigationController? = FSNavigationController(
            connectionManager: FSConnectionManager(radio: site.radio, bonds: .memory))
        var updates: EventStream<FSNavigationUpdate>? = controller?.updates
        try await controller?.searchAndConnect()
        weak var released = controller
        controller = nil
        await site.belt.press(.home)
        for await update in try #require(updates) {
            if case .homeButtonPressed(let navigating) = update {
                #expect(!navigating)
                break
            }
        }
        #expect(released != nil)
        updates = nil
        await eventually("the connection ends") { await site.belt.connections == 0 }
        await eventually("released") { released == nil }
    }

    @Test @TendonActor func messagesGoWhereTheProgramWantsThem() async throws {
        let site = try await Site()
        let messages = Mutex<[Message]>([])
        let before = Tendon.onMessage
        Tendon.onMessage = { message in messages.withLock { $0.append(message) } }
        defer { Tendon.onMessage = before }
        let manager = FSConnectionManager(radio: site.radio, bonds: .memory)
        FSConnectionManager.logBleEvents = true
        try await manager.connect(to: site.device)
        let texts = messages.withLock { $0.filter { $0.source == "feelspace" }.map(\.text) }
        #expect(texts.contains { $0.hasPrefix("stateChanged") })
    }

    /// The manager is released while they wait: each closure is called once.
    @Test @TendonActor func closuresThatWaitWhenTheManagerIsReleased() async throws {
        let site = try await Site()
        var manager: FSConnectionManager? = try await site.connected()
        weak var core = manager?.lifetime.core
        let errors = Errors()
        // The belt may respond before the manager is released: the outcome is either.
        manager?.commandManager.confirmed({ $0.changeBeltMode(.app) }) { errors.mode.append($0) }
        manager?.commandManager.requestBeltErrorLog { _ in errors.log += 1 }
        manager = nil
        await eventually("called") { errors.mode.count == 1 && errors.log == 1 }
        await eventually("released") { core == nil }
        #expect(errors.mode.count == 1 && errors.log == 1)
    }
}

@TendonActor
private final class Errors {
    var mode: [TendonError?] = []
    var log = 0
}
