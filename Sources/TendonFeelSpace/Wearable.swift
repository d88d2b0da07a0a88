// SPDX-License-Identifier: MIT
import CTendon
import Tendon

extension FSConnectionManager: Wearable {
    /// Connects to the belt that `Central.first(of:)` has found, or else to the first one that a search finds.
    public func openAndWait() async throws(FSConnectionError) {
        if let found { try await connect(to: found) } else { try await searchAndConnect() }
    }

    /// Ends the search, the attempt or the connection, and waits for the end of the connection. Returns immediately if the
    /// task is cancelled; the connection still ends.
    public func closeAndWait() async {
        stopScan()
        disconnectBelt()
        await core.linkEnds()
    }
}

extension WearableFamily<FSConnectionManager> {
    /// feelSpace belts. The manager has `commandManager` for the signals, and serves an `FSNavigationController`.
    public static var feelspace: WearableFamily {
        WearableFamily(tendon_feelspace_family.recognizes) { address, name, central in
            let manager = FSConnectionManager(on: central)
            manager.found = FSBelt(address: address)
            return manager
        }
    }
}
