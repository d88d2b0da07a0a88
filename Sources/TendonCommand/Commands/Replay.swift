// SPDX-License-Identifier: MIT
// replay: a capture file, decoded again.
import CTendon
import Tendon
import TendonSupport

/// What a family makes of the values of a captured connection.
protocol FamilyReplay: SendableMetatype {
    init()
    static func recognizes(_ characteristic: tendon_uuid) -> Bool
    var counters: StreamCounters { get }
    /// A value that was read, written or notified. `milliseconds`: the capture's clock.
    mutating func value(
        _ bytes: [UInt8], of characteristic: tendon_uuid, written: Bool, at milliseconds: UInt64, to lines: ReplayLines)
}

extension Command {
    static let replay = Command(
        "replay", operands: "FILE",
        summary: "decode a capture file",
        details: [
            "Reads btsnoop files of tendon, btmon and Wireshark; '-' is standard input. Prints advertisers, connections, "
                + "configurations and sensor values. Identifies characteristics from the service discovery in the capture. If a "
                + "connection existed before the capture began, its values are counted but not decoded.",
            "A test is a file that contains a capture and its events. It fails, with status 1, if the events differ when it "
                + "is run, and prints the first 10 differences.",
        ],
        options: [
            Option(name: "--att", value: nil, help: "also print every ATT PDU"), .compact,
            Option(name: "--to-test", value: "FILE", help: "write a test of the capture to this file"),
            Option(name: "--test", value: nil, help: "the operand is a test: run it"),
        ],
        common: ["--json"],
        examples: [
            ("tendon replay head.btsnoop", "decode a capture"),
            ("tendon replay head.btsnoop --json --att", "print events and every ATT PDU as JSON lines"),
            ("btmon -w /dev/stdout | tendon replay -", "decode the traffic as it happens"),
            ("tendon replay head.btsnoop --to-test head.test", "make a test of a capture"),
            ("tendon replay --test head.test", "run it: fails if the events differ"),
        ]
    ) { (arguments: Arguments) throws(CommandError) in
        guard arguments.operands.count == 1 else { throw .usage("replay takes one file", next: "tendon replay FILE") }
        let path = arguments.operands[0]
        if arguments.has("--test") {
            for option in ["--to-test", "--att", "--compact"] where arguments.has(option) {
                throw .usage("--test takes \(option) from the test", next: "tendon replay --test FILE")
            }
            try runTest(path, arguments)
            return .done
        }
        if let test = arguments.value("--to-test") {
            try makeTest(path, test, arguments)
            return .done
        }
        Output.standard.lines?.isCompact = arguments.has("--compact")
        let events = Events(json: arguments.has("--json"), waits: true)
        _ = try Replay.run(path, events, att: arguments.has("--att"))
        return .done
    }
}

extension CommandError {
    /// A file that cannot be read as a capture.
    fileprivate init(capture path: String, _ status: tendon_status, at offset: UInt64? = nil) {
        let error = TendonError(status: status, operation: .parse)
        var what = error.layer == .system ? describe(error) : error.text
        if offset ?? 0 <= 16, error.layer == .base { what = "this is not a btsnoop file (\(error.name))" }
        self.init(.failed, "\(sanitized(path)): \(what)" + (offset.map { ", at byte \($0)" } ?? ""))
    }
}

/// Follows the connections of a capture.
struct Replay {
    let events: Events
    let att: Bool
    private var connections: [CaptureItem.Link: ReplayedConnection] = [:]
    private var devices: [Address: ScannedDevice] = [:]
    private var start: UInt64?
    /// Time of the last item: the summary has it too, so that a replay prints the same each time.
    private var last: UInt64 = 0
    private var total = StreamCounters()
    private var undecoded: UInt64 = 0

    private init(_ events: Events, att: Bool) {
        self.events = events
        self.att = att
    }

    /// Reads a file up to its end. Returns the number of its records.
    static func run(_ path: String, _ events: Events, att: Bool) throws(CommandError) -> UInt64 {
        let reader = CaptureReader()
        return try run(reader, opened: reader.open(path), called: path, events, att: att)
    }

