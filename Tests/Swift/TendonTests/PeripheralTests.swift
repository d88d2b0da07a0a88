// SPDX-License-Identifier: MIT
import CTendon
import Synchronization
import TestSupport
import Testing

@testable import Tendon

/// A central and a peripheral, with a simulated wearable for a device.
@Suite(.timeLimit(.minutes(1)))
struct PeripheralTests {
    private let sensorData: BluetoothUUID = "56a72ab8-4988-4cc8-a752-fbd1d54a953d"
    private let gestureData: BluetoothUUID = "9014dd4e-79ba-4802-a275-894d3b85ac74"

    private func connect(_ site: Site) async throws -> (Central, Peripheral) {
        let central = try await Central(radio: site.radio)
        return (central, try await central.connect(site.address))
    }

    private func characteristic(_ peripheral: Peripheral) async throws -> Characteristic {
        let service = try #require(try await peripheral.discoverServices("fdd2").first)
        return try #require(try await peripheral.discoverCharacteristics(sensorData, of: service).first)
    }

    private func subscribed(_ peripheral: Peripheral, _ characteristic: Characteristic) async -> Bool {
        let (core, handle) = (peripheral.core, characteristic.handle.rawValue)
        return await onLoop {
            let table = first(of: core.block.member(\.subscriptions), as: tendon_gatt_subscription.self)
            let isInC = (0..<Int(TENDON_CONNECTION_SUBSCRIPTIONS)).contains { table[$0].value_handle == handle }
            #expect(isInC == (core.subscription(handle) != nil))
            return isInC
        }
    }

    /// Nothing is asked for a characteristic whose value is the last attribute of its range.
    @Test func descriptorsOfEveryCharacteristic() async throws {
        let site = try await Site()
        let (_, peripheral) = try await connect(site)
        let service = try #require(try await peripheral.discoverServices("fdd2").first)
        var counts: Set<Int> = []
        for characteristic in try await peripheral.discoverCharacteristics(of: service) {
            let descriptors = try await peripheral.discoverDescriptors(of: characteristic)
            #expect(descriptors.count == Int(characteristic.end.rawValue - characteristic.handle.rawValue))
            #expect(descriptors.allSatisfy { $0.uuid == "2902" })
            counts.insert(descriptors.count)
        }
        #expect(counts == [0, 1])
    }

    @Test func aScanKeepsItsCentral() async throws {
        let site = try await Site()
        func scan() async throws -> EventSequence<Advertisement> { try await Central(radio: site.radio).scan() }
        var count = 0
        for try await _ in try await scan() {
            count += 1
            if count == 3 { break }
        }
        #expect(count == 3)
    }

    /// The virtual radio knows no signal: what a controller has answered is written by the test.
    @Test func theSignalsOfConnections() async throws {
        let site = try await Site()
        let (central, peripheral) = try await connect(site)
        #expect(await central.connectionSignals() == [:])
        let core = central.core
        await onLoop { core.radio.pointee.links.pointee.rssi = -61 }
        #expect(await central.connectionSignals() == [site.address: -61])
        // Each call asks the controller for the next.
        let asking = CBlock<tendon_radio_ops>()
        let before = await onLoop {
            let before = UInt(bitPattern: core.radio.pointee.ops)
            asking.pointer.pointee = core.radio.pointee.ops.pointee
            asking.pointer.pointee.ask_signal = { _, link in
                link?.pointee.rssi = -40
                return 0
            }
            core.radio.pointee.ops = UnsafePointer(asking.pointer)
            return before
        }
        #expect(await central.connectionSignals() == [site.address: -61])
        #expect(await central.connectionSignals() == [site.address: -40])
        await onLoop { core.radio.pointee.ops = UnsafePointer(bitPattern: before) }
        await peripheral.disconnect()
        #expect(await central.connectionSignals() == [:])
        await central.close()
    }

