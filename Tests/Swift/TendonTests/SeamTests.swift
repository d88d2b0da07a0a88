// SPDX-License-Identifier: MIT
import CTendon
import Synchronization
import Testing

@testable import Tendon

/// A device session in Swift: counts its inputs, and does what a test wants.
private final class FakeSession: @unchecked Sendable {
    // Touched on the loop's thread alone.
    var connected = 0
    var reasons: [tendon_status] = []
    var ticks = 0
    var deadline = UInt64.max
    var onDisconnected: (() -> Void)?

    static let inputs: CBlock<tendon_session_inputs> = {
        let block = CBlock<tendon_session_inputs>()
        block.pointer.pointee = tendon_session_inputs(
            connected: { session, _, _ in object(FakeSession.self, session).connected += 1 },
            disconnected: { session, reason, _ in
                let session = object(FakeSession.self, session)
                session.reasons.append(reason)
                session.onDisconnected?()
            },
            paired: { _, _, _ in },
            tick: { session, _ in
                let session = object(FakeSession.self, session)
                session.ticks += 1
                session.deadline = .max
            },
            deadline: { session in object(FakeSession.self, UnsafeMutableRawPointer(mutating: session)).deadline })
        return block
    }()
}

/// A module's core in small.
private final class FakeCore: Abandonable, @unchecked Sendable {
    // Touched on the loop's thread alone.
    let loop = Loop.shared
    let session = FakeSession()
    let holder: RadioHolder
    private(set) var link: SessionLink?
    var closed: [tendon_status] = []

    init(_ holder: RadioHolder) { self.holder = holder }

    func makeLink(to peer: Address) throws -> SessionLink {
        let link = SessionLink(try holder.open(), to: peer, owner: self) { [unowned self] in closed.append($0) }
        link.attach(FakeSession.inputs, context(of: session), in: session)
        self.link = link
        return link
    }

    func abandon() {
        link?.abandon()
        holder.close()
    }
}

/// What a test keeps weakly.
private final class Weakly<Object: AnyObject>: @unchecked Sendable {
    // Read on the loop's thread alone.
    weak var object: Object?
    init(_ object: Object?) { self.object = object }
}

struct SessionLinkTests {
    private func make(_ site: Site) async -> (Lifetime<FakeCore>, Weakly<FakeCore>, Weakly<RadioCore>) {
        await onLoop {
            let core = FakeCore(RadioHolder({ site.radio }))
            let radio = try? core.holder.open()
            return (Lifetime(core), Weakly(core), Weakly(radio))
        }
    }

    @Test func drivesItsSessionAndKeepsItAlive() async throws {
        let site = try await Site()
        var (lifetime, core, radio): (Lifetime<FakeCore>?, _, _) = await make(site)
        let address = site.address
        await onLoop { [lifetime] in
            let link = try? lifetime?.core.makeLink(to: address)
            #expect(link?.connect() == 0)
            #expect(link?.isIdle == false)
        }
        await eventually("connected") { await onLoop { [core] in core.object?.session.connected == 1 } }
        #expect(await site.connections() == 1)
        // The last reference: the connection is closed, then all of it is released, the radio last.
        lifetime = nil
        await eventually("the device sees the end") { await site.connections() == 0 }
        await eventually("the core is released") { await onLoop { [core] in core.object == nil } }
        await eventually("the radio is released") { await onLoop { [radio] in radio.object == nil } }
    }

    @Test func theSessionMayConnectAgainWhenItIsDisconnected() async throws {
        let site = try await Site()
        let (lifetime, _, _) = await make(site)
        let address = site.address
        await onLoop {
            guard let link = try? lifetime.core.makeLink(to: address) else { return }
            let session = lifetime.core.session
            session.onDisconnected = { [unowned session, unowned link] in
                session.onDisconnected = nil
                #expect(link.c.connect(link.c.context) == 0)
            }
            #expect(link.connect() == 0)
        }
        await eventually("connected") { await onLoop { lifetime.core.session.connected == 1 } }
        await site.disconnectAll()
        await eventually("connected again") { await onLoop { lifetime.core.session.connected == 2 } }
        await onLoop {
            #expect(lifetime.core.closed.count == 1)
            #expect(lifetime.core.session.reasons.count == 1)
            #expect(lifetime.core.link?.isIdle == false)
        }
    }

