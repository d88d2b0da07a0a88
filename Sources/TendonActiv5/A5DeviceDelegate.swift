// SPDX-License-Identifier: MIT
import Tendon

/// Receives the events of trainers; a weak reference. Called on the loop's thread.
///
/// ```swift
/// final class Gym: A5DeviceDelegate {
///     func searchCompleted() {}
///     func deviceFound(device: A5Device) { A5DeviceManager.connect(device: device) }
///     func deviceConnected(device: A5Device) {}
///     func deviceInitialized(device: A5Device) { device.startIsometric() }
///     func didReceiveIsometric(device: A5Device, value: Double) { print(value) }
///     func deviceDisconnected(device: A5Device) {}
/// }
/// ```
@TendonActor
public protocol A5DeviceDelegate: AnyObject {
    /// The search's time is over.
    func searchCompleted()
    /// Once per device and search.
    func deviceFound(device: A5Device)
    /// The connection is established, but the services are not discovered yet. `startIsometric()` is kept until then.
    func deviceConnected(device: A5Device)
    /// The connection has ended, as requested or not.
    func deviceDisconnected(device: A5Device)
    /// The device is initialized, see `A5Device.communicationInitialized`. Once per connection.
    func deviceInitialized(device: A5Device)
    /// A message was received; called before the callback of its type. `message`: newtons, a serial number or an id as
    /// text, otherwise empty.
    func didReceiveMessage(device: A5Device, message: String, type: MessageType)
    /// Newtons.
    func didReceiveIsometric(device: A5Device, value: Double)
    /// Whole newtons, of older versions; called if the form with a `Double` is not implemented.
    func didReceiveIsometric(device: A5Device, value: Int)
    /// Motion in g, rad/s and seconds.
    func didReceiveIMUData(device: A5Device, value: IMUObject)
    /// The force rose above the pressed threshold, or fell below the depressed threshold.
    func squeezeStateChanged(state: A5SqueezeState, device: A5Device)
    /// The second of two squeezes ended.
    func didDetectDoubleSqueeze(device: A5Device)
    /// The vendor's spelling; called if the other spelling is not implemented.
    func didDetectDoubleSqeeze(device: A5Device)
    /// The attempt ended; the error is a `TendonError`.
    func didFailToConnect(device: A5Device, error: (any Error)?)
    /// The form that has a default implementation in the vendor's document; called if the other form is not
    /// implemented.
    func didFailToConnect(device: A5Device.Handle, error: (any Error)?)
    /// The radio was opened, failed, or could not be opened; called before the connections end.
    func didChangeBluetoothState(_ state: A5BluetoothState)
    /// A search was requested while the radio is not on.
    func bluetoothIsSwitchedOff()
    /// The serial number, or the part of it that a legacy device sent.
    func didReceiveSerialNumber(device: A5Device, value: String)
    /// Percent, 0 to 100.
    func didReceiveBattery(device: A5Device, value: UInt64)
    /// A value of the device was rejected; nothing changed.
    func didReceiveError(device: A5Device, characteristic: A5Device.Characteristic, error: A5Error)
    /// A request ended: the device accepted or rejected it, or the connection ended. Each request ends once.
    func didComplete(device: A5Device, request: A5Request, error: A5Error?)
}

extension A5DeviceDelegate {
    public func deviceInitialized(device: A5Device) {}
    public func didReceiveMessage(device: A5Device, message: String, type: MessageType) {}
    public func didReceiveIsometric(device: A5Device, value: Double) {
        didReceiveIsometric(device: device, value: A5Force.rounded(value))
    }
    public func didReceiveIsometric(device: A5Device, value: Int) {}
    public func didReceiveIMUData(device: A5Device, value: IMUObject) {}
    public func squeezeStateChanged(state: A5SqueezeState, device: A5Device) {}
    public func didDetectDoubleSqueeze(device: A5Device) { didDetectDoubleSqeeze(device: device) }
    public func didDetectDoubleSqeeze(device: A5Device) {}
    public func didFailToConnect(device: A5Device, error: (any Error)?) {
        didFailToConnect(device: device.device, error: error)
    }
    public func didFailToConnect(device: A5Device.Handle, error: (any Error)?) {}
    public func didChangeBluetoothState(_ state: A5BluetoothState) {}
    public func bluetoothIsSwitchedOff() {}
    public func didReceiveSerialNumber(device: A5Device, value: String) {}
    public func didReceiveBattery(device: A5Device, value: UInt64) {}
    public func didReceiveError(device: A5Device, characteristic: A5Device.Characteristic, error: A5Error) {}
    public func didComplete(device: A5Device, request: A5Request, error: A5Error?) {}
}

