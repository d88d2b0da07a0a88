// SPDX-License-Identifier: MIT
// Several gateways and one device: carries the claims of Agreement.swift over the broker. Each gateway publishes retained
// claims under its own topic; its last will ends all of them.
import CTendon
import Synchronization
import TendonOutputs
import TendonSupport

/// What the command asks and reports, from any thread.
final class SharedDevices: LinkAgreement {
    private struct State {
        var permitted: Set<String> = []
        /// When the worker got the newest signal of each device.
        var postedAt: [String: UInt64] = [:]
    }

    private let mailbox: Mailbox
    private let clock: @Sendable () -> UInt64
    private let state = Mutex(State())
    /// Milliseconds between two signals of a device.
    private static let pause: UInt64 = 250
    /// Devices whose signal is passed on.
    static let limit = 1024

    init(_ mailbox: Mailbox, clock: @escaping @Sendable () -> UInt64 = tendon_monotonic_ms) {
        (self.mailbox, self.clock) = (mailbox, clock)
    }

    func received(_ device: OutputDevice, rssi: Int) {
        let key = device.key, now = clock()
        let isDue = state.withLock { state in
            if let last = state.postedAt[key], now < last + SharedDevices.pause { return false }
            // The oldest would do, but this is the way of an attack.
            if state.postedAt.count >= SharedDevices.limit { state.postedAt = [:] }
            state.postedAt[key] = now
            return true
        }
        if isDue { mailbox.post(.signal(device, rssi)) }
    }

    func mayConnect(to device: OutputDevice) -> Bool {
        let key = device.key
        return state.withLock { $0.permitted.contains(key) }
    }

    func permit(_ key: String) { state.withLock { _ = $0.permitted.insert(key) } }
    func revoke(_ key: String) { state.withLock { _ = $0.permitted.remove(key) } }
}

/// What other gateways have published. On the worker's thread only.
struct Neighbors {
    private var online: Set<String> = []
    /// Whose last will came: the broker keeps the claims of a program that was killed.
    private var offline: Set<String> = []
    private var claims: [String: [String: Claim]] = [:]
    /// Gateways, and claims of all of them, that are remembered.
    private static let limit = 1024
    private static let claimLimit = 8192
    private var claimCount = 0

    /// The claims of a gateway hold while it is online, and those from before its end never again: it makes new ones. Returns the
    /// devices whose claim changed, with what holds now.
    mutating func state(of gateway: String, isOnline: Bool) -> [(key: String, claim: Claim?)] {
        if isOnline {
            guard !online.contains(gateway), online.count < Neighbors.limit else { return [] }
            offline.remove(gateway)
            online.insert(gateway)
            return (claims[gateway] ?? [:]).map { (key: $0.key, claim: $0.value) }
        }
        if offline.count < Neighbors.limit { offline.insert(gateway) }
        let ended = claims.removeValue(forKey: gateway) ?? [:]
        claimCount -= ended.count
        guard online.remove(gateway) != nil else { return [] }
        return ended.keys.map { (key: $0, claim: nil) }
    }

    /// True if the claim holds already.
    mutating func claim(of gateway: String, _ key: String, _ claim: Claim?) -> Bool {
        guard !offline.contains(gateway), claims.count < Neighbors.limit || claims[gateway] != nil else { return false }
        let isNew = claims[gateway]?[key] == nil
        guard let claim else {
            if !isNew { claimCount -= 1 }
            claims[gateway]?[key] = nil
            if claims[gateway]?.isEmpty ?? false { claims[gateway] = nil }
            return online.contains(gateway)
        }
        if isNew {
            guard claimCount < Neighbors.claimLimit else { return false }
            claimCount += 1
        }
        claims[gateway, default: [:]][key] = claim
        return online.contains(gateway)
    }

    /// The claims that hold.
    func claims(to key: String) -> [(gateway: String, claim: Claim)] {
        online.compactMap { gateway in claims[gateway]?[key].map { (gateway, $0) } }
    }
}

extension Claim {
    var json: JSON { ["stage": .string(stage.rawValue), "score_dbm": JSON(score)] }

    /// Nil: not a claim.
    init?(_ payload: [UInt8]) {
        guard let json = try? JSON(parsing: payload), let name = json["stage"]?.string,
            let stage = Stage(rawValue: name), let score = json["score_dbm"]?.number, (-200...100).contains(score)
        else { return nil }
        self.init(stage: stage, score: Int(score))
    }
}

extension Worker {
    /// An input of a device's agreement, and what comes of it. Only devices that this gateway receives or serves have one:
    /// what others claim of the rest is with the neighbors.
    func agree(_ key: String, _ input: Agreement.Input, _ now: UInt64) {
        guard let shared else { return }
        var agreement: Agreement
        if let known = agreements[key] {
            agreement = known
        } else {
            if case .claim = input { return }
            guard hasRoom(now) else { return }
            agreement = Agreement(
                name: settings.gateway, isOnline: isConnected, now: isConnected ? now : brokerLostAt)
            for (gateway, claim) in neighbors.claims(to: key) {
                // It decides nothing while the device is absent.
                _ = agreement.handle(.claim(gateway, claim), now: now)
            }
        }
        let outputs = agreement.handle(input, now: now)
        agreements[key] = agreement.isForgettable(now) ? nil : agreement
        for output in outputs {
            switch output {
            case .claim(let claim):
                let payload = claim.map { Array(LineWriter.text($0.json).utf8) } ?? []
                hand(topics.claim(settings.gateway, key), payload, quality: 1, isRetained: true)
            case .connect: shared.permit(key)
            case .disconnect:
                shared.revoke(key)
                let handler = handler
                if let device = Device.parts(of: key) {
                    handler.start { await handler.disconnect(device.address, device.type) }
                }
            }
        }
    }

    /// Devices with an agreement. A device that is not in range makes room.
    private func hasRoom(_ now: UInt64) -> Bool {
        if agreements.count < SharedDevices.limit { return true }
        guard let idle = agreements.first(where: { $0.value.state == .absent })?.key else { return false }
        agreements[idle] = nil
        return true
    }

    func agreeOnTime(_ now: UInt64) {
        for (key, agreement) in agreements where agreement.deadline <= now { agree(key, .time, now) }
    }

    func agreeOnBroker(_ isOnline: Bool, _ now: UInt64) {
        if !isOnline { brokerLostAt = now }
        neighbors = Neighbors()
        for key in agreements.keys { agree(key, .broker(isOnline), now) }
    }

    /// False: the topic is not one of the agreement's.
    func takeClaim(_ topic: String, _ payload: [UInt8], _ now: UInt64) -> Bool {
        guard shared != nil, let incoming = topics.neighbor(topic) else { return false }
        switch incoming {
        case .state(let gateway):
            guard gateway != settings.gateway else { return true }
            let isOnline = payload == Array(BridgeState.online.utf8)
            for (key, claim) in neighbors.state(of: gateway, isOnline: isOnline) {
                agree(key, .claim(gateway, claim), now)
            }
        case .claim(let gateway, let key):
            let claim = Claim(payload)
            guard gateway != settings.gateway else {
                // Of an earlier run.
                if claim != nil, agreements[key] == nil {
                    hand(topic, [], quality: 1, isRetained: true)
                }
                return true
            }
            if neighbors.claim(of: gateway, key, claim) { agree(key, .claim(gateway, claim), now) }
        }
        return true
    }
}
