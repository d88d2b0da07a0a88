// SPDX-License-Identifier: MIT
import CTendon
import Tendon

/// One attempt: search, choose, open.
@TendonActor
struct Connector {
    private let configuration: BoseWearable.Configuration
    private let manager: BluetoothManager

    init(_ wearable: BoseWearable) {
        configuration = wearable.configuration
        manager = wearable.manager
    }

    func connect(
        _ mode: ConnectUIMode, _ sensor: SensorIntent?, _ gesture: GestureIntent?, opens: Bool
    ) async throws(BoseWearableError) -> WearableDeviceSession {
        guard !Task.isCancelled else { throw .cancelled }
        let watchdog = Watchdog(configuration.timeout)
        defer { watchdog.stop() }
        let intent = tendon_bose_intent(sensor, gesture)
        do throws(BoseWearableError) {
            let session = try await watchdog.run { () async throws(BoseWearableError) in
                try await self.session(mode, intent, opens)
            }
            manager.remember(session)
            return session
        } catch .cancelled where watchdog.struck {
            throw .deviceNotFound
        }
    }

    private func session(
        _ mode: ConnectUIMode, _ intent: tendon_bose_intent?, _ opens: Bool
    ) async throws(BoseWearableError) -> WearableDeviceSession {
        let central = try await manager.openCentral()
        if case .connectToLast(let seconds) = mode, let last = manager.lastAddress ?? configuration.lastDevice {
            let found = try await find(central, Duration(clamping: seconds)) { $0.address == last }
            if let found { return try await open(found, central, intent, opens) }
        }
        guard let device = try await choose(central) else { throw .cancelled }
        return try await open(device, central, intent, opens)
    }

    private func open(
        _ device: DiscoveredDevice, _ central: Central, _ intent: tendon_bose_intent?, _ opens: Bool
    ) async throws(BoseWearableError) -> WearableDeviceSession {
        let session = manager.makeSession(device, central, intent)
        if opens {
            session.core.pairingHandler = configuration.pairingHandler
            try await session.openAndWait()
        }
        return session
    }

    // MARK: Choosing

    private func choose(_ central: Central) async throws(BoseWearableError) -> DiscoveredDevice? {
        switch configuration.deviceChoice {
        case .address(let address):
            return DiscoveredDevice(address: address, name: nil, rssi: nil, lastSeen: 0, hasOldFirmware: false)
        case .firstFound:
            return try await find(central, nil) { _ in true }
        case .strongestSignal(let window):
            return try await strongest(central, window)
        case .custom(let choice):
            return try await ask(central, choice)
        }
    }

    private func scan(_ central: Central) async throws(BoseWearableError) -> EventSequence<Advertisement> {
        do {
            return try await central.scan()
        } catch {
            throw BoseWearableError(error)
        }
    }

    private func next(
        _ iterator: inout EventSequence<Advertisement>.Iterator
    ) async throws(BoseWearableError) -> Advertisement? {
        do {
            return try await iterator.next(isolation: TendonActor.shared)
        } catch {
            throw BoseWearableError(error)
        }
    }

    /// The first that fits; `nil` when the time is over.
    private func find(
        _ central: Central, _ limit: Duration?, _ fits: (DiscoveredDevice) -> Bool
    ) async throws(BoseWearableError) -> DiscoveredDevice? {
        let all = try await scan(central)
        var iterator = (limit.map { all.ending(after: $0) } ?? all).makeAsyncIterator()
        var table = DeviceTable()
        while let advertisement = try await next(&iterator) {
            guard let device = table.take(advertisement), fits(device) else { continue }
            return try await named(device, central, &table, &iterator)
        }
        if Task.isCancelled { throw .cancelled }
        return nil
    }

    /// A name may come with the scan response, right behind.
    private func named(
        _ device: DiscoveredDevice, _ central: Central, _ table: inout DeviceTable,
        _ iterator: inout EventSequence<Advertisement>.Iterator
    ) async throws(BoseWearableError) -> DiscoveredDevice {
        guard device.name == nil, let advertisement = try await next(&iterator) else { return device }
        _ = table.take(advertisement)
        return table.devices.first { $0.address == device.address } ?? device
    }

    private func strongest(
        _ central: Central, _ window: Duration
    ) async throws(BoseWearableError) -> DiscoveredDevice? {
        let all = try await scan(central)
        var table = DeviceTable()
        while true {
            var iterator = all.ending(after: window).makeAsyncIterator()
            while let advertisement = try await next(&iterator) { _ = table.take(advertisement) }
            if Task.isCancelled { throw .cancelled }
            // One with old firmware only when there is nothing better.
            let best = table.devices.max {
                ($0.hasOldFirmware ? 0 : 1, $0.rssi ?? -128) < ($1.hasOldFirmware ? 0 : 1, $1.rssi ?? -128)
            }
            if let best { return best }
        }
    }

    private func ask(
        _ central: Central, _ choice: @Sendable (EventSequence<[DiscoveredDevice]>) async -> DiscoveredDevice?
    ) async throws(BoseWearableError) -> DiscoveredDevice? {
        let queue = EventQueue<[DiscoveredDevice]>(.shared, capacity: 4, policy: .dropOldest)
        let all = try await scan(central)
        let feeder = Task { @TendonActor in
            var table = DeviceTable()
            var known: [DiscoveredDevice] = []
            for try await advertisement in all {
                guard table.take(advertisement) != nil else { continue }
                let changed = table.devices.map { ($0.address, $0.name) }
                if !changed.elementsEqual(known.map { ($0.address, $0.name) }, by: ==) {
                    known = table.devices
                    queue.push(known)
                }
            }
        }
        defer { feeder.cancel() }
        return await choice(EventSequence(queue))
    }
}

/// Cancels what it runs when the time is over. For the loop's thread.
@TendonActor
final class Watchdog {
    private(set) var struck = false
    private var timer: LoopTimer?
    private var cancel: (() -> Void)?

    init(_ limit: Duration?) {
        guard limit != nil else { return }
        let timer = LoopTimer(Loop.shared.core) { [unowned self] in
            TendonActor.assumeIsolated {
                self.struck = true
                self.cancel?()
            }
        }
        timer.deadline = Duration.deadline(limit)
        self.timer = timer
    }

    func run(
        _ body: @escaping @TendonActor () async throws(BoseWearableError) -> WearableDeviceSession
    ) async throws(BoseWearableError) -> WearableDeviceSession {
        let attempt = ConnectionTask(body)
        cancel = { attempt.cancel() }
        return try await attempt.value()
    }

    func stop() {
        timer?.remove()
        timer = nil
        cancel = nil
    }
}

extension Duration {
    /// Seconds as a program gives them: not a number and below 0 is 0, more than a hundred years is a hundred years.
    init(clamping seconds: Double) {
        self = .seconds(seconds > 0 ? min(seconds, 100 * 365 * 86_400) : 0)
    }
}
