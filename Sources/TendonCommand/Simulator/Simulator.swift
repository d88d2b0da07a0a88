// SPDX-License-Identifier: MIT
// Hosts simulated devices: the C core's loop on this thread, a radio and a peripheral for each device. Pointers that the
// C core keeps are to blocks that live as long as the simulator.
import CTendon
import Tendon
import TendonSupport

#if canImport(Glibc)
    import Glibc
#else
    import Musl
#endif

final class Simulator {
    private let loop = CBlock<tendon_loop>()
    private let settings: SimulationSettings
    private var hosts: [SimulatedHost] = []
    private var isStopping = false
    /// After the last notification links may take a moment to empty.
    private static let linger: UInt64 = 3000

    init(_ plan: SimulationPlan, _ settings: SimulationSettings) throws(CommandError) {
        self.settings = settings
        try check(tendon_loop_init(loop.pointer), "the event loop")
        tendon_loop_on_wake(
            loop.pointer, { context, _ in object(Simulator.self, context).stop() }, context(of: self))
        for (number, item) in plan.items.enumerated() {
            let host = SimulatedHost(item, number: number)
            try host.prepare(settings)
            hosts.append(host)
        }
        try settings.scenario?.check(hosts.compactMap { $0.simulation?.actor })
        for host in hosts { try host.open(loop, settings) }
    }

    deinit {
        hosts.removeAll()
        tendon_loop_close(loop.pointer)
    }

    func writeTruth(_ path: String) throws(CommandError) {
        let file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o644)
        guard file >= 0 else { throw CommandError(.failed, "\(sanitized(path)): \(text(strerror(errno)))") }
        defer { systemClose(file) }
        var buffer = ""
        hosts.first?.simulation?.writeTruth { line in
            buffer += line + "\n"
            return true
        }
        if let number = Output.write(buffer, to: file) {
            throw CommandError(.failed, "\(sanitized(path)): \(text(strerror(number)))")
        }
    }

    func run(for milliseconds: UInt64?) throws(CommandError) {
        for host in hosts {
            settings.events.result(
                "ready", host.label, ["radio": .string(host.radioName)],
                text: "\(host.item.family) '\(host.name)' at \(host.address): ready\n")
        }
        Termination.shared.onRequest(wake: loop)
        let start = tendon_monotonic_ms()
        let end = milliseconds.map { start + $0 } ?? .max
        var finished: UInt64?
        for host in hosts where !settings.scenarioFromConnection { host.startScenario(start) }
        while !isStopping {
            let now = tendon_monotonic_ms()
            if now >= end { break }
            if finished == nil, hosts.allSatisfy({ $0.isFinished(settings.notifications) }) { finished = now }
            // After the centrals disconnected, they have received everything.
            if let finished, now >= finished + Simulator.linger || hosts.allSatisfy({ $0.links == 0 }) { break }
            var next = min(end, finished.map { min($0 + Simulator.linger, now + 50) } ?? .max)
            for host in hosts {
                if settings.scenarioFromConnection, host.links > 0 { host.startScenario(now) }
                if host.play(now) { isStopping = true }
                next = min(next, host.scenarioDeadline)
                if let failure = host.failure {
                    throw CommandError(TendonError(status: failure, operation: .advertise))
                }
            }
            if isStopping { break }
            try check(tendon_loop_step(loop.pointer, next), "the event loop")
            for host in hosts { tellNews(of: host) }
        }
        finish()
    }

    private func tellNews(of host: SimulatedHost) {
        for news in host.simulation?.takeNews() ?? [] {
            let words = host.words(of: news)
            settings.events.result(
                "write", host.label, news, text: words.isEmpty ? "" : "\(host.item.family) '\(host.name)': \(words)\n")
        }
    }

    private func stop() {
        isStopping = true
    }

    private func finish() {
        for host in hosts { host.close() }
        let until = tendon_monotonic_ms() + 1000
        while hosts.contains(where: { $0.links > 0 }), tendon_monotonic_ms() < until {
            tendon_loop_step(loop.pointer, until)
        }
        for host in hosts {
            var line = host.simulation?.counters ?? [:]
            line["centrals"] = JSON(host.accepted)
            if let faults = host.faultsStruck { line["faults"] = faults }
            let words = ["notifications", "samples", "refused_writes"].map { key in
                "\(line[key]?.integer ?? 0) \(key == "refused_writes" ? "refused writes" : key)"
            }
            let summary = host.simulation?.summary ?? words.joined(separator: ", ")
            settings.events.result(
                "summary", host.label, line, text: "\(host.item.family) '\(host.name)': \(summary)\n")
        }
    }

    private func check(_ status: tendon_status, _ what: String) throws(CommandError) {
        guard status >= 0 else { throw CommandError(.failed, "\(what): \(text(tendon_status_text(status)))") }
    }
}