    /// - Parameter opened: what opening it returned.
    static func run(
        _ reader: CaptureReader, opened: tendon_status, called path: String, _ events: Events, att: Bool
    ) throws(CommandError) -> UInt64 {
        guard opened >= 0 else { throw CommandError(capture: path, opened) }
        var replay = Replay(events, att: att)
        var status: tendon_status = 1
        while status > 0, !Termination.shared.isRequested {
            status = reader.next { item, time in replay.take(item, time) }
        }
        replay.finish(records: reader.records, malformed: reader.malformed)
        guard status >= 0 else {
            throw CommandError(capture: path, status, at: reader.offset)
        }
        return reader.records
    }

    private mutating func take(_ item: CaptureItem, _ microseconds: UInt64) {
        let start = start ?? microseconds
        self.start = start
        last = microseconds
        let elapsed = microseconds >= start ? microseconds - start : 0
        switch item {
        case .connected(let link, let peer, _):
            close(link)
            let connection = ReplayedConnection(DeviceLabel(devices[peer]?.family, peer, name: devices[peer]?.name))
            connections[link] = connection
            events.event("connected", connection.label, at: microseconds)
        case .disconnected(let link, let reason):
            let label = connections[link]?.label
            close(link)
            guard let label else { return }
            let error = TendonError(status: reason, operation: .connect)
            events.event("disconnected", label, at: microseconds) { line in
                line.member("reason", DisconnectReason(error).rawValue)
                line.member("text", error.text)
                line.member("error", error.name)
            }
        case .att(let link, let peer, let incoming, let pdu):
            var connection =
                connections[link]
                ?? ReplayedConnection(DeviceLabel(devices[peer]?.family, peer, name: devices[peer]?.name))
            let time = ReplayedConnection.Time(unix: microseconds, milliseconds: elapsed / 1000)
            if att { connection.describe(pdu, fromServer: incoming, events, time) }
            connection.take(pdu, fromServer: incoming, events, time)
            connections[link] = connection
        case .report(let address, let rssi, let data, let connectable):
            found(address, rssi, data, connectable, microseconds)
        }
    }

    private mutating func found(
        _ address: Address, _ rssi: Int, _ data: [UInt8], _ connectable: Bool, _ microseconds: UInt64
    ) {
        guard devices[address] != nil || devices.count < 4096 else { return }
        var device = devices[address] ?? ScannedDevice(address)
        device.isConnectable = device.isConnectable || connectable
        let isNew = device.add(data: data, rssi: rssi)
        devices[address] = device
        if isNew { events.event("found", device.label, at: microseconds, device.members) }
    }

    private mutating func close(_ link: CaptureItem.Link) {
        guard let connection = connections.removeValue(forKey: link) else { return }
        total = total + connection.counters
        undecoded += connection.undecoded
    }

    private mutating func finish(records: UInt64, malformed: UInt64) {
        for link in connections.keys { close(link) }
        total.malformed += malformed
        events.event(
            "summary", nil, at: last,
            [
                "records": JSON(records), "devices": JSON(devices.count), "undecoded": JSON(undecoded),
                "notifications": JSON(total.notifications), "samples": JSON(total.samples),
                "malformed": JSON(total.malformed), "skipped": JSON(total.skipped),
            ])
    }
}

/// One connection: which handle is which characteristic, what is being read, and the family that decodes it.
private struct ReplayedConnection {
    /// A time of the capture.
    struct Time {
        /// Microseconds since 1970.
        var unix: UInt64
        /// From the capture's start.
        var milliseconds: UInt64
    }

    private(set) var label: DeviceLabel
    private var characteristics: [UInt16: tendon_uuid] = [:]
    /// Handles of Client Characteristic Configuration descriptors: they have no value of the family.
    private var configurations: Set<UInt16> = []
    private var family: (any FamilyReplay)?
    private var request: ATTPDU?
    private var reading: (handle: UInt16, value: [UInt8])?
    private(set) var undecoded: UInt64 = 0
    /// A value cannot be longer (Vol 3 Part F 3.2.9).
    private static let longest = Int(TENDON_ATT_VALUE_MAX)

    init(_ label: DeviceLabel) {
        self.label = label
    }

    var counters: StreamCounters { family?.counters ?? StreamCounters() }

    func describe(_ bytes: [UInt8], fromServer: Bool, _ events: Events, _ time: Time) {
        let name = bytes.first.map { text(tendon_att_opcode_name($0)) } ?? "empty"
        events.event("att", label, at: time.unix) { line in
            line.member("from", fromServer ? "device" : "client")
            line.member("pdu", name)
            line.member("bytes", hexText(bytes))
        }
    }

