// SPDX-License-Identifier: MIT
import CTendon
import Synchronization
import TestSupport
import Testing

@testable import Tendon

/// A device of the program's own on the virtual radio, and centrals that use it.
struct LocalPeripheralTests {
    // MARK: Being found, and read

    @Test func itIsFoundAndItsTableIsRead() async throws {
        let stage = try await LocalSite()
        try await stage.peripheral.start()
        #expect(await stage.peripheral.isAdvertising)
        let central = try await Central(radio: stage.directory.radio)
        var data: [UInt8] = []
        for try await found in try await central.scan() where found.address == stage.directory.address {
            if found.isScanResponse {
                #expect(found.data == [10, 9] + Array("Tendon HR".utf8))
                break
            }
            #expect(found.isConnectable)
            data = found.data
        }
        #expect(data == [2, 1, 6, 5, 3, 0x0D, 0x18, 0x0F, 0x18])
        let client = try await LocalClient(central.connect(stage.directory.address))
        #expect(await stage.peripheral.centrals == [ConnectedCentral(id: 1, address: central.address)])
        #expect(try await client.peripheral.read(client["2a00"]) == Array("Tendon HR".utf8))
        #expect(try await client.peripheral.read(client["2a01"]) == [0x41, 3])
        #expect(try await client.peripheral.read(client["2a19"]) == [100])
        #expect(client["2a37"].properties == [.notify, .indicate])
        let descriptors = try await client.peripheral.discoverDescriptors(of: client["2a37"])
        #expect(descriptors.map(\.uuid) == ["2902", "2901"])
        #expect(try await client.peripheral.read(descriptors[1].handle) == Array("beats".utf8))
        #expect(try await client.peripheral.read(client["2b2a"]).count == 16)
    }

    // MARK: Values

    @Test func closuresAnswerAndReject() async throws {
        let stage = try await LocalSite()
        try await stage.peripheral.start()
        let client = try await stage.connect()
        let events = stage.peripheral.events()
        #expect(try await client.peripheral.read(client["2a38"]) == [1])
        #expect(stage.notes.reads.load(ordering: .relaxed) == 1)
        try await client.peripheral.write([1], to: client["2a39"])
        #expect(await statusOf { try await client.peripheral.write([0xFF], to: client["2a39"]) } == attError(0x80))
        #expect(await statusOf { _ = try await client.peripheral.read(client["2a39"]) } == attError(0x02))
        #expect(await statusOf { try await client.peripheral.write([1], to: client["2a38"]) } == attError(0x03))
        try await client.peripheral.writeWithoutResponse([2], to: client["2a39"].handle)
        let long = (0..<512).map { UInt8(truncatingIfNeeded: $0) }
        try await client.peripheral.write(long, to: client["2a39"])
        let requests = stage.notes.written.withLock { $0 }
        #expect(requests.map(\.value) == [[1], [2], long])
        #expect(requests.map(\.isWithoutResponse) == [false, true, false])
        var kinds: [LocalPeripheral.Event] = []
        for try await event in events {
            kinds.append(event)
            if kinds.count == 4 { break }
        }
        let central = try #require(await stage.peripheral.centrals.first)
        #expect(kinds == [.read(central, stage.place.id)] + requests.map { .wrote(central, stage.control.id, $0) })
    }

