// SPDX-License-Identifier: MIT
// Values of a captured connection: the replay component of the C library has their lines.
import CTendon
import Tendon
import TendonOutputs
import TendonSupport

/// What becomes of the values of one connection.
final class ValueReplay {
    private let block = CBlock<tendon_replay>()
    private let definition: Definition?
    private var forms = ViewForms()
    /// Values of a device file in which no event was: each has other members.
    private(set) var valuesWithoutEvents = 0

    init(_ family: Family) {
        definition = Definitions.named(family.name)
        family.name.withCString { tendon_replay_init(block.pointer, $0, definition?.pointer) }
    }

    var counters: StreamCounters {
        let c = block.pointer.pointee
        return StreamCounters(
            notifications: c.notifications, samples: c.samples, malformed: c.malformed, skipped: c.skipped)
    }

    /// A value that was read, written or notified.
    /// - Parameters:
    ///   - service: nil: not known.
    ///   - milliseconds: the capture's clock.
    func value(
        _ bytes: [UInt8], of characteristic: tendon_uuid, in service: tendon_uuid?, written: Bool,
        at milliseconds: UInt64, to lines: ReplayLines
    ) {
        final class Taking {
            let lines: ReplayLines
            let replay: ValueReplay
            var count = 0
            init(_ lines: ReplayLines, _ replay: ValueReplay) { (self.lines, self.replay) = (lines, replay) }
        }
        let taking = Taking(lines, self)
        defer { if definition != nil, taking.count == 0 { valuesWithoutEvents += 1 } }
        withExtendedLifetime(taking) {
            withUnsafePointer(to: characteristic) { characteristic in
                withOptionalPointer(to: service) { service in
                    bytes.withUnsafeBufferPointer { bytes in
                        var value = tendon_replay_value(
                            characteristic: characteristic, service: service, bytes: bytes.baseAddress,
                            length: bytes.count, is_written: written, now: milliseconds)
                        tendon_replay_take(
                            block.pointer, &value,
                            { context, line in
                                let taking = object(Taking.self, context)
                                guard let line else { return }
                                taking.count += 1
                                taking.lines.print(line) { taking.replay.numbers(of: line) }
                            }, context(of: taking))
                    }
                }
            }
        }
    }

    /// Nil: it has none.
    private func numbers(of line: UnsafePointer<tendon_replay_line>) -> OutputSample? {
        var numbers = tendon_replay_numbers()
        guard tendon_replay_view(line, &numbers) else { return nil }
        let form =
            definition?.forms[line.pointee.defined_event]
            ?? forms.form(of: numbers.view, texts: numbers.bose?.pointee.accuracyColumns ?? [])
        guard !form.isEmpty else { return nil }
        var sample = OutputSample(form, &numbers.view)
        if let value = line.pointee.value?.pointee, let definition {
            let bytes = UnsafeBufferPointer(start: value.bytes, count: value.length)
            definition.fill(&sample, from: bytes, of: line.pointee.defined_event)
        }
        if !numbers.device_time_ms.isNaN { sample.deviceTime = numbers.device_time_ms }
        numbers.bose?.pointee.fill(&sample)
        return sample
    }
}

extension ReplayLines {
    fileprivate func print(_ line: UnsafePointer<tendon_replay_line>, _ numbers: () -> OutputSample?) {
        let numbers = device.flatMap { events.numbers($0, capturedAt: time, numbers) }
        event(EventName(lasting: line.pointee.event), numbers: numbers) { writer in
            writer.membersOfLine { tendon_replay_write(line, $0, nil, 0) }
        }
    }
}

extension Family {
    /// Whether a characteristic is one of its own: others, such as the battery level, all devices have.
    func recognizes(_ characteristic: tendon_uuid) -> Bool {
        var uuid = characteristic
        return tendon_replay_recognizes(name, Definitions.named(name)?.pointer, &uuid)
    }

    /// Where a value has a name that a user gave to the device; empty: nowhere.
    func nameRange(in value: ArraySlice<UInt8>, of characteristic: tendon_uuid) -> Range<Int> {
        var uuid = characteristic
        let start = value.withUnsafeBufferPointer { tendon_replay_name(name, &uuid, $0.baseAddress, $0.count) }
        return value.startIndex + start..<value.endIndex
    }
}
