// SPDX-License-Identifier: MIT
//
// All unsafe code of this module.

import CTendon
import Tendon

/// A line that the C core lends for a callback.
typealias CLine = UnsafePointer<tendon_fleet_line>

/// The memory of a fleet: about 500 KiB, which is used as far as there are devices. A `CBlock` would touch all of it.
final class FleetMemory: @unchecked Sendable {
    // Only an address; the fleet is used on the loop's thread.
    let pointer: CPointer<tendon_fleet>

    init() {
        let raw = UnsafeMutableRawPointer.allocate(
            byteCount: tendon_fleet_size(), alignment: MemoryLayout<UInt64>.alignment * 2)
        pointer = raw.assumingMemoryBound(to: tendon_fleet.self)
    }

    deinit { UnsafeMutableRawPointer(pointer).deallocate() }
}

/// Memory of the C core that another thread has for a time.
private struct Lent: @unchecked Sendable {
    let pointer: UnsafeMutableRawPointer?
}

/// Runs `work` on a thread of its own, then `done` on the shared loop.
func runElsewhere(
    _ work: (@convention(c) (UnsafeMutableRawPointer?) -> Void)?,
    _ done: (@convention(c) (UnsafeMutableRawPointer?) -> Void)?, _ memory: UnsafeMutableRawPointer?
) {
    guard let work, let done else { return }
    let lent = Lent(pointer: memory)
    let run = { @Sendable in
        work(lent.pointer)
        Loop.shared.post { done(lent.pointer) }
    }
    do throws(TendonError) {
        try startThread(run)
    } catch {
        Loop.shared.post(run)  // late is better than never
    }
}

extension tendon_fleet_line {
    /// Without the line feed.
    var bytes: [UInt8] {
        guard let text else { return [] }
        return copied(UnsafeRawPointer(text).assumingMemoryBound(to: UInt8.self), max(length, 1) - 1)
    }

    /// As it was advertised.
    var nameBytes: [UInt8] {
        guard let name else { return [] }
        return copied(UnsafeRawPointer(name).assumingMemoryBound(to: UInt8.self), name_length)
    }
}

extension tendon_view {
    /// The first `count` values.
    var numbers: [Double] { elements(values, of: Double.self, count) }

    /// Calls `body` with each channel.
    func forEachChannel(_ body: (_ index: Int, tendon_view_channel) -> Void) {
        for index in 0..<count { body(index, channels[index]) }
    }
}

/// Text of the C core with a terminator.
func text(_ pointer: UnsafePointer<CChar>?) -> String { pointer.map { String(cString: $0) } ?? "" }

/// The terminated text in a C array.
func text<Tuple>(in tuple: Tuple) -> String {
    withUnsafeBytes(of: tuple) { bytes in String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self) }
}
