// SPDX-License-Identifier: MIT
// Fjorden grip: the manager's state machine, step by step.
import CTendon
import Tendon
import TendonSupport

extension FjordenVectors {
    /// The outputs of the state machine, in order.
    private final class Outputs {
        var list: [JSON] = []
    }

    @Sendable static func manager(_ input: JSON) throws(VectorError) -> JSON {
        let outputs = Outputs()
        let machine = UnsafeMutablePointer<tendon_fjorden_manager>.allocate(capacity: 1)
        defer { machine.deallocate() }
        machine.initialize(to: tendon_fjorden_manager())
        tendon_fjorden_manager_init(
            machine,
            { context, manager, output in
                guard let context, let manager, let output else { return }
                let outputs = Unmanaged<Outputs>.fromOpaque(context).takeUnretainedValue()
                outputs.list.append(FjordenVectors.json(manager, output.pointee))
            }, Unmanaged.passUnretained(outputs).toOpaque())
        let table = CTable<tendon_fjorden_grip>(capacity: Int(TENDON_FJORDEN_GRIPS_MAX))
        defer { withExtendedLifetime(table) {} }
        tendon_fjorden_manager_set_table(machine, table.pointer, table.capacity)
        for step in input["sequence"]?.array ?? [] {
            try perform(step, machine)
        }
        let grip = machine.pointee.grip
        return withExtendedLifetime(outputs) {
            [
                "out": .array(outputs.list),
                "final_state": .string(stateName(machine.pointee.state, text(of: grip.name))),
            ]
        }
    }

    // MARK: Out

    private static func stateName(_ state: tendon_fjorden_manager_state, _ name: String) -> String {
        let word = text(tendon_fjorden_manager_state_name(state))
        let hasGrip = state == TENDON_FJORDEN_CONNECTING || state == TENDON_FJORDEN_CONNECTED
        return hasGrip ? "\(word)(\(name))" : word
    }

    private static let calls = ["configure", "start", "scan", "stop_scan", "connect", "connect_bonded", "forget"]

    private static func json(
        _ manager: UnsafePointer<tendon_fjorden_manager>, _ output: tendon_fjorden_output
    ) -> JSON {
        let time = JSON(output.time_ms)
        let name = output.grip.map { text(of: $0.pointee.name) } ?? ""
        let identifier = output.grip.map { text(of: $0.pointee.identifier) } ?? ""
        switch output.kind {
        case TENDON_FJORDEN_OUT_STATE: return [time, "state", .string(stateName(output.state, name))]
        case TENDON_FJORDEN_OUT_RESULT:
            let said = output.gives_state ? stateName(output.state, name) : "ok"
            let result = output.status < 0 ? Self.name(output.status) : said
            return [time, "result", .string(calls[Int(output.call.rawValue)]), .string(result)]
        case TENDON_FJORDEN_OUT_GRIPS:
            let list = (0..<manager.pointee.grip_count).map { index in
                let grip = manager.pointee.grips[index]
                return JSON.array([.string(text(of: grip.identifier)), .string(text(of: grip.name)), .real(grip.rssi)])
            }
            return [time, "grips", .array(list)]
        case TENDON_FJORDEN_OUT_CONNECT: return [time, "connect", .string(identifier)]
        case TENDON_FJORDEN_OUT_STORE_BOND: return [time, "store_bond", .string(identifier), .string(name)]
        case TENDON_FJORDEN_OUT_REQUEST_PERMISSION: return [time, "ask_permission"]
        case TENDON_FJORDEN_OUT_SCAN_START: return [time, "scan_start"]
        case TENDON_FJORDEN_OUT_SCAN_STOP: return [time, "scan_stop"]
        case TENDON_FJORDEN_OUT_DISCONNECT: return [time, "disconnect"]
        case TENDON_FJORDEN_OUT_DISCOVER_SERVICES: return [time, "discover_services"]
        case TENDON_FJORDEN_OUT_DISCOVER_CHARACTERISTICS: return [time, "discover_characteristics"]
        case TENDON_FJORDEN_OUT_PAIR: return [time, "pair"]
        case TENDON_FJORDEN_OUT_READ_FIRMWARE: return [time, "read_firmware"]
        case TENDON_FJORDEN_OUT_ENABLE_NOTIFY: return [time, "enable_notify"]
        default: return [time, "remove_bond"]
        }
    }

    // MARK: In

