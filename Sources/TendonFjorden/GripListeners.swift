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

/// Sequences and handlers of one kind. For the loop's thread.
struct Listeners<Element: Sendable> {
    private var queues: [EventQueue<Element>] = []
    private var handlers: [@TendonActor (Element) -> Void] = []

    var isEmpty: Bool { queues.isEmpty && handlers.isEmpty }

    mutating func add(_ queue: EventQueue<Element>) { queues.append(queue) }
    mutating func remove(_ queue: EventQueue<Element>) { queues = queues.filter { $0 !== queue } }
    mutating func add(_ handler: @escaping @TendonActor (Element) -> Void) { handlers.append(handler) }

    /// Sequences have it now; handlers, which may call anything, in a moment.
    func push(_ element: Element, _ loop: Loop) {
        for queue in queues { queue.push(element) }
        for handler in handlers { loop.post { TendonActor.assumeIsolated { handler(element) } } }
    }

    /// Both at once.
    func deliver(_ element: Element) {
        for queue in queues { queue.push(element) }
        for handler in handlers { TendonActor.assumeIsolated { handler(element) } }
    }

    mutating func finish() {
        for queue in queues { queue.finish() }
        queues.removeAll()
        handlers.removeAll()
    }
}
