// SPDX-License-Identifier: MIT
// Sockets of the destinations. A name is resolved, and a network that is not up is waited for, on a thread of their own: who
// sends never waits.
import CTendon
import TendonOutputs
import TendonSupport

#if canImport(Glibc)
    import Glibc
#else
    import Musl
#endif

/// Several destinations with one host and port share a socket.
final class Destinations: @unchecked Sendable {
    private struct Socket {
        let endpoint: Endpoint
        /// -1: not connected.
        var descriptor: Int32 = -1
        /// When it is tried again.
        var retry: UInt64 = 0
        /// Its failure, or that no program listens, is reported already.
        var isReported = false
        var sent: UInt64 = 0
        var refused: UInt64 = 0
        var dropped: UInt64 = 0
    }

    private let report: @Sendable (String) -> Void
    /// Milliseconds between two attempts.
    private static let pause: UInt64 = 10_000
    // Guarded by `lock`.
    private let lock = ThreadLock()
    private var sockets: [Socket]
    private var isOver = false

    /// Connects to those that have an address already.
    init(_ endpoints: [Endpoint], report: @escaping @Sendable (String) -> Void) {
        self.report = report
        var known: Set<Endpoint> = []
        sockets = endpoints.filter { known.insert($0).inserted }.map { Socket(endpoint: $0) }
        for index in sockets.indices {
            sockets[index].descriptor = max(
                -1, tendon_datagram_connect(sockets[index].endpoint.host, sockets[index].endpoint.port))
        }
    }

    deinit { closeAll() }

    /// Starts the thread. Returns 0, or an error number.
    func start() -> Int32 { startThread { [self] in connectAll() } }

    func index(of endpoint: Endpoint) -> Int { sockets.firstIndex { $0.endpoint == endpoint } ?? 0 }

    /// Sends one datagram, or drops it. Never blocks.
    func send(_ bytes: [UInt8], _ count: Int, to index: Int) {
        let message = lock.locked { () -> String? in
            guard sockets[index].descriptor >= 0 else {
                sockets[index].dropped += 1
                return nil
            }
            let status = tendon_datagram_send(sockets[index].descriptor, bytes, count)
            if status == TENDON_OK {
                sockets[index].sent += 1
                return nil
            }
            return failed(index, status)
        }
        if let message { report(message) }
    }

    /// Within the lock. Returns a sentence for people, once for each failure.
    private func failed(_ index: Int, _ status: tendon_status) -> String? {
        let endpoint = sockets[index].endpoint
        if status == -(Int32(TENDON_LAYER_SYSTEM.rawValue) * 256 + ECONNREFUSED) {
            sockets[index].refused += 1
            guard !sockets[index].isReported else { return nil }
            sockets[index].isReported = true
            return "no program listens at \(endpoint.text); it is sent there all the same"
        }
        sockets[index].dropped += 1
        guard status != TENDON_ERROR_WOULD_BLOCK else { return nil }
        // The network has changed: another socket takes its present addresses.
        tendon_datagram_close(sockets[index].descriptor)
        sockets[index].descriptor = -1
        sockets[index].retry = tendon_monotonic_ms()
        lock.wakeAll()
        return nil
    }

    var metrics: [Metric] {
        let all = lock.locked { sockets }
        func samples(_ path: KeyPath<Socket, UInt64>) -> [Metric.Sample] {
            all.map { Metric.Sample(Double($0[keyPath: path]), [("destination", $0.endpoint.text)]) }
        }
        return [
            Metric(
                "tendon_osc_sent_datagrams", .counter, unit: "datagrams", "Datagrams that were sent.", samples(\.sent)),
            Metric(
                "tendon_osc_refused_datagrams", .counter, unit: "datagrams",
                "Times that a machine reported that no program listens.", samples(\.refused)),
            Metric(
                "tendon_osc_dropped_datagrams", .counter, unit: "datagrams",
                "Datagrams that found no room in the socket, or no address yet.", samples(\.dropped)),
        ]
    }

    // MARK: The thread

    private func connectAll() {
        while let (index, endpoint) = next() {
            let (descriptor, failure) = Destinations.connect(to: endpoint)
            let message = lock.locked { () -> String? in
                guard !isOver else {
                    if descriptor >= 0 { tendon_datagram_close(descriptor) }
                    return nil
                }
                sockets[index].descriptor = descriptor
                sockets[index].retry = tendon_monotonic_ms() + Destinations.pause
                let wasReported = sockets[index].isReported
                sockets[index].isReported = descriptor < 0
                guard descriptor < 0 else { return nil }
                return wasReported ? nil : "\(endpoint.text): \(failure); it is tried again"
            }
            if let message { report(message) }
        }
    }

    /// Waits for a socket to connect. Nil: the end.
    private func next() -> (Int, Endpoint)? {
        lock.locked {
            while !isOver {
                let now = tendon_monotonic_ms()
                let waiting = sockets.indices.filter { sockets[$0].descriptor < 0 }
                guard let first = waiting.min(by: { sockets[$0].retry < sockets[$1].retry }) else {
                    lock.wait()
                    continue
                }
                if sockets[first].retry <= now { return (first, sockets[first].endpoint) }
                _ = lock.wait(until: sockets[first].retry)
            }
            return nil
        }
    }

    /// A descriptor, or -1 and why there is none. Blocks.
    private static func connect(to endpoint: Endpoint) -> (Int32, String) {
        var list: UnsafeMutablePointer<addrinfo>?
        let number = getaddrinfo(endpoint.host, nil, nil, &list)
        guard number == 0 else { return (-1, String(cString: gai_strerror(number))) }
        defer { freeaddrinfo(list) }
        var failure = "it has no address"
        var entry = list
        while let current = entry?.pointee {
            entry = current.ai_next
            var text = [CChar](repeating: 0, count: Int(TENDON_DATAGRAM_ADDRESS_SIZE))
            guard
                getnameinfo(
                    current.ai_addr, current.ai_addrlen, &text, socklen_t(text.count), nil, 0, NI_NUMERICHOST) == 0
            else { continue }
            let status = tendon_datagram_connect(text, endpoint.port)
            if status >= 0 { return (status, "") }
            failure = TendonSupport.text(tendon_status_text(status))
        }
        return (-1, failure)
    }

    func finish() {
        lock.locked {
            isOver = true
            lock.wakeAll()
        }
        closeAll()
    }

    private func closeAll() {
        lock.locked {
            for index in sockets.indices where sockets[index].descriptor >= 0 {
                tendon_datagram_close(sockets[index].descriptor)
                sockets[index].descriptor = -1
            }
        }
    }
}
