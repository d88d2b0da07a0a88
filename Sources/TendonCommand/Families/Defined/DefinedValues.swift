// SPDX-License-Identifier: MIT
// The values of a defined device as members of a line, and as readings of the table.
import CTendon
import Tendon
import TendonOutputs
import TendonSupport

/// What rates remember of a device, such as a cadence of the revolutions before.
final class Rates {
    fileprivate let block = CBlock<tendon_described_rates>()

    /// Once for each value that has no mistake.
    func take(_ bytes: [UInt8], of event: Int, _ definition: Definition) {
        tendon_described_rates_take(block.pointer, definition.pointer, event, bytes, bytes.count)
    }
}

/// The first numbers of a value, for a person.
private final class DescribedReadings {
    var readings: [Reading] = []
    private var depth = 0
    private let definition: Definition

    init(_ definition: Definition) { self.definition = definition }

    func take(_ value: tendon_described) {
        switch value.kind {
        case TENDON_DESCRIBED_LIST, TENDON_DESCRIBED_ITEM: depth += 1
        case TENDON_DESCRIBED_END: depth -= 1
        case TENDON_DESCRIBED_NUMBER where depth == 0 && readings.count < 3:
            guard let name = value.name, let field = value.field else { return }
            readings.append(
                Reading(
                    name: text(name), value: value.number, unit: definition.word(field.pointee.unit) ?? "",
                    decimals: min(Int(value.decimals), 3)))
        default: break
        }
    }
}

/// The numbers of a value that an output knows by their channels.
private final class DescribedNumbers {
    var sample: OutputSample
    private var depth = 0

    init(_ form: SampleForm) { sample = OutputSample(form) }

    func take(_ value: tendon_described) {
        switch value.kind {
        case TENDON_DESCRIBED_LIST, TENDON_DESCRIBED_ITEM: depth += 1
        case TENDON_DESCRIBED_END: depth -= 1
        case TENDON_DESCRIBED_NUMBER where depth == 0, TENDON_DESCRIBED_FLAG where depth == 0:
            guard let name = value.name else { return }
            let word = text(name)
            if let channel = sample.form.channels.firstIndex(where: { $0.name == word }) {
                sample[channel] = value.number
            }
        default: break
        }
    }
}

extension Definition {
    /// The channels of an event's samples: its numbers and flags outside of lists.
    func form(of event: Int) -> SampleForm {
        SampleForm(
            word(events[event].name) ?? "",
            fields(of: event).filter { $0.isNumber || $0.isFlag }.map {
                SampleChannel(word($0.name) ?? "", word($0.unit) ?? "")
            })
    }

    /// The numbers of a value that has no mistake. Nil: it has none.
    func numbers(_ bytes: [UInt8], of event: Int, _ rates: Rates?, _ times: SampleTimes) -> OutputSample? {
        let form = forms[event]
        guard !form.channels.isEmpty else { return nil }
        let visitor = DescribedNumbers(form)
        withExtendedLifetime(visitor) {
            _ = tendon_describe(
                pointer, event, bytes, bytes.count, rates?.block.pointer,
                { context, value in value.map { object(DescribedNumbers.self, context).take($0.pointee) } },
                context(of: visitor), nil)
        }
        visitor.sample.take(times)
        return visitor.sample
    }

    /// Why a value breaks its layout, and at which byte; nil: it does not.
    func mistake(in bytes: [UInt8], of event: Int) -> (status: tendon_status, offset: Int)? {
        var offset = 0
        let status = tendon_describe(pointer, event, bytes, bytes.count, nil, nil, nil, &offset)
        return status < 0 ? (status, offset) : nil
    }

    /// The members of a value that has no mistake.
    func write(_ bytes: [UInt8], of event: Int, _ rates: Rates?, to line: inout LineWriter) {
        line.members {
            tendon_defined_members($0, pointer, event, bytes, bytes.count, rates?.block.pointer)
        }
    }

    func readings(_ bytes: [UInt8], of event: Int, _ rates: Rates?) -> [Reading] {
        let visitor = DescribedReadings(self)
        withExtendedLifetime(visitor) {
            _ = tendon_describe(
                pointer, event, bytes, bytes.count, rates?.block.pointer,
                { context, value in value.map { object(DescribedReadings.self, context).take($0.pointee) } },
                context(of: visitor), nil)
        }
        return visitor.readings
    }
}
