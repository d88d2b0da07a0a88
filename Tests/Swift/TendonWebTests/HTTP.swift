// SPDX-License-Identifier: MIT
// A browser of few words: sends bytes to a port of this machine and reads what comes, on a thread of its own.
import Foundation

#if canImport(Glibc)
    import Glibc
#else
    import Musl
#endif

enum HTTP {
    private static func loopback(_ port: UInt16) -> sockaddr_in {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        return address
    }

    /// What comes until the other side ends it, or until `isEnough`; nil: nobody listens.
    static func exchange(
        _ port: UInt16, _ request: String, isEnough: @escaping @Sendable (String) -> Bool = { _ in false }
    ) async -> String? {
        await withCheckedContinuation { continuation in
            Thread.detachNewThread { continuation.resume(returning: talk(port, request, isEnough)) }
        }
    }

    /// Whoever sends this does not wait for a response.
    static func sendAndLeave(_ port: UInt16, _ request: String) {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(descriptor) }
        guard connected(descriptor, port) else { return }
        let bytes = Array(request.utf8)
        _ = send(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL))
    }

    private static func connected(_ descriptor: Int32, _ port: UInt16) -> Bool {
        var address = loopback(port)
        return withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        } == 0
    }

    private static func talk(_ port: UInt16, _ request: String, _ isEnough: (String) -> Bool) -> String? {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(descriptor) }
        var patience = timeval(tv_sec: 20, tv_usec: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &patience, socklen_t(MemoryLayout<timeval>.size))
        guard connected(descriptor, port) else { return nil }
        let bytes = Array(request.utf8)
        guard send(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL)) == bytes.count else { return nil }
        var all: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        while true {
            let count = recv(descriptor, &buffer, buffer.count, 0)
            guard count > 0 else { break }
            all += buffer.prefix(count)
            if isEnough(String(decoding: all, as: UTF8.self)) { break }
        }
        return String(decoding: all, as: UTF8.self)
    }
}

/// A response in its parts.
struct Response {
    var status = 0
    var fields: [String: String] = [:]
    var body = ""

    init?(_ text: String?) {
        guard let text, let end = text.range(of: "\r\n\r\n") else { return nil }
        let lines = text[..<end.lowerBound].components(separatedBy: "\r\n")
        status = lines[0].split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0
        for line in lines.dropFirst() {
            guard let colon = line.firstIndex(of: ":") else { continue }
            fields[line[..<colon].lowercased()] = line[line.index(after: colon)...].trimmingCharacters(in: .whitespaces)
        }
        body = String(text[end.upperBound...])
    }
}
