// SPDX-License-Identifier: MIT
import CTendon
import Tendon

/// A session with a wearable. Its connection ends when the last reference to the session, its device and their
/// sequences is released.
///
/// ```swift
/// session.delegate = self
/// try await session.openAndWait()      // again, after it was closed
/// ```
@TendonActor
public final class WearableDeviceSession {
    /// Receives the events of the session; a weak reference.
    public weak var delegate: (any WearableDeviceSessionDelegate)?
    /// Prompts the user for pairing mode; a weak reference.
    public weak var pairingDelegate: (any WearableDeviceSessionPairingDelegate)?
    /// The device's address.
    public nonisolated let address: Address
    private let lifetime: Lifetime<SessionCore>
    private let wearable: WearableDevice
    nonisolated var core: SessionCore { lifetime.core }
    /// The simulated wearable, if the session was created with one.
    public internal(set) var simulated: SimulatedWearable?
    /// Of its manager: called before the delegate.
    var onOpen: (() -> Void)?

    init(core: SessionCore, name: String?) {
        lifetime = Lifetime(core)
        address = core.address
        wearable = WearableDevice(lifetime, name: name)
        core.session = self
    }

    /// The device; `nil` until the session was open once. A session of `createSimulatedWearableDeviceSession()` has it from
    /// the start.
    public nonisolated var device: WearableDevice? { core.hasDevice ? wearable : nil }

    /// Whether the session is closed, opening or open; `stateName` distinguishes more states.
    public var state: WearableDeviceSessionState {
        switch core.state {
        case TENDON_BOSE_CLOSED: core.isWaitingForSimulation ? .opening : .closed
        case TENDON_BOSE_OPEN, TENDON_BOSE_SUSPENDED, TENDON_BOSE_CLOSING: .open
        default: .opening
        }
    }

    /// Whether the device is ready, suspended or not.
    public var isOpen: Bool { core.state == TENDON_BOSE_OPEN || core.state == TENDON_BOSE_SUSPENDED }
    /// "closed", "connecting", "open" …
    public var stateName: String { String(cString: tendon_bose_state_name(core.state)) }

    /// Makes a sequence of the session's events, from now on; it ends when the session is released.
    public nonisolated func events() -> EventStream<WearableDeviceSessionEvent> {
        EventStream(core.sessionEvents.sequence(capacity: 32, policy: .dropOldest, keeping: lifetime))
    }

    /// Opens a closed session, any number of times. Does not wait: the delegate is notified of the result. Does nothing
    /// if the session is not closed.
    public func open() {
        guard state == .closed else { return }
        core.open(hasPairingDelegate: pairingDelegate != nil)
    }

    /// Opens a closed session and waits for the result. Cancelling the task ends the attempt. Throws if the session is
    /// not closed.
    public func openAndWait() async throws(BoseWearableError) {
        guard !Task.isCancelled else { throw .cancelled }
        guard core.state == TENDON_BOSE_CLOSED else {
            throw BoseWearableError(Int32(TENDON_ERROR_WRONG_STATE), .connect)
        }
        var events = events().makeAsyncIterator()
        open()  // of a simulated session that opens by itself: nothing
        while let event = await events.next(isolation: TendonActor.shared) {
            switch event {
            case .didOpen: return
            case .didFailToOpen(let error): throw error
            default: continue
            }
        }
        core.close()
        throw .cancelled
    }

    /// Disables what this session enabled, then disconnects. Does not wait: the delegate is notified.
    public func close() {
        core.close()
    }

    /// Closes the session and waits until it is closed. If the task is cancelled it returns immediately; the session
    /// continues to close.
    public func closeAndWait() async {
        var events = events().makeAsyncIterator()
        core.close()  // also of a simulated session that still waits for its device
        while core.state != TENDON_BOSE_CLOSED, await events.next(isolation: TendonActor.shared) != nil {}
    }

    func deliver(_ event: WearableDeviceSessionEvent) {
        LogSwitches.shared.write(.session, "\(address): \(event)")
        switch event {
        case .didOpen:
            onOpen?()
            delegate?.sessionDidOpen(self)
        case .didFailToOpen(let error): delegate?.session(self, didFailToOpenWithError: error)
        case .didClose(let error): delegate?.session(self, didCloseWithError: error)
        case .requiresPairingMode: pairingDelegate?.sessionRequiresPairingMode(self)
        case .startedPairing: break
        case .finishedPairing(let error):
            let result: Result<Void, any Error> = error.map { .failure($0) } ?? .success(())
            pairingDelegate?.session(self, finishedPairingWithResult: result)
        }
    }
}
