// SPDX-License-Identifier: MIT
// replay: a capture file, decoded again.
import CTendon
import Tendon
import TendonSupport

extension Command {
    static let replay = Command(
        "replay", operands: "FILE",
        summary: "decode a capture file",
        details: [
            "Reads btsnoop files of tendon, btmon and Wireshark; '-' is standard input. Prints advertisers, connections, "
                + "configurations and sensor values. Identifies characteristics from the service discovery in the capture, "
                + "also from that of an earlier connection of the device. Values of other connections are counted but not "
                + "decoded; 'undecoded' reports how many a connection had.",
            "A gateway with 'tendon run --gatt-cache' does not discover at each connection. The same option takes the "
                + "handles from its caches; --gatt-cache=DIR if they were copied from another machine.",
            "A test is a file that contains a capture and its events. It fails, with status 1, if the events differ when it "
                + "is run, and prints the first 10 differences.",
        ],
        options: [
            Option(name: "--att", value: nil, help: "also print every ATT PDU"), .exact,
            .gattCache(
                help:
                    "take the attribute handles of connections without discovery from the GATT caches in this directory; "
                    + "--gatt-cache alone: in $XDG_STATE_HOME/tendon/gatt"),
            Option(
                name: "--to-test", value: "FILE",
                help: "write a test of the capture to this file; the operand may be a test or a report"),
            Option(name: "--test", value: nil, help: "the operand is a test: run it"), .replaces,
        ],
        common: ["--json"],
        examples: [
            ("tendon replay head.btsnoop", "decode a capture"),
            ("tendon replay head.btsnoop --json --att", "print events and every ATT PDU as JSON lines"),
            ("btmon -w /dev/stdout | tendon replay -", "decode the traffic as it happens"),
            ("tendon replay head.btsnoop --gatt-cache", "decode the capture of a gateway with a GATT cache"),
            ("tendon replay head.btsnoop --to-test head.test", "make a test of a capture"),
            ("tendon replay --test head.test", "run it: fails if the events differ"),
        ]
    ) { (arguments: Arguments) throws(CommandError) in
        guard arguments.operands.count == 1 else { throw .usage("replay takes one file", next: "tendon replay FILE") }
        let path = arguments.operands[0]
        if arguments.has("--test") {
            for option in ["--to-test", "--att", "--exact", "--gatt-cache"] where arguments.has(option) {
                throw .usage("--test takes no \(option): all is in the test", next: "tendon replay --test FILE")
            }
            try runTest(path, arguments)
            return .done
        }
        if let test = arguments.value("--to-test") {
            guard !arguments.has("--gatt-cache") else {
                throw .usage("--to-test takes no --gatt-cache: a test needs no file but its own")
            }
            try makeTest(path, test, arguments)
            return .done
        }
        Output.standard.lines?.isCompact = !arguments.has("--exact")
        let events = Events(json: arguments.has("--json"), waits: true)
        let cache = try ReplayCache(arguments.gattCache())
        _ = try Replay.run(path, events, att: arguments.has("--att"), cache: cache)
        return .done
    }
}

extension CommandError {
    /// A file that cannot be read as a capture.
    init(capture path: String, _ status: tendon_status, _ reader: CaptureReader) {
        let error = TendonError(status: status, operation: .parse)
        self.init(.failed, "\(sanitized(path)): \(error.layer == .system ? systemWords(error) : error.text)")
        message += ", at byte \(reader.offset)"
    }

    /// A file that cannot be opened as one.
    init(opening path: String, _ status: tendon_status, _ reader: CaptureReader) {
        let error = TendonError(status: status, operation: .parse)
        let what: String
        if reader.beginning.starts(with: ReplayTest.beginning) {
            self.init(
                .failed, "\(sanitized(path)): this is a test of replay or a report, not a btsnoop file",
                next: "tendon replay --test FILE")
            return
        }
        if error.layer != .system, let form = CaptureForm(reader.beginning) {
            self.init(
                .failed, "\(sanitized(path)): this is \(form.name), not a btsnoop file", next: form.conversion(of: path)
            )
            return
        }
        switch status {
        case _ where error.layer == .system: what = systemWords(error)
        case Int32(TENDON_ERROR_UNSUPPORTED) where reader.offset == CommandError.versionOffset:
            what = "this is a btsnoop file of another version than 1"
        case Int32(TENDON_ERROR_UNSUPPORTED):
            let known = [
                1003: " (BCSP)", 1004: " (three-wire UART)", 2002: " (BlueZ's simulator)",
            ][reader.datalink]
            what =
                "this is a btsnoop file of datalink \(reader.datalink)\(known ?? ""): 1001 (HCI), 1002 (H4) and 2001 "
                + "(monitor) can be read"
        default: what = "this is not a btsnoop file (\(error.name))"
        }
        self.init(.failed, "\(sanitized(path)): \(what)")
    }

    /// In the header of a file.
    private static let versionOffset: UInt64 = 8
}

/// Follows the connections of a capture.
struct Replay {
    let events: Events
    let att: Bool
    private let cache: ReplayCache?
    /// By identity address: what the connections before have left.
    private var tables: [Address: ReplayTable] = [:]
    private static let tableLimit = 256
    private var connections: [CaptureItem.Link: ReplayedConnection] = [:]
    private var devices: [Address: ScannedDevice] = [:]
    /// A passive scan may have made the capture.
    private let families = AdvertisedFamilies(hearsResponses: false)
    private var start: UInt64?
    /// Time of the last item: the summary has it too, so that a replay prints the same each time.
    private var last: UInt64 = 0
    private var total = StreamCounters()
    private var undecoded: UInt64 = 0

