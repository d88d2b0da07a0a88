// SPDX-License-Identifier: MIT
// A gateway with two radios whose device, adapters and clock the test plays. Nothing of it takes time but the loop's turns.
import CTendon
import Foundation
import Synchronization
import Tendon
import TendonOutputs
import TendonSupport
import TestSupport
import Testing

@testable import TendonCommand

/// Waited for until it is rung, once.
@TendonActor
final class Bell {
    private var waiting: [CheckedContinuation<Void, Never>] = []
    private(set) var isRung = false

    nonisolated init() {}

    func ring() {
        isRung = true
        let all = waiting
        waiting = []
        for one in all { one.resume() }
    }

    func wait() async {
        guard !isRung else { return }
        await withCheckedContinuation { waiting.append($0) }
    }

    /// A cancelled task rings it.
    func waitOrCancel() async {
        await withTaskCancellationHandler {
            await wait()
        } onCancel: {
            Loop.shared.post { TendonActor.assumeIsolated { self.ring() } }
        }
    }
}

/// Where a device is in its turn.
enum Stage: CaseIterable {
    /// Between two turns.
    case idle
    /// Its turn has begun, and its session is being made.
    case beginning
    /// It was given up: other attempts with the same settings would fail, too.
    case refused
    /// It does not respond yet; the attempt ends when it is cancelled.
    case asking
    /// It pairs: what was begun goes on for a while after its task was cancelled.
    case pairing
    case streaming
    /// Its connection has ended, and the session takes a while to notice.
    case ending
    /// An action takes long, and nothing interrupts it.
    case updating
    /// It streams, and nobody reads what the outputs say: their queues are full, until all has been checked.
    case unread
}

/// The session of a device that the test plays.
@TendonActor
final class PlayedDevice: DeviceServer {
    nonisolated let served: ServedDevice
    let stream: Activ5Stream
    private unowned let gateway: PlayedGateway
    /// The attempt, or the connection, ends.
    private var end = Bell()

    init(_ gateway: PlayedGateway, _ stream: Activ5Stream, _ served: ServedDevice) {
        (self.gateway, self.stream, self.served) = (gateway, stream, served)
    }

    var identity: JSON { [:] }
    var address: Address { served.address }

    func open() async throws(ServingError) {
        gateway.begins(self)
        do throws(ServingError) {
            try await answer()
        } catch {
            gateway.ends(self)
            throw error
        }
    }

    private func answer() async throws(ServingError) {
        end = Bell()
        let core = served.central.core
        core.onFailure(of: self) { [end] _ in TendonActor.assumeIsolated { end.ring() } }
        defer { core.onFailure(of: self, nil) }
        if core.failure == nil, gateway.holds(.asking, address) {
            gateway.asking.append(end)
            await end.waitOrCancel()
        }
        if gateway.holds(.pairing, address) { await gateway.release.wait() }
        if gateway.holds(.refused, address) { throw .failed("the wrong product", canRetry: false) }
        guard !Task.isCancelled else { throw .cancelled }
        guard core.failure == nil else { throw .failed("the radio has failed", canRetry: true) }
    }

    func stream() async -> Ending {
        gateway.stages[address] = .streaming
        gateway.streaming[address] = self
        end = Bell()
        let core = served.central.core
        core.onFailure(of: self) { [end] _ in TendonActor.assumeIsolated { end.ring() } }
        if core.failure != nil { end.ring() }
        await end.waitOrCancel()
        core.onFailure(of: self, nil)
        let ending =
            Task.isCancelled ? Ending.requested : core.failure.map { Ending(tendon_ending_of($0.status)) } ?? .lost
        gateway.streaming[address] = nil
        if gateway.holds(.ending, address) { await gateway.release.wait() }
        gateway.ends(self)
        return ending
    }

    func perform(_ call: any RuleCall) async throws(CommandError) {
        if gateway.holds(.updating, address) { await gateway.release.wait() }
    }

    /// The device goes away.
    func leave() { end.ring() }
}

/// A device of another family: it never responds.
@TendonActor
final class OtherDevice: DeviceServer {
    nonisolated let served: ServedDevice
    var identity: JSON { [:] }

    init(_ served: ServedDevice) { self.served = served }

    func open() async throws(ServingError) { throw .failed("no response", canRetry: false) }
    func stream() async -> Ending { .lost }
}

/// The lines of all events.
final class PlayedLines: EventOutput {
    let all = Mutex<[JSON]>([])

    func event(_ event: EventName, of device: OutputDevice?, _ compose: (inout LineWriter) -> Void) {
        var writer = LineWriter()
        compose(&writer)
        guard let line = try? JSON(parsing: writer.bytes) else { return }
        all.withLock { $0.append(line) }
    }
}

