// SPDX-License-Identifier: MIT
import CTendon

/// A connected device. The connection ends when the last reference to it and to its sequences is released.
///
/// ```swift
/// let peripheral = try await central.connect(address)
/// let battery = try await peripheral.characteristic(0x2A19, in: 0x180F)
/// print(try await peripheral.read(battery))
/// ```
@TendonActor
public final class Peripheral {
    /// State of the connection.
    public enum State: Sendable, Hashable {
        /// Connecting.
        case connecting
        /// Connected: requests can be sent.
        case connected
        /// Disconnected, with the reason; `nil` if requested.
        case disconnected(TendonError?)
    }

    /// Default timeout of a request.
    public nonisolated static let timeout: Duration = .seconds(5)

    nonisolated let core: PeripheralCore
    /// The device's address.
    public nonisolated let address: Address

    init(_ core: PeripheralCore) {
        self.core = core
        address = core.address
    }

    deinit {
        let core = core
        core.loop.post { core.abandon() }
    }

    // MARK: The connection

    /// The current state; `states()` reports changes.
    public var state: State { core.state }

    /// The current state and all later states.
    public func states() -> EventSequence<State> { EventSequence(core.observe(keeping: self)) }

    /// ATT_MTU in force.
    public var mtu: Int { core.mtu }

    /// Asks for other parameters of the connection; those of the central stay. Does not wait: what the two controllers
    /// agree on is in ``Central/connectionTimings()`` later, which stays as it is if they refuse. Requires CAP_NET_RAW.
    ///
    /// ```swift
    /// try await peripheral.setConnectionParameters(.lowPower)
    /// ```
    /// - Throws: `TENDON_ERROR_UNSUPPORTED` if the adapter does not have the PHY or no data length, and on the virtual
    ///   radio; `TENDON_ERROR_DISCONNECTED` if the device is not connected.
    public func setConnectionParameters(_ parameters: ConnectionParameters) throws(TendonError) {
        try core.setConnectionParameters(parameters)
    }

    /// Connects again after the connection was lost or closed. Cancelling the task ends the attempt.
    public func connect(_ options: ConnectOptions = ConnectOptions()) async throws(TendonError) {
        guard !Task.isCancelled else { throw .cancelled }
        try core.connect(options)
        let connection = core.connections
        await withTaskCancellationHandler {
            while core.isConnecting(connection) { await core.change() }
        } onCancel: {
            core.loop.post { [core] in core.disconnect(connection) }
        }
        if core.hasEnded(connection) {
            if Task.isCancelled { throw .cancelled }
            throw core.ending ?? TendonError(status: Int32(TENDON_ERROR_CANCELLED), operation: .connect)
        }
        if options.exchangesMTU {
            do {
                try await Request(core, .exchangeMTU).run(timeout: options.timeout) {
                    tendon_gatt_exchange_mtu(core.client, $0, $1, $2)
                }
            } catch  where error.layer == .att {
                // A peer that cannot negotiate keeps the MTU of 23.
            } catch {
                await end(connection)
                throw error
            }
        }
    }

    /// Disconnects and waits until the connection has ended.
    public func disconnect() async { await end(core.connections) }

    private func end(_ connection: UInt64) async {
        core.disconnect(connection)
        while !core.hasEnded(connection) { await core.change() }
    }

    /// Pairs as the central's ``PairingAgent`` requires: when this returns, the connection is encrypted and the bond is
    /// stored. Later connections to this device are encrypted automatically, until `Central.forget(_:)`. Cancelling the
    /// task ends the attempt, if nothing else waits for it. A request that the device rejects for lack of security pairs
    /// by itself, once. While a request or another task is pairing, this waits for the same result.
    public func pair() async throws(TendonError) { try await core.pair() }

    /// Whether the connection is encrypted, by pairing or with the key of a bond.
    public var isEncrypted: Bool { core.block.pointer.pointee.link.encrypted }

    // MARK: Services and characteristics

    /// All primary services, or those of one UUID.
    public func discoverServices(
        _ uuid: BluetoothUUID? = nil, timeout: Duration? = Peripheral.timeout
    ) async throws(TendonError) -> [Service] {
        let question = tendon_gatt_table_question(TENDON_GATT_TABLE_SERVICES, 1, 0xFFFF, uuid)
        return try await core.discover(question, of: tendon_gatt_service.self, timeout: timeout) {
            table, done, context, now in
            guard var wanted = uuid?.c else {
                return tendon_gatt_discover_services(core.client, table.pointer, table.capacity, done, context, now)
            }
            return tendon_gatt_discover_services_by_uuid(
                core.client, &wanted, table.pointer, table.capacity, done, context, now)
        }.map(Service.init)
    }

