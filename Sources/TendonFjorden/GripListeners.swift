// SPDX-License-Identifier: MIT
import Synchronization
import Tendon

/// Who waits for a value that the grip is asked for.
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

/// What may be read from any thread.
final class GripShared: Sendable {
    struct Values {
        var state = GripManager.State.uninitialized
        var isConfigured = false
        var isBluetoothUnavailable = false
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
    private let loop: Loop
    private let release: @Sendable () -> Void

    init(_ loop: Loop, _ release: @escaping @Sendable () -> Void) {
        self.loop = loop
        self.release = release
    }

    /// Releases the handler; from the loop's thread it is not called again.
    public func cancel() {
        if loop.isCurrent { release() } else { loop.post { [release] in release() } }
    }
}

/// A handler, until it is cancelled.
final class Handler<Element: Sendable>: @unchecked Sendable {
    // Touched on the loop's thread alone.
    private var body: (@TendonActor (Element) -> Void)?

    init(_ body: @escaping @TendonActor (Element) -> Void) { self.body = body }

    var isCancelled: Bool { body == nil }
    func cancel() { body = nil }

    func call(_ element: Element) {
        guard let body else { return }
        TendonActor.assumeIsolated { body(element) }
    }
}

/// Sequences and handlers of one kind. For the loop's thread.
struct Listeners<Element: Sendable> {
    private var queues: [EventQueue<Element>] = []
    private var handlers: [Handler<Element>] = []

    var isEmpty: Bool { queues.isEmpty && !handlers.contains { !$0.isCancelled } }

    mutating func add(_ queue: EventQueue<Element>) { queues.append(queue) }
    mutating func remove(_ queue: EventQueue<Element>) { queues = queues.filter { $0 !== queue } }

    mutating func add(_ handler: Handler<Element>) {
        handlers.removeAll(where: \.isCancelled)
        if !handler.isCancelled { handlers.append(handler) }
    }

    /// Sequences have it now; handlers, which may call anything, in a moment.
    func push(_ element: Element, _ loop: Loop) {
        for queue in queues { queue.push(element) }
        for handler in handlers { loop.post { handler.call(element) } }
    }

    /// Both at once.
    func deliver(_ element: Element) {
        for queue in queues { queue.push(element) }
        for handler in handlers { handler.call(element) }
    }

    mutating func finishSequences() {
        for queue in queues { queue.finish() }
        queues.removeAll()
    }

    mutating func finish() {
        finishSequences()
        handlers.removeAll()
    }
}
