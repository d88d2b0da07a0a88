// SPDX-License-Identifier: MIT
import CTendon

/// The attribute table of a program's own device, its values, and who is connected. All of it is for the loop's thread.
final class LocalPeripheralCore: Abandonable, @unchecked Sendable {
    // Used only on the loop's thread; the C core's pointers to it are valid until the host has no link, see `abandon()`.

    /// One characteristic.
    private struct Entry {
        let declaration: LocalCharacteristic
        var value: [UInt8]
    }

    /// One connection.
    private final class Connected {
        let central: ConnectedCentral
        let link: CPointer<tendon_peripheral_link>
        /// The indication that a task waits for.
        var indication: Pending<Void, TendonError>?

        init(_ central: ConnectedCentral, _ link: CPointer<tendon_peripheral_link>) {
            self.central = central
            self.link = link
        }

        var connection: CPointer<tendon_gatt_connection>? { link.pointee.bearer.server }
    }

    /// Prepared writes of one central: a value of 512 bytes in parts of the smallest ATT_MTU.
    private static let preparedCapacity = 29

    let loop: Loop
    let radioName: String
    let address: Address
    let feed: Feed<LocalPeripheral.Event>
    private let radio: RadioCore
    private let interval: Duration
    private let server = CBlock<tendon_gatt_server>()
    private let device = CBlock<tendon_gatt_device>()
    private let attributes: CTable<tendon_gatt_attribute>
    private let places = CTable<tendon_gatt_central>(capacity: Int(TENDON_PERIPHERAL_LINKS))
    private let prepared = CTable<tendon_gatt_prepared>(
        capacity: Int(TENDON_PERIPHERAL_LINKS) * LocalPeripheralCore.preparedCapacity)
    private var cccds: CTable<UInt16>?
    /// What the C core borrows: fixed values, the advertising data, and the value that was read last.
    private var fixed: [CBytes] = []
    private var advertised: [CBytes] = []
    private var present = (data: AdvertisingData(), response: AdvertisingData())
    private var lent: CBytes?
    private var entries: [UInt16: Entry] = [:]
    private var handles: [LocalCharacteristic.ID: UInt16] = [:]
    private var host: HostCore?
    private var connected: [Connected] = []
    private var connections: UInt64 = 0
    private let writers = Waiters()
    private var ending: [Parking] = []
    private(set) var failure: TendonError?

    init(
        _ radio: RadioCore, isShared: Bool, _ options: LocalPeripheral.Options, _ services: [LocalService]
    ) throws(TendonError) {
        self.radio = radio
        loop = radio.loop
        radioName = radio.name
        address = radio.address
        interval = options.interval
        feed = Feed(radio.loop)
        // Generic Access has five attributes, Generic Attribute six.
        attributes = CTable(capacity: services.reduce(11) { $0 + $1.attributeCount })
        try build(options, services)
        try prepare(options, services)
        let subscriptions = try options.subscriptions.open()
        let host = HostCore(
            radio, isShared: isShared, device: tendon_gatt_device_peripheral(device.pointer), memory: self)
        host.keepSubscriptions(in: subscriptions)
        host.onConnected = { [unowned self] in arrived($0) }
        host.onDisconnected = { [unowned self] in left($0, $1) }
        host.onIdle = { [unowned self] in settle() }
        self.host = host
        radio.onFailure(of: self) { [unowned self] in failed($0) }
    }

    // MARK: The table

    private func build(_ options: LocalPeripheral.Options, _ services: [LocalService]) throws(TendonError) {
        var handlers = tendon_gatt_handlers()
        handlers.context = context(of: self)
        handlers.read = { context, connection, handle, value, length in
            guard let connection, let value, let length else { return Int32(TENDON_ERROR_INVALID_ARGUMENT) }
            switch object(LocalPeripheralCore.self, context).read(connection, handle) {
            case .success(let bytes):
                value.pointee = UnsafePointer(bytes.pointer)
                length.pointee = bytes.count
                return 0
            case .failure(let error): return error.status
            }
        }
        handlers.write = { context, connection, handle, offset, value, length, isCommand, _ in
            guard let connection else { return Int32(TENDON_ERROR_INVALID_ARGUMENT) }
            let request = WriteRequest(
                value: copied(value, length), offset: Int(offset), isWithoutResponse: isCommand)
            return object(LocalPeripheralCore.self, context).write(connection, handle, request)
        }
        handlers.subscribed = { context, connection, handle, bits, _ in
            if let connection { object(LocalPeripheralCore.self, context).subscribed(connection, handle, bits) }
        }
        handlers.confirmed = { context, connection, _, status, _ in
            if let connection { object(LocalPeripheralCore.self, context).confirmed(connection, status) }
        }
        tendon_gatt_server_init(server.pointer, attributes.pointer, attributes.capacity, &handlers)
        let (name, appearance) = (CBytes(Array(options.name.utf8)), CBytes(littleEndian: options.appearance))
        fixed = [name, appearance]
        tendon_gatt_add_generic_access(server.pointer, name.text, name.count, appearance.pointer)
        for service in services { try add(service) }
        try check(tendon_gatt_add_generic_attribute(server.pointer), .start)
    }

