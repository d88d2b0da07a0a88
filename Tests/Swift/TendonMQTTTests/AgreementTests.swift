// SPDX-License-Identifier: MIT
// Which gateway takes a device: a table of every state with every input, and an hour with three gateways.
import TendonSupport
import TestSupport
import Testing

@testable import TendonMQTT

@Suite struct AgreementTests {
    typealias State = Agreement.State
    typealias Input = Agreement.Input
    typealias Output = Agreement.Output

    /// Gateway "m" in a state at 100 s, where it receives the device with -60 dBm.
    private func agreement(in state: State) -> Agreement {
        var agreement = Agreement(name: "m", isOnline: true, now: 90_000)
        func input(_ input: Input, _ now: UInt64) { _ = agreement.handle(input, now: now) }
        if state == .absent { return agreement }
        let start: UInt64 = [.hearing: 100_000, .taking: 98_500, .connecting: 98_000][state] ?? 50_000
        input(.received(rssi: -60), start)
        if state == .hearing { return agreement }
        input(.received(rssi: -60), start + 1500)
        input(.time, start + 1500)
        if state == .taking { return agreement }
        input(.time, start + 2000)
        if state == .connecting { return agreement }
        input(.connection(true), start + 2100)
        input(.received(rssi: -60), 94_000)
        if state == .holding { return agreement }
        input(.claim("z", Claim(stage: .hears, score: -50)), 94_000)
        input(.time, 99_000)
        input(.claim("z", nil), 99_500)
        return agreement
    }

    private func claim(_ stage: Claim.Stage, _ score: Int = -60) -> Output { .claim(Claim(stage: stage, score: score)) }

