// SPDX-License-Identifier: MIT
// Fjorden: serves one grip for `run` and `stream`.
import CTendon
import Tendon
import TendonFjorden
import TendonSupport

struct FjordenStream: FamilyStream {
    let profile: GripProfile

    static let options: [Option] = [
        Option(
            name: "--profile", value: "FILE",
            help: "UUIDs, event codes and format of the grip, as JSON; default: the reference profile")
    ]

    init(_ arguments: Arguments) throws(CommandError) {
        profile =
            try arguments.value("--profile").map { (path) throws(CommandError) in
                try GripProfile(json: path)
            } ?? GripProfile()
    }

    static let happenings = [
        RuleEvent(name: "event", details: eventNames, sources: [RuleSource("grip", detail: "grip_event")]),
        RuleEvent(name: "battery_low", sources: [RuleSource("grip", only: ("grip_event", "batteryLow"))]),
    ]
    static let values = [RuleValue.battery]
    static let actions = RuleAction.all(of: "fjorden")

    /// The vendor's names, in the order of their numbers.
    private static let eventNames = (0...0x35).compactMap { number in
        tendon_fjorden_event_known(UInt8(number)) ? text(tendon_fjorden_event_name(UInt8(number))) : nil
    }

    static func advice(on cause: TendonError) -> String? {
        guard cause.status == Int32(TENDON_RADIO_ERROR_PAIRING_FAILED) else { return nil }
        return "a grip has one bond: if it is bonded to another device, hold its shutter and fn buttons for 5 seconds"
    }

    @TendonActor
    func server(of device: ServedDevice) -> any DeviceServer { GripServer(self, device) }
}

/// One grip.
@TendonActor
private final class GripServer: DeviceServer {
    let served: ServedDevice
    private let profile: GripProfile
    private var manager: GripManager?
    private var records: EventStream<GripRecord>?
    private var information: GripInfo?
    private var battery: BatteryInfo?
    private var before = GripCounts()

    init(_ stream: FjordenStream, _ served: ServedDevice) {
        profile = stream.profile
        self.served = served
    }

    func open() async throws(ServingError) {
        do throws(FjordenError) {
            let grip = try await connect()
            records = grip.records(capacity: served.settings.capacity)
            grip.subscribeToRecords { [self, grip] _ in count(grip) }
            information = try? await grip.readGripInfo()
            battery = try? await grip.readBatteryInfo()
            served.update { [battery] in $0.battery = battery?.level }
        } catch {
            throw Task.isCancelled ? .cancelled : .failed(describe(error), canRetry: canRetry(error))
        }
    }

    private func connect() async throws(FjordenError) -> ConnectedGrip {
        let manager: GripManager
        if let known = self.manager {
            manager = known
        } else {
            manager = GripManager(on: served.central)
            try manager.configure(with: configuration()).get()
            self.manager = manager
        }
        if case .connected(let grip) = try await manager.start() { return grip }
        guard !manager.hasBondedGrip else { return try await manager.connectToBondedGrip() }
        return try await manager.connect(toGrip: ConnectableGrip(id: served.address))
    }

    private func configuration() -> GripManager.Configuration {
        var configuration = GripManager.Configuration(persistentStorage: MemoryStorage())
        configuration.profile = profile
        configuration.autoReconnect = false
        configuration.connectionTimeoutThreshold = 10
        if served.central.isBonded(with: served.address) {
            configuration.persistentStorage.set(
                identifier(of: served.address), forKey: bondedGripKey)
        }
        configuration.pairingPrompt = { @TendonActor [served] _ in
            served.event("pairing", ["state": "wanted"])
            return true
        }
        return configuration
    }

    /// Returns false for errors that another attempt would not change.
    private func canRetry(_ error: FjordenError) -> Bool {
        switch error {
        case .gripUnableToDiscoverService, .gripUnableToDiscoverCharacteristics, .gripUnsupportedFirmwareVersion,
            .gripUnableToReadFirmwareVersion:
            false
        default: true
        }
    }

    var identity: JSON {
        func known(_ text: String?) -> JSON { text.map { .string(sanitized($0)) } ?? .null }
        return [
            "firmware": known(information?.firmware?.description), "manufacturer": known(information?.manufacturerName),
            "model": known(information?.modelNumber),
            "battery_percent": battery.map { JSON($0.level) } ?? .null,
        ]
    }

    func stream() async -> Ending {
        guard let manager, let grip = manager.connectedGrip, let records else { return .lost }
        let consumers = [consume(records), consume(grip.batteryLevels())]
        for await state in manager.subscribeToStateChanges() {
            if case .connected = state { continue }
            break
        }
        let isAsked = Task.isCancelled
        // Ends the sequences; buffered elements are still read, so the counters are consistent.
        manager.disconnect()
        for consumer in consumers { await consumer.value }
        count(grip)
        before = GripCounts(before, grip.counters)
        // Of a sequence that its consumer on the loop did not keep up with.
        served.update { $0.counters.dropped += records.dropped }
        return isAsked ? .requested : .lost
    }

    func perform(_ call: any RuleCall) async throws(CommandError) {
        guard let call = call as? FamilyCall, let grip = manager?.connectedGrip,
            let mode = UInt8(exactly: call.number).flatMap(LEDMode.init)
        else { return }
        do throws(GripCommandError) {
            try await grip.setLED(mode, for: call.detail == 0 ? nil : .milliseconds(call.detail))
        } catch {
            throw CommandError(.failed, "\(error)")
        }
    }

