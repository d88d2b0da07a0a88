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
    private static let limit = 1024

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
    private var claims: [String: [String: Claim]] = [:]
    /// Gateways, and devices of a gateway, that are remembered.
    private static let limit = 1024

    /// The claims of a gateway hold while it is online. Returns the devices whose claim changed, with what holds now.
    mutating func state(of gateway: String, isOnline: Bool) -> [(key: String, claim: Claim?)] {
        guard isOnline != online.contains(gateway), online.count < Neighbors.limit || !isOnline else { return [] }
        if isOnline { online.insert(gateway) } else { online.remove(gateway) }
        return (claims[gateway] ?? [:]).map { (key: $0.key, claim: isOnline ? $0.value : nil) }
    }

    /// True if the claim holds already.
    mutating func claim(of gateway: String, _ key: String, _ claim: Claim?) -> Bool {
        guard claims.count < Neighbors.limit || claims[gateway] != nil else { return false }
        guard let claim else {
            claims[gateway]?[key] = nil
            return online.contains(gateway)
        }
        guard claims[gateway, default: [:]].count < Neighbors.limit else { return false }
        claims[gateway, default: [:]][key] = claim
        return online.contains(gateway)
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
    /// An input of a device's agreement, and what comes of it.
    func agree(_ key: String, _ input: Agreement.Input, _ now: UInt64) {
        guard let shared else { return }
        var agreement =
            agreements[key]
            ?? Agreement(name: settings.gateway, isOnline: isConnected, now: isConnected ? now : brokerLostAt)
        let outputs = agreement.handle(input, now: now)
        agreements[key] = agreement.isForgettable ? nil : agreement
        for output in outputs {
            switch output {
            case .claim(let claim):
                let payload = claim.map { Array(LineWriter.text($0.json).utf8) } ?? []
                _ = client.publish(topics.claim(settings.gateway, key), payload, quality: 1, isRetained: true)
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
                    _ = client.publish(topic, [], quality: 1, isRetained: true)
                }
                return true
            }
            if neighbors.claim(of: gateway, key, claim) { agree(key, .claim(gateway, claim), now) }
        }
        return true
    }
}