    @Test func statesOfTheTableAreReached() {
        for state in State.allCases { #expect(agreement(in: state).state == state) }
    }

    /// Input at 100 s: the state that follows, and what is done.
    private var table: [(Input, [State: (State, [Output])])] {
        let stay = Dictionary(uniqueKeysWithValues: State.allCases.map { ($0, ($0, [Output]())) })
        func row(_ changes: [State: (State, [Output])]) -> [State: (State, [Output])] {
            stay.merging(changes) { $1 }
        }
        let better = Claim(stage: .takes, score: -50), worse = Claim(stage: .takes, score: -70)
        return [
            (.received(rssi: -60), row([.absent: (.hearing, [claim(.hears)])])),
            (.claim("a", Claim(stage: .hears, score: -50)), stay),
            (
                .claim("a", better),
                row([
                    .taking: (.hearing, [claim(.hears)]), .connecting: (.hearing, [.disconnect, claim(.hears)]),
                ])
            ),
            (.claim("a", worse), stay),
            // Equal: the name decides.
            (.claim("z", Claim(stage: .takes, score: -60)), stay),
            (
                .claim("a", Claim(stage: .takes, score: -60)),
                row([
                    .taking: (.hearing, [claim(.hears)]), .connecting: (.hearing, [.disconnect, claim(.hears)]),
                ])
            ),
            // Who is connected keeps the device, however bad.
            (
                .claim("a", Claim(stage: .holds, score: -90)),
                row([
                    .taking: (.hearing, [claim(.hears)]), .connecting: (.hearing, [.disconnect, claim(.hears)]),
                ])
            ),
            // Two that believe to be connected: the worse one ends it.
            (
                .claim("a", Claim(stage: .holds, score: -50)),
                row([
                    .taking: (.hearing, [claim(.hears)]), .connecting: (.hearing, [.disconnect, claim(.hears)]),
                    .holding: (.leaving, [.disconnect, claim(.hears)]),
                ])
            ),
            (.claim("a", nil), stay),
            (
                .connection(true),
                row([
                    .absent: (.holding, [claim(.holds, 0)]), .hearing: (.holding, [claim(.holds)]),
                    .taking: (.holding, [claim(.holds)]), .connecting: (.holding, [claim(.holds)]),
                ])
            ),
            (
                .connection(false),
                row([
                    .holding: (.absent, [.disconnect, .claim(nil)]), .leaving: (.absent, [.claim(nil)]),
                ])
            ),
            (.broker(true), stay),
            (.broker(false), row([.taking: (.hearing, [])])),
            (.time, stay),
        ]
    }

    @Test func everyStateWithEveryInput() {
        for (input, row) in table {
            for state in State.allCases {
                var agreement = agreement(in: state)
                let outputs = agreement.handle(input, now: 100_000)
                let expected = row[state]!
                #expect(agreement.state == expected.0, "\(state), \(input)")
                #expect(outputs == expected.1, "\(state), \(input)")
            }
        }
    }

    @Test(arguments: [
        // State, time after 100 s, the state that follows, and what is done; just before it nothing happens.
        (State.hearing, UInt64(10_000), State.absent, [Output.claim(nil)]),
        (.taking, 500, .connecting, [.connect]),
        (.connecting, 15_000, .absent, [.disconnect, .claim(nil)]),
        (.leaving, 4000, .absent, [.claim(nil)]),
    ])
    func timeEndsAState(_ state: State, _ after: UInt64, _ next: State, _ done: [Output]) {
        var agreement = agreement(in: state)
        #expect(agreement.handle(.time, now: 100_000 + after - 1) == [])
        #expect(agreement.deadline <= 100_000 + after)
        #expect(agreement.handle(.time, now: 100_000 + after) == done)
        #expect(agreement.state == next)
    }

    /// Another gateway has the device: there is nothing to do before the device is no longer received. A deadline that
    /// has passed would keep the worker's thread running.
    @Test func whatHasToWaitHasNoDeadlineThatHasPassed() {
        var agreement = agreement(in: .hearing)
        _ = agreement.handle(.claim("a", Claim(stage: .holds, score: -50)), now: 100_000)
        #expect(agreement.deadline == 101_500)
        #expect(agreement.handle(.time, now: 101_500) == [])
        #expect(agreement.state == .hearing && agreement.deadline == 110_000)
        #expect(agreement.handle(.time, now: 110_000) == [.claim(nil)])
        #expect(agreement.deadline == .max)
        // Nor has the preference, when it has ended.
        agreement = self.agreement(in: .holding)
        _ = agreement.handle(.claim("z", Claim(stage: .hears, score: -60)), now: 100_000)
        _ = agreement.handle(.connection(false), now: 100_000)
        #expect(agreement.state == .absent && agreement.deadline == 110_000)
        #expect(agreement.handle(.time, now: 110_000) == [])
        #expect(agreement.deadline == .max)
    }

    /// A gateway whose connection was lost is preferred for a while; not any more once it has left the device to a better one.
    @Test(arguments: [(false, -54), (true, -60)])
    func whoLeavesTheDeviceIsNotPreferred(leaves: Bool, score: Int) {
        var agreement = agreement(in: .holding)
        func input(_ input: Input, _ now: UInt64) -> [Output] { agreement.handle(input, now: now) }
        _ = input(.connection(false), 100_000)
        if leaves {
            _ = input(.connection(true), 100_100)
            _ = input(.claim("a", Claim(stage: .holds, score: 5)), 100_200)
            #expect(agreement.state == .leaving)
            _ = input(.connection(false), 100_300)
        }
        #expect(input(.received(rssi: -60), 102_000) == [claim(.hears, score)])
    }

    @Test func pausesAfterFailuresDouble() {
        var agreement = agreement(in: .connecting)
        var now: UInt64 = 115_000
        for pause in [UInt64(5000), 10_000, 20_000, 40_000, 60_000, 60_000] {
            _ = agreement.handle(.time, now: now)
            #expect(agreement.state == .absent)
            _ = agreement.handle(.received(rssi: -60), now: now + pause - 1)
            #expect(agreement.state == .absent)
            now += pause
            _ = agreement.handle(.received(rssi: -60), now: now)
            #expect(agreement.state == .hearing)
            _ = agreement.handle(.time, now: now + 1500)
            _ = agreement.handle(.time, now: now + 2000)
            #expect(agreement.state == .connecting)
            now += 17_000
        }
    }

    @Test func withoutABrokerADeviceIsTakenAfterThirtySeconds() {
        var agreement = Agreement(name: "m", isOnline: false, now: 0)
        for now in stride(from: UInt64(0), to: 30_000, by: 100) {
            #expect(agreement.handle(.received(rssi: -90), now: now) == [])
        }
        #expect(agreement.handle(.received(rssi: -90), now: 30_000) == [.connect])
        // It keeps what it has, and says so when the broker returns.
        #expect(agreement.handle(.connection(true), now: 31_000) == [])
        #expect(agreement.handle(.broker(true), now: 40_000) == [claim(.holds, -90)])
    }

    /// Retained claims come again with the broker: the claim of a gateway that has ended meanwhile does not.
    @Test func claimsOfBeforeTheBrokerWasAwayAreForgotten() {
        for isRepeated in [false, true] {
            var agreement = agreement(in: .hearing)
            func input(_ input: Input, _ now: UInt64) { _ = agreement.handle(input, now: now) }
            input(.claim("z", Claim(stage: .holds, score: -90)), 100_000)
            input(.broker(false), 100_100)
            input(.broker(true), 100_200)
            if isRepeated { input(.claim("z", Claim(stage: .holds, score: -90)), 100_300) }
            input(.received(rssi: -60), 101_000)
            input(.time, 102_000)
            #expect(agreement.state == (isRepeated ? .hearing : .taking))
        }
    }

    /// The retained claims need as long as those of the first time.
    @Test func itIsListenedAgainWhenTheBrokerReturns() {
        var agreement = agreement(in: .hearing)
        func input(_ input: Input, _ now: UInt64) { _ = agreement.handle(input, now: now) }
        input(.broker(false), 100_100)
        input(.broker(true), 101_000)
        input(.received(rssi: -60), 102_000)
        input(.time, 102_499)
        #expect(agreement.state == .hearing)
        input(.time, 102_500)
        #expect(agreement.state == .taking)
    }

    @Test func aBetterGatewayGetsTheDeviceAfterFiveSeconds() {
        var agreement = agreement(in: .holding)
        #expect(agreement.handle(.claim("z", Claim(stage: .hears, score: -51)), now: 100_000) == [])
        #expect(agreement.handle(.time, now: 106_000) == [])
        #expect(agreement.handle(.claim("z", Claim(stage: .hears, score: -50)), now: 106_000) == [])
        #expect(agreement.handle(.time, now: 110_999) == [])
        #expect(agreement.handle(.time, now: 111_000) == [.disconnect, claim(.hears)])
        #expect(agreement.state == .leaving)
    }

    @Test func theGatewayThatHadTheDeviceIsPreferredForTenSeconds() {
        var agreement = agreement(in: .holding)
        _ = agreement.handle(.connection(false), now: 100_000)
        #expect(agreement.handle(.received(rssi: -60), now: 100_100) == [claim(.hears, -54)])
        _ = agreement.handle(.claim("z", Claim(stage: .hears, score: -50)), now: 100_200)
        #expect(agreement.deadline <= 110_000)
        #expect(agreement.handle(.received(rssi: -60), now: 110_000) == [claim(.hears)])
    }

    @Test func aClaimFollowsTheSignalInSteps() {
        var agreement = agreement(in: .hearing)
        // -60, then a quarter of the way to -70 each time: -62.5, -64.375.
        #expect(agreement.handle(.received(rssi: -70), now: 101_000) == [claim(.hears, -63)])
        #expect(agreement.handle(.received(rssi: -70), now: 101_100) == [])
        #expect(agreement.handle(.received(rssi: -70), now: 101_200) == [])
        #expect(agreement.handle(.received(rssi: -70), now: 101_300) == [])
    }
}

/// Three gateways at 0, 30 and 60 m, a broker with a delay, a device that has one connection.
private struct Room {
    struct Event {
        var at: UInt64
        var to: Int
        var from: String
        var claim: Claim?
    }

