// SPDX-License-Identifier: MIT
// Fjorden: serves one grip for `run` and `stream`.
import CTendon
import Tendon
import TendonFjorden
import TendonSupport

struct FjordenStream: FamilyStream, DeviceSource {
    let profile: GripProfile
    let choice: DeviceChoice

    static let options: [Option] = [
        Option(
            name: "--profile", value: "FILE",
            help: "UUIDs, event codes and format of the grip, as JSON; default: the reference profile")
    ]

    init(_ arguments: Arguments) throws(CommandError) {
        let profile =
            try arguments.value("--profile").map { (path) throws(CommandError) in
                try GripProfile(json: path)
            } ?? GripProfile()
        self.profile = profile
        choice = DeviceChoice(TENDON_DEVICE_FJORDEN) { $0.profile = profile.c }
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
    func view(of device: ServedDevice) -> DeviceView { GripView(device) }
}

/// A key that was pressed is all that a row shows.
private final class GripView: DeviceView {
    override func words(for error: TendonError) -> String? {
        FjordenError.allCases.first { $0.status == error.status }.map { describe($0) }
    }

    override func show(sample event: DeviceEvent, _ line: DeviceLine, _ change: inout RowChange) {
        guard let name = line["grip_event"]?.string else { return }
        let detail = ["button", "battery_percent", "code"].lazy.compactMap { line[$0]?.integer }.first
        change.note = name + (detail.map { "(\($0))" } ?? "")
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
