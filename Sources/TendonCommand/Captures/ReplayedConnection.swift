// SPDX-License-Identifier: MIT
// replay: one connection of a capture.
import CTendon
import Tendon
import TendonSupport

/// One connection: which handle is which characteristic, what is being read, and the family that decodes it.
struct ReplayedConnection {
    /// A time of the capture.
    struct Time {
        /// Microseconds since 1970.
        var unix: UInt64
        /// From the capture's start.
        var milliseconds: UInt64
    }

    /// A value that is being read.
    private struct Reading {
        let handle: UInt16
        /// The parts so far.
        var value: [UInt8]
    }

    private(set) var label: DeviceLabel
    /// Identity of the device; nil: none, or not known.
    let device: Address?
    private(set) var table = ReplayTable()
    /// The device's attributes have been discovered on this connection.
    private var isDiscovered = false
    private let cache: ReplayCache?
    /// Why the cache of the device cannot be used.
    private var cacheFailure: tendon_status = 0
    private var family: ValueReplay?
    private var request: ATTPDU?
    private var reading: Reading?
    private var mtu = Int(TENDON_ATT_MTU_MIN)
    private(set) var undecoded: UInt64 = 0
    /// Notifications and indications of handles that are in no table.
    private var unknown: UInt64 = 0
    /// A value cannot be longer (Vol 3 Part F 3.2.9).
    private static let longest = Int(TENDON_ATT_VALUE_MAX)
    private static let databaseHash: UInt16 = 0x2B2A

    /// - Parameter earlier: what an earlier connection of the device has left.
    init(_ label: DeviceLabel, _ device: Address?, after earlier: ReplayTable?, _ cache: ReplayCache?) {
        self.label = label
        self.device = device
        self.cache = cache
        use(earlier ?? stored())
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
        mtu = max(mtu, bytes.count)  // an exchange may have been before the capture
        switch Int(pdu.opcode) {
        case Int(TENDON_ATT_HANDLE_VALUE_NOTIFICATION.rawValue), Int(TENDON_ATT_HANDLE_VALUE_INDICATION.rawValue):
            notified(pdu.data, of: pdu.handle, events, time)
            let isIndication = Int(pdu.opcode) == Int(TENDON_ATT_HANDLE_VALUE_INDICATION.rawValue)
            if isIndication, table.characteristics[pdu.handle].map(number) == ReplayTable.serviceChanged {
                changed(pdu.data)
            }
        case Int(TENDON_ATT_MULTIPLE_HANDLE_VALUE_NOTIFICATION.rawValue):
            for item in pdu.items { notified(item.value, of: item.handle, events, time) }
        case Int(TENDON_ATT_WRITE_REQUEST.rawValue), Int(TENDON_ATT_WRITE_COMMAND.rawValue):
            // A command may stand between a request and its response.
            if Int(pdu.opcode) == Int(TENDON_ATT_WRITE_REQUEST.rawValue), !fromServer {
                request = pdu
                finishReading(events, time)
            }
            value(pdu.data, of: pdu.handle, written: true, events, time)
        default:
            // Each side may request, and confirms indications, between a request of the other and its response.
            let kind = tendon_att_opcode_class(pdu.opcode)
            if fromServer, kind == TENDON_ATT_CLASS_RESPONSE { response(pdu, bytes, events, time) }
            if !fromServer, kind == TENDON_ATT_CLASS_REQUEST { requested(pdu, events, time) }
        }
    }

    /// Ends what was being read, unless its next part is requested.
    private mutating func requested(_ pdu: ATTPDU, _ events: Events, _ time: Time) {
        request = pdu
        let continues = Int(pdu.opcode) == Int(TENDON_ATT_READ_BLOB_REQUEST.rawValue) && pdu.handle == reading?.handle
        if !continues { finishReading(events, time) }
    }

    /// A part that does not fill its PDU is the last one (Vol 3 Part F 3.4.4.4). Of one that does, that is known later; without an
    /// exchange of MTUs in the capture, of each one that is longer than the smallest.
    private mutating func take(part: [UInt8], after parts: [UInt8], of handle: UInt16, _ events: Events, _ time: Time) {
        reading = Reading(handle: handle, value: parts + part)
        if part.count < mtu - 1 { finishReading(events, time) }
    }

    /// The value that was being read is complete, which is known now.
    mutating func finishReading(_ events: Events, _ time: Time) {
        guard let read = reading else { return }
        reading = nil
        value(read.value, of: read.handle, written: false, events, time)
    }

    private mutating func response(_ pdu: ATTPDU, _ bytes: [UInt8], _ events: Events, _ time: Time) {
        guard let request else { return }
        self.request = nil
        switch Int(pdu.opcode) {
        case Int(TENDON_ATT_FIND_INFORMATION_RESPONSE.rawValue): discoveredDescriptors(bytes)
        case Int(TENDON_ATT_READ_BY_TYPE_RESPONSE.rawValue): discovered(pdu, request)
        case Int(TENDON_ATT_READ_BY_GROUP_TYPE_RESPONSE.rawValue): discoveredServices(pdu)
        case Int(TENDON_ATT_EXCHANGE_MTU_RESPONSE.rawValue): mtu = Int(max(min(request.mtu, pdu.mtu), UInt16(mtu)))
        case Int(TENDON_ATT_READ_RESPONSE.rawValue): take(part: pdu.data, after: [], of: request.handle, events, time)
        case Int(TENDON_ATT_READ_BLOB_RESPONSE.rawValue):
            guard let read = reading, read.handle == request.handle, Int(request.offset) == read.value.count,
                read.value.count + pdu.data.count <= ReplayedConnection.longest
            else { break }
            take(part: pdu.data, after: read.value, of: read.handle, events, time)
        case Int(TENDON_ATT_ERROR_RESPONSE.rawValue)
        where Int(request.opcode) == Int(TENDON_ATT_READ_BLOB_REQUEST.rawValue):
            finishReading(events, time)  // there is no further part
        case Int(TENDON_ATT_ERROR_RESPONSE.rawValue)
        where Int(pdu.error) == Int(TENDON_ATT_DATABASE_OUT_OF_SYNC.rawValue):
            changed([])
        default: break
        }
    }

