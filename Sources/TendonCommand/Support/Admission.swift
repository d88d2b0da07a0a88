// SPDX-License-Identifier: MIT
// Decides which device may connect, and when: devices that do not respond use a bounded share of the radio's time, and no
// slot.
import CTendon
import Synchronization
import Tendon

/// Everything that is known about the devices in range, and the attempts to connect.
final class Admission: Sendable {
    /// Milliseconds without a connection after which an attempt ends: of a device that is expected to respond, and the
    /// first one of a stranger. A stranger's next attempts may take twice as long each, up to the former. Two advertisements
    /// are needed, one for the kernel's scan and one for the connection itself: of a device that advertises once a second
    /// the second one comes after 1 to 2 s.
    fileprivate static let provenLimit: UInt64 = 4000
    fileprivate static let strangerLimit: UInt64 = 2500
    /// Maximum number of simultaneous attempts to devices that have not responded yet.
    private static let unprovenLimit = 8
    /// Maximum number of devices that are served at the same time.
    private static let deviceLimit = 32
    /// Candidates that are remembered; those that were received longest ago are forgotten for new ones.
    private static let candidateLimit = 4096
    /// A device that was not received for so long is no candidate.
    fileprivate static let presence: UInt64 = 15_000
    /// Milliseconds until a device may have its next turn; doubled with each setback, up to the longest pause. A random
    /// part of at most half of it is added, so that gateways that lose a device at the same time do not retry at the same
    /// time. All our design.
    private static let shortestPause: UInt64 = 500
    private static let longestPause: UInt64 = 60_000
    /// A connection that is lost sooner, in milliseconds, is a setback like a failed attempt: our design.
    static let shortestConnection: UInt64 = 10_000
    /// Milliseconds that a new device without a name waits for its scan response: a radio that connects does not scan, so
    /// the name would be missing for the whole connection. The response comes with the next advertisement, as the search
    /// becomes active with the first one; most devices advertise every 20 to 500 ms when they want to be found.
    static let responseLimit: UInt64 = 1000

    /// Milliseconds that a new device waits until each radio has received it: the first radio that receives devices would
    /// have all of them otherwise. More while a radio has received no device at all: its scan may not have begun.
    fileprivate static let spreadLimit: UInt64 = 1000
    fileprivate static let startLimit: UInt64 = 3000

    fileprivate struct Candidate {
        var family: String
        /// Bonded, or requested by address.
        var isPreferred: Bool
        var hasConnected = false
        var failures: UInt64 = 0
        /// Failed attempts and short connections, since a connection that was long enough.
        var setbacks: UInt64 = 0
        /// Of the present or the latest connection.
        var connectedAt: UInt64 = 0
        var firstSeen: UInt64
        /// Nil: not since the radio was opened.
        var lastSeen: UInt64?
        var notBefore: UInt64 = 0
        /// A bit for each radio: those that have received it, and those whose latest attempt failed.
        var heard: UInt8
        var failed: UInt8 = 0
        /// When the scan response is no longer waited for.
        var responseDeadline: UInt64
        var isServed = false
        /// An attempt is in progress and no connection exists yet.
        var isAttempt = false
    }

    private struct State {
        var candidates: [Address: Candidate] = [:]
        var served = 0
        var unproven = 0
        var searchUntil: UInt64 = 0
        /// A bit for each radio that has received a device since it was opened.
        var receiving: UInt8 = 0
        /// Selects the next unknown device: the newest or the oldest.
        var takesNewest = false
    }
    private let state = Mutex(State())
    private let random: @Sendable () -> UInt64
    private let clock: @Sendable () -> UInt64

    /// - Parameters:
    ///   - random: returns the numbers for the random part of the pauses.
    ///   - clock: the time where a function is called without one, in milliseconds.
    init(
        random: @escaping @Sendable () -> UInt64 = { .random(in: .min ... .max) },
        clock: @escaping @Sendable () -> UInt64 = tendon_monotonic_ms
    ) {
        (self.random, self.clock) = (random, clock)
    }

