// SPDX-License-Identifier: MIT
// obvious info, features, update, toggle: one device.
import CTendon
import Tendon
import TendonObvious
import TendonSupport

private let dryRun = Option(
    name: "--dry-run", value: nil, help: "check everything, say what would be done, and do nothing")

extension Command {
    static let obviousInfo = Command(
        "obvious info",
        summary: "print serial number, versions and battery level of an Obvious device",
        details: ["Uses the first device in range, or the one given by --address. Needs no cloud."],
        options: ObviousAccess.options,
        common: Command.once,
        examples: [
            ("tendon obvious info --product 1234", "use the first device in range"),
            ("tendon obvious info --keys-file keys --json", "take the product from the keys; print as JSON"),
        ]
    ) { (arguments: Arguments) throws(CommandError) in
        guard arguments.operands.isEmpty else { throw .usage("obvious info takes no operands") }
        let access = try ObviousAccess(arguments, cloud: false)
        try await access.withDevice { (open) throws(CommandError) in
            let info = try await open.ask { (manager) throws(OcelotError) in try await manager.deviceInfo() }
            let members = info.members(open.product)
            access.events.result("information", open.label, members, text: readable(open.label.json.merging(members)))
        }
        return .done
    }

    static let obviousFeatures = Command(
        "obvious features", operands: "[FEATURE...]",
        summary: "print the features of an Obvious device and their states",
        details: [
            "FEATURE is a number. Without numbers, the cloud lists the features of the product; with numbers, no cloud is "
                + "needed."
        ],
        options: ObviousAccess.options + CloudAccess.options,
        common: Command.once,
        examples: [
            ("tendon obvious features", "list all features of the product"),
            ("tendon obvious features 16 17 --product 1234 --json", "two features as JSON, without a cloud"),
        ]
    ) { (arguments: Arguments) throws(CommandError) in
        let ids = try arguments.features()
        guard !ids.isEmpty || arguments.has("--cloud") || environment("TENDON_OBVIOUS_BASE_URL") != nil else {
            throw .usage(
                "features needs the numbers of features, or a cloud that lists them ($TENDON_OBVIOUS_BASE_URL)",
                next: "tendon obvious features 16 17 --product ID")
        }
        let access = try ObviousAccess(arguments, cloud: ids.isEmpty)
        try await access.withDevice { (open) throws(CommandError) in
            var features = ids.map { ObviousFeature(id: $0, name: "", isToggleable: true) }
            if ids.isEmpty {
                features = try await open.ask { (manager) throws(OcelotError) in try await manager.featureList() }
            }
            let numbers = features.map(\.id)
            let states = try await open.ask { (manager) throws(OcelotError) in
                try await manager.featureStatuses(of: numbers)
            }
            for feature in features {
                guard let state = states[feature.id] else { continue }
                access.events.feature(feature.id, sanitized(feature.name), state, open.label)
            }
        }
        return .done
    }

    static let obviousToggle = Command(
        "obvious toggle", operands: "FEATURE on|off|flip",
        summary: "switch a feature of an Obvious device on or off",
        details: ["The feature must be bought, and must have a switch. Needs no cloud."],
        options: ObviousAccess.options + [dryRun],
        common: Command.once,
        examples: [
            ("tendon obvious toggle 16 off --product 1234", "switch feature 16 off"),
            ("tendon obvious toggle 16 flip --product 1234 --dry-run", "say what would change"),
        ]
    ) { (arguments: Arguments) throws(CommandError) in
        guard arguments.operands.count == 2, ["on", "off", "flip"].contains(arguments.operands[1]) else {
            throw .usage("toggle takes a feature, and on, off or flip", next: "tendon obvious toggle 16 on")
        }
        let id = try ObviousFeature.id(arguments.operands[0])
        let word = arguments.operands[1]
        let isDry = arguments.has("--dry-run")
        let access = try ObviousAccess(arguments, cloud: false)
        try await access.withDevice { (open) throws(CommandError) in
            if isDry {
                let states = try await open.ask { (manager) throws(OcelotError) in
                    try await manager.featureStatuses(of: [id])
                }
                let state = states[id] ?? .Disabled
                let wanted = word == "flip" ? (state.toggleState == .Activated ? "off" : "on") : word
                access.events.dryRun(
                    "obvious toggle", "feature \(id) is \(state.words); would switch it \(wanted)", open.label)
                return
            }
            let state = try await open.ask { (manager) throws(OcelotError) in
                guard word != "flip" else { return try await manager.toggle(id) }
                let states = try await manager.setToggles([id: word == "on" ? .Activated : .Deactivated])
                return states[id] ?? .Disabled
            }
            access.events.feature(id, "", state, open.label)
        }
        return .done
    }

