// SPDX-License-Identifier: MIT
// The toy of docs/adding-a-device.md.
import CTendon
@_exported import Tendon

/// A level that a toy notifies.
public struct ToyLevel: Sendable, Hashable {
    /// Counts up, modulo 256.
    public let sequence: Int
    /// 0 to 100.
    public let percent: Int
}

/// A connected toy.
@TendonActor
public final class Toy {
    private let lifetime: Lifetime<ToyCore>

    private init(_ core: ToyCore) { lifetime = Lifetime(core) }

    /// Connects. Cancelling the task ends the attempt.
    public static func open(_ address: Address, on central: Central) async throws(TendonError) -> Toy {
        let core = ToyCore(central.core, address)
        let toy = Toy(core)
        try await core.open()
        return toy
    }

    /// Levels from now on; ends with the connection.
    public func levels(capacity: Int = 256) -> EventSequence<ToyLevel> {
        lifetime.core.levels.sequence(capacity: capacity, policy: .dropOldest, keeping: lifetime)
    }

    /// Values that break the rules of the format.
    public var rejected: UInt64 { lifetime.core.rejected }

    /// Disconnects.
    public func close() { lifetime.core.link.disconnect() }
}

private let inputs: CBlock<tendon_session_inputs> = {
    let block = CBlock<tendon_session_inputs>()
    block.pointer.pointee = tendon_toy_session_inputs
    return block
}()

final class ToyCore: Abandonable, @unchecked Sendable {
    // Touched on the loop's thread alone.
    let loop = Loop.shared
    let levels = Feed<ToyLevel>()
    private let session = CBlock<tendon_toy_session>()
    private var opening: Pending<Void, TendonError>?
    private(set) var link: SessionLink!

    init(_ radio: RadioCore, _ address: Address) {
        link = SessionLink(radio, to: address, owner: self)
        tendon_toy_session_init(session.pointer, link.c, context(of: self)) { context, event, _ in
            guard let event else { return }
            object(ToyCore.self, context).received(event.pointee)
        }
        link.attach(inputs, session)
    }

    var rejected: UInt64 { session.pointer.pointee.rejected }

    @TendonActor
    func open() async throws(TendonError) {
        let opening = Pending<Void, TendonError>(loop)
        self.opening = opening
        let status = link.connect()
        guard status >= 0 else { throw TendonError(status: status, operation: .connect) }
        try await opening.value { [link] in link?.disconnect() }
    }

    private func received(_ event: tendon_toy_event) {
        switch event.kind {
        case TENDON_TOY_EVENT_OPEN: opening?.finish(.success(()))
        case TENDON_TOY_EVENT_LEVEL:
            levels.push(ToyLevel(sequence: Int(event.level.sequence), percent: Int(event.level.percent)))
        case TENDON_TOY_EVENT_CLOSED:
            opening?.finish(.failure(TendonError(status: event.status, operation: .connect)))
            levels.finish()
        default: break
        }
    }

    func abandon() {
        link.abandon()
        levels.close()
    }
}