    @Test func abandonedWhileIdleItIsFinalAtOnce() async throws {
        let site = try await Site()
        let (lifetime, _, _) = await make(site)
        let address = site.address
        await onLoop {
            guard let link = try? lifetime.core.makeLink(to: address) else { return }
            var calls = 0
            link.abandon { calls += 1 }
            #expect(calls == 1)
            link.abandon { calls += 1 }
            #expect(calls == 1, "once")
            #expect(link.connect() == Int32(TENDON_ERROR_WRONG_STATE))
        }
    }

    @Test func abandonedWhileConnectedItIsFinalWhenIdle() async throws {
        let site = try await Site()
        let (lifetime, _, _) = await make(site)
        let address = site.address
        let isFinal = Mutex(false)
        await onLoop {
            let link = try? lifetime.core.makeLink(to: address)
            #expect(link?.connect() == 0)
        }
        await eventually("connected") { await onLoop { lifetime.core.session.connected == 1 } }
        await onLoop {
            // A session that wants to connect again does not get a connection any more.
            let session = lifetime.core.session
            session.onDisconnected = {
                #expect(lifetime.core.link?.connect() == Int32(TENDON_ERROR_WRONG_STATE))
            }
        }
        await withCheckedContinuation { done in
            Loop.shared.post {
                lifetime.core.link?.abandon {
                    isFinal.withLock { $0 = true }
                    done.resume()
                }
                #expect(!isFinal.withLock { $0 }, "not before the connection is closed")
            }
        }
        await onLoop {
            #expect(lifetime.core.session.reasons == [Int32(TENDON_ERROR_CANCELLED)])
            lifetime.core.session.onDisconnected = nil
        }
    }

    /// A session with a deadline whose link is replaced is not called by the old one.
    @Test func aReleasedLinkTicksNobody() async throws {
        let site = try await Site()
        let (lifetime, _, _) = await make(site)
        let address = site.address
        await onLoop {
            let core = lifetime.core
            guard let first = try? core.makeLink(to: address) else { return }
            core.session.deadline = tendon_monotonic_ms()
            first.refresh()
            _ = try? core.makeLink(to: address)
        }
        await onLoop {}
        await Loop.shared.nextStep()
        #expect(await onLoop { lifetime.core.session.ticks } == 0)
        // The new one ticks.
        await onLoop { lifetime.core.link?.refresh() }
        await eventually("a tick") { await onLoop { lifetime.core.session.ticks == 1 } }
    }

    @Test func pairingGoesThroughTheQuestion() async throws {
        let site = try await Site()
        let (lifetime, _, _) = await make(site)
        let address = site.address
        await onLoop {
            guard let link = try? lifetime.core.makeLink(to: address) else { return }
            #expect(link.c.pair(link.c.context) == Int32(TENDON_RADIO_ERROR_NO_PAIRING_SERVICE))
            link.onPair = { 7 }
            #expect(link.c.pair(link.c.context) == 7)
            #expect(!link.c.bonded(link.c.context))
        }
    }
}

extension Loop {
    /// Returns after the loop has looked at its descriptors and deadlines.
    fileprivate func nextStep() async {
        let timer = await run { [core] in
            let fired = Weakly<LoopTimer>(nil)
            let timer = LoopTimer(core) {}
            timer.deadline = tendon_monotonic_ms()
            fired.object = timer
            return timer
        }
        await eventually("a step") { await run { timer.deadline == .max } }
        await run { timer.remove() }
    }
}

struct SearchTests {
    private final class Results: Sendable {
        let addresses = Mutex<[Address]>([])
        let errors = Mutex<[TendonError]>([])
    }

    private final class Held: @unchecked Sendable {
        // Touched on the loop's thread alone.
        let holder: RadioHolder
        var search: Search?
        init(_ holder: RadioHolder) { self.holder = holder }
    }

    private func make(_ site: Site, _ results: Results, stopsAtFirst: Bool = false) async -> Held {
        await onLoop {
            let held = Held(RadioHolder({ site.radio }))
            held.search = Search(
                held.holder,
                report: { [unowned held] report, _ in
                    results.addresses.withLock { $0.append(Address(report.pointee.address)) }
                    if stopsAtFirst { held.search?.stop() }
                }, failed: { error in results.errors.withLock { $0.append(error) } })
            return held
        }
    }