    static let places = [0.0, 30, 60]
    static let names = ["a", "b", "c"]
    /// A connection below this is lost after 2 s.
    static let weakest = -85.0
    var random: Generator
    var agreements = names.map { Agreement(name: $0, isOnline: true, now: 0) }
    var mail: [Event] = []
    var latest = [UInt64](repeating: 0, count: 9)
    var attempts: [Int: UInt64] = [:]
    var linked: Int?
    var weakSince: UInt64?
    var freeSince: UInt64 = 0
    var links: [(at: UInt64, gateway: Int)] = []
    var longestGap: UInt64 = 0
    var rivals = 0
    /// Deadlines that had passed although all was done.
    var overdue = 0
    let noise: Double
    let advertisesAlways: Bool
    /// These are not running.
    var dead: Set<Int> = []

    init(seed: UInt64, noise: Double, advertisesAlways: Bool) {
        (random, self.noise, self.advertisesAlways) = (Generator(state: seed), noise, advertisesAlways)
    }

    /// 2.5 for the exponent of the distance, as indoors.
    static func strength(_ place: Double, _ gateway: Int) -> Double {
        let distance = max(1, abs(place - places[gateway]))
        var power = 0.0, value = distance
        while value >= 2 { (value, power) = (value / 2, power + 1) }
        // log2 between powers of two, by a straight line: near enough for a room.
        return -50 - 7.526 * (power + value - 1)
    }

