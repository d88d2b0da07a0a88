// SPDX-License-Identifier: MIT

extension CancellableResult {
    /// Whether the operation succeeded.
    public var isSuccess: Bool { value != nil }
    /// Whether the operation failed.
    public var isFailure: Bool { error != nil }
    /// Whether the operation was cancelled.
    public var isCancelled: Bool { !isSuccess && !isFailure }
    /// The value of a success.
    public var value: Success? {
        if case .success(let value) = self { return value }
        return nil
    }
    /// The error of a failure.
    public var error: BoseWearableError? {
        if case .failure(let error) = self { return error }
        return nil
    }
}

/// Of the vendor's own `Result`, which has one parameter; here it is the standard library's.
extension Result where Failure == any Error {
    /// Whether it is a success.
    public var isSuccess: Bool { value != nil }
    /// Whether it is a failure.
    public var isFailure: Bool { error != nil }
    /// The value of a success.
    public var value: Success? { try? get() }
    /// The error of a failure.
    public var error: (any Error)? {
        if case .failure(let error) = self { return error }
        return nil
    }
}
