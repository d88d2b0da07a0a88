// SPDX-License-Identifier: MIT
//
// The contract of `CancellableError`: every public asynchronous function of every module ends within 100 ms of its task's
// cancellation, throws the `cancelled` of its error type, and leaves nothing behind. One row per function in `*Rows.swift`;
// scripts/check_cancellation.py compares the rows with the symbol graphs, so that a new function without a row fails.
import Glibc
import Synchronization
import Tendon
import Testing

/// When the task is cancelled.
enum Moment: String, CaseIterable, Sendable {
    /// Before the function is called.
    case before
    /// While it waits for a device that responds.
    case midway
    /// While it waits for a device that does not respond.
    case silent
}

/// One public asynchronous function.
struct Row: Sendable, CustomTestStringConvertible {
    /// As in the symbol graph: "Peripheral.read(_:timeout:)".
    let name: String
    /// Calls it and cancels: see `expectCancelled`.
    let check: @Sendable (Moment) async throws -> Void

    init(_ name: String, _ check: @escaping @Sendable (Moment) async throws -> Void) {
        self.name = name
        self.check = check
    }

    var testDescription: String { name }
}

/// A function that does not wait for a device, a search or the program: the reason why it has no row.
struct Exemption: Sendable {
    let name: String
    let reason: String

    init(_ name: String, _ reason: String) {
        self.name = name
        self.reason = reason
    }
}

/// What a silent device is made of: its loop stands still.
final class Silence: Sendable {
    private let ends: [Int32]

    /// Returns when the loop stands still.
    init(_ loop: Loop) async {
        var ends: [Int32] = [0, 0]
        _ = pipe(&ends)
        self.ends = ends
        let (reader, isStill) = (ends[0], Flag())
        loop.post {
            isStill.set()
            var byte: UInt8 = 0
            _ = Glibc.read(reader, &byte, 1)
        }
        while !isStill.isSet { await Task.yield() }
    }

    func end() {
        var byte: UInt8 = 1
        _ = write(ends[1], &byte, 1)
    }

    deinit {
        close(ends[1])
        close(ends[0])
    }
}

final class Flag: Sendable {
    private let value = Atomic<Bool>(false)
    var isSet: Bool { value.load(ordering: .acquiring) }
    func set() { value.store(true, ordering: .releasing) }
}

/// Calls `body` in a task and cancels it at `moment`. Fails unless it ends within 100 ms and throws `cancelled`.
///
/// - Parameters:
///   - device: the loop of the simulated device, which stands still in the case `.silent`.
///   - mayFinish: it may return before it is cancelled when the device responds, or needs none.
func expectCancelled<Failure: CancellableError>(
    _ failure: Failure.Type, _ moment: Moment, device: Loop?, mayFinish: Bool = true,
    sourceLocation: SourceLocation = #_sourceLocation, _ body: @escaping @Sendable () async throws -> Void
) async {
    var silence: Silence?
    if moment == .silent, let device { silence = await Silence(device) }
    defer { silence?.end() }
    let isRunning = Flag()
    let task = Task { () -> (any Error)? in
        if moment == .before { while !Task.isCancelled { await Task.yield() } }
        isRunning.set()
        do {
            try await body()
            return nil
        } catch {
            return error
        }
    }
    if moment != .before {
        while !isRunning.isSet { await Task.yield() }
        // A few steps of the loop: the function is under way, and waits where there is something to wait for.
        for _ in 0..<(moment == .silent ? 64 : 3) { await Loop.shared.run {} }
    }
    task.cancel()
    let error = await endsInTime(task, "cancelled \(moment.rawValue)", sourceLocation: sourceLocation)
    guard let error else {
        #expect(mayFinish && moment != .before, "it returned although it was cancelled", sourceLocation: sourceLocation)
        return
    }
    #expect(
        "\(error)" == "\(Failure.cancelled)" && (error as? Failure)?.isCancelled == true,
        "cancelled \(moment.rawValue)", sourceLocation: sourceLocation)
}

/// Waits for a task that was cancelled. It must end within 100 ms; on a busy machine, within 100 passes through the loop
/// and the pool of threads, each of which takes its time.
private func endsInTime<Value: Sendable>(
    _ task: Task<Value, Never>, _ what: Comment, sourceLocation: SourceLocation
) async -> Value {
    let isOver = Flag()
    let watch = Task.detached {
        _ = await task.value
        isOver.set()
    }
    let start = ContinuousClock.now
    var passes = 0
    while !isOver.isSet, passes < 100 || ContinuousClock.now - start < .milliseconds(100) {
        await Task.detached { await Loop.shared.run {} }.value
        passes += 1
    }
    #expect(isOver.isSet, what, sourceLocation: sourceLocation)
    await watch.value
    return await task.value
}

/// The same for a function that does not throw: it returns.
func expectReturned(
    _ moment: Moment, device: Loop?, sourceLocation: SourceLocation = #_sourceLocation,
    _ body: @escaping @Sendable () async -> Void
) async {
    await expectCancelled(TendonError.self, moment, device: device, sourceLocation: sourceLocation) {
        await body()
        throw TendonError.cancelled
    }
}

/// An object that is not kept by the test.
final class WeakReference: @unchecked Sendable {
    // Written once; reading a weak reference is safe on any thread.
    private(set) weak var object: AnyObject?
    init(_ object: AnyObject) { self.object = object }
}

/// Fails unless the condition becomes true within 30 seconds.
func expectEventually(
    _ what: Comment, sourceLocation: SourceLocation = #_sourceLocation, _ condition: () async -> Bool
) async {
    let deadline = ContinuousClock.now + .seconds(30)
    while await !condition() {
        guard ContinuousClock.now < deadline else {
            Issue.record(what, sourceLocation: sourceLocation)
            return
        }
        await Task.yield()
    }
}

/// A directory for a virtual radio of its own.
final class RadioDirectory: Sendable {
    private static let next = Atomic<UInt32>(0)
    private let path: String
    var radio: RadioChoice { .virtual(directory: path) }

    init() {
        path = "/tmp/tendon-cancel-vendor-\(getpid())-\(Self.next.wrappingAdd(1, ordering: .relaxed).newValue)"
    }

    deinit { rmdir(path) }
}

/// Fails unless `object` is released within 30 seconds: what keeps it is a connection, a search or a continuation.
func expectReleased(
    _ object: @escaping @Sendable () async -> AnyObject?, _ what: Comment,
    sourceLocation: SourceLocation = #_sourceLocation
) async {
    let deadline = ContinuousClock.now + .seconds(30)
    while await object() != nil {
        if ContinuousClock.now > deadline {
            Issue.record(what, sourceLocation: sourceLocation)
            return
        }
        await Task.yield()
    }
}

/// All rows; a module adds its own.
let allRows: [Row] =
    tendonRows + tendonActiv5Rows + tendonBoseRows + tendonFeelSpaceRows + tendonFjordenRows

@Suite(.serialized, .timeLimit(.minutes(2)))
struct CancellationTests {
    @Test(arguments: allRows, Moment.allCases)
    func endsWithItsTask(row: Row, moment: Moment) async throws {
        try await row.check(moment)
    }
}
