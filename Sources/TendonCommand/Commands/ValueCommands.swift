// SPDX-License-Identifier: MIT
// decode, encode: bytes to values and back through the library.
import CTendon
import Tendon
import TendonSupport

extension Command {
    static let decode = Command(
        "decode", operands: "FAMILY KIND HEX...",
        summary: "decode the bytes of a characteristic",
        details: ["Prints the events that replay prints for a value of the characteristic."]
            + families.map { family in
                "Kinds of \(family.name): "
                    + family.decoded.map { "\($0.kind) (\($0.summary))" }
                    .joined(separator: ", ") + "."
            },
        options: [
            Option(
                name: "--information", value: "HEX|frames",
                help: "bose sensor_data: sensor information of the device, for values in g, deg/s and radians; "
                    + "frames: the information of Bose Frames"), .exact,
        ],
        common: ["--json"],
        examples: [
            ("tendon decode bose gesture_data c12710", "decode a gesture"),
            (
                "tendon decode bose sensor_data 0003e800000000f00003 --information frames",
                "decode a sample with the ranges that Bose Frames report"
            ),
            ("tendon decode activ5 battery 64 --json", "decode a battery level, as JSON"),
        ]
    ) { (arguments: Arguments) throws(CommandError) in
        guard arguments.operands.count >= 2 else {
            throw .usage("decode takes a family, a kind and bytes", next: "tendon decode --help")
        }
        let family = try family(arguments.operands[0])
        let kind = arguments.operands[1]
        guard let value = family.decoded.first(where: { $0.kind == kind }) else {
            throw .unknown("kind", kind, among: family.decoded.map(\.kind))
        }
        let bytes = try hexOperands(arguments.operands.dropFirst(2))
        Output.standard.lines?.isCompact = !arguments.has("--exact")
        let events = Events(json: arguments.has("--json"))
        let lines = ReplayLines(events: events, family: family.name)
        let replay = ValueReplay(family)
        if let information = arguments.value("--information") {
            guard value.kind == "sensor_data" else { throw .usage("--information is for bose sensor_data") }
            let ranges = try hexOperands([information == "frames" ? framesInformation : information])
            let silent = ReplayLines(events: .none, family: family.name)
            replay.value(
                ranges, of: tendon_bose_uuid(TENDON_BOSE_SENSOR_INFORMATION), in: nil, written: false, at: 0,
                to: silent)
        }
        replay.value(bytes, of: value.characteristic, in: value.service, written: false, at: 0, to: lines)
        guard replay.valuesWithoutEvents == 0 else {
            throw CommandError(
                .failed, "the value has no member of any event of \(kind)",
                next: "the events and their members in the file")
        }
        return replay.counters.malformed == 0 ? .done : .failed
    }

    static let encode = Command(
        "encode", operands: "FAMILY KIND VALUE...",
        summary: "encode values as the bytes that are written to a device",
        details: families.flatMap { family in
            family.encoded.map { "\(family.name) \($0.kind) \($0.operands): \($0.summary)." }
        },
        common: ["--json"],
        examples: [
            (
                "tendon encode bose sensor_configuration 000000010000020000030000 enable:rotation:40",
                "enable one sensor every 40 ms"
            ),
            ("tendon encode feelspace mode mode=compass", "encode a request to change the mode"),
        ]
    ) { (arguments: Arguments) throws(CommandError) in
        guard arguments.operands.count >= 2 else {
            throw .usage("encode takes a family, a kind and values", next: "tendon encode --help")
        }
        let family = try family(arguments.operands[0])
        let kind = arguments.operands[1]
        guard let value = family.encoded.first(where: { $0.kind == kind }) else {
            throw .unknown("kind", kind, among: family.encoded.map(\.kind))
        }
        let hex = hexText(try value.encode(Array(arguments.operands.dropFirst(2))))
        Events(json: arguments.has("--json")).result(
            "encoded", nil, ["family": .string(family.name), "kind": .string(kind), "bytes": .string(hex)],
            text: hex + "\n")
        return .done
    }

    /// The sensor information of Bose Frames.
    private static let framesInformation =
        "00fff8000880017fff001f0701f83007d080017fff001f0702ffff0001c0013fff001f0a03ffff0001c0013fff001f08"