    @Test func reportsGoStraightToTheSession() async throws {
        let site = try await Site()
        let results = Results()
        let held = await make(site, results)
        await onLoop {
            #expect(throws: Never.self) { try held.search?.start() }
            #expect(throws: Never.self) { try held.search?.start() }
            #expect(held.search?.isRunning == true)
        }
        await eventually("a few reports") { results.addresses.withLock { $0.count >= 3 } }
        #expect(results.addresses.withLock { Set($0) } == [site.address])
        await onLoop {
            let radio = held.holder.radio
            #expect(radio?.radio.pointee.scanning == true)
            held.search?.stop()
            #expect(radio?.radio.pointee.scanning == false)
            held.holder.close()
        }
        #expect(results.errors.withLock { $0.isEmpty })
    }

    @Test func aSearchMayStopWithinAReport() async throws {
        let site = try await Site()
        let results = Results()
        let held = await make(site, results, stopsAtFirst: true)
        await onLoop { #expect(throws: Never.self) { try held.search?.start() } }
        await eventually("a report") { results.addresses.withLock { !$0.isEmpty } }
        await onLoop {
            #expect(held.search?.isRunning == false)
            #expect(held.holder.radio?.radio.pointee.scanning == false)
            held.holder.close()
        }
        #expect(results.addresses.withLock { $0.count } == 1, "the scan response was not reported any more")
    }

    @Test func aReleasedSearchEndsItsScan() async throws {
        let site = try await Site()
        let held = await make(site, Results())
        await onLoop {
            #expect(throws: Never.self) { try held.search?.start() }
            held.search = nil
            #expect(held.holder.radio?.radio.pointee.scanning == false)
            held.holder.close()
        }
    }

    @Test func aFailedRadioEndsTheSearch() async throws {
        let site = try await Site()
        let results = Results()
        let held = await make(site, results)
        await onLoop {
            #expect(throws: Never.self) { try held.search?.start() }
            held.holder.radio?.failNow(Int32(TENDON_RADIO_ERROR_ADAPTER_DOWN))
            #expect(held.search?.isRunning == false)
        }
        #expect(results.errors.withLock { $0.map(\.status) } == [Int32(TENDON_RADIO_ERROR_ADAPTER_DOWN)])
        await onLoop { held.holder.close() }
    }

    /// One scan serves all: active when anybody wants it, without duplicates when everybody does.
    @Test func oneScanServesAll() async throws {
        let site = try await Site()
        let central = try await Central(radio: site.radio)
        func parameters() async -> (Bool, Bool) {
            await onLoop { (central.core.scanParameters.active, central.core.scanParameters.filter_duplicates) }
        }
        var all: EventSequence<Advertisement>? = try await central.scan(
            ScanOptions(isActive: false, filtersDuplicates: true))
        #expect(await parameters() == (false, true))
        var second: EventSequence<Advertisement>? = try await central.scan(
            ScanOptions(isActive: true, filtersDuplicates: false))
        #expect(await parameters() == (true, false), "one wants duplicates: nobody's are filtered")
        second = nil
        await eventually("the second is gone") { await parameters() == (false, true) }
        #expect(await onLoop { central.core.radio.pointee.scanning })
        all = nil
        await eventually("the radio's scan ends with the last") {
            await onLoop { !central.core.radio.pointee.scanning }
        }
        withExtendedLifetime((all, second)) {}
    }
}

extension RadioCore {
    /// As the C core reports it.
    fileprivate func failNow(_ status: tendon_status) {
        radio.pointee.on_failure?(radio.pointee.report_context, status, tendon_monotonic_ms())
    }
}

/// A radio that fails, and everything on it.
struct RadioFailureTests {
    @Test func aRadioThatFails() async throws {
        let site = try await Site()
        let failure = TendonError(status: Int32(TENDON_RADIO_ERROR_ADAPTER_DOWN), operation: .scan)
        let central = try await Central(radio: site.radio)
        let sequence = try await central.scan()
        let calls = Mutex<[String]>([])
        let core = central.core
        let owners = await onLoop {
            let owners = (RadioHolder(core), RadioHolder(core))
            func write(_ line: String) { calls.withLock { $0.append(line) } }
            _ = try? core.scan(
                ScanOptions(), report: { _, _ in }, ended: { write("scan \($0 == failure)") })
            core.onFailure(of: owners.0) { error in write("first \(error == failure)") }
            core.onFailure(of: owners.1) { _ in write("second") }
            core.onFailure(of: owners.1, nil)
            core.failNow(failure.status)
            core.failNow(failure.status)
            return owners
        }
        #expect(calls.withLock { $0 } == ["scan true", "first true"])
        await #expect(throws: failure) { for try await _ in sequence {} }
        #expect(await central.state == .failed(failure))
        await #expect(throws: failure) { try await central.scan() }
        await #expect(throws: failure) { try await central.connect(site.address) }
        await central.close()
        #expect(await central.state == .failed(failure), "the reason stays")
        await onLoop {
            owners.0.close()
            owners.1.close()
        }
    }
}

struct RadioFallbackTests {
    private static let noAdapter = TendonError(
        status: Int32(TENDON_RADIO_ERROR_NO_KERNEL_SUPPORT), operation: .openRadio)

