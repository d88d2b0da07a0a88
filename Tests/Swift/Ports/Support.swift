// SPDX-License-Identifier: MIT
//
// What a phone would bring: a wearable in reach, and a configured library. The ports themselves are in the other files
// and use only what the vendor's document names.

import Glibc
import Synchronization
import Tendon
import TendonBose
import Testing

/// A simulated wearable on a loop of its own.
struct Surroundings: Sendable {
    private static let next = Atomic<UInt32>(0)
    let wearable: SimulatedWearable
    let library: BoseWearable

    init(
        _ options: SimulatedWearable.Options = SimulatedWearable.Options(),
        _ change: @Sendable (inout BoseWearable.Configuration) -> Void = { _ in }
    ) async throws {
        let number = Self.next.wrappingAdd(1, ordering: .relaxed).newValue
        let radio = RadioChoice.virtual(directory: "/tmp/tendon-port-\(getpid())-\(number)")
        wearable = try await SimulatedWearable(
            options, radio: radio, address: Address(0xDA00_0000_0000 | UInt64(number), type: .random),
            loop: try Loop(), interval: .milliseconds(20))
        var configuration = BoseWearable.Configuration()
        configuration.radio = radio
        configuration.deviceChoice = .firstFound
        configuration.timeout = .seconds(20)
        change(&configuration)
        library = BoseWearable(configuration)
    }
}

/// Waits for what a delegate or a handler sets; fails the test after 30 seconds.
@TendonActor
func until(_ what: Comment, _ isTrue: () async -> Bool) async {
    let deadline = ContinuousClock.now + .seconds(30)
    while await !isTrue() {
        if ContinuousClock.now > deadline {
            Issue.record(what)
            return
        }
        try? await Task.sleep(for: .milliseconds(5))
    }
}