/// A device, its radio and its links.
private final class SimulatedHost {
    let item: SimulationPlan.Item
    private let number: Int
    private let peripheral = CBlock<tendon_peripheral>()
    private let scenario = CBlock<tendon_scenario>()
    private let bonds = CBlock<tendon_bonds>()
    private var radioMemory: AnyObject?
    private var radio: UnsafeMutablePointer<tendon_radio>?
    private(set) var simulation: (any FamilySimulation)?
    private var faults: [CBlock<tendon_fault>] = []
    private var scenarioText: CBytes?
    private var events: CTable<tendon_scenario_event>?
    private var eventCount = 0
    private var printed = Events.none
    private var scenarioStarted = false
    private(set) var name = ""
    fileprivate(set) var failure: tendon_status?

    init(_ item: SimulationPlan.Item, number: Int) {
        self.item = item
        self.number = number
    }

    deinit {
        if let radio { tendon_radio_close(radio) }
    }

    /// In text the state of a device is said once; empty: it is as before.
    private var said = ""
    func words(of news: JSON) -> String {
        guard let words = simulation?.words(of: news) else {
            return news.all.map { "\($0.key) \(readable($0.value).dropLast())" }.joined(separator: " ")
        }
        defer { said = words }
        return words == said ? "" : words
    }

    var address: Address { radio.map { Address($0.pointee.address) } ?? Address(0, type: .public) }
    var links: Int { tendon_peripheral_count(peripheral.pointer) }
    var accepted: UInt64 { peripheral.pointer.pointee.accepted }

    /// Makes the device.
    func prepare(_ settings: SimulationSettings) throws(CommandError) {
        guard let make = Family.named(item.family)?.simulation else {
            throw .usage(
                "\(item.family) cannot be simulated; known: \(families.map(\.name).joined(separator: ", "))")
        }
        let simulation = try make(settings, number)
        if settings.hasDatabaseHash {
            try SimulationSettings.check(min(tendon_gatt_add_generic_attribute(simulation.server), 0), item.family)
        }
        self.simulation = simulation
    }

    /// Opens its radio and advertises.
    func open(_ loop: CBlock<tendon_loop>, _ settings: SimulationSettings) throws(CommandError) {
        guard let simulation else { return }
        try parseScenario(settings, simulation)
        let radio = try openRadio(loop)
        self.radio = radio
        try setAgent(radio, settings)
        radio.pointee.report_context = context(of: self)
        radio.pointee.on_failure = { context, status, _ in object(SimulatedHost.self, context).failure = status }
        var device = simulation.device
        tendon_peripheral_init(peripheral.pointer, radio, &device, nil)
        setFaults(settings.faults)
        let status = tendon_peripheral_open(peripheral.pointer, 0)
        guard status >= 0 else {
            if item.isVirtual, Int(status) == TENDON_RADIO_ERROR_ADAPTER_BUSY {
                throw CommandError(
                    .noRadio, "another simulated device has the address \(address)/\(address.typeName)",
                    next: "another --address, or end the other one")
            }
            throw CommandError(TendonError(status: status, operation: .advertise))
        }
        name = nameAdvertised(by: device)
    }

