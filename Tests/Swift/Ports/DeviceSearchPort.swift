// SPDX-License-Identifier: MIT
import Tendon
import TendonBose
import TestSupport
import Testing

/// The deprecated call without its warning.
private protocol OldSearch {
    @discardableResult
    func startDeviceSearch(
        mode: ConnectUIMode,
        completionHandler: @escaping @TendonActor (CancellableResult<WearableDeviceSession>) -> Void
    ) -> ConnectionTask
}

extension BoseWearable: OldSearch {}

/// The way of version 3: the application opens the session, and sees to pairing.
private final class SearchModel: WearableDeviceSessionDelegate, WearableDeviceSessionPairingDelegate {
    private(set) var session: WearableDeviceSession?
    private(set) var messages: [String] = []
    private let isPairing: Bool
    var onPrompt: () -> Void = {}

    init(pairing: Bool) { isPairing = pairing }

    func close() { session?.close() }

    func search(_ library: any OldSearch) {
        library.startDeviceSearch(mode: .alwaysShow) { result in
            guard case .success(let session) = result else {
                self.messages.append("nothing")
                return
            }
            self.session = session
            session.delegate = self
            if self.isPairing { session.pairingDelegate = self }
            session.open()
        }
    }

    func sessionDidOpen(_ session: WearableDeviceSession) { messages.append("open") }
    func session(_ session: WearableDeviceSession, didFailToOpenWithError error: (any Error)?) {
        messages.append("failed: \(error.map { "\($0)" } ?? "")")
    }
    func session(_ session: WearableDeviceSession, didCloseWithError error: (any Error)?) {
        messages.append("closed")
    }
    func sessionRequiresPairingMode(_ session: WearableDeviceSession) {
        messages.append("prompt")
        onPrompt()
    }
    func session(
        _ session: WearableDeviceSession, finishedPairingWithResult result: Result<Void, any Error>
    ) {
        if case .success = result { messages.append("paired") } else { messages.append("not paired") }
    }
}

@Suite(.timeLimit(.minutes(1)))
struct DeviceSearchPort {
    private func pairing(_ succeeds: Bool) async throws -> Surroundings {
        var options = SimulatedWearable.Options()
        options.requiresPairing = true
        return try await Surroundings(options) {
            $0.pairing = .scripted(succeeds: succeeds, after: .milliseconds(50))
        }
    }

    /// What the wearer does when prompted; the kernel would encrypt the link.
    @TendonActor private func pressTheButton(_ here: Surroundings, _ model: SearchModel) {
        model.onPrompt = {
            Task {
                await here.wearable.setPairingMode(true)
                await here.wearable.acceptPairing()
            }
        }
    }

    @Test @TendonActor func opensByItself() async throws {
        let here = try await Surroundings()
        let model = SearchModel(pairing: false)
        model.search(here.library)
        await eventually("open") { model.messages == ["open"] }
        model.close()
        await eventually("closed") { model.messages == ["open", "closed"] }
    }

    @Test @TendonActor func pairs() async throws {
        let here = try await pairing(true)
        let model = SearchModel(pairing: true)
        pressTheButton(here, model)
        model.search(here.library)
        await eventually("open") { model.messages.last == "open" }
        #expect(model.messages == ["prompt", "paired", "open"])
    }

    @Test @TendonActor func pairingIsRefused() async throws {
        let here = try await pairing(false)
        let model = SearchModel(pairing: true)
        pressTheButton(here, model)
        model.search(here.library)
        await eventually("an outcome") { model.messages.count == 3 }
        #expect(model.messages == ["prompt", "not paired", "failed: bondingFailed"])
    }

    /// The phone's library ends the program here; this one says so.
    @Test @TendonActor func withoutAPairingDelegate() async throws {
        let here = try await pairing(true)
        let model = SearchModel(pairing: false)
        model.search(here.library)
        await eventually("an outcome") { !model.messages.isEmpty }
        #expect(model.messages == ["failed: pairingDelegateMissing"])
    }

    /// `startConnection` sees to it with the configured prompt.
    @Test @TendonActor func startConnectionPrompts() async throws {
        var options = SimulatedWearable.Options()
        options.requiresPairing = true
        let prompts = AsyncStream<PairingPrompt>.makeStream()
        let here = try await Surroundings(options) { configuration in
            configuration.pairing = .scripted(succeeds: true, after: .milliseconds(50))
            configuration.pairingHandler = { prompts.continuation.yield($0) }
        }
        let button = Task {
            for await prompt in prompts.stream {
                guard case .begin = prompt else { return }
                await here.wearable.setPairingMode(true)
                await here.wearable.acceptPairing()
            }
        }
        let session = try await here.library.startConnection()
        #expect(session.isOpen)
        await button.value
    }
}
