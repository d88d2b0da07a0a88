// SPDX-License-Identifier: MIT
import Tendon
import TestSupport
import Testing

@testable import TendonActiv5

/// Names of the vendor's library and of its IMU add-on.
@Suite(.timeLimit(.minutes(1)))
struct VendorFormTests {
    private func near(_ a: [Double], _ b: [Double]) -> Bool {
        a.count == b.count && zip(a, b).allSatisfy { abs($0 - $1) < 1e-9 }
    }

    @Test func orientations() {
        let level = Orientation(quanternion: Quaternion(x: 0, y: 0, z: 0, w: 1))
        let turned = Orientation(x: 0, y: 0, z: .pi / 2)
        #expect(near(turned.getEulerAngelsDouble(), [0, 90, 0]), "pitch, yaw, roll")
        #expect(
            near(Orientation(x: 0.5, y: 0.25, z: -1).getEulerAngelsDouble().map { $0 * .pi / 180 }, [0.25, -1, 0.5]))
        #expect(abs(turned.getAngularDifferenceInDegrees(with: level) - 90) < 1e-9)
        #expect(abs(level.getAngularDifferenceInRadians(with: turned) - .pi / 2) < 1e-9)
        #expect(level.getAngularDifferenceInDegrees(with: level) == 0)
    }

    @Test func aTareReportsItsEnd() {
        let provider = OrientationProvider()
        var ends = 0
        func still(at time: Double) -> IMUObject {
            IMUObject(
                accelerationX: 0, accelerationY: 0, accelerationZ: 1, gyroX: 0, gyroY: 0, gyroZ: 0, timestamp: time)
        }
        provider.update(imuData: still(at: 0))
        provider.tare(duration: 1) { ends += 1 }
        for step in 1...9 { provider.update(imuData: still(at: Double(step) / 10)) }
        #expect(provider.isTaring && ends == 0)
        for step in 10...30 { provider.update(imuData: still(at: Double(step) / 10)) }
        #expect(!provider.isTaring && ends == 1)
        #expect(near(provider.lastOrientation.getEulerAngelsDouble(), provider.eulerAngles))
        // A tare without a handler does not call the earlier one.
        provider.tare(duration: 0.1)
        for step in 31...40 { provider.update(imuData: still(at: Double(step) / 10)) }
        #expect(!provider.isTaring && ends == 1)
    }

    @Test @TendonActor func variablesOfADevice() throws {
        let address = try #require(Address("C0:00:00:00:00:01/random"))
        let device = A5Device(
            device: A5Device.Handle(name: "ACTIV5-AC-0001", address: address),
            writeCharacteristic: A5Characteristic(uuid: "5a02"))
        #expect(device.writeCharacteristic?.uuid == "5a02" && device.imuCharacteristic == nil)
        device.imuCharacteristic = A5Characteristic(uuid: "f0f5", value: [1])
        #expect(device.imuCharacteristic?.value == [1] && device.forceCharacteristic == nil)
        device.imuCharacteristic = nil
        #expect(device.imuCharacteristic == nil)
        device.serialNumber = "A5-9"
        device.uuid1 = "0011"
        device.uuid2 = "2233"
        #expect(device.serialNumber == "A5-9" && device.uuid1 == "0011" && device.uuid2 == "2233")
        #expect(A5DeviceDataState.connected == .handshake)
    }

    @Test @TendonActor func disconnectingByHandle() async throws {
        let site = try await Site()
        let manager = A5DeviceManager(radio: site.radio)
        let recorder = Recorder()
        manager.delegate = recorder
        manager.scanForDevices()
        await eventually("found") { !recorder.found.isEmpty }
        let device = recorder.found[0]
        manager.stopScanningForDevices()
        try manager.connect(device: device.device).get()
        await eventually("initialized") { device.communicationInitialized }
        manager.disconnect(device: A5Device.Handle(name: "another", address: device.address))
        #expect(device.connected)
        manager.disconnect(device: device.device)
        await eventually("disconnected") { recorder.count("deviceDisconnected") == 1 }
    }

    /// A program of 2019, which has no `deviceInitialized`.
    @Test @TendonActor func aDelegateWithoutDeviceInitialized() async throws {
        final class Old: A5DeviceDelegate {
            var isConnected = false
            func searchCompleted() {}
            func deviceFound(device: A5Device) { A5DeviceManager.connect(device: device) }
            func deviceConnected(device: A5Device) { isConnected = true }
            func deviceDisconnected(device: A5Device) {}
        }
        let site = try await Site()
        let manager = A5DeviceManager(radio: site.radio)
        let old = Old()
        manager.delegate = old
        manager.scanForDevices()
        await eventually("connected") { old.isConnected }
        manager.stopScanningForDevices()
    }
}
