// SPDX-License-Identifier: MIT

/// A table of bounded size: for a new key, that which was used longest ago is forgotten. A call takes the same time
/// however many keys there are.
struct RecentTable<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    private struct Slot {
        var key: Key
        var value: Value
        /// Slots of the list from the key used last to that used longest ago; -1: none.
        var newer = -1
        var older = -1
    }

    private let capacity: Int
    private var slots: [Slot] = []
    private var places: [Key: Int] = [:]
    private var newest = -1
    private var oldest = -1

    init(capacity: Int) { self.capacity = capacity }

    subscript(key: Key) -> Value? { places[key].map { slots[$0].value } }

    /// In no particular order.
    var values: some Sequence<Value> { slots.lazy.map(\.value) }

    /// Sets the value of a key, which is the one used last from now on.
    mutating func set(_ key: Key, _ value: Value) {
        if let place = places[key] {
            slots[place].value = value
            unlink(place)
            link(place)
        } else if slots.count < capacity {
            slots.append(Slot(key: key, value: value))
            places[key] = slots.count - 1
            link(slots.count - 1)
        } else {
            let place = oldest
            unlink(place)
            places[slots[place].key] = nil
            slots[place] = Slot(key: key, value: value)
            places[key] = place
            link(place)
        }
    }

    private mutating func unlink(_ place: Int) {
        let (newer, older) = (slots[place].newer, slots[place].older)
        if newer >= 0 { slots[newer].older = older } else { newest = older }
        if older >= 0 { slots[older].newer = newer } else { oldest = newer }
    }

    private mutating func link(_ place: Int) {
        (slots[place].newer, slots[place].older) = (-1, newest)
        if newest >= 0 { slots[newest].newer = place } else { oldest = place }
        newest = place
    }
}
