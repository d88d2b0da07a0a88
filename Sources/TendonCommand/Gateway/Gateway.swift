// SPDX-License-Identifier: MIT
// One run of `run`, `stream` or `capture`: radios, a search that does not end, a session for each device.
import CTendon
import Synchronization
import Tendon
import TendonOutputs
import TendonSupport

extension PHY {
    /// As events and options have it.
    var word: StaticString {
        switch self {
        case .le1M: "1m"
        case .le2M: "2m"
        case .leCoded: "coded"
        }
    }
}

/// Finds devices, serves them, writes a capture.
final class Gateway: TurnOwner {
    struct Known {
        let label: DeviceLabel
        let row: Int
        /// Number of the radio that the server is for.
        let radio: Int
        /// Nil: its settings changed; another one is made for the next turn.
        var server: (any DeviceServer)?
        /// As it was advertised, which the search forgets.
        var name: String?
        /// When its latest turn that is over ended; 0: none is over.
        var endedAt: UInt64 = 0
    }

    /// A device that is served, from the decision that it is to its end.
    struct Turn {
        let family: String
        let radio: Int
        let task: Task<Void, Never>
    }

    struct State {
        var known: [Address: Known] = [:]
        var turns: [Address: Turn] = [:]
        var timings: [Address: ConnectionTiming] = [:]
        var found = 0
        var plan: GatewayPlan
        /// The radios that are open, by their numbers.
        var centrals: [Int: Central] = [:]
        /// Why the others are not, as it was last reported.
        var waiting: [Int: String] = [:]
        /// A radio was open at some time.
        var wasOpen = false
        /// Those of them that only connect, to the device of --address.
        var withoutSearch: Set<Int> = []
        /// Of the radios that have failed.
        var lostPackets: UInt64 = 0
        var adapters = AdapterWatch()
        /// It was reported that more devices are in range than are served at a time.
        var isFull = false
        /// Of the device of --address, which is in range, why it is not served.
        var unserved: (address: Address, family: String?, text: String)?
    }

    var plan: GatewayPlan { state.withLock { $0.plan } }
    var settings: StreamSettings { plan.settings }
    let reporter: Reporter
    let rules: RuleBoard
    let commands: GatewayCommands
    private let figures: FigureBoard
    let turns: Turns
    /// Nil: every device may be connected to.
    let agreement: (any LinkAgreement)?
    /// For the extensions in other files as well.
    let state: Mutex<State>
    /// Maximum number of sessions that are kept; those that never had a connection are removed first, then those that have lost it
    /// for the longest time.
    private static let knownLimit = 256
    /// Milliseconds that sessions have for their end after the radio has failed.
    private static let leavingLimit = UInt64(TENDON_FLEET_LEAVE_MS)
    /// What is due next: see Gateway+Deadlines.swift.
    let agenda = Agenda()

    let opener: RadioOpener
    let arrival: AdapterWait
    private let makeServer: ServerMaker

    /// How the session of a device is made; a test plays the device.
    typealias ServerMaker = @TendonActor @Sendable (any ServerSource, ServedDevice) async -> any DeviceServer

    /// - Parameters:
    ///   - arguments: of the other outputs than standard output; nil: no output at all.
    ///   - opener: nil: opens radios of this machine.
    ///   - arrival: returns when an adapter may have come back.
    ///   - further: outputs of a test.
    init(
        _ plan: GatewayPlan, outputs arguments: Arguments?, opener: RadioOpener? = nil,
        arrival: @escaping AdapterWait = OpenedRadio.arrival, turns: Turns = Turns(),
        further: [any EventOutput] = [], makeServer: @escaping ServerMaker = { await $0.server(of: $1) }
    ) throws(CommandError) {
        state = Mutex(State(plan: plan))
        (self.arrival, self.turns, self.makeServer) = (arrival, turns, makeServer)
        if let opener { self.opener = opener } else { self.opener = OpenedRadio.opener(plan.settings.gattCache) }
        let rules = RuleBoard(plan.rules, programs: plan.programs)
        self.rules = rules
        commands = GatewayCommands(rules, pairing: plan.settings.pairing, turns: turns)
        figures = FigureBoard(commands)
        let settings = plan.settings
        Log.level = settings.logLevel
        if let arguments {
            let others = try OutputChoice.outputs(arguments, commands, figures)
            reporter = Reporter(
                json: settings.json, lines: settings.printsLines, sampleLimit: settings.capacity,
                others: [LogOutput()] + others + [rules])
            figures.watch(reporter, others)
            agreement = others.compactMap(\.agreement).first
            let recenter = Gateway.recenter(others, reporter.events)
            commands.onRecenter(recenter)
            rules.onRecenter(recenter)
            for text in OutputChoice.warnings(arguments, plan) { Log.write(.warning, text) }
        } else {
            reporter = Reporter(json: true, lines: false, others: further + [rules])
            agreement = nil
        }
        rules.report(to: reporter.events)
        commands.onForget { [weak self] address throws(CommandError) in try await self?.forget(address) ?? false }
    }

