// SPDX-License-Identifier: MIT
// The radios of a run. When an adapter is unplugged, the run waits for it, opens it and goes on; meanwhile the devices are
// connected to over the other radios, if there are any.
import CTendon
import Tendon
import TendonSupport

extension StreamSettings {
    /// The adapter's name, for events; nil: the run has one radio.
    func adapter(of radio: Int) -> String? {
        guard radios.count > 1, case .bluez(let adapter, _) = radios[radio] else { return nil }
        return adapter
    }
}

extension Gateway {
    /// Milliseconds before an adapter that did not open is tried again: at first, and at most.
    private static let shortestPause: UInt64 = 1000
    private static let longestPause: UInt64 = 30_000

    /// Serves devices until the task is cancelled, or the only radio fails in another way than that its adapter is gone.
    func serveRadios() async throws(CommandError) {
        let heart = Task { await ServiceManager.shared.beat() }
        defer { heart.cancel() }
        commands.onDisconnect { [weak self] in self?.disconnect($0) }
        try await openRadios()
        let capture: LinkCapture?
        do throws(CommandError) {
            capture = try await startCapture()
        } catch {
            await closeRadios()
            throw error
        }
        let pump = Task { try await self.pump() }
        var failure = await serveAll(capture)
        await finishTurns()
        pump.cancel()
        await countLost()
        await countAdapters()
        do throws(CommandError) {
            try await capture?.stop()
        } catch {
            failure = failure ?? error
        }
        await closeRadios()
        if let failure { throw failure }
    }

    private func startCapture() async throws(CommandError) -> LinkCapture? {
        guard let path = settings.capture else { return nil }
        return try await LinkCapture.start(path)
    }

    private func closeRadios() async {
        for central in centrals { await central.close() }
    }

    /// What is done from time to time, while a radio is open.
    private func pump() async throws {
        for turn in 0... {
            startTurns()
            rules.tick()
            if turn % Gateway.turnsPerTiming == 0 {
                var timings: [Address: ConnectionTiming] = [:]
                for central in centrals { timings.merge(await central.connectionTimings()) { $1 } }
                report(timings)
                await countLost()
                await countAdapters()
            }
            if turn % Gateway.turnsPerSignal == 0 {
                var signals: [Address: Int] = [:]
                for central in centrals { signals.merge(await central.connectionSignals()) { $1 } }
                hear(signals)
            }
            try await Task.sleep(for: .milliseconds(centrals.isEmpty ? 500 : 100))
        }
    }

    /// Opens the radios. At least one must open; those that do not are waited for like adapters that were unplugged.
    private func openRadios() async throws(CommandError) {
        var failures: [(radio: Int, error: TendonError)] = []
        for radio in settings.radios.indices {
            do throws(TendonError) {
                try await open(radio, settings.radios[radio])
            } catch {
                failures.append((radio, error))
            }
        }
        guard let first = failures.first else { return }
        guard !centrals.isEmpty, settings.reconnects else {
            await closeRadios()
            throw CommandError(opening: first.error, for: settings.address)
        }
        for (radio, error) in failures { reportLoss(radio, describe(error), error.members) }
    }

    @discardableResult
    private func open(_ radio: Int, _ choice: RadioChoice) async throws(TendonError) -> Central {
        let opened = try await OpenedRadio.open(choice, for: settings.address, by: opener)
        let central = opened.central
        await central.setConnectionParameters(settings.connection)
        let policy = commands.pairing ?? settings.pairing
        await policy.apply(to: central)
        try await join(radio, opened)
        commands.use(centrals, policy)
        return central
    }

    /// Until the task is cancelled, or the first radio ends and is not opened again. Returns why.
    private func serveAll(_ capture: LinkCapture?) async -> CommandError? {
        await withTaskGroup(of: CommandError?.self) { tasks in
            for radio in settings.radios.indices {
                tasks.addTask {
                    do throws(CommandError) {
                        try await self.serve(radio, capture)
                        return nil
                    } catch {
                        return error
                    }
                }
            }
            var failure: CommandError?
            for await ending in tasks {
                failure = failure ?? ending
                tasks.cancelAll()
            }
            return failure
        }
    }

    /// With one of the radios, which is opened again as often as its adapter comes back. If it fails in another way, the
    /// other radios go on, and it is tried again after a pause.
    private func serve(_ radio: Int, _ capture: LinkCapture?) async throws(CommandError) {
        var choice = settings.radios[radio]
        var pause: UInt64 = 0
        while !Task.isCancelled {
            try? await Task.sleep(for: .milliseconds(pause))
            guard let central = await opened(radio, choice) else { return }
            do throws(CommandError) {
                try await settings.pairingChoice.apply(to: central)
                await capture?.follow(central)
                if let address = settings.address?.complete, !searches(radio) {
                    try await attend(address, radio, central)
                } else {
                    try await translating { () throws(TendonError) in try await scan(radio, central, capture) }
                }
                return
            } catch {
                let removal = await central.removal
                guard settings.reconnects, !Task.isCancelled, removal != nil || centrals.count > 1 else { throw error }
                // An adapter was there: the virtual radio is not in its place.
                if choice == .automatic { choice = .bluez() }
                pause = removal != nil ? 0 : min(max(2 * pause, Gateway.shortestPause), Gateway.longestPause)
                await leave(radio, central, error.message, removal?.members ?? [:])
            }
        }
    }

    // MARK: Without an adapter

    private func leave(_ radio: Int, _ central: Central, _ what: String, _ members: JSON) async {
        await leave(radio, central)
        commands.use(centrals, commands.pairing)
        reportLoss(radio, what, members)
        await central.close()
    }

    private func reportLoss(_ radio: Int, _ what: String, _ members: JSON) {
        let adapter = settings.adapter(of: radio)
        let state = "waiting for " + (adapter ?? "a Bluetooth adapter")
        ServiceManager.shared.send("STATUS=" + (centrals.isEmpty ? state : "searching for devices, " + state))
        let line = named(adapter, ["text": .string(what)])
        reporter.events.event("radio_lost", nil, line.merging(members))
    }

    private func named(_ adapter: String?, _ members: JSON) -> JSON {
        adapter.map { (["adapter": .string($0)] as JSON).merging(members) } ?? members
    }

    /// The open radio; if its adapter is gone, waits for it, however long, and opens it. One that does not open is tried
    /// again after a pause. Nil: the task was cancelled.
    private func opened(_ radio: Int, _ choice: RadioChoice) async -> Central? {
        if let open = central(radio) { return open }
        var name: String?
        if case .bluez(let adapter, _) = choice { name = adapter }
        var pause = Gateway.shortestPause
        while true {
            do throws(TendonError) {
                try await Central.waitForAdapter(name)
                let central = try await open(radio, choice)
                let address = central.address
                reporter.events.event(
                    "radio_restored", nil,
                    named(
                        settings.adapter(of: radio),
                        ["radio": .string(central.radioName), "adapter_address": .string(address.description)]))
                return central
            } catch {
                if Task.isCancelled { return nil }
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