/// Outputs whose queues the test fills: lines for a reader that does not read, and lines for a thread that takes none.
final class FullOutputs: EventOutput {
    private enum Item: Sendable {
        case line(LineItem)
        case presence(String)
    }

    private struct Counts {
        /// What the outputs were given since they were full.
        var events = 0
        var presences: [String] = []
        var isFull = false
        var dropped: UInt64 = 0
    }

    private let (reader, writer): (Int32, Int32)
    private let output: LineOutput
    private let lines: JSONLines
    private let mailbox = Mailbox<Item>(leisure: 0) { .line($0) }
    private let counts = Mutex(Counts())

    init() {
        var ends: [Int32] = [-1, -1]
        precondition(socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &ends) == 0)
        (reader, writer) = (ends[0], ends[1])
        _ = fcntl(reader, F_SETFL, O_NONBLOCK)
        output = LineOutput(descriptor: writer)
        lines = JSONLines(output, waits: false, sampleLimit: .max)
    }

    deinit {
        close(reader)
        close(writer)
    }

    func event(_ event: EventName, of device: OutputDevice?, _ compose: (inout LineWriter) -> Void) {
        guard counts.withLock({ $0.isFull }) else { return }
        counts.withLock { $0.events += 1 }
        lines.event(event, of: device, compose)
        mailbox.line(event, device ?? OutputDevice(family: "", address: "", addressType: ""), compose)
    }

    func device(_ device: OutputDevice, is presence: Presence) {
        guard counts.withLock({ $0.isFull }) else { return }
        let what = "\(device.address) \(presence)"
        counts.withLock { $0.presences.append(what) }
        mailbox.post(.presence(what))
    }

    /// Neither takes a line any more.
    func fill() {
        guard !counts.withLock({ $0.isFull }) else { return }
        let filler = String(repeating: "x", count: 1 << 16) + "\n"
        while output.dropped == 0 { output.append { $0.raw(filler) } }
        let device = OutputDevice(family: "", address: "", addressType: "")
        for _ in 0..<16 { mailbox.line("filler", device) { $0.raw(filler) } }
        counts.withLock { ($0.isFull, $0.dropped) = (true, output.dropped) }
    }

    /// The readers read again: each line has arrived, or is counted as dropped, and each presence has arrived.
    @TendonActor
    func check(_ what: String) async {
        guard counts.withLock({ $0.isFull }) else { return }
        var bytes: [UInt8] = []
        var arrived: Int { bytes.split(separator: UInt8(ascii: "\n")).count { $0.first == UInt8(ascii: "{") } }
        await eventually("\(what): each line has arrived, or is counted") {
            var piece = [UInt8](repeating: 0, count: 1 << 16)
            while case let count = read(reader, &piece, piece.count), count > 0 { bytes += piece[..<count] }
            let counts = self.counts.withLock { $0 }
            return output.isIdle && arrived + Int(output.dropped - counts.dropped) == counts.events
        }
        let counts = counts.withLock { $0 }
        var batch = Mailbox<Item>.Batch()
        mailbox.take(until: 0, into: &batch)
        var (taken, presences) = (0, [String]())
        for item in batch.items {
            switch item {
            case .line(let line): taken += line.event.description == "filler" ? 0 : 1
            case .presence(let what): presences.append(what)
            }
        }
        #expect(taken + batch.droppedEvents == counts.events, "\(what): lines of the mailbox")
        #expect(presences == counts.presences, "\(what): presences")
        #expect(counts.events == 0 || batch.droppedEvents > 0, "\(what): it was full")
    }
}

/// Lines and presences of each device, in order.
final class Record: EventOutput {
    private let all = Mutex<[(address: String, what: String)]>([])
    private let times = Mutex<[String: String]>([:])
    private let faults = Mutex<[String]>([])

    func event(_ event: EventName, of device: OutputDevice?, _ compose: (inout LineWriter) -> Void) {
        add(device?.address ?? "", event.description)
        guard let address = device?.address else { return }
        var writer = LineWriter()
        compose(&writer)
        let time = (try? JSON(parsing: writer.bytes))?["time"]?.string ?? ""
        let before = times.withLock { times in
            defer { times[address] = time }
            return times[address] ?? ""
        }
        // Texts of the same form, in the same time zone.
        if time < before { faults.withLock { $0.append("\(event) at \(time), after \(before)") } }
    }

    /// Lines of a device whose time is before that of an earlier one, or of the end of a suspension.
    var backwards: [String] { faults.withLock { $0 } }

