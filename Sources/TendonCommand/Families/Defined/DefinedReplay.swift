// SPDX-License-Identifier: MIT
// Values of a captured connection to a defined device.
import CTendon
import Tendon
import TendonSupport

extension ReplayForm {
    init(_ definition: Definition) {
        self.init(
            recognizes: { uuid in
                var uuid = uuid
                let row = tendon_definition_row_of(definition.pointer, &uuid)
                return row < definition.rows.count && definition.identifies(row)
            },
            nameRange: { _, _ in 0..<0 },
            make: { DefinedReplay(definition) })
    }
}

extension Definition {
    /// - Parameter service: nil: not known.
    func row(of characteristic: tendon_uuid, in service: tendon_uuid?) -> Int {
        var characteristic = characteristic
        guard var service else { return tendon_definition_row_of(pointer, &characteristic) }
        return tendon_definition_row_in(pointer, &service, &characteristic)
    }

    /// Whether a characteristic tells that a device is of this kind: it is required, or in a service that is looked for.
    /// Others, such as the battery level, are of all devices.
    func identifies(_ row: Int) -> Bool {
        var service = rows[row].service
        let services =
            elements(of: pointer.pointee.find.services, Int(pointer.pointee.find.service_count)) as [tendon_uuid]
        return Int(rows[row].flags) & TENDON_ROW_REQUIRED != 0
            || services.contains { wanted in
                var wanted = wanted
                return tendon_uuid_equal(&wanted, &service)
            }
    }
}

struct DefinedReplay: ValueReplay {
    private(set) var counters = StreamCounters()
    private let definition: Definition
    private let rates = Rates()

    init(_ definition: Definition) { self.definition = definition }

    mutating func value(
        _ bytes: [UInt8], of characteristic: tendon_uuid, in service: tendon_uuid?, written: Bool,
        at milliseconds: UInt64, to lines: ReplayLines
    ) {
        let index = definition.row(of: characteristic, in: service)
        guard index < definition.rows.count else { return }
        let row = definition.rows[index]
        if written {
            return lines.event("command") { line in
                line.member("characteristic", definition.word(row.name) ?? "")
                line.member("bytes", hexText(bytes))
            }
        }
        counters.notifications += 1
        for (number, event) in definition.events(of: index, in: bytes).enumerated() {
            if let mistake = definition.mistake(in: bytes, of: event) {
                counters.malformed += 1
                return lines.event("malformed", definition.malformed(row, bytes, mistake))
            }
            if number == 0 { rates.take(bytes, of: event, definition) }
            counters.samples += 1
            lines.sample(
                definition.lineName(of: event),
                numbers: { definition.numbers(bytes, of: event, rates, SampleTimes()) }
            ) {
                definition.write(bytes, of: event, rates, to: &$0)
            }
        }
    }
}

extension Definition {
    /// The events that a value of this row is.
    func events(of row: Int, in bytes: [UInt8]) -> [Int] {
        bytes.withUnsafeBufferPointer { bytes in
            var value = tendon_defined_event()
            (value.kind, value.row) = (TENDON_DEFINED_EVENT_VALUE, UInt8(row))
            (value.bytes, value.length) = (bytes.baseAddress, bytes.count)
            return (0...).lazy.map { tendon_defined_event_at(self.pointer, &value, $0) }.prefix {
                $0 < self.events.count
            }
            .map(\.self)
        }
    }

    /// The members of a line about a value that breaks its layout.
    func malformed(
        _ row: tendon_definition_row, _ bytes: [UInt8], _ mistake: (status: tendon_status, offset: Int)
    ) -> JSON {
        [
            "characteristic": .string(word(row.name) ?? ""), "error": .string(text(tendon_status_name(mistake.status))),
            "error_offset": JSON(mistake.offset), "text": .string(text(tendon_status_text(mistake.status))),
            "bytes": .string(hexText(bytes)),
        ]
    }
}
