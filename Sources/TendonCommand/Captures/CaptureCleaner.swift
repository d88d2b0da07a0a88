// SPDX-License-Identifier: MIT
// A capture without keys and names. Connections, advertisements and ATT PDUs are written again, nothing else: what no rule
// below keeps is not in the result.
import CTendon
import Tendon
import TendonSupport

#if canImport(Glibc)
    import Glibc
#else
    import Musl
#endif

final class CaptureCleaner {
    private struct Connection {
        var handle: UInt16
        var isPeripheral: Bool
        var replayed: ReplayedConnection
        /// Outstanding requests: of the device (true), of its client (false).
        var requests: [Bool: ATTPDU] = [:]
    }

    private(set) var anonymizer: Anonymizer
    private(set) var connectionCount = 0
    private(set) var advertisements = 0
    private(set) var pdus = 0
    /// Values that are zeros now, and packets that could not be written.
    private(set) var maskedValues = 0
    private(set) var leftOut = 0

    private let out = CBlock<tendon_capture>()
    private var connections: [CaptureItem.Link: Connection] = [:]
    private var nextHandle = 0
    private var tables: [Address: ReplayTable] = [:]
    /// The last advertisement and the last scan response of a device: its family can need both.
    private var packets: [Address: [Bool: [UInt8]]] = [:]
    private static let deviceLimit = 4096
    private static let lastHandle: UInt16 = 0x0EFF

    init(_ anonymizer: Anonymizer) { self.anonymizer = anonymizer }

    /// - Parameter opened: what opening it returned.
    func clean(_ reader: CaptureReader, opened: tendon_status, called path: String) throws(CommandError) -> [UInt8] {
        guard opened >= 0 else { throw CommandError(opening: path, opened, reader) }
        guard let file = tmpfile() else { throw CommandError.temporary(errno) }
        defer { fclose(file) }
        _ = tendon_capture_attach(out.pointer, fileno(file), UInt32(TENDON_CAPTURE_MONITOR))
        var status: tendon_status = 1
        while status > 0, out.pointer.pointee.status >= 0, out.pointer.pointee.bytes <= ReplayTest.captureLimit {
            status = reader.next { item, time in take(item, time) }
        }
        guard status >= 0 else { throw CommandError(capture: path, status, reader) }
        let written = out.pointer.pointee
        guard written.bytes <= ReplayTest.captureLimit else {
            throw CommandError(.failed, "\(sanitized(path)): the capture is too long for a report, which takes 64 MiB")
        }
        guard written.status >= 0 else { throw CommandError(file: "a temporary file", written.status) }
        var bytes = [UInt8](repeating: 0, count: Int(written.bytes))
        rewind(file)
        guard fread(&bytes, 1, bytes.count, file) == bytes.count else { throw CommandError.temporary(errno) }
        return bytes
    }

    private func take(_ item: CaptureItem, _ time: UInt64) {
        switch item {
        case .connected(let link, let peer, let isPeripheral):
            close(link)
            var (connection, other) = (open(peer, isPeripheral), anonymizer.address(peer).c)
            connectionCount += 1
            note(tendon_capture_connected(out.pointer, connection.handle, &other, isPeripheral, time))
            connections[link] = connection
        case .disconnected(let link, let reason):
            if let handle = connections[link]?.handle {
                note(tendon_capture_disconnected(out.pointer, handle, reason, time))
            }
            close(link)
        case .att(let link, let peer, let isOfServer, let pdu):
            var connection = connections[link] ?? open(peer, false)
            let other = clean(pdu, isOfServer, &connection)
            pdus += 1
            note(
                tendon_capture_att(
                    out.pointer, connection.handle, isOfServer != connection.isPeripheral, other, other.count, time))
            connections[link] = connection
        case .report(let address, let rssi, let data, let properties):
            advertisements += 1
            let other = advertisement(data, of: address, isResponse: Int(properties) & TENDON_AD_SCAN_RESPONSE != 0)
            var report = tendon_ad_report()
            report.address = anonymizer.address(address).c
            report.properties = properties
            report.rssi = Int8(clamping: rssi ?? Int(TENDON_RSSI_UNKNOWN))
            other.withUnsafeBufferPointer { bytes in
                (report.data, report.length) = (bytes.baseAddress, bytes.count)
                note(tendon_capture_report(out.pointer, &report, time))
            }
        }
    }

    private func note(_ status: tendon_status) { if status < 0 { leftOut += 1 } }

