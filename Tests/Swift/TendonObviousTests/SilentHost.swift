// SPDX-License-Identifier: MIT
import Tendon
import TendonObvious

/// An application whose device does not answer.
@TendonActor
final class SilentHost: OcelotDeviceConnectorCallback {
    var requests: [String] = []
    /// Service and characteristic of the last write and of the last read.
    var uuids: [String: [String]] = [:]
    /// Whether writes are sent.
    var sends = true

    func requestCharacteristicWrite(serviceId: String, characteristicId: String, rawdata: [UInt8]) -> Bool { true }
    func requestCharacteristicWriteWithoutResponse(
        serviceId: String, characteristicId: String, rawdata: [UInt8]
    ) -> Bool {
        uuids["write"] = [serviceId, characteristicId]
        return sends
    }
    func requestCharacteristicRead(serviceId: String, characteristicId: String) -> Bool {
        requests.append("read")
        uuids["read"] = [serviceId, characteristicId]
        return true
    }
    func requestDeviceConnect() { requests.append("connect") }
    func requestDeviceDisconnect() { requests.append("disconnect") }
    func getObviousProductIdentifier() -> String? { "1234" }
    func getDeviceIdentifier() -> Address? { nil }
}
