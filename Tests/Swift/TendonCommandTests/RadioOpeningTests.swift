// SPDX-License-Identifier: MIT
// A command without CAP_NET_RAW that knows its device: the test plays the kernel, and the virtual radio an adapter.
import CTendon
import Synchronization
import Tendon
import TestSupport
import Testing

@testable import TendonCommand

/// Rejects what requires CAP_NET_RAW. What it permits is a virtual radio.
private final class Unprivileged: Sendable {
    let directory = RadioDirectory()
    /// What was opened, in order, and what was printed.
    let opened = Mutex<[RadioChoice]>([])
    let lines = Mutex<[String]>([])
    private let failure: Int
    private let otherFailure: Int?

    /// - Parameter other: of an adapter that is opened for connections; nil: it opens.
    init(failing failure: Int = TENDON_RADIO_ERROR_NO_CAP_NET_RAW, other: Int? = nil) {
        (self.failure, otherFailure) = (failure, other)
    }

    var opener: RadioOpener {
        { [self] (choice) throws(TendonError) in
            opened.withLock { $0.append(choice) }
            var status = failure
            if case .bluez(_, .connectionsOnly) = choice { status = otherFailure ?? 0 }
            guard status == 0 else { throw TendonError(status: Int32(status), operation: .openRadio) }
            return try await Central(radio: directory.radio, bonds: .none)
        }
    }

    func open(_ choice: RadioChoice, for device: Address?) async throws(TendonError) -> OpenedRadio {
        try await open(choice, wanting: device.map(WantedAddress.init))
    }

    func open(_ choice: RadioChoice, wanting wanted: WantedAddress?) async throws(TendonError) -> OpenedRadio {
        try await OpenedRadio.open(choice, for: wanted, say: { [self] in say($0) }, by: opener)
    }

    private func say(_ line: String) { lines.withLock { $0.append(line) } }
}

private let belt = Address(0xC000_0000_0010, type: .random)
private let denied = TendonError(status: Int32(TENDON_RADIO_ERROR_NO_CAP_NET_RAW), operation: .openRadio)

@Suite struct RadioOpeningTests {
    private static let rows: [(RadioChoice, [RadioChoice])] = [
        (.bluez(), [.bluez(), .bluez(use: .connectionsOnly)]),
        (.bluez(adapter: "hci1"), [.bluez(adapter: "hci1"), .bluez(adapter: "hci1", use: .connectionsOnly)]),
    ]

    @Test(arguments: rows)
    func aKnownDeviceNeedsNoSearch(_ choice: RadioChoice, _ expected: [RadioChoice]) async throws {
        let kernel = Unprivileged()
        let radio = try await kernel.open(choice, for: belt)
        #expect(!radio.searches)
        #expect(kernel.opened.withLock { $0 } == expected)
        let lines = kernel.lines.withLock { $0 }
        #expect(lines.count == 1)
        for part in ["CAP_NET_RAW", "C0:00:00:00:00:10/random", "no search", "no name", "no connection parameters"] {
            #expect(lines.first?.contains(part) == true, "\(lines)")
        }
        await radio.central.close()
    }

    /// Sole use and an observer were requested for what they are.
    @Test(
        arguments: [
            (RadioChoice.bluez(), nil), (.bluez(use: .sole), belt), (.bluez(adapter: "hci1", use: .observer), belt),
        ] as [(RadioChoice, Address?)])
    func otherwiseTheErrorStays(_ choice: RadioChoice, _ device: Address?) async {
        let kernel = Unprivileged()
        await #expect(throws: denied) { try await kernel.open(choice, for: device) }
        #expect(kernel.opened.withLock { $0 } == [choice])
        #expect(kernel.lines.withLock { $0 }.isEmpty)
    }

