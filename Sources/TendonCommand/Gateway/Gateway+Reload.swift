// SPDX-License-Identifier: MIT
// SIGHUP: the configuration file is read again while devices are served.
import Tendon
import TendonSupport

extension Gateway {
    /// What a run needs to read its configuration again.
    struct Origin: Sendable {
        var options: Arguments
        var family: String?
        var path: String
    }

    /// Reads the file. With a mistake everything stays as it is. What takes effect at once and what needs a restart is in
    /// the table of settings. Connections end only of devices whose settings changed or
    /// that are no longer served; the former connect again with their new settings.
    func reload(_ origin: Origin) {
        ServiceManager.shared.sendReloading()
        defer { ServiceManager.shared.send("READY=1") }
        let events = reporter.events
        let running = plan
        do throws(CommandError) {
            guard !WholeFile.isSpecial(origin.path) else {
                throw .usage("'\(sanitized(origin.path))' is no file: what a pipe had was read at the start")
            }
            let configuration = try Configuration(reading: origin.path).checked()
            let next = try DeviceNames.shared.trying(configuration.names) { () throws(CommandError) in
                // The next start would find it, which may be after a power cut.
                if let wrong = SettingsCheck.problems(origin.options, configuration).first {
                    throw .usage(configuration.place(wrong.line) + wrong.text)
                }
                return try GatewayPlan(origin.options, configuration, family: origin.family, replacing: running)
            }
            let restarted = replace(next)
            events.event(
                "reloaded", nil,
                [
                    "file": .string(origin.path), "restarted": JSON(restarted),
                    "needs_restart": JSON(next.needsRestart.map(JSON.string)),
                ])
        } catch {
            events.event("reload_failed", nil, ["file": .string(origin.path), "text": .string(error.message)])
        }
    }

    /// Takes another plan. Returns the number of sessions that end because of it.
    func replace(_ plan: GatewayPlan) -> Int {
        rules.replace(plan.rules, plan.programs)
        Log.level = plan.settings.logLevel
        let (labels, changed, excluded) = state.withLock { state in
            let before = state.plan
            state.plan = plan
            let labels = state.known.values.compactMap { $0.label.rename($0.name) ? $0.label : nil }
            // Also of turns that have no session yet.
            let served = state.turns.mapValues(\.family).merging(state.known.mapValues { $0.label.family ?? "" }) { $1 }
            let changed = served.filter { !before.servesEqually($0.key, family: $0.value, as: plan) }
            for address in changed.keys { state.known[address]?.server = nil }
            let excluded = changed.filter { !plan.serves($0.key, family: $0.value) }.map(\.key)
            return (labels, changed.keys.map { ($0, state.turns[$0]?.task) }, excluded)
        }
        for label in labels { reporter.events.device(label, is: .renamed) }
        for (_, turn) in changed { turn?.cancel() }
        Loop.shared.runOrPost { [turns] in
            TendonActor.assumeIsolated {
                turns.recallAll()
                // What was wrong with it may have been its settings.
                for (address, _) in changed { turns.readmit(address) }
            }
        }
        for address in excluded { forgetServed(address) }
        leaveAlone(plan)
        return changed.count { $0.1 != nil }
    }

    /// The outputs may remember devices of earlier runs that the configuration excludes.
    func leaveAlone(_ plan: GatewayPlan) {
        for address in plan.excluded where state.withLock({ $0.known[address] == nil }) {
            reporter.events.device(DeviceLabel(nil, address), is: .forgotten)
        }
    }
}