    @Test func theVirtualRadioKnowsWhyNoAdapterOpened() async throws {
        let site = try await Site()
        await onLoop {
            func virtual() throws(TendonError) -> RadioCore { try RadioCore.open(site.radio, loop: .shared) }
            #expect(throws: Never.self) {
                let fallback = try RadioCore.openAutomatic({ () throws(TendonError) in throw Self.noAdapter }, virtual)
                #expect(fallback.adapterFailure == Self.noAdapter)
                fallback.close()
                // An adapter that opens is used.
                let adapter = try RadioCore.openAutomatic(virtual) { () throws(TendonError) in
                    Issue.record("the fallback opened as well")
                    throw Self.noAdapter
                }
                #expect(adapter.adapterFailure == nil)
                adapter.close()
            }
        }
    }

    /// If the virtual radio does not open either, its own error is thrown.
    @Test func aFallbackThatFailsThrows() async {
        await onLoop {
            let error = #expect(throws: TendonError.self) {
                try RadioCore.openAutomatic({ () throws(TendonError) in throw Self.noAdapter }) {
                    () throws(TendonError) in
                    try RadioCore.open(.virtual(directory: "/proc/no/such/directory"), loop: .shared)
                }
            }
            #expect(error != nil && error != Self.noAdapter)
        }
    }

    @Test func aCentralReportsTheFallback() async throws {
        let site = try await Site()
        let chosen = try await Central(radio: site.radio, bonds: .none)
        #expect(chosen.adapterFailure == nil)
        let automatic = try await Central(radio: .automatic, bonds: .none)
        #expect((automatic.radioName == "virtual") == (automatic.adapterFailure != nil))
    }
}

struct RadioHolderTests {
    /// A failure is kept, and the next call tries again.
    @Test func whyItDidNotOpenIsKept() async throws {
        let site = try await Site()
        await onLoop {
            var choice = RadioChoice.virtual(directory: "/proc/no/such/directory")
            let holder = RadioHolder({ choice })
            #expect(holder.failure == nil)
            let error = #expect(throws: TendonError.self) { try holder.open() }
            #expect(error?.operation == .openRadio)
            #expect(holder.failure == error)
            #expect(holder.radio == nil)
            choice = site.radio
            #expect(throws: Never.self) { try holder.open() }
            #expect(holder.failure == nil)
            #expect(holder.radio?.name == "virtual")
            holder.close()
            #expect(throws: TendonError.self) { try holder.open() }
        }
    }

    @Test func aFailureIsReportedOnceAndClosesTheRadio() async throws {
        let site = try await Site()
        let down = Int32(TENDON_RADIO_ERROR_ADAPTER_DOWN)
        let errors = Mutex<[TendonError]>([])
        let holder = await onLoop { RadioHolder({ site.radio }) }
        await onLoop {
            holder.onFailure = { error in errors.withLock { $0.append(error) } }
            let radio = try? holder.open()
            radio?.failNow(down)
            radio?.failNow(down)
        }
        await eventually("reported") { errors.withLock { !$0.isEmpty } }
        await onLoop {
            #expect(errors.withLock { $0.map(\.status) } == [down])
            #expect(holder.radio == nil)
            #expect(holder.failure?.status == down)
            #expect(throws: Never.self) { try holder.open() }
            #expect(holder.failure == nil)
            holder.close()
        }
    }

