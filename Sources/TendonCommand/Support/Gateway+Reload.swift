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

    /// Reads the file. With a mistake everything stays as it is. Connections end only of devices whose settings changed or
    /// that are no longer served; the former connect again with their new settings.
    func reload(_ origin: Origin) {
        ServiceManager.shared.sendReloading()
        defer { ServiceManager.shared.send("READY=1") }
        let events = reporter.events
        let before = plan
        do throws(CommandError) {
            let configuration = try Configuration(reading: origin.path).checked()
            let next = try DeviceNames.shared.trying(configuration.names) { () throws(CommandError) in
                try GatewayPlan(origin.options, configuration, family: origin.family)
            }
            let restarted = replace(next)
            events.event(
                "reloaded", nil,
                [
                    "file": .string(origin.path), "restarted": JSON(restarted),
                    "needs_restart": JSON(before.fixedKeys(changedIn: next).map(JSON.string)),
                ])
        } catch {
            events.event("reload_failed", nil, ["file": .string(origin.path), "text": .string(error.message)])
        }
    }
}
