// SPDX-License-Identifier: MIT
// Which of several gateways takes a device. Our design; docs/mqtt.md, "Several gateways". No input or output here: claims,
// signal, connections and the time come in, claims and permissions go out, so every decision is tested by a table.

/// What a gateway states about a device that it receives.
struct Claim: Equatable, Sendable {
    enum Stage: String, Sendable {
        /// It receives the device.
        case hears
        /// It is about to connect.
        case takes
        /// It is connected.
        case holds
    }

    var stage: Stage
    /// Signal in dBm; of the gateway that was connected last, a little more.
    var score: Int
}

/// One device, as one gateway sees it.
struct Agreement: Sendable {
    enum State: Equatable, Sendable, CaseIterable {
        /// Not received, or in a pause after a failure.
        case absent
        case hearing
        /// The claim is on its way to the others.
        case taking
        case connecting
        case holding
        /// The connection is ended, so that another gateway can have the device.
        case leaving
    }

    enum Input: Equatable, Sendable {
        case received(rssi: Int)
        /// Of another gateway; nil: withdrawn, or the gateway is offline.
        case claim(String, Claim?)
        case connection(Bool)
        case broker(Bool)
        /// The deadline has come.
        case time
    }

    enum Output: Equatable, Sendable {
        /// To be published, retained; nil: withdrawn.
        case claim(Claim?)
        case connect
        case disconnect
    }

    /// Milliseconds, and dB.
    enum Limit {
        /// Claims of others are waited for.
        static let listening: UInt64 = 1500
        /// Between the claim to take and the connection: claims of the same moment arrive.
        static let settling: UInt64 = 500
        /// A connection has to exist.
        static let connecting: UInt64 = 15_000
        static let leaving: UInt64 = 5000
        /// Pauses after failures double.
        static let firstPause: UInt64 = 5000
        static let longestPause: UInt64 = 60_000
        /// A device that was not received for so long is not here.
        static let presence: UInt64 = 10_000
        /// Only a device that was just received is taken.
        static let freshness: UInt64 = 3000
        /// A connection is kept for so long, and given up when another gateway was better by so much for so long.
        static let shortestHold: UInt64 = 30_000
        static let betterBy = 10
        static let betterFor: UInt64 = 5000
        /// The gateway that had the device is preferred for so long, by so much.
        static let preference: UInt64 = 10_000
        static let preferredBy = 6
        /// Without a broker, a device is taken after so long.
        static let alone: UInt64 = 30_000
        /// A claim is published again when its score has changed by so much, and not more often than that.
        static let claimStep = 3
        static let claimPause: UInt64 = 1000
    }

    let name: String
    private(set) var state = State.absent
    private var others: [String: Claim] = [:]
    private var signal = 0.0
    private var receivedAt: UInt64?
    private var published: Claim?
    private var publishedAt: UInt64 = 0
    private var isOnline = false
    private var offlineSince: UInt64
    /// No gateway has had the device since then, as far as is known.
    private var freeSince: UInt64 = 0
    /// When the present state ends by itself.
    private var stateEnds = UInt64.max
    private var heldSince: UInt64 = 0
    private var betterSince: UInt64?
    private var preferredUntil: UInt64 = 0
    private var failures: UInt64 = 0
    private var pauseEnds: UInt64 = 0
    /// The time of the latest input: what was due by then is done, or waits for something else.
    private var handledAt: UInt64 = 0

    init(name: String, isOnline: Bool, now: UInt64) {
        (self.name, self.isOnline, offlineSince, freeSince) = (name, isOnline, now, now)
    }

    /// Nothing is known of the device any more but what others claim.
    func isForgettable(_ now: UInt64) -> Bool { state == .absent && failures == 0 && now >= preferredUntil }

    mutating func handle(_ input: Input, now: UInt64) -> [Output] {
        var outputs: [Output] = []
        handledAt = now
        switch input {
        case .received(let rssi): received(rssi, now)
        case .claim(let other, let claim): take(claim, of: other, now, &outputs)
        case .connection(let isUp): isUp ? connected(now, &outputs) : disconnected(now, &outputs)
        case .broker(let isOnline): broker(isOnline, now)
        case .time: break
        }
        advance(now, &outputs)
        publish(now, &outputs)
        return outputs
    }

    /// When `.time` has something to do; always later than the latest input.
    var deadline: UInt64 {
        var times = [stateEnds]
        switch state {
        case .hearing:
            times.append((receivedAt ?? 0) + Limit.presence)
            times.append(max(freeSince + Limit.listening, pauseEnds))
            if !isOnline { times.append(max(offlineSince + Limit.alone, pauseEnds)) }
        case .holding:
            if let betterSince {
                times.append(max(betterSince + Limit.betterFor, heldSince + Limit.shortestHold))
            }
        default: break
        }
        if preferredUntil > publishedAt { times.append(preferredUntil) }
        return times.filter { $0 > handledAt }.min() ?? .max
    }

    // MARK: Inputs

    private mutating func received(_ rssi: Int, _ now: UInt64) {
        let isKnown = receivedAt.map { now < $0 + Limit.presence } ?? false
        signal = isKnown ? signal + (Double(rssi) - signal) / 4 : Double(rssi)
        receivedAt = now
        guard state == .absent, now >= pauseEnds else { return }
        state = .hearing
        freeSince = max(freeSince, now)
    }

