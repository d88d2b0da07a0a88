// SPDX-License-Identifier: MIT
import CTendon
import Synchronization
import Tendon
import TestSupport
import Testing

@testable import TendonBose

/// Prompts for pairing mode: who is asked, and that each prompt ends.
@Suite(.timeLimit(.minutes(1)))
struct PromptTests {
    private static func site(inPairingMode: Bool) async throws -> Site {
        var options = SimulatedWearable.Options()
        options.requiresPairing = true
        options.isInPairingMode = inPairingMode
        return try await Site(options)
    }

    /// What a handler was called with.
    private final class Prompts: Sendable {
        private let calls = Mutex<[String]>([])
        var all: [String] { calls.withLock { $0 } }
        func note(_ prompt: PairingPrompt) {
            let call =
                switch prompt {
                case .begin: "begin"
                case .end(_, let error): error.map { "\($0)" } ?? "paired"
                }
            calls.withLock { $0.append(call) }
        }
    }

    /// A program that sets nothing: the device is in pairing mode, so there is nothing to ask.
    @Test @TendonActor func noHandlerIsNeededInPairingMode() async throws {
        let site = try await Self.site(inPairingMode: true)
        let library = site.boseWearable { $0.pairing = .scripted(succeeds: true, after: .seconds(1)) }
        let attempt = Task { @TendonActor in try await library.startConnection() }
        // Not on this actor, which may be busy until pairing has succeeded.
        await Task.detached {
            await eventually("connected") { await site.wearable.connections == 1 }
            await site.wearable.acceptPairing()
        }.value
        #expect(try await attempt.value.isOpen)
    }