    private func add(_ service: LocalService) throws(TendonError) {
        var uuid = service.uuid.c
        try check(tendon_gatt_add_service(server.pointer, &uuid, true), .start)
        for characteristic in service.characteristics {
            guard handles[characteristic.id] == nil else {
                throw TendonError(status: Int32(TENDON_ERROR_INVALID_ARGUMENT), operation: .start)
            }
            try Self.checkLength(characteristic.value, .start)
            var uuid = characteristic.uuid.c
            let handle = try check(
                tendon_gatt_add_characteristic(
                    server.pointer, &uuid, characteristic.properties.rawValue, characteristic.permissions), .start)
            entries[UInt16(handle)] = Entry(declaration: characteristic, value: characteristic.value)
            handles[characteristic.id] = UInt16(handle)
            for descriptor in characteristic.descriptors { try add(descriptor) }
        }
    }

    private func add(_ descriptor: LocalDescriptor) throws(TendonError) {
        let value = CBytes(descriptor.value)
        var uuid = descriptor.uuid.c
        fixed.append(value)
        let handle = try check(
            tendon_gatt_add_descriptor(server.pointer, &uuid, UInt8(TENDON_GATT_PERMIT_READ)), .start)
        try check(tendon_gatt_set_static(server.pointer, UInt16(handle), value.pointer, value.count), .start)
    }

    private func prepare(_ options: LocalPeripheral.Options, _ services: [LocalService]) throws(TendonError) {
        let count = server.pointer.pointee.cccd_count
        let cccds = CTable<UInt16>(capacity: places.capacity * count)
        self.cccds = cccds
        var config = tendon_gatt_device_config()
        config.centrals = tendon_gatt_centrals(
            places: places.pointer, capacity: places.capacity, cccds: cccds.pointer, cccd_capacity: count,
            prepared: prepared.pointer, prepared_capacity: Self.preparedCapacity)
        config.pairable = services.contains { $0.characteristics.contains(where: \.requiresEncryption) }
        config.context = context(of: self)
        config.ready = { context, _ in object(LocalPeripheralCore.self, context).writers.finish(.success(())) }
        try check(tendon_gatt_device_init(device.pointer, server.pointer, &config), .start)
        present = (
            options.advertisement ?? .standard(for: services), options.scanResponse ?? .standard(name: options.name)
        )
        try advertise(present.data, present.response)
        if config.pairable, radio.pairing == nil {
            throw radio.bondFailure
                ?? TendonError(status: Int32(TENDON_RADIO_ERROR_NO_PAIRING_SERVICE), operation: .pair)
        }
    }

    private func advertise(_ data: AdvertisingData, _ response: AdvertisingData) throws(TendonError) {
        let lent = [CBytes(data.bytes), CBytes(response.bytes)]
        try check(
            tendon_gatt_device_set_advertisement(
                device.pointer, lent[0].pointer, lent[0].count, lent[1].pointer, lent[1].count), .advertise)
        advertised = lent
    }

    // MARK: Advertising

    var isAdvertising: Bool { host?.isAdvertising ?? false }

    var subscriptionFailure: TendonError? { host?.subscriptionFailure }

    func start() throws(TendonError) {
        if let failure { throw failure }
        try host?.open(interval)
        settle()  // a stop that still waits for connections: they end meanwhile
    }

    func pause() throws(TendonError) { try host?.pause() }

    func readvertise(_ data: AdvertisingData?, _ response: AdvertisingData?) throws(TendonError) {
        if let failure { throw failure }
        guard let host, host.isOpen else {
            throw TendonError(status: Int32(TENDON_ERROR_WRONG_STATE), operation: .advertise)
        }
        present = (data ?? present.data, response ?? present.response)
        try advertise(present.data, present.response)
        try host.readvertise()
    }

