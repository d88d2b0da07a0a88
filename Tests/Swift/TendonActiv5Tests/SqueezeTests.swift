// SPDX-License-Identifier: MIT
import CTendon
import Tendon
import TestSupport
import Testing

@testable import TendonActiv5

/// Whose state the helper shows: that of the device with the latest force, or its own.
@Suite(.timeLimit(.minutes(1))) struct SqueezeTests {
    @TendonActor private func device() async throws -> A5Device {
        let central = try await Central(radio: RadioDirectory().radio)
        return A5Device(Address(0xD000_0000_0001, type: .random), name: "a", on: central)
    }

    @Test @TendonActor func withoutADeviceTheStateIsItsOwn() {
        DoubleSqueezeHelper.reset()
        defer { DoubleSqueezeHelper.reset() }
        DoubleSqueezeHelper.doublePressState = .firstPressCompleted
        #expect(DoubleSqueezeHelper.doublePressState == .firstPressCompleted)
        let later = tendon_monotonic_ms() + 60_000
        DoubleSqueezeHelper.resetTimer = later
        #expect(DoubleSqueezeHelper.resetTimer == later)
        DoubleSqueezeHelper.resetTimer = nil
        #expect(DoubleSqueezeHelper.resetTimer == nil)
    }

    /// 5 s after the last force above the limit, also while no other force comes.
    @Test(arguments: [(4000, .firstPressed), (5000, .initial)] as [(UInt64, DoublePressState)])
    @TendonActor func aPressThatIsTooLongAgo(milliseconds: UInt64, state: DoublePressState) {
        DoubleSqueezeHelper.reset()
        defer { DoubleSqueezeHelper.reset() }
        let force = DoubleSqueezeHelper.squeezeThreshold.pressed + 1
        DoubleSqueezeHelper.evaluateDoublePress(force: force, at: tendon_monotonic_ms() - milliseconds, onSuccess: {})
        #expect(DoubleSqueezeHelper.doublePressState == state)
        #expect((DoubleSqueezeHelper.resetTimer == nil) == (state == .initial))
    }

    @Test @TendonActor func theLatestDeviceIsShownAndChanged() async throws {
        let device = try await device()
        DoubleSqueezeHelper.reset()
        latestSqueeze.follow(device.core)
        DoubleSqueezeHelper.doublePressState = .secondPressed
        #expect(device.core.c.squeeze.press == TENDON_ACTIV5_PRESS_SECOND_PRESSED)
        // A force of the program's: from now on it is its own state again.
        DoubleSqueezeHelper.evaluateDoublePress(force: 1, onSuccess: {})
        #expect(latestSqueeze.device == nil)
        #expect(DoubleSqueezeHelper.doublePressState == .initial)
        #expect(device.core.c.squeeze.press == TENDON_ACTIV5_PRESS_SECOND_PRESSED)
        latestSqueeze.follow(device.core)
        #expect(DoubleSqueezeHelper.doublePressState == .secondPressed)
        DoubleSqueezeHelper.reset()
        #expect(latestSqueeze.device == nil && DoubleSqueezeHelper.doublePressState == .initial)
    }

    /// Everything but the gyro stays as it is.
    @Test func theCorrectionOfAMotion() {
        let motion = IMUObject(
            accelerationX: 1, accelerationY: 2, accelerationZ: 3, gyroX: 4, gyroY: 5, gyroZ: 6, timestamp: 7.5)
        let scaled = motion.scaledValue
        #expect((scaled.accelerationX, scaled.accelerationY, scaled.accelerationZ) == (1, 2, 3))
        #expect(scaled.timestamp == 7.5)
        #expect(abs(scaled.gyroX - 4.6) < 1e-9 && abs(scaled.gyroY - 5.75) < 1e-9 && abs(scaled.gyroZ - 6.9) < 1e-9)
    }

    /// A connection that cannot even begin ends with the radio's reason.
    @Test @TendonActor func aRadioThatHasFailed() async throws {
        let directory = RadioDirectory()
        let central = try await Central(radio: directory.radio)
        let device = A5Device(directory.address, name: "a", on: central)
        let radio = central.core.radio
        radio.pointee.on_failure?(
            radio.pointee.report_context, Int32(TENDON_RADIO_ERROR_ADAPTER_DOWN), tendon_monotonic_ms())
        let error = await #expect(throws: A5Error.self) { try await device.openAndWait() }
        guard case .host(let reason) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(reason.name == "RADIO_ERROR_ADAPTER_DOWN")
        #expect(!device.connected)
    }
}