    private static func family(_ word: String) throws(CommandError) -> Family {
        let name = try familyName(word)
        guard let family = Family.named(name) else { throw .usage("\(name) has no values") }
        return family
    }
}

func hexOperands(_ words: ArraySlice<String>) throws(CommandError) -> [UInt8] {
    guard !words.isEmpty else { throw .usage("bytes in hexadecimal are missing") }
    guard let bytes = parseHex(words.joined(separator: " ")) else {
        let hint = words.contains { $0.lowercased().hasPrefix("0x") } ? "; write them without 0x" : ""
        throw .usage("'\(sanitized(words.joined(separator: " ")))' is not an even number of hexadecimal digits\(hint)")
    }
    return bytes
}

/// The words NAME=VALUE of `encode`.
struct NamedValues {
    private var values: [String: String] = [:]

    /// Accepts only the names that the kind has.
    init(_ words: [String], names: [String]) throws(CommandError) {
        for word in words {
            let parts = word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
            guard parts.count == 2 else { throw .usage("'\(sanitized(word))' is not NAME=VALUE") }
            guard names.contains(parts[0]) else { throw .unknown("name", parts[0], among: names) }
            guard values[parts[0]] == nil else { throw .usage("\(parts[0]) is given twice") }
            values[parts[0]] = parts[1]
        }
    }

    func has(_ name: String) -> Bool { values[name] != nil }

    func text(_ name: String) throws(CommandError) -> String {
        guard let text = values[name] else { throw .usage("\(name)=VALUE is missing") }
        return text
    }

    func number<Value: FixedWidthInteger>(
        _ name: String, in range: ClosedRange<Value>, default standard: Value? = nil
    ) throws(CommandError) -> Value {
        guard let text = values[name] else {
            guard let standard else { throw .usage("\(name)=NUMBER is missing") }
            return standard
        }
        guard let number = parseInteger(text).flatMap({ Value(exactly: $0) }), range.contains(number) else {
            throw .usage(
                "\(name) takes a whole number from \(range.lowerBound) to \(range.upperBound), not '\(sanitized(text))'"
            )
        }
        return number
    }

    func flag(_ name: String) throws(CommandError) -> Bool {
        switch values[name] {
        case nil, "false": false
        case "true": true
        case let text?: throw .usage("\(name) takes true or false, not '\(sanitized(text))'")
        }
    }
}

extension EncodedValue {
    /// What an encoder of the C core wrote, or its error.
    static func packet(
        capacity: Int, _ encode: (UnsafeMutablePointer<UInt8>, Int) -> tendon_status
    ) throws(CommandError) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: capacity)
        let status = bytes.withUnsafeMutableBufferPointer { encode($0.baseAddress!, $0.count) }
        guard status >= 0 else { throw CommandError(.failed, text(tendon_status_text(status))) }
        return Array(bytes.prefix(Int(status)))
    }
}

/// Lines "name: value", lists and objects indented below their name.
func readable(_ value: JSON, indent: String = "") -> String {
    func scalar(_ value: JSON) -> String? {
        switch value {
        case .string(let text): text
        case .real(let number): "\(number)"
        case .array(let values) where values.allSatisfy({ scalar($0) != nil }):
            values.isEmpty ? "none" : values.compactMap(scalar).joined(separator: " ")
        case .object, .array: nil
        case .null: "none"
        case .bool(let flag): flag ? "yes" : "no"
        case .integer(let number): "\(number)"
        }
    }
    switch value {
    case .object(let members):
        return members.map { member in
            if let text = scalar(member.value) { return "\(indent)\(member.key): \(text)\n" }
            return "\(indent)\(member.key):\n" + readable(member.value, indent: indent + "  ")
        }.joined()
    case .array(let values):
        return values.map { value in
            if let text = scalar(value) { return "\(indent)- \(text)\n" }
            let block = readable(value, indent: indent + "  ")
            return indent + "- " + block.dropFirst(indent.count + 2)
        }.joined()
    default:
        return indent + (scalar(value) ?? "") + "\n"
    }
}