    /// By all outputs; of each device that was recentered there is the event of an action.
    static func recenter(_ outputs: [any EventOutput], _ events: Events) -> GatewayCommands.Recenter {
        { device in
            let devices = outputs.flatMap { $0.recenter(device) }
            for device in devices {
                events.event("action", DeviceLabel(RuleDevice(device)), ["action": "osc.recenter"])
            }
            return devices.count
        }
    }

    /// Runs with the options and the configuration that they name.
    /// - Parameters:
    ///   - family: only this one; nil: all that the settings take.
    ///   - capture: write a capture to this file and print no events.
    @MainActor
    static func run(
        _ arguments: Arguments, family: String?, capture: CaptureFile? = nil
    ) async throws(CommandError) -> ExitStatus {
        let configuration = try Configuration.requested(arguments)
        let configured = arguments.configured(by: configuration)
        let plan = try SettingsCheck.placing(arguments, configuration) { () throws(CommandError) in
            let plan = try GatewayPlan(arguments, configuration, family: family, capture: capture)
            try plan.settings.pairingChoice.check()
            // What opening them would find as well is reported then.
            do throws(CommandError) {
                if capture == nil { try OutputChoice.check(configured) }
            } catch {
                guard error.status != .usage else { throw error }
            }
            return plan
        }
        let duration = try configured.duration()
        let gateway = try Gateway(plan, outputs: capture == nil ? configured : nil)
        if let configuration, capture == nil {
            let origin = Origin(options: arguments, family: family, path: configuration.path)
            Termination.shared.onHangup { gateway.reload(origin) }
        }
        return try await gateway.run(for: duration)
    }

    @MainActor
    func run(for milliseconds: UInt64?) async throws(CommandError) -> ExitStatus {
        Output.standard.lines?.isCompact = settings.compact
        Output.writeByLoop()
        if settings.printsLines, settings.capture == nil || reporter.events.style == .json { Output.endWithReader() }
        let ticker = reporter.isTable ? drawTable() : nil
        defer { ticker?.cancel() }
        leaveAlone(plan)
        if milliseconds == nil, settings.served.knownOnly, let obstacle = plan.obstacle {
            Log.write(.warning, obstacle.message)
        }
        let manager = ServiceManager.shared
        Termination.shared.onRequest { manager.send("STOPPING=1") }
        do {
            try await Termination.task(for: milliseconds) { () throws(CommandError) in try await self.serveRadios() }
        } catch {
            await finishOutputs()
            throw error
        }
        let isUnread = Output.isClosed  // not by the lines of the end: they come after what the run has shown
        await finishOutputs()
        // What an output has lost is gone, however the run ends.
        if reporter.events.haveLost { return .failed }
        // A service that is stopped has not failed, whatever was in range.
        if manager.isPresent, Termination.shared.isSignalled { return .done }
        let (wasOpen, waiting) = state.withLock { ($0.wasOpen, $0.waiting) }
        guard wasOpen else {
            // On a terminal the table is gone, and the reason with it.
            if Termination.shared.isSignalled, !reporter.isTable { return .noRadio }
            throw CommandError(.noRadio, waiting.values.first ?? "no radio was opened", next: CommandError.radioAdvice)
        }
        let wasConnected = reporter.wasConnected
        let hasFound = wasConnected || state.withLock { $0.found } > 0
        // How far the run came with a device says nothing when its reader has seen enough.
        if isUnread, hasFound { return .done }
        if !hasFound {
            // Who ended the search knows that nothing was found yet.
            if Termination.shared.isSignalled { return .noDevice }
            if let obstacle = plan.obstacle { throw obstacle }
            if let obstacle = unserved { throw obstacle }
            throw CommandError.nothingFound(
                plan.onlyFamily, settings.address, onVirtualRadio: settings.radios.allSatisfy(\.isVirtual))
        }
        // Who ends it early knows why.
        guard !wasConnected, !Termination.shared.isSignalled else { return wasConnected ? .done : .failed }
        throw CommandError(.failed, "devices were found, and none was connected in this time")
    }

