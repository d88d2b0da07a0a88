// SPDX-License-Identifier: MIT
// replay: which attribute handle is which characteristic, from discoveries in the capture or from the GATT caches of a
// gateway.
import CTendon
import Tendon
import TendonSupport

/// Handles of one device.
struct ReplayTable {
    private(set) var characteristics: [UInt16: tendon_uuid] = [:]
    /// Handles of Client Characteristic Configuration descriptors: they have no value of the family.
    private(set) var configurations: Set<UInt16> = []
    /// The Database Hash that the device reported for them; nil: none was read.
    var hash: [UInt8]?
    /// What Service Changed has reported since the last discovery.
    private var changed: ClosedRange<UInt16>?
    /// Of services, by their first handles: the last one, and the UUID.
    private var services: [UInt16: (last: UInt16, uuid: tendon_uuid)] = [:]
    private static let limit = 512
    static let serviceChanged: UInt16 = 0x2A05

    var isEmpty: Bool { characteristics.isEmpty }
    /// Another connection may use the handles.
    var isValid: Bool { !isEmpty && changed == nil }

    mutating func add(_ characteristic: tendon_uuid, at handle: UInt16) {
        guard characteristics.count < ReplayTable.limit || characteristics[handle] != nil else { return }
        characteristics[handle] = characteristic
    }

    mutating func addService(_ uuid: tendon_uuid, _ first: UInt16, _ last: UInt16) {
        guard services.count < ReplayTable.limit || services[first] != nil else { return }
        services[first] = (last, uuid)
    }

    /// The service that a handle is in; nil: the capture has no discovery of it.
    func service(of handle: UInt16) -> tendon_uuid? {
        services.first { $0.key <= handle && handle <= $0.value.last }?.value.uuid
    }

    mutating func addConfiguration(at handle: UInt16) {
        if configurations.count < ReplayTable.limit { configurations.insert(handle) }
    }

    /// Service Changed (Core Specification Vol 3 Part G 7.1), or Database Out Of Sync: all handles.
    /// - Parameter value: first and last handle.
    mutating func change(_ value: [UInt8] = []) {
        var range: ClosedRange<UInt16> = 1...UInt16.max
        if value.count == 4 {
            let ends = (UInt16(value[0]) | UInt16(value[1]) << 8, UInt16(value[2]) | UInt16(value[3]) << 8)
            if ends.0 <= ends.1 { range = ends.0...ends.1 }
        }
        if let changed { range = min(changed.lowerBound, range.lowerBound)...max(changed.upperBound, range.upperBound) }
        changed = range
    }

    /// The Database Hash is still the same: nothing has changed.
    mutating func confirm() { changed = nil }

    /// A discovery begins: what has changed is not used any more.
    mutating func discover() {
        guard let changed else { return }
        characteristics = characteristics.filter { !changed.contains($0.key) }
        configurations = configurations.filter { !changed.contains($0) }
        self.changed = nil
    }
}

/// The GATT caches that a gateway has stored: docs/gatt-cache.md. Only read.
struct ReplayCache {
    private let store = CBlock<tendon_gatt_store>()

    /// Nil: no caches are wanted.
    init?(_ storage: GATTCacheStorage) throws(CommandError) {
        let status: tendon_status
        switch storage {
        case .none: return nil
        case .standard: status = tendon_gatt_store_open(store.pointer, nil)
        case .directory(let path): status = path.withCString { tendon_gatt_store_open(store.pointer, $0) }
        }
        let directory = text(of: store.pointer.pointee.journal.directory)
        // To the library a directory that does not exist has no caches; here it is a mistake.
        guard status >= 0, isDirectory(directory) else {
            throw CommandError(.failed, "\(sanitized(directory)): this is not a directory with GATT caches")
        }
    }

    /// What sessions and `Peripheral` have stored of a device; nil: nothing.
    /// - Returns: `failure`: why its file cannot be used, or 0.
    func table(of device: Address) -> (table: ReplayTable?, failure: tendon_status) {
        let kept = CBlock<tendon_gatt_table>()
        var (address, functions) = (device.c, tendon_gatt_store_table_functions(store.pointer))
        tendon_gatt_table_init(kept.pointer, &address, &functions)
        let cache = kept.pointer.pointee.cache
        guard cache.isValid else {
            return (nil, Int(cache.store_status) == TENDON_ERROR_NOT_FOUND ? 0 : min(cache.store_status, 0))
        }
        var table = ReplayTable()
        table.hash = elements(of: cache.record.hash, Int(TENDON_GATT_HASH_SIZE))
        add(cache.record, to: &table)
        add(kept.pointer.pointee.content, to: &table)
        return (table.isEmpty ? nil : table, 0)
    }

    /// The rows of a session; of other programs Service Changed, which is always the first.
    private func add(_ record: tendon_gatt_cache_record, to table: inout ReplayTable) {
        var record = record
        var uuids = [tendon_uuid](repeating: tendon_uuid(), count: Int(TENDON_GATT_CACHE_ROWS))
        let rows: [tendon_gatt_handles] = elements(of: record.rows, Int(record.count))
        if tendon_family_from_cache(&record, &uuids) == nil {
            uuids = [tendon_uuid_from_u16(ReplayTable.serviceChanged)]
            let own = Int(TENDON_PROFILE_OWN_ROWS)
            let definition = Definitions.all.first {
                $0.rows.count + own == rows.count && $0.cacheNumber == record.profile
            }
            if let definition {
                for (found, row) in zip(rows.dropFirst(own), definition.rows) where found.value != 0 {
                    table.add(row.uuid, at: found.value)
                    table.addService(row.service, found.value, found.value)
                    if found.cccd != 0 { table.addConfiguration(at: found.cccd) }
                }
            }
        }
        for (row, uuid) in zip(rows, uuids) where row.value != 0 {
            table.add(uuid, at: row.value)
            if row.cccd != 0 { table.addConfiguration(at: row.cccd) }
        }
    }

    /// The answers of discoveries.
    private func add(_ content: tendon_gatt_table_content, to table: inout ReplayTable) {
        let answers: [tendon_gatt_table_answer] = elements(of: content.answers, Int(content.answer_count))
        var items: ArraySlice<tendon_gatt_table_item> = elements(of: content.items, Int(content.item_count))[...]
        for answer in answers {
            for item in items.prefix(Int(answer.count)) {
                switch UInt32(answer.question.kind) {
                case TENDON_GATT_TABLE_CHARACTERISTICS.rawValue: table.add(item.uuid, at: item.value)
                case TENDON_GATT_TABLE_DESCRIPTORS.rawValue where number(of: item.uuid) == 0x2902:
                    table.addConfiguration(at: item.handle)
                default: break
                }
            }
            items = items.dropFirst(Int(answer.count))
        }
    }
}

extension tendon_gatt_cache {
    fileprivate var isValid: Bool { UInt32(state) == TENDON_GATT_CACHE_VALID.rawValue }
}

/// The 16-bit form; 0: none.
func number(of uuid: tendon_uuid) -> UInt16 {
    var (uuid, number) = (uuid, UInt16(0))
    return tendon_uuid_as_u16(&uuid, &number) ? number : 0
}

/// The identity address as one type, whether the controller resolved it or not; nil: no identity, or not known.
func identity(_ address: Address) -> Address? {
    let cache = CBlock<tendon_gatt_cache>()
    var device = address.c
    tendon_gatt_cache_init(cache.pointer, &device, nil)
    return cache.pointer.pointee.identity ? Address(cache.pointer.pointee.record.device) : nil
}