    /// With a handle of its own: connections of several adapters can have the same one.
    private func open(_ peer: Address, _ isPeripheral: Bool) -> Connection {
        let handle = UInt16(nextHandle % Int(CaptureCleaner.lastHandle)) + 1
        nextHandle += 1
        let device = isPeripheral ? nil : identity(peer)
        return Connection(
            handle: handle, isPeripheral: isPeripheral,
            replayed: ReplayedConnection(DeviceLabel(nil, peer), device, after: device.flatMap { tables[$0] }, nil))
    }
    private func close(_ link: CaptureItem.Link) {
        guard let replayed = connections.removeValue(forKey: link)?.replayed, let device = replayed.device,
            tables[device] != nil || tables.count < CaptureCleaner.deviceLimit
        else { return }
        tables[device] = replayed.table.isValid ? replayed.table : nil
    }

    // MARK: ATT

    /// The PDU with zeros in the place of each value that is not known to have neither names nor keys.
    private func clean(_ bytes: [UInt8], _ isOfServer: Bool, _ connection: inout Connection) -> [UInt8] {
        let pdu = ATTPDU(bytes)
        let kind = tendon_att_opcode_class(bytes.first ?? 0)
        let request = kind == TENDON_ATT_CLASS_RESPONSE ? connection.requests.removeValue(forKey: !isOfServer) : nil
        if kind == TENDON_ATT_CLASS_REQUEST { connection.requests[isOfServer] = pdu }
        connection.replayed.take(
            bytes, fromServer: isOfServer, .none, ReplayedConnection.Time(unix: 0, milliseconds: 0))
        guard let pdu else { return masked(bytes, from: 1) }
        // The attributes of this side are those of its other programs too.
        let isOfDevice = isOfServer == (kind != TENDON_ATT_CLASS_REQUEST && kind != TENDON_ATT_CLASS_COMMAND)
        let table = isOfDevice ? connection.replayed.table : ReplayTable()
        switch UInt32(pdu.opcode) {
        case TENDON_ATT_ERROR_RESPONSE.rawValue, TENDON_ATT_EXCHANGE_MTU_REQUEST.rawValue,
            TENDON_ATT_EXCHANGE_MTU_RESPONSE.rawValue, TENDON_ATT_FIND_INFORMATION_REQUEST.rawValue,
            TENDON_ATT_FIND_INFORMATION_RESPONSE.rawValue, TENDON_ATT_FIND_BY_TYPE_VALUE_RESPONSE.rawValue,
            TENDON_ATT_READ_BY_TYPE_REQUEST.rawValue, TENDON_ATT_READ_REQUEST.rawValue,
            TENDON_ATT_READ_BLOB_REQUEST.rawValue, TENDON_ATT_READ_MULTIPLE_REQUEST.rawValue,
            TENDON_ATT_READ_BY_GROUP_TYPE_REQUEST.rawValue, TENDON_ATT_WRITE_RESPONSE.rawValue,
            TENDON_ATT_EXECUTE_WRITE_REQUEST.rawValue, TENDON_ATT_EXECUTE_WRITE_RESPONSE.rawValue,
            TENDON_ATT_HANDLE_VALUE_CONFIRMATION.rawValue, TENDON_ATT_READ_MULTIPLE_VARIABLE_REQUEST.rawValue:
            return bytes
        case TENDON_ATT_FIND_BY_TYPE_VALUE_REQUEST.rawValue:
            return CaptureCleaner.declarations.contains(number(of: pdu.type)) ? bytes : masked(bytes, from: 7)
        case TENDON_ATT_READ_BY_TYPE_RESPONSE.rawValue, TENDON_ATT_READ_BY_GROUP_TYPE_RESPONSE.rawValue:
            let isKnown = request.map { CaptureCleaner.declarations.contains(number(of: $0.type)) } ?? false
            // The first item's handle stays, so that it is still a list.
            return isKnown ? bytes : masked(bytes, from: 4)
        case TENDON_ATT_WRITE_REQUEST.rawValue, TENDON_ATT_WRITE_COMMAND.rawValue,
            TENDON_ATT_HANDLE_VALUE_NOTIFICATION.rawValue, TENDON_ATT_HANDLE_VALUE_INDICATION.rawValue:
            return value(bytes, 3..<bytes.count, of: pdu.handle, table)
        case TENDON_ATT_READ_RESPONSE.rawValue, TENDON_ATT_READ_BLOB_RESPONSE.rawValue:
            return value(bytes, 1..<bytes.count, of: request?.handle ?? 0, table)
        case TENDON_ATT_PREPARE_WRITE_REQUEST.rawValue, TENDON_ATT_PREPARE_WRITE_RESPONSE.rawValue:
            return value(bytes, 5..<bytes.count, of: pdu.handle, table)
        case TENDON_ATT_MULTIPLE_HANDLE_VALUE_NOTIFICATION.rawValue:
            var (result, start) = (bytes, 1)
            for item in pdu.items {
                let end = min(start + 4 + item.value.count, bytes.count)
                result = value(result, min(start + 4, end)..<end, of: item.handle, table)
                start = end
            }
            return result
        default: return masked(bytes, from: 1)
        }
    }