    @Test func anotherErrorStays() async {
        let kernel = Unprivileged(failing: TENDON_RADIO_ERROR_RFKILL)
        await #expect(throws: TendonError(status: Int32(TENDON_RADIO_ERROR_RFKILL), operation: .openRadio)) {
            try await kernel.open(.bluez(), for: belt)
        }
        #expect(kernel.opened.withLock { $0 } == [.bluez()])
    }

    /// The adapter is off.
    @Test func anAdapterThatIsOff() async throws {
        let kernel = Unprivileged(other: TENDON_RADIO_ERROR_NO_CAP_NET_ADMIN)
        await #expect(throws: TendonError(status: Int32(TENDON_RADIO_ERROR_NO_CAP_NET_ADMIN), operation: .openRadio)) {
            try await kernel.open(.bluez(), for: belt)
        }
        #expect(kernel.lines.withLock { $0 }.isEmpty)
    }

    /// Without the type of the address nothing can be connected to, and the error says so.
    @Test func anAddressWithoutItsType() async throws {
        let wanted = try WantedAddress("C0:00:00:00:00:10", option: "--address")
        #expect(wanted.complete == nil)
        #expect(try WantedAddress("C0:00:00:00:00:10/random", option: "--address").complete == belt)
        let error = CommandError(opening: denied, for: wanted)
        #expect(error.status == .noRadio)
        #expect(error.next?.contains("--address C0:00:00:00:00:10/random") == true)
        #expect(CommandError(opening: denied, for: WantedAddress(belt)).next == CommandError.radioAdvice)
        #expect(CommandError(opening: denied, for: nil).next == CommandError.radioAdvice)

        let kernel = Unprivileged()
        await #expect(throws: denied) { try await kernel.open(.bluez(), wanting: wanted) }
        #expect(kernel.lines.withLock { $0 }.isEmpty, "the error says it")
    }
}

/// A device that advertises once while the tests run.
private final class QuietDevice: Sendable {
    private let device: SimulatedHost<tendon_simulated_bose>

    init(_ directory: RadioDirectory) async throws {
        device = try await SimulatedHost.open(
            radio: directory.radio, address: directory.address, loop: try Loop(), interval: .seconds(10), keeping: [],
            prepare: { device in
                var options = tendon_simulated_bose_options()
                return tendon_simulated_bose_init(device, &options)
            },
            seam: { tendon_simulated_bose_device($0) })
    }
}