    mutating func take(_ bytes: [UInt8], fromServer: Bool, _ events: Events, _ time: Time) {
        guard let pdu = ATTPDU(bytes) else { return }
        switch Int(pdu.opcode) {
        case Int(TENDON_ATT_HANDLE_VALUE_NOTIFICATION.rawValue), Int(TENDON_ATT_HANDLE_VALUE_INDICATION.rawValue):
            value(pdu.data, of: pdu.handle, written: false, events, time)
        case Int(TENDON_ATT_MULTIPLE_HANDLE_VALUE_NOTIFICATION.rawValue):
            for item in pdu.items { value(item.value, of: item.handle, written: false, events, time) }
        case Int(TENDON_ATT_WRITE_REQUEST.rawValue), Int(TENDON_ATT_WRITE_COMMAND.rawValue):
            request = pdu
            finishReading(events, time)
            value(pdu.data, of: pdu.handle, written: true, events, time)
        default:
            if fromServer { response(pdu, bytes) } else { requested(pdu, events, time) }
        }
    }

    /// A read is over when something else is requested.
    private mutating func requested(_ pdu: ATTPDU, _ events: Events, _ time: Time) {
        request = pdu
        let continues = Int(pdu.opcode) == Int(TENDON_ATT_READ_BLOB_REQUEST.rawValue) && pdu.handle == reading?.handle
        if !continues { finishReading(events, time) }
    }

    private mutating func finishReading(_ events: Events, _ time: Time) {
        guard let (handle, bytes) = reading else { return }
        reading = nil
        value(bytes, of: handle, written: false, events, time)
    }

    private mutating func response(_ pdu: ATTPDU, _ bytes: [UInt8]) {
        guard let request else { return }
        self.request = nil
        switch Int(pdu.opcode) {
        case Int(TENDON_ATT_FIND_INFORMATION_RESPONSE.rawValue): discoveredDescriptors(bytes)
        case Int(TENDON_ATT_READ_BY_TYPE_RESPONSE.rawValue): discovered(pdu, request)
        case Int(TENDON_ATT_READ_RESPONSE.rawValue): reading = (request.handle, pdu.data)
        case Int(TENDON_ATT_READ_BLOB_RESPONSE.rawValue):
            guard let (handle, bytes) = reading, handle == request.handle, Int(request.offset) == bytes.count,
                bytes.count + pdu.data.count <= ReplayedConnection.longest
            else { break }
            reading = (handle, bytes + pdu.data)
        default: break
        }
    }

    /// Handles with 16-bit UUIDs (Vol 3 Part F 3.4.3.2). Writes to a CCCD (2902) turn notifications on and off.
    private mutating func discoveredDescriptors(_ bytes: [UInt8]) {
        guard bytes.count > 1, bytes[1] == 1 else { return }
        for start in stride(from: 2, to: bytes.count - 3, by: 4) where configurations.count < 512 {
            if bytes[start + 2] == 0x02, bytes[start + 3] == 0x29 {
                configurations.insert(UInt16(bytes[start]) | UInt16(bytes[start + 1]) << 8)
            }
        }
    }

    /// Characteristic declarations: properties, value handle, UUID (Vol 3 Part G 3.3.1).
    private mutating func discovered(_ pdu: ATTPDU, _ request: ATTPDU) {
        var asked: UInt16 = 0
        var type = request.type
        guard tendon_uuid_as_u16(&type, &asked), asked == 0x2803 else { return }
        for item in pdu.items where item.value.count >= 5 && characteristics.count < 512 {
            guard let uuid = uuid(fromWire: item.value.dropFirst(3)) else { continue }
            characteristics[UInt16(item.value[1]) | UInt16(item.value[2]) << 8] = uuid
            guard family == nil, let row = families.first(where: { $0.replay.recognizes(uuid) }) else { continue }
            family = row.replay.init()
            label = DeviceLabel(row.name, label.address, name: label.name)
        }
    }

    private mutating func value(
        _ bytes: [UInt8], of handle: UInt16, written: Bool, _ events: Events, _ time: Time
    ) {
        guard let uuid = characteristics[handle], family != nil else {
            if !configurations.contains(handle) { undecoded += 1 }
            return
        }
        let lines = ReplayLines(events: events, family: label.family ?? "", device: label, time: time.unix)
        family?.value(bytes, of: uuid, written: written, at: time.milliseconds, to: lines)
    }
}
