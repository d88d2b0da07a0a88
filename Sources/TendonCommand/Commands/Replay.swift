// SPDX-License-Identifier: MIT
// replay: a capture file, decoded again.
import CTendon
import Tendon
import TendonSupport

/// What a family makes of the values of a captured connection.
protocol FamilyReplay: SendableMetatype {
    init(address: String)
    static func recognizes(_ characteristic: tendon_uuid) -> Bool
    var counters: StreamCounters { get }
    /// A value that was read, written or notified. `milliseconds`: the capture's clock.
    mutating func value(
        _ bytes: [UInt8], of characteristic: tendon_uuid, written: Bool, at milliseconds: UInt64
    ) -> [JSON]
}

extension Command {
    static let replay = Command(
        "replay", operands: "FILE",
        summary: "decode a capture file",
        details: [
            "Reads btsnoop files: ours, btmon's and Wireshark's; '-' is standard input. Prints what was found, connected, "
                + "configured and measured. Characteristics are told by the discovery in the capture; values of a "
                + "connection that was there before the capture began stay undecoded and are counted."
        ],
        options: [Option(name: "--att", value: nil, help: "also every ATT PDU")],
        examples: [
            ("tendon replay head.btsnoop", "decode a capture"),
            ("tendon replay head.btsnoop --json --att", "with every ATT PDU, as JSON lines"),
            ("btmon -w /dev/stdout | tendon replay -", "decode as it happens"),
        ]
    ) { (arguments: Arguments) throws(CommandError) in
        guard arguments.operands.count == 1 else { throw .usage("replay takes one file", next: "tendon replay FILE") }
        let path = arguments.operands[0]
        let reader = CaptureReader()
        let opened = reader.open(path)
        guard opened >= 0 else {
            throw CommandError(.failed, "\(sanitized(path)): \(text(tendon_status_text(opened)))")
        }
        var replay = Replay(json: arguments.has("--json"), att: arguments.has("--att"))
        var status: tendon_status = 1
        while status > 0, !Stop.shared.isRequested {
            status = reader.next { item, time in replay.take(item, time) }
        }
        replay.finish(records: reader.records, malformed: reader.malformed)
        guard status >= 0 else {
            throw CommandError(
                .failed, "\(sanitized(path)): \(text(tendon_status_text(status))), at byte \(reader.offset)")
        }
        return .done
    }
}

/// Follows the connections of a capture.
private struct Replay {
    let json: Bool
    let att: Bool
    private var connections: [CaptureItem.Link: ReplayedConnection] = [:]
    private var devices: [Address: ScannedDevice] = [:]
    private var start: UInt64?
    private var total = StreamCounters()
    private var undecoded: UInt64 = 0

    init(json: Bool, att: Bool) {
        self.json = json
        self.att = att
    }

    mutating func take(_ item: CaptureItem, _ microseconds: UInt64) {
        let start = start ?? microseconds
        self.start = start
        let elapsed = microseconds >= start ? microseconds - start : 0
        switch item {
        case .connected(let link, let peer, _):
            close(link)
            connections[link] = ReplayedConnection(address: peer.description)
            write(["event": "connected", "address": .string(peer.description)], elapsed)
        case .disconnected(let link, let reason):
            let address = connections[link]?.address
            close(link)
            guard let address else { return }
            write(
                [
                    "event": "disconnected", "address": .string(address),
                    "reason": .string(text(tendon_status_name(reason))),
                ], elapsed)
        case .att(let link, let peer, let incoming, let pdu):
            var connection = connections[link] ?? ReplayedConnection(address: peer.description)
            if att { write(connection.describe(pdu, fromServer: incoming), elapsed) }
            for line in connection.take(pdu, fromServer: incoming, at: elapsed / 1000) { write(line, elapsed) }
            connections[link] = connection
        case .report(let address, let rssi, let data, let connectable):
            found(address, rssi, data, connectable, elapsed)
        }
    }

    private mutating func found(
        _ address: Address, _ rssi: Int, _ data: [UInt8], _ connectable: Bool, _ elapsed: UInt64
    ) {
        guard devices[address] != nil || devices.count < 4096 else { return }
        var device = devices[address] ?? ScannedDevice(address)
        device.isConnectable = device.isConnectable || connectable
        let isNew = device.add(data: data, rssi: rssi)
        devices[address] = device
        if isNew { write(device.json, elapsed) }
    }

    private mutating func close(_ link: CaptureItem.Link) {
        guard let connection = connections.removeValue(forKey: link) else { return }
        total = total + connection.counters
        undecoded += connection.undecoded
    }

    mutating func finish(records: UInt64, malformed: UInt64) {
        for link in connections.keys { close(link) }
        total.malformed += malformed
        var line: JSON = [
            "event": "summary", "records": JSON(records), "devices": JSON(devices.count),
            "undecoded": JSON(undecoded),
        ]
        if case .object(let members) = total.json {
            for member in members where !["delivered", "drops"].contains(member.key) { line[member.key] = member.value }
        }
        write(line, nil)
    }

    private func write(_ line: JSON, _ elapsed: UInt64?) {
        var line = line
        if let elapsed { line["time_s"] = .real(Double(elapsed) / 1e6) }
        guard Output.standard.line(json ? line.text : Replay.readable(line, elapsed)) else {
            Stop.shared.request()
            return
        }
    }