    private func openRadio(_ loop: CBlock<tendon_loop>) throws(CommandError) -> UnsafeMutablePointer<tendon_radio> {
        let status: tendon_status
        let opened: UnsafeMutablePointer<tendon_radio>
        if item.isVirtual {
            let block = CBlock<tendon_virtual_radio>()
            radioMemory = block
            var own = item.address?.c ?? defaultAddress()
            status = tendon_virtual_radio_open(block.pointer, loop.pointer, nil, &own)
            opened = block.member(\.radio)
        } else {
            #if BlueZ || KernelSockets
                let block = CBlock<tendon_bluez_radio>()
                radioMemory = block
                if let adapter = item.adapter {
                    status = adapter.withCString { tendon_bluez_open(block.pointer, loop.pointer, $0) }
                } else {
                    status = tendon_bluez_open(block.pointer, loop.pointer, nil)
                }
                opened = block.member(\.radio)
            #else
                throw CommandError(
                    .noRadio, "this program was built without the radio bluez", next: "--radio virtual")
            #endif
        }
        guard status >= 0 else { throw CommandError(TendonError(status: status, operation: .openRadio)) }
        tendon_bonds_init(bonds.pointer)  // kept as long as it runs: the kernel keeps its keys longer
        if let path = simulation?.bondFile {
            let status = path.withCString { tendon_bonds_open(bonds.pointer, $0) }
            guard status >= 0 else { throw CommandError(TendonError(status: status, operation: .openRadio)) }
        }
        tendon_radio_use_bonds(opened, bonds.pointer)
        return opened
    }

    /// The owner of the simulated device: sees what it shows, and confirms every comparison.
    private func setAgent(
        _ radio: UnsafeMutablePointer<tendon_radio>, _ settings: SimulationSettings
    ) throws(CommandError) {
        guard let inputOutput = settings.inputOutput else { return }
        if item.isVirtual, inputOutput == .keyboardOnly {
            throw .usage("--io keyboard is for --radio bluez: a virtual device shows the passkey", next: "--io display")
        }
        var agent = tendon_pairing_agent()
        agent.io = inputOutput.rawValue
        agent.has_passkey = settings.passkey != nil
        agent.passkey = settings.passkey?.rawValue ?? 0
        agent.context = context(of: self)
        agent.ask = { context, peer, question, passkey, now in
            guard let peer else { return }
            object(SimulatedHost.self, context).asked(peer, question, passkey, now)
        }
        printed = settings.events
        let status = tendon_radio_set_pairing_agent(radio, &agent)
        guard status >= 0 else { throw CommandError(TendonError(status: status, operation: .pair)) }
    }

    private func asked(
        _ central: UnsafePointer<tendon_address>, _ question: tendon_pairing_question, _ passkey: UInt32, _ now: UInt64
    ) {
        if question != TENDON_PAIRING_ENTER, let shown = Passkey(rawValue: passkey) {
            let other = Address(central.pointee).description
            printed.result(
                "passkey", label, ["passkey": .string(shown.description), "central": .string(other)],
                text: "\(item.family) '\(name)' shows the passkey \(shown) to \(other)\n")
        }
        // Without a passkey to enter, the pairing is rejected; the answer to one that is shown is ignored.
        tendon_radio_answer_pairing(radio, central, question == TENDON_PAIRING_COMPARE, 0, now)
    }

    /// Several devices of one process need several addresses.
    private func defaultAddress() -> tendon_address {
        let base = Address(tendon_virtual_radio_default_address())
        // Above the bits of the process's number: the address of a neighbor's process must not be taken.
        return Address(base.value ^ UInt64(number) << 24, type: base.type ?? .random).c
    }

