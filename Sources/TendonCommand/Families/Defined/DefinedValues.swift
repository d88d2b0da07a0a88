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

/// The numbers of a value that an output knows by their channels, and what else tables have in their columns.
private final class DescribedNumbers {
    var sample: OutputSample
    private var depth = 0
    private let columns: [String]

    init(_ form: SampleForm) {
        sample = OutputSample(form)
        columns = form.columns.map(\.name)
    }

    func take(_ value: tendon_described) {
        switch value.kind {
        case TENDON_DESCRIBED_LIST, TENDON_DESCRIBED_ITEM: depth += 1
        case TENDON_DESCRIBED_END: depth -= 1
        default:
            guard depth == 0, let name = value.name, let column = columns.firstIndex(of: text(name)) else { return }
            if let word = DescribedNumbers.word(value) {
                if sample.words.isEmpty { sample.words = Array(repeating: nil, count: columns.count) }
                sample.words[column] = word
            }
            let isNumber = value.kind == TENDON_DESCRIBED_NUMBER || value.kind == TENDON_DESCRIBED_FLAG
            if isNumber, column < sample.count { sample[column] = value.number }
        }
    }

    /// As lines have it; nil: a double says all of it.
    private static func word(_ value: tendon_described) -> String? {
        switch value.kind {
        case TENDON_DESCRIBED_WORD: text(value.text)
        case TENDON_DESCRIBED_TEXT:
            // Zeros at its end fill it.
            String(decoding: bytes(of: value).reversed().drop { $0 == 0 }.reversed(), as: UTF8.self)
        case TENDON_DESCRIBED_BYTES: hexText(bytes(of: value))
        case TENDON_DESCRIBED_NUMBER where value.is_integer && abs(value.number) >= 0x1p53: "\(value.integer)"
        case TENDON_DESCRIBED_NUMBER where value.number >= 0x1p63 && value.integer < 0:
            "\(UInt64(bitPattern: value.integer))"
        default: nil
        }
    }

    private static func bytes(of value: tendon_described) -> [UInt8] {
        Array(UnsafeBufferPointer(start: value.bytes, count: value.length))
    }
}

extension Definition {
    /// The channels of an event's samples: its numbers and flags outside of lists; and its texts and bytes, if no line of
    /// an event has them.
    func form(of event: Int) -> SampleForm {
        func channels(_ isWanted: (tendon_field) -> Bool) -> [SampleChannel] {
            fields(of: event).filter(isWanted).map { SampleChannel(word($0.name) ?? "", word($0.unit) ?? "") }
        }
        return SampleForm(
            word(events[event].name) ?? "", channels { $0.isNumber || $0.isFlag },
            texts: events[event].isSample ? channels { $0.isText || $0.isDate || $0.isBytes } : [])
    }

    /// The numbers and words of a value that has no mistake. Nil: it has none.
    func numbers(_ bytes: [UInt8], of event: Int, _ rates: Rates?, _ times: SampleTimes) -> OutputSample? {
        let form = forms[event]
        guard !form.columns.isEmpty else { return nil }
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
