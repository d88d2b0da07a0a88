// SPDX-License-Identifier: MIT

/// A result that one task waits for. It ends with `.cancelled` when that task is cancelled. For the loop's thread.
///
/// ```swift
/// let answer = Pending<BatteryInfo, FjordenError>(loop)
/// core.whenBatteryIsRead { answer.finish($0) }
/// return try await answer.value { core.cancelReading() }
/// ```
package final class Pending<Value: Sendable, Failure: CancellableError>: @unchecked Sendable {
    // Used only on the loop's thread.
    private let loop: Loop
    private let parking: Parking
    private var result: Result<Value, Failure>?

    package init(_ loop: Loop = .shared) {
        self.loop = loop
        parking = Parking(loop)
    }

    package var isFinished: Bool { result != nil }

    /// Sets the result; later results are ignored.
    package func finish(_ result: Result<Value, Failure>) {
        guard self.result == nil else { return }
        self.result = result
        parking.resume()
    }

    /// Waits. If the task is cancelled before there is a result, `onCancel` is called on the loop's thread, after the
    /// result has become `.cancelled`: cancel the operation there.
    package func value(
        isolation: isolated (any Actor)? = #isolation, onCancel: @escaping @Sendable () -> Void = {}
    ) async throws(Failure) -> Value {
        await withTaskCancellationHandler {
            _ = isolation  // Only a closure that captures it stays on the loop.
            if Task.isCancelled { cancel(onCancel) }
            if result == nil { await parking.wait() }
        } onCancel: {
            self.loop.post { self.cancel(onCancel) }
        }
        guard let result else { throw .cancelled }
        return try result.get()
    }

    private func cancel(_ onCancel: () -> Void) {
        guard result == nil else { return }
        finish(.failure(.cancelled))
        onCancel()
    }
}