    private func setFaults(_ options: tendon_fault_options?) {
        guard let options else { return }
        var filters: [tendon_bearer_filter] = []
        for index in 0..<Int(TENDON_PERIPHERAL_LINKS) {
            let block = CBlock<tendon_fault>()
            var own = options
            own.seed = options.seed &+ UInt32(number * Int(TENDON_PERIPHERAL_LINKS) + index)
            tendon_fault_init(block.pointer, &own)
            faults.append(block)
            filters.append(tendon_fault_filter(block.pointer))
        }
        tendon_peripheral_set_filters(peripheral.pointer, &filters)
    }

    private func nameAdvertised(by device: tendon_peripheral_device) -> String {
        var bytes = [UInt8](repeating: 0, count: 64)
        let length = device.ops.pointee.scan_response(device.context, &bytes, bytes.count)
        guard length > 0 else { return "" }
        return sanitized(advertisedName(Array(bytes.prefix(Int(length)))) ?? "")
    }

    var label: DeviceLabel { DeviceLabel(item.family, address, name: name) }
    var radioName: String { radio.map { text($0.pointee.ops.pointee.name) } ?? "" }

    // MARK: Scenario

    private func parseScenario(
        _ settings: SimulationSettings, _ simulation: any FamilySimulation
    ) throws(CommandError) {
        guard let source = settings.scenario else { return }
        let text = CBytes(try source.lines(of: item.family, simulation.actor))
        let events = CTable<tendon_scenario_event>(capacity: 1024)
        var actor = simulation.actor
        var error = tendon_scenario_error()
        let count = text.lendText {
            tendon_scenario_parse($0, text.count, &actor, events.pointer, events.capacity, &error)
        }
        guard count >= 0 else { throw source.failure(error) }
        (scenarioText, self.events, eventCount) = (text, events, Int(count))
    }

    func startScenario(_ now: UInt64) {
        guard !scenarioStarted, let events else { return }
        scenarioStarted = true
        tendon_scenario_start(scenario.pointer, events.pointer, eventCount, now)
    }

    var scenarioDeadline: UInt64 { scenarioStarted ? tendon_scenario_deadline(scenario.pointer) : .max }

    /// Executes the events whose time has come; returns true if the scenario contains stop.
    func play(_ now: UInt64) -> Bool {
        guard scenarioStarted else { return false }
        while let event = tendon_scenario_next(scenario.pointer, now) {
            switch tendon_scenario_action(UInt32(event.pointee.action)) {
            case TENDON_SCENARIO_STOP: return true
            case TENDON_SCENARIO_DISCONNECT: disconnectAll()
            case TENDON_SCENARIO_ADVERTISE_OFF: tendon_radio_advertise_stop(radio)
            case TENDON_SCENARIO_ADVERTISE_ON: tendon_peripheral_readvertise(peripheral.pointer)
            default:
                var wrong = 0
                if let actor = simulation?.actor { _ = actor.perform(actor.context, event, false, &wrong, now) }
                tendon_peripheral_refresh(peripheral.pointer)
            }
        }
        return false
    }

    private func disconnectAll() {
        for index in 0..<Int(TENDON_PERIPHERAL_LINKS) {
            let link = peripheral.element(\.links, index, of: tendon_peripheral_link.self)
            if link.pointee.used { tendon_link_close(member(of: link, \.link)) }
        }
    }

    // MARK: The end

    func isFinished(_ limit: UInt64?) -> Bool {
        guard let limit, let simulation else { return false }
        return simulation.notifications >= limit
    }

    var faultsStruck: JSON? {
        guard !faults.isEmpty else { return nil }
        var line: JSON = [:]
        for kind in 0..<Int(TENDON_FAULT_COUNT.rawValue) {
            let struck = faults.reduce(0) {
                $0 + Int(elements(of: $1.pointer.pointee.struck, kind + 1, like: UInt32(0))[kind])
            }
            line[text(tendon_fault_name(tendon_fault_kind(UInt32(kind))))] = JSON(struck)
        }
        return line
    }

    func close() {
        tendon_peripheral_close(peripheral.pointer)
    }
}
