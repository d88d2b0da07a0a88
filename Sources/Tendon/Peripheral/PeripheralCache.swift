// SPDX-License-Identifier: MIT
import CTendon

/// Reads the Database Hash of a device and enables Service Changed, so that the C core knows whether the answers that it
/// keeps are valid. For the loop's thread.
private final class HashCheck: @unchecked Sendable {
    // Used only on the loop's thread.
    private let core: PeripheralCore
    private let profile = CBlock<tendon_profile>()
    /// A discovery without rows has no results.
    private let noRows = CBlock<tendon_profile_found>()
    private let result: Pending<Int32, TendonError>

    init(_ core: PeripheralCore) {
        self.core = core
        result = Pending(core.loop)
    }

    func run(
        timeout: Duration?, isolation: isolated (any Actor)? = #isolation
    ) async throws(TendonError) -> tendon_status {
        let me = retainedContext(of: self)
        let now = tendon_monotonic_ms()
        let started = tendon_profile_start(
            profile.pointer, core.client, nil, noRows.pointer, 0,
            { context, status, _, _ in released(HashCheck.self, context).result.finish(.success(status)) }, me, now)
        guard started >= 0 else {
            _ = released(HashCheck.self, me)
            throw TendonError(status: started, operation: .discover)
        }
        if let timeout { tendon_profile_limit(profile.pointer, UInt32(clamping: timeout.milliseconds), now) }
        core.refresh()
        return try await result.value { [self] in cancel() }
    }

    private func cancel() {
        tendon_profile_cancel(profile.pointer, tendon_monotonic_ms())
        core.refresh()
        _ = released(HashCheck.self, context(of: self))
    }
}

/// The discoveries of a peripheral, with a GATT cache if its radio has a store of them: the C core decides what is
/// valid, see `tendon/linux/gatt_table.h`.
extension PeripheralCore {
    /// Discovers, or takes the answer of an earlier connection. `start` starts the request, which fills the table.
    func discover<Item>(
        _ question: tendon_gatt_table_question, of type: Item.Type, timeout: Duration?,
        isolation: isolated (any Actor)? = #isolation,
        _ start: (CTable<Item>, tendon_gatt_done, CContext, UInt64) -> tendon_status
    ) async throws(TendonError) -> [Item] {
        do {
            return try await answer(question, timeout, start)
        } catch {
            guard let cache, tendon_gatt_table_repeats(cache.pointer, error.status) else { throw error }
            return try await answer(question, timeout, start)
        }
    }

    private func answer<Item>(
        _ question: tendon_gatt_table_question, _ timeout: Duration?, isolation: isolated (any Actor)? = #isolation,
        _ start: (CTable<Item>, tendon_gatt_done, CContext, UInt64) -> tendon_status
    ) async throws(TendonError) -> [Item] {
        try await check(timeout)
        var table = CTable<Item>(capacity: 64)
        if let count = find(question, table) { return table.first(count) }
        while true {
            do {
                return try await request(question, table, timeout, start)
            } catch  where error.status == Int32(TENDON_ERROR_TABLE_FULL) && table.capacity < Self.mostItems {
                // Few devices have so many: the request is repeated with a larger table.
                table = CTable(capacity: min(8 * table.capacity, Self.mostItems))
            }
        }
    }

    /// Items have a handle each.
    private static let mostItems = 0xFFFF

    private func request<Item>(
        _ question: tendon_gatt_table_question, _ table: CTable<Item>, _ timeout: Duration?,
        isolation: isolated (any Actor)? = #isolation,
        _ start: (CTable<Item>, tendon_gatt_done, CContext, UInt64) -> tendon_status
    ) async throws(TendonError) -> [Item] {
        let generation = cache?.pointer.pointee.generation ?? 0
        let request = Request(self, .discover, lending: table)
        try await request.run(timeout: timeout) { start(table, $0, $1, $2) }
        if let cache {
            var question = question
            tendon_gatt_table_keep(cache.pointer, generation, &question, table.pointer, request.count)
        }
        return table.first(request.count)
    }

    private func check(
        _ timeout: Duration?, isolation: isolated (any Actor)? = #isolation
    ) async throws(TendonError) {
        guard let cache else { return }
        guard !Task.isCancelled else { throw .cancelled }
        guard state == .connected else { throw .disconnected(.discover) }
        guard tendon_gatt_table_needs_check(cache.pointer) else { return }
        let status = try await HashCheck(self).run(timeout: timeout)
        try Tendon.check(tendon_gatt_table_checked(cache.pointer, status), .discover)
    }

    private func find<Item>(_ question: tendon_gatt_table_question, _ table: CTable<Item>) -> Int? {
        guard let cache else { return nil }
        var question = question
        let count = tendon_gatt_table_find(cache.pointer, &question, table.pointer, table.capacity)
        return count < 0 ? nil : Int(count)
    }

    /// Enables notifications or indications; returns when the device has confirmed it.
    func enable(
        _ characteristic: Characteristic, _ subscription: Subscription, timeout: Duration?,
        isolation: isolated (any Actor)? = #isolation
    ) async throws(TendonError) {
        let generation = cache?.pointer.pointee.generation ?? 0
        let received: tendon_gatt_on_value = { context, value, now in
            guard let value = value?.pointee else { return }
            object(Subscription.self, context).received(AttributeValue(value, time: now))
        }
        var c = characteristic.c
        try await Request(self, .subscribe).run(timeout: timeout) { done, context, now in
            let target = Tendon.context(of: subscription)
            guard let cache else {
                return tendon_gatt_subscribe_characteristic(
                    client, &c, subscription.isIndication, received, target, done, context, now)
            }
            return tendon_gatt_table_subscribe(
                cache.pointer, client, &c, subscription.isIndication, received, target, done, context, now)
        }
        if let cache { tendon_gatt_table_subscribed(cache.pointer, generation, client, &c) }
    }

    /// Service Changed is disabled with the last sequence of its changes; then only the hash shows one.
    func unsubscribed(_ subscription: Subscription) {
        guard let cache, subscription.handle == client.pointee.service_changed_handle else { return }
        tendon_gatt_table_recheck(cache.pointer)
    }
}

extension tendon_gatt_table_question {
    init(_ kind: tendon_gatt_table_kind, _ start: UInt16, _ end: UInt16, _ uuid: BluetoothUUID? = nil) {
        self.init(kind: UInt8(kind.rawValue), start: start, end: end, uuid: uuid?.c ?? tendon_uuid())
    }
}