    private init(_ events: Events, att: Bool, cache: ReplayCache?) {
        self.events = events
        self.att = att
        self.cache = cache
    }

    /// Reads a file up to its end. Returns the number of its records.
    static func run(
        _ path: String, _ events: Events, att: Bool, cache: ReplayCache? = nil
    ) throws(CommandError) -> UInt64 {
        let reader = CaptureReader()
        return try run(reader, opened: reader.open(path), called: path, events, att: att, cache: cache)
    }

    /// - Parameters:
    ///   - opened: what opening it returned.
    ///   - progress: called with the bytes that were read.
    static func run(
        _ reader: CaptureReader, opened: tendon_status, called path: String, _ events: Events, att: Bool,
        cache: ReplayCache? = nil, progress: ((UInt64) -> Void)? = nil
    ) throws(CommandError) -> UInt64 {
        guard opened >= 0 else { throw CommandError(opening: path, opened, reader) }
        var replay = Replay(events, att: att, cache: cache)
        var status: tendon_status = 1
        while status > 0, !Termination.shared.isRequested {
            status = reader.next { item, time in replay.take(item, time) }
            progress?(reader.offset)
        }
        replay.finish(reader)
        guard status >= 0 else {
            throw CommandError(capture: path, status, reader)
        }
        return reader.records
    }

    private mutating func take(_ item: CaptureItem, _ microseconds: UInt64) {
        let start = start ?? microseconds
        self.start = start
        last = microseconds
        let elapsed = microseconds >= start ? microseconds - start : 0
        switch item {
        case .connected(let link, let peer, let isPeripheral):
            close(link)
            let connection = connection(with: peer, isServer: isPeripheral)
            connections[link] = connection
            events.event("connected", connection.label, at: microseconds)
        case .disconnected(let link, let reason):
            let label = connections[link]?.label
            close(link)
            guard let label else { return }
            let error = TendonError(status: reason, operation: .connect)
            events.event("disconnected", label, at: microseconds) { line in
                line.member("reason", text(tendon_ending_name(tendon_ending_of(reason))))
                line.member("text", error.text)
                line.member("error", error.name)
            }
        case .att(let link, let peer, let incoming, let pdu):
            var connection = connections[link] ?? connection(with: peer, isServer: false)
            let time = ReplayedConnection.Time(unix: microseconds, milliseconds: elapsed / 1000)
            if att { connection.describe(pdu, fromServer: incoming, events, time) }
            connection.take(pdu, fromServer: incoming, events, time)
            connections[link] = connection
        case .report(let address, let rssi, let data, let properties):
            found(address, rssi, data, Int(properties), microseconds)
        }
    }

    private mutating func found(
        _ address: Address, _ rssi: Int?, _ data: [UInt8], _ properties: Int, _ microseconds: UInt64
    ) {
        guard devices[address] != nil || devices.count < 4096 else { return }
        var device = devices[address] ?? ScannedDevice(address)
        device.isConnectable = device.isConnectable || properties & TENDON_AD_CONNECTABLE != 0
        let family = families.family(
            of: address, sending: data, isScannable: false, isResponse: properties & TENDON_AD_SCAN_RESPONSE != 0,
            microseconds / 1000)
        let isNew = device.add(data: data, rssi: rssi, family: family)
        devices[address] = device
        if isNew { events.event("found", device.label, at: microseconds, device.members) }
    }

    /// - Parameter isServer: this side has the attributes, so that the peer's address does not identify them.
    private func connection(with peer: Address, isServer: Bool) -> ReplayedConnection {
        let label = DeviceLabel(devices[peer]?.family, peer, name: devices[peer]?.name)
        let device = isServer ? nil : identity(peer)
        return ReplayedConnection(label, device, after: device.flatMap { tables[$0] }, cache)
    }

    private mutating func close(_ link: CaptureItem.Link) {
        guard var connection = connections.removeValue(forKey: link) else { return }
        let elapsed = last >= start ?? last ? last - (start ?? last) : 0
        connection.finishReading(events, ReplayedConnection.Time(unix: last, milliseconds: elapsed / 1000))
        connection.reportUnknown(events, at: last)
        if let device = connection.device, tables[device] != nil || tables.count < Replay.tableLimit {
            tables[device] = connection.table.isValid ? connection.table : nil
        }
        total = total + connection.counters
        undecoded += connection.undecoded
    }

    private mutating func finish(_ reader: CaptureReader) {
        for link in connections.keys.sorted() { close(link) }
        total.malformed += reader.malformed
        var summary: JSON = [
            "records": JSON(reader.records), "devices": JSON(devices.count), "undecoded": JSON(undecoded),
            "notifications": JSON(total.notifications), "samples": JSON(total.samples),
            "malformed": JSON(total.malformed), "skipped": JSON(total.skipped),
        ]
        if reader.skipped > 0 { summary["skipped_records"] = JSON(reader.skipped) }
        if reader.truncated > 0 { summary["truncated_records"] = JSON(reader.truncated) }
        if reader.dropped > 0 { summary["dropped_records"] = JSON(reader.dropped) }
        events.event("summary", nil, at: last, summary)
    }
}