    /// "    1.204  sample  address=...  ..."
    private static func readable(_ line: JSON, _ elapsed: UInt64?) -> String {
        guard case .object(let members) = line else { return line.text }
        let time = right(elapsed.map { fixed(Double($0) / 1e6, 3) } ?? "", 10)
        let rest = members.filter { !["event", "time_s", "family"].contains($0.key) && $0.value != .null }
            .map { "\($0.key)=\(shortText($0.value))" }
        return "\(time)  \(left(line["event"]?.string ?? "", 23))" + rest.joined(separator: " ")
    }

    private static func shortText(_ value: JSON) -> String {
        switch value {
        case .string(let text): text
        case .real(let number): fixed(number, 4)
        case .array(let values) where values.allSatisfy({ $0.number != nil || $0.string != nil }):
            values.map(shortText).joined(separator: ",")
        default: value.text
        }
    }
}

/// One connection: which handle is which characteristic, what is being read, and the family that decodes it.
private struct ReplayedConnection {
    let address: String
    private var characteristics: [UInt16: tendon_uuid] = [:]
    private var family: (any FamilyReplay)?
    private var request: ATTPDU?
    private var reading: (handle: UInt16, value: [UInt8])?
    private(set) var undecoded: UInt64 = 0
    /// A value cannot be longer (Vol 3 Part F 3.2.9).
    private static let longest = Int(TENDON_ATT_VALUE_MAX)

    init(address: String) {
        self.address = address
    }

    var counters: StreamCounters { family?.counters ?? StreamCounters() }

    func describe(_ bytes: [UInt8], fromServer: Bool) -> JSON {
        let name = bytes.first.map { text(tendon_att_opcode_name($0)) } ?? "empty"
        return [
            "event": "att", "address": .string(address), "from": fromServer ? "device" : "client",
            "pdu": .string(name), "hex": .string(hexText(bytes)),
        ]
    }

    mutating func take(_ bytes: [UInt8], fromServer: Bool, at milliseconds: UInt64) -> [JSON] {
        guard let pdu = ATTPDU(bytes) else { return [] }
        switch Int(pdu.opcode) {
        case Int(TENDON_ATT_HANDLE_VALUE_NOTIFICATION.rawValue), Int(TENDON_ATT_HANDLE_VALUE_INDICATION.rawValue):
            return value(pdu.data, of: pdu.handle, written: false, at: milliseconds)
        case Int(TENDON_ATT_MULTIPLE_HANDLE_VALUE_NOTIFICATION.rawValue):
            return pdu.items.flatMap { value($0.value, of: $0.handle, written: false, at: milliseconds) }
        case Int(TENDON_ATT_WRITE_REQUEST.rawValue), Int(TENDON_ATT_WRITE_COMMAND.rawValue):
            request = pdu
            let lines = finishReading(at: milliseconds)
            return lines + value(pdu.data, of: pdu.handle, written: true, at: milliseconds)
        default:
            return fromServer ? response(pdu, at: milliseconds) : asked(pdu, at: milliseconds)
        }
    }

    /// A read is over when something else is asked.
    private mutating func asked(_ pdu: ATTPDU, at milliseconds: UInt64) -> [JSON] {
        request = pdu
        let continues = Int(pdu.opcode) == Int(TENDON_ATT_READ_BLOB_REQUEST.rawValue) && pdu.handle == reading?.handle
        return continues ? [] : finishReading(at: milliseconds)
    }

    private mutating func finishReading(at milliseconds: UInt64) -> [JSON] {
        guard let (handle, bytes) = reading else { return [] }
        reading = nil
        return value(bytes, of: handle, written: false, at: milliseconds)
    }

    private mutating func response(_ pdu: ATTPDU, at milliseconds: UInt64) -> [JSON] {
        guard let request else { return [] }
        self.request = nil
        switch Int(pdu.opcode) {
        case Int(TENDON_ATT_READ_BY_TYPE_RESPONSE.rawValue): discovered(pdu, request)
        case Int(TENDON_ATT_READ_RESPONSE.rawValue): reading = (request.handle, pdu.data)
        case Int(TENDON_ATT_READ_BLOB_RESPONSE.rawValue):
            guard let (handle, bytes) = reading, handle == request.handle, Int(request.offset) == bytes.count,
                bytes.count + pdu.data.count <= ReplayedConnection.longest
            else { break }
            reading = (handle, bytes + pdu.data)
        default: break
        }
        return []
    }

    /// Characteristic declarations: properties, value handle, UUID (Vol 3 Part G 3.3.1).
    private mutating func discovered(_ pdu: ATTPDU, _ request: ATTPDU) {
        var asked: UInt16 = 0
        var type = request.type
        guard tendon_uuid_as_u16(&type, &asked), asked == 0x2803 else { return }
        for item in pdu.items where item.value.count >= 5 && characteristics.count < 512 {
            guard let uuid = uuid(fromWire: item.value.dropFirst(3)) else { continue }
            characteristics[UInt16(item.value[1]) | UInt16(item.value[2]) << 8] = uuid
            guard family == nil else { continue }
            family = families.first { $0.replay.recognizes(uuid) }?.replay.init(address: address)
        }
    }

    private mutating func value(
        _ bytes: [UInt8], of handle: UInt16, written: Bool, at milliseconds: UInt64
    ) -> [JSON] {
        guard let uuid = characteristics[handle], family != nil else {
            undecoded += 1
            return []
        }
        return family?.value(bytes, of: uuid, written: written, at: milliseconds) ?? []
    }
}
