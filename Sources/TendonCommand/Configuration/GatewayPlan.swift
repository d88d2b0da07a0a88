// SPDX-License-Identifier: MIT
// What options and configuration decide about a run: which devices are served, and with which settings.
import Tendon
import TendonSupport

/// Everything is checked when a plan is made.
final class GatewayPlan: Sendable {
    let settings: StreamSettings
    let rules: [Rule]
    /// By name.
    let programs: [String: Program]
    private let streams: [String: any ServerSource]
    private let devices: [Device]
    /// The arguments of devices without a section.
    private let arguments: Arguments
    /// Of the configuration.
    private let path: String?
    /// Keys with other values than those of the running plan, which take effect at the next start only.
    let needsRestart: [String]

    private struct Device: Sendable {
        let address: WantedAddress
        let isServed: Bool
        let arguments: Arguments
        /// Of families whose settings the section changes.
        let streams: [String: any ServerSource]

        init(
            _ device: Configuration.Device, _ arguments: Arguments, _ streams: [String: any ServerSource]
        ) throws(CommandError) {
            let own = arguments.configured(by: device)
            var changed: [String: any ServerSource] = [:]
            for row in families where streams[row.name] != nil {
                guard row.stream.options.contains(where: { own.all($0.name) != arguments.all($0.name) }) else {
                    continue
                }
                changed[row.name] = try row.stream.make(own)
            }
            (address, isServed, self.arguments, self.streams) = (device.address, device.isServed, own, changed)
        }
    }

    /// - Parameters:
    ///   - family: only this one; nil: all that the settings take.
    ///   - running: the plan that this one replaces: it keeps the values of those settings that need a restart.
    init(
        _ options: Arguments, _ configuration: Configuration?, family: String?, capture: CaptureFile? = nil,
        replacing running: GatewayPlan? = nil
    ) throws(CommandError) {
        var arguments = options.configured(by: configuration)
        if let running {
            let wanted = arguments
            needsRestart = SettingsTable.fixed.filter { wanted.all($0.name) != running.arguments.all($0.name) }.map {
                ($0.setting.map { "\($0.section)." } ?? "") + $0.key
            }
            arguments.take(SettingsTable.fixed, from: running.arguments)
        } else {
            needsRestart = []
        }
        let settings = try StreamSettings(arguments, capture: capture)
        var streams: [String: any ServerSource] = [:]
        for row in families where family.map({ $0 == row.name }) ?? settings.served.contains(row.name) {
            streams[row.name] = try row.stream.make(arguments)
        }
        var devices: [Device] = []
        for device in configuration?.devices ?? [] {
            devices.append(try Device(device, arguments, streams))
        }
        programs = configuration?.executables ?? [:]
        rules = try GatewayPlan.rules(arguments, streams, programs, of: configuration)
        self.settings = settings
        self.streams = streams
        self.devices = devices
        self.arguments = arguments
        path = configuration?.path
    }

    private static func rules(
        _ arguments: Arguments, _ streams: [String: any ServerSource], _ programs: [String: Program],
        of configuration: Configuration?
    ) throws(CommandError) -> [Rule] {
        let rules = try Rule.all(arguments)
        for rule in rules {
            for family in rule.families where streams[family] == nil {
                throw .usage("the rule '\(rule.text)': \(family) is not streamed here", next: "tendon run")
            }
            guard let mistake = rule.mistake(amongPrograms: Array(programs.keys)) else { continue }
            throw .usage(
                mistake, next: configuration.map { "tendon config check \(sanitized($0.path))" } ?? "--config FILE")
        }
        return rules
    }

    /// Why no device can be served, and what to do about it; nil: some can.
    var obstacle: CommandError? {
        if streams.isEmpty {
            return CommandError(.noDevice, "no family is served: see --families and --ignore", next: "--families all")
        }
        guard settings.served.knownOnly, !devices.contains(where: \.isServed) else { return nil }
        return CommandError(
            .noDevice,
            "--known-only leaves every device alone: the configuration has no section of a device that is served",
            next: "[device ADDRESS] in \(path.map(sanitized) ?? "the file of --config") for each device; 'tendon scan "
                + "--families all\(settings.radios[0].words)' shows addresses")
    }

    private func device(_ address: Address) -> Device? { devices.first { $0.address.matches(address) } }

    /// Nil: several families are served.
    var onlyFamily: String? { streams.count == 1 ? streams.keys.first : nil }

    /// Whether a device that is served may send its orientation.
    var sendsOrientations: Bool {
        let own = devices.filter(\.isServed).flatMap(\.streams.values)
        return (Array(streams.values) + own).contains { ($0 as? BoseStream)?.sendsOrientations ?? false }
    }

    /// Whether a device of this family is connected to.
    func serves(_ address: Address, family: String) -> Bool {
        guard streams[family] != nil, settings.address?.matches(address) ?? true else { return false }
        return device(address)?.isServed ?? !settings.served.knownOnly
    }

    /// Devices that the configuration excludes, with each type that their addresses may have.
    var excluded: [Address] { devices.filter { !$0.isServed }.flatMap { $0.address.addresses.map { Address($0) } } }

    /// A device that the settings name.
    func isNamed(_ address: Address) -> Bool { settings.address != nil || device(address) != nil }

    func stream(of address: Address, family: String) -> (any ServerSource)? {
        device(address)?.streams[family] ?? streams[family]
    }

    /// Whether a session of the device goes on unchanged with another plan.
    func servesEqually(_ address: Address, family: String, as other: GatewayPlan) -> Bool {
        guard serves(address, family: family), other.serves(address, family: family) else { return false }
        let (own, others) = (
            device(address)?.arguments ?? arguments, other.device(address)?.arguments ?? other.arguments
        )
        let options = Family.named(family)?.stream.options ?? []
        return options.allSatisfy { own.all($0.name) == others.all($0.name) }
    }
}
