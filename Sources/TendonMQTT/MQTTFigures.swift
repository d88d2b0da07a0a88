// SPDX-License-Identifier: MIT
// The worker's counters for operators, who ask from other threads.
import TendonOutputs
import TendonSupport

final class MQTTFigures: @unchecked Sendable {
    struct Values: Equatable {
        var isConnected = false
        var queued = 0
        var dropped: UInt64 = 0
        var refused: UInt64 = 0
        var thinned: UInt64 = 0
        var isFailing = false
    }

    // Guarded by `lock`.
    private let lock = ThreadLock()
    private var values = Values()
    private var loses = false

    func set(_ new: Values) { lock.locked { values = new } }

    /// At the end: messages are neither with the broker nor in the file.
    var hasLost: Bool {
        get { lock.locked { loses } }
        set { lock.locked { loses = newValue } }
    }

    var metrics: [Metric] {
        let values = lock.locked { self.values }
        return [
            Metric("tendon_mqtt_connected", .gauge, "1: the broker is connected.", values.isConnected ? 1 : 0),
            Metric(
                "tendon_mqtt_queue_messages", .gauge, unit: "messages",
                "Messages that the broker has not acknowledged.", Double(values.queued)),
            Metric(
                "tendon_mqtt_queue_failing", .gauge, "1: the file of the queue cannot be written.",
                values.isFailing ? 1 : 0),
            Metric(
                "tendon_mqtt_dropped_messages", .counter, unit: "messages", "Events lost because the queue was full.",
                Double(values.dropped)),
            Metric(
                "tendon_mqtt_refused_messages", .counter, unit: "messages", "Messages that the broker refused.",
                Double(values.refused)),
            Metric(
                "tendon_mqtt_thinned_samples", .counter, unit: "samples", "Samples that were left out of streams.",
                Double(values.thinned)),
        ]
    }
}
