// SPDX-License-Identifier: MIT
// The other end of a connection, packet by packet (MQTT 5, 2.1): what a broker reads and writes. It blocks, so that it is
// for a thread of its own.
import Foundation

#if canImport(Glibc)
    import Glibc
#else
    import Musl
#endif

final class ScriptedServer: @unchecked Sendable {
    // Used by one thread.
    struct Packet: Equatable {
        /// Type and flags.
        var head: UInt8
        var body: [UInt8]
    }

    private let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    private var connection: Int32 = -1
    let port: UInt16

    init() {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let listener = listener
        withUnsafeMutablePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                _ = bind(listener, $0, size)
                getsockname(listener, $0, &size)
            }
        }
        port = UInt16(bigEndian: address.sin_port)
        listen(listener, 4)
        ScriptedServer.limit(listener)
    }

    deinit {
        if connection >= 0 { close(connection) }
        close(listener)
    }

    /// No test waits longer than this for a packet.
    private static func limit(_ descriptor: Int32) {
        var patience = timeval(tv_sec: 20, tv_usec: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &patience, socklen_t(MemoryLayout<timeval>.size))
    }

    func take() -> Bool {
        connection = accept(listener, nil, nil)
        ScriptedServer.limit(connection)
        return connection >= 0
    }

    func hangUp() {
        close(connection)
        connection = -1
    }

    /// Nil: the other side has ended the connection.
    func packet() -> Packet? {
        guard let head = bytes(1)?.first else { return nil }
        var (length, shift) = (0, 0)
        repeat {
            guard let next = bytes(1)?.first else { return nil }
            length |= Int(next & 0x7F) << shift
            shift += 7
            if next & 0x80 == 0 { break }
        } while shift < 28
        return bytes(length).map { Packet(head: head, body: $0) }
    }

    private func bytes(_ count: Int) -> [UInt8]? {
        var all = [UInt8](repeating: 0, count: count)
        var got = 0
        while got < count {
            let part = all.withUnsafeMutableBytes { recv(connection, $0.baseAddress! + got, count - got, 0) }
            guard part > 0 else { return nil }
            got += part
        }
        return all
    }

    func send(_ bytes: [UInt8]) {
        _ = Glibc.send(connection, bytes, bytes.count, Int32(MSG_NOSIGNAL))
    }
}
