// SPDX-License-Identifier: MIT
// What a run does without being woken by a device: turns that have become possible, rules whose time has come, and a look at
// the connections. One timer of the loop for all of it; nothing ticks.
import CTendon
import Tendon
import TendonOutputs
import TendonSupport

/// What is due, and when. For the loop.
@TendonActor
final class Agenda {
    /// The active part of each radio's search.
    var responses: [Int: ResponseScan] = [:]
    fileprivate var alarm: LoopTimer?
    fileprivate var nextLook = UInt64.max
    fileprivate var pause = Agenda.longestPause
    /// When turns were last looked for because of the time alone: of many devices that takes long.
    fileprivate var dueAt: UInt64 = 0
    fileprivate nonisolated static let granularity: UInt64 = 20

    /// Milliseconds between two looks at the connections: after a new one, when its parameters are agreed, and later.
    fileprivate nonisolated static let shortestPause: UInt64 = 1000
    fileprivate nonisolated static let longestPause: UInt64 = 10_000
    /// Milliseconds until a device that another gateway may connect to is considered again.
    fileprivate nonisolated static let agreementPause: UInt64 = 1000

    nonisolated init() {}
}

extension Gateway {
    @TendonActor
    func startAgenda() {
        agenda.alarm = LoopTimer(Loop.shared.core) { [unowned self] in TendonActor.assumeIsolated { due() } }
        rules.onDeadline { [weak self] in Loop.shared.runOrPost { TendonActor.assumeIsolated { self?.arm() } } }
        lookSoon()
    }

    @TendonActor
    func endAgenda() {
        rules.onDeadline(nil)
        agenda.alarm?.remove()
        agenda.alarm = nil
    }

    /// A connection is new: its parameters are agreed in the next seconds.
    @TendonActor
    func lookSoon() {
        agenda.pause = Agenda.shortestPause
        agenda.nextLook = min(agenda.nextLook, tendon_monotonic_ms() + agenda.pause)
        arm()
    }

    /// A device was received: only its own times can have become earlier.
    @TendonActor
    func arm(for address: Address, _ now: UInt64) {
        guard let alarm = agenda.alarm else { return }
        alarm.deadline = min(
            alarm.deadline, max(admission.deadline(of: address, now: now), agenda.dueAt + Agenda.granularity))
    }

    /// To be called where what is due must not be done, as in a callback of the radio.
    @TendonActor
    func dueNow() { agenda.alarm?.deadline = 0 }

    /// To be called when something that can be due has changed.
    @TendonActor
    func arm() {
        guard let alarm = agenda.alarm else { return }
        let now = tendon_monotonic_ms()
        var deadline = min(
            agenda.nextLook, rules.deadline, search.deadline(now),
            max(admission.deadline(now: now), agenda.dueAt + Agenda.granularity))
        if agreement != nil, admission.hasWaiting(now: now) { deadline = min(deadline, now + Agenda.agreementPause) }
        alarm.deadline = deadline
    }

    @TendonActor
    private func due() {
        let now = tendon_monotonic_ms()
        for responses in agenda.responses.values { responses.update(isActive: search.isActive(now)) }
        rules.tick()
        if now >= agenda.nextLook {
            agenda.pause = min(2 * agenda.pause, Agenda.longestPause)
            agenda.nextLook = now + agenda.pause
            look()
        }
        startTurns()
        agenda.dueAt = now
        arm()
    }

    /// At the connections: their parameters and signals, and what was lost.
    @TendonActor
    private func look() {
        var (timings, signals): ([Address: ConnectionTiming], [Address: Int]) = ([:], [:])
        for central in centrals {
            timings.merge(central.core.connectionTimings()) { $1 }
            signals.merge(central.core.connectionSignals()) { $1 }
        }
        report(timings)
        hear(signals)
        countLost()
        countAdapters()
    }
}
