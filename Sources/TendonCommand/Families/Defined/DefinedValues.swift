// SPDX-License-Identifier: MIT
// The values of a defined device as members of a line, and as readings of the table.
import CTendon
import Tendon
import TendonSupport

/// What rates remember of a device, such as a cadence of the revolutions before.
final class Rates {
    fileprivate let block = CBlock<tendon_described_rates>()

    /// Once for each value that has no mistake.
    func take(_ bytes: [UInt8], of event: Int, _ definition: Definition) {
        tendon_described_rates_take(block.pointer, definition.pointer, event, bytes, bytes.count)
    }
}

/// What the C core reports of one value, as it comes.
private final class DescribedLine {
    private let line: UnsafeMutablePointer<LineWriter>
    private var ends: [UnicodeScalar] = []

    init(_ line: UnsafeMutablePointer<LineWriter>) { self.line = line }

    func take(_ value: tendon_described) {
        if let name = value.name { line.pointee.key(word: name) }
        switch value.kind {
        case TENDON_DESCRIBED_LIST: open("[", "]")
        case TENDON_DESCRIBED_ITEM:
            line.pointee.element()
            open("{", "}")
        case TENDON_DESCRIBED_END: line.pointee.close(ends.removeLast())
        default:
            if value.name == nil { line.pointee.element() }
            scalar(value)
        }
    }

    private func open(_ bracket: UnicodeScalar, _ end: UnicodeScalar) {
        line.pointee.open(bracket)
        ends.append(end)
    }

    private func scalar(_ value: tendon_described) {
        switch value.kind {
        case TENDON_DESCRIBED_FLAG: line.pointee.write(.bool(value.number != 0))
        case TENDON_DESCRIBED_WORD: line.pointee.write(.string(text(value.text)))
        case TENDON_DESCRIBED_TEXT:
            let bytes = UnsafeBufferPointer(start: value.bytes, count: value.length)
            line.pointee.write(.string(sanitized(String(decoding: bytes, as: UTF8.self))))
        case TENDON_DESCRIBED_BYTES:
            line.pointee.write(.string(hexText(Array(UnsafeBufferPointer(start: value.bytes, count: value.length)))))
        case TENDON_DESCRIBED_NOTHING: line.pointee.write(.null)
        default:
            if value.is_integer {
                line.pointee.write(.integer(value.integer))
            } else {
                line.pointee.number(value.number, decimals: Int(value.decimals))
            }
        }
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

extension Definition {
    /// Why a value breaks its layout, and at which byte; nil: it does not.
    func mistake(in bytes: [UInt8], of event: Int) -> (status: tendon_status, offset: Int)? {
        var offset = 0
        let status = tendon_describe(pointer, event, bytes, bytes.count, nil, nil, nil, &offset)
        return status < 0 ? (status, offset) : nil
    }

    /// The members of a value that has no mistake.
    func write(_ bytes: [UInt8], of event: Int, _ rates: Rates?, to line: inout LineWriter) {
        if events[event].isSample { line.member("sensor", word: tendon_definition_text(pointer, events[event].name)) }
        withUnsafeMutablePointer(to: &line) { line in
            let visitor = DescribedLine(line)
            withExtendedLifetime(visitor) {
                _ = tendon_describe(
                    pointer, event, bytes, bytes.count, rates?.block.pointer,
                    { context, value in value.map { object(DescribedLine.self, context).take($0.pointee) } },
                    context(of: visitor), nil)
            }
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