    /// The time of the day has passed: lines from now on are later.
    func resumed(at time: String) {
        times.withLock { times in for address in times.keys { times[address] = time } }
    }

    func device(_ device: OutputDevice, is presence: Presence) { add(device.address, "is \(presence)") }

    private func add(_ address: String, _ what: String) { all.withLock { $0.append((address, what)) } }

    func of(_ address: Address) -> [String] {
        all.withLock { $0.filter { $0.address == address.description }.map(\.what) }
    }

    /// What is wrong with the order of a device's events; nil: nothing.
    func fault(of address: Address) -> String? {
        var isConnected = false, isForgotten = false
        for what in of(address) {
            switch what {
            case "connected":
                if isConnected { return "connected twice" }
                (isConnected, isForgotten) = (true, false)
            case "disconnected":
                if !isConnected { return "disconnected without a connection" }
                isConnected = false
            case "is forgotten":
                if isConnected { return "forgotten while it is connected" }
                isForgotten = true
            case "is renamed", "found": break
            default: if isForgotten, what != "connect_failed" { return "\(what) after it was forgotten" }
            }
        }
        return isConnected ? "never disconnected" : nil
    }
}

@TendonActor
final class PlayedGateway {
    enum Act: CaseIterable {
        case reload, exclude, rename, forget, loseOne, loseBoth, radioBack, pair, handOver, suspend, stop
    }

    let devices: [Address]
    let record = Record()
    private let outputs = FullOutputs()
    private(set) var gateway: Gateway!
    private var run: Task<Void, any Error>!
    private let directory: RadioDirectory
    /// Real ones, or simulated ones, in the same directory: what the configuration says about each changes with `reload`.
    private let others: [Address]
    private let path = NSTemporaryDirectory() + "tendon-played-\(UUID().uuidString).conf"
    private let options: Arguments
    private let signals = DispatchQueue(label: "signals")
    /// Of the adapters that were lost.
    private var arrivals: [String: Bell] = [:]

    /// Milliseconds by which the clock of the turns is ahead.
    private let ahead = Ahead()
    private final class Ahead: Sendable {
        let time = Mutex<UInt64>(0)
        var now: UInt64 { tendon_monotonic_ms() + time.withLock { $0 } }
    }

    /// How many turns of the loop a radio takes to open.
    private final class Opening: Sendable {
        let turns = Mutex(0)
    }

    // What the configuration says.
    private(set) var rates: [Address: Int] = [:]
    private(set) var names: [Address: String] = [:]
    private(set) var excluded: Set<Address> = []

    // The devices.
    private var held: [Address: Stage] = [:]
    private(set) var release = Bell()
    var stages: [Address: Stage] = [:]
    var streaming: [Address: PlayedDevice] = [:]
    var asking: [Bell] = []
    private var open: Set<Address> = []
    private var renames = 0
    private var refused: Set<Address> = []
    private(set) var isStopped = false
    /// Requests that were carried out.
    private var pairs = 0
    private let opening = Opening()

