// SPDX-License-Identifier: MIT
// Names that the configuration gives to devices: in every output instead of the name that a device advertises.
import CTendon
import Synchronization
import Tendon
import TendonSupport

final class DeviceNames: Sendable {
    static let shared = DeviceNames()

    private struct Entry {
        var address: WantedAddress
        var name: String
    }
    private let installed = Mutex<[Entry]>([])
    /// Those of a file that is being read: for what reads it alone, not for devices that are named meanwhile.
    @TaskLocal private static var tried: [Entry]?
    private static let longest = 32

    private var entries: [Entry] { DeviceNames.tried ?? installed.withLock { $0 } }

    private static func entries(_ names: [(address: WantedAddress, name: String)]) -> [Entry] {
        names.map { Entry(address: $0.address, name: $0.name) }
    }

    func set(_ names: [(address: WantedAddress, name: String)]) {
        installed.withLock { $0 = DeviceNames.entries(names) }
    }

    /// Sets names for `body` only.
    func during<Result>(_ names: [(address: WantedAddress, name: String)], _ body: () -> Result) -> Result {
        DeviceNames.$tried.withValue(DeviceNames.entries(names)) { body() }
    }

    /// Sets names for `body`, and for all if it does not throw.
    func trying<Result>(
        _ names: [(address: WantedAddress, name: String)], _ body: () throws(CommandError) -> Result
    ) throws(CommandError) -> Result {
        let result = during(names) {
            do throws(CommandError) { return Swift.Result<Result, CommandError>.success(try body()) } catch {
                return .failure(error)
            }
        }
        let value = try result.get()
        set(names)
        return value
    }

    func name(of address: Address) -> String? {
        entries.first { $0.address.matches(address) }?.name
    }

    func address(of name: String) -> WantedAddress? {
        entries.first { $0.name == name }?.address
    }

    var all: [String] { entries.map(\.name) }

    /// Words of rules, topics and options.
    static let reserved = ["bridge", "rule", "publish", "exec", "osc", "all", "none", "for", "every"]

    /// Throws if a device cannot have this name. It must stand in a rule and in a topic of a broker, and must not be taken
    /// for something else there.
    static func check(_ name: String) throws(CommandError) {
        let isWord = name.unicodeScalars.allSatisfy { scalar in
            scalar.properties.isAlphabetic || ("0"..."9").contains(scalar) || scalar == "-" || scalar == "_"
        }
        guard isWord, !name.isEmpty, name.utf8.count <= longest else {
            throw .usage("a name has letters, digits, - and _, \(longest) bytes at most, not '\(sanitized(name))'")
        }
        try checkMeaning(of: name)
    }

    /// Throws if the name is a word of rules, topics and options, or means a family or a device.
    static func checkMeaning(of name: String) throws(CommandError) {
        guard Address(String(name.prefix(Int(TENDON_ADDRESS_STRING_SIZE) - 1))) == nil else {
            throw .usage("'\(sanitized(name))' begins with an address, which means the device that has it")
        }
        guard !reserved.contains(name.lowercased()), (try? familyName(name)) == nil else {
            throw .usage("'\(sanitized(name))' has another meaning and is no name of a device")
        }
    }
}
