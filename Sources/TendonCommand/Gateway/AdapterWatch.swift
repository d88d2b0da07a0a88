// SPDX-License-Identifier: MIT
// What the radios of a run did because an adapter, or the kernel, did nothing: a message for each change, and the sums.
import Tendon

/// Counters of all adapters of a run. A radio that is opened again counts from 0, the sums do not.
struct AdapterWatch: Sendable {
    struct Message: Sendable, Equatable {
        var level: LogLevel
        var text: String
    }

    private(set) var total = AdapterCounters()
    private var seen: [Int: AdapterCounters] = [:]

    private struct Kind {
        let counter: WritableKeyPath<AdapterCounters, UInt64> & Sendable
        let level: LogLevel
        let text: String
    }

    private static let kinds = [
        Kind(
            counter: \.connectReissues, level: .notice,
            text: "an attempt to connect was repeated because the kernel did not act on it"),
        Kind(
            counter: \.scanRestarts, level: .notice,
            text: "the scan was restarted because no advertisement was received"),
        Kind(
            counter: \.powerCycles, level: .warning,
            text: "the adapter was powered off and on because it did nothing"),
    ]

    /// Takes the counters of a radio.
    /// - Parameter adapter: its name; nil: the run has one radio.
    /// - Returns: one message for each counter that has changed.
    mutating func update(_ radio: Int, _ counters: AdapterCounters, adapter: String? = nil) -> [Message] {
        let before = seen[radio] ?? AdapterCounters()
        seen[radio] = counters
        var messages: [Message] = []
        for kind in AdapterWatch.kinds where counters[keyPath: kind.counter] > before[keyPath: kind.counter] {
            total[keyPath: kind.counter] += counters[keyPath: kind.counter] - before[keyPath: kind.counter]
            let place = adapter.map { $0 + ": " } ?? ""
            messages.append(
                Message(level: kind.level, text: "\(place)\(kind.text); \(total[keyPath: kind.counter]) times so far"))
        }
        return messages
    }

    /// The radio was closed.
    mutating func close(_ radio: Int) { seen[radio] = nil }
}
