// SPDX-License-Identifier: MIT
import CTendon
import Tendon

/// One attempt: search, choose, open.
@TendonActor
struct Connector {
    private typealias Answer = Pending<DiscoveredDevice?, BoseWearableError>

    private let configuration: BoseWearable.Configuration
    private let manager: BluetoothManager
    private let watchdog: Watchdog

    init(_ wearable: BoseWearable) {
        configuration = wearable.configuration
        manager = wearable.manager
        watchdog = Watchdog(configuration.timeout)
        manager.watchdog = watchdog
    }

    func connect(
        _ mode: ConnectUIMode, _ sensor: SensorIntent?, _ gesture: GestureIntent?, opens: Bool
    ) async throws(BoseWearableError) -> WearableDeviceSession {
        defer { watchdog.stop() }
        guard !Task.isCancelled else { throw .cancelled }
        let intent = tendon_bose_intent(sensor, gesture)
        do throws(BoseWearableError) {
            return try await watchdog.run { () async throws(BoseWearableError) in
                try await self.session(mode, intent, opens)
            }
        } catch .cancelled where watchdog.hasExpired {
            throw watchdog.hasDevice ? BoseWearableError(Int32(TENDON_ERROR_TIMEOUT), .connect) : .deviceNotFound
        }
    }

    private func session(
        _ mode: ConnectUIMode, _ intent: tendon_bose_intent?, _ opens: Bool
    ) async throws(BoseWearableError) -> WearableDeviceSession {
        if case .connectToLast(let seconds) = mode, let last = manager.lastAddress ?? configuration.lastDevice,
            let session = try await openLast(last, Duration(clamping: seconds), intent, opens)
        {
            return session
        }
        guard let device = try await choose() else { throw .cancelled }
        LogSwitches.shared.write(.connect, "chosen: \(device.address) \(device.name ?? "")")
        return try await open(device, intent, opens, [watchdog])
    }

    /// Finds the last device and opens it, both within the limit; `nil`: it is not in range, or cannot be opened.
    private func openLast(
        _ last: Address, _ limit: Duration, _ intent: tendon_bose_intent?, _ opens: Bool
    ) async throws(BoseWearableError) -> WearableDeviceSession? {
        let own = Watchdog(limit)
        defer { own.stop() }
        guard let found = try await find(limit, { $0.address == last }) else { return nil }
        do throws(BoseWearableError) {
            return try await own.run { () async throws(BoseWearableError) in
                try await open(found, intent, opens, [watchdog, own])
            }
        } catch {
            // The attempt is cancelled by its user and by its own limit.
            guard !Task.isCancelled, error != .cancelled || own.hasExpired else { throw error }
            watchdog.hasDevice = false
            return nil
        }
    }

    /// `limits`: paused while the user is prompted.
    private func open(
        _ device: DiscoveredDevice, _ intent: tendon_bose_intent?, _ opens: Bool, _ limits: [Watchdog]
    ) async throws(BoseWearableError) -> WearableDeviceSession {
        watchdog.hasDevice = true
        let session = manager.makeSession(device, try manager.openRadio(), intent)
        guard opens else { return session }
        session.core.pairingHandler = configuration.pairingHandler
        let token = session.core.sessionEvents.add { event in
            switch event {
            case .requiresPairingMode, .startedPairing: for limit in limits { limit.pause() }
            case .finishedPairing: for limit in limits { limit.resume() }
            default: break
            }
        }
        defer { token.cancel() }
        try await session.openAndWait()
        return session
    }

    // MARK: Choosing

    private func choose() async throws(BoseWearableError) -> DiscoveredDevice? {
        switch configuration.deviceChoice {
        case .address(let address):
            return DiscoveredDevice(address)
        case .firstFound:
            return try await find(nil) { _ in true }
        case .strongestSignal(let window):
            return try await strongest(window)
        case .custom(let choice):
            return try await ask(choice)
        }
    }

    private func run(
        _ search: WearableSearch, until answer: Answer
    ) async throws(BoseWearableError) -> DiscoveredDevice? {
        do { try search.start() } catch { throw BoseWearableError(error) }
        defer { search.stop() }
        return try await answer.value()
    }

    /// Finds the first matching device; `nil` if there is none within the limit. The name can be in the scan response,
    /// so this waits for the second packet of the device.
    private func find(
        _ limit: Duration?, _ fits: @escaping @TendonActor (DiscoveredDevice) -> Bool
    ) async throws(BoseWearableError) -> DiscoveredDevice? {
        let answer = Answer()
        let first = Box<DiscoveredDevice?>(nil)
        let search = WearableSearch(
            manager.holder, rssiCutoff: configuration.rssiCutoff,
            changed: { device, _ in
                guard fits(device), first.value == nil || first.value?.address == device.address else { return }
                let isSecond = first.value != nil
                first.value = device
                if isSecond || device.name != nil { answer.finish(.success(device)) }
            },
            failed: { answer.finish(.failure(BoseWearableError($0))) })
        let timer = LoopTimer(Loop.shared.core) { answer.finish(.success(first.value)) }
        timer.deadline = Duration.deadline(limit)
        defer { timer.remove() }
        return try await run(search, until: answer)
    }

