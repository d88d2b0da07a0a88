// SPDX-License-Identifier: MIT
import CTendon
import Tendon

extension GripManager: Wearable {
    /// Connects to the grip that `Central.first(of:)` has found, or else to the bonded grip. A manager that is not configured
    /// has the default configuration from then on.
    public func openAndWait() async throws(FjordenError) {
        if !core.shared.read({ $0.isConfigured }) { configure() }
        try await start()
        if let found {
            try await connect(toGrip: found)
        } else if !isConnected {
            try await connectToBondedGrip()
        }
    }

    /// Ends the connection and waits for its end. Returns immediately if the task is cancelled; the connection still ends.
    public func closeAndWait() async {
        disconnect()
        await core.linkEnds()
    }
}

extension WearableFamily<GripManager> {
    /// Fjorden grips. An open manager has the grip as `connectedGrip`. The bond of the program's other managers is not
    /// changed.
    public static var fjorden: WearableFamily {
        WearableFamily(tendon_fjorden_family.recognizes) { address, name, central in
            let manager = GripManager(on: central)
            manager.configure(with: Configuration(persistentStorage: MemoryStorage()))
            manager.found = ConnectableGrip(id: address, name: name ?? "")
            return manager
        }
    }
    private typealias Configuration = GripManager.Configuration
}
