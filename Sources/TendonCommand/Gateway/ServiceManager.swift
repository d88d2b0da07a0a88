// SPDX-License-Identifier: MIT
// Tells systemd about the service: the protocol of sd_notify(3), which is a datagram per message. libsystemd would be a
// dependency for these lines alone.
import CTendon
import Tendon
import TendonSupport

#if canImport(Glibc)
    import Glibc
#else
    import Musl
#endif

struct ServiceManager: Sendable {
    static let shared = ServiceManager(
        socket: environment("NOTIFY_SOCKET"), watchdog: environment("WATCHDOG_USEC"), of: environment("WATCHDOG_PID"))

    /// Of the datagram socket; a name in the abstract namespace begins with a zero byte.
    private let name: [UInt8]
    /// Milliseconds between two signs of life; nil: none are expected.
    let heartbeat: UInt64?

    /// - Parameters:
    ///   - socket: a path, or `@` and a name in the abstract namespace; nil: no service manager.
    ///   - watchdog: microseconds without a sign of life after which the service is restarted.
    ///   - process: the process that is to give them; nil: this one.
    init(socket: String?, watchdog: String? = nil, of process: String? = nil) {
        var name = Array((socket ?? "").utf8)
        let isValid = name.first == UInt8(ascii: "/") || name.first == UInt8(ascii: "@")
        if name.first == UInt8(ascii: "@") { name[0] = 0 }
        self.name = isValid && name.count < ServiceManager.longestName ? name : []
        let isOurs = process.map { Int32($0) == getpid() } ?? true
        let microseconds = isOurs ? watchdog.flatMap(UInt64.init) : nil
        // At half of the time, as sd_watchdog_enabled(3) recommends.
        heartbeat = microseconds.map { max(1, $0 / 2000) }
    }

    private static let longestName = MemoryLayout.size(ofValue: sockaddr_un().sun_path)

    var isPresent: Bool { !name.isEmpty }

    /// One message, as lines `NAME=VALUE`. A message that the manager does not take is lost.
    func send(_ message: String) {
        guard isPresent else { return }
        #if canImport(Glibc)
            let kind = Int32(SOCK_DGRAM.rawValue)
        #else
            let kind = SOCK_DGRAM
        #endif
        let descriptor = socket(AF_UNIX, kind | Int32(ServiceManager.closeOnExec), 0)
        guard descriptor >= 0 else { return }
        defer { close(descriptor) }
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: name) }
        let offset = MemoryLayout<sockaddr_un>.offset(of: \.sun_path) ?? 0
        let length = socklen_t(offset + name.count)
        let bytes = Array(message.utf8)
        withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
                _ = sendto(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL | MSG_DONTWAIT), pointer, length)
            }
        }
    }

    private static let closeOnExec = O_CLOEXEC

    func sendReloading() { send("RELOADING=1\nMONOTONIC_USEC=\(tendon_monotonic_ms() * 1000)") }

    /// Gives signs of life until the task is cancelled. They are sent by the loop: when it stands still, they stop.
    @TendonActor
    func beat() async {
        guard let heartbeat, isPresent else { return }
        while !Task.isCancelled {
            send("WATCHDOG=1")
            try? await Loop.shared.sleep(for: .milliseconds(heartbeat))
        }
    }
}
