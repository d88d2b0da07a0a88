// SPDX-License-Identifier: MIT
// The radios of a run. An adapter that is missing, is unplugged or switched off is waited for; meanwhile the devices are connected to
// over the other radios, if there are any. The virtual radio is never used in its place.
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
    private static let shortestPause = UInt64(TENDON_GATEWAY_PAUSE_MS)
    private static let longestPause = UInt64(TENDON_GATEWAY_PAUSE_MAX_MS)

    /// Serves devices until the task is cancelled, or the only radio fails in another way than that its adapter is gone.
    func serveRadios() async throws(CommandError) {
        await turns.decide(by: self, agrees: agreement != nil)
        // The configuration is valid and the outputs are open; an adapter may come much later.
        ServiceManager.shared.send("READY=1")
        let heart = Task { @TendonActor in await ServiceManager.shared.beat() }
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
        await startAgenda()
        let events = reporter.events
        var failure = await withTaskCancellationHandler {
            await serveAll(capture)
        } onCancel: {
            events.ending()
        }
        events.ending()
        await finishTurns()
        await endAgenda()
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
        guard let file = settings.capture else { return nil }
        return try await LinkCapture.start(file)
    }

    private func closeRadios() async {
        for (radio, central) in state.withLock({ $0.centrals }) {
            await turns.stop(radio, central)
            await central.close()
        }
    }

    /// Opens the radios. Adapters that do not open are waited for, unless waiting cannot help.
    private func openRadios() async throws(CommandError) {
        for radio in settings.radios.indices {
            do throws(TendonError) {
                try await open(radio, settings.radios[radio])
            } catch {
                guard settings.waitsForAdapters, error.absence != TENDON_ADAPTER_UNUSABLE,
                    settings.radios[radio].isAdapter
                else {
                    await closeRadios()
                    throw CommandError(opening: error, for: settings.address)
                }
                reportWaiting(radio, error)
            }
        }
        announceRadios()
    }

    @discardableResult
    private func open(_ radio: Int, _ choice: RadioChoice) async throws(TendonError) -> Central {
        let opened = try await OpenedRadio.open(choice, for: settings.address, by: opener)
        let central = opened.central
        await central.setConnectionParameters(settings.connection)
        await commands.use(central)
        do throws(TendonError) {
            try await join(radio, opened)
        } catch {
            commands.leave(central)
            throw error
        }
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
        let choice = settings.radios[radio]
        var pause: UInt64 = 0
        var wasSwitchedOff = false
        while !Task.isCancelled {
            try? await Loop.shared.sleep(for: .milliseconds(pause))
            guard let central = await opened(radio, choice, wasSwitchedOff) else { return }
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
                wasSwitchedOff = removal?.absence == TENDON_ADAPTER_OFF
                pause = removal != nil ? 0 : min(max(2 * pause, Gateway.shortestPause), Gateway.longestPause)
                await leave(radio, central, error.message, removal?.members ?? [:])
            }
        }
    }

    // MARK: Without an adapter

    private func leave(_ radio: Int, _ central: Central, _ what: String, _ members: JSON) async {
        await leave(radio, central)
        commands.leave(central)
        report("radio_lost", radio, what, members)
        await central.close()
    }

    /// The radio did not open, and will be tried again. Reported once for each reason.
    private func reportWaiting(_ radio: Int, _ error: TendonError) {
        guard waiting(for: radio, because: describe(error)) else { return }
        report(
            "radio_waiting", radio, describe(error),
            (["remedy": .string(CommandError.radioAdvice)] as JSON).merging(error.members))
    }

    private func report(_ event: EventName, _ radio: Int, _ what: String, _ members: JSON) {
        _ = waiting(for: radio, because: what)
        reporter.events.event(
            event, nil, named(settings.adapter(of: radio), ["text": .string(what)]).merging(members))
        announceRadios()
    }

    /// The state of all radios, for the service manager, the table and the other outputs.
    private func announceRadios() {
        let (open, waiting) = radioStates
        let sentences = waiting.map {
            "waiting for \(settings.adapter(of: $0.radio) ?? "a Bluetooth adapter"): \($0.why)"
        }
        let state = ((open > 0 ? ["searching for devices"] : []) + sentences).joined(separator: "; ")
        ServiceManager.shared.send("STATUS=" + state)
        reporter.searching = state
        reporter.events.radios(open: open, waiting: sentences)
    }

    private func named(_ adapter: String?, _ members: JSON) -> JSON {
        adapter.map { (["adapter": .string($0)] as JSON).merging(members) } ?? members
    }

    /// The open radio; if its adapter is gone, waits for it, however long, and opens it. One that does not open is tried
    /// again after a pause, or as soon as an adapter comes. Nil: the task was cancelled.
    ///
    /// - Parameter wasSwitchedOff: the radio ended because of that. The adapter is left alone while a program is there that
    ///   may have done it on purpose.
    private func opened(_ radio: Int, _ choice: RadioChoice, _ wasSwitchedOff: Bool) async -> Central? {
        if let open = central(radio) { return open }
        var name: String?
        if case .bluez(let adapter, _) = choice { name = adapter }
        var pause = Gateway.shortestPause
        var waits = choice.isAdapter
        while true {
            if waits { await arrival(name, wasSwitchedOff) }
            if Task.isCancelled { return nil }
            var isMissing = false
            do throws(TendonError) {
                let central = try await open(radio, choice)
                let address = central.address
                announceRadios()
                reporter.events.event(
                    "radio_restored", nil,
                    named(
                        settings.adapter(of: radio),
                        ["radio": .string(central.radioName), "adapter_address": .string(address.description)]))
                return central
            } catch {
                if Task.isCancelled { return nil }
                reportWaiting(radio, error)
                isMissing = error.absence == TENDON_ADAPTER_MISSING
            }
            // Another wait without a limit would not end for an adapter that is not configured and was there before it.
            waits = wasSwitchedOff
            if isMissing, choice.isAdapter, !wasSwitchedOff {
                await arrival(of: name, within: pause)
            } else {
                try? await Loop.shared.sleep(for: .milliseconds(pause))
            }
            pause = min(2 * pause, Gateway.longestPause)
        }
    }

    /// Returns when the adapter may have come, at the latest after so many milliseconds.
    private func arrival(of name: String?, within pause: UInt64) async {
        await withTaskGroup(of: Void.self) { tasks in
            tasks.addTask { try? await Loop.shared.sleep(for: .milliseconds(pause)) }
            tasks.addTask { [arrival] in
                await arrival(name, false)
                try? await Loop.shared.sleep(for: .milliseconds(UInt64(TENDON_GATEWAY_ARRIVAL_MS)))
            }
            await tasks.next()
            tasks.cancelAll()
        }
    }
}

extension Central {
    /// Why the radio can no longer be used, if that is because its adapter is gone or was switched off.
    fileprivate var removal: TendonError? {
        core.failure.flatMap { [TENDON_ADAPTER_MISSING, TENDON_ADAPTER_OFF].contains($0.absence) ? $0 : nil }
    }
}

extension TendonError {
    fileprivate var absence: tendon_adapter_absence { tendon_adapter_absence_of(status) }
}
