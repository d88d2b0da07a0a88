// SPDX-License-Identifier: MIT
// What an output may count and measure: of the gateway, of each device, of the other outputs. For operators.

/// One metric as OpenMetrics has it. The name contains the unit as its last word, and no `_total`.
package struct Metric: Sendable {
    package enum Kind: String, Sendable {
        /// Only grows, until the program or a session starts again.
        case counter
        case gauge
    }

    package struct Sample: Sendable {
        package var labels: [(name: String, value: String)]
        package var value: Double

        package init(_ value: Double, _ labels: [(name: String, value: String)] = []) {
            self.labels = labels
            self.value = value
        }
    }

    package var name: String
    package var kind: Kind
    package var unit: String?
    package var help: String
    package var samples: [Sample]

    package init(_ name: String, _ kind: Kind, unit: String? = nil, _ help: String, _ samples: [Sample]) {
        (self.name, self.kind, self.unit, self.help, self.samples) = (name, kind, unit, help, samples)
    }

    package init(_ name: String, _ kind: Kind, unit: String? = nil, _ help: String, _ value: Double) {
        self.init(name, kind, unit: unit, help, [Sample(value)])
    }
}

/// Counters and levels of one device since it was found.
package struct DeviceFigures: Sendable {
    package var device: OutputDevice
    package var isConnected = false
    /// Sensor notifications, samples in them, samples that were printed, and samples that found a buffer full.
    package var notifications: UInt64 = 0
    package var samples: UInt64 = 0
    package var delivered: UInt64 = 0
    package var dropped: UInt64 = 0
    /// Values that the decoder rejected.
    package var malformed: UInt64 = 0
    /// Connections after the first one, and attempts that failed.
    package var reconnections: UInt64 = 0
    package var failedConnections: UInt64 = 0
    /// By the reason of `disconnected`.
    package var disconnections: [String: UInt64] = [:]
    /// Signal of the newest advertisement, dBm. Most devices do not advertise while they are connected.
    package var signal: Int?
    /// Percent.
    package var battery: Int?

    package init(_ device: OutputDevice) { self.device = device }
}

/// Gives figures; called from any thread.
package protocol FigureSource: Sendable {
    func deviceFigures() -> [DeviceFigures]
    /// Of the gateway itself and of its outputs.
    func metrics() -> [Metric]
}