/// A name in a heading of the vendor's document.
public typealias A5DeviceManagerDelegate = A5DeviceDelegate

/// The delegate's callbacks as values, for sequences.
///
/// ```swift
/// for await event in A5DeviceManager.events {
///     if case .didDetectDoubleSqueeze(let device) = event { device.stop() }
/// }
/// ```
public enum A5Event: Sendable {
    /// The search's time is over.
    case searchCompleted
    /// Once per device and search.
    case deviceFound(A5Device)
    /// The connection is established.
    case deviceConnected(A5Device)
    /// `nil`: as requested.
    case deviceDisconnected(A5Device, TendonError?)
    /// The device is initialized, see `A5Device.communicationInitialized`. Once per connection.
    case deviceInitialized(A5Device)
    /// A message was received; precedes the event of its type. The message is newtons, a serial number or an id as
    /// text, otherwise empty.
    case didReceiveMessage(A5Device, message: String, type: MessageType)
    /// A force.
    case didReceiveIsometric(A5Device, A5Force)
    /// Motion.
    case didReceiveIMUData(A5Device, IMUObject)
    /// A squeeze began or ended.
    case squeezeStateChanged(A5SqueezeState, A5Device)
    /// The second of two squeezes ended.
    case didDetectDoubleSqueeze(A5Device)
    /// The attempt to connect ended.
    case didFailToConnect(A5Device, TendonError)
    /// The radio was switched on or off.
    case didChangeBluetoothState(A5BluetoothState)
    /// A search was requested while the radio is not on.
    case bluetoothIsSwitchedOff
    /// The serial number or a part of it.
    case didReceiveSerialNumber(A5Device, String)
    /// Percent.
    case didReceiveBattery(A5Device, UInt64)
    /// A value of the device was rejected; nothing changed.
    case didReceiveError(A5Device, A5Device.Characteristic, A5Error)
    /// A request ended, with an error if the device rejected it or the connection ended. Each request ends once.
    case didComplete(A5Device, A5Request, A5Error?)

    /// The notification name that the vendor's library posts for this event; `nil` if none.
    public var notificationName: String? {
        switch self {
        case .searchCompleted: "Activ5Device.searchCompleted"
        case .deviceFound: "Activ5Device.deviceFound"
        case .deviceConnected: "Activ5Device.deviceConnected"
        case .deviceDisconnected: "Activ5Device.deviceDisconnected"
        case .deviceInitialized: "Activ5Device.deviceInitialized"
        case .didDetectDoubleSqueeze: "Activ5Device.didDetectDoubleSqeeze"
        case .didFailToConnect: "Activ5Device.didFailToConnect"
        case .didChangeBluetoothState: "Activ5Device.didChangeBluetoothState"
        case .bluetoothIsSwitchedOff: "Activ5Device.bluetoothIsOff"
        default: nil
        }
    }

    @TendonActor
    func deliver(to delegate: any A5DeviceDelegate) {
        switch self {
        case .searchCompleted: delegate.searchCompleted()
        case .deviceFound(let device): delegate.deviceFound(device: device)
        case .deviceConnected(let device): delegate.deviceConnected(device: device)
        case .deviceDisconnected(let device, _): delegate.deviceDisconnected(device: device)
        case .deviceInitialized(let device): delegate.deviceInitialized(device: device)
        case .didReceiveMessage(let device, let message, let type):
            delegate.didReceiveMessage(device: device, message: message, type: type)
        case .didReceiveIsometric(let device, let force):
            delegate.didReceiveIsometric(device: device, value: force.newtons)
        case .didReceiveIMUData(let device, let motion): delegate.didReceiveIMUData(device: device, value: motion)
        case .squeezeStateChanged(let state, let device): delegate.squeezeStateChanged(state: state, device: device)
        case .didDetectDoubleSqueeze(let device): delegate.didDetectDoubleSqueeze(device: device)
        case .didFailToConnect(let device, let error): delegate.didFailToConnect(device: device, error: error)
        case .didChangeBluetoothState(let state): delegate.didChangeBluetoothState(state)
        case .bluetoothIsSwitchedOff: delegate.bluetoothIsSwitchedOff()
        case .didReceiveSerialNumber(let device, let text):
            delegate.didReceiveSerialNumber(device: device, value: text)
        case .didReceiveBattery(let device, let percent): delegate.didReceiveBattery(device: device, value: percent)
        case .didReceiveError(let device, let characteristic, let error):
            delegate.didReceiveError(device: device, characteristic: characteristic, error: error)
        case .didComplete(let device, let request, let error):
            delegate.didComplete(device: device, request: request, error: error)
        }
    }
}