    /// - Parameters:
    ///   - others: addresses of other devices, of which `makeOther` makes the sessions.
    ///   - outputs: further ones.
    init(
        devices count: Int = 1, others: [Address] = [], in directory: RadioDirectory = RadioDirectory(),
        outputs further: [any EventOutput] = [],
        makeOther: @escaping @TendonActor @Sendable (ServedDevice) -> any DeviceServer = { OtherDevice($0) }
    ) async throws {
        let first = directory.address.value
        (self.directory, self.others) = (directory, others)
        devices = (0..<UInt64(count)).map { Address(first | ($0 + 1) << 32, type: .random) }
        options = try Arguments([], options: Option.common + Command.runAll.options)
        try write()
        let plan = try GatewayPlan(options, try Configuration(reading: path).checked(), family: nil)
        let radio = directory.radio
        gateway = try Gateway(
            plan, outputs: nil,
            opener: { [opening] (_) throws(TendonError) in
                let central = try await Central(radio: radio, bonds: .memory)
                for _ in 0..<opening.turns.withLock({ $0 }) { await Loop.shared.run {} }
                return central
            },
            arrival: { [weak self] name, _ in await self?.arrival(of: name ?? "").waitOrCancel() },
            turns: Turns(random: .zero, clock: { [ahead] in ahead.now }), further: [record, outputs] + further,
            makeServer: { [unowned self] stream, served in
                if holds(.beginning, served.address) { await release.wait() }
                guard let stream = stream as? Activ5Stream else { return makeOther(served) }
                return PlayedDevice(self, stream, served)
            })
        run = Task { [gateway] in try await gateway!.serveRadios() }
        await eventually("both radios are open") { gateway.radioStates.open == 2 }
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    private func arrival(of adapter: String) -> Bell {
        let bell = arrivals[adapter] ?? Bell()
        arrivals[adapter] = bell
        return bell
    }

    // MARK: The devices' part

    func holds(_ stage: Stage, _ address: Address) -> Bool {
        guard held[address] == stage, !release.isRung else { return false }
        stages[address] = stage
        if stage == .refused { refused.insert(address) }
        return true
    }

    func begins(_ device: PlayedDevice) {
        #expect(open.insert(device.address).inserted, "one session at a time")
    }

    func ends(_ device: PlayedDevice) {
        stages[device.address] = .idle
        open.remove(device.address)
    }

    /// The device advertises, and both radios receive it. False: it is left alone.
    @discardableResult
    func advertise(_ address: Address) -> Bool {
        guard !isStopped else { return false }
        let isTaken = gateway.centrals.isEmpty || [0, 1].allSatisfy { gateway.receive(address, "activ5", $0) }
        gateway.turns.step()
        return isTaken
    }

    /// The first radio receives an advertisement or a scan response. False: it does not search yet.
    func hears(_ data: [UInt8], _ address: Address, isResponse: Bool) -> Bool {
        guard let radio = gateway.central(0)?.core.radio, radio.pointee.scanning else { return false }
        let kind = isResponse ? Int(TENDON_AD_SCAN_RESPONSE) : Int(TENDON_AD_CONNECTABLE)
        var report = tendon_ad_report()
        (report.address, report.rssi) = (address.c, -50)
        report.properties = UInt16(kind | Int(TENDON_AD_SCANNABLE) | Int(TENDON_AD_LEGACY))
        data.withUnsafeBufferPointer { bytes in
            (report.data, report.length) = (bytes.baseAddress, bytes.count)
            radio.pointee.on_report?(radio.pointee.report_context, &report, tendon_monotonic_ms())
        }
        return true
    }

    /// Longer than any pause.
    func passTime() { ahead.time.withLock { $0 += 200_000 } }

    func hold(_ address: Address, in stage: Stage) {
        held[address] = stage
        if stage == .unread { outputs.fill() }
    }

    func openSlowly(_ turns: Int) { opening.turns.withLock { $0 = turns } }

    /// Until the device is where it is held.
    func bring(_ address: Address, to stage: Stage) async {
        hold(address, in: stage)
        advertise(address)
        switch stage {
        case .beginning, .asking, .pairing: break
        case .refused:
            await eventually("refused") { self.record.of(address).contains("connect_failed") }
            await eventually("over") { self.gateway.state.withLock { $0.turns.isEmpty } }
        case .streaming: await eventually("streaming") { self.streaming[address] != nil }
        case .unread: return await eventually("streaming") { self.streaming[address] != nil }
        case .idle:
            await eventually("streaming") { self.streaming[address] != nil }
            streaming[address]?.leave()
            await eventually("idle") { self.gateway.state.withLock { $0.turns.isEmpty } }
        case .ending:
            await eventually("streaming") { self.streaming[address] != nil }
            streaming[address]?.leave()
        case .updating:
            await eventually("streaming") { self.streaming[address] != nil }
            let device = OutputDevice(
                family: "activ5", address: address.description, addressType: address.typeName)
            let result = await gateway.commands.set(["tare": nil], of: device)
            #expect(result == .done(["actions": ["activ5.tare"]]))
        }
        if stage != .idle, stage != .refused { await eventually("\(stage)") { self.stages[address] == stage } }
    }

    /// What is held goes on.
    func letGo() {
        held = [:]
        release.ring()
        for bell in asking { bell.ring() }
    }

    // MARK: Acts

    private func write() throws {
        var text = "[gateway]\nadapter = hci0, hci1\n"
        for address in devices {
            text += "[device \(address) random]\nrate = \(rates[address] ?? 10)\n"
            if let name = names[address] { text += "name = \(name)\n" }
            if excluded.contains(address) { text += "serve = no\n" }
        }
        for address in others {
            text += "[device \(address) random]\nfeatures = \(rates[address] ?? 10)\n"
            if let name = names[address] { text += "name = \(name)\n" }
            if excluded.contains(address) { text += "serve = no\n" }
        }
        try Data(text.utf8).write(to: URL(fileURLWithPath: path))
    }

    /// As the thread of signals does it.
    func reload() async {
        try! write()
        let origin = Gateway.Origin(options: options, family: nil, path: path)
        await withCheckedContinuation { [gateway] continuation in
            signals.async {
                gateway!.reload(origin)
                continuation.resume()
            }
        }
    }

    /// The configuration serves the device, and it may pair.
    func serve(_ address: Address) async {
        if excluded.remove(address) != nil { await reload() }
        if gateway.turns.isDismissed(address) { _ = await gateway.commands.request("pair", ["seconds": 60]) }
    }

    func serveAll() async {
        excluded = []
        await reload()
        _ = await gateway.commands.request("pair", ["seconds": 60])
    }

    func perform(_ act: Act, _ address: Address) async {
        switch act {
        case .reload:
            rates[address, default: 10] += 1
            await reload()
        case .exclude:
            if excluded.remove(address) == nil { excluded.insert(address) }
            await reload()
        case .rename:
            renames += 1
            names[address] = "name-\(renames)-\(devices.firstIndex(of: address) ?? devices.count)"
            await reload()
        case .forget:
            _ = await gateway.commands.request(
                "forget", ["device": .string(address.description), "address_type": "random"])
        case .loseOne: lose(0)
        case .loseBoth:
            lose(1)
            lose(0)
        case .radioBack: bringRadiosBack()
        case .pair:
            if case .done = await gateway.commands.request("pair", ["seconds": 60]) { pairs += 1 }
        case .handOver: await gateway.commands.disconnect(address.description, address.typeName)
        case .suspend:
            suspend(hours: 8)
            var writer = LineWriter()
            writer.begin("resumed", at: tendon_realtime_us())
            writer.end()
            record.resumed(at: (try? JSON(parsing: writer.bytes))?["time"]?.string ?? "?")
        case .stop: await stop()
        }
    }

    private func lose(_ radio: Int) {
        guard !isStopped, let core = gateway.central(radio)?.core, core.failure == nil else { return }
        arrivals["hci\(radio)"] = nil
        core.radio.pointee.on_failure?(
            core.radio.pointee.report_context, Int32(TENDON_RADIO_ERROR_ADAPTER_DOWN), tendon_monotonic_ms())
    }

    func bringRadiosBack() { for name in ["hci0", "hci1"] { arrival(of: name).ring() } }

    func stop() async {
        isStopped = true
        run.cancel()
        _ = await run.result
    }

    // MARK: What must be so afterwards

    /// All is well again, and each device is served with what the configuration says now; then the run ends and nothing is left.
    func check(_ what: String) async {
        if !isStopped { await checkServed(what) }
        await stop()
        #expect(gateway.state.withLock { $0.turns.count } == 0, "\(what)")
        #expect(gateway.reporter.rows.count == gateway.state.withLock { $0.known.count }, "\(what): rows")
        for address in devices {
            #expect(record.fault(of: address) == nil, "\(what): \(record.of(address))")
        }
        #expect(record.backwards == [], "\(what)")
        await outputs.check(what)
        checkPlaces(what)
        gateway = nil
    }

    private func checkServed(_ what: String) async {
        bringRadiosBack()
        await eventually("\(what): the radios are back") {
            self.bringRadiosBack()
            return self.gateway.radioStates.open == 2
        }
        await eventually("\(what): both radios have the latest window") {
            // A failure that was on its way can close one again.
            self.bringRadiosBack()
            let windows = self.gateway.centrals.map(\.core.radio.pointee.policy.window_until)
            return windows.count == 2 && windows[0] == windows[1] && (windows[0] > 0) == (self.pairs > 0)
        }
        // Now it is served, or somebody wanted that it is not.
        for address in devices where !gateway.plan.serves(address, family: "activ5") {
            #expect(excluded.contains(address), "\(what)")
        }
        for address in devices where refused.contains(address) { rates[address, default: 10] += 1 }
        await serveAll()
        for address in devices {
            let (rate, name) = (rates[address] ?? 10, names[address])
            await eventually("\(what): it is served as the configuration says; \(record.of(address))") {
                self.passTime()
                self.advertise(address)
                guard let device = self.streaming[address], let central = device.served.central as Central? else {
                    return false
                }
                return device.stream.rate == rate && device.served.label.name == name
                    && self.gateway.centrals.contains { $0 === central }
            }
        }
        #expect(gateway.reporter.rows.count == devices.count, "\(what): rows")
    }

    /// As many devices can be served as at the start.
    private func checkPlaces(_ what: String) {
        passTime()
        for number in 0..<40 as Range<UInt64> {
            _ = gateway.turns.received(Address(0xC700_0000_0000 + number, type: .random), isPreferred: number >= 20)
        }
        #expect(gateway.turns.next().count == 28, "\(what): 20 that are preferred and 8 strangers")
    }
}