    private func drawTable() -> Task<Void, any Error> {
        Task { @TendonActor in
            while !Task.isCancelled {
                reporter.tick()
                try await Loop.shared.sleep(for: .milliseconds(Reporter.refresh))
            }
        }
    }

    private func finishOutputs() async {
        Output.stopWaiting()
        await rules.finishPrograms()
        commands.leaveAll()
        commands.onDisconnect(nil)
        commands.onForget(nil)
        commands.onRecenter(nil)
        rules.onRecenter(nil)
        await reporter.finish(missing: reporter.events.missingRows())
        await reporter.events.finish()
        figures.watch(nil, [])
    }

    // MARK: The search

    @TendonActor
    func scan(_ radio: Int, _ central: Central, _ capture: LinkCapture?) async throws(TendonError) {
        let options = ScanOptions(isActive: false, includesCodedPHY: settings.includesCodedPHY)
        // Reports as the radio makes them: most are of devices that are served already, or of other people's.
        let end = Pending<Void, TendonError>()
        let scanner = try central.core.scan(options) { [self] report, _ in
            TendonActor.assumeIsolated {
                capture?.write(report)
                take(report, radio)
            }
        } ended: { error in
            end.finish(error.map { .failure($0) } ?? .success(()))
        }
        defer { scanner.stop() }
        do throws(TendonError) {
            try await end.value()
        } catch {
            // The run ends.
            guard Task.isCancelled else { throw error }
        }
    }

    /// The device of a run without a search counts as received. True if it may have its turn.
    @TendonActor
    func receive(_ address: Address, _ family: String, _ radio: Int) -> Bool {
        guard plan.serves(address, family: family) else { return false }
        commands.saw(address, family, nil, nil)
        return turns.add(address, family: family, over: radio)
    }

    /// The parameters of the connections, once and when they change.
    func report(_ timings: [Address: ConnectionTiming]) {
        let changed = state.withLock { state in
            defer { state.timings = timings }
            return timings.compactMap { address, timing in
                timing == state.timings[address] ? nil : state.known[address].map { ($0.label, timing) }
            }
        }
        for (label, timing) in changed {
            reporter.events.event("connection_parameters", label) { line in
                line.member("interval_ms", timing.interval / .milliseconds(1), decimals: 2)
                line.member("latency", timing.latency)
                line.member("supervision_timeout_ms", Int(timing.supervisionTimeout / .milliseconds(1)))
                if let phy = timing.txPHY { line.member("tx_phy", word: phy.word) }
                if let phy = timing.rxPHY { line.member("rx_phy", word: phy.word) }
                if let size = timing.txPacketSize { line.member("tx_packet_bytes", size) }
                if let size = timing.rxPacketSize { line.member("rx_packet_bytes", size) }
            }
        }
    }

    /// The signals of the connections: for the figures, and so that a device that walks away is handed over.
    func hear(_ signals: [Address: Int]) {
        commands.hear(signals)
        guard let agreement else { return }
        let known = state.withLock { $0.known }
        for (address, rssi) in signals {
            guard let family = known[address]?.label.family else { continue }
            agreement.received(Gateway.shared(address, family), rssi: rssi)
        }
    }

    /// Nil: the controller does not report it.
    private static func rssi(of report: CReport) -> Int? {
        let rssi = Int(report.pointee.rssi)
        return rssi == Int(TENDON_RSSI_UNKNOWN) ? nil : rssi
    }

    /// A packet of any device.
    @TendonActor
    private func take(_ report: CReport, _ radio: Int) {
        let (address, rssi) = (Address(report.pointee.address), Gateway.rssi(of: report))
        let taken = turns.take(report, radio)
        let family = turns.family(taken)
        guard !taken.is_connected else {
            guard let family, let rssi else { return }
            commands.hear(address, rssi: rssi)
            agreement?.received(Gateway.shared(address, family), rssi: rssi)
            return
        }
        if let family, taken.is_served {
            received(address, family, rssi, taken)
        } else {
            notice(address, of: family)
        }
        wake(at: turns.follow(address, taken))
    }