    /// A manager on the program's central never opens another radio.
    @Test func theProgramsCentralIsTheOnlyRadio() async throws {
        let site = try await Site()
        let down = Int32(TENDON_RADIO_ERROR_ADAPTER_DOWN)
        var central: Central? = try await Central(radio: site.radio)
        let radio = try #require(try central?.sharedLoopRadio())
        let holder = await onLoop { RadioHolder(radio) }
        await onLoop {
            #expect((try? holder.open()) === radio)
            radio.failNow(down)
        }
        await eventually("failed") { await onLoop { holder.failure?.status == down } }
        await onLoop {
            let error = #expect(throws: TendonError.self) { try holder.open() }
            #expect(error?.status == down)
        }
        #expect(await central?.state == .failed(TendonError(status: down, operation: .scan)))
        central = nil
        await onLoop { holder.close() }
    }

    @Test func aCentralOnAnotherLoopIsRejected() async throws {
        let site = try await Site()
        let central = try await Central(radio: site.radio, loop: site.loop)
        let error = #expect(throws: TendonError.self) { try central.sharedLoopRadio() }
        #expect(error?.description.hasPrefix("use a Central that is not on Loop.shared: ") == true)
    }
}

struct FeedTests {
    private final class Owner: Sendable {}

    private final class Second: @unchecked Sendable {
        // Touched on the loop's thread alone.
        var token: FeedToken?
    }

    private final class Calls: Sendable {
        private let lines = Mutex<[String]>([])
        let isSet = Atomic<Bool>(false)

        func add(_ line: String) { lines.withLock { $0.append(line) } }
        var all: [String] { lines.withLock { $0 } }
    }

    @Test func eventsReachSequencesDelegateAndClosures() async throws {
        let feed = Feed<Int>()
        let log = Calls()
        let (sequence, token) = await onLoop {
            #expect(feed.isEmpty)
            feed.delegate(isSet: { log.isSet.load(ordering: .relaxed) }) { number in log.add("d\(number)") }
            #expect(feed.isEmpty, "there is no delegate")
            feed.push(0)
            log.isSet.store(true, ordering: .relaxed)
            #expect(!feed.isEmpty)
            let sequence = feed.sequence(capacity: 8, policy: .dropNewest, keeping: nil)
            let token = feed.add { number in log.add("c\(number)") }
            feed.push(1)
            return (sequence, token)
        }
        await onLoop { token.cancel() }
        await onLoop {
            feed.push(2)
            feed.close()
            feed.push(3)
            #expect(feed.isEmpty)
        }
        var got: [Int] = []
        for try await number in sequence { got.append(number) }
        #expect(got == [1, 2])
        #expect(log.all == ["d1", "c1", "d2"])
    }

    /// Consumers that another thread adds receive what is pushed by the block that it posts next.
    @Test func consumersOfOtherThreads() async throws {
        let feed = Feed<Int>()
        let log = Calls()
        let (sequence, token) = await Task.detached {
            #expect(!Loop.shared.isCurrent)
            let sequence = feed.sequence(capacity: 8, policy: .dropNewest, keeping: nil)
            feed.add { number in log.add("cancelled \(number)") }.cancel()
            let token = feed.add { number in log.add("\(number)") }
            Loop.shared.post { feed.push(1) }
            token.cancel()
            Loop.shared.post {
                feed.push(2)
                feed.close()
            }
            return (sequence, token)
        }.value
        var got: [Int] = []
        for try await number in sequence { got.append(number) }
        #expect(got == [1, 2])
        #expect(log.all == ["1"])
        await Task.detached {
            var late = feed.sequence(capacity: 8, policy: .dropNewest, keeping: nil).makeAsyncIterator()
            let element = try? await late.next()
            #expect(element == nil, "the feed is closed")
        }.value
        withExtendedLifetime(token) {}
    }

