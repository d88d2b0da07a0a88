// SPDX-License-Identifier: MIT
// What operators measure: counters of the devices' rows, of events and of the other outputs.
import Synchronization
import Tendon
import TendonOutputs
import TendonSupport

/// An output that counts rare events, and the source of all figures.
final class FigureBoard: EventOutput, FigureSource {
    private struct Counts {
        var isConnected = false
        var connections: UInt64 = 0
        var failures: UInt64 = 0
        var ends: [String: UInt64] = [:]
    }

    private struct State {
        var counts: [String: Counts] = [:]
        var reporter: Reporter?
        var outputs: [any EventOutput] = []
        var radios = (open: 0, waiting: 0)
    }

    private let commands: GatewayCommands
    private let state = Mutex(State())
    /// Devices with counters of their own; as many as the gateway has sessions, and room for those that it forgets.
    private static let limit = 1024

    init(_ commands: GatewayCommands) { self.commands = commands }

    /// Where the figures are.
    func watch(_ reporter: Reporter?, _ outputs: [any EventOutput]) {
        state.withLock { ($0.reporter, $0.outputs) = (reporter, outputs) }
    }

    // MARK: Counted

    var takesSamples: Bool { false }

    func takes(_ event: EventName, of device: OutputDevice?) -> Bool {
        device != nil && (event.isEqual(to: "disconnected") || event.isEqual(to: "connect_failed"))
    }

    func event(_ event: EventName, of device: OutputDevice?, _ compose: (inout LineWriter) -> Void) {
        guard let device else { return }
        guard event.isEqual(to: "disconnected") else { return count(device) { $0.failures += 1 } }
        var writer = LineWriter()
        compose(&writer)
        let reason = (try? JSON(parsing: writer.bytes))?["reason"]?.string ?? ""
        count(device) { $0.ends[reason, default: 0] += 1 }
    }

    func device(_ device: OutputDevice, is presence: Presence) {
        switch presence {
        case .forgotten: state.withLock { $0.counts[device.key] = nil }
        case .renamed: break
        case .disconnected: count(device) { $0.isConnected = false }
        case .connected:
            count(device) { counts in
                counts.isConnected = true
                counts.connections += 1
            }
        }
    }

    func radios(open: Int, waiting: [String]) { state.withLock { $0.radios = (open, waiting.count) } }

    private func count(_ device: OutputDevice, _ change: (inout Counts) -> Void) {
        state.withLock { state in
            guard state.counts[device.key] != nil || state.counts.count < FigureBoard.limit else { return }
            change(&state.counts[device.key, default: Counts()])
        }
    }

    // MARK: Read

    func deviceFigures() -> [DeviceFigures] {
        let (reporter, counts) = state.withLock { ($0.reporter, $0.counts) }
        let signals = commands.signals()
        return (reporter?.rows ?? []).map { row in
            var figures = DeviceFigures(row.label.device)
            let counted = counts[figures.device.key] ?? Counts()
            figures.isConnected = counted.isConnected
            let counters = row.total
            figures.notifications = counters.notifications
            figures.samples = counters.samples
            figures.delivered = counters.delivered
            figures.dropped = counters.dropped
            figures.malformed = counters.malformed
            figures.reconnections = counted.connections > 0 ? counted.connections - 1 : 0
            figures.failedConnections = counted.failures
            figures.disconnections = counted.ends
            figures.signal = signals[row.label.address]
            figures.battery = row.battery
            return figures
        }
    }

    func metrics() -> [Metric] {
        let (outputs, reporter, radios) = state.withLock { ($0.outputs, $0.reporter, $0.radios) }
        let states = [
            Metric("tendon_radios_open", .gauge, "Adapters that are in use.", Double(radios.open)),
            Metric(
                "tendon_radios_waiting", .gauge, "Adapters that are missing or do not open, and are waited for.",
                Double(radios.waiting)),
        ]
        let lines = Metric(
            "tendon_dropped_lines", .counter, unit: "lines", "Lines that found the buffer of standard output full.",
            Double(Output.standard.lines?.dropped ?? 0))
        let packets = Metric(
            "tendon_lost_packets", .counter, unit: "packets",
            "Packets of devices that the kernel dropped because the gateway read too slowly.",
            Double(reporter?.lostPackets ?? 0))
        let adapters = FigureBoard.metrics(of: reporter?.adapterCounters ?? AdapterCounters())
        return states + [lines, packets] + adapters + outputs.flatMap(\.metrics)
    }

    private static func metrics(of counters: AdapterCounters) -> [Metric] {
        [
            Metric(
                "tendon_connect_reissues", .counter,
                "Attempts to connect that were repeated because the kernel did not act on them.",
                Double(counters.connectReissues)),
            Metric(
                "tendon_scan_restarts", .counter,
                "Scans that were restarted because no advertisement was received.", Double(counters.scanRestarts)),
            Metric(
                "tendon_adapter_power_cycles", .counter,
                "Times that an adapter was powered off and on because it did nothing.", Double(counters.powerCycles)),
        ]
    }
}