    private func count(_ grip: ConnectedGrip) {
        let counts = GripCounts(before, grip.counters)
        served.update { row in
            row.counters.notifications = counts.notifications
            row.counters.samples = counts.records
            row.counters.malformed = counts.rejected
            row.counters.skipped = counts.skipped
        }
        served.stopAtLimit()
    }

    // MARK: On the loop. Both sequences hold what comes before the connection is reported.

    private func consume(_ records: EventStream<GripRecord>) -> Task<Void, Never> {
        Task { @TendonActor [served] in
            var iterator = records.makeAsyncIterator()
            while let record = await iterator.next(isolation: TendonActor.shared) {
                served.sample("grip") {
                    record.write(to: &$0)
                } row: { row in
                    row.note = "\(record.event)"
                }
            }
        }
    }

    private func consume(_ levels: EventStream<BatteryInfo>) -> Task<Void, Never> {
        Task { @TendonActor [served] in
            var iterator = levels.makeAsyncIterator()
            while let battery = await iterator.next(isolation: TendonActor.shared) {
                served.event(
                    "battery", ["battery_percent": JSON(battery.level), "battery_low": .bool(battery.isLow)])
                served.update { $0.battery = battery.level }
            }
        }
    }
}

/// Of all connections so far.
private struct GripCounts {
    var notifications: UInt64 = 0
    var records: UInt64 = 0
    var rejected: UInt64 = 0
    var skipped: UInt64 = 0

    init() {}

    init(_ before: GripCounts, _ now: ConnectedGrip.Counters) {
        notifications = before.notifications + now.notifications
        records = before.records + now.records
        rejected = before.rejected + now.rejected
        skipped = before.skipped + now.duplicates + now.outOfOrder
    }
}

extension GripRecord {
    /// The members of a line about it.
    func write(to line: inout LineWriter) {
        var record = tendon_fjorden_record()
        record.event = UInt8(event.number)
        switch event {
        case .batteryLow(let percent?): record.value = Int8(clamping: percent)
        case .unknown(let code): record.code = code
        default: break
        }
        (record.count, record.time_ms) = (UInt8(clamping: count), time)
        (record.has_sequence, record.sequence) = (sequence != nil, sequence ?? 0)
        record.lost_before = UInt8(clamping: lostBefore)
        line.members { tendon_fjorden_record_members($0, &record, isSynthesized, times.receivedAt) }
    }
}

/// Where the module stores the identifier of the bonded grip.
let bondedGripKey = "fjorden.bondedGrip.identifier"

/// A grip's identifier is its address with its type.
func identifier(of address: Address) -> String {
    "\(address)" + (address.type == .random ? "/random" : "")
}

extension GripProfile {
    /// From a file: the members that it has replace those of the reference profile.
    init(json path: String) throws(CommandError) {
        func wrong(_ what: String) -> CommandError { .usage("--profile \(sanitized(path)): \(what)") }
        self.init()
        let bytes = try readText(path, limit: 1 << 16)
        let file: JSON
        do {
            file = try JSON(parsing: bytes)
        } catch {
            throw wrong("this is not JSON")
        }
        guard case .object(let members) = file else { throw wrong("this is no JSON object") }
        guard !members.isEmpty else {
            throw wrong("it has no member; known: \(GripProfile.memberNames.joined(separator: ", "))")
        }
        for member in members {
            guard GripProfile.memberNames.contains(member.key) else {
                throw wrong(CommandError.unknown("member", member.key, among: GripProfile.memberNames).message)
            }
            guard try set(member.key, member.value) else { throw wrong("the value of '\(member.key)' is not allowed") }
        }
    }

    private static let memberNames = [
        "name_prefix", "service", "event", "state", "control", "event_format", "codes",
    ]

    private mutating func set(_ key: String, _ value: JSON) throws(CommandError) -> Bool {
        let uuid = value.string.flatMap { BluetoothUUID($0) }
        switch (key, value) {
        case ("name_prefix", .string(let prefix)): setNamePrefix(prefix)
        case ("event_format", "record5"): eventFormat = .record5
        case ("event_format", "code8"): eventFormat = .code8
        case ("state", .null): stateCharacteristic = nil
        case ("control", .null): controlCharacteristic = nil
        case ("codes", .object(let codes)):
            for code in codes {
                let isHex = code.key.hasPrefix("0x")
                let number = isHex ? UInt8(code.key.dropFirst(2), radix: 16) : UInt8(code.key)
                guard let number, setCode(number, to: code.value.string ?? "") else {
                    return false
                }
            }
        default:
            guard let uuid else { return false }
            switch key {
            case "service": service = uuid
            case "event": eventCharacteristic = uuid
            case "state": stateCharacteristic = uuid
            case "control": controlCharacteristic = uuid
            default: return false
            }
        }
        return true
    }
}

/// The error as one line. Advice depends on the cause: see `FjordenStream.advice(on:)`.
func describe(_ error: FjordenError) -> String {
    error == .gripPairingRequestDeclined ? "pairing with the grip failed" : error.localizedDescription
}
