// SPDX-License-Identifier: MIT
import Synchronization

/// Where a consumer on another executor waits, whatever it waits for: nothing here is generic.
///
/// The loop resumes it where it is. A consumer that went to the loop to wait there would wake the loop for each wait.
final class DistantWaiter: @unchecked Sendable {
    // `alarm` is used only on the loop's thread.
    struct State {
        fileprivate var waiting: UnsafeContinuation<Void, Never>?
        /// Something happened that the consumer has not looked at.
        fileprivate var isSignalled = false
        /// Numbers the waits: what ends one that is over ends no other.
        fileprivate var ticket: UInt64 = 0
        /// Until when the consumer waits; `.max`: without a limit, or it does not wait.
        fileprivate var deadline = UInt64.max
        fileprivate var isLate = false
        /// When the loop's alarm fires; `.max`: it is not set.
        fileprivate var alarm = UInt64.max

        /// Something is there to take: the next wait ends at once. True: the consumer waits already.
        mutating func mark() -> Bool {
            isSignalled = true
            deadline = .max
            return waiting != nil
        }

        /// Ends the wait that there is or the next one. The result is to be resumed without the lock.
        mutating func signal() -> UnsafeContinuation<Void, Never>? {
            _ = mark()
            return waiting.take()
        }

        /// The consumer found nothing: it waits for the next signal.
        mutating func reset() { isSignalled = false }
    }

    /// What a signal is about changes under the same lock.
    let state = Mutex(State())
    private let loop: Loop
    private let time: any WaitTime
    private var alarm: (any Alarm)?
    private var isDue = false

    init(_ loop: Loop, _ time: any WaitTime) {
        self.loop = loop
        self.time = time
    }

    /// No consumer will wait again. For the loop's thread.
    func end() {
        state.withLock { $0.alarm = .max }  // What was posted to set it comes too late.
        alarm = nil
    }

    /// Ends the wait when the loop's turn ends: one turn may bring many elements. For the loop's thread.
    func resumeLater() {
        guard !isDue else { return }
        isDue = true
        loop.post { [self] in
            isDue = false
            state.withLock { $0.signal() }?.resume()
        }
    }

    /// Until a signal, or its task is cancelled; throws when an element is late.
    func wait(_ patience: Patience, isolation: isolated (any Actor)? = #isolation) async throws(TendonError) {
        let limit = patience.isLimited ? patience.deadline(time) : .max
        let (ticket, isAlarmLater) = state.withLock { state in
            state.ticket &+= 1
            if state.isSignalled { return (state.ticket, false) }
            state.deadline = limit
            let isAlarmLater = limit < state.alarm
            if isAlarmLater { state.alarm = limit }
            return (state.ticket, isAlarmLater)
        }
        if isAlarmLater { loop.post { self.setAlarm() } }
        await withTaskCancellationHandler {
            await withUnsafeContinuation(isolation: isolation) { continuation in
                let isDue = state.withLock { state in
                    if !state.isSignalled { state.waiting = continuation }
                    return state.isSignalled
                }
                if isDue { continuation.resume() }
            }
        } onCancel: {
            let waiting = state.withLock { $0.ticket == ticket ? $0.signal() : nil }
            waiting?.resume()
        }
        let isLate = state.withLock { state in
            defer { state.isLate = false }
            return state.isLate
        }
        if isLate, !patience.isOver(time) { throw .timeout(.receive) }
    }

    private func setAlarm() {
        let deadline = state.withLock { $0.alarm }
        guard deadline != .max else { return }
        let alarm = alarm ?? time.alarm { [unowned self] in self.ring() }
        self.alarm = alarm
        alarm.deadline = deadline
    }

    /// The alarm stays set when an element comes in time: as most do, it is moved when it fires.
    private func ring() {
        let now = time.now
        let waiting: UnsafeContinuation<Void, Never>? = state.withLock { state in
            state.alarm = state.deadline > now ? state.deadline : .max
            guard state.deadline <= now else { return nil }
            state.isLate = true
            return state.signal()
        }
        waiting?.resume()
        setAlarm()
    }
}
