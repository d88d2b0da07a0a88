// SPDX-License-Identifier: MIT
import CTendon

/// One request to the peer, from its call to its completion. For the loop's thread.
final class Request: @unchecked Sendable {
    // Used only on the loop's thread.
    private let core: PeripheralCore
    private let operation: TendonError.Operation
    private var id: UInt32 = 0
    private let parking: Parking
    /// Memory that the C core borrows until the completion.
    private var memory: AnyObject?
    private var isDone = false
    private(set) var status: tendon_status = 0
    private(set) var value: [UInt8] = []
    private(set) var count = 0

    /// `memory`: the table or buffer that the C core borrows; kept until the completion.
    init(_ core: PeripheralCore, _ operation: TendonError.Operation, lending memory: AnyObject? = nil) {
        self.core = core
        self.operation = operation
        self.memory = memory
        parking = Parking(core.loop)
    }

    static let done: tendon_gatt_done = { context, result in
        guard let result = result?.pointee else { return }
        released(Request.self, context).finish(result)
    }

    private func finish(_ result: tendon_gatt_result) {
        status = result.status
        count = result.count
        value = copied(result.value, result.length)
        memory = nil
        isDone = true
        core.sweep()
        parking.resume()
    }

    /// Starts with `start`, which gets the context for `done`, and waits.
    func run(
        timeout: Duration?, isolation: isolated (any Actor)? = #isolation,
        _ start: (tendon_gatt_done, CContext, UInt64) -> tendon_status
    ) async throws(TendonError) {
        guard !Task.isCancelled else { throw .cancelled }
        guard core.state == .connected else { throw .disconnected(operation) }
        let me = retainedContext(of: self)
        let started = start(Self.done, me, tendon_monotonic_ms())
        guard started >= 0 else {
            _ = released(Request.self, me)
            throw TendonError(status: started, operation: operation)
        }
        id = UInt32(started)
        if let timeout {
            tendon_gatt_client_set_deadline(core.client, id, Duration.deadline(timeout))
        }
        core.refresh()
        await withTaskCancellationHandler {
            _ = isolation  // Only a closure that captures it stays on the loop.
            if !isDone { await parking.wait() }
        } onCancel: {
            core.loop.post { self.cancel() }
        }
        guard status >= 0 else {
            if Task.isCancelled { throw .cancelled }
            throw TendonError(status: status, operation: operation)
        }
    }

    private func cancel() {
        guard !isDone else { return }
        tendon_gatt_client_cancel(core.client, id, tendon_monotonic_ms())
        core.refresh()
    }
}
