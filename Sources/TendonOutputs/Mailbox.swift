// SPDX-License-Identifier: MIT
// What waits for the thread of an output: lines of events, and what the output itself adds. The one hop between the loop
// and that thread.
import CTendon
import TendonSupport

/// A line of an event; its bytes are in the buffer of the batch.
package struct LineItem: Sendable {
    package var event: EventName
    package var device: OutputDevice
    package var bytes: Range<Int>
}

/// Its functions are inlinable: each of them is compiled for the items of its output, without metadata that are looked up for each
/// sample. Who has to be woken is woken after the lock: before, its thread would wait for it.
package final class Mailbox<Item>: @unchecked Sendable {
    @usableFromInline let item: @Sendable (LineItem) -> Item
    /// Milliseconds for which samples are collected after a batch; the first one that comes later is taken at once.
    @usableFromInline let leisure: UInt64
    // All members are guarded by `lock`.
    @usableFromInline let lock = ThreadLock()
    @usableFromInline var items: [Item] = []
    @usableFromInline var text = LineWriter(capacity: 1 << 14)
    @usableFromInline var droppedEvents = 0
    @usableFromInline var droppedSamples = 0
    /// Something waits that the thread is to take at once.
    @usableFromInline var isUrgent = false
    /// The end of the leisure after the latest batch, whether samples have come in it, and whether they did in the one before:
    /// then the thread looks at its end by itself. A sample that has to wake it for that costs a wake-up more.
    @usableFromInline var quietUntil: UInt64 = 0
    @usableFromInline var hasCollected = false
    @usableFromInline var expectsSamples = false
    /// When the thread looks by itself.
    @usableFromInline var deadline = UInt64.max

    /// Bytes of what came from outside and waits.
    @usableFromInline var foreignBytes = 0
    @usableFromInline var droppedItems = 0

    /// Bytes of lines that wait; more are dropped, and samples from half of it on.
    @usableFromInline static var capacity: Int { 1 << 20 }
    /// Bytes of what comes from outside; more is dropped.
    @usableFromInline static var foreignCapacity: Int { 4 << 20 }
    /// What an item costs beside its content.
    @usableFromInline static var itemCost: Int { 128 }

    package struct Batch {
        package var items: [Item] = []
        package var text: [UInt8] = []
        package var droppedEvents = 0
        package var droppedSamples = 0
        /// Of what came from outside.
        package var droppedItems = 0

        @inlinable package init() {}
    }

    /// - Parameter item: what a line is among the items.
    /// - Parameter isCompact: numbers have the decimals that the sensor resolves.
    package init(leisure: UInt64, isCompact: Bool = false, _ item: @escaping @Sendable (LineItem) -> Item) {
        (self.leisure, self.item) = (leisure, item)
        text.isCompact = isCompact
    }

    @inlinable
    package func post(_ item: Item) {
        lock.locked {
            items.append(item)
            isUrgent = true
        }
        lock.wakeAll()
    }

    /// An item that another program makes, which may be faster than the thread.
    /// - Parameter bytes: of its content.
    @inlinable
    package func post(_ item: Item, bytes: Int) {
        lock.locked {
            if foreignBytes + bytes + Mailbox.itemCost <= Mailbox.foreignCapacity {
                foreignBytes += bytes + Mailbox.itemCost
                items.append(item)
            } else {
                droppedItems += 1
            }
            isUrgent = true
        }
        lock.wakeAll()
    }

    /// One line. Samples do not wake the thread within the leisure after a batch.
    @inlinable
    package func line(_ event: EventName, _ device: OutputDevice, _ compose: (inout LineWriter) -> Void) {
        let isSample = event.isEqual(to: "sample")
        let wakes = lock.locked {
            guard text.count < (isSample ? Mailbox.capacity / 2 : Mailbox.capacity) else {
                if isSample { droppedSamples += 1 } else { droppedEvents += 1 }
                return false
            }
            let start = text.count
            compose(&text)
            items.append(item(LineItem(event: event, device: device, bytes: start..<text.count)))
            guard isSample, tendon_monotonic_ms() < quietUntil else {
                isUrgent = true
                return true
            }
            hasCollected = true
            guard deadline > quietUntil else { return false }
            deadline = quietUntil
            return true
        }
        if wakes { lock.wakeAll() }
    }

    /// Waits until something that cannot wait is there, or until the time; then takes all.
    @inlinable
    package func take(until time: UInt64, into batch: inout Batch) {
        lock.locked {
            deadline = expectsSamples || !items.isEmpty ? min(time, quietUntil) : time
            var now = tendon_monotonic_ms()
            while !isUrgent, now < deadline {
                if deadline == .max { lock.wait() } else { _ = lock.wait(until: deadline) }
                now = tendon_monotonic_ms()
                if now >= deadline, items.isEmpty { deadline = time }
            }
            isUrgent = false
            expectsSamples = hasCollected
            hasCollected = false
            if !items.isEmpty { quietUntil = now + leisure }
            batch.items.removeAll(keepingCapacity: true)
            batch.text.removeAll(keepingCapacity: true)
            swap(&batch.items, &items)
            text.swapBytes(&batch.text)
            (batch.droppedEvents, batch.droppedSamples) = (droppedEvents, droppedSamples)
            (droppedEvents, droppedSamples) = (0, 0)
            batch.droppedItems = droppedItems
            (droppedItems, foreignBytes) = (0, 0)
        }
    }
}
