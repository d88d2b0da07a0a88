// SPDX-License-Identifier: MIT
import CTendon
import Glibc
import Synchronization
import Testing

@testable import Tendon

/// Runs `body` on the shared loop.
func onLoop<Value: Sendable>(_ body: @escaping @Sendable () -> Value) async -> Value {
    await Loop.shared.run(body)
}

/// Polls until the answer is yes; fails the test after 30 seconds.
func eventually(
    _ what: Comment, isolation: isolated (any Actor)? = #isolation, _ question: () async throws -> Bool
) async rethrows {
    let deadline = ContinuousClock.now + .seconds(30)
    while try await !question() {
        if ContinuousClock.now > deadline {
            Issue.record(what)
            return
        }
        await Task.yield()
    }
}

/// A directory of the virtual radio with simulated devices on a second loop.
final class Site: Sendable {
    private static let next = Atomic<UInt32>(0)
    let directory: String
    let loop: Loop
    private let device: SimulatedHost<tendon_simulated_bose>

    init() async throws {
        let number = Self.next.wrappingAdd(1, ordering: .relaxed).newValue
        directory = "/tmp/tendon-core-\(getpid())-\(number)"
        loop = try Loop()
        device = try await SimulatedHost.open(
            radio: .virtual(directory: directory), address: Address(0xD100_0000_0000 | UInt64(number), type: .random),
            loop: loop, interval: .milliseconds(20), texts: [],
            prepare: { device in
                var options = tendon_simulated_bose_options()
                return tendon_simulated_bose_init(device, &options)
            },
            seam: { tendon_simulated_bose_device($0) })
    }

    var address: Address { device.address }
    var radio: RadioChoice { .virtual(directory: directory) }
    func connections() async -> Int { await loop.run { [device] in device.host.connections } }
    func disconnectAll() async { await loop.run { [device] in device.host.disconnectAll() } }

    deinit { rmdir(directory) }
}

/// What a test keeps weakly.
final class Weakly<Object: AnyObject>: @unchecked Sendable {
    // Read on the loop's thread alone.
    weak var object: Object?
    init(_ object: Object?) { self.object = object }
}

extension RadioCore {
    /// As the C core reports it.
    func failNow(_ status: tendon_status) {
        radio.pointee.on_failure?(radio.pointee.report_context, status, tendon_monotonic_ms())
    }
}
