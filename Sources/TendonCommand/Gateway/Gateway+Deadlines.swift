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
    fileprivate var alarm: LoopTimer?
    fileprivate var nextLook = UInt64.max
    fileprivate var pause = Agenda.longestPause

    /// Milliseconds between two looks at the connections: after a new one, when its parameters are agreed, and later.
    fileprivate nonisolated static let shortestPause: UInt64 = 1000
    fileprivate nonisolated static let longestPause: UInt64 = 10_000

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

    /// Something is due then. It can be called where that must not be done, as in a callback of the radio.
    @TendonActor
    func wake(at deadline: UInt64) {
        if let alarm = agenda.alarm { alarm.deadline = min(alarm.deadline, deadline) }
    }

    /// To be called when something that can be due has changed.
    @TendonActor
    func arm() {
        guard let alarm = agenda.alarm else { return }
        alarm.deadline = min(agenda.nextLook, rules.deadline, turns.deadline)
    }

    @TendonActor
    private func due() {
        let now = tendon_monotonic_ms()
        rules.tick()
        if now >= agenda.nextLook {
            agenda.pause = min(2 * agenda.pause, Agenda.longestPause)
            agenda.nextLook = now + agenda.pause
            look()
        }
        turns.step()
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
