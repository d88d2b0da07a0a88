// SPDX-License-Identifier: MIT
import CTendon
import Tendon
import TestSupport
import Testing

@testable import TendonActiv5

/// Values on their way between the C core and the program, field by field.
struct MappingTests {
    @Test func everyOptionIsWritten() {
        let block = CBlock<tendon_activ5_options>()
        A5DeviceManagerOptions().write(to: block.pointer)
        let defaults = tendon_activ5_options_defaults()
        #expect(block.pointer.pointee.service_count == defaults.service_count)
        #expect(block.pointer.pointee.terminator == defaults.terminator && !block.pointer.pointee.accept_f0f1)
        var options = A5DeviceManagerOptions()
        options.services = [BluetoothUUID(0x1234 as UInt16), BluetoothUUID(0xABCD as UInt16)]
        options.autoHandshake = !options.autoHandshake
        options.acceptF0F1 = true
        options.terminator = 0x19
        options.searchTimeout = 2.5
        options.reconnectionStrategy = options.reconnectionStrategy == .manually ? .automatically : .manually
        options.squeezeThreshold = SqueezeThreshold(pressed: 30, depressed: 5)
        options.releaseOnReset = true
        options.write(to: block.pointer)
        let c = block.pointer.pointee
        #expect(c.service_count == 2)
        #expect(BluetoothUUID(c.services.0) == BluetoothUUID(0x1234 as UInt16))
        #expect(BluetoothUUID(c.services.1) == BluetoothUUID(0xABCD as UInt16))
        #expect(c.auto_handshake == !defaults.auto_handshake && c.accept_f0f1 && c.terminator == 0x19)
        #expect(c.search_timeout_ms == 2500 && c.reconnect != defaults.reconnect)
        #expect(c.squeeze.pressed == 30 && c.squeeze.depressed == 5 && c.squeeze.release_on_reset)
        for (seconds, milliseconds) in [(-1, 0), (.nan, 0), (.infinity, 1_000_000_000_000_000_000), (0.0004, 0)] {
            options.searchTimeout = seconds
            options.write(to: block.pointer)
            #expect(block.pointer.pointee.search_timeout_ms == milliseconds, "\(seconds)")
        }
    }

    /// Each event calls its function of the delegate, and no other one.
    @Test @TendonActor func everyEventHasItsHandler() async throws {
        let directory = RadioDirectory()
        let central = try await Central(radio: directory.radio)
        let device = A5Device(Address(0xD000_0000_0001, type: .random), name: "a", on: central)
        let recorder = Recorder()
        let error = A5Error.notReady
        for event in [
            A5Event.searchCompleted, .deviceFound(device), .deviceConnected(device), .deviceDisconnected(device, nil),
            .deviceInitialized(device), .didReceiveMessage(device, message: "TS1", type: .timestamp),
            .squeezeStateChanged(.squeezed, device), .squeezeStateChanged(.depressed, device),
            .didDetectDoubleSqueeze(device), .didFailToConnect(device, TendonError(status: -13, operation: .connect)),
            .didChangeBluetoothState(.poweredOff),
            .bluetoothIsSwitchedOff, .didReceiveSerialNumber(device, "SN"), .didReceiveBattery(device, 42),
            .didReceiveError(device, .imu, error),
        ] {
            event.deliver(to: recorder)
        }
        #expect(
            recorder.calls == [
                "searchCompleted", "deviceFound", "deviceConnected", "deviceDisconnected", "deviceInitialized",
                "didReceiveMessage timestamp TS1", "squeezed", "depressed", "didDetectDoubleSqueeze",
                "didFailToConnect", "poweredOff", "bluetoothIsSwitchedOff", "didReceiveSerialNumber SN",
                "didReceiveBattery 42", "error imu",
            ])
    }
}