    @Test func aSequenceOfStatesKeepsTheConnection() async throws {
        let site = try await Site()
        var (central, peripheral): (Central, Peripheral?) = try await connect(site)
        let states = await peripheral?.states()
        weak var released = peripheral
        peripheral = nil
        await onLoop {}
        #expect(released != nil)
        #expect(await site.connections() == 1)
        await site.disconnectAll()
        var got: [Peripheral.State] = []
        for try await state in try #require(states) {
            got.append(state)
            if got.count == 2 { break }
        }
        #expect(got.first == .connected)
        #expect(got.count == 2)
        withExtendedLifetime(central) {}
        central = try await Central(radio: site.radio)
    }

    /// Writes until the queue of the socket is full; the device does not read.
    private func fill(_ peripheral: Peripheral, _ handle: AttributeHandle) async -> Int {
        var written = 0
        while written < 100_000 {
            do throws(TendonError) {
                try await peripheral.writeWithoutResponse([0, 0], to: handle)
                written += 1
            } catch {
                #expect(error.status == Int32(TENDON_ERROR_WOULD_BLOCK))
                break
            }
        }
        return written
    }

    /// Ready at first, not ready with a full queue, ready when the device has read, not with a connection that is lost.
    @Test func writesWithoutResponseWaitForTheSocket() async throws {
        let site = try await Site()
        let (_, peripheral) = try await connect(site)
        let handle = try await characteristic(peripheral).handle
        try await peripheral.readyToWriteWithoutResponse()
        for round in 0..<3 {
            let halt = await Halt(site.loop)
            let written = await fill(peripheral, handle)
            #expect(written > 0 && written < 100_000)
            await #expect(throws: TendonError.timeout(.write)) {
                try await peripheral.readyToWriteWithoutResponse(timeout: .milliseconds(1))
            }
            let waiting = (0..<2).map { _ in
                Task { @TendonActor in try await peripheral.readyToWriteWithoutResponse() }
            }
            await onLoop {}
            if round == 2 { await peripheral.disconnect() }
            halt.release()
            for task in waiting {
                switch await task.result {
                case .success: #expect(round < 2)
                case .failure(let error): #expect(round == 2 && (error as? TendonError) == .disconnected(.write))
                }
            }
            if round < 2 { try await peripheral.writeWithoutResponse([0, 0], to: handle) }
        }
        await #expect(throws: TendonError.disconnected(.write)) {
            try await peripheral.readyToWriteWithoutResponse()
        }
    }

    /// The second waits for the first's subscription, and makes its own if that is cancelled.
    @Test func aSecondSubscriberOutlivesTheFirst() async throws {
        let site = try await Site()
        let (_, peripheral) = try await connect(site)
        let characteristic = try await characteristic(peripheral)
        for _ in 0..<50 {
            let first = Task { @TendonActor in try await peripheral.notifications(of: characteristic) }
            let second = Task { @TendonActor in try await peripheral.notifications(of: characteristic) }
            await onLoop {}
            first.cancel()
            let values = try await second.value
            // Its source has not ended: it waits for a value.
            await #expect(throws: TendonError.timeout(.receive)) {
                for try await _ in values.timeout(.milliseconds(1)) {}
            }
            if case .failure(let error) = await first.result { #expect((error as? TendonError) == .cancelled) }
        }
    }

    @Test func aSecondSubscriberThatIsCancelledLeavesTheFirst() async throws {
        let site = try await Site()
        let (_, peripheral) = try await connect(site)
        let characteristic = try await characteristic(peripheral)
        let first = Task { @TendonActor in try await peripheral.notifications(of: characteristic) }
        let second = Task { @TendonActor in try await peripheral.notifications(of: characteristic) }
        second.cancel()
        _ = try await first.value
        if case .failure(let error) = await second.result { #expect((error as? TendonError) == .cancelled) }
        #expect(await onLoop { peripheral.core.subscription(characteristic.handle.rawValue)?.isActive == true })
    }

    @Test func indicationsWhileNotificationsAreOnAreRefused() async throws {
        let site = try await Site()
        let (_, peripheral) = try await connect(site)
        let characteristic = try await characteristic(peripheral)
        let values = try await peripheral.notifications(of: characteristic)
        let busy = TendonError(status: Int32(TENDON_ERROR_BUSY), operation: .subscribe)
        await #expect(throws: busy) { try await peripheral.indications(of: characteristic) }
        withExtendedLifetime(values) {}
    }

    @Test func aCharacteristicWithoutACCCDCannotBeSubscribed() async throws {
        let site = try await Site()
        let (_, peripheral) = try await connect(site)
        let service = try #require(try await peripheral.discoverServices("fdd2").first)
        let readOnly = try #require(
            try await peripheral.discoverCharacteristics(of: service).first { !$0.properties.contains(.notify) })
        let missing = TendonError(status: Int32(TENDON_ERROR_NOT_FOUND), operation: .subscribe)
        await #expect(throws: missing) { try await peripheral.notifications(of: readOnly) }
        #expect(await !subscribed(peripheral, readOnly))
    }

    /// Nothing is left of a subscription that has ended, neither here nor in the C core.
    @Test func subscriptionsLeaveNothing() async throws {
        let site = try await Site()
        let (_, peripheral) = try await connect(site)
        let characteristic = try await characteristic(peripheral)
        let before = await elements(of: peripheral.core)
        #expect(before.keys.contains("subscriptions") && before.keys.contains("states"))
        for _ in 0..<20 {
            let values = try await peripheral.notifications(of: characteristic)
            #expect(await subscribed(peripheral, characteristic))
            withExtendedLifetime((values, await peripheral.states())) {}
        }
        await eventually("unsubscribed") { await !subscribed(peripheral, characteristic) }
        await eventually("no list has grown") { await elements(of: peripheral.core) == before }
    }

    @Test func connectionsLeaveNothing() async throws {
        let site = try await Site()
        let (_, peripheral) = try await connect(site)
        let before = await elements(of: peripheral.core)
        for _ in 0..<3 {
            await peripheral.disconnect()
            try await peripheral.connect()
        }
        #expect(await elements(of: peripheral.core) == before)
    }

    /// The program has disconnected once; that is not the reason of the next loss.
    @Test func aLossAfterADisconnectionHasItsReason() async throws {
        let site = try await Site()
        let (_, peripheral) = try await connect(site)
        await peripheral.disconnect()
        #expect(await peripheral.state == .disconnected(nil))
        try await peripheral.connect()
        await site.disconnectAll()
        await eventually("lost") { if case .disconnected = await peripheral.state { true } else { false } }
        #expect(await peripheral.state != .disconnected(nil))
    }

    /// Number of elements of each list and table that the core keeps, whatever their names are.
    private func elements(of core: PeripheralCore) async -> [String: Int] {
        await onLoop {
            var counts: [String: Int] = [:]
            for child in Mirror(reflecting: core).children {
                let value = Mirror(reflecting: child.value)
                guard [.collection, .dictionary, .set].contains(value.displayStyle) else { continue }
                counts[child.label ?? "", default: 0] += value.children.count
            }
            return counts
        }
    }

    /// The table of requests is full when the last listener is removed: the request to the device is sent when a slot is free.
    @Test func aFullQueueDelaysTheEndOfASubscription() async throws {
        let site = try await Site()
        let (_, peripheral) = try await connect(site)
        let characteristic = try await characteristic(peripheral)
        let read = try #require(
            try await peripheral.discoverCharacteristics(of: try await peripheral.discoverServices("fdd2")[0]).first {
                $0.properties.contains(.read)
            })
        let values = Held(try await peripheral.notifications(of: characteristic))
        // In this order on the loop: eight reads fill the table, then the subscription ends.
        let (reads, end) = await onLoop {
            let reads = (0..<8).map { _ in Task { @TendonActor in try await peripheral.read(read) } }
            return (reads, Task { @TendonActor in values.sequence = nil })
        }
        await end.value
        for read in reads { _ = try await read.value }
        await eventually("unsubscribed") { await !subscribed(peripheral, characteristic) }
    }

    /// Absent for longer than the limits of the options, then it is there; and cancelled while it is absent.
    @Test func connectingInTheBackgroundWaitsForTheDevice() async throws {
        let directory = RadioDirectory()
        let central = try await Central(radio: directory.radio)
        let core = central.core
        let address = directory.address
        let options = ConnectOptions(timeout: .seconds(10), attempts: 1, isInBackground: true)
        let cancelled = Task { try await central.connect(address, options: options) }
        let waiting = Task { try await central.connect(address, options: options) }
        await eventually("both wait") { await onLoop { attempts(core) } == [true, true] }
        cancelled.cancel()
        await #expect(throws: TendonError.self) { _ = try await cancelled.value }
        await eventually("one waits") { await onLoop { attempts(core) } == [true] }
        let site = try await Site(in: directory)
        let peripheral = try await waiting.value
        #expect(await peripheral.state == .connected)
        await peripheral.disconnect()
        // The next one has limits again.
        try await peripheral.connect()
        #expect(await onLoop { peripheral.core.block.pointer.pointee.background } == false)
        withExtendedLifetime(site) {}
    }

    /// Connects as soon as the states report the end of a connection: on the loop, before whoever waits for that end.
    private func connectingAgain(
        _ peripheral: Peripheral, _ options: ConnectOptions = ConnectOptions()
    ) async -> Task<Void, any Error> {
        let isWatching = Flag()
        let task = Task { @TendonActor in
            var isFirst = true
            for try await state in peripheral.states() {
                defer { isFirst = false }
                isWatching.set()
                guard !isFirst, case .disconnected = state else { continue }
                return try await peripheral.connect(options)
            }
        }
        await eventually("it watches") { isWatching.isSet }
        await onLoop {}
        return task
    }

    @Test func aDisconnectionEndsAlthoughTheNextConnectionBegins() async throws {
        let site = try await Site()
        let (_, peripheral) = try await connect(site)
        let again = await connectingAgain(peripheral)
        let isOver = Flag()
        let ending = Task {
            await peripheral.disconnect()
            isOver.set()
        }
        await eventually("disconnected") { isOver.isSet }
        try await again.value
        #expect(await peripheral.state == .connected)
        await peripheral.disconnect()
        await ending.value
    }

    /// Its own attempt has failed: that of another task is neither its result, nor ended with it.
    @Test func anAttemptHasItsOwnResult() async throws {
        let stage = try await LocalSite()
        try await stage.peripheral.start()
        let peripheral = try await stage.connect().peripheral
        await stage.peripheral.stop()
        await eventually("disconnected") {
            if case .disconnected = await peripheral.state { true } else { false }
        }
        let isOver = Flag()
        let first = Task { @TendonActor in
            defer { isOver.set() }
            try await peripheral.connect(ConnectOptions(timeout: .seconds(2), attempts: 1))
        }
        await eventually("it connects") { await peripheral.state == .connecting }
        let again = await connectingAgain(peripheral, ConnectOptions(timeout: .seconds(60)))
        await eventually("the first attempt fails") { isOver.isSet }
        first.cancel()
        #expect(await peripheral.state == .connecting)
        try await stage.peripheral.start()
        try await again.value
        #expect(await peripheral.state == .connected)
        await #expect(throws: TendonError.self) { try await first.value }
    }

    @Test func reconnectingTakesItsOwnOptions() async throws {
        let site = try await Site()
        let (_, peripheral) = try await connect(site)
        await peripheral.disconnect()
        let core = peripheral.core
        try await peripheral.connect(ConnectOptions(timeout: .milliseconds(1234), attempts: 2))
        #expect(await onLoop { core.block.pointer.pointee.connect_timeout_ms } == 1234)
        #expect(await onLoop { core.block.pointer.pointee.connect_attempts } == 2)
        await peripheral.disconnect()
        try await peripheral.connect(ConnectOptions(timeout: nil, attempts: 0))
        #expect(await onLoop { core.block.pointer.pointee.connect_timeout_ms } == UInt32(TENDON_CONNECTION_TIMEOUT_MS))
        #expect(await onLoop { core.block.pointer.pointee.connect_attempts } == 1)
    }
}

/// For each link that connects: whether it does in the background.
private func attempts(_ core: RadioCore) -> [Bool] {
    var found: [Bool] = []
    var next = core.radio.pointee.links
    while let link = next {
        let states = [TENDON_LINK_WAITING, TENDON_LINK_ASKED].map { UInt8($0.rawValue) }
        if states.contains(link.pointee.state) { found.append(link.pointee.background) }
        next = link.pointee.next
    }
    return found
}

/// A sequence that is released on the loop.
private final class Held: @unchecked Sendable {
    // Used only on the loop's thread after its initialization.
    var sequence: EventSequence<AttributeValue>?
    init(_ sequence: EventSequence<AttributeValue>) { self.sequence = sequence }
}
