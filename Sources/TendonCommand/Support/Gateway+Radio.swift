// SPDX-License-Identifier: MIT
// The radios of a run, one after the other: when the adapter is unplugged, the run waits for one, opens it and goes on.
import CTendon
import Tendon
import TendonSupport

extension Gateway {
    /// Milliseconds before an adapter that did not open is tried again: at first, and at most.
    private static let shortestPause: UInt64 = 1000
    private static let longestPause: UInt64 = 30_000

    /// Serves devices until the task is cancelled, or the radio fails in another way than that its adapter is gone.
    func serveRadios() async throws(CommandError) {
        let heart = Task { await ServiceManager.shared.beat() }
        defer { heart.cancel() }
        commands.onDisconnect { [weak self] in self?.disconnect($0) }
        var choice = settings.radio
        var central = try await translating { () throws(TendonError) in try await self.open(choice) }
        var capture: LinkCapture?
        var failure: CommandError?
        repeat {
            do throws(CommandError) {
                try await settings.pairingChoice.apply(to: central)
                if let path = settings.capture, capture == nil {
                    capture = try await LinkCapture.start(path, on: central)
                }
                try await serve(central, capture)
            } catch {
                failure = error
            }
            guard let lost = await central.removal, settings.reconnects, !Task.isCancelled else { break }
            // An adapter was there: the virtual radio is not in its place.
            if choice == .automatic { choice = .bluez() }
            await leave(central, lost)
            do throws(CommandError) {
                central = try await reopen(choice)
                await capture?.move(to: central)
                failure = nil
            } catch {
                failure = Task.isCancelled ? nil : error
                break
            }
        } while failure == nil
        do throws(CommandError) {
            try await capture?.stop()
        } catch {
            failure = failure ?? error
        }
        await central.close()
        if let failure { throw failure }
    }

    private func open(_ choice: RadioChoice) async throws(TendonError) -> Central {
        let central = try await Central(radio: choice, gattCache: settings.gattCache)
        await central.setConnectionParameters(settings.connection)
        let policy = commands.pairing ?? settings.pairing
        await policy.apply(to: central)
        commands.use(central, policy)
        return central
    }

    /// With one radio.
    private func serve(_ central: Central, _ capture: LinkCapture?) async throws(CommandError) {
        let pump = Task {
            for turn in 0... {
                if Task.isCancelled { break }
                self.startTurns(central)
                self.rules.tick()
                if turn % Gateway.turnsPerTiming == 0 { self.report(await central.connectionTimings()) }
                if turn % Gateway.turnsPerSignal == 0 { self.hear(await central.connectionSignals()) }
                if turn % Gateway.turnsPerTiming == 0 { await self.countLost(central) }
                try await Task.sleep(for: .milliseconds(100))
            }
        }
        defer { pump.cancel() }
        do {
            try await translating { () throws(TendonError) in try await scan(central, capture) }
        } catch {
            if await central.removal == nil { await finishTurns() }
            await countLost(central)
            throw error
        }
        await finishTurns()
        await countLost(central)
    }

    // MARK: Without an adapter

    private func leave(_ central: Central, _ error: TendonError) async {
        ServiceManager.shared.send("STATUS=waiting for a Bluetooth adapter")
        await leaveRadio()
        reporter.events.event("radio_lost", nil, (["text": .string(describe(error))] as JSON).merging(error.members))
        await central.close()
    }

    /// Waits for the adapter, however long, and opens it. One that does not open is tried again after a pause.
    private func reopen(_ choice: RadioChoice) async throws(CommandError) -> Central {
        var name: String?
        if case .bluez(let adapter, _) = choice { name = adapter }
        var pause = Gateway.shortestPause
        while true {
            do throws(TendonError) {
                try await Central.waitForAdapter(name)
                let central = try await open(choice)
                resumeTurns()
                let address = central.address
                reporter.events.event(
                    "radio_restored", nil,
                    ["radio": .string(central.radioName), "adapter_address": .string(address.description)])
                return central
            } catch {
                if Task.isCancelled { throw CommandError(error) }
                Log.write(.notice, describe(error))
            }
            try? await Task.sleep(for: .milliseconds(pause))
            pause = min(2 * pause, Gateway.longestPause)
        }
    }
}

extension Central {
    /// Why the radio can no longer be used, if that is because its adapter is gone.
    fileprivate var removal: TendonError? {
        guard let failure = core.failure, failure.status == Int32(TENDON_RADIO_ERROR_NO_ADAPTER) else { return nil }
        return failure
    }
}
