// SPDX-License-Identifier: MIT
import CTendon
import Tendon

/// Settings as options of the C core, which checks them; and what the options borrow.
final class GatewayPlan: @unchecked Sendable {
    // Made by one task, then only read on the loop's thread.
    let options = CBlock<tendon_fleet_options>()
    private var directory: CText?
    private var definitions: [CBlock<tendon_definition>] = []

    init(_ settings: GatewaySettings) throws(GatewayError) {
        tendon_fleet_options_init(options.pointer)
        for file in settings.deviceFiles { try define(file) }
        try use(settings.radio)
        try setAdmission(settings)
        try set(settings.bose)
        try set(settings.feelspace)
        try set(settings.activ5)
        try set(settings.obvious)
        for (name, value) in settings.namedOptions.sorted(by: { $0.key < $1.key }) {
            try set(name, value.isEmpty ? nil : value)
        }
        var mistake = [CChar](repeating: 0, count: Int(TENDON_FLEET_MISTAKE_SIZE))
        if tendon_fleet_options_mistake(options.pointer, &mistake) { throw refused(text(mistake)) }
    }

    // MARK: Groups

    private func use(_ radio: GatewaySettings.Radio) throws(GatewayError) {
        switch radio {
        case .automatic: break
        case .adapters(let names):
            try set("radio", "bluez")
            for name in names { try set("adapter", name) }
        case .virtual(let path):
            try set("radio", "virtual")
            directory = path.map { CText($0) }
            options.pointer.pointee.directory = directory?.pointer
        }
    }

    private func setAdmission(_ settings: GatewaySettings) throws(GatewayError) {
        if let families = settings.families { try set("families", list: families.map(\.rawValue)) }
        for address in settings.onlyDevices { try add("address", address) }
        for address in settings.pairableDevices { try add("allow", address) }
        switch settings.pairing {
        case .never: break
        case .within(let time): try set("pair", "\(time.milliseconds / 1000 + (time.milliseconds % 1000 == 0 ? 0 : 1))")
        case .always: try set("pair", nil)
        }
        options.pointer.pointee.no_reconnect = !settings.reconnects
        options.pointer.pointee.coded = settings.includesCodedPHY
        options.pointer.pointee.no_gatt_cache = !settings.usesGATTCache
        options.pointer.pointee.is_exact = settings.isExact
        if let connection = settings.connection { options.pointer.pointee.connection = connection.c }
    }

    private func set(_ bose: GatewaySettings.Bose) throws(GatewayError) {
        try choose("sensors", bose.sensors)
        try set("period", bose.period.map { "\($0.milliseconds)" }, isGiven: bose.period != nil)
        try choose("gestures", bose.gestures)
    }

    private func set(_ belt: GatewaySettings.FeelSpace) throws(GatewayError) {
        let period = belt.orientationPeriod.map { "\($0.milliseconds)" }
        try set("orientation-period", period, isGiven: period != nil)
        try set("default-intensity", belt.defaultIntensity.map { "\($0)" }, isGiven: belt.defaultIntensity != nil)
    }

    private func set(_ trainer: GatewaySettings.Activ5) throws(GatewayError) {
        var measures = trainer.measures
        if measures == .all { measures = ["force", "imu"] }  // the option has no word for it
        try choose("measure", measures)
        try set("rate", trainer.rate.map { "\($0)" }, isGiven: trainer.rate != nil)
        try set("evergreen", nil, isGiven: trainer.isEvergreen)
    }

    private func set(_ obvious: GatewaySettings.Obvious) throws(GatewayError) {
        try set("product", obvious.product.map { "\($0)" }, isGiven: obvious.product != nil)
        if !obvious.features.isEmpty { try set("features", list: obvious.features.map { "\($0)" }) }
    }

    // MARK: One option

    private func set(_ name: String, _ value: String?, isGiven: Bool) throws(GatewayError) {
        if isGiven { try set(name, value) }
    }

