// SPDX-License-Identifier: MIT
// What waits for the worker's thread: lines of events, and what libmosquitto and the command report. The one hop between
// the loop and MQTT.
import CTendon
import TendonOutputs
import TendonSupport

/// A line of an event; its bytes are in the buffer of the batch.
struct LineItem {
    var event: StaticString
    var device: OutputDevice
    var bytes: Range<Int>
}

enum Item {
    case line(LineItem)
    case presence(OutputDevice, Presence)
    /// The broker has accepted the connection; how many messages it takes unacknowledged, if it says that.
    case connected(window: Int?)
    /// The connection, or the attempt, ended; why, and whether a retry may soon help.
    case disconnected(String, isRefused: Bool)
    /// The broker has a message, by libmosquitto's number, or refuses it with a code of MQTT 5.
    case acknowledged(Int32, refusal: Int32?)
    case received(topic: String, payload: [UInt8])
    case answered(Answer)
    case finish
}

/// What came of a command, and who waits for it.
struct Answer: Sendable {
    enum Receiver: Sendable {
        case request(String)
        /// The device's key.
        case set(String)
    }

    var receiver: Receiver
    var transaction: JSON?
    var result: CommandResult
    /// Of the request, for what the worker itself does with it.
    var data: JSON = .null
}

final class Mailbox: @unchecked Sendable {
    // All members are guarded by `lock`.
    private let lock = ThreadLock()
    private var items: [Item] = []
    private var text = LineWriter(capacity: 1 << 14)
    private var droppedEvents = 0
    private var droppedSamples = 0
    /// Something other than samples waits.
    private var isUrgent = false
    /// When the worker looks by itself.
    private var deadline = UInt64.max

    /// Bytes of lines that wait; more are dropped, and samples from half of it on.
    private static let capacity = 1 << 20
    /// Milliseconds that samples may wait for the worker.
    static let leisure: UInt64 = 100

    struct Batch {
        var items: [Item] = []
        var text: [UInt8] = []
        var droppedEvents = 0
        var droppedSamples = 0
    }

    func post(_ item: Item) {
        lock.locked {
            items.append(item)
            isUrgent = true
            lock.wakeAll()
        }
    }

    /// One line. Samples do not wake the worker before their leisure has passed.
    func line(_ event: StaticString, _ device: OutputDevice, _ compose: (inout LineWriter) -> Void) {
        let isSample = event.isEqual(to: "sample")
        lock.locked {
            guard text.count < (isSample ? Mailbox.capacity / 2 : Mailbox.capacity) else {
                if isSample { droppedSamples += 1 } else { droppedEvents += 1 }
                return
            }
            let start = text.count
            compose(&text)
            items.append(.line(LineItem(event: event, device: device, bytes: start..<text.count)))
            guard isSample else {
                isUrgent = true
                return lock.wakeAll()
            }
            let latest = tendon_monotonic_ms() + Mailbox.leisure
            guard deadline > latest else { return }
            deadline = latest
            lock.wakeAll()
        }
    }

    /// Waits until something that cannot wait is there, or until the time; then takes all.
    func take(until time: UInt64, into batch: inout Batch) {
        lock.locked {
            deadline = time
            while !isUrgent, tendon_monotonic_ms() < deadline {
                if deadline == .max { lock.wait() } else { _ = lock.wait(until: deadline) }
            }
            isUrgent = false
            batch.items.removeAll(keepingCapacity: true)
            batch.text.removeAll(keepingCapacity: true)
            swap(&batch.items, &items)
            text.swapBytes(&batch.text)
            (batch.droppedEvents, batch.droppedSamples) = (droppedEvents, droppedSamples)
            (droppedEvents, droppedSamples) = (0, 0)
        }
    }
}