    @TendonActor
    private func received(_ address: Address, _ family: String, _ rssi: Int?, _ taken: tendon_turns_taken) {
        let name = learnName(of: address)
        commands.saw(address, family, name, rssi)
        if let rssi, !taken.is_left { agreement?.received(Gateway.shared(address, family), rssi: rssi) }
        let isFull = state.withLock { state in
            let isNews =
                state.turns.count >= Int(TENDON_ADMISSION_SERVED_MAX) && state.turns[address] == nil && !state.isFull
            if isNews { state.isFull = true }
            return isNews
        }
        if isFull {
            Log.write(
                .warning, "\(TENDON_ADMISSION_SERVED_MAX) devices are served: others wait until one of them disconnects"
            )
        }
        guard taken.is_new else { return }
        state.withLock { $0.found += 1 }
        reporter.events.event("found", DeviceLabel(family, address, name: name)) { line in
            if let rssi { line.member("rssi_dbm", rssi) }
        }
    }

    /// Returns the name of the device, as it was advertised.
    @TendonActor
    private func learnName(of address: Address) -> String? {
        let name = turns.name(of: address)
        return state.withLock { state in
            guard let known = state.known[address] else { return name }
            guard let name, name != known.name else { return known.name }
            state.known[address]?.name = name
            known.label.name = name
            return name
        }
    }

    /// As gateways agree about it.
    private static func shared(_ address: Address, _ family: String) -> OutputDevice {
        OutputDevice(family: family, address: address.description, addressType: address.typeName)
    }

    // MARK: Turns

    func serves(_ address: Address, family: String) -> Bool { plan.serves(address, family: family) }
    func expects(_ address: Address) -> Bool { plan.isNamed(address) }
    func mayConnect(to address: Address, family: String) -> Bool {
        agreement?.mayConnect(to: Gateway.shared(address, family)) ?? true
    }

    /// Who ends a turn finds it, however early: it is noted before it can begin.
    @TendonActor
    func begin(_ address: Address, _ family: String, over radio: Int) -> Bool {
        state.withLock { state in
            guard let central = state.centrals[radio], state.turns[address] == nil else { return false }
            let task = Task(executorPreference: LoopPreference.shared) {
                await self.serve(address, family, radio, central)
                self.state.withLock { state in
                    state.turns[address] = nil
                    state.known[address]?.endedAt = tendon_monotonic_ms()
                }
                await self.arm()
            }
            state.turns[address] = Turn(family: family, radio: radio, task: task)
            return true
        }
    }

    func endTurn(of address: Address) async {
        let turn = state.withLock { $0.turns[address]?.task }
        turn?.cancel()
        await turn?.value
    }

    func disconnect(_ address: Address) { state.withLock { $0.turns[address]?.task }?.cancel() }

    /// No further turn begins, and those in progress end.
    func finishTurns() async {
        Output.stopWaiting()
        await self.turns.finish()
        let turns = state.withLock { $0.turns.values.map(\.task) }
        for turn in turns { turn.cancel() }
        for turn in turns { await turn.value }
    }

    @TendonActor
    private func serve(_ address: Address, _ family: String, _ radio: Int, _ central: Central) async {
        if let server = await server(address, family, radio, central) { return await server.serve() }
        // Another plan does not serve it.
        var ending = tendon_admission_ending()
        (ending.radio, ending.was_released, ending.may_retry) = (UInt8(radio), true, true)
        turns.end(address, ending)
    }

    /// A radio has failed: its connections end by themselves, each with that reason. Other sessions are made
    /// for the next radio; what is known of the devices stays.
    @TendonActor
    func leave(_ radio: Int, _ central: Central) async {
        turns.stop(radio, central)
        let inProgress = state.withLock { state in
            state.centrals[radio] = nil
            state.withoutSearch.remove(radio)
            return state.turns.values.filter { $0.radio == radio }.map(\.task)
        }
        let limit = Task { @TendonActor in
            try await Loop.shared.sleep(for: .milliseconds(Gateway.leavingLimit))
            for turn in inProgress { turn.cancel() }
        }
        await withTaskCancellationHandler {
            for turn in inProgress { await turn.value }
        } onCancel: {
            for turn in inProgress { turn.cancel() }
        }
        limit.cancel()
        turns.lose(radio)
        let lost = central.lostPackets
        count([radio: central.adapterCounters])
        state.withLock { state in
            state.adapters.close(radio)
            for (address, known) in state.known where known.radio == radio {
                state.known[address]?.server = nil
                state.timings[address] = nil
            }
            state.lostPackets += lost
        }
    }

