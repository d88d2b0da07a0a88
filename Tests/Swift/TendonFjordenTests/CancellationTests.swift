// SPDX-License-Identifier: MIT
import CTendon
import Tendon
import TestSupport
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
        // A command has 2 s, after which it ends with another error: a machine that was slower than that tries again.
        var result: Result<Void, any Error> = .success(())
        for _ in 0..<5 {
            let begun = ContinuousClock.now
            let isRunning = Flag()
            let task = Task { @TendonActor in
                isRunning.set()
                try await call()
            }
            await eventually("it runs") { isRunning.isSet }
            await turns()
            task.cancel()
            let isLate = ContinuousClock.now - begun > .seconds(1)
            result = await endsInTime(task, name)
            guard isLate, case .failure(let error) = result, error as? Failure != expected else { break }
        }
        #expect(throws: expected, name) { try result.get() }
        // Cancelled before it begins: nothing begins.
        let late = Task { @TendonActor in
            withUnsafeCurrentTask { $0?.cancel() }
            try await call()
        }
        await #expect(throws: expected, name) { try await late.value }
    }

    /// The time of an attempt is over before the loop has noticed: its error is not that of the next call.
    @Test @TendonActor func anAttemptThatIsOverIsReportedToItsCaller() async throws {
        let (manager, simulator) = try simulated { $0.connectionTimeoutThreshold = 0.001 }
        try await manager.start()
        simulator.setPresent(simulator.grip, false)
        let grip = ConnectableGrip(id: simulator.grip.address)
        var first: CallResult?, second: CallResult?
        manager.core.connect(grip) { first = $0 }
        let started = ContinuousClock.now
        while ContinuousClock.now - started < .milliseconds(2) {}
        #expect(first == nil)
        manager.core.connect(grip) { second = $0 }
        #expect(first == .failure(.connectionTimeout) && second == nil)
        await eventually("the second is over") { second == .failure(.connectionTimeout) }
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
        let core = try #require(Mirror(reflecting: grip).descendant("core") as? GripCore)
        simulator.grip.device.pointee.options.mute = true
        await cancelled(GripCommandError.cancelled, "ping") { _ = try await grip.ping([1]) }
        #expect(core.readings.response == nil, "nothing is kept for a call that has ended")
        simulator.grip.device.pointee.options.mute = false
        #expect(try await grip.ping([2]) == [2])
        #expect(core.readings.response == nil)
    }

    @Test @TendonActor func nothingIsLeftOfWhatIsAbandoned() async throws {
        let radio = virtualRadio()
        let device = try await SimulatedGrip.open(radio: radio, interval: .milliseconds(20))
        var configuration = GripManager.Configuration.system
        (configuration.radio, configuration.bonds) = (radio, .memory)
        configuration.persistentStorage = MemoryStorage()
        let manager = GripManager()
        manager.configure(with: configuration)
        _ = try await connectFirst(manager)
        let core = manager.core
        #expect(Set(leftovers(of: core)).isSuperset(of: ["states", "issues", "lists", "holder", "abandoned"]))
        core.abandon()
        #expect(leftovers(of: core) == [] && core.transport == nil)
        await eventually("the device sees us go") { device.connections == 0 }
    }

    @Test @TendonActor func attempts() async throws {
        let storage = MemoryStorage()
        storage.set("C0:00:00:00:00:01/random", forKey: "fjorden.bondedGrip.identifier")
        let (manager, simulator) = try simulated {
            $0.persistentStorage = storage
            $0.connectionTimeoutThreshold = 60  // a machine that is busy for the usual 5 s must not end an attempt
        }
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
        let (release, released) = AsyncStream.makeStream(of: Void.self)
        let (isAsked, hasAnswered) = (Flag(), Flag())
        let task = Task { @TendonActor in
            await manager.checkForFirmwareUpdate {
                isAsked.set()
                // Not interested in its cancellation.
                await Task.detached { for await _ in release {} }.value
                hasAnswered.set()
                return "9.9.9"
            }
        }
        await eventually("the server is asked") { isAsked.isSet }
        task.cancel()
        #expect(await endsInTime(task).get() == .error(.cancelled))
        #expect(!hasAnswered.isSet)
        released.finish()
    }

    /// Without a connection the call returns immediately.
    @Test @TendonActor func readingsWithoutAConnection() {
        let core = GripCore()
        var answers: [FjordenError?] = []
        core.whenInfoIsRead { if case .failure(let error) = $0 { answers.append(error) } }
        core.whenBatteryIsRead { if case .failure(let error) = $0 { answers.append(error) } }
        #expect(answers == [.gripUnableToReadGripInfo, .gripUnableToReadBatteryInfo])
    }
}
