// SPDX-License-Identifier: MIT
// Devices of files for `run` and `stream`.
import CTendon
import Tendon
import TendonOutputs
import TendonSupport

struct DefinedStream: DeviceSource {
    let choice: DeviceChoice
    private let definition: Definition

    init(_ definition: Definition) {
        self.definition = definition
        choice = DeviceChoice(TENDON_DEVICE_DEFINED, definition)
    }

    @TendonActor
    func view(of device: ServedDevice) -> DeviceView { DefinedView(definition, device) }
}

/// Its values may have any names: each first number of an event is a reading.
private final class DefinedView: DeviceView {
    private let definition: Definition
    /// For the table.
    private var rates = Rates()
    private var parts = MessageParts()
    private static let readingLimit = 4
    private let samplesHaveBattery: Bool

    init(_ definition: Definition, _ served: ServedDevice) {
        self.definition = definition
        samplesHaveBattery = definition.events.indices.contains { index in
            definition.events[index].isSample
                && definition.forms[index].channels.contains { $0.name == "battery_percent" }
        }
        super.init(served)
    }

    override var hasNumbersOfStates: Bool { true }
    override var hasBatteryInSamples: Bool { samplesHaveBattery }

    override func form(of event: DeviceEvent, _ index: Int) -> SampleForm? {
        let number = tendon_defined_event_at(definition.pointer, event.c.of.defined, index)
        return number < definition.forms.count ? definition.forms[number] : nil
    }

    override func complete(_ sample: inout OutputSample, _ event: DeviceEvent, _ index: Int) {
        guard let value = event.c.of.defined?.pointee else { return }
        let number = tendon_defined_event_at(definition.pointer, event.c.of.defined, index)
        guard number < definition.events.count else { return }
        definition.fill(&sample, from: UnsafeBufferPointer(start: value.bytes, count: value.length), of: number)
    }

    override func begin(_ device: tendon_device, _ identity: JSON, _ change: inout RowChange) {
        (rates, parts) = (Rates(), MessageParts())
    }

    override func show(sample event: DeviceEvent, _ line: DeviceLine, _ change: inout RowChange) {
        show(line, event, &change)
    }

    override func show(_ line: DeviceLine, _ event: DeviceEvent, _ change: inout RowChange) {
        guard served.reporter.isTable, event.c.kind == TENDON_DEVICE_EVENT_SESSION,
            let value = event.c.of.defined?.pointee, value.kind == TENDON_DEFINED_EVENT_VALUE,
            !line.name.isEqual(to: "malformed")
        else { return }
        let bytes = Array(UnsafeBufferPointer(start: value.bytes, count: value.length))
        let number = tendon_defined_event_at(definition.pointer, event.c.of.defined, line.index)
        if line.index == 0 { rates.take(bytes, of: number, definition) }
        let new = definition.readings(bytes, of: number, rates)
        let ended = parts.replace("\(number)", new.names)
        if !ended.isEmpty {
            change.readings = (change.readings ?? readings).filter { one in
                !ended.contains(one.name) || new.known.contains { $0.name == one.name }
            }
        }
        for reading in new.known {
            let isKnown = (change.readings ?? readings).contains { $0.name == reading.name }
            if reading.name == "battery_percent" {
                change.show(battery: reading.value)
            } else if isKnown || (change.readings ?? readings).count < DefinedView.readingLimit {
                change.show(reading, in: readings)
            }
        }
    }
}
