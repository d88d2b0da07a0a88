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

/// What tables have of a value beside the numbers of its view: words, and the records of its lists.
private final class DescribedCells {
    /// By column; empty: there are none.
    var words: [String?] = []
    var records: [OutputSample] = []
    private let form: SampleForm
    private var depth = 0
    /// The list that is walked, with its name; nil: it has no table.
    private var list: (form: SampleForm, name: String)?
    /// Records of the list.
    private var count = 0

    init(_ form: SampleForm) { self.form = form }

    func take(_ value: UnsafePointer<tendon_described>) {
        let name = value.pointee.name.map { text($0) }
        switch value.pointee.kind {
        case TENDON_DESCRIBED_LIST:
            if depth == 0 { begin(list: name ?? "") }
            depth += 1
        case TENDON_DESCRIBED_ITEM:
            if depth == 1 { addRecord() }
            depth += 1
        case TENDON_DESCRIBED_END: depth -= 1
        default: take(value, name)
        }
    }

    private func take(_ value: UnsafePointer<tendon_described>, _ name: String?) {
        switch depth {
        case 0:
            guard let name, let column = form.columns.firstIndex(where: { $0.name == name }) else { return }
            DescribedCells.put(value, column, &words, of: form)
        case 1:  // a number of a plain list
            addRecord()
            put(value, inRecord: list?.name)
        case 2: put(value, inRecord: name)
        default: break
        }
    }

    private func begin(list name: String) {
        let sensor = Definition.listName(form.sensor, name)
        list = form.lists.first { $0.sensor == sensor }.map { ($0, name) }
        count = 0
    }

    private func addRecord() {
        guard let list else { return }
        var record = OutputSample(list.form)
        if list.form.countsRecords { record[0] = Double(count) }
        records.append(record)
        count += 1
    }

    private func put(_ value: UnsafePointer<tendon_described>, inRecord name: String?) {
        guard let list, let column = list.form.columns.firstIndex(where: { $0.name == name }) else { return }
        let last = records.count - 1
        if column < list.form.channels.count, value.pointee.kind != TENDON_DESCRIBED_NOTHING {
            records[last][column] = value.pointee.number
        }
        DescribedCells.put(value, column, &records[last].words, of: list.form)
    }

    private static func put(
        _ value: UnsafePointer<tendon_described>, _ column: Int, _ words: inout [String?], of form: SampleForm
    ) {
        guard let word = word(value) else { return }
        if words.isEmpty { words = Array(repeating: nil, count: form.columns.count) }
        words[column] = word
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
    /// What a table calls a list of an event. No name of a device file has a point.
    fileprivate static func listName(_ event: String, _ list: String) -> String { "\(event).\(list)" }

    /// The channels of an event: its numbers and flags outside of lists, as the view of the C library has them; its texts,
    /// times and bytes; and its lists.
    func form(of event: Int) -> SampleForm {
        let name = word(events[event].name) ?? ""
        let (numbers, texts) = columns(shownFields(of: event))
        let lists = lists(of: event, name)
        let incomplete = lists.filter { !$0.form.inLinesAlone.isEmpty }
        return SampleForm(
            name, numbers, texts: texts, lists: lists.map(\.form), inLinesAlone: incomplete.map(\.name))
    }

    /// - Parameter fields: of one name several, if they exclude each other.
    private func columns(_ fields: [tendon_field]) -> (numbers: [SampleChannel], texts: [SampleChannel]) {
        func channels(_ isWanted: (tendon_field) -> Bool) -> [SampleChannel] {
            Definition.firstOfEachName(fields.filter(isWanted)).map {
                SampleChannel(word($0.name) ?? "", word($0.unit) ?? "", $0.cell)
            }
        }
        let numbers = channels { $0.isNumber || $0.isBit }
        let texts = channels { $0.isText || $0.isDate || $0.isBytes }
        return (numbers, texts.filter { text in !numbers.contains { $0.name == text.name } })
    }

    private func lists(of event: Int, _ eventName: String) -> [(name: String, form: SampleForm)] {
        let lists = shownFields(of: event).filter(\.isList)
        return Definition.firstOfEachName(lists).map { list in
            let name = word(list.name) ?? ""
            let records = lists.filter { $0.name == list.name }.flatMap { recordFields(of: $0) }
            let (numbers, texts) = columns(records)
            let hasIndex = (numbers + texts).contains { $0.name == SampleForm.recordIndex.name }
            let inner = Definition.firstOfEachName(records.filter(\.isList)).compactMap { word($0.name) }
            let form = SampleForm(
                Definition.listName(eventName, name), numbers, texts: texts, inLinesAlone: inner,
                countsRecords: !hasIndex)
            return (name, form)
        }
    }

    /// Whether tables have more of an event than the numbers of its view: words, texts, bytes, integers of 64 bits, lists.
    func hasCells(_ event: Int) -> Bool {
        shownFields(of: event).contains {
            $0.count > 0 || $0.bits > 53 || $0.isText || $0.isDate || $0.isBytes || $0.isList
        }
    }

    /// The words and the records of a value that has no mistake. They do not depend on the values before.
    func fill(_ sample: inout OutputSample, from bytes: UnsafeBufferPointer<UInt8>, of event: Int) {
        guard haveCells[event] else { return }
        let visitor = DescribedCells(forms[event])
        withExtendedLifetime(visitor) {
            _ = tendon_describe(
                pointer, event, bytes.baseAddress, bytes.count, nil,
                { context, value in value.map { object(DescribedCells.self, context).take($0) } },
                context(of: visitor), nil)
        }
        (sample.words, sample.records) = (visitor.words, visitor.records)
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
