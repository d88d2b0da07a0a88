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
        var delivery = tendon_osc_delivery()
    }

    private let report: @Sendable (String) -> Void
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
            let status = tendon_datagram_connect(sockets[index].endpoint.host, sockets[index].endpoint.port)
            guard status >= 0 else { continue }
            sockets[index].descriptor = status
            _ = tendon_osc_delivery_opened(&sockets[index].delivery, true, tendon_monotonic_ms())
        }
    }

    deinit { closeAll() }

    /// Starts the thread. Returns 0, or an error number.
    func start() -> Int32 { startThread { [self] in connectAll() } }

    func index(of endpoint: Endpoint) -> Int { sockets.firstIndex { $0.endpoint == endpoint } ?? 0 }

    /// Sends one datagram, or drops it. Never blocks.
    func send(_ bytes: [UInt8], _ count: Int, to index: Int) {
        let message = lock.locked { () -> String? in
            let descriptor = sockets[index].descriptor
            let status =
                descriptor < 0
                ? tendon_status(TENDON_ERROR_WOULD_BLOCK) : tendon_datagram_send(descriptor, bytes, count)
            let outcome = Destinations.outcome(of: status)
            if outcome == TENDON_OSC_FAILED {
                tendon_datagram_close(descriptor)
                sockets[index].descriptor = -1
                lock.wakeAll()
            }
            let notice = tendon_osc_delivery_took(&sockets[index].delivery, outcome, tendon_monotonic_ms())
            return Destinations.sentence(notice, sockets[index].endpoint, text(tendon_datagram_status_text(status)))
        }
        if let message { report(message) }
    }

    private static func outcome(of status: tendon_status) -> tendon_osc_outcome {
        if status == TENDON_OK { return TENDON_OSC_SENT }
        if status == TENDON_ERROR_WOULD_BLOCK { return TENDON_OSC_DROPPED }
        return status == systemError(ECONNREFUSED) ? TENDON_OSC_REFUSED : TENDON_OSC_FAILED
    }

    /// An errno as a status: TENDON_SYSTEM_ERROR, a macro that Swift does not see.
    static func systemError(_ number: Int32) -> tendon_status {
        -(Int32(TENDON_LAYER_SYSTEM.rawValue) * 256 + number)
    }

    private static func sentence(
        _ notice: tendon_osc_notice, _ endpoint: Endpoint, _ failure: @autoclosure () -> String
    ) -> String? {
        notice == TENDON_OSC_NOTICE_NONE ? nil : endpoint.sentence(notice, failure())
    }

    var metrics: [Metric] {
        let all = lock.locked { sockets }
        func samples(_ path: KeyPath<tendon_osc_delivery, UInt64>) -> [Metric.Sample] {
            all.map { Metric.Sample(Double($0.delivery[keyPath: path]), [("destination", $0.endpoint.text)]) }
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
                let notice = tendon_osc_delivery_opened(
                    &sockets[index].delivery, descriptor >= 0, tendon_monotonic_ms())
                return Destinations.sentence(notice, endpoint, failure)
            }
            if let message { report(message) }
        }
    }

    /// Within the lock.
    private func retry(_ index: Int) -> UInt64 { sockets[index].delivery.retry_at }

    /// Waits for a socket to connect. Nil: the end.
    private func next() -> (Int, Endpoint)? {
        lock.locked {
            while !isOver {
                let now = tendon_monotonic_ms()
                let waiting = sockets.indices.filter { sockets[$0].descriptor < 0 }
                guard let first = waiting.min(by: { retry($0) < retry($1) }) else {
                    lock.wait()
                    continue
                }
                if retry(first) <= now { return (first, sockets[first].endpoint) }
                _ = lock.wait(until: retry(first))
            }
            return nil
        }
    }

    /// A descriptor, or -1 and why there is none. Blocks.
    static func connect(to endpoint: Endpoint) -> (Int32, String) {
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
            failure = TendonSupport.text(tendon_datagram_status_text(status))
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
