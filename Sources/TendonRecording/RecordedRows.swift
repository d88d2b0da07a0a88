// SPDX-License-Identifier: MIT
// Samples as rows of CSV (RFC 4180, with line feeds): long form, and the wide form of one sensor.
import CTendon
import TendonOutputs
import TendonSupport

/// Writes rows. Numbers have up to nine decimals, without zeros at their end; what is not known is empty.
struct RecordedRows {
    private var writer = LineWriter(capacity: 512)

    init() { writer.isCompact = true }

    static let longHeader = "time,device,sensor,channel,unit,value,received_at,sampled_at,error_ms\n"

    static func wideHeader(_ form: SampleForm) -> String {
        ([wideTimes] + columns(form)).joined(separator: ",") + "\n"
    }

    static let wideTimes = "time,received_at,sampled_at,error_ms,device_time_ms"

    /// The columns of a sensor: the names of its channels with their units, as members of lines have them.
    /// Fields of a record may have the names of the first columns: they are behind the name of their list.
    static func columns(_ form: SampleForm) -> [String] {
        form.columns.map { channel in
            let ending = endings[channel.unit] ?? ""
            let name = channel.name.hasSuffix(ending) ? channel.name : channel.name + ending
            guard wideTimes.split(separator: ",").contains(Substring(name)) else { return name }
            return "\(form.sensor.split(separator: ".").last ?? "")_\(name)"
        }
    }

    private static let endings = [
        "g": "_g", "deg": "_deg", "deg/s": "_deg_per_s", "rad/s": "_rad_per_s", "rad": "_rad", "N": "_n",
        "%": "_percent", "s": "_s", "ms": "_ms",
    ]

    /// - Parameters:
    ///   - time: microseconds since 1970.
    ///   - label: of the device.
    mutating func long(_ sample: OutputSample, _ label: String, _ time: UInt64, to rows: inout [UInt8]) {
        for (index, channel) in sample.form.columns.enumerated() {
            RecordedRows.time(time, to: &rows)
            for text in [label, sample.form.sensor, channel.name, channel.unit] {
                rows.append(UInt8(ascii: ","))
                cell(text, to: &rows)
            }
            value(sample, index, to: &rows)
            times(sample, to: &rows)
            rows.append(UInt8(ascii: "\n"))
        }
    }

    /// Units of device files, and names of devices, are any text.
    private func cell(_ text: String, to rows: inout [UInt8]) {
        guard text.utf8.contains(where: { $0 == UInt8(ascii: ",") || $0 == UInt8(ascii: "\"") || $0 < 0x20 }) else {
            rows.append(contentsOf: text.utf8)
            return
        }
        rows.append(UInt8(ascii: "\""))
        for character in text.utf8 {
            if character == UInt8(ascii: "\"") { rows.append(character) }
            rows.append(character < 0x20 ? UInt8(ascii: " ") : character)
        }
        rows.append(UInt8(ascii: "\""))
    }

    mutating func wide(_ sample: OutputSample, _ time: UInt64, to rows: inout [UInt8]) {
        RecordedRows.time(time, to: &rows)
        times(sample, to: &rows)
        number(sample.deviceTime ?? .nan, 3, to: &rows)
        for index in sample.form.columns.indices { value(sample, index, to: &rows) }
        rows.append(UInt8(ascii: "\n"))
    }

    /// - Parameter time: microseconds since 1970.
    static func time(_ time: UInt64, to rows: inout [UInt8]) {
        withUnsafeTemporaryAllocation(of: CChar.self, capacity: Int(TENDON_LINE_TIME_SIZE)) { text in
            tendon_line_time(time, text.baseAddress)
            rows.append(contentsOf: UnsafeRawBufferPointer(text))
        }
    }

    private mutating func times(_ sample: OutputSample, to rows: inout [UInt8]) {
        number(sample.receivedAt == 0 ? .nan : Double(sample.receivedAt) / 1e9, 6, to: &rows)
        number(sample.sampledAt.map { Double($0) / 1e9 } ?? .nan, 6, to: &rows)
        number(sample.errorMilliseconds ?? .nan, 1, to: &rows)
    }

    /// A comma, and the word or the number of a column.
    private mutating func value(_ sample: OutputSample, _ column: Int, to rows: inout [UInt8]) {
        guard column < sample.words.count, let word = sample.words[column] else {
            return number(column < SampleForm.limit ? sample[column] : .nan, 9, to: &rows)
        }
        rows.append(UInt8(ascii: ","))
        cell(word, to: &rows)
    }

    /// A comma, and the number if it is one.
    private mutating func number(_ value: Double, _ decimals: Int, to rows: inout [UInt8]) {
        rows.append(UInt8(ascii: ","))
        guard value.isFinite else { return }
        // JSON has one kind of number; a reader of tables takes a column with one `.0` for one of another kind.
        if let integer = Int64(exactly: value), integer.magnitude < 1 << 53 {
            rows.append(contentsOf: "\(integer)".utf8)
            return
        }
        writer.removeAll()
        writer.number(value, decimals: decimals)
        rows.append(contentsOf: writer.bytes)
    }
}