    /// All services that `service` includes.
    public func includedServices(
        of service: Service, timeout: Duration? = Peripheral.timeout
    ) async throws(TendonError) -> [Service] {
        let (start, end) = (service.start.rawValue, service.end.rawValue)
        let question = tendon_gatt_table_question(TENDON_GATT_TABLE_INCLUDED, start, end)
        return try await core.discover(question, of: tendon_gatt_service.self, timeout: timeout) {
            table, done, context, now in
            tendon_gatt_find_included(core.client, start, end, table.pointer, table.capacity, done, context, now)
        }.map(Service.init)
    }

    /// All characteristics of a service, or those of one UUID.
    public func discoverCharacteristics(
        _ uuid: BluetoothUUID? = nil, of service: Service, timeout: Duration? = Peripheral.timeout
    ) async throws(TendonError) -> [Characteristic] {
        let (start, end) = (service.start.rawValue, service.end.rawValue)
        let question = tendon_gatt_table_question(TENDON_GATT_TABLE_CHARACTERISTICS, start, end, uuid)
        return try await core.discover(question, of: tendon_gatt_characteristic.self, timeout: timeout) {
            table, done, context, now in
            guard var wanted = uuid?.c else {
                return tendon_gatt_discover_characteristics(
                    core.client, start, end, table.pointer, table.capacity, done, context, now)
            }
            return tendon_gatt_discover_characteristics_by_uuid(
                core.client, start, end, &wanted, table.pointer, table.capacity, done, context, now)
        }.map(Characteristic.init)
    }

    /// The first characteristic of this UUID, in the first service of that UUID which has one.
    ///
    /// ```swift
    /// let rate = try await peripheral.characteristic(0x2A37, in: 0x180D)
    /// ```
    /// - Throws: `TENDON_ERROR_NOT_FOUND` if the device has none; the error's detail says what is missing.
    public func characteristic(
        _ uuid: BluetoothUUID, in service: BluetoothUUID, timeout: Duration? = Peripheral.timeout
    ) async throws(TendonError) -> Characteristic {
        let services = try await discoverServices(service, timeout: timeout)
        for found in services {
            if let first = try await discoverCharacteristics(uuid, of: found, timeout: timeout).first { return first }
        }
        throw TendonError(
            status: Int32(TENDON_ERROR_NOT_FOUND), operation: .discover,
            detail: services.isEmpty ? "service \(service)" : "characteristic \(uuid) of service \(service)")
    }

    /// All descriptors of a characteristic.
    public func discoverDescriptors(
        of characteristic: Characteristic, timeout: Duration? = Peripheral.timeout
    ) async throws(TendonError) -> [Descriptor] {
        guard characteristic.handle.rawValue < characteristic.end.rawValue else { return [] }
        let (start, end) = (characteristic.handle.rawValue + 1, characteristic.end.rawValue)
        let question = tendon_gatt_table_question(TENDON_GATT_TABLE_DESCRIPTORS, start, end)
        return try await core.discover(question, of: tendon_gatt_descriptor.self, timeout: timeout) {
            table, done, context, now in
            tendon_gatt_discover_descriptors(core.client, start, end, table.pointer, table.capacity, done, context, now)
        }.map(Descriptor.init)
    }

    // MARK: Values

    /// Reads the whole value (at most 512 bytes).
    public func read(
        _ handle: AttributeHandle, timeout: Duration? = Peripheral.timeout
    ) async throws(TendonError) -> [UInt8] {
        let buffer = CBytes(count: InlineBytes.capacity)
        let request = Request(core, .read, lending: buffer)
        try await request.run(timeout: timeout) { done, context, now in
            tendon_gatt_read_long(
                core.client, handle.rawValue, 0, buffer.pointer, buffer.count, done, context, now)
        }
        return request.value
    }

    /// Reads the whole value of a characteristic (at most 512 bytes). If the device rejects the read, throws an error
    /// of the layer `att`.
    public func read(
        _ characteristic: Characteristic, timeout: Duration? = Peripheral.timeout
    ) async throws(TendonError) -> [UInt8] {
        try await read(characteristic.handle, timeout: timeout)
    }

    /// Writes and waits for the response; a long value is written in parts.
    public func write(
        _ value: [UInt8], to handle: AttributeHandle, timeout: Duration? = Peripheral.timeout
    ) async throws(TendonError) {
        let bytes = CBytes(value)
        try await Request(core, .write, lending: bytes).run(timeout: timeout) { done, context, now in
            tendon_gatt_write_value(core.client, handle.rawValue, bytes.pointer, bytes.count, done, context, now)
        }
    }

