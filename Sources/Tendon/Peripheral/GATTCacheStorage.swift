// SPDX-License-Identifier: MIT
import CTendon

/// Storage of GATT caches: the attribute handles of devices that have a Database Hash, so that the next connection reads
/// the hash instead of discovering them again (Core Specification Vol 3 Part G 2.5.2, 7.3). Used by the vendors' modules
/// and by `Peripheral`.
///
/// ```swift
/// let central = try await Central(gattCache: .standard)
/// ```
public enum GATTCacheStorage: Sendable, Hashable {
    /// Every connection discovers.
    case none
    /// `$XDG_STATE_HOME/tendon/gatt`, or `~/.local/state/tendon/gatt`; created with the first cache, readable only by its
    /// owner.
    case standard
    /// A given directory, created with the first cache.
    case directory(String)

    /// Forgets a device. Its next connection discovers.
    public func drop(_ address: Address) throws(TendonError) {
        guard let store = try open() else { return }
        var device = address.c
        try check(tendon_gatt_store_drop(store.pointer, &device), .discover)
    }

    /// Forgets all devices. Returns their number.
    @discardableResult
    public func dropAll() throws(TendonError) -> Int {
        guard let store = try open() else { return 0 }
        let count = tendon_gatt_store_clear(store.pointer)
        try check(count, .discover)
        return Int(count)
    }

    func open() throws(TendonError) -> CBlock<tendon_gatt_store>? {
        let store = CBlock<tendon_gatt_store>()
        let status: tendon_status
        switch self {
        case .none: return nil
        case .standard: status = tendon_gatt_store_open(store.pointer, nil)
        case .directory(let path): status = path.withCString { tendon_gatt_store_open(store.pointer, $0) }
        }
        try check(status, .discover)
        return store
    }
}
