// SPDX-License-Identifier: MIT
import CTendon
import Tendon

/// Holds the link: it ends when session, device and their sequences are gone.
final class SessionLifetime: Sendable {
    let core: SessionCore

    init(_ core: SessionCore) { self.core = core }

    deinit {
        let core = core
        core.loop.post { core.abandon() }
    }
}

/// A connection to a wearable. The link ends with the last reference to the session, its device and their sequences.
///
/// ```swift
/// session.delegate = self
/// try await session.open()      // again, after it was closed
/// ```
@TendonActor
public final class WearableDeviceSession {
    /// Told what happens; kept weakly.
    public weak var delegate: (any WearableDeviceSessionDelegate)?
    /// Asked for pairing mode; kept weakly.
    public weak var pairingDelegate: (any WearableDeviceSessionPairingDelegate)?
    /// The device's address.
    public nonisolated let address: Address
    private let lifetime: SessionLifetime
    private let wearable: WearableDevice
    var core: SessionCore { lifetime.core }
    /// The other end, when this program simulates it.
    public internal(set) var simulated: SimulatedWearable?

    init(core: SessionCore, name: String?) {
        lifetime = SessionLifetime(core)
        address = core.address
        wearable = WearableDevice(lifetime, name: name)
        core.session = self
    }

    /// `nil` until the session was open once.
    public var device: WearableDevice? { core.c.has_device ? wearable : nil }

    /// The device is ready, suspended or not.
    public var isOpen: Bool { core.state == TENDON_BOSE_OPEN || core.state == TENDON_BOSE_SUSPENDED }
    /// "closed", "connecting", "open" …
    public var stateName: String { String(cString: tendon_bose_state_name(core.state)) }

    /// What happens to the session, from now on.
    public var events: EventSequence<WearableDeviceSessionEvent> { core.observeSession(lifetime) }

    /// Opens a closed session, any number of times; the delegate is told the outcome.
    public func open() throws(BoseWearableError) {
        do {
            try core.open(hasPairingDelegate: pairingDelegate != nil)
        } catch {
            throw BoseWearableError(error.status, error.operation)
        }
    }

    /// Opens a closed session and waits for the outcome. Cancelling the task ends the attempt.
    public func open() async throws(BoseWearableError) {
        var events = events.makeAsyncIterator()
        try (open as () throws(BoseWearableError) -> Void)()
        while let event = try? await events.next(isolation: TendonActor.shared) {
            switch event {
            case .didOpen: return
            case .didFailToOpen(let error): throw error
            default: continue
            }
        }
        core.close()
        throw .cancelled
    }

    /// Turns off what we turned on, then ends the link; the delegate is told.
    public func close() {
        core.close()
    }

    /// Ends the link and waits until it is down.
    public func close() async {
        guard core.state != TENDON_BOSE_CLOSED else { return }
        var events = events.makeAsyncIterator()
        core.close()
        while core.state != TENDON_BOSE_CLOSED, (try? await events.next(isolation: TendonActor.shared)) != nil {}
    }

    func deliver(_ event: WearableDeviceSessionEvent) {
        Log.shared.write("\(address): \(event)")
        switch event {
        case .didOpen: delegate?.sessionDidOpen(self)
        case .didFailToOpen(let error): delegate?.session(self, didFailToOpenWithError: error)
        case .didClose(let error): delegate?.session(self, didCloseWithError: error)
        case .requiresPairingMode:
            pairingDelegate?.sessionRequiresPairingMode(self)
            if pairingDelegate == nil { core.pairingHandler?(.begin(address)) }
        case .startedPairing: break
        case .finishedPairing(let error):
            let result: Result<Void, BoseWearableError> = error.map { .failure($0) } ?? .success(())
            pairingDelegate?.session(self, finishedPairingWithResult: result)
            if pairingDelegate == nil { core.pairingHandler?(.end(address, error)) }
        }
    }
}
