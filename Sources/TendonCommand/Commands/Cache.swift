// SPDX-License-Identifier: MIT
// cache: the store of GATT caches.
import Tendon
import TendonSupport

extension Option {
    /// The store of GATT caches. Its value follows `=`; without one, the standard directory.
    static func gattCache(help: String, setting: Setting? = nil) -> Option {
        Option(name: "--gatt-cache", value: "DIR", help: help, isValueOptional: true, setting: setting)
    }
}

extension Arguments {
    func gattCache() -> GATTCacheStorage {
        guard let directory = value("--gatt-cache") else { return .none }
        return directory.isEmpty ? .standard : .directory(directory)
    }
}

extension Command {
    static let cacheDrop = Command(
        "cache drop",
        summary: "remove the stored attribute handles of devices",
        details: [
            "Removes what 'tendon run --gatt-cache' has stored: of one device with --address, otherwise of all. The next "
                + "connection discovers the handles again. Does not use a radio. The files are in "
                + "$XDG_STATE_HOME/tendon/gatt, or ~/.local/state/tendon/gatt."
        ],
        options: [.gattCache(help: "the directory of the files, if 'run' has another one")],
        common: ["--address", "--json"],
        examples: [
            ("tendon cache drop", "forget all devices"),
            ("tendon cache drop --address AA:BB:CC:DD:EE:FF", "forget this device"),
        ]
    ) { (arguments: Arguments) throws(CommandError) in
        guard arguments.operands.isEmpty else { throw .usage("cache drop takes no operands") }
        let wanted = try arguments.address()
        let storage = arguments.has("--gatt-cache") ? arguments.gattCache() : .standard
        let count = try await translating { () throws(TendonError) -> Int? in
            guard let wanted else { return try storage.dropAll() }
            for device in wanted.addresses { try storage.drop(Address(device)) }
            return nil
        }
        let events = Events(json: arguments.has("--json"))
        if let count {
            events.result(
                "cache_dropped", nil, ["devices": JSON(count)], text: "the caches of \(count) devices are removed\n")
        } else if let wanted {
            events.result(
                "cache_dropped", nil, ["address": .string(wanted.address.description)],
                text: "the cache of \(wanted.address) is removed\n")
        }
        return .done
    }
}
