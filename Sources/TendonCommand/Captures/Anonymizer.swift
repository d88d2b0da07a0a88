// SPDX-License-Identifier: MIT
// Replaces what identifies devices and people in texts and events: addresses, names, serial numbers.
import CTendon
import Tendon
import TendonSupport

/// The same address always becomes the same other one.
struct Anonymizer {
    private var addresses: [UInt64: UInt64] = [:]
    private var names: [(name: String, other: String)] = []
    /// Members of events that are left out.
    private static let members: Set = ["name", "serial", "id", "passkey"]
    /// Characters of an address as text.
    private static let length = 17

    /// - Parameter names: names that the configuration gives to devices, and the directory of the user.
    init(_ names: [String]) {
        for (index, name) in names.enumerated() { learn(name, as: "device-\(index + 1)") }
        if let home = environment("HOME"), home.count > 1 { learn(home, as: "~") }
    }

    /// A name that no text may contain from now on.
    mutating func learn(_ name: String, as other: String = "NAME") {
        guard !name.isEmpty, !names.contains(where: { $0.name == name }) else { return }
        names.append((name, other))
        // A name may be a part of another one.
        names.sort { $0.name.utf8.count > $1.name.utf8.count }
    }

    mutating func address(_ address: Address) -> Address {
        guard address.type != .anonymous else { return address }
        let other = number(address.value)
        func byte(_ shift: UInt64) -> UInt8 { UInt8(truncatingIfNeeded: other >> shift) }
        return Address(
            tendon_address(
                bytes: (byte(40), byte(32), byte(24), byte(16), byte(8), byte(0)), type: address.rawType))
    }

    /// With the two first bits, which are the kind of a random address (Vol 6 Part B 1.3.2).
    private mutating func number(_ value: UInt64) -> UInt64 {
        let other = addresses[value] ?? value & 0xC000_0000_0000 | UInt64(addresses.count + 1)
        addresses[value] = other
        return other
    }

    mutating func text(_ text: String) -> String {
        var result = ""
        var rest = text[...]
        while let first = rest.first {
            let word = String(rest.prefix(Anonymizer.length).map { "-_".contains($0) ? ":" : $0 })
            if word.utf8.count == Anonymizer.length, let address = Address(word) {
                result += self.address(address).description
                rest = rest.dropFirst(Anonymizer.length)
            } else {
                result.append(first)
                rest = rest.dropFirst()
            }
        }
        for (name, other) in names { result = Anonymizer.replacing(name, in: result, with: other) }
        return result
    }

    /// Where it is a word of its own.
    private static func replacing(_ name: String, in text: String, with other: String) -> String {
        func isPart(_ character: Character?) -> Bool { character.map { $0.isLetter || $0.isNumber } ?? false }
        var result = ""
        var rest = text[...]
        while let range = rest.firstRange(of: name) {
            let isWord = !isPart(text[..<range.lowerBound].last) && !isPart(text[range.upperBound...].first)
            result += rest[..<range.lowerBound] + (isWord ? other : name)
            rest = rest[range.upperBound...]
        }
        return result + rest
    }

    mutating func json(_ json: JSON) -> JSON {
        switch json {
        case .string(let value): return .string(text(value))
        case .array(let values):
            var result: [JSON] = []
            for value in values { result.append(self.json(value)) }
            return .array(result)
        case .object(let members):
            var result: [JSON.Member] = []
            for member in members where !Anonymizer.members.contains(member.key) {
                result.append(JSON.Member(key: member.key, value: self.json(member.value)))
            }
            return .object(result)
        default: return json
        }
    }

    /// A line of the journal; nil: it is an event that standard output had.
    mutating func message(_ line: String) -> String? {
        guard !line.contains(#"{"time":"#) else { return nil }
        var words = line.split(separator: " ").map(String.init).filter {
            !$0.hasPrefix("serial=") && !$0.hasPrefix("id=")
        }
        // "connected bose NAME AA:BB:CC:DD:EE:FF": the name may be one that is not in range now.
        if let family = words.firstIndex(where: { Family.named($0) != nil }),
            let address = words[family...].firstIndex(where: { Address($0) != nil }), address > family + 1
        {
            words.replaceSubrange(family + 1..<address, with: ["NAME"])
        }
        return text(words.joined(separator: " "))
    }
}
