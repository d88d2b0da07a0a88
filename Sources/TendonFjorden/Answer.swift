// SPDX-License-Identifier: MIT
import Tendon

/// A call that ends once: with its result, or with the cancellation of its task. For the loop's thread.
final class Answer<Value: Sendable>: @unchecked Sendable {
    // Touched on the loop's thread alone.
    private var continuation: CheckedContinuation<Value?, Never>?

    init(_ continuation: CheckedContinuation<Value?, Never>?) { self.continuation = continuation }

    fileprivate func begin(_ continuation: CheckedContinuation<Value?, Never>) { self.continuation = continuation }

    /// False if the call has ended before.
    @discardableResult
    func resume(_ value: Value?) -> Bool {
        guard let continuation else { return false }
        self.continuation = nil
        continuation.resume(returning: value)
        return true
    }
}

/// Waits for the result of a call. Returns `nil` if the task is cancelled before.
/// - Parameter onCancel: Ends the call, on the loop's thread.
@TendonActor
func answered<Value: Sendable>(
    _ loop: Loop, of start: (Answer<Value>) -> Void, onCancel: @escaping @Sendable () -> Void
) async -> Value? {
    guard !Task.isCancelled else { return nil }
    let answer = Answer<Value>(nil)
    return await withTaskCancellationHandler {
        await withCheckedContinuation { continuation in
            answer.begin(continuation)
            start(answer)
        }
    } onCancel: {
        loop.post { if answer.resume(nil) { onCancel() } }
    }
}