    @Test @TendonActor func outOfPairingModeSomebodyMustBeAsked() async throws {
        let site = try await Self.site(inPairingMode: false)
        await #expect(throws: BoseWearableError.pairingDelegateMissing) {
            try await site.boseWearable { $0.pairing = .scripted(succeeds: true) }.startConnection()
        }
    }

    /// The limit of an attempt is paused while the wearer is prompted.
    @Test @TendonActor func waitingForPairingModeHasNoLimit() async throws {
        let site = try await Self.site(inPairingMode: false)
        let prompts = Prompts()
        let library = site.boseWearable {
            $0.timeout = .seconds(50)
            $0.pairing = .scripted(succeeds: true)
            $0.pairingHandler = { prompts.note($0) }
        }
        let attempt = Task { @TendonActor in try await library.startConnection() }
        await eventually("a prompt") { prompts.all == ["begin"] }
        let watchdog = try #require(library.bluetoothManager.watchdog)
        #expect(watchdog.isPaused)
        await site.wearable.acceptPairing()
        await site.wearable.setPairingMode(true)
        await eventually("paired") { prompts.all == ["begin", "paired"] }
        #expect(!watchdog.isPaused)
        #expect(try await attempt.value.isOpen)
    }

    private static func session() throws(BoseWearableError) -> WearableDeviceSession { throw .deviceNotFound }

    /// A limit that is paused never ends, whatever time passes; resumed, what is left of it does.
    @Test @TendonActor func aPausedLimit() async throws {
        let watchdog = Watchdog(.milliseconds(30))
        let attempt = Task { @TendonActor in
            try await watchdog.run { () async throws(BoseWearableError) in
                watchdog.resume()
                watchdog.pause()
                watchdog.pause()
                try? await Task.sleep(for: .milliseconds(60))
                guard !watchdog.hasExpired, !Task.isCancelled else { throw .cancelled }
                watchdog.resume()
                #expect(!watchdog.isPaused)
                try? await Task.sleep(for: .seconds(50))
                throw .cancelled
            }
        }
        await #expect(throws: BoseWearableError.cancelled) { try await attempt.value }
        #expect(watchdog.hasExpired)
        watchdog.stop()
        // Without a limit there is nothing to pause.
        let endless = Watchdog(nil)
        endless.pause()
        #expect(!endless.isPaused)
        await #expect(throws: BoseWearableError.deviceNotFound) {
            try await endless.run { () async throws(BoseWearableError) in try Self.session() }
        }
    }

    /// What ends a connection attempt while the wearer is prompted.
    enum End: CaseIterable {
        case cancelled, disconnected, released
    }

    @Test(arguments: End.allCases) @TendonActor func aPromptAlwaysEnds(_ end: End) async throws {
        let site = try await Self.site(inPairingMode: false)
        let prompts = Prompts()
        let central = try await Central(radio: site.radio, bonds: .memory)
        var session: WearableDeviceSession? = WearableDeviceSession(site.wearable.address, on: central) {
            prompts.note($0)
        }
        session?.open()
        await eventually("a prompt") { prompts.all == ["begin"] }
        switch end {
        case .cancelled: session?.close()
        case .disconnected: await site.wearable.disconnectAll()
        case .released: session = nil
        }
        let reason = end == .disconnected ? "disconnectedByDevice" : "cancelled"
        await eventually("the prompt ends") { prompts.all == ["begin", reason] }
        await eventually("the connection ends") { await site.wearable.connections == 0 }
        #expect(prompts.all == ["begin", reason])
        _ = session
    }

    /// Whoever was prompted learns of the end, and nobody else: a delegate may come in between.
    @Test @TendonActor func theEndGoesToTheOneThatWasPrompted() async throws {
        let site = try await Self.site(inPairingMode: false)
        let prompts = Prompts()
        let central = try await Central(radio: site.radio, bonds: .memory)
        let session = WearableDeviceSession(site.wearable.address, on: central) { prompts.note($0) }
        session.open()
        await eventually("a prompt") { prompts.all == ["begin"] }
        let delegate = Delegate()
        session.pairingDelegate = delegate
        await session.closeAndWait()
        await eventually("the prompt ends") { prompts.all == ["begin", "cancelled"] }
        // The next prompt is the delegate's alone.
        session.open()
        await eventually("the delegate is asked") { delegate.calls.contains("begin") }
        session.close()
        await eventually("it learns of the end") { delegate.calls.last == "end" }
        #expect(prompts.all == ["begin", "cancelled"])
    }

    private final class Delegate: WearableDeviceSessionPairingDelegate {
        var calls: [String] = []
        func sessionRequiresPairingMode(_ session: WearableDeviceSession) { calls.append("begin") }
        func session(
            _ session: WearableDeviceSession, finishedPairingWithResult result: Result<Void, any Error>
        ) { calls.append("end") }
    }

    @Test @TendonActor func cancellingEndsTheAttemptAndThePrompt() async throws {
        let site = try await Self.site(inPairingMode: false)
        let prompts = Prompts()
        let library = site.boseWearable { $0.pairingHandler = { prompts.note($0) } }
        let attempt = Task { @TendonActor in try await library.startConnection() }
        await eventually("a prompt") { prompts.all == ["begin"] }
        attempt.cancel()
        await #expect(throws: BoseWearableError.cancelled) { try await attempt.value }
        await eventually("the prompt ends") { prompts.all == ["begin", "cancelled"] }
    }

    /// One pairing at a time; one that is cancelled leaves room for the next.
    @Test @TendonActor func aScriptedPairingThatIsCancelledIsOver() throws {
        let script = try #require(PairingScript(.scripted(succeeds: true, after: .seconds(600)), .shared))
        let service = script.service.pointee
        var peer = Address(0xD0FF_0000_0002, type: .random).c
        let start = { service.start(service.context, &peer, { _, _, _ in }, nil, 0) }
        #expect(start() == 0)
        #expect(start() == Int32(TENDON_ERROR_BUSY))
        service.cancel(service.context, &peer)
        #expect(start() == 0)
        #expect(!service.bonded(service.context, &peer))
        script.remove()
    }

    /// Found, but not open in time: that is not "no device found".
    @Test @TendonActor func anOpeningThatTakesTooLongSaysSo() async throws {
        let site = try await Site()
        let error = await #expect(throws: BoseWearableError.self) {
            try await site.boseWearable {
                $0.timeout = .milliseconds(1)
                $0.deviceChoice = .address(Address(0xD0FF_0000_0001, type: .random))
            }.startConnection()
        }
        guard case .host(let reason) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(reason.isTimeout)
    }
}
