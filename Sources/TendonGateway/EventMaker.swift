// SPDX-License-Identifier: MIT
import CTendon
import Tendon

/// Makes events of what the C core lends, and keeps what many events have in common. For the loop's thread.
struct EventMaker {
    /// A device as the latest line about it had it.
    private struct Known {
        let device: GatewayDevice
        let family: UnsafePointer<CChar>?
        let name: [UInt8]
    }

    /// The form of a sensor's latest sample, and where its names are in the C core, which never frees them.
    private struct Names {
        let form: SampleForm
        let channels: [UnsafePointer<CChar>?]
    }

    /// More are of strangers that were found and never connected.
    private static let deviceLimit = 256
    private var devices: [Address: Known] = [:]
    private var forms: [UnsafePointer<CChar>: Names] = [:]
    private var kinds: [UnsafePointer<CChar>: GatewayEvent.Kind] = [:]

    mutating func event(_ line: CLine) -> GatewayEvent {
        let c = line.pointee
        return GatewayEvent(
            kind: kind(c.event), device: c.address.map { device(Address($0.pointee), c) },
            time: .microseconds(Int64(clamping: c.wall_us)), sample: c.view.map { sample($0.pointee) },
            cause: c.status < 0 ? TendonError(status: c.status, operation: .receive) : nil, bytes: c.bytes)
    }

    private mutating func kind(_ name: UnsafePointer<CChar>) -> GatewayEvent.Kind {
        if let kind = kinds[name] { return kind }
        let kind = GatewayEvent.Kind(rawValue: text(name))
        kinds[name] = kind
        return kind
    }

    private mutating func device(_ address: Address, _ line: tendon_fleet_line) -> GatewayDevice {
        if let known = devices[address], known.family == line.family, known.name.count == line.name_length {
            if line.name_length == 0 || known.name == line.nameBytes { return known.device }
        }
        let name = line.nameBytes
        let device = GatewayDevice(
            address: address, family: GatewayDevice.Family(rawValue: text(line.family)),
            name: name.isEmpty ? nil : String(decoding: name, as: UTF8.self))
        if devices.count >= Self.deviceLimit { devices.removeAll() }
        devices[address] = Known(device: device, family: line.family, name: name)
        return device
    }

    private mutating func sample(_ view: tendon_view) -> GatewaySample {
        GatewaySample(
            values: view.numbers,
            times: SampleTimes(
                receivedAt: view.received_at, sampledAt: view.sampled_at, errorMicroseconds: view.error_us),
            leftOut: view.left_out, form: form(view))
    }

    private mutating func form(_ view: tendon_view) -> SampleForm {
        if let known = forms[view.sensor], known.channels.count == view.count {
            var isSame = true
            view.forEachChannel { index, channel in isSame = isSame && channel.name == known.channels[index] }
            if isSame { return known.form }
        }
        var channels: [GatewaySample.Channel] = []
        var names: [UnsafePointer<CChar>?] = []
        view.forEachChannel { _, channel in
            channels.append(GatewaySample.Channel(name: text(channel.name), unit: text(channel.unit)))
            names.append(channel.name)
        }
        let form = SampleForm(text(view.sensor), channels)
        forms[view.sensor] = Names(form: form, channels: names)
        return form
    }
}