    /// The radio is open, and connects to devices from now on.
    func join(_ radio: Int, _ opened: OpenedRadio) async throws(TendonError) {
        try await turns.use(opened.central, as: radio)
        state.withLock { state in
            state.centrals[radio] = opened.central
            state.waiting[radio] = nil
            state.wasOpen = true
            if !opened.searches { state.withoutSearch.insert(radio) }
        }
    }

    /// A radio that is not open. False: the reason has been noted before.
    func waiting(for radio: Int, because why: String) -> Bool {
        state.withLock { $0.waiting.updateValue(why, forKey: radio) != why }
    }

    /// How many radios are open, and why the others are not.
    var radioStates: (open: Int, waiting: [(radio: Int, why: String)]) {
        state.withLock { state in
            (state.centrals.count, state.waiting.sorted { $0.key < $1.key }.map { (radio: $0.key, why: $0.value) })
        }
    }

    func searches(_ radio: Int) -> Bool { state.withLock { !$0.withoutSearch.contains(radio) } }

    /// The radios that are open.
    var centrals: [Central] { state.withLock { Array($0.centrals.values) } }
    func central(_ radio: Int) -> Central? { state.withLock { $0.centrals[radio] } }

    @TendonActor
    func countLost() {
        var (lost, centrals) = state.withLock { ($0.lostPackets, Array($0.centrals.values)) }
        for central in centrals { lost += central.core.lostPackets }
        reporter.lostPackets = max(lost, reporter.lostPackets)  // while a radio is left, its packets are in neither
    }

    @TendonActor
    func countAdapters() {
        for (radio, central) in state.withLock({ $0.centrals }) { count([radio: central.core.adapterCounters]) }
    }

    /// Counters of radios, by their numbers: for the figures, and a message for each change.
    func count(_ counters: [Int: AdapterCounters]) {
        let settings = settings
        let (messages, total) = state.withLock { state in
            let messages = counters.sorted { $0.key < $1.key }.flatMap { radio, counters in
                state.adapters.update(radio, counters, adapter: settings.adapter(of: radio))
            }
            return (messages, state.adapters.total)
        }
        reporter.adapterCounters = total
        for message in messages { Log.write(message.level, message.text) }
    }

    /// The session of a device, which is made for its first turn, and again if the plan changes meanwhile. Nil: the plan
    /// does not serve it.
    @TendonActor
    private func server(
        _ address: Address, _ family: String, _ radio: Int, _ central: Central
    ) async -> (any DeviceServer)? {
        while true {
            let (old, plan) = state.withLock { ($0.known[address], $0.plan) }
            let name = turns.name(of: address) ?? old?.name
            guard plan.serves(address, family: family), let stream = plan.stream(of: address, family: family) else {
                return nil
            }
            if let server = old?.server, server.served.central === central, old?.label.family == family {
                return server
            }
            let label = DeviceLabel(family, address, name: name)
            let row = row(for: label, old)
            let device = ServedDevice(
                label: label, central: central, settings: plan.settings, reporter: reporter, rules: rules,
                turns: turns, onConnected: { [weak self] in self?.lookSoon() }, row: row,
                radio: UInt8(radio), adapter: plan.settings.adapter(of: radio))
            let server = await makeServer(stream, device)
            let isOfPlan = state.withLock { state in
                let isOfPlan = state.plan === plan
                state.known[address] = Known(
                    label: label, row: row, radio: radio, server: isOfPlan ? server : nil, name: name)
                return isOfPlan
            }
            _ = learnName(of: address)  // it may have been received since the label was made
            if isOfPlan { return server }
        }
    }

    private func row(for label: DeviceLabel, _ old: Known?) -> Int {
        old.map { reporter.replace($0.row, with: label) }
            ?? state.withLock { forgotten(&$0) }.map { reporter.replace($0, with: label) } ?? reporter.add(label)
    }

    /// The row of a device that is forgotten for a new one; nil: there is place, or a row that is free.
    private func forgotten(_ state: inout State) -> Int? {
        guard state.known.count >= Gateway.knownLimit else { return nil }
        let idle = state.known.filter { state.turns[$0.key] == nil }
        if let never = idle.first(where: { !reporter.wasConnected($0.value.row) }) {
            state.known[never.key] = nil
            return never.value.row
        }
        guard let longest = idle.min(by: { $0.value.endedAt < $1.value.endedAt }) else { return nil }
        state.known[longest.key] = nil
        reporter.release(longest.value.row)  // its counters stay in the sums
        return nil
    }
}