    /// A device of a family was received. True if it was not known.
    /// - Parameters:
    ///   - awaitsResponse: its name is expected in a scan response.
    ///   - radio: number of the radio that received it.
    func received(
        _ address: Address, family: String, isPreferred: Bool, awaitsResponse: Bool, radio: Int = 0,
        now given: UInt64? = nil
    ) -> Bool {
        let now = given ?? clock()
        return state.withLock { state in
            state.receiving |= 1 << radio
            if state.candidates[address] != nil {
                state.candidates[address]?.lastSeen = now
                state.candidates[address]?.heard |= 1 << radio
                return false
            }
            if state.candidates.count >= Admission.candidateLimit {
                Admission.makeRoom(&state)
                if state.candidates.count >= Admission.candidateLimit { return false }
            }
            state.candidates[address] = Candidate(
                family: family, isPreferred: isPreferred, firstSeen: now, lastSeen: now,
                heard: 1 << radio, responseDeadline: awaitsResponse ? now + Admission.responseLimit : 0)
            return true
        }
    }

    /// For many at once: to find the one that was received longest ago takes as long.
    private static func makeRoom(_ state: inout State) {
        let idle = state.candidates.lazy.filter { !$0.value.isServed }.map { ($0.value.lastSeen ?? 0, $0.key) }
        for (_, address) in idle.sorted(by: { $0.0 < $1.0 }).prefix(candidateLimit / 8) {
            state.candidates[address] = nil
        }
    }

    /// A radio was lost: which devices are in its range is known when it receives them again. So its next scan begins
    /// before its first connection.
    func forgetPresence(radio: Int = 0) {
        state.withLock { state in
            state.receiving &= ~(1 << radio)
            for (address, candidate) in state.candidates {
                let heard = candidate.heard & ~(1 << radio)
                state.candidates[address]?.heard = heard
                state.candidates[address]?.failed &= ~(1 << radio)
                if heard == 0 { state.candidates[address]?.lastSeen = nil }
            }
        }
    }

    /// The radios that may connect to a device, a bit for each: they have received it, and the latest attempt did not
    /// fail over them, unless it failed over all.
    func radios(for address: Address) -> UInt8 {
        state.withLock { $0.candidates[address].map { $0.heard & ~$0.failed } ?? 0 }
    }

    /// A turn over this radio has ended: when the attempt failed, another radio makes the next one.
    func ended(_ address: Address, radio: Int) {
        state.withLock { state in
            guard let candidate = state.candidates[address], candidate.failures > 0 else { return }
            let failed = candidate.failed | 1 << radio
            state.candidates[address]?.failed = candidate.heard & ~failed == 0 ? 0 : failed
        }
    }

    /// The scan response of a device was received, with or without a name. True if the device was waiting for it.
    func responded(_ address: Address, now given: UInt64? = nil) -> Bool {
        let now = given ?? clock()
        return state.withLock { state in
            guard let candidate = state.candidates[address], now < candidate.responseDeadline else { return false }
            state.candidates[address]?.responseDeadline = 0
            return true
        }
    }

    /// Returns the next devices; they are served from now on.
    /// - Parameters:
    ///   - radios: a bit for each radio that is open.
    ///   - isAllowed: whether a device, by address and family, may have a turn.
    func next(
        now given: UInt64? = nil, among radios: UInt8 = 0,
        where isAllowed: (Address, String) -> Bool = { _, _ in true }
    ) -> [(address: Address, family: String)] {
        let now = given ?? clock()
        return state.withLock { state in
            var turns: [(address: Address, family: String)] = []
            while state.served < Admission.deviceLimit, let address = Admission.choose(state, now, radios, isAllowed) {
                let isProven = state.candidates[address]?.isProven ?? false
                state.takesNewest.toggle()
                state.candidates[address]?.isServed = true
                state.candidates[address]?.isAttempt = true
                state.served += 1
                if !isProven { state.unproven += 1 }
                turns.append((address, state.candidates[address]?.family ?? ""))
            }
            return turns
        }
    }

    /// Of a device that is connected, which was received; nil: it is not connected.
    func servedFamily(of address: Address, on radio: Int, now: UInt64) -> String? {
        state.withLock { state in
            guard let candidate = state.candidates[address], candidate.isServed, !candidate.isAttempt else {
                return nil
            }
            state.receiving |= 1 << radio
            state.candidates[address]?.lastSeen = now
            state.candidates[address]?.heard |= 1 << radio
            return candidate.family
        }
    }