    static let obviousUpdate = Command(
        "obvious update",
        summary: "set the features of an Obvious device to what was bought",
        details: [
            "Gets a signed package from the cloud, verifies it, and sends it to the device; provisions the device before, if "
                + "necessary. A package of another device, an older one, or one that is not signed with a key of --keys-file is "
                + "rejected before a byte of it is sent. If the connection is lost, reconnects and continues."
        ],
        options: ObviousAccess.options + CloudAccess.options + [dryRun],
        common: Command.once,
        examples: [
            ("tendon obvious update --keys-file keys", "update the first device in range"),
            ("tendon obvious update --keys-file keys --dry-run", "read the device, and change nothing"),
        ]
    ) { (arguments: Arguments) throws(CommandError) in
        guard arguments.operands.isEmpty else { throw .usage("obvious update takes no operands") }
        let isDry = arguments.has("--dry-run")
        let access = try ObviousAccess(arguments, cloud: true)
        guard !(try CloudAccess.keys(arguments)).isEmpty else {
            throw .usage("without public keys no package can be verified", next: "--keys-file FILE")
        }
        try await access.withDevice { (open) throws(CommandError) in
            let events = access.events
            if isDry {
                let info = try await open.ask { (manager) throws(OcelotError) in try await manager.deviceInfo() }
                let start = info.isProvisioned ? "" : "provision the device, then "
                events.dryRun(
                    "obvious update",
                    "would \(start)set the features of device \(info.serialNumber ?? "") to what was bought; its last "
                        + "package is number \(info.featureCounter)", open.label)
                return
            }
            do throws(OcelotError) {
                try await open.manager.updateFeatures { events.step($0, open.label) }
            } catch {
                throw error.isCancelled
                    ? CommandError(.failed, "interrupted: the update is not complete", next: "the same command again")
                    : CommandError(error)
            }
        }
        return .done
    }
}

// MARK: - Events

extension Events {
    /// The state of a feature.
    func feature(_ id: Int, _ title: String, _ state: OcelotFeatureStatus, _ label: DeviceLabel) {
        let line = "\(right("\(id)", 5))  \(left(title, 20))  \(state.words)\n"
        result("feature", label, state.members(id, title), text: line)
    }

    /// A step of an update, or its result.
    fileprivate func step(_ update: OcelotFeatureUpdate, _ label: DeviceLabel) {
        switch update {
        case .updateStatus(let status):
            let name = FeatureUpdateConstants.name(status) ?? "\(status)"
            result("update", label, ["step": "features", "status": .string(name)], text: "update: \(name)\n")
        case .provisioningStatus(let status):
            let name = ProvisionUpdateConstants.name(status) ?? "\(status)"
            result("update", label, ["step": "provisioning", "status": .string(name)], text: "provisioning: \(name)\n")
        default: break
        }
    }
}

extension OcelotFeatureStatus {
    func members(_ id: Int, _ title: String) -> JSON {
        let feature = tendon_obvious_feature(
            id: UInt16(clamping: id), enable: UInt8(clamping: enableState.rawValue),
            toggle: UInt8(clamping: toggleState.rawValue))
        var members = feature.members
        if !title.isEmpty { members["title"] = .string(title) }
        return members
    }

    /// For people.
    var words: String {
        let state = members(0, "")["state"]?.string ?? ""
        return switch toggleState {
        case .Activated: "\(state), on"
        case .Deactivated: "\(state), off"
        default: state
        }
    }
}

extension OcelotDeviceInfo {
    func members(_ product: String) -> JSON {
        func known(_ text: String?) -> JSON { text.map { .string(sanitized($0)) } ?? .null }
        return [
            "product": .string(product), "serial": known(serialNumber), "firmware": known(firmwareVersion),
            "bootloader": known(bootLoaderVersion), "radio_stack": known(softDeviceVersion),
            "battery_percent": battery.map { JSON($0) } ?? .null, "provisioned": .bool(isProvisioned),
            "counter": JSON(featureCounter),
        ]
    }
}

extension ObviousFeature {
    static func id(_ text: String) throws(CommandError) -> Int {
        guard let id = parseInteger(text), (1...1024).contains(id) else {
            throw .usage(
                "'\(sanitized(text))' is not the number of a feature, 1 to 1024", next: "tendon obvious features")
        }
        return id
    }
}

extension Arguments {
    /// The operands as numbers of features.
    fileprivate func features() throws(CommandError) -> [Int] {
        var ids: [Int] = []
        for word in operands { ids.append(try ObviousFeature.id(word)) }
        return ids
    }
}

extension tendon_obvious_feature {
    /// The members of the event `feature`.
    var members: JSON {
        var (feature, line) = (self, LineWriter())
        line.open("{")
        line.members { tendon_obvious_feature_members($0, &feature) }
        line.close("}")
        return (try? JSON(parsing: line.bytes)) ?? [:]
    }
}