    func stop(isolation: isolated (any Actor)? = #isolation) async {
        host?.close()
        while let host, !host.isOpen, host.connections > 0 {
            let parking = Parking(loop)
            ending.append(parking)
            await parking.wait()
        }
    }

    func abandon() {
        radio.onFailure(of: self, nil)
        feed.close(failure)
        // The host keeps this object until the last connection has ended.
        host?.abandon()
        host = nil
    }

    private func failed(_ error: TendonError) {
        failure = error
        feed.close(error)
        // The C core is in a callback of the radio.
        loop.post { [self] in host?.close() }
    }

    // MARK: Centrals

    var centrals: [ConnectedCentral] { connected.map(\.central) }

    private func find(_ central: ConnectedCentral, _ operation: TendonError.Operation) throws(TendonError) -> Connected
    {
        guard let one = connected.first(where: { $0.central == central }) else { throw .disconnected(operation) }
        return one
    }

    private func find(_ connection: CPointer<tendon_gatt_connection>) -> Connected? {
        connected.first { $0.connection == connection }
    }

    private func arrived(_ link: CPointer<tendon_peripheral_link>) {
        connections += 1
        let central = ConnectedCentral(id: connections, address: Address(link.pointee.link.peer))
        connected.append(Connected(central, link))
        feed.push(.connected(central))
    }

    private func left(_ link: CPointer<tendon_peripheral_link>, _ reason: tendon_status) {
        guard let index = connected.firstIndex(where: { $0.link == link }) else { return }
        let one = connected.remove(at: index)
        // The C core has ended the indication, but could not be asked any more whose it was.
        one.indication?.finish(.failure(.disconnected(.notify)))
        let isOurs = reason >= 0 || reason == Int32(TENDON_ERROR_CANCELLED)
        feed.push(.disconnected(one.central, isOurs ? nil : TendonError(status: reason, operation: .receive)))
        writers.finish(.success(()))
    }

    /// Closed, and the last connection has ended, served or not; or open again.
    private func settle() {
        let all = ending
        ending.removeAll()
        for parking in all { parking.resume() }
    }

    func mtu(of central: ConnectedCentral) -> Int? {
        (try? find(central, .receive)).map { Int($0.link.pointee.bearer.mtu) }
    }

    func disconnect(_ central: ConnectedCentral) {
        guard let one = try? find(central, .receive) else { return }
        tendon_link_close(member(one.link, \.link))
        host?.refresh()
    }

    func setPairingAgent(_ agent: PairingAgent) throws(TendonError) { try host?.setPairingAgent(agent) }

    // MARK: What centrals do

    private func read(
        _ connection: CPointer<tendon_gatt_connection>, _ handle: UInt16
    ) -> Result<CBytes, AttributeError> {
        guard let entry = entries[handle], let central = find(connection)?.central else {
            return .failure(.unlikelyError)
        }
        do throws(AttributeError) {
            let bytes = CBytes(try entry.declaration.onRead?(central) ?? entry.value)
            lent = bytes
            feed.push(.read(central, entry.declaration.id))
            return .success(bytes)
        } catch {
            return .failure(error)
        }
    }

    private func write(
        _ connection: CPointer<tendon_gatt_connection>, _ handle: UInt16, _ request: WriteRequest
    ) -> tendon_status {
        guard let entry = entries[handle], let central = find(connection)?.central else {
            return AttributeError.unlikelyError.status
        }
        do throws(AttributeError) {
            if let onWrite = entry.declaration.onWrite {
                try onWrite(central, request)
            } else {
                guard request.offset <= entry.value.count else { throw .invalidOffset }
                entries[handle]?.value = Array(entry.value.prefix(request.offset)) + request.value
            }
            feed.push(.wrote(central, entry.declaration.id, request))
            return 0
        } catch {
            return error.status
        }
    }

    private func subscribed(_ connection: CPointer<tendon_gatt_connection>, _ handle: UInt16, _ bits: UInt16) {
        // Service Changed is not declared.
        guard let entry = entries[handle], let central = find(connection)?.central else { return }
        feed.push(.subscribed(central, entry.declaration.id, Subscriptions(rawValue: UInt8(bits & 3))))
    }

    private func confirmed(_ connection: CPointer<tendon_gatt_connection>, _ status: tendon_status) {
        guard let one = find(connection), let indication = one.indication else { return }
        one.indication = nil
        indication.finish(status >= 0 ? .success(()) : .failure(TendonError(status: status, operation: .notify)))
    }

