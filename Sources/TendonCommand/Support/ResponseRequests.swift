// SPDX-License-Identifier: MIT
// A search that is passive, except while a device has something to tell that only its scan response contains.
import Synchronization
import Tendon

/// Which devices are asked for their scan responses, and until when.
///
/// An active scan makes every device in range send one more packet for each of its advertisements. A gateway runs for
/// months, and needs the response of a device once: for its name.
struct ResponseRequests {
    /// Milliseconds that a device is asked for; three advertisements of a device that advertises once per second.
    static let duration: UInt64 = 3000
    /// After which a device is asked again.
    static let pause: UInt64 = 60_000
    /// Devices that are remembered; the one that was asked longest ago is forgotten for a new one.
    static let capacity = 256

    private struct Request {
        var start: UInt64
        /// The newest advertisement.
        var advertisement: [UInt8]
        var isAnswered = false
    }
    private var requests: [Address: Request] = [:]

    /// A device advertised without a name that is needed.
    mutating func want(_ address: Address, after advertisement: [UInt8] = [], now: UInt64) {
        if let request = requests[address], now < request.start + ResponseRequests.pause {
            if request.advertisement != advertisement { requests[address]?.advertisement = advertisement }
            return
        }
        if requests[address] == nil, requests.count >= ResponseRequests.capacity {
            guard let oldest = requests.min(by: { $0.value.start < $1.value.start })?.key else { return }
            requests[oldest] = nil
        }
        requests[address] = Request(start: now, advertisement: advertisement)
    }

    /// Its scan response was received, whatever it contains. Returns the advertisement that it completes; empty: none.
    @discardableResult
    mutating func answered(_ address: Address) -> [UInt8] {
        requests[address]?.isAnswered = true
        return requests[address]?.advertisement ?? []
    }

    /// When the search need not be active any more; `.max`: it is not.
    func deadline(now: UInt64) -> UInt64 {
        requests.values.filter { !$0.isAnswered && now < $0.start + ResponseRequests.duration }
            .map { $0.start + ResponseRequests.duration }.max() ?? .max
    }

    /// Whether the search must be active.
    func isActive(now: UInt64) -> Bool {
        requests.values.contains { !$0.isAnswered && now < $0.start + ResponseRequests.duration }
    }
}

/// The active part of a search: a second user of the radio's scan, whose request makes the whole scan active.
final class ResponseScan: Sendable {
    private struct State {
        var requests = ResponseRequests()
        /// Keeps the active scan; cancelled to end it.
        var user: Task<Void, Never>?
    }
    private let central: Central
    private let state = Mutex(State())

    init(_ central: Central) { self.central = central }

    func want(_ advertisement: Advertisement, now: UInt64) {
        state.withLock { $0.requests.want(advertisement.address, after: advertisement.data, now: now) }
        update(now: now)
    }

    /// Returns the advertisement that the scan response completes; empty: none.
    func answered(_ address: Address, now: UInt64) -> [UInt8] {
        let advertisement = state.withLock { $0.requests.answered(address) }
        update(now: now)
        return advertisement
    }

    func deadline(now: UInt64) -> UInt64 { state.withLock { $0.requests.deadline(now: now) } }

    /// Begins or ends the active scan.
    func update(now: UInt64) {
        state.withLock { state in
            let isActive = state.requests.isActive(now: now)
            guard isActive != (state.user != nil) else { return }
            state.user?.cancel()
            state.user = isActive ? Task { @TendonActor [central] in await ResponseScan.hold(central) } : nil
        }
    }

    func end() {
        state.withLock { state in
            state.user?.cancel()
            state.user = nil
        }
    }

    /// Until the task is cancelled, or the scan ends with the radio: the search itself reports that.
    @TendonActor
    private static func hold(_ central: Central) async {
        let options = ScanOptions(isActive: true, capacity: 1)
        guard let advertisements = try? central.scan(options) else { return }
        do {
            for try await _ in advertisements {}
        } catch {
            return
        }
    }
}
