// SPDX-License-Identifier: MIT
// The values of a defined device as words of a table, and as readings of the table of `run`.
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
    /// Of all members.
    var names: Set<String> = []
    private var depth = 0
    private let definition: Definition

    init(_ definition: Definition) { self.definition = definition }

    func take(_ value: tendon_described) {
        if depth == 0, let name = value.name { names.insert(text(name)) }
        switch value.kind {
        case TENDON_DESCRIBED_LIST, TENDON_DESCRIBED_ITEM: depth += 1
        case TENDON_DESCRIBED_END: depth -= 1
        case TENDON_DESCRIBED_NUMBER where depth == 0 && readings.count < 3:
            guard let name = value.name, let field = value.field else { return }
            readings.append(
                Reading(
                    name: text(name), value: value.number, unit: definition.word(field.pointee.unit) ?? "",
                    decimals: min(Int(value.decimals), DescribedReadings.decimals(value.number)),
                    canBeWhole: false))
        default: break
        }
    }
}

extension DescribedReadings {
    /// Three, and of what is smaller two digits that are not zeros in front.
    fileprivate static func decimals(_ value: Double) -> Int {
        var (decimals, size) = (3, abs(value) * 100)
        while size > 0, size < 1, decimals < 12 { (decimals, size) = (decimals + 1, size * 10) }
        return decimals
    }
}

/// What tables have in their columns beside numbers.
private final class DescribedWords {
    /// By column; empty: there are none.
    var words: [String?] = []
    private var depth = 0
    private let columns: [String]

    init(_ form: SampleForm) { columns = form.columns.map(\.name) }

    func take(_ value: UnsafePointer<tendon_described>) {
        switch value.pointee.kind {
        case TENDON_DESCRIBED_LIST, TENDON_DESCRIBED_ITEM: depth += 1
        case TENDON_DESCRIBED_END: depth -= 1
        default:
            guard depth == 0, let name = value.pointee.name, let column = columns.firstIndex(of: text(name)),
                let word = DescribedWords.word(value)
            else { return }
            if words.isEmpty { words = Array(repeating: nil, count: columns.count) }
            words[column] = word
        }
    }

    /// As lines have it; nil: a double says all of it.
    private static func word(_ value: UnsafePointer<tendon_described>) -> String? {
        let cell = tendon_described_cell(value)
        let bytes = UnsafeBufferPointer(start: cell.bytes, count: cell.length)
        return switch cell.kind {
        case TENDON_CELL_TEXT: String(decoding: bytes, as: UTF8.self)
        case TENDON_CELL_BYTES: hexText(Array(bytes))
        case TENDON_CELL_INTEGER where abs(value.pointee.number) >= 0x1p53: "\(value.pointee.integer)"
        case TENDON_CELL_COUNT: "\(UInt64(bitPattern: value.pointee.integer))"
        default: nil
        }
    }
}

extension Definition {
    /// The channels of an event: its numbers and flags outside of lists, as the view of the C library has them; and its
    /// texts, times and bytes. The names of its lists.
    func form(of event: Int) -> SampleForm {
        func channels(_ isWanted: (tendon_field) -> Bool) -> [SampleChannel] {
            fields(of: event, where: isWanted).map {
                SampleChannel(word($0.name) ?? "", word($0.unit) ?? "", $0.cell)
            }
        }
        let numbers = channels { $0.isNumber || $0.isBit }
        let texts = channels { $0.isText || $0.isDate || $0.isBytes }
        return SampleForm(
            word(events[event].name) ?? "", numbers,
            texts: texts.filter { text in !numbers.contains { $0.name == text.name } },
            lists: channels { tendon_field_type(UInt32($0.type)) == TENDON_FIELD_RECORDS }.map(\.name))
    }

    /// The words of a value that has no mistake. They do not depend on the values before.
    func words(_ bytes: UnsafeBufferPointer<UInt8>, of event: Int) -> [String?] {
        guard haveWords[event] else { return [] }
        let visitor = DescribedWords(forms[event])
        withExtendedLifetime(visitor) {
            _ = tendon_describe(
                pointer, event, bytes.baseAddress, bytes.count, nil,
                { context, value in value.map { object(DescribedWords.self, context).take($0) } },
                context(of: visitor), nil)
        }
        return visitor.words
    }

    /// The first numbers of a value, and the names of all that it has, known or not.
    func readings(_ bytes: [UInt8], of event: Int, _ rates: Rates?) -> (known: [Reading], names: Set<String>) {
        let visitor = DescribedReadings(self)
        withExtendedLifetime(visitor) {
            _ = tendon_describe(
                pointer, event, bytes, bytes.count, rates?.block.pointer,
                { context, value in value.map { object(DescribedReadings.self, context).take($0.pointee) } },
                context(of: visitor), nil)
        }
        return (visitor.readings, visitor.names)
    }
}