    /// Finds the strongest device within the time window; if none was found, within the next window.
    private func strongest(_ window: Duration) async throws(BoseWearableError) -> DiscoveredDevice? {
        let answer = Answer()
        let search = WearableSearch(
            manager.holder, rssiCutoff: configuration.rssiCutoff, changed: { _, _ in },
            failed: { answer.finish(.failure(BoseWearableError($0))) })
        let again = Box<LoopTimer?>(nil)
        let timer = LoopTimer(Loop.shared.core) {
            if let best = search.strongest { return answer.finish(.success(best)) }
            again.value?.deadline = Duration.deadline(max(window, .milliseconds(10)))
        }
        again.value = timer
        timer.deadline = Duration.deadline(window)
        defer {
            timer.remove()
            again.value = nil
        }
        return try await run(search, until: answer)
    }

    /// Calls the application's own choice. If the search fails, its sequence throws, and so does the attempt. Does not
    /// wait for a choice that ignores the cancellation of its task.
    private func ask(
        _ choice: @escaping @Sendable (EventSequence<[DiscoveredDevice]>) async -> DiscoveredDevice?
    ) async throws(BoseWearableError) -> DiscoveredDevice? {
        let queue = EventQueue<[DiscoveredDevice]>(.shared, capacity: 4, policy: .dropOldest)
        let known = Box<WearableSearch?>(nil)
        let failure = Box<TendonError?>(nil)
        let search = WearableSearch(
            manager.holder, rssiCutoff: configuration.rssiCutoff,
            changed: { _, change in
                if change != TENDON_BOSE_SEARCH_SEEN, let search = known.value { queue.push(search.devices) }
            },
            failed: { error in
                failure.value = error
                queue.finish(error)
            })
        known.value = search
        defer {
            known.value = nil
            queue.finish()
        }
        do { try search.start() } catch { throw BoseWearableError(error) }
        let answer = Answer()
        let choosing = Task { @TendonActor in answer.finish(.success(await choice(EventSequence(queue)))) }
        defer { choosing.cancel() }
        let device = try await answer.value()
        if device == nil, let error = failure.value { throw BoseWearableError(error) }
        return device
    }
}

/// A variable that closures of the loop's thread share.
private final class Box<Value>: @unchecked Sendable {
    // Used only on the loop's thread.
    var value: Value
    init(_ value: Value) { self.value = value }
}

/// Cancels its operation when the timeout has passed. For the loop's thread.
@TendonActor
final class Watchdog {
    private(set) var hasExpired = false
    /// A device was chosen: a later timeout is not a timeout of the search.
    var hasDevice = false
    private var timer: LoopTimer?
    private var remaining: UInt64?
    private var cancel: (() -> Void)?

    init(_ limit: Duration?) {
        guard limit != nil else { return }
        let timer = LoopTimer(Loop.shared.core) { [unowned self] in
            TendonActor.assumeIsolated {
                self.hasExpired = true
                self.cancel?()
            }
        }
        timer.deadline = Duration.deadline(limit)
        self.timer = timer
    }

    func run(
        _ body: @escaping @TendonActor () async throws(BoseWearableError) -> WearableDeviceSession
    ) async throws(BoseWearableError) -> WearableDeviceSession {
        guard !hasExpired else { throw .cancelled }
        let attempt = ConnectionTask(body)
        cancel = { attempt.cancel() }
        return try await attempt.value()
    }

    var isPaused: Bool { remaining != nil }

    /// Pauses the timeout while the user is prompted.
    func pause() {
        guard let timer, remaining == nil else { return }
        remaining = timer.deadline - min(timer.deadline, tendon_monotonic_ms())
        timer.deadline = .max
    }

    func resume() {
        guard let timer, let remaining else { return }
        self.remaining = nil
        let end = tendon_monotonic_ms().addingReportingOverflow(remaining)
        timer.deadline = end.overflow ? .max : end.partialValue
    }

    func stop() {
        timer?.remove()
        timer = nil
        cancel = nil
    }
}

extension Duration {
    /// Converts seconds of an application: not a number and negative values become 0; the maximum is a hundred years.
    init(clamping seconds: Double) {
        self = .seconds(seconds > 0 ? min(seconds, 100 * 365 * 86_400) : 0)
    }
}
