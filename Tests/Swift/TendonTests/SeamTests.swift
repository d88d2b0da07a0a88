// SPDX-License-Identifier: MIT
import CTendon
import Synchronization
import TestSupport
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
            deadline: { session in object(FakeSession.self, UnsafeMutableRawPointer(mutating: session)).deadline },
            pairs: false)
        return block
    }()
}

/// A module's core in small.
private final class FakeCore: Abandonable, @unchecked Sendable {
    // Touched on the loop's thread alone.
    let loop = Loop.shared
    let session = FakeSession()
    let holder: RadioHolder
    fileprivate(set) var link: SessionLink?
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
        await eventually("the device has it") { await site.connections() == 1 }
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

    /// The loop is in the middle of a step, and the link's own timer is due in the same one.
    @Test func aLinkThatIsReleasedInAStepTicksNobodyInThatStep() async throws {
        let site = try await Site()
        let (lifetime, _, _) = await make(site)
        let address = site.address
        let timer = await onLoop { () -> LoopTimer in
            let core = lifetime.core
            core.session.deadline = tendon_monotonic_ms()
            (try? core.makeLink(to: address))?.refresh()
            #expect(core.link != nil)
            let timer = LoopTimer(Loop.shared.core) { [unowned core] in core.link = nil }
            timer.deadline = core.session.deadline  // Added last, so it fires first.
            return timer
        }
        await eventually("released") { await onLoop { lifetime.core.link == nil } }
        #expect(await onLoop { lifetime.core.session.ticks } == 0)
        await onLoop { timer.remove() }
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

    private final class Scans: @unchecked Sendable {
        // Touched on the loop's thread alone.
        var scanners: [RadioCore.Scanner] = []
        var reports = [0, 0]
    }

    /// A scan that the report of another one ends does not get that report.
    @Test func aScanThatIsStoppedMeanwhile() async throws {
        let site = try await Site()
        let central = try await Central(radio: site.radio)
        let core = central.core
        let scans = Scans()
        await onLoop {
            for number in 0..<2 {
                let scanner = try? core.scan(
                    ScanOptions(),
                    report: { [unowned scans] _, _ in
                        scans.reports[number] += 1
                        if number == 0 { scans.scanners[1].stop() }
                    }, ended: { _ in })
                if let scanner { scans.scanners.append(scanner) }
            }
        }
        await eventually("a few reports") { await onLoop { scans.reports[0] >= 3 } }
        await onLoop {
            #expect(scans.reports[1] == 0)
            scans.scanners[0].stop()
        }
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

    /// The virtual radio has one PHY: a scan of LE Coded fails, and the scan that is on stays.
    @Test func codedIsNotForEveryRadio() async throws {
        let site = try await Site()
        let central = try await Central(radio: site.radio)
        let one = try await central.scan()
        await #expect { _ = try await central.scan(ScanOptions(includesCodedPHY: true)) } throws: {
            ($0 as? TendonError)?.status == Int32(TENDON_ERROR_UNSUPPORTED)
        }
        #expect(await onLoop { central.core.radio.pointee.scanning && !central.core.radio.pointee.scan.coded })
        withExtendedLifetime(one) {}
    }

    /// One scan serves all: active when anybody wants it, without duplicates when everybody does.
    @Test func oneScanServesAll() async throws {
        let site = try await Site()
        let central = try await Central(radio: site.radio)
        func parameters() async -> (Bool, Bool) {
            await onLoop { (central.core.radio.pointee.scan.active, central.core.radio.pointee.scan.filter_duplicates) }
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
