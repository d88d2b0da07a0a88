// SPDX-License-Identifier: MIT
import CTendon

/// Storage of what bonded centrals have subscribed to (Core Specification Vol 3 Part G 3.3.3.3): a central that connects
/// again with the key of its bond is notified without subscribing again. Used by ``LocalPeripheral``; each device has a
/// storage of its own.
///
/// ```swift
/// let level = LocalCharacteristic("2a19", properties: .notify, requiresEncryption: true)
/// let peripheral = try await LocalPeripheral(
///     name: "Tendon", services: [LocalService("180f", [level])], bonds: .standard, subscriptions: .standard)
/// ```
public enum SubscriptionStorage: Sendable, Hashable {
    /// They end with the connection.
    case none
    /// `$XDG_STATE_HOME/tendon/subscriptions`, or `~/.local/state/tendon/subscriptions`; created with the first
    /// subscription, readable only by its owner.
    case standard
    /// A given directory, created with the first subscription.
    case directory(String)

    func open() throws(TendonError) -> CBlock<tendon_subscription_store>? {
        let store = CBlock<tendon_subscription_store>()
        let status: tendon_status
        switch self {
        case .none: return nil
        case .standard: status = tendon_subscription_store_open(store.pointer, nil)
        case .directory(let path): status = path.withCString { tendon_subscription_store_open(store.pointer, $0) }
        }
        try check(status, .subscribe)
        return store
    }
}