    /// Writes a characteristic and waits for the response; a long value is written in parts.
    public func write(
        _ value: [UInt8], to characteristic: Characteristic, timeout: Duration? = Peripheral.timeout
    ) async throws(TendonError) {
        try await write(value, to: characteristic.handle, timeout: timeout)
    }

    /// Sends a write without response. Throws `ERROR_WOULD_BLOCK` if the connection cannot send now (wait for
    /// `readyToWriteWithoutResponse`), and an error if the value is longer than `mtu` -
    /// 3.
    public func writeWithoutResponse(_ value: [UInt8], to handle: AttributeHandle) throws(TendonError) {
        guard core.state == .connected else { throw .disconnected(.write) }
        try check(
            lending(value) { tendon_gatt_write_command(core.client, handle.rawValue, $0, $1) }, .write)
    }

    /// Returns when writes without response can be sent: immediately, or after the system's queue of this connection,
    /// which a write found full (`ERROR_WOULD_BLOCK`), has space again. Throws when the connection is lost.
    public func readyToWriteWithoutResponse(timeout: Duration? = Peripheral.timeout) async throws(TendonError) {
        try await core.ready(within: timeout)
    }

    // MARK: Notifications and indications

    /// Notifications of a characteristic from now on. Any number of sequences at the same time; when the last one is
    /// released, notifications are disabled. The sequence throws when the connection is lost, and ends when the
    /// application closes it. Throws `ERROR_BUSY` while indications of the same characteristic are enabled.
    public func notifications(
        of characteristic: Characteristic, capacity: Int = 64, policy: OverflowPolicy = .dropNewest,
        timeout: Duration? = Peripheral.timeout
    ) async throws(TendonError) -> EventSequence<AttributeValue> {
        try await subscribe(characteristic, false, capacity, policy, timeout)
    }

    /// The same for indications, which are confirmed when they arrive. Throws `ERROR_BUSY` while notifications of the
    /// same characteristic are enabled.
    public func indications(
        of characteristic: Characteristic, capacity: Int = 64, policy: OverflowPolicy = .dropNewest,
        timeout: Duration? = Peripheral.timeout
    ) async throws(TendonError) -> EventSequence<AttributeValue> {
        try await subscribe(characteristic, true, capacity, policy, timeout)
    }

    // MARK: Changes of the services

    /// Ranges of attribute handles that the device reports as changed (Service Changed, Core Specification Vol 3 Part G
    /// 7.1), from now on: what was discovered in them is stale, discover it again. The sequence throws when the
    /// connection is lost, and ends when the application closes it: after a reconnection, create another one. At most 16 ranges are buffered; then new ones are dropped, see `EventSequence.dropped`. Throws
    /// `ERROR_NOT_FOUND` if the device has no such characteristic: its services do not change.
    public func serviceChanges(
        timeout: Duration? = Peripheral.timeout
    ) async throws(TendonError) -> EventSequence<ClosedRange<AttributeHandle>> {
        let found = try await characteristic(0x2A05, in: 0x1801, timeout: timeout)
        // Before they are enabled: the first can come right behind the response.
        tendon_gatt_client_set_service_changed(core.client, found.handle.rawValue)
        let queue = core.observeChanges()
        do {
            let indications = try await subscribe(found, true, 1, .dropNewest, timeout)
            core.keep(indications, for: queue)
        } catch {
            queue.terminate()
            throw error
        }
        return EventSequence(queue)
    }

    private func subscribe(
        _ characteristic: Characteristic, _ indicate: Bool, _ capacity: Int, _ policy: OverflowPolicy,
        _ timeout: Duration?
    ) async throws(TendonError) -> EventSequence<AttributeValue> {
        let handle = characteristic.handle.rawValue
        while let existing = core.subscription(handle) {
            guard existing.isIndication == indicate else {
                throw TendonError(status: Int32(TENDON_ERROR_BUSY), operation: .subscribe)
            }
            if existing.isActive {
                return EventSequence(core.listen(to: existing, capacity: capacity, policy: policy, for: self))
            }
            // Another task is enabling it: if that fails or is cancelled, this task enables it.
            try await existing.settled(within: timeout, on: core.loop)
        }
        let subscription = PeripheralCore.Subscription(handle, isIndication: indicate)
        core.add(subscription)
        let queue = core.listen(to: subscription, capacity: capacity, policy: policy, for: self)
        do {
            try await core.enable(characteristic, subscription, timeout: timeout)
        } catch {
            core.remove(subscription)
            throw error
        }
        subscription.activate()
        return EventSequence(queue)
    }
}
