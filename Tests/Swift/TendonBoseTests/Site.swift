// SPDX-License-Identifier: MIT
import Tendon
import TendonBose
import TestSupport
import Testing

/// A directory of the virtual radio with one simulated wearable on a second loop thread.
final class Site: Sendable {
    let directory = RadioDirectory()
    var radio: RadioChoice { directory.radio }
    let loop: Loop
    let wearable: SimulatedWearable

    init(_ options: SimulatedWearable.Options = SimulatedWearable.Options()) async throws {
        loop = try Loop()
        wearable = try await SimulatedWearable(
            options, radio: directory.radio,
            address: directory.address, loop: loop,
            interval: .milliseconds(20))
    }

    func configuration(
        _ change: (inout BoseWearable.Configuration) -> Void = { _ in }
    ) -> BoseWearable.Configuration {
        var configuration = BoseWearable.Configuration()
        configuration.radio = directory.radio
        configuration.deviceChoice = .firstFound
        configuration.timeout = .seconds(20)
        change(&configuration)
        return configuration
    }

    func boseWearable(_ change: (inout BoseWearable.Configuration) -> Void = { _ in }) -> BoseWearable {
        BoseWearable(configuration(change))
    }
}
