// SPDX-License-Identifier: MIT
import Tendon
import TendonActiv5
import TestSupport
import Testing

/// A directory of the virtual radio with one simulated trainer on a second loop thread.
final class Site: Sendable {
    var radio: RadioChoice { directory.radio }
    let directory = RadioDirectory()
    let trainer: SimulatedTrainer
    /// The trainer's own.
    let loop: Loop

    init(_ change: @Sendable (inout SimulatedTrainer.Options) -> Void = { _ in }) async throws {
        var options = SimulatedTrainer.Options()
        change(&options)
        loop = try Loop()
        trainer = try await SimulatedTrainer(
            options, radio: directory.radio, address: directory.address,
            loop: loop, interval: .milliseconds(20))
    }

    /// A device without a manager, connected and ready.
    func open(_ options: A5DeviceManagerOptions = .init()) async throws -> A5Device {
        let central = try await Central(radio: radio)
        let device = await A5Device(trainer.address, name: "ACTIV5-AC-0001", on: central, options: options)
        try await device.openAndWait()
        return device
    }
}

/// Writes down every callback.
@TendonActor
final class Recorder: A5DeviceDelegate {
    private(set) var calls: [String] = []
    private(set) var found: [A5Device] = []
    private(set) var newtons: [Double] = []
    private(set) var motions: [IMUObject] = []
    /// What the application does when it is told of the radio.
    var onState: ((A5BluetoothState) -> Void)?

    func note(_ call: String) { calls.append(call) }
    func count(_ call: String) -> Int { calls.filter { $0 == call }.count }

    func searchCompleted() { calls.append("searchCompleted") }
    func deviceFound(device: A5Device) {
        calls.append("deviceFound")
        if !found.contains(device) { found.append(device) }
    }
    func deviceConnected(device: A5Device) { calls.append("deviceConnected") }
    func deviceDisconnected(device: A5Device) { calls.append("deviceDisconnected") }
    func deviceInitialized(device: A5Device) { calls.append("deviceInitialized") }
    func didReceiveMessage(device: A5Device, message: String, type: MessageType) {
        calls.append("didReceiveMessage \(type) \(type == .isometric ? "" : message)")
    }
    func didReceiveIsometric(device: A5Device, value: Double) {
        calls.append("didReceiveIsometric")
        newtons.append(value)
    }
    func didReceiveIMUData(device: A5Device, value: IMUObject) {
        calls.append("didReceiveIMUData")
        motions.append(value)
    }
    func squeezeStateChanged(state: A5SqueezeState, device: A5Device) { calls.append("\(state)") }
    func didDetectDoubleSqueeze(device: A5Device) { calls.append("didDetectDoubleSqueeze") }
    func didFailToConnect(device: A5Device, error: (any Error)?) { calls.append("didFailToConnect") }
    func didChangeBluetoothState(_ state: A5BluetoothState) {
        calls.append("\(state)")
        onState?(state)
    }
    func bluetoothIsSwitchedOff() { calls.append("bluetoothIsSwitchedOff") }
    func didReceiveSerialNumber(device: A5Device, value: String) { calls.append("didReceiveSerialNumber \(value)") }
    func didReceiveBattery(device: A5Device, value: UInt64) { calls.append("didReceiveBattery \(value)") }
    func didReceiveError(device: A5Device, characteristic: A5Device.Characteristic, error: A5Error) {
        calls.append("error \(characteristic)")
    }
    func didComplete(device: A5Device, request: A5Request, error: A5Error?) {
        if let error, !error.isCancelled { calls.append("refused \(request.characteristic) \(error.text)") }
    }
}
