// SPDX-License-Identifier: MIT
import Foundation
import TendonActiv5

extension NSNotification.Name {
    /// The search's time is over.
    public static let searchCompleted = NSNotification.Name(rawValue: "Activ5Device.searchCompleted")
    /// A trainer was found.
    public static let deviceFound = NSNotification.Name(rawValue: "Activ5Device.deviceFound")
    /// A trainer is connected.
    public static let deviceConnected = NSNotification.Name(rawValue: "Activ5Device.deviceConnected")
    /// A connection has ended.
    public static let deviceDisconnected = NSNotification.Name(rawValue: "Activ5Device.deviceDisconnected")
    /// A trainer is initialized.
    public static let deviceInitialized = NSNotification.Name(rawValue: "Activ5Device.deviceInitialized")
    /// The second of two squeezes ended.
    public static let didDetectDoubleSqeeze = NSNotification.Name(rawValue: "Activ5Device.didDetectDoubleSqeeze")
    /// An attempt to connect ended.
    public static let didFailToConnect = NSNotification.Name(rawValue: "Activ5Device.didFailToConnect")
    /// The radio was switched on or off.
    public static let didChangeBluetoothState = NSNotification.Name(rawValue: "Activ5Device.didChangeBluetoothState")
    /// A search was requested while the radio is not on.
    public static let bluetoothIsOff = NSNotification.Name(rawValue: "Activ5Device.bluetoothIsOff")
}

extension A5DeviceManager {
    /// Posts the manager's events that have a notification name, until the task is cancelled. The object of a notification
    /// is the event's `A5Device`, or `nil`.
    ///
    /// ```swift
    /// let posting = A5DeviceManager.instance.postNotifications()
    /// NotificationCenter.default.addObserver(forName: .deviceFound, object: nil, queue: .main) { print($0.name) }
    /// posting.cancel()
    /// ```
    @discardableResult
    public func postNotifications(to center: NotificationCenter = .default) -> Task<Void, Never> {
        let events = events
        return Task { @TendonActor in
            do {
                for try await event in events {
                    guard let name = event.notificationName else { continue }
                    center.post(name: NSNotification.Name(rawValue: name), object: event.device)
                }
            } catch {
                return  // The manager was released, or its radio failed.
            }
        }
    }
}

extension A5Event {
    /// The trainer of an event that has a notification name.
    fileprivate var device: A5Device? {
        switch self {
        case .deviceFound(let device), .deviceConnected(let device), .deviceDisconnected(let device, _),
            .deviceInitialized(let device), .didDetectDoubleSqueeze(let device), .didFailToConnect(let device, _):
            device
        default: nil
        }
    }
}
