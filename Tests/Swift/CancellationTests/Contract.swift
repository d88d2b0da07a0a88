// SPDX-License-Identifier: MIT
//
// The contract of `CancellableError`: every public asynchronous function of every module ends within 100 ms of its task's
// cancellation, throws the `cancelled` of its error type, and leaves nothing behind. One row per function in `*Rows.swift`;
// scripts/check_cancellation.py compares the rows with the symbol graphs, so that a new function without a row fails.
import Tendon
import TestSupport
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

/// Calls `body` in a task and cancels it at `moment`. Fails unless it ends within 100 ms and throws `cancelled`.
///
/// - Parameters:
///   - device: the loop of the simulated device, which stands still in the case `.silent`.
///   - mayFinish: it may return before it is cancelled when the device responds, or needs none.
func expectCancelled<Failure: CancellableError>(
    _ failure: Failure.Type, _ moment: Moment, device: (any Haltable)?, mayFinish: Bool = true,
    sourceLocation: SourceLocation = #_sourceLocation, _ body: @escaping @Sendable () async throws -> Void
) async {
    var halt: Halt?
    if moment == .silent, let device { halt = await device.halted() }
    defer { halt?.release() }
    let isRunning = Flag()
    let task = Task { () -> (any Error)? in
        if moment == .before { await untilCancelled() }
        isRunning.set()
        do {
            try await body()
            return nil
        } catch {
            return error
        }
    }
    if moment != .before {
        await eventually("it runs", sourceLocation: sourceLocation) { isRunning.isSet }
        await turns(moment == .silent ? 64 : 3)
    }
    task.cancel()
    let error = await endsInTime(task, "cancelled \(moment.rawValue)", sourceLocation: sourceLocation).get()
    guard let error else {
        #expect(mayFinish && moment != .before, "it returned although it was cancelled", sourceLocation: sourceLocation)
        return
    }
    #expect(
        "\(error)" == "\(Failure.cancelled)" && (error as? Failure)?.isCancelled == true,
        "cancelled \(moment.rawValue)", sourceLocation: sourceLocation)
}

/// The same for a function that does not throw: it returns.
func expectReturned(
    _ moment: Moment, device: (any Haltable)?, sourceLocation: SourceLocation = #_sourceLocation,
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

/// Fails unless `object` is released within 30 seconds: what keeps it is a connection, a search or a continuation.
func expectReleased(
    _ object: @escaping @Sendable () async -> AnyObject?, _ what: Comment,
    sourceLocation: SourceLocation = #_sourceLocation
) async {
    await eventually(what, sourceLocation: sourceLocation) { await object() == nil }
}

/// All rows; a module adds its own.
let allRows: [Row] =
    tendonRows + tendonActiv5Rows + tendonBoseRows + tendonFeelSpaceRows + tendonFjordenRows + tendonGatewayRows
    + tendonObviousRows

@Suite(.serialized, .timeLimit(.minutes(2)))
struct CancellationTests {
    @Test(arguments: allRows, Moment.allCases)
    func endsWithItsTask(row: Row, moment: Moment) async throws {
        try await row.check(moment)
    }

    /// The watch itself: it notices a function that goes on after its cancellation.
    @Test func aTaskThatGoesOnIsReported() async {
        let task = Task.detached {
            await Task.detached { try? await Task.sleep(for: .milliseconds(2200)) }.value
        }
        task.cancel()
        let (taken, allowed) = await timeToEnd(task)
        #expect(taken > allowed && allowed >= .milliseconds(100))
    }
}
