// SPDX-License-Identifier: MIT
// Events as text for people: the members of a line in columns.
import TendonOutputs
import TendonSupport

struct TextLines: EventOutput {
    let output: LineOutput
    let waits: Bool

    func event(_ event: EventName, of device: OutputDevice?, _ compose: (inout LineWriter) -> Void) {
        var writer = LineWriter()
        writer.isCompact = output.isCompact
        compose(&writer)
        let text = TextLines.text(writer.bytes)
        if waits { output.appendBlocking { $0.raw(text) } } else { output.append { $0.raw(text) } }
    }

    /// "12:34:56.789Z  sample   C0:...  name=value ...": the line of JSON, in columns.
    private static func text(_ line: [UInt8]) -> String {
        guard let json = try? JSON(parsing: line) else { return String(decoding: line, as: UTF8.self) }
        let time = json["time"]?.string.map { $0.dropFirst(11).prefix(12) + "Z" } ?? ""
        let address = json["address"]?.string ?? ""
        let hidden = ["time", "event", "family", "address", "address_type", "name"]
        let rest = json.all.filter { !hidden.contains($0.key) && $0.value != .null }
            .map { "\($0.key)=\(short($0.value))" }
        // Which device an address is stands in the line that reports it first.
        let isFirst = ["found", "connected"].contains(json["event"]?.string)
        let who = isFirst ? [json["family"]?.string, json["name"]?.string.map(sanitized)].compactMap(\.self) : []
        let columns =
            [String(time), left(json["event"]?.string ?? "", 14)] + (address.isEmpty ? [] : [address]) + who
        return (columns + [rest.joined(separator: " ")]).joined(separator: "  ") + "\n"
    }

    /// "connected living-belt (C0:...) firmware=1": the same for a log, which has the time.
    static func sentence(_ line: [UInt8]) -> String {
        guard let json = try? JSON(parsing: line) else { return String(decoding: line, as: UTF8.self) }
        let device = [json["family"]?.string, json["name"]?.string, json["address"]?.string].compactMap(\.self)
        let hidden = ["time", "event", "family", "address", "address_type", "name"]
        let rest = json.all.filter { !hidden.contains($0.key) && $0.value != .null }
            .map { "\($0.key)=\(short($0.value))" }
        return sanitized(([json["event"]?.string ?? ""] + device + rest).joined(separator: " "))
    }

    private static func rounded(_ number: Double, _ scale: Double) -> String {
        plain((number * scale).rounded() / scale + 0)
    }

    private static func short(_ value: JSON) -> String {
        switch value {
        case .string(let text): sanitized(text)
        case .real(let number): rounded(number, abs(number) < 1e6 ? 1e9 : 1e6)  // as far as a double is exact
        case .array(let values) where values.allSatisfy({ $0.number != nil || $0.string != nil }):
            values.map(short).joined(separator: ",")
        case .bool(let flag): flag ? "yes" : "no"
        default: LineWriter.text(value)
        }
    }
}