    /// Whether a device that was received could have a turn, if it is allowed to.
    func hasWaiting(now given: UInt64? = nil) -> Bool {
        let now = given ?? clock()
        return state.withLock { state in
            state.candidates.values.contains { candidate in
                !candidate.isServed && candidate.notBefore <= now
                    && (candidate.lastSeen.map { now <= $0 + Admission.presence } ?? false)
            }
        }
    }

    /// When `next` may return a device that it does not return now, if nothing is received before; `.max`: never.
    func deadline(now given: UInt64? = nil) -> UInt64 {
        let now = given ?? clock()
        return state.withLock { state in
            state.candidates.values.reduce(UInt64.max) { min($0, $1.deadline(state.searchUntil, now)) }
        }
    }

    /// The same of one device.
    func deadline(of address: Address, now: UInt64) -> UInt64 {
        state.withLock { state in state.candidates[address]?.deadline(state.searchUntil, now) ?? .max }
    }

    /// Bonded devices first, then those that have connected before, then those that were tried least. Among equals the
    /// newest and the oldest take turns: neither many strangers before a device nor many after it keep it waiting.
    private static func choose(
        _ state: State, _ now: UInt64, _ radios: UInt8, _ isAllowed: (Address, String) -> Bool
    ) -> Address? {
        let isOpen = state.unproven < unprovenLimit && now >= state.searchUntil
        var best: (address: Address, candidate: Candidate)?
        for (address, candidate) in state.candidates
        where isReady(candidate, isOpen, state, now, radios) && isAllowed(address, candidate.family) {
            if let other = best?.candidate, !candidate.comes(before: other, takesNewest: state.takesNewest) { continue }
            best = (address, candidate)
        }
        return best?.address
    }

    private static func isReady(
        _ candidate: Candidate, _ isOpen: Bool, _ state: State, _ now: UInt64, _ radios: UInt8
    ) -> Bool {
        !candidate.isServed && now >= max(candidate.notBefore, candidate.responseDeadline)
            && (candidate.lastSeen.map { now <= $0 + presence } ?? false) && (candidate.isProven || isOpen)
            && !awaitsRadios(candidate, state, now, radios)
    }

    /// Whether `next` may return this device, which was received. What an advertisement changes is its own device only, so that
    /// the others, of which there can be many, need not be looked at for each.
    func mayBeNext(_ address: Address, now: UInt64, among radios: UInt8) -> Bool {
        state.withLock { state in
            guard state.served < Admission.deviceLimit, let candidate = state.candidates[address] else { return false }
            let isOpen = state.unproven < Admission.unprovenLimit && now >= state.searchUntil
            return Admission.isReady(candidate, isOpen, state, now, radios)
        }
    }

    private static func awaitsRadios(_ candidate: Candidate, _ state: State, _ now: UInt64, _ radios: UInt8) -> Bool {
        let missing = radios & ~candidate.heard
        let limit = missing & ~state.receiving != 0 ? startLimit : spreadLimit
        return missing != 0 && now < candidate.firstSeen + limit
    }

    /// How long the present attempt may take, in milliseconds.
    func answerLimit(_ address: Address) -> UInt64 { state.withLock { $0.candidates[address]?.answerLimit ?? 0 } }

    /// A connection exists; the session may still need long.
    func answered(_ address: Address) { finishAttempt(address) }

    /// The device is open.
    func connected(_ address: Address, now given: UInt64? = nil) {
        let now = given ?? clock()
        finishAttempt(address)
        state.withLock { state in
            state.candidates[address]?.hasConnected = true
            state.candidates[address]?.connectedAt = now
            state.candidates[address]?.failed = 0
            state.candidates[address]?.failures = 0
        }
    }

