// SPDX-License-Identifier: MIT
import CTendon
import Synchronization
import Tendon
import Testing

@testable import TendonFjorden

/// Every waiting function against a grip that is silent, out of reach or asking.
@Suite(.timeLimit(.minutes(1)))
struct CancellationTests {
    /// Cancels a call that hangs; it must end with the error within 100 ms.
    @TendonActor
    private func cancelled<Failure: Error & Equatable>(
        _ expected: Failure, _ name: Comment, _ call: @escaping @TendonActor () async throws -> Void
    ) async {
        let task = Task { @TendonActor in try await call() }
        try? await Task.sleep(for: .milliseconds(20))
        // What a busy machine adds: empty jobs beside the cancelled call, on the same threads.
        let delay = Task { () -> Duration in
            let start = ContinuousClock.now
            for _ in 0..<3 { await Loop.shared.run {} }
            return ContinuousClock.now - start
        }
        let start = ContinuousClock.now
        task.cancel()
        await #expect(throws: expected, name) { try await task.value }
        let took = ContinuousClock.now - start
        #expect(took < .milliseconds(100) + (await delay.value), name)
        // Cancelled before it begins: nothing begins.
        let late = Task { @TendonActor in
            withUnsafeCurrentTask { $0?.cancel() }
            try await call()
        }
        await #expect(throws: expected, name) { try await late.value }
    }

    @Test @TendonActor func readingsAndCommandsOfASilentGrip() async throws {
        let (manager, simulator) = try simulated()
        let grip = try await connectFirst(manager)
        simulator.setSilent(simulator.grip, true)
        await cancelled(FjordenError.cancelled, "battery") { _ = try await grip.readBatteryInfo(forceRefresh: true) }
        await cancelled(FjordenError.cancelled, "info") { _ = try await grip.readGripInfo(forceRefresh: true) }
        await cancelled(GripCommandError.cancelled, "ping") { _ = try await grip.ping() }
        #expect(FjordenError.cancelled.isCancelled && GripCommandError.cancelled.isCancelled)
        #expect(!FjordenError.unknown.isCancelled && !GripCommandError.busy.isCancelled)
    }

    /// The next command does not wait for the response to the cancelled one.
    @Test @TendonActor func aCommandAfterACancelledOne() async throws {
        let (manager, simulator) = try simulated()
        let grip = try await connectFirst(manager)
        simulator.grip.device.pointee.options.mute = true
        await cancelled(GripCommandError.cancelled, "ping") { _ = try await grip.ping([1]) }
        simulator.grip.device.pointee.options.mute = false
        #expect(try await grip.ping([2]) == [2])
    }

    @Test @TendonActor func attempts() async throws {
        let storage = MemoryStorage()
        storage.set("C0:00:00:00:00:01/random", forKey: "fjorden.bondedGrip.identifier")
        let (manager, simulator) = try simulated { $0.persistentStorage = storage }
        simulator.setPresent(simulator.grip, false)
        await cancelled(FjordenError.cancelled, "start") { try await manager.start() }
        await eventually("ready") { manager.state == .ready }
        await cancelled(FjordenError.cancelled, "bonded") { try await manager.connectToBondedGrip() }
        await eventually("ready") { manager.state == .ready }
        let address = simulator.grip.address
        await cancelled(FjordenError.cancelled, "connect") {
            try await manager.connect(toGrip: ConnectableGrip(id: address))
        }
        await eventually("ready") { manager.state == .ready }
        simulator.setPresent(simulator.grip, true)
        _ = try await manager.connectToBondedGrip()
    }

    /// In every phase of an attempt: one error.
    @Test @TendonActor func everyPhase() async throws {
        for delay in stride(from: 0, to: 40, by: 2) {
            let (manager, simulator) = try simulated()
            simulator.pairingDelay = .milliseconds(20)
            try await manager.start()
            let grip = ConnectableGrip(id: simulator.grip.address)
            let task = Task { @TendonActor in try await manager.connect(toGrip: grip) }
            try await Task.sleep(for: .milliseconds(delay))
            task.cancel()
            do {
                _ = try await task.value
                #expect(manager.isConnected)
            } catch {
                #expect(error as? FjordenError == .cancelled)
                await eventually("ready") { manager.state == .ready }
            }
        }
    }

    @Test @TendonActor func theFirmwareServer() async throws {
        let (manager, _) = try simulated()
        _ = try await connectFirst(manager)
        let task = Task { @TendonActor in
            await manager.checkForFirmwareUpdate {
                try? await Task.sleep(for: .milliseconds(300), tolerance: nil, clock: StubbornClock())
                return "9.9.9"
            }
        }
        try await Task.sleep(for: .milliseconds(20))
        let start = ContinuousClock.now
        task.cancel()
        #expect(await task.value == .error(.cancelled))
        #expect(ContinuousClock.now - start < .milliseconds(100))
    }

    /// Without a connection the answer comes at once.
    @Test @TendonActor func readingsWithoutAConnection() {
        let core = GripCore()
        var answers: [FjordenError?] = []
        core.whenInfoIsRead { if case .failure(let error) = $0 { answers.append(error) } }
        core.whenBatteryIsRead { if case .failure(let error) = $0 { answers.append(error) } }
        #expect(answers == [.gripUnableToReadGripInfo, .gripUnableToReadBatteryInfo])
    }
}

/// A clock whose sleep does not end with its task.
private struct StubbornClock: Clock {
    typealias Instant = ContinuousClock.Instant
    var now: Instant { ContinuousClock.now }
    var minimumResolution: Duration { .milliseconds(1) }
    func sleep(until deadline: Instant, tolerance: Duration?) async throws {
        await Task.detached { try? await Task.sleep(until: deadline, clock: .continuous) }.value
    }
}
