// SPDX-License-Identifier: MIT
import Glibc
import Synchronization
import Tendon
import TendonBose
import Testing

/// A directory of the virtual radio with one simulated wearable on a second loop thread.
final class Site: Sendable {
    static let next = Atomic<UInt32>(0)

    let directory: String
    let loop: Loop
    let wearable: SimulatedWearable

    init(_ options: SimulatedWearable.Options = SimulatedWearable.Options()) async throws {
        let number = Self.next.wrappingAdd(1, ordering: .relaxed).newValue
        directory = "/tmp/tendon-bose-\(getpid())-\(number)"
        loop = try Loop()
        wearable = try await SimulatedWearable(
            options, radio: .virtual(directory: directory),
            address: Address(0xD000_0000_0000 | UInt64(number), type: .random), loop: loop,
            interval: .milliseconds(20))
    }

    deinit {
        rmdir(directory)
    }

    func configuration(
        _ change: (inout BoseWearable.Configuration) -> Void = { _ in }
    ) -> BoseWearable.Configuration {
        var configuration = BoseWearable.Configuration()
        configuration.radio = .virtual(directory: directory)
        configuration.deviceChoice = .firstFound
        configuration.timeout = .seconds(20)
        change(&configuration)
        return configuration
    }

    func boseWearable(_ change: (inout BoseWearable.Configuration) -> Void = { _ in }) -> BoseWearable {
        BoseWearable(configuration(change))
    }
}

/// Asks again until the answer is yes; fails the test after 30 seconds.
func eventually(
    _ what: Comment, isolation: isolated (any Actor)? = #isolation, _ question: () async throws -> Bool
) async rethrows {
    let deadline = ContinuousClock.now + .seconds(30)
    while try await !question() {
        if ContinuousClock.now > deadline {
            Issue.record(what)
            return
        }
        try? await Task.sleep(for: .milliseconds(5))
    }
}