    mutating func run(_ now: UInt64, place: Double) {
        for event in mail where event.at <= now && !dead.contains(event.to) {
            input(.claim(event.from, event.claim), event.to, now)
        }
        mail.removeAll { $0.at <= now }
        if linked == nil || advertisesAlways, now % 100 == 0 {
            for gateway in 0..<3 where !dead.contains(gateway) {
                let rssi = Room.strength(place, gateway) + noise * random.bell()
                if rssi > -95, random.next() % 10 > 0 { input(.received(rssi: Int(rssi)), gateway, now) }
            }
        }
        for (gateway, at) in attempts.sorted(by: { $0.key < $1.key }) where at <= now && linked == nil {
            guard Room.strength(place, gateway) > Room.weakest else { continue }
            attempts[gateway] = nil
            linked = gateway
            weakSince = nil
            longestGap = max(longestGap, now - freeSince)
            links.append((now, gateway))
            input(.connection(true), gateway, now)
        }
        if let gateway = linked {
            if Room.strength(place, gateway) > Room.weakest { weakSince = nil } else { weakSince = weakSince ?? now }
            if let weakSince, now >= weakSince + 2000 { unlink(now) }
        }
        for gateway in 0..<3 where !dead.contains(gateway) && agreements[gateway].deadline <= now {
            input(.time, gateway, now)
            if agreements[gateway].deadline <= now { overdue += 1 }
        }
        if attempts.count + (linked == nil ? 0 : 1) > 1 { rivals += 1 }
    }

    mutating func unlink(_ now: UInt64) {
        guard let gateway = linked else { return }
        (linked, weakSince, freeSince) = (nil, nil, now)
        if !dead.contains(gateway) { input(.connection(false), gateway, now) }
    }

    mutating func kill(_ gateway: Int, _ now: UInt64) {
        dead.insert(gateway)
        attempts[gateway] = nil
        // The last will.
        tell(gateway, nil, now)
        if linked == gateway { unlink(now) }
    }

