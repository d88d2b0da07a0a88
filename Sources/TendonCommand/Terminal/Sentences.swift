// SPDX-License-Identifier: MIT
// Events and errors as sentences, on standard error. In the journal they are lines: see `TextLines`.
import Tendon
import TendonSupport

enum Sentences {
    /// "naviGuertel SIM: the belt is not paired. Next attempt in 1.3 s." of the event's line of JSON.
    /// - Parameter namesErrors: with the names of statuses and their numbers.
    static func sentence(_ line: [UInt8], namesErrors: Bool = false) -> String {
        let shown = { namesErrors ? $0 : withoutNames($0) }
        guard let json = try? JSON(parsing: line) else { return TextLines.sentence(line) }
        let event = json["event"]?.string ?? ""
        guard let what = json["text"]?.string ?? words[event] ?? lack(json) else { return TextLines.sentence(line) }
        let title = json["family"]?.string.map(familyTitle)
        let device = json["name"]?.string ?? [title, json["address"]?.string].compactMap(\.self).joined(separator: " ")
        // The rule's device may be fine; what failed comes first.
        let who =
            json["program"]?.string.map { "program \($0) (\(device))" } ?? json["request"]?.string.map {
                "\(device), \($0)"
            }
            ?? device
        let next = json["retry_in_s"]?.number.map { ". Next attempt in \(seconds($0)) s." } ?? ""
        if event == "radio_waiting" {
            let adapter = json["adapter"]?.string ?? "a Bluetooth adapter"
            let reason = shown(what.hasPrefix(opening) ? String(what.dropFirst(opening.count)) : what)
            return sanitized("waiting for \(adapter): \(reason). Try: \(CommandError.radioAdvice)")
        }
        return sanitized((who.isEmpty ? "" : who + ": ") + shown(what) + code(json) + pairing(json) + next)
    }

    /// What to do about a value of a device file that only paired gateways may read.
    private static func pairing(_ json: JSON) -> String {
        guard json["event"]?.string == "refused", let family = json["family"]?.string,
            ["ATT_INSUFFICIENT_AUTHENTICATION", "ATT_INSUFFICIENT_ENCRYPTION"].contains(json["error"]?.string)
        else { return "" }
        return "; use --pair, --allow or 'tendon pair \(family)\(Definitions.words(for: family))'"
    }

    /// An error of the device's own, which its maker's manual explains: " (0x81)".
    private static func code(_ json: JSON) -> String {
        guard json["error"]?.string == "ATT_APPLICATION_ERROR", let number = json["error_number"]?.integer else {
            return ""
        }
        return " (0x" + String(number, radix: 16) + ")"
    }

    /// What an error of a radio that did not open begins with.
    private static let opening = TendonError.Operation.openRadio.rawValue + ": "

    /// Events without a text of their own.
    private static let words = ["connected": "connected", "paired": "paired"]

    /// Of `missing`: "it has no magnetometer at 20 ms, no double_tap".
    private static func lack(_ json: JSON) -> String? {
        guard case .array(let what) = json["what"], !what.isEmpty else { return nil }
        return "it has " + what.map { "no " + ($0.string ?? "") }.joined(separator: ", ")
    }

    private static func seconds(_ value: Double) -> String { fixed(value, value < 10 ? 1 : 0) }

    /// Without the names of statuses and their numbers, which are for developers: "(SYSTEM_ENOSPC, 28)".
    static func withoutNames(_ text: String) -> String {
        var result = ""
        var rest = text[...]
        while let start = rest.firstIndex(of: "(") {
            guard let end = rest[start...].firstIndex(of: ")"), isName(rest[rest.index(after: start)..<end]) else {
                result += rest[...start]
                rest = rest[rest.index(after: start)...]
                continue
            }
            let before = rest[..<start]
            result += before.last == " " ? before.dropLast() : before
            rest = rest[rest.index(after: end)...]
        }
        return result + rest
    }

    private static func isName(_ text: Substring) -> Bool {
        let parts = text.split(separator: ",").map { trimmed($0) }
        guard let name = parts.first, parts.count <= 2, parts.dropFirst().allSatisfy({ Int($0) != nil }) else {
            return false
        }
        return name.count > 3 && name.contains("_")
            && name.allSatisfy { ("A"..."Z").contains($0) || ("0"..."9").contains($0) || $0 == "_" }
    }
}
