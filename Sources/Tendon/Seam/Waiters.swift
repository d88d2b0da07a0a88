// SPDX-License-Identifier: MIT

/// Tasks that wait for the same event. Each wait ends with `.cancelled` when its task is cancelled. For the loop's thread.
package final class Waiters: @unchecked Sendable {
    // Used only on the loop's thread.
    private var waiting: [Pending<Void, TendonError>] = []

    package init() {}

    package func wait(on loop: Loop, isolation: isolated (any Actor)? = #isolation) async throws(TendonError) {
        try await wait(Pending(loop))
    }

    /// Fails at `deadline`: `operation` timed out.
    package func wait(
        until deadline: UInt64, _ operation: TendonError.Operation, on loop: Loop,
        isolation: isolated (any Actor)? = #isolation
    ) async throws(TendonError) {
        let waiter = Pending<Void, TendonError>(loop)
        let timer = LoopTimer(loop.core) { waiter.finish(.failure(.timeout(operation))) }
        timer.deadline = deadline
        defer { timer.remove() }
        try await wait(waiter)
    }

    private func wait(
        _ waiter: Pending<Void, TendonError>, isolation: isolated (any Actor)? = #isolation
    ) async throws(TendonError) {
        waiting.append(waiter)
        defer { waiting.removeAll { $0 === waiter } }
        try await waiter.value()
    }

    /// Ends all waits.
    package func finish(_ result: Result<Void, TendonError>) {
        for waiter in waiting { waiter.finish(result) }
    }
}
