// SPDX-License-Identifier: MIT

/// Suspends one task of the loop until `resume()`.
///
/// A continuation would be resumed on the global pool and then switch back to the loop: two switches per wait. Here the
/// task moves to an actor whose executor keeps the job instead of running it; `resume()` passes the job to the loop.
/// Nothing is allocated while waiting. For the loop's thread.
///
/// Between the caller's look at what it waits for and the wait, other jobs of the loop can run: a task that has a
/// preference for an executor takes that way. So a `resume()` in between ends the wait that follows.
package final class Parking: @unchecked Sendable {
    // Used only on the loop's thread.
    private let place: Place

    package init(_ loop: Loop) {
        place = Place(loop)
    }

    package var isOccupied: Bool { place.attendant.job != nil }

    /// Forgets each `resume()` before: the caller is about to look at what it waits for.
    package func prepare() { place.attendant.isResumed = false }

    /// Waits, unless `resume()` was called since `prepare()` or since the last wait. From the loop's thread only, one task
    /// at a time.
    package func wait(isolation: isolated (any Actor)? = #isolation) async {
        precondition(!isOccupied, "one task waits here at a time")
        await place.enter()
    }

    /// Resumes the waiting task, later; returns true if a task was waiting.
    @discardableResult
    package func resume() -> Bool {
        guard let job = place.attendant.job.take() else {
            place.attendant.isResumed = true
            return false
        }
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
        var isResumed = false

        init(_ loop: Loop) { self.loop = loop }

        func enqueue(_ job: consuming ExecutorJob) {
            loop.checkIsolated()
            let job = UnownedJob(job)
            guard isResumed else { return self.job = job }
            isResumed = false
            loop.core.enqueue(.job(job))
        }

        func checkIsolated() { loop.checkIsolated() }
    }
}