    // MARK: Values

    private func handle(
        of characteristic: LocalCharacteristic, _ operation: TendonError.Operation
    ) throws(TendonError) -> UInt16 {
        guard let handle = handles[characteristic.id] else {
            throw TendonError(status: Int32(TENDON_ERROR_NOT_FOUND), operation: operation)
        }
        return handle
    }

    private static func checkLength(
        _ value: [UInt8], _ operation: TendonError.Operation
    ) throws(TendonError) {
        guard value.count <= InlineBytes.capacity else {
            throw TendonError(status: Int32(TENDON_GATT_ERROR_VALUE_TOO_LONG), operation: operation)
        }
    }

    func value(of characteristic: LocalCharacteristic) throws(TendonError) -> [UInt8] {
        entries[try handle(of: characteristic, .read)]?.value ?? []
    }

    func setValue(_ value: [UInt8], for characteristic: LocalCharacteristic) throws(TendonError) {
        try Self.checkLength(value, .write)
        entries[try handle(of: characteristic, .write)]?.value = value
    }

    func subscriptions(
        of central: ConnectedCentral, to characteristic: LocalCharacteristic
    ) throws(TendonError) -> Subscriptions {
        let one = try find(central, .subscribe)
        let handle = try handle(of: characteristic, .subscribe)
        guard let connection = one.connection else { return [] }
        return Subscriptions(rawValue: UInt8(tendon_gatt_connection_cccd(connection, handle) & 3))
    }

    /// The centrals whose connections are full.
    func notify(_ value: [UInt8], for characteristic: LocalCharacteristic) throws(TendonError) -> [ConnectedCentral] {
        try Self.checkLength(value, .notify)
        let handle = try handle(of: characteristic, .notify)
        var blocked: UInt32 = 0
        try check(lending(value) { tendon_gatt_device_notify(device.pointer, handle, $0, $1, &blocked) }, .notify)
        guard blocked != 0 else { return [] }
        return connected.filter { one in
            guard let connection = one.connection else { return false }
            let place = tendon_gatt_centrals_index(places.pointer, places.capacity, connection)
            return place >= 0 && blocked & 1 << UInt32(place) != 0
        }.map(\.central)
    }

    func notify(
        _ value: [UInt8], for characteristic: LocalCharacteristic, to central: ConnectedCentral
    ) throws(TendonError) {
        try Self.checkLength(value, .notify)
        let handle = try handle(of: characteristic, .notify)
        guard let connection = try find(central, .notify).connection else { throw .disconnected(.notify) }
        try check(lending(value) { tendon_gatt_notify(connection, handle, $0, $1) }, .notify)
    }

    func indicate(
        _ value: [UInt8], for characteristic: LocalCharacteristic, to central: ConnectedCentral,
        isolation: isolated (any Actor)? = #isolation
    ) async throws(TendonError) {
        guard !Task.isCancelled else { throw .cancelled }
        try Self.checkLength(value, .notify)
        let handle = try handle(of: characteristic, .notify)
        let one = try find(central, .notify)
        guard let connection = one.connection else { throw .disconnected(.notify) }
        let pending = Pending<Void, TendonError>(loop)
        try check(
            lending(value) { tendon_gatt_indicate(connection, handle, $0, $1, tendon_monotonic_ms()) }, .notify)
        one.indication = pending
        host?.refresh()
        try await pending.value()
    }

    /// Whether a task waits for a confirmation; for tests.
    var isIndicating: Bool { connected.contains { $0.indication?.isFinished == false } }

    /// Waits until the connection of a central, or of all, takes PDUs again.
    func ready(
        _ central: ConnectedCentral?, within timeout: Duration?, isolation: isolated (any Actor)? = #isolation
    ) async throws(TendonError) {
        let deadline = Duration.deadline(timeout)
        guard !Task.isCancelled else { throw .cancelled }
        while true {
            let watched = try central.map { central throws(TendonError) in [try find(central, .notify)] } ?? connected
            guard watched.contains(where: { $0.link.pointee.link.blocked }) else { return }
            try await writers.wait(until: deadline, .notify, on: loop)
        }
    }
}

extension CBytes {
    /// Two bytes, the least significant first.
    convenience init(littleEndian value: UInt16) { self.init([UInt8(value & 0xFF), UInt8(value >> 8)]) }
}
