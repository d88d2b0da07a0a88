// SPDX-License-Identifier: MIT
import Synchronization
import Tendon

/// The bond in the program's storage. Files are written away from the loop's thread, in order.
final class BondStore: Sendable {
    private static let identifierKey = "fjorden.bondedGrip.identifier"
    private static let nameKey = "fjorden.bondedGrip.name"

    struct Bond: Sendable, Equatable {
        var identifier: String
        var name: String
    }

    private let storage: any PersistentStorageProvider
    /// The number of the latest change: one that was overtaken is not made.
    private let changes = Mutex<UInt64>(0)
    private let requested = Atomic<UInt64>(0)

    init(_ storage: any PersistentStorageProvider) { self.storage = storage }

    var bond: Bond? {
        storage.string(forKey: BondStore.identifierKey).map {
            Bond(identifier: $0, name: storage.string(forKey: BondStore.nameKey) ?? "")
        }
    }

    /// The result is false if the storage did not keep the bond.
    func store(_ bond: Bond) -> Task<Bool, Never> {
        let change = requested.wrappingAdd(1, ordering: .relaxed).newValue
        return Task(executorPreference: BlockingWork.shared) {
            self.changes.withLock { latest in
                guard change > latest else { return true }
                latest = change
                self.storage.set(bond.identifier, forKey: BondStore.identifierKey)
                self.storage.set(bond.name, forKey: BondStore.nameKey)
                return self.storage.string(forKey: BondStore.identifierKey) == bond.identifier
            }
        }
    }

    /// In the call, so that the result is known: false if the storage still has the bond.
    func remove() -> Bool {
        let change = requested.wrappingAdd(1, ordering: .relaxed).newValue
        return changes.withLock { latest in
            latest = change
            storage.removeObject(forKey: BondStore.identifierKey)
            storage.removeObject(forKey: BondStore.nameKey)
            return storage.string(forKey: BondStore.identifierKey) == nil
        }
    }
}
