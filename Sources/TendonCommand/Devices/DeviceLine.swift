// SPDX-License-Identifier: MIT
// One line about a device, as the C gateway composes it: taken out once, and given to each output that wants it.
import CTendon
import Tendon
import TendonSupport

/// An event of a device, lent for its callback.
struct DeviceEvent {
    let device: CPointer<tendon_device>
    let pointer: UnsafePointer<tendon_device_event>

    var c: tendon_device_event { pointer.pointee }
}

/// A line of an event. For the loop's thread.
struct DeviceLine {
    private(set) var name: EventName = ""
    private(set) var isSample = false
    /// Of the lines of its event.
    private(set) var index = 0
    /// Numbers with their decimals, and exact ones: most outputs take the first.
    private var compact = LineText(isExact: false), exact = LineText(isExact: true)
    private var hasExact = false
    private var source: (event: DeviceEvent, index: Int)?

    /// Takes a line of the event, until the end of its callback. False: it has no more.
    mutating func take(_ event: DeviceEvent, _ index: Int) -> Bool {
        guard let head = compact.compose(event, index) else { return false }
        (name, isSample) = head
        (self.index, source, hasExact) = (index, (event, index), false)
        return true
    }

    private mutating func composeExact() {
        guard !hasExact, let source else { return }
        hasExact = exact.compose(source.event, source.index) != nil
    }

    /// Its members, in the form that the line wants.
    mutating func write(to line: inout LineWriter) {
        if !line.isCompact { composeExact() }
        line.members((line.isCompact ? compact : exact).members)
    }

    /// The same line for after the callback.
    mutating func kept() -> DeviceLine {
        composeExact()
        var copy = self
        (copy.compact, copy.exact, copy.source) = (compact.copy(), exact.copy(), nil)
        return copy
    }

    /// A member; nil: it has none.
    subscript(member: String) -> JSON? { try? JSON(parsing: compact.line)[member] }
}

/// One form of a line, in memory that the C library writes to.
private struct LineText {
    private let isExact: Bool
    private var memory = CTable<UInt8>(capacity: Int(TENDON_LINE_SIZE))
    private var length = 0
    /// Where its members begin: before them, the outputs write what each line has.
    private var begun = 0
    private static let end = 2  // "}\n"
    /// Far more than a value of 512 bytes can fill, as a file describes it.
    private static let limit = 1 << 20
    /// Outputs write their own. This one costs the least: the calendar counts years from the first of 400, which was 2001.
    private static let anyTime: UInt64 = 978_307_200_000_000

    init(isExact: Bool) { self.isExact = isExact }

    /// Nil: the event has no such line.
    mutating func compose(_ event: DeviceEvent, _ index: Int) -> (EventName, isSample: Bool)? {
        var line = tendon_line()
        while true {
            let text = UnsafeMutableRawPointer(memory.pointer).assumingMemoryBound(to: CChar.self)
            tendon_line_init(&line, text, memory.capacity, isExact)
            let length = tendon_device_line(event.device, event.pointer, index, &line, nil, LineText.anyTime)
            guard length != 0 else { return nil }
            if length > 0 {
                (self.length, begun) = (Int(length), line.begun)
                return (EventName(lasting: line.event), line.is_sample)
            }
            guard memory.capacity < LineText.limit else { return nil }
            memory = CTable(capacity: 2 * memory.capacity)
        }
    }

    var line: [UInt8] { memory.first(length) }

    var members: UnsafeBufferPointer<UInt8> {
        UnsafeBufferPointer(start: memory.pointer + begun, count: max(0, length - begun - LineText.end))
    }

    func copy() -> LineText {
        var copy = self
        copy.memory = CTable(capacity: memory.capacity)
        copy.memory.pointer.update(from: memory.pointer, count: length)
        return copy
    }
}
