// SPDX-License-Identifier: MIT
// cache: the store of GATT caches.
import Tendon
import TendonSupport

extension Command {
    static let cacheDrop = Command(
        "cache drop",
        summary: "remove the stored attribute handles of devices",
        details: [
            "Removes what 'tendon run --gatt-cache' has stored: of one device with --address, otherwise of all. The next "
                + "connection discovers the handles again. Does not use a radio. The files are in "
                + "$XDG_STATE_HOME/tendon/gatt, or ~/.local/state/tendon/gatt."
        ],
        common: ["--address", "--json"],
        examples: [
            ("tendon cache drop", "forget all devices"),
            ("tendon cache drop --address AA:BB:CC:DD:EE:FF", "forget this device"),
        ]
    ) { (arguments: Arguments) throws(CommandError) in
        guard arguments.operands.isEmpty else { throw .usage("cache drop takes no operands") }
        let wanted = try arguments.address()
        let count = try await translating { () throws(TendonError) -> Int? in
            guard let wanted else { return try GATTCacheStorage.standard.dropAll() }
            for device in wanted.addresses { try GATTCacheStorage.standard.drop(Address(device)) }
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
