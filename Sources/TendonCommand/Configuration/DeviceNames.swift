// SPDX-License-Identifier: MIT
// Names that the configuration gives to devices: in every output instead of the name that a device advertises.
import Synchronization
import Tendon
import TendonSupport

final class DeviceNames: Sendable {
    static let shared = DeviceNames()

    private struct Entry {
        var address: WantedAddress
        var name: String
    }
    private let entries = Mutex<[Entry]>([])
    private static let longest = 32

    func set(_ names: [(address: WantedAddress, name: String)]) {
        entries.withLock { $0 = names.map { Entry(address: $0.address, name: $0.name) } }
    }

    /// Sets names for `body` only.
    func during<Result>(_ names: [(address: WantedAddress, name: String)], _ body: () -> Result) -> Result {
        let before = entries.withLock { $0 }
        set(names)
        defer { entries.withLock { $0 = before } }
        return body()
    }

    /// Sets names for `body`; if it throws, the names before are set again.
    func trying<Result>(
        _ names: [(address: WantedAddress, name: String)], _ body: () throws(CommandError) -> Result
    ) throws(CommandError) -> Result {
        let before = entries.withLock { $0 }
        set(names)
        do throws(CommandError) {
            return try body()
        } catch {
            entries.withLock { $0 = before }
            throw error
        }
    }

    func name(of address: Address) -> String? {
        entries.withLock { entries in entries.first { $0.address.matches(address) }?.name }
    }

    func address(of name: String) -> WantedAddress? {
        entries.withLock { entries in entries.first { $0.name == name }?.address }
    }

    var all: [String] { entries.withLock { $0.map(\.name) } }

    /// Throws if a device cannot have this name. It must stand in a rule and in a topic of a broker, and must not be taken
    /// for something else there.
    static func check(_ name: String) throws(CommandError) {
        let isWord = name.unicodeScalars.allSatisfy { scalar in
            scalar.properties.isAlphabetic || ("0"..."9").contains(scalar) || scalar == "-" || scalar == "_"
        }
        guard isWord, !name.isEmpty, name.utf8.count <= longest else {
            throw .usage("a name has letters, digits, - and _, \(longest) bytes at most, not '\(sanitized(name))'")
        }
        let reserved = ["bridge", "publish", "exec", "all", "none"]
        guard !reserved.contains(name.lowercased()), (try? familyName(name)) == nil else {
            throw .usage("'\(name)' has another meaning and is no name of a device")
        }
    }
}
