// SPDX-License-Identifier: MIT
// conformance, decode, encode: bytes to values and back through the library.

extension Command {
    static let conformance = Command(
        "conformance",
        summary: "compute what test vectors expect",
        details: [
            "Reads JSON lines from standard input: vectors with 'family', 'kind' and their inputs. Writes one JSON "
                + "line for each: what the library computes. A malformed line is a result ({\"error\": ...}), never an exit."
        ],
        examples: [
            ("tendon conformance < Tests/vectors/bose.jsonl", "compute every vector of a file"),
            (
                #"echo '{"family":"bose","kind":"gesture_data","hex":"c12710"}' | tendon conformance"#,
                "compute one vector"
            ),
        ]
    ) { (arguments: Arguments) throws(CommandError) in
        guard arguments.operands.isEmpty else {
            throw .usage("conformance reads standard input and takes no operands", next: "tendon conformance < FILE")
        }
        var lines = InputLines()
        while let line = lines.next() {
            let result: JSON
            switch line {
            case .tooLong: result = VectorError("too_long", "a line is longer than 16 MiB").json
            case .text(let bytes) where bytes.allSatisfy({ $0 == 0x20 || $0 == 0x09 || $0 == 0x0D }): continue
            case .text(let bytes): result = answer(toVector: bytes)
            }
            guard Output.standard.line(result.text) else { break }
        }
        return .done
    }

    static let decode = Command(
        "decode", operands: "FAMILY KIND HEX...",
        summary: "bytes of a characteristic to values",
        details: kindDetails(.decode),
        options: [
            Option(
                name: "--information", value: "HEX|frames",
                help: "bose sensor_data: the device's sensor information, for values in g, deg/s and radians"),
            Option(
                name: "--char", value: "UUID",
                help: "activ5: the characteristic that the bytes are of; default: the kind's usual one"),
        ],
        examples: [
            ("tendon decode bose gesture_data c12710", "a gesture"),
            (
                "tendon decode bose sensor_data 0003e800000000f00003 --information frames",
                "a sample, with the ranges that Bose Frames report"
            ),
            ("tendon decode activ5 string_char 373761613130 --char F0F8", "the second part of a trainer's id"),
            ("tendon decode bose quaternion 3ae7 ebd9 ff9a f12c --json", "all angles of a quaternion, as JSON"),
        ]
    ) { (arguments: Arguments) throws(CommandError) in try convert(arguments, .decode) }

    static let encode = Command(
        "encode", operands: "FAMILY KIND VALUE...",
        summary: "values to the bytes that are written",
        details: kindDetails(.encode) + [
            "Bose configurations start from the bytes that were read and change entries in place: "
                + "enable:SENSOR:PERIOD, disable:SENSOR, disable_all, period:PERIOD; set:GESTURE:on, set:GESTURE:off, "
                + "enable_all, disable_all."
        ],
        examples: [
            (
                "tendon encode bose sensor_config_encode 000000010000020000030000 enable:rotation:40",
                "enable one sensor every 40 ms"
            ),
            (
                "tendon encode bose gesture_config_encode 81008200c100 set:affirmative:on --json",
                "enable one gesture"
            ),
        ]
    ) { (arguments: Arguments) throws(CommandError) in try convert(arguments, .encode) }

    private static func kindDetails(_ direction: VectorKind.Direction) -> [String] {
        var families: [String] = []
        for row in vectorKinds where row.direction == direction && !families.contains(row.family) {
            families.append(row.family)
        }
        return families.map { family in
            let kinds = vectorKinds.filter { $0.family == family && $0.direction == direction }.map(\.kind)
            return "Kinds of \(family): \(kinds.joined(separator: ", "))."
        }
    }

    private static func convert(
        _ arguments: Arguments, _ direction: VectorKind.Direction
    ) throws(CommandError) -> ExitStatus {
        let row = try kind(of: arguments, direction)
        let input = try row.input(arguments.droppingOperands(2))
        let result: JSON
        do {
            result = try row.compute(input)
        } catch {
            result = error.json
        }
        Output.standard.write(arguments.has("--json") ? result.text + "\n" : readable(result))
        return result["error"] == nil ? .done : .failed
    }

    private static func kind(
        of arguments: Arguments, _ direction: VectorKind.Direction
    ) throws(CommandError) -> VectorKind {
        let verb = direction == .decode ? "decode" : "encode"
        guard arguments.operands.count >= 2 else {
            throw .usage("\(verb) needs a family and a kind", next: "tendon \(verb) --help lists them")
        }
        let family = try familyName(arguments.operands[0])
        let kinds = vectorKinds.filter { $0.family == family && $0.direction == direction }
        guard let row = kinds.first(where: { $0.kind == arguments.operands[1] }) else {
            throw .unknown("kind", arguments.operands[1], among: kinds.map(\.kind))
        }
        return row
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
        case .integer: value.text
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