    @Test func aValueWithoutClosuresIsKept() async throws {
        let stage = try await LocalSite()
        try await stage.peripheral.start()
        let client = try await stage.connect()
        try await stage.peripheral.setValue([50], for: stage.level)
        #expect(try await client.peripheral.read(client["2a19"]) == [50])
        try await client.peripheral.write([40, 41], to: client["2a19"])
        #expect(try await stage.peripheral.value(of: stage.level) == [40, 41])
        let longest = [UInt8](repeating: 7, count: 512)
        try await stage.peripheral.setValue(longest, for: stage.level)
        #expect(try await client.peripheral.read(client["2a19"]) == longest)
        #expect(
            await statusOf { try await stage.peripheral.setValue(longest + [0], for: stage.level) }
                == Int32(TENDON_GATT_ERROR_VALUE_TOO_LONG))
        let other = LocalCharacteristic("2a19", properties: .read)
        #expect(await statusOf { try await stage.peripheral.setValue([], for: other) } == Int32(TENDON_ERROR_NOT_FOUND))
        #expect(await statusOf { _ = try await stage.peripheral.value(of: other) } == Int32(TENDON_ERROR_NOT_FOUND))
    }

    // MARK: Several centrals

    @Test func twoCentralsSubscribeEachForItself() async throws {
        let stage = try await LocalSite()
        let events = stage.peripheral.events()
        try await stage.peripheral.start()
        let first = try await stage.connect()
        let second = try await stage.connect()
        let centrals = await stage.peripheral.centrals
        #expect(centrals.map(\.id) == [1, 2])
        let values = try await first.peripheral.notifications(of: first["2a37"])
        #expect(try await stage.peripheral.notify([0, 72], for: stage.rate) == [])
        let both = try await second.peripheral.notifications(of: second["2a37"])
        try await stage.peripheral.notify([0, 73], for: stage.rate)
        try await stage.peripheral.notify([0, 74], for: stage.rate, to: centrals[1])
        var iterator = values.makeAsyncIterator()
        #expect(try await iterator.next()?.bytes == [0, 72])
        #expect(try await iterator.next()?.bytes == [0, 73])
        var other = both.makeAsyncIterator()
        #expect(try await other.next()?.bytes == [0, 73])
        #expect(try await other.next()?.bytes == [0, 74])
        #expect(try await stage.peripheral.subscriptions(of: centrals[0], to: stage.rate) == .notifications)
        #expect(
            await statusOf { try await stage.peripheral.notify([1], for: stage.level, to: centrals[0]) }
                == Int32(TENDON_GATT_ERROR_NOT_SUBSCRIBED))
        #expect(
            await statusOf { try await stage.peripheral.notify([UInt8](repeating: 0, count: 513), for: stage.rate) }
                == Int32(TENDON_GATT_ERROR_VALUE_TOO_LONG))
        #expect(await stage.peripheral.mtu(of: centrals[0]) == 517)
        await first.peripheral.disconnect()
        var all: [LocalPeripheral.Event] = []
        for try await event in events {
            all.append(event)
            if case .disconnected = event { break }
        }
        let reason = TendonError(status: Int32(TENDON_RADIO_ERROR_PEER_CLOSED), operation: .receive)
        #expect(
            all
                == [
                    .connected(centrals[0]), .connected(centrals[1]),
                    .subscribed(centrals[0], stage.rate.id, .notifications),
                    .subscribed(centrals[1], stage.rate.id, .notifications), .disconnected(centrals[0], reason),
                ].filter { event in if case .read = event { false } else { true } })
        #expect(await stage.peripheral.centrals == [centrals[1]])
        #expect(await stage.peripheral.mtu(of: centrals[0]) == nil)
        #expect(
            await statusOf { try await stage.peripheral.notify([1], for: stage.rate, to: centrals[0]) }
                == Int32(TENDON_ERROR_DISCONNECTED))
        #expect(
            await statusOf { _ = try await stage.peripheral.subscriptions(of: centrals[0], to: stage.rate) }
                == Int32(TENDON_ERROR_DISCONNECTED))
    }

    /// Without an exchange of the MTU a notification has 20 bytes.
    /// Longer than any value can be: nothing is sent of it.
    @Test func aValueThatIsTooLong() async throws {
        let site = try await LocalSite()
        try await site.peripheral.start()
        let client = try await site.connect()
        let values = try await client.peripheral.indications(of: client["2a37"])
        let central = try #require(await site.peripheral.centrals.first)
        let tooLong = [UInt8](repeating: 1, count: 513)
        let expected = Int32(TENDON_GATT_ERROR_VALUE_TOO_LONG)
        #expect(await statusOf { _ = try await site.peripheral.notify(tooLong, for: site.level) } == expected)
        #expect(await statusOf { try await site.peripheral.notify(tooLong, for: site.level, to: central) } == expected)
        #expect(await statusOf { try await site.peripheral.indicate(tooLong, for: site.rate, to: central) } == expected)
        #expect(await statusOf { try await site.peripheral.setValue(tooLong, for: site.level) } == expected)
        let whole = Array(tooLong.dropLast())
        #expect(await statusOf { _ = try await site.peripheral.notify(whole, for: site.level) } == 0)
        #expect(await statusOf { try await site.peripheral.indicate(whole, for: site.rate, to: central) } == 0)
        withExtendedLifetime(values) {}
    }

    @Test func aValueIsCutToTheMtuOfEachConnection() async throws {
        let stage = try await LocalSite()
        try await stage.peripheral.start()
        let wide = try await stage.connect()
        let central = try await Central(radio: stage.directory.radio, bonds: .none)
        let narrow = try await LocalClient(
            central.connect(stage.directory.address, options: ConnectOptions(exchangesMTU: false)))
        var ends = [try await wide.peripheral.notifications(of: wide["2a37"]).makeAsyncIterator()]
        ends.append(try await narrow.peripheral.notifications(of: narrow["2a37"]).makeAsyncIterator())
        try await stage.peripheral.notify([UInt8](repeating: 9, count: 512), for: stage.rate)
        #expect(try await ends[0].next()?.count == 512)
        #expect(try await ends[1].next()?.count == 20)
    }

    @Test func theFifthCentralIsRefused() async throws {
        let stage = try await LocalSite()
        let events = stage.peripheral.events()
        try await stage.peripheral.start()
        var clients: [LocalClient] = []
        for _ in 0..<4 { clients.append(try await stage.connect()) }
        #expect(await statusOf { _ = try await stage.connect() } != 0)
        #expect(await stage.peripheral.centrals.count == 4)
        await clients[3].peripheral.disconnect()
        await eventually("a place is free") { await stage.peripheral.centrals.count == 3 }
        clients[3] = try await stage.connect()
        #expect(await stage.peripheral.centrals.map(\.id) == [1, 2, 3, 5])
        var counted = 0
        for try await event in events {
            if case .connected = event { counted += 1 }
            if counted == 5 { break }
        }
    }

    // MARK: Indications

    @Test func anIndicationIsConfirmed() async throws {
        let stage = try await LocalSite()
        try await stage.peripheral.start()
        let client = try await stage.connect()
        let central = await stage.peripheral.centrals[0]
        #expect(
            await statusOf { try await stage.peripheral.indicate([1], for: stage.rate, to: central) }
                == Int32(TENDON_GATT_ERROR_NOT_SUBSCRIBED))
        let values = try await client.peripheral.indications(of: client["2a37"])
        #expect(try await stage.peripheral.subscriptions(of: central, to: stage.rate) == .indications)
        for number in 0..<3 as Range<UInt8> {
            try await stage.peripheral.indicate([number], for: stage.rate, to: central)
        }
        var iterator = values.makeAsyncIterator()
        for number in 0..<3 as Range<UInt8> { #expect(try await iterator.next()?.bytes == [number]) }
    }

    /// The client neither confirms nor reads.
    @Test func aSilentCentralHoldsUpOnlyItsOwnIndication() async throws {
        let stage = try await LocalSite()
        try await stage.peripheral.start()
        let client = try await stage.connect()
        let values = try await client.peripheral.indications(of: client["2a37"])
        let silent = await stage.peripheral.centrals[0]
        let halt = await Halt(client.peripheral)
        let task = Task { () -> Int32 in
            await statusOf { try await stage.peripheral.indicate([1], for: stage.rate, to: silent) }
        }
        await eventually("the indication is under way") {
            await Loop.shared.run { stage.peripheral.core.isIndicating }
        }
        task.cancel()
        #expect(await endsInTime(task, "an indication").get() == TendonError.cancelled.status)
        // Cancelled, but on the wire: it is confirmed later.
        #expect(
            await statusOf { try await stage.peripheral.indicate([2], for: stage.rate, to: silent) }
                == Int32(TENDON_ERROR_BUSY))
        halt.release()
        var iterator = values.makeAsyncIterator()
        #expect(try await iterator.next()?.bytes == [1])
        await eventually("the next one") {
            await statusOf { try await stage.peripheral.indicate([4], for: stage.rate, to: silent) } == 0
        }
        #expect(try await iterator.next()?.bytes == [4])
    }

    @Test func anIndicationEndsWithItsConnection() async throws {
        let stage = try await LocalSite()
        try await stage.peripheral.start()
        let client = try await stage.connect()
        let values = try await client.peripheral.indications(of: client["2a37"])
        let silent = await stage.peripheral.centrals[0]
        let halt = await Halt(client.peripheral)
        defer { halt.release() }
        let task = Task { () -> Int32 in
            await statusOf { try await stage.peripheral.indicate([1], for: stage.rate, to: silent) }
        }
        await eventually("the indication is under way") {
            await Loop.shared.run { stage.peripheral.core.isIndicating }
        }
        await stage.peripheral.disconnect(silent)
        #expect(await task.value == Int32(TENDON_ERROR_DISCONNECTED))
        withExtendedLifetime(values) {}
    }

    // MARK: Flow

    @Test func aFullQueueIsReportedAndIsReadyLater() async throws {
        let stage = try await LocalSite()
        try await stage.peripheral.start()
        let slow = try await stage.connect()
        let values = try await slow.peripheral.notifications(of: slow["2a37"], capacity: 4096)
        let fast = try await stage.connect()
        let others = try await fast.peripheral.notifications(of: fast["2a37"], capacity: 4096)
        let centrals = await stage.peripheral.centrals
        try await stage.peripheral.readyToNotify()
        let halt = await Halt(slow.peripheral)
        var sent: UInt64 = 0
        var full: [ConnectedCentral] = []
        var received = others.makeAsyncIterator()
        while full.isEmpty {
            full = try await stage.peripheral.notify([UInt8(truncatingIfNeeded: sent)], for: stage.rate)
            sent += 1
            _ = try await received.next()  // its queue is empty again, however slow this machine is
        }
        #expect(full == [centrals[0]])
        #expect(
            await statusOf { try await stage.peripheral.notify([0], for: stage.rate, to: centrals[0]) }
                == Int32(TENDON_ERROR_WOULD_BLOCK))
        try await stage.peripheral.readyToNotify(centrals[1])
        #expect(
            await statusOf { try await stage.peripheral.readyToNotify(timeout: .milliseconds(20)) }
                == Int32(TENDON_ERROR_TIMEOUT))
        let cancelled = Task { await statusOf { try await stage.peripheral.readyToNotify(centrals[0], timeout: nil) } }
        for _ in 0..<8 { await Loop.shared.run {} }
        cancelled.cancel()
        #expect(await endsInTime(cancelled, "a wait for room").get() == TendonError.cancelled.status)
        let waiting = Task { try await stage.peripheral.readyToNotify() }
        halt.release()
        try await waiting.value
        try await stage.peripheral.notify([0xAA], for: stage.rate, to: centrals[0])
        // The slow one missed the one value that was reported, and nothing else.
        var count: UInt64 = 0
        for try await value in values {
            count += 1
            if value.bytes == [0xAA], count >= sent { break }
        }
        #expect(count == sent)
        withExtendedLifetime(others) {}
    }

    @Test func waitingForRoomEndsWithTheConnection() async throws {
        let stage = try await LocalSite()
        try await stage.peripheral.start()
        let slow = try await stage.connect()
        let values = try await slow.peripheral.notifications(of: slow["2a37"])
        let silent = await stage.peripheral.centrals[0]
        let halt = await Halt(slow.peripheral)
        defer { halt.release() }
        while try await stage.peripheral.notify([1], for: stage.rate).isEmpty {}
        let task = Task { await statusOf { try await stage.peripheral.readyToNotify(silent, timeout: nil) } }
        for _ in 0..<8 { await Loop.shared.run {} }
        await stage.peripheral.disconnect(silent)
        #expect(await task.value == Int32(TENDON_ERROR_DISCONNECTED))
        #expect(await statusOf { try await stage.peripheral.readyToNotify(silent) } == Int32(TENDON_ERROR_DISCONNECTED))
        withExtendedLifetime(values) {}
    }
}
