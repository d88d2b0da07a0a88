// SPDX-License-Identifier: MIT
import Tendon

/// The owner of a device's connection. A weak reference; called on the loop's thread. Identifiers are UUIDs in upper case.
///
/// A function that writes or reads returns false if there is no such characteristic, or if nothing was sent.
///
/// ```swift
/// final class Host: OcelotDeviceConnectorCallback {
///     func requestCharacteristicWrite(serviceId: String, characteristicId: String, rawdata: [UInt8]) -> Bool { false }
///     func requestCharacteristicWriteWithoutResponse(
///         serviceId: String, characteristicId: String, rawdata: [UInt8]
///     ) -> Bool { false }
///     func requestCharacteristicRead(serviceId: String, characteristicId: String) -> Bool { false }
///     func requestDeviceConnect() {}
///     func requestDeviceDisconnect() {}
///     func getOcelotProductIdentifier() -> String? { "1234" }
/// }
/// ```
@TendonActor
public protocol OcelotDeviceConnectorCallback: AnyObject {
    /// Writes with a response; the result is passed to the connector's `onWriteStatus`.
    func requestCharacteristicWrite(serviceId: String, characteristicId: String, rawdata: [UInt8]) -> Bool
    /// Writes without a response.
    func requestCharacteristicWriteWithoutResponse(serviceId: String, characteristicId: String, rawdata: [UInt8])
        -> Bool
    /// Reads; the value is passed to the connector's `onUpdateDeviceData`, a failure to `onReadStatus`.
    func requestCharacteristicRead(serviceId: String, characteristicId: String) -> Bool
    /// Connects, and pairs unless the connection is encrypted, whatever the device requires; the result is passed to the
    /// connector's `onConnectionStateChange`.
    func requestDeviceConnect()
    /// Disconnects; the result is passed to the connector's `onConnectionStateChange`.
    func requestDeviceDisconnect()
    /// The product of the device, a number; `nil`: operations fail.
    func getOcelotProductIdentifier() -> String?
    /// The same, with its other name.
    func getObviousProductIdentifier() -> String?
    /// The address of the device: names the record by which an upgrade continues after a restart of the program; `nil`: the
    /// record has the serial number for a name.
    func getDeviceIdentifier() -> Address?
}

extension OcelotDeviceConnectorCallback {
    public func getOcelotProductIdentifier() -> String? { nil }
    public func getObviousProductIdentifier() -> String? { nil }
    @available(
        *, deprecated,
        message:
            "without getDeviceIdentifier() -> Address? an upgrade starts again when the program does; UUID is not Address"
    )
    public func getDeviceIdentifier() -> Address? { nil }
}
