// SPDX-License-Identifier: MIT
// What a person sees of a device in the table, and what outputs know of its samples beside the numbers of the C library.
import CTendon
import Tendon
import TendonOutputs
import TendonSupport

/// What a line changes in the row of its device; nil: nothing.
struct RowChange: Sendable {
    var state: String?
    var note: String?
    /// Within: not known any more.
    var battery: Int??
    var readings: [Reading]?

    func apply(to row: inout DeviceRow) {
        if let state { row.state = state }
        if let note { row.note = note }
        if let battery { row.battery = battery }
        if let readings { row.readings = readings }
    }

    /// The number of a device file can be anything; nil: the device does not know it.
    mutating func show(battery percent: Double?) {
        battery = .some(percent.flatMap { (0...100).contains($0) ? Int($0) : nil })
    }

    /// New numbers take the place of those of the same name.
    mutating func show(_ new: Reading, in row: [Reading]) {
        var all = readings ?? row
        if let place = all.firstIndex(where: { $0.name == new.name }) { all[place] = new } else { all.append(new) }
        readings = all
    }
}

/// A family's part, of one device. Used on the loop.
class DeviceView {
    let served: ServedDevice
    /// The readings that the row has.
    private(set) var readings: [Reading] = []
    private var forms = ViewForms()

    init(_ served: ServedDevice) { self.served = served }

    /// A connection begins.
    func begin(_ device: tendon_device, _ identity: JSON, _ change: inout RowChange) {}
    /// A sample; only if there is a table.
    func show(sample event: DeviceEvent, _ line: DeviceLine, _ change: inout RowChange) {}
    /// Another line.
    func show(_ line: DeviceLine, _ event: DeviceEvent, _ change: inout RowChange) {}
    /// What a sample has beside its numbers: rate, clock of the device, orientation of a head, words.
    func complete(_ sample: inout OutputSample, _ event: DeviceEvent, _ index: Int) {}
    /// Why it did not connect, or has disconnected; nil: the words of the C library.
    func words(for error: TendonError) -> String? { nil }
    /// Whether lines that are no samples have numbers for outputs.
    var hasNumbersOfStates: Bool { false }
    /// Whether samples may have the battery level; else it is in events alone.
    var hasBatteryInSamples: Bool { false }
    /// What tables have beside the numbers of a sample, if its form is that of the numbers.
    func texts(of event: DeviceEvent) -> [SampleChannel] { [] }
    /// Nil: that of the numbers themselves.
    func form(of event: DeviceEvent, _ index: Int) -> SampleForm? { nil }

    /// The numbers of a line; nil: it has none.
    final func numbers(_ event: DeviceEvent, _ index: Int) -> OutputSample? {
        var view = tendon_view()
        guard tendon_device_view(event.device, event.pointer, index, &view) else { return nil }
        let form = form(of: event, index) ?? forms.form(of: view, texts: texts(of: event))
        guard !form.isEmpty else { return nil }
        var sample = OutputSample(form, &view)
        sample.take(
            SampleTimes(receivedAt: view.received_at, sampledAt: view.sampled_at, errorMicroseconds: view.error_us))
        complete(&sample, event, index)
        return sample
    }

    final func keep(_ change: RowChange) {
        if let new = change.readings { readings = new }
    }
}