    /// The attempt failed. If no connection exists, the search continues for a time before other unknown devices are
    /// tried.
    func failed(_ address: Address, now given: UInt64? = nil) {
        let now = given ?? clock()
        state.withLock { state in
            guard let candidate = state.candidates[address], candidate.isAttempt else { return }
            // As long as the attempts took: at least half of the time is for the search.
            state.searchUntil = max(state.searchUntil, now + candidate.answerLimit)
        }
    }

    private func finishAttempt(_ address: Address) {
        state.withLock { state in
            guard let candidate = state.candidates[address], candidate.isAttempt else { return }
            if !candidate.isProven { state.unproven -= 1 }
            state.candidates[address]?.isAttempt = false
        }
    }

    /// The device is served no more: it has its next turn when it advertises, after the pause that is returned.
    /// - Parameter failed: false: neither the device nor its connection was the reason.
    @discardableResult
    func left(_ address: Address, failed: Bool, now given: UInt64? = nil) -> UInt64 {
        let now = given ?? clock()
        return leave(address, now) { candidate in
            candidate.failures = failed ? candidate.failures + 1 : 0
            if failed { candidate.setbacks += 1 }
            return failed ? candidate.setbacks : 0
        }
    }

    /// The same after a connection that was lost: one that was short does not end a series of setbacks.
    @discardableResult
    func lost(_ address: Address, now given: UInt64? = nil) -> UInt64 {
        let now = given ?? clock()
        return leave(address, now) { candidate in
            let isShort = now < candidate.connectedAt + Admission.shortestConnection
            candidate.setbacks = isShort ? candidate.setbacks + 1 : 0
            return candidate.setbacks
        }
    }

    /// - Parameter setbacks: how many of them count for the pause.
    private func leave(_ address: Address, _ now: UInt64, _ setbacks: (inout Candidate) -> UInt64) -> UInt64 {
        finishAttempt(address)
        return state.withLock { state in
            guard var candidate = state.candidates[address] else { return 0 }
            if candidate.isServed { state.served -= 1 }
            candidate.isServed = false
            var pause = min(Admission.shortestPause << min(setbacks(&candidate), 7), Admission.longestPause)
            pause += random() % (pause / 2 + 1)
            candidate.notBefore = now + pause
            state.candidates[address] = candidate
            return pause
        }
    }

    /// Nothing of the device is kept: it is new when it is received again. Not while it is served.
    func forget(_ address: Address) {
        state.withLock { state in
            guard state.candidates[address]?.isServed == false else { return }
            state.candidates[address] = nil
        }
    }

    /// It cannot be served.
    func exclude(_ address: Address) {
        left(address, failed: true)
        state.withLock { $0.candidates[address]?.notBefore = .max }
    }

    /// It may be served again if it was excluded.
    func readmit(_ address: Address) {
        state.withLock { if $0.candidates[address]?.notBefore == .max { $0.candidates[address]?.notBefore = 0 } }
    }
}

extension Admission.Candidate {
    /// When it may have its turn; `.max`: now, or not before it is received again.
    fileprivate func deadline(_ searchUntil: UInt64, _ now: UInt64) -> UInt64 {
        guard !isServed, let lastSeen else { return .max }
        let end = lastSeen + Admission.presence
        var deadline = UInt64.max
        func consider(_ time: UInt64) { if time > now, time <= end { deadline = min(deadline, time) } }
        consider(notBefore)
        consider(responseDeadline)
        consider(firstSeen + Admission.spreadLimit)
        consider(firstSeen + Admission.startLimit)
        consider(searchUntil)
        return deadline
    }

    /// The device is expected to respond.
    fileprivate var isProven: Bool { failures == 0 && (isPreferred || hasConnected) }

    fileprivate func comes(before other: Self, takesNewest: Bool) -> Bool {
        guard rank == other.rank else { return rank > other.rank }
        return firstSeen != other.firstSeen && (firstSeen > other.firstSeen) == takesNewest
    }

    /// More is better.
    fileprivate var rank: Int {
        ((isPreferred ? 2 : 0) + (hasConnected ? 1 : 0)) * 1000 - Int(min(failures, 999))
    }

    fileprivate var answerLimit: UInt64 {
        isProven || isPreferred
            ? Admission.provenLimit : min(Admission.strangerLimit << min(failures, 2), Admission.provenLimit)
    }
}
