// SPDX-License-Identifier: MIT
import CTendon
import Glibc
import TestSupport
import Testing

@testable import Tendon

/// The host of a simulated device gives its radio back.
struct HostTests {
    private func open(
        _ directory: RadioDirectory, interval: Duration
    ) async throws -> SimulatedHost<tendon_simulated_bose> {
        try await SimulatedHost.open(
            radio: directory.radio, address: directory.address, loop: .shared, interval: interval, keeping: [],
            prepare: { device in
                var options = tendon_simulated_bose_options()
                return tendon_simulated_bose_init(device, &options)
            },
            seam: { tendon_simulated_bose_device($0) })
    }

    @Test func aReleasedDeviceClosesItsRadio() async throws {
        let directory = RadioDirectory()
        var host: SimulatedHost? = try await open(directory, interval: .milliseconds(20))
        #expect(descriptors(of: directory.path) == 1)
        weak var core = host?.host
        #expect(core != nil)
        withExtendedLifetime(host) {}
        host = nil
        await eventually("the radio is closed") { descriptors(of: directory.path) == 0 }
        await eventually("nothing is left") { core == nil }
    }

    /// Core Spec Vol 4 Part E 7.8.5: no interval is below 20 ms. Nothing of the radio is left.
    @Test func aDeviceThatCannotAdvertiseClosesItsRadio() async throws {
        let directory = RadioDirectory()
        do {
            _ = try await open(directory, interval: .milliseconds(19))
            Issue.record("it advertises")
        } catch let error as TendonError {
            #expect(error.operation == .advertise)
            #expect(error.status == Int32(TENDON_ERROR_INVALID_ARGUMENT))
        }
        #expect(descriptors(of: directory.path) == 0)
    }
}
