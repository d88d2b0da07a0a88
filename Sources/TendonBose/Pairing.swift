// SPDX-License-Identifier: MIT
import CTendon
import Tendon

/// The pairing service for devices that require pairing.
public enum PairingService: Sendable, Hashable {
    /// The radio pairs, and stores the bond with the other bonds of the central.
    case radio
    /// No pairing: opening a device that requires pairing fails.
    case none
    /// A scripted result without a radio, for tests.
    case scripted(succeeds: Bool, after: Duration = .zero)
}

/// The prompts that replace the pairing delegate during `startConnection`. Each `begin` is followed by one `end`, also
/// if the session is closed, cancelled or released, or the connection is lost.
public enum PairingPrompt: Sendable {
    /// Prompt the wearer to put the device into pairing mode.
    case begin(Address)
    /// Dismiss the prompt: the device is paired, or the error contains the reason. Also sent after a pairing without a
    /// prompt.
    case end(Address, BoseWearableError?)
}

/// Called on the loop's thread when a prompt must be shown or dismissed.
public typealias PairingHandler = @Sendable (PairingPrompt) -> Void

/// The scripted pairing service of the C core, driven by the loop. For the loop's thread.
final class PairingScript: @unchecked Sendable {
    // Used only on the loop's thread.
    private let script = CBlock<tendon_scripted_pairing>()
    private let block = CBlock<tendon_pairing_service>()
    private let inner: tendon_pairing_service
    private var timer: LoopTimer?

    var service: CPointer<tendon_pairing_service> { block.pointer }

    init?(_ service: PairingService, _ loop: Loop) {
        guard case .scripted(let succeeds, let delay) = service else { return nil }
        tendon_scripted_pairing_init(
            script.pointer, succeeds ? 0 : Int32(TENDON_RADIO_ERROR_PAIRING_FAILED),
            UInt32(clamping: delay.milliseconds))
        inner = tendon_scripted_pairing_service(script.pointer)
        block.pointer.pointee = inner
        block.pointer.pointee.context = context(of: self)
        block.pointer.pointee.start = { context, peer, done, doneContext, now in
            let me = object(PairingScript.self, context)
            let status = me.inner.start(me.inner.context, peer, done, doneContext, now)
            me.arm()
            return status
        }
        block.pointer.pointee.cancel = { context, peer in
            let me = object(PairingScript.self, context)
            me.inner.cancel(me.inner.context, peer)
            me.arm()
        }
        block.pointer.pointee.bonded = { context, peer in
            let me = object(PairingScript.self, context)
            return me.inner.bonded(me.inner.context, peer)
        }
        timer = LoopTimer(loop.core) { [unowned self] in
            tendon_scripted_pairing_tick(self.script.pointer, tendon_monotonic_ms())
            self.arm()
        }
    }

    private func arm() {
        timer?.deadline = tendon_scripted_pairing_deadline(script.pointer)
    }

    func remove() {
        timer?.remove()
        timer = nil
    }
}