    private mutating func tell(_ gateway: Int, _ claim: Claim?, _ now: UInt64) {
        for other in 0..<3 where other != gateway {
            let at = max(latest[gateway * 3 + other], now + 20 + random.next() % 80)
            latest[gateway * 3 + other] = at
            mail.append(Event(at: at, to: other, from: Room.names[gateway], claim: claim))
        }
    }

    private mutating func input(_ input: Agreement.Input, _ gateway: Int, _ now: UInt64) {
        for output in agreements[gateway].handle(input, now: now) {
            switch output {
            case .claim(let claim): tell(gateway, claim, now)
            case .connect: attempts[gateway] = now + 200 + random.next() % 800
            case .disconnect:
                attempts[gateway] = nil
                if linked == gateway { unlink(now) }
            }
        }
    }

    struct Generator {
        private var dice: Dice
        init(state: UInt64) { dice = Dice(seed: state) }
        mutating func next() -> UInt64 { dice.next() }
        /// About normal, with a deviation of 1: the sum of 12.
        mutating func bell() -> Double { (0..<12).reduce(-6) { sum, _ in sum + Double(next() % 1000) / 1000 } }
    }
}

@Suite struct WalkingDeviceTests {
    /// An hour in steps of 100 ms.
    private func hour(_ room: inout Room, _ place: (UInt64) -> Double) {
        for now in stride(from: UInt64(0), to: 3_600_000, by: 100) { room.run(now, place: place(now)) }
    }

    /// To 60 m and back with 1 m/s, with a rest of 40 s at each end.
    private func walk(_ now: UInt64) -> Double {
        let time = Double(now % 200_000) / 1000
        return time < 60 ? time : time < 100 ? 60 : time < 160 ? 160 - time : 0
    }

    @Test(arguments: [UInt64(1), 2, 3])
    func aWalkingDeviceHasOneConnectionAtATime(_ seed: UInt64) {
        var room = Room(seed: seed, noise: 4, advertisesAlways: false)
        hour(&room, walk)
        #expect(room.rivals == 0 && room.overdue == 0)
        // It advertises only without a connection: the connection is lost first.
        #expect(room.longestGap <= 6000)
        // 18 walks there and back, two places each way where a connection is lost.
        #expect((60...76).contains(room.links.count))
    }

    @Test(arguments: [UInt64(1), 2, 3])
    func aDeviceThatAlwaysAdvertisesIsHandedOverBeforeItIsLost(_ seed: UInt64) {
        var room = Room(seed: seed, noise: 4, advertisesAlways: true)
        hour(&room, walk)
        #expect(room.rivals == 0)
        #expect(room.longestGap <= 6000)
        #expect((60...76).contains(room.links.count))
    }

    @Test(arguments: [false, true], [UInt64(1), 2, 3])
    func atTheBorderItStays(_ advertisesAlways: Bool, _ seed: UInt64) {
        var room = Room(seed: seed, noise: 6, advertisesAlways: advertisesAlways)
        hour(&room) { _ in 15 }
        #expect(room.rivals == 0)
        #expect(room.links.count <= 3)
    }

    @Test func aDeadGatewayIsFollowed() {
        var room = Room(seed: 1, noise: 4, advertisesAlways: false)
        for now in stride(from: UInt64(0), to: 20_000, by: 100) { room.run(now, place: 14) }
        #expect(room.linked == 0)
        room.kill(0, 20_000)
        for now in stride(from: UInt64(20_000), to: 26_000, by: 100) { room.run(now, place: 14) }
        #expect(room.linked == 1)
    }
}

@Suite struct NeighborTests {
    private let claim = Claim(stage: .holds, score: -60)

