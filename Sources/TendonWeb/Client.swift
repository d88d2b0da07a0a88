// SPDX-License-Identifier: MIT
// One browser that reads the live data: a bounded buffer between the hub and libmicrohttpd.
import CSystemMicrohttpd

/// All members are guarded by the hub's lock.
final class Client {
    /// Bytes that wait for a slow browser; what finds no room is dropped.
    static let capacity = 1 << 16

    let connection: OpaquePointer
    private var bytes: [UInt8] = []
    private var taken = 0
    /// Bytes of the largest card that waits: what comes behind it has the room that it has without it.
    private var card = 0
    private(set) var dropped: UInt64 = 0
    /// libmicrohttpd does not ask before it is resumed.
    var isSuspended = false
    /// It has got `gateway`, which comes before everything else.
    var isGreeted = false
    /// It has to learn everything again, because something was dropped.
    var isBehind = true
    /// Devices that it still has to learn of, the last one first.
    var lessons: [String] = []

    init(_ connection: OpaquePointer) { self.connection = connection }

    var waiting: Int { bytes.count - taken }
    /// Bytes of memory, with what was read; for tests.
    var kept: Int { bytes.count }

    /// One message, as Server-Sent Events have it.
    /// - Parameter isCard: all that is known of a device. It always finds room: nothing would ever make more.
    func append(_ message: some Collection<UInt8>, isCard: Bool = false) {
        if isCard { card = max(card, message.count + Client.frame) }
        guard isCard || waiting + message.count + Client.frame <= Client.capacity + card else {
            dropped += 1
            isBehind = true
            return
        }
        bytes += Client.prefix
        bytes += message
        bytes += Client.suffix
    }

    /// Moves bytes to the buffer of a response.
    func take(_ buffer: UnsafeMutablePointer<CChar>, _ room: Int) -> Int {
        let count = min(room, waiting)
        bytes.withUnsafeBytes { all in
            UnsafeMutableRawPointer(buffer).copyMemory(from: all.baseAddress! + taken, byteCount: count)
        }
        taken += count
        if taken == bytes.count {
            bytes.removeAll(keepingCapacity: card <= Client.capacity)
            (taken, card) = (0, 0)
        } else if taken > Client.capacity / 2 {
            bytes.removeFirst(taken)
            taken = 0
        }
        return count
    }

    private static let prefix = Array("data: ".utf8)
    private static let suffix = Array("\n\n".utf8)
    private static let frame = prefix.count + suffix.count
}