    /// Attribute types whose values are UUIDs and handles, and the Database Hash.
    private static let declarations: [UInt16] = [0x2800, 0x2801, 0x2802, 0x2803, 0x2B2A]
    /// Characteristics of the Bluetooth SIG without names and numbers of a single device: Service Changed, battery, model,
    /// revisions of firmware, hardware and software, manufacturer.
    private static let harmless: [UInt16] = [0x2A05, 0x2A19, 0x2A24, 0x2A26, 0x2A27, 0x2A28, 0x2A29]

    private func value(_ bytes: [UInt8], _ range: Range<Int>, of handle: UInt16, _ table: ReplayTable) -> [UInt8] {
        if table.configurations.contains(handle) { return bytes }
        guard let uuid = table.characteristics[handle] else { return masked(bytes, range) }
        if CaptureCleaner.harmless.contains(number(of: uuid)) { return bytes }
        guard let family = families.first(where: { $0.recognizes(uuid) }) else { return masked(bytes, range) }
        let name = family.nameRange(in: bytes[range], of: uuid)
        return name.isEmpty ? bytes : masked(bytes, name)
    }

    private func masked(_ bytes: [UInt8], from start: Int) -> [UInt8] {
        masked(bytes, min(start, bytes.count)..<bytes.count)
    }

    private func masked(_ bytes: [UInt8], _ range: Range<Int>) -> [UInt8] {
        guard !range.isEmpty else { return bytes }
        maskedValues += 1
        var result = bytes
        result.replaceSubrange(range, with: repeatElement(0, count: range.count))
        return result
    }

    // MARK: Advertisements

    /// Bytes of a structure that stay, by its type: of a list all, of data what says whose they are.
    private static func kept(_ type: UInt8) -> Int {
        switch UInt32(type) {
        case TENDON_AD_FLAGS.rawValue...TENDON_AD_UUID128_COMPLETE.rawValue, TENDON_AD_TX_POWER.rawValue,
            TENDON_AD_CONNECTION_INTERVAL.rawValue, TENDON_AD_SOLICIT_UUID16.rawValue,
            TENDON_AD_SOLICIT_UUID128.rawValue, TENDON_AD_SOLICIT_UUID32.rawValue, TENDON_AD_APPEARANCE.rawValue,
            TENDON_AD_ADVERTISING_INTERVAL.rawValue:
            .max
        case TENDON_AD_SERVICE_DATA_16.rawValue, TENDON_AD_MANUFACTURER.rawValue: 2
        case TENDON_AD_SERVICE_DATA_32.rawValue: 4
        case TENDON_AD_SERVICE_DATA_128.rawValue: 16
        default: 0
        }
    }

    /// Advertising data without names, and of other structures without what is of one device. What a family is recognized
    /// by stays, such as the first letters of a belt's name.
    private func advertisement(_ data: [UInt8], of address: Address, isResponse: Bool) -> [UInt8] {
        if let name = LocalName(advertisedIn: data) {
            anonymizer.learn(name.text)
            anonymizer.learn(name.shown)
        }
        let other = packets[address]?[!isResponse] ?? []
        if packets[address] != nil || packets.count < CaptureCleaner.deviceLimit {
            packets[address, default: [:]][isResponse] = data
        }
        let family = familyName(advertised: other + data)
        var (result, start) = (data, 0)
        while start + 1 < data.count, data[start] > 0 {
            let end = min(start + 1 + Int(data[start]), data.count)
            let type = data[start + 1]
            let isName = [TENDON_AD_NAME_SHORTENED, TENDON_AD_NAME_COMPLETE].contains { $0.rawValue == UInt32(type) }
            for length in min(CaptureCleaner.kept(type), end - start - 2)...(end - start - 2) {
                let range = start + 2 + length..<end
                var masked = result
                masked.replaceSubrange(
                    range, with: repeatElement(isName ? UInt8(ascii: "x") : 0, count: range.count))
                guard familyName(advertised: other + masked) == family else { continue }
                result = masked
                break
            }
            start = end
        }
        return result
    }
}

extension CommandError {
    fileprivate static func temporary(_ number: Int32) -> CommandError {
        CommandError(.failed, "a temporary file: \(text(strerror(number)))")
    }
}