    @Test func claimsHoldWhileTheirGatewayIsOnline() {
        var neighbors = Neighbors()
        // Retained messages come in any order.
        let early = neighbors.claim(of: "b", "x/random", claim)
        let begun = neighbors.state(of: "b", isOnline: true)
        let again = neighbors.state(of: "b", isOnline: true)
        #expect(!early)
        #expect(begun.map(\.claim) == [claim])
        #expect(again.isEmpty)
        let late = neighbors.claim(of: "b", "y/random", claim)
        let withdrawn = neighbors.claim(of: "b", "y/random", nil)
        #expect((late, withdrawn) == (true, true))
        let ended = neighbors.state(of: "b", isOnline: false)
        #expect(ended.map(\.key) == ["x/random"])
        #expect(ended.map(\.claim) == [nil])
        let afterwards = neighbors.claim(of: "b", "x/random", nil)
        #expect(!afterwards)
    }

    /// The broker keeps the claims of a gateway that was killed: they are not those of the gateway that starts again.
    @Test func claimsEndWithTheLastWill() {
        var neighbors = Neighbors()
        _ = neighbors.state(of: "b", isOnline: true)
        _ = neighbors.claim(of: "b", "x/random", claim)
        let ended = neighbors.state(of: "b", isOnline: false)
        #expect(ended.map(\.key) == ["x/random"])
        let again = neighbors.state(of: "b", isOnline: true)
        #expect(again.isEmpty)
        #expect(neighbors.claims(to: "x/random").isEmpty)
        let new = neighbors.claim(of: "b", "x/random", claim)
        #expect(new)
        // Of one that is known to be offline, also when they come after its last will.
        let unknown = neighbors.state(of: "c", isOnline: false)
        let old = neighbors.claim(of: "c", "x/random", claim)
        let started = neighbors.state(of: "c", isOnline: true)
        #expect(unknown.isEmpty && !old && started.isEmpty)
        #expect(neighbors.claims(to: "x/random").map(\.gateway) == ["b"])
    }

    @Test func aClaimIsReadAsItIsWritten() {
        #expect(Claim(Array(LineWriter.text(claim.json).utf8)) == claim)
        #expect(LineWriter.text(claim.json) == #"{"stage":"holds","score_dbm":-60}"#)
        for text in [
            "", "{}", #"{"stage":"owns","score_dbm":-60}"#, #"{"stage":"holds"}"#,
            #"{"stage":"holds","score_dbm":-1e9}"#, #"{"stage":"holds","score_dbm":"-60"}"#,
        ] {
            #expect(Claim(Array(text.utf8)) == nil, "\(text)")
        }
    }

    @Test func topicsOfNeighbors() {
        let topics = Topics(base: "t/x", gateway: "a")
        #expect(topics.claim("a", "C0:01/random") == "t/x/bridge/a/claim/C0:01/random")
        #expect(topics.neighbor("t/x/bridge/b/claim/C0:01/random") == .claim("b", key: "C0:01/random"))
        #expect(topics.neighbor("t/x/bridge/b/state") == .state("b"))
        for topic in ["t/x/bridge/b/info", "t/x/bridge//state", "t/x/bridge/b/claim/C0:01", "t/y/bridge/b/state"] {
            #expect(topics.neighbor(topic) == nil, "\(topic)")
        }
    }

    @Test func libmosquittoKeepsWhatNeedsAnAcknowledgement() {
        // MOSQ_ERR_SUCCESS, MOSQ_ERR_NO_CONN, MOSQ_ERR_CONN_LOST, MOSQ_ERR_NOMEM.
        for (code, once, acknowledged) in [(0, true, true), (4, false, true), (7, false, true), (1, false, false)] {
            #expect(Client.result(Int32(code), 9, quality: 0) == (once ? .taken(9) : .later))
            #expect(Client.result(Int32(code), 9, quality: 1) == (acknowledged ? .taken(9) : .later))
        }
        // MOSQ_ERR_PAYLOAD_SIZE, MOSQ_ERR_OVERSIZE_PACKET: no later attempt is better.
        #expect(Client.result(9, 9, quality: 1) == .refused("Payload too large"))
        #expect(Client.result(25, 9, quality: 1) == .refused("Packet larger than supported by the server"))
    }
}
