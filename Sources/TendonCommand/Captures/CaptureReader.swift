// SPDX-License-Identifier: MIT
// Capture files and ATT PDUs as Swift values. Pointers of the capture reader stay in this file.
import CTendon
import Tendon
import TendonSupport

#if canImport(Glibc)
    import Glibc
#else
    import Musl
#endif

/// What a capture holds, in order.
enum CaptureItem {
    case connected(Link, peer: Address, peripheral: Bool)
    case disconnected(Link, reason: Int32)
    case att(Link, peer: Address, incoming: Bool, pdu: [UInt8])
    /// - rssi: dBm; nil: not known.
    /// - properties: TENDON_AD_CONNECTABLE and its siblings.
    case report(Address, rssi: Int?, data: [UInt8], properties: UInt16)

    /// A connection of an adapter.
    struct Link: Hashable, Comparable {
        var adapter: UInt16
        var handle: UInt16

        static func < (one: Link, other: Link) -> Bool { (one.adapter, one.handle) < (other.adapter, other.handle) }
    }
}

/// A btsnoop file that is being read.
final class CaptureReader {
    private let reader = CBlock<tendon_capture_reader>()
    private let decoder = CBlock<tendon_capture_decoder>()
    private var isOpen = false
    private var file: UnsafeMutablePointer<FILE>?
    private(set) var records: UInt64 = 0
    /// Of these, records that the capture has cut.
    private(set) var truncated: UInt64 = 0
    /// Records that the program that wrote the file has lost. Each record has their number since the start.
    private(set) var dropped: UInt32 = 0

    var malformed: UInt64 { decoder.pointer.pointee.malformed }
    var offset: UInt64 { reader.pointer.pointee.offset }
    /// Records that are no HCI packets, or longer than any that is decoded.
    var skipped: UInt64 { reader.pointer.pointee.skipped + reader.pointer.pointee.foreign }
    /// What the header says, as far as it was read.
    var datalink: UInt32 { reader.pointer.pointee.datalink }

    /// The first bytes of a file that is no capture.
    var beginning: [UInt8] {
        var length = 0
        let bytes = tendon_capture_beginning(reader.pointer, &length)
        return copied(bytes, min(length, 32))
    }

    /// "-" is standard input.
    func open(_ path: String) -> tendon_status {
        tendon_capture_decoder_init(decoder.pointer)
        let status = path == "-" ? tendon_capture_open_fd(reader.pointer, 0) : tendon_capture_open(reader.pointer, path)
        isOpen = status >= 0
        return status
    }

    /// The bytes of a file. They are read from a file without a name.
    func open(bytes: [UInt8]) throws(CommandError) -> tendon_status {
        tendon_capture_decoder_init(decoder.pointer)
        file = tmpfile()
        guard let file, fwrite(bytes, 1, bytes.count, file) == bytes.count, fflush(file) == 0 else {
            throw CommandError(.failed, "a temporary file: \(text(strerror(errno)))")
        }
        rewind(file)
        let status = tendon_capture_open_fd(reader.pointer, fileno(file))
        isOpen = status >= 0
        return status
    }

    deinit {
        if isOpen { tendon_capture_reader_close(reader.pointer) }
        if let file { fclose(file) }
    }

    /// All items of the next record with its time; 1, 0 at the end, or an error.
    func next(_ body: (CaptureItem, _ microseconds: UInt64) -> Void) -> tendon_status {
        var record = tendon_capture_record()
        let status = tendon_capture_next(reader.pointer, &record)
        guard status > 0 else { return status }
        records += 1
        if record.original_length > record.length { truncated += 1 }
        dropped = max(dropped, record.drops)
        tendon_capture_decoder_feed(decoder.pointer, &record)
        var item = tendon_capture_item()
        while tendon_capture_decoder_next(decoder.pointer, &item) {
            body(CaptureItem(item), item.unix_us)
        }
        return status
    }
}

extension CaptureItem {
    fileprivate init(_ c: tendon_capture_item) {
        let link = Link(adapter: c.adapter, handle: c.handle)
        switch c.kind {
        case TENDON_CAPTURE_CONNECTED: self = .connected(link, peer: Address(c.peer), peripheral: c.peripheral)
        case TENDON_CAPTURE_DISCONNECTED: self = .disconnected(link, reason: c.reason)
        case TENDON_CAPTURE_ATT:
            self = .att(link, peer: Address(c.peer), incoming: c.incoming != c.peripheral, pdu: copied(c.pdu, c.length))
        default:
            let rssi = Int(c.report.rssi)
            self = .report(
                Address(c.report.address), rssi: rssi == Int(TENDON_RSSI_UNKNOWN) ? nil : rssi,
                data: copied(c.report.data, c.report.length), properties: c.report.properties)
        }
    }
}

/// A decoded ATT PDU.
struct ATTPDU {
    var opcode: UInt8
    var request: UInt8
    var error: UInt8
    var handle: UInt16
    var offset: UInt16
    /// Of an exchange of MTUs.
    var mtu: UInt16
    var type: tendon_uuid
    var data: [UInt8]
    /// Of list responses and multiple notifications.
    var items: [(handle: UInt16, end: UInt16, value: [UInt8])] = []

    /// Nil: malformed or unknown.
    init?(_ bytes: [UInt8]) {
        let decoded = lending(bytes) { pointer, count -> ATTPDU? in
            var c = tendon_att_pdu()
            guard tendon_att_decode(pointer, count, &c, nil) >= 0 else { return nil }
            return ATTPDU(c)
        }
        guard let decoded else { return nil }
        self = decoded
    }

    private init(_ c: tendon_att_pdu) {
        opcode = c.opcode
        request = c.request_opcode
        error = c.error
        handle = c.handle
        offset = c.offset
        mtu = c.mtu
        type = c.type
        data = copied(c.data, c.length)
        var pdu = c
        var walk = tendon_att_items_of(&pdu)
        var item = tendon_att_item()
        while tendon_att_items_next(&walk, &item) {
            items.append((item.handle, item.end_handle, copied(item.value, item.length)))
        }
    }
}

/// A UUID of 2 or 16 bytes as it stands in a PDU.
func uuid(fromWire bytes: some Collection<UInt8>) -> tendon_uuid? {
    var uuid = tendon_uuid()
    return lending(Array(bytes)) { tendon_uuid_from_wire($0, $1, &uuid) } >= 0 ? uuid : nil
}