    /// From a closure: others may be removed and the feed ended, and nobody who is gone is called.
    @Test func consumersMayGoWithinAnEvent() async throws {
        let feed = Feed<Int>()
        let calls = Calls()
        await onLoop {
            let second = Second()
            feed.add { _ in
                calls.add("first")
                second.token?.cancel()
            }
            second.token = feed.add { _ in calls.add("second") }
            feed.add { number in if number == 2 { feed.close() } }
            feed.add { number in calls.add("last \(number)") }
            feed.push(1)
            feed.push(2)
            feed.push(3)
        }
        #expect(calls.all == ["first", "last 1", "first"])
    }

    @Test func finishServesLaterConsumersAndCloseDoesNot() async throws {
        let feed = Feed<Int>()
        let down = TendonError(status: Int32(TENDON_ERROR_DISCONNECTED), operation: .receive)
        let first = await onLoop { feed.sequence(capacity: 4, policy: .dropOldest, keeping: nil) }
        await onLoop { feed.finish(down) }
        await #expect(throws: down) { for try await _ in first {} }
        let second = await onLoop { feed.sequence(capacity: 4, policy: .dropOldest, keeping: nil) }
        await onLoop {
            feed.push(5)
            feed.close(down)
        }
        var iterator = second.makeAsyncIterator()
        #expect(try await iterator.next() == 5)
        await #expect(throws: down) { try await iterator.next() }
        let late = await onLoop { feed.sequence(capacity: 4, policy: .dropOldest, keeping: nil) }
        await #expect(throws: down) { for try await _ in late {} }
    }

    @Test func aSequenceKeepsItsSourceUntilItIsReleased() async throws {
        let feed = Feed<Int>()
        var owner: Owner? = Owner()
        let kept = Weakly(owner)
        var sequence: EventSequence<Int>? = await onLoop { [owner] in
            feed.sequence(capacity: 4, policy: .dropOldest, keeping: owner)
        }
        owner = nil
        #expect(await onLoop { kept.object != nil })
        #expect(sequence != nil)
        sequence = nil
        await eventually("released") { await onLoop { kept.object == nil } }
        #expect(await onLoop { feed.isEmpty })
    }

    @Test func soonIsAfterTheCallAndInOrder() async throws {
        let feed = Feed<Int>()
        let calls = Calls()
        await onLoop {
            feed.add { number in calls.add("\(number)") }
            feed.pushSoon(1)
            feed.pushSoon(2)
            #expect(calls.all.isEmpty)
        }
        await onLoop {}
        #expect(calls.all == ["1", "2"])
    }
}

struct PendingTests {
    @TendonActor private func wait(
        _ pending: Pending<Int, TendonError>, _ onCancel: @escaping @Sendable () -> Void = {}
    ) async throws(TendonError) -> Int {
        try await pending.value(onCancel: onCancel)
    }

    @Test func theFirstResultCounts() async throws {
        let pending = Pending<Int, TendonError>()
        let waiting = Task { try await wait(pending) }
        await onLoop {
            pending.finish(.success(1))
            pending.finish(.success(2))
        }
        #expect(try await waiting.value == 1)
    }

    @Test func cancellingWithdrawsOnce() async throws {
        for isEarly in [true, false] {
            let pending = Pending<Int, TendonError>()
            let withdrawn = Mutex(0)
            let started = Mutex(false)
            let waiting = Task { @TendonActor in
                started.withLock { $0 = true }
                return try await pending.value { withdrawn.withLock { $0 += 1 } }
            }
            if !isEarly { await eventually("started") { started.withLock { $0 } } }
            waiting.cancel()
            await #expect(throws: TendonError.cancelled) { try await waiting.value }
            await onLoop { pending.finish(.success(1)) }
            #expect(withdrawn.withLock { $0 } == 1)
            #expect(await onLoop { pending.isFinished })
        }
    }

    @Test func aResultThatIsThereWins() async throws {
        let pending = Pending<Int, TendonError>()
        await onLoop { pending.finish(.success(3)) }
        let waiting = Task { @TendonActor in
            withUnsafeCurrentTask { $0?.cancel() }
            return try await pending.value { Issue.record("withdrawn") }
        }
        #expect(try await waiting.value == 3)
    }
}
