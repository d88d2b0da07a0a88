// SPDX-License-Identifier: MIT
//
// What a phone would bring: a wearable in reach, and a configured library. The ports themselves are in the other files
// and use only what the vendor's document names.

import Tendon
import TendonBose
import TestSupport
import Testing

/// A simulated wearable on a loop of its own.
struct Surroundings: Sendable {
    private let directory = RadioDirectory()
    let wearable: SimulatedWearable
    let library: BoseWearable

    init(
        _ options: SimulatedWearable.Options = SimulatedWearable.Options(),
        _ change: @Sendable (inout BoseWearable.Configuration) -> Void = { _ in }
    ) async throws {
        wearable = try await SimulatedWearable(
            options, radio: directory.radio, address: directory.address,
            loop: try Loop(), interval: .milliseconds(20))
        var configuration = BoseWearable.Configuration()
        configuration.radio = directory.radio
        configuration.deviceChoice = .firstFound
        configuration.timeout = .seconds(20)
        change(&configuration)
        library = BoseWearable(configuration)
    }
}