    private static let steps: [String: tendon_fjorden_input_kind] = [
        "configure": TENDON_FJORDEN_CALL_CONFIGURE, "start": TENDON_FJORDEN_CALL_START,
        "scan": TENDON_FJORDEN_CALL_SCAN, "stop_scan": TENDON_FJORDEN_CALL_STOP_SCANNING,
        "connect": TENDON_FJORDEN_CALL_CONNECT, "connect_bonded": TENDON_FJORDEN_CALL_CONNECT_BONDED,
        "forget": TENDON_FJORDEN_CALL_FORGET, "permission": TENDON_FJORDEN_ON_PERMISSION,
        "power": TENDON_FJORDEN_ON_POWER, "adv": TENDON_FJORDEN_ON_ADVERTISEMENT,
        "link_up": TENDON_FJORDEN_ON_LINK_UP, "link_down": TENDON_FJORDEN_ON_LINK_DOWN,
        "services": TENDON_FJORDEN_ON_SERVICES, "characteristics": TENDON_FJORDEN_ON_CHARACTERISTICS,
        "pairing": TENDON_FJORDEN_ON_PAIRING, "firmware": TENDON_FJORDEN_ON_FIRMWARE,
        "notify": TENDON_FJORDEN_ON_NOTIFY, "tick": TENDON_FJORDEN_ON_TICK,
    ]

    private static func perform(
        _ step: JSON, _ machine: UnsafeMutablePointer<tendon_fjorden_manager>
    ) throws(VectorError) {
        let name = try string("op", in: step)
        if name == "env" { return try environment(step, machine) }
        guard let kind = kindsByName(name) else { throw VectorError("unknown_step", name) }
        guard let time: UInt64 = try number("t_ms", in: step) else { throw VectorError("bad_input", "t_ms") }
        var input = tendon_fjorden_input()
        input.kind = kind
        let flag = step["ask"] ?? step["allow"] ?? step["on"] ?? step["ok"]
        input.ok = flag?.bool ?? (kind != TENDON_FJORDEN_CALL_START)
        input.grip = grip(step)
        guard kind == TENDON_FJORDEN_CALL_CONFIGURE || step["value"]?.string != nil else {
            return tendon_fjorden_manager_input(machine, time, &input)
        }
        var wanted = configuration(step)
        if let timeout: UInt64 = try number("timeout_ms", in: step, default: wanted.timeout_ms) {
            wanted.timeout_ms = timeout
        }
        // One byte is there even for an empty text: it is a text that was read.
        let text = Array((step["value"]?.string ?? "").utf8) + [0]
        withUnsafePointer(to: wanted) { wanted in
            text.withUnsafeBytes { bytes in
                input.configuration = wanted
                input.text = bytes.baseAddress?.assumingMemoryBound(to: CChar.self)
                input.text_length = bytes.count - 1
                tendon_fjorden_manager_input(machine, time, &input)
            }
        }
    }

    private static func kindsByName(_ name: String) -> tendon_fjorden_input_kind? { steps[name] }

    private static func environment(
        _ step: JSON, _ machine: UnsafeMutablePointer<tendon_fjorden_manager>
    ) throws(VectorError) {
        var authorization = machine.pointee.authorization
        switch step["auth"]?.string {
        case "allowed": authorization = TENDON_FJORDEN_AUTHORIZATION_ALLOWED
        case "denied": authorization = TENDON_FJORDEN_AUTHORIZATION_DENIED
        case "undetermined": authorization = TENDON_FJORDEN_AUTHORIZATION_UNDETERMINED
        case nil: break
        default: throw VectorError("bad_input", "auth")
        }
        tendon_fjorden_manager_set_environment(
            machine, authorization, step["power"]?.bool ?? machine.pointee.powered)
    }

    private static func fill<Tuple>(_ tuple: inout Tuple, _ text: String) {
        withUnsafeMutableBytes(of: &tuple) { $0.copyBytes(from: text.utf8.prefix($0.count - 1)) }
    }

    private static func grip(_ json: JSON) -> tendon_fjorden_grip {
        var grip = tendon_fjorden_grip()
        fill(&grip.identifier, json["id"]?.string ?? "")
        fill(&grip.name, json["name"]?.string ?? "")
        grip.rssi = json["rssi"]?.number ?? 0
        return grip
    }

    private static func configuration(_ step: JSON) -> tendon_fjorden_configuration {
        var result = tendon_fjorden_configuration()
        tendon_fjorden_configuration_init(&result)
        result.auto_reconnect = step["auto_reconnect"]?.bool ?? true
        if let bond = step["bond"], bond != .null {
            result.has_bond = true
            result.bond = grip(bond)
        }
        if let minimum = step["min_firmware"]?.string {
            result.minimum_firmware = tendon_fjorden_configuration().minimum_firmware
            fill(&result.minimum_firmware, minimum)
        }
        return result
    }
}