    private func choose(_ name: String, _ selection: GatewaySettings.Selection?) throws(GatewayError) {
        switch selection {
        case .none: break
        case .some(.all): try set(name, "all")
        case .some(.only(let names)) where names.isEmpty: try set(name, "none")
        case .some(.only(let names)): try set(name, list: names)
        }
    }

    private func set(_ name: String, list words: [String]) throws(GatewayError) {
        // A comma in a word would make two of it.
        if words.contains(where: { $0.isEmpty || $0.contains(",") }) { throw refused(name, "\(words)") }
        try set(name, words.joined(separator: ","))
    }

    private func add(_ name: String, _ address: Address) throws(GatewayError) {
        try set(name, "\(address)/\(address.type == .public || address.type == .publicIdentity ? "public" : "random")")
    }

    /// - Parameter value: `nil`: the option has none.
    private func set(_ name: String, _ value: String?) throws(GatewayError) {
        let status = name.withCString { name in
            guard let value else { return tendon_fleet_options_set(options.pointer, name, nil) }
            return value.withCString { tendon_fleet_options_set(options.pointer, name, $0) }
        }
        guard status >= 0 else { throw refused(name, value, status) }
    }

    private func refused(
        _ name: String, _ value: String?, _ status: Int32 = Int32(TENDON_ERROR_INVALID_ARGUMENT)
    ) -> GatewayError {
        guard status != Int32(TENDON_ERROR_NOT_FOUND) else { return refused("there is no option '\(name)'", status) }
        var mistake = [CChar](repeating: 0, count: Int(TENDON_FLEET_MISTAKE_SIZE))
        if let value {
            tendon_fleet_option_mistake(name, value, &mistake)
        } else {
            tendon_fleet_option_mistake(name, nil, &mistake)
        }
        return refused("\(name) \(text(mistake))", status)
    }

    private func refused(
        _ text: String, _ status: Int32 = Int32(TENDON_ERROR_INVALID_ARGUMENT)
    ) -> GatewayError {
        GatewayError(.settings, text, cause: TendonError(status: status, operation: .start, detail: text))
    }

    // MARK: Device files

    private func define(_ file: GatewaySettings.DeviceFile) throws(GatewayError) {
        let (place, bytes) = try read(file)
        let definition = CBlock<tendon_definition>()
        let scratch = CBlock<tendon_definition_scratch>()
        var mistake = tendon_definition_mistake()
        let copy = CBytes(bytes)
        let parsed = tendon_definition_parse(copy.text, bytes.count, definition.pointer, scratch.pointer, &mistake)
        guard parsed >= 0 else {
            throw GatewayError(
                .settings, "\(place):\(mistake.line):\(mistake.column): \(text(in: mistake.text))",
                cause: TendonError(status: parsed, operation: .parse, detail: place))
        }
        let status = tendon_fleet_options_define(options.pointer, definition.pointer)
        guard status >= 0 else {
            let cause = TendonError(status: status, operation: .start, detail: place)
            let why =
                switch status {
                case Int32(TENDON_ERROR_TABLE_FULL): "there are 16 device files already"
                case Int32(TENDON_ERROR_MALFORMED): "its 'find' means devices that a file before it means as well"
                default: "there is a family of this name"
                }
            throw GatewayError(.settings, "\(place): \(why)", cause: cause)
        }
        definitions.append(definition)
    }

    private func read(_ file: GatewaySettings.DeviceFile) throws(GatewayError) -> (place: String, bytes: [UInt8]) {
        switch file {
        case .json(let text): return ("device file", Array(text.utf8))
        case .path(let path):
            do throws(TendonError) {
                return (path, try contents(of: path, limit: Int(TENDON_DEFINITION_FILE_MAX)))
            } catch {
                throw GatewayError(.settings, "\(path): \(error.text)", cause: error)
            }
        }
    }
}
