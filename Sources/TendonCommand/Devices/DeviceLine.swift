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

/// A line of an event. It is composed when an output wants it: many samples are sent as numbers alone. For the loop's thread.
final class DeviceLine {
    private(set) var name: EventName = ""
    private(set) var isSample = false
    /// Of the lines of its event.
    private(set) var index = 0
    /// Numbers with their decimals, and exact ones: most outputs take the first.
    private var compact = LineText(isExact: false), exact = LineText(isExact: true)
    /// Nil: it is kept, and both forms are composed.
    private var source: (event: DeviceEvent, index: Int)?

    /// Takes a line of the event, until the end of its callback. False: it has no more.
    func take(_ event: DeviceEvent, _ index: Int) -> Bool {
        guard let head = LineText.head(of: event, index) else { return false }
        (name, isSample) = head
        (self.index, source) = (index, (event, index))
        compact.clear()
        exact.clear()
        return true
    }

    /// Its members, in the form that the line wants.
    func write(to line: inout LineWriter) {
        if line.isCompact {
            compact.compose(source)
            line.members(compact.members)
        } else {
            exact.compose(source)
            line.members(exact.members)
        }
    }

    /// The same line for after the callback.
    func kept() -> DeviceLine {
        compact.compose(source)
        exact.compose(source)
        let copy = DeviceLine()
        (copy.name, copy.isSample, copy.index) = (name, isSample, index)
        (copy.compact, copy.exact) = (compact.copy(), exact.copy())
        return copy
    }

    /// A member; nil: it has none.
    subscript(member: String) -> JSON? {
        compact.compose(source)
        return try? JSON(parsing: compact.line)[member]
    }
}

/// One form of a line, in memory that the C library writes to.
private struct LineText {
    private let isExact: Bool
    private var memory = CTable<UInt8>(capacity: Int(TENDON_LINE_SIZE))
    /// 0: not composed.
    private var length = 0
    /// Where its members begin: before them, the outputs write what each line has.
    private var begun = 0
    private static let end = 2  // "}\n"
    /// Far more than a value of 512 bytes can fill, as a file describes it.
    private static let limit = 1 << 20
    /// Outputs write their own. This one costs the least: the calendar counts years from the first of 400, which was 2001.
    private static let anyTime: UInt64 = 978_307_200_000_000

    init(isExact: Bool) { self.isExact = isExact }

    /// What a line is. Nil: the event has no such line.
    static func head(of event: DeviceEvent, _ index: Int) -> (EventName, isSample: Bool)? {
        var line = tendon_line()
        tendon_line_init(&line, nil, 0, false)
        let status = tendon_device_line(event.device, event.pointer, index, &line, nil, anyTime)
        return status == 0 ? nil : (EventName(lasting: line.event), line.is_sample)
    }

    mutating func clear() { length = 0 }

    /// Composes the line of an event, unless it has been composed.
    mutating func compose(_ source: (event: DeviceEvent, index: Int)?) {
        guard length == 0, let (event, index) = source else { return }
        var line = tendon_line()
        while true {
            let text = UnsafeMutableRawPointer(memory.pointer).assumingMemoryBound(to: CChar.self)
            tendon_line_init(&line, text, memory.capacity, isExact)
            let length = tendon_device_line(event.device, event.pointer, index, &line, nil, LineText.anyTime)
            if length > 0 {
                (self.length, begun) = (Int(length), line.begun)
                return
            }
            guard length < 0, memory.capacity < LineText.limit else { return }
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
