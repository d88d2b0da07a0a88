// SPDX-License-Identifier: MIT
import Synchronization
import Tendon

/// The calls that wait for a value of the grip.
struct GripReadings {
    var battery: [(Result<BatteryInfo, FjordenError>) -> Void] = []
    var info: [(Result<GripInfo, FjordenError>) -> Void] = []
    var response: ((Result<GripResponse, GripCommandError>) -> Void)?
}

extension Array {
    /// Calls and forgets them.
    mutating func answer<Value>(_ value: Value) where Element == (Value) -> Void {
        let all = self
        removeAll()
        for body in all { body(value) }
    }
}

/// State that can be read from any thread.
final class GripShared: Sendable {
    struct Values {
        var state = GripManager.State.uninitialized
        var isConfigured = false
        var issue: GripManager.Issue?
        var bondedGripName: String?
        var simulator: GripSimulator?
    }

    private let values = Mutex(Values())

    func read<Value: Sendable>(_ path: (Values) -> Value) -> Value { values.withLock { path($0) } }
    func set(_ change: (inout Values) -> Void) { values.withLock { change(&$0) } }

    var state: GripManager.State { read { $0.state } }
    var connected: ConnectedGrip? {
        if case .connected(let grip) = state { grip } else { nil }
    }
}

/// A handler that is registered. It stays registered until its source ends, also if the subscription is not kept;
/// `cancel()` releases it earlier.
///
/// ```swift
/// let subscription = grip.subscribeToGripEvents { print($0) }
/// subscription.cancel()
/// ```
public final class GripSubscription: Sendable {
    private let token: FeedToken?

    /// `nil`: there is nothing to release.
    init(_ token: FeedToken? = nil) { self.token = token }

    /// Releases the handler; from the loop's thread it is not called again.
    public func cancel() { token?.cancel() }
}