    /// Handles with 16-bit UUIDs (Vol 3 Part F 3.4.3.2). Writes to a CCCD (2902) turn notifications on and off.
    private mutating func discoveredDescriptors(_ bytes: [UInt8]) {
        guard bytes.count > 1, bytes[1] == 1 else { return }
        for start in stride(from: 2, to: bytes.count - 3, by: 4)
        where bytes[start + 2] == 0x02 && bytes[start + 3] == 0x29 {
            table.addConfiguration(at: UInt16(bytes[start]) | UInt16(bytes[start + 1]) << 8)
        }
    }

    /// First and last handle of the group, UUID (Vol 3 Part F 3.4.4.10).
    private mutating func discoveredServices(_ pdu: ATTPDU) {
        for item in pdu.items {
            guard let uuid = uuid(fromWire: item.value) else { continue }
            table.addService(uuid, item.handle, item.end)
        }
    }

    /// Characteristic declarations: properties, value handle, UUID (Vol 3 Part G 3.3.1); and the Database Hash (7.3).
    private mutating func discovered(_ pdu: ATTPDU, _ request: ATTPDU) {
        let asked = number(of: request.type)
        if asked == ReplayedConnection.databaseHash, let item = pdu.items.first { return hash(item.value) }
        guard asked == 0x2803 else { return }
        if !isDiscovered { table.discover() }
        isDiscovered = true
        for item in pdu.items where item.value.count >= 5 {
            guard let uuid = uuid(fromWire: item.value.dropFirst(3)) else { continue }
            table.add(uuid, at: UInt16(item.value[1]) | UInt16(item.value[2]) << 8)
            identify(uuid)
        }
    }

    /// The family is the one that the device has advertised, as in a run; else that of the first characteristic that one
    /// recognizes.
    private mutating func identify(_ characteristic: tendon_uuid) {
        guard family == nil else { return }
        let advertised = families.first { $0.name == label.family }
        guard let row = advertised ?? families.first(where: { $0.recognizes(characteristic) }) else { return }
        family = ValueReplay(row)
        label = DeviceLabel(row.name, label.address, name: label.name)
    }

    // MARK: - Handles that were not discovered on this connection

    private mutating func stored() -> ReplayTable? {
        guard let device, let found = cache?.table(of: device) else { return nil }
        cacheFailure = found.failure
        return found.table
    }

    private mutating func use(_ other: ReplayTable?) {
        table = other ?? ReplayTable()
        for (_, uuid) in table.characteristics.sorted(by: { $0.key < $1.key }) { identify(uuid) }
    }

    /// The Database Hash was read: handles of before are valid if they belong to it.
    private mutating func hash(_ value: [UInt8]) {
        guard value.count == Int(TENDON_GATT_HASH_SIZE) else { return }
        if table.hash == value {
            table.confirm()
        } else if !isDiscovered {
            if let match = stored(), match.hash == value {
                use(match)
            } else if table.hash != nil {
                use(nil)
            }
        }
        table.hash = value
    }

    private mutating func changed(_ value: [UInt8]) {
        table.change(value)
        isDiscovered = false
    }

    /// What the connection had to leave out, once.
    func reportUnknown(_ events: Events, at microseconds: UInt64) {
        guard unknown > 0 else { return }
        let text: String
        if cacheFailure < 0 {
            text =
                "the GATT cache of the device cannot be used: "
                + TendonError(status: cacheFailure, operation: .discover).text
        } else if cache != nil {
            text = "neither a discovery in the capture nor the GATT caches have their handles"
        } else {
            text = "no discovery in the capture has their handles; if the gateway has a GATT cache, use --gatt-cache"
        }
        events.event("undecoded", label, at: microseconds, ["notifications": JSON(unknown), "text": .string(text)])
    }

    // MARK: - Values

    private mutating func notified(_ bytes: [UInt8], of handle: UInt16, _ events: Events, _ time: Time) {
        if table.characteristics[handle] == nil { unknown += 1 }
        value(bytes, of: handle, written: false, events, time)
    }

    private mutating func value(
        _ bytes: [UInt8], of handle: UInt16, written: Bool, _ events: Events, _ time: Time
    ) {
        guard let uuid = table.characteristics[handle], family != nil else {
            if !table.configurations.contains(handle) { undecoded += 1 }
            return
        }
        let lines = ReplayLines(events: events, family: label.family ?? "", device: label, time: time.unix)
        family?.value(
            bytes, of: uuid, in: table.service(of: handle), written: written, at: time.milliseconds, to: lines)
    }
}
