// SPDX-License-Identifier: MIT

/// Suspends one task of the loop until `resume()`.
///
/// A continuation would be resumed on the global pool and then switch back to the loop: two switches per wait. Here the
/// task moves to an actor whose executor keeps the job instead of running it; `resume()` passes the job to the loop.
/// Nothing is allocated while waiting. For the loop's thread.
package final class Parking: @unchecked Sendable {
    // Used only on the loop's thread.
    private let place: Place

    package init(_ loop: Loop) {
        place = Place(loop)
    }

    package var isOccupied: Bool { place.attendant.job != nil }

    /// Waits. From the loop's thread only, one task at a time.
    package func wait(isolation: isolated (any Actor)? = #isolation) async {
        precondition(!isOccupied, "one task waits here at a time")
        await place.enter()
    }

    /// Resumes the waiting task, later; returns true if a task was waiting.
    @discardableResult
    package func resume() -> Bool {
        guard let job = place.attendant.job else { return false }
        place.attendant.job = nil
        place.attendant.loop.core.enqueue(.job(job))
        return true
    }

    private actor Place {
        nonisolated let attendant: Attendant
        nonisolated var unownedExecutor: UnownedSerialExecutor { attendant.asUnownedSerialExecutor() }

        init(_ loop: Loop) { attendant = Attendant(loop) }

        /// Returns after the task was resumed. Not inlined: otherwise the optimizer would remove the empty call, and
        /// with it the wait.
        @inline(never) @_optimize(none) func enter() {}
    }

    private final class Attendant: SerialExecutor, @unchecked Sendable {
        // Used only on the loop's thread.
        let loop: Loop
        var job: UnownedJob?

        init(_ loop: Loop) { self.loop = loop }

        func enqueue(_ job: consuming ExecutorJob) {
            loop.checkIsolated()
            self.job = UnownedJob(job)
        }

        func checkIsolated() { loop.checkIsolated() }
    }
}