/// Without the change a search would go on for ever.
@Suite(.timeLimit(.minutes(1))) struct KnownDeviceTests {
    private func arguments(_ words: [String], _ command: Command) throws -> Arguments {
        try Arguments(words, options: Option.common + command.options)
    }

    @Test func aCommandTakesItsDeviceWithoutASearch() async throws {
        let kernel = Unprivileged()
        let address = kernel.directory.address
        let device = try await QuietDevice(kernel.directory)
        let access = try DeviceAccess(
            arguments(["--address", "\(address)/random", "--timeout", "5"], .pair), family: "bose",
            opener: kernel.opener)
        let found = try await access.withDevice { (central, found) throws(CommandError) in
            try await translating { () throws(TendonError) in
                #expect(await central.state == .idle)
                await (try await central.connect(found.address)).disconnect()
            }
            return found
        }
        #expect(found.address == address)
        #expect(found.name == nil)
        withExtendedLifetime(device) {}
    }

    /// `run` finds the family out over a connection, `stream` knows it.
    @Test(arguments: [nil, "bose"])
    func aRunServesItsDeviceWithoutASearch(_ family: String?) async throws {
        let kernel = Unprivileged()
        let address = kernel.directory.address
        let device = try await QuietDevice(kernel.directory)
        let plan = try GatewayPlan(arguments(["--address", "\(address)/random"], .runAll), nil, family: family)
        let gateway = try Gateway(plan, outputs: nil, opener: kernel.opener)
        let run = Task { try await gateway.serveRadios() }
        await eventually("connected") { gateway.reporter.rows.contains { $0.wasConnected } }
        #expect(kernel.opened.withLock { $0.last } == .bluez(use: .connectionsOnly))
        for central in gateway.centrals { #expect(await central.state == .idle, "nothing scans") }
        run.cancel()
        try? await run.value
        withExtendedLifetime(device) {}
    }

    @Test func aDeviceOfAFamilyThatIsNotServed() async throws {
        let kernel = Unprivileged()
        let device = try await QuietDevice(kernel.directory)
        let words = ["--address", "\(kernel.directory.address)/random", "--ignore", "bose"]
        let plan = try GatewayPlan(arguments(words, .runAll), nil, family: nil)
        let gateway = try Gateway(plan, outputs: nil, opener: kernel.opener)
        let error = await #expect(throws: CommandError.self) { try await gateway.serveRadios() }
        #expect(error?.status == .noDevice)
        #expect(error?.message.contains("family bose") == true, "\(error?.message ?? "")")
        withExtendedLifetime(device) {}
    }
}

/// Adapters that are missing at first, each opening counted.
private final class LateAdapter: Sendable {
    let directory = RadioDirectory()
    let attempts = Mutex(0)
    /// The adapter that is missing until then.
    let arrival = Flag()
    private let failures: [Int]
    private let missing: String?

    /// - Parameters:
    ///   - failures: of the first attempts, in order; then the adapter opens.
    ///   - missing: its attempts fail until `arrival`.
    init(failures: [Int] = [], missing: String? = nil) { (self.failures, self.missing) = (failures, missing) }

    var opener: RadioOpener {
        { [self] (choice) throws(TendonError) in
            if case .bluez(let name, _) = choice, let missing, name == missing, !arrival.isSet {
                throw TendonError(status: Int32(TENDON_RADIO_ERROR_NO_ADAPTER), operation: .openRadio)
            }
            let attempt = attempts.withLock { attempts in
                attempts += 1
                return attempts
            }
            guard attempt > failures.count else {
                throw TendonError(status: Int32(failures[attempt - 1]), operation: .openRadio)
            }
            return try await Central(radio: directory.radio, bonds: .none)
        }
    }

    func gateway(_ words: [String] = [], arrival: @escaping AdapterWait = OpenedRadio.arrival) throws -> Gateway {
        let arguments = try Arguments(words, options: Option.common + Command.runAll.options)
        return try Gateway(GatewayPlan(arguments, nil, family: nil), outputs: nil, opener: opener, arrival: arrival)
    }
}

@Suite(.timeLimit(.minutes(1))) struct LateAdapterTests {
    /// Missing, then busy, then one that does not respond: each may pass.
    @Test func aRunWaitsForItsAdapter() async throws {
        let adapter = LateAdapter(failures: [
            TENDON_RADIO_ERROR_NO_ADAPTER, TENDON_RADIO_ERROR_ADAPTER_BUSY, TENDON_RADIO_ERROR_COMMAND_TIMEOUT,
        ])
        let device = try await QuietDevice(adapter.directory)
        let gateway = try adapter.gateway()
        let run = Task { try await gateway.serveRadios() }
        await eventually("waiting") { gateway.radioStates.waiting.count == 1 }
        #expect(
            gateway.reporter.searching.hasPrefix("waiting for a Bluetooth adapter: "), "\(gateway.reporter.searching)")
        await eventually("open") { gateway.radioStates.open == 1 }
        #expect(gateway.radioStates.waiting.isEmpty)
        #expect(gateway.reporter.searching == "searching for devices")
        #expect(adapter.attempts.withLock { $0 } == 4)
        run.cancel()
        try? await run.value
        withExtendedLifetime(device) {}
    }

    /// Waiting does not grant a capability, and a command that does not reconnect does not wait.
    @Test(arguments: [(TENDON_RADIO_ERROR_NO_CAP_NET_RAW, []), (TENDON_RADIO_ERROR_NO_ADAPTER, ["--no-reconnect"])])
    func whatWaitingCannotHelpEndsTheRun(_ failure: Int, _ words: [String]) async throws {
        let adapter = LateAdapter(failures: [failure])
        let error = await #expect(throws: CommandError.self) { try await adapter.gateway(words).serveRadios() }
        #expect(error?.status == .noRadio)
        #expect(error?.next?.contains("--radio virtual") == true)
        #expect(adapter.attempts.withLock { $0 } == 1)
    }

    /// In the place of an adapter that does not open, there is one that is not configured, which the wait for an adapter
    /// does not report; then the kernel reports the one that it has become.
    @Test @TendonActor func whatIsThereIsLookedAtWithoutAReport() async throws {
        let adapter = LateAdapter(failures: [
            TENDON_RADIO_ERROR_NO_ADAPTER, TENDON_RADIO_ERROR_SAME_ADDRESS, TENDON_RADIO_ERROR_UNCONFIGURED,
        ])
        let (came, configured) = (Bell(), Bell())
        came.ring()
        let waits = Mutex(0)
        let gateway = try adapter.gateway(arrival: { _, _ in
            let isFirst = waits.withLock { waits in
                waits += 1
                return waits == 1
            }
            await (isFirst ? came : configured).waitOrCancel()
        })
        let run = Task { try await gateway.serveRadios() }
        await eventually("it is told") { gateway.radioStates.waiting.first?.why.contains("UNCONFIGURED") == true }
        #expect(gateway.radioStates.open == 0)
        configured.ring()
        await eventually("open") { gateway.radioStates.open == 1 }
        run.cancel()
        try? await run.value
    }

    /// Over the others devices are served meanwhile.
    @Test func oneOfTwoIsWaitedFor() async throws {
        let adapter = LateAdapter(missing: "hci0")
        let gateway = try adapter.gateway(["--adapter", "hci0,hci1"])
        let run = Task { try await gateway.serveRadios() }
        await eventually("waiting") { gateway.radioStates.waiting.count == 1 && gateway.radioStates.open == 1 }
        #expect(gateway.reporter.searching.hasPrefix("searching for devices; waiting for hci0: "))
        adapter.arrival.set()
        await eventually("both") { gateway.radioStates.open == 2 }
        run.cancel()
        try? await run.value
    }
}