    private mutating func take(_ claim: Claim?, of other: String, _ now: UInt64, _ outputs: inout [Output]) {
        let before = others.updateValue(claim ?? Claim(stage: .hears, score: 0), forKey: other)
        if claim == nil { others[other] = nil }
        // It was given up: all listen before one takes it.
        if before?.stage ?? .hears != .hears, claim?.stage ?? .hears == .hears { freeSince = now }
        guard let claim, claim.stage != .hears else { return }
        switch state {
        case .taking, .connecting:
            // Who is connected keeps the device; of those who are about to, the better one.
            guard claim.stage == .holds || isBetter(claim, other) else { return }
            if state == .connecting { outputs.append(.disconnect) }
            enter(.hearing)
        case .holding:
            guard claim.stage == .holds, isBetter(claim, other) else { return }
            leave(now, &outputs)
        default: break
        }
    }

    private mutating func connected(_ now: UInt64, _ outputs: inout [Output]) {
        guard state != .holding, state != .leaving else { return }
        enter(.holding)
        (heldSince, betterSince, failures) = (now, nil, 0)
    }

    private mutating func disconnected(_ now: UInt64, _ outputs: inout [Output]) {
        switch state {
        case .holding:
            preferredUntil = now + Limit.preference
            outputs.append(.disconnect)
        case .leaving: break
        default: return
        }
        // What was received before the connection says nothing about where the device is now.
        enter(.absent)
        receivedAt = nil
    }

    private mutating func broker(_ isOnline: Bool, _ now: UInt64) {
        guard isOnline != self.isOnline else { return }
        self.isOnline = isOnline
        offlineSince = now
        guard isOnline else {
            // No gateway received the claim.
            if state == .taking { enter(.hearing) }
            return
        }
        // The retained claims come now.
        others = [:]
        published = nil
        freeSince = now
    }

    // MARK: Decisions

    private mutating func enter(_ state: State, until end: UInt64 = .max) { (self.state, stateEnds) = (state, end) }

    private mutating func leave(_ now: UInt64, _ outputs: inout [Output]) {
        enter(.leaving, until: now + Limit.leaving)
        preferredUntil = 0
        outputs.append(.disconnect)
    }

    private mutating func fail(_ now: UInt64, _ outputs: inout [Output]) {
        pauseEnds = now + min(Limit.firstPause << min(failures, 4), Limit.longestPause)
        failures += 1
        outputs.append(.disconnect)
        enter(.absent)
    }

    private mutating func advance(_ now: UInt64, _ outputs: inout [Output]) {
        switch state {
        case .absent: break
        case .hearing: consider(now, &outputs)
        case .taking where now >= stateEnds:
            enter(.connecting, until: now + Limit.connecting)
            outputs.append(.connect)
        case .connecting where now >= stateEnds: fail(now, &outputs)
        case .holding: compare(now, &outputs)
        case .leaving where now >= stateEnds: disconnected(now, &outputs)
        default: break
        }
    }

    private mutating func consider(_ now: UInt64, _ outputs: inout [Output]) {
        let receivedAt = receivedAt ?? 0
        if now >= receivedAt + Limit.presence { return enter(.absent) }
        guard now < receivedAt + Limit.freshness, now >= pauseEnds else { return }
        guard isOnline else {
            guard now >= offlineSince + Limit.alone else { return }
            enter(.connecting, until: now + Limit.connecting)
            return outputs.append(.connect)
        }
        guard now >= freeSince + Limit.listening, others.values.allSatisfy({ $0.stage == .hears }),
            !others.contains(where: { isBetter($0.value, $0.key) })
        else { return }
        enter(.taking, until: now + Limit.settling)
    }

    /// Whether another gateway receives the device much better.
    private mutating func compare(_ now: UInt64, _ outputs: inout [Output]) {
        let own = receivedAt.map { now < $0 + Limit.presence + Limit.betterFor } ?? false ? Int(signal) : -127
        guard isOnline, others.values.contains(where: { $0.score >= own + Limit.betterBy }) else {
            return betterSince = nil
        }
        let since = betterSince ?? now
        betterSince = since
        if now >= max(since + Limit.betterFor, heldSince + Limit.shortestHold) { leave(now, &outputs) }
    }

    /// Than this gateway, by what both have published, so that all gateways come to the same result.
    private func isBetter(_ claim: Claim, _ other: String) -> Bool {
        let own = published?.score ?? Int(signal)
        return claim.score != own ? claim.score > own : other < name
    }

    // MARK: Claims

    private mutating func publish(_ now: UInt64, _ outputs: inout [Output]) {
        guard isOnline else { return }
        let stage: Claim.Stage
        switch state {
        case .absent:
            if published != nil { outputs.append(.claim(nil)) }
            return published = nil
        case .hearing, .leaving: stage = .hears
        case .taking, .connecting: stage = .takes
        case .holding: stage = .holds
        }
        let isPreferred = state == .hearing && now < preferredUntil
        let claim = Claim(stage: stage, score: Int(signal.rounded()) + (isPreferred ? Limit.preferredBy : 0))
        guard let before = published, before.stage == stage else { return send(claim, now, &outputs) }
        // While a claim to take settles, its score stays: the others judge by it.
        guard stage != .takes, abs(before.score - claim.score) >= Limit.claimStep,
            now >= publishedAt + Limit.claimPause
        else { return }
        send(claim, now, &outputs)
    }

    private mutating func send(_ claim: Claim, _ now: UInt64, _ outputs: inout [Output]) {
        var claim = claim
        // The score by which it was decided.
        if claim.stage == .takes, let before = published { claim.score = before.score }
        (published, publishedAt) = (claim, now)
        outputs.append(.claim(claim))
    }
}
