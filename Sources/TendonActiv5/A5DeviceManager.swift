// SPDX-License-Identifier: MIT
import CTendon
import Tendon

/// Finds trainers, connects to them, and tells what they do.
///
/// ```swift
/// A5DeviceManager.initializeDeviceManager()
/// A5DeviceManager.delegate = self
/// A5DeviceManager.scanForDevices { print("searched") }
/// ```
///
/// The static members are those of `instance`; a program with several radios makes managers of its own.
@TendonActor
public final class A5DeviceManager {
    /// The one of the program, which the static members use.
    public static let instance = A5DeviceManager()

    /// To be set before first use.
    public var radio: RadioChoice
    /// Told what happens; kept weakly.
    public weak var delegate: (any A5DeviceDelegate)?
    /// How it searches, connects and judges squeezes.
    public var options = A5DeviceManagerOptions() {
        didSet { options.write(to: core.options) }
    }
    private let choice: Choice
    private let core: ManagerCore

    /// Where the core reads the radio when it opens it.
    private final class Choice: @unchecked Sendable {
        // Touched on the loop's thread alone.
        var radio: RadioChoice
        init(_ radio: RadioChoice) { self.radio = radio }
    }

    /// One beside `instance`. The radio is opened with the first search.
    public init(radio: RadioChoice = .automatic) {
        let choice = Choice(radio)
        self.radio = radio
        self.choice = choice
        core = ManagerCore({ choice.radio }, loop: .shared)
        core.owner = self
    }

    deinit {
        let core = core
        core.loop.post { core.abandon() }
    }

    // MARK: State

    /// By name.
    public var devices: [String: A5Device] {
        Dictionary(core.devices.map { ($0.name ?? "", $0) }) { first, _ in first }
    }
    /// Those of `devices` that are connected.
    public var connectedDevices: [String: A5Device] { devices.filter { $0.value.connected } }
    /// The last of any device.
    public var squeezeState: A5SqueezeState { core.c.squeezed ? .squeezed : .depressed }
    /// Searching, else connected when any device is.
    public var connectionState: A5DeviceManagerConnectionState { core.connectionState }
    /// A search is running.
    public var isScanning: Bool { core.c.scanning }
    /// The radio is open and switched on.
    public var isBluetoothOn: Bool { core.c.powered }

    // MARK: Calls

    /// Opens the radio; otherwise the first search does it.
    public func initializeDeviceManager() {
        choice.radio = radio
        core.openRadio()
    }

    /// Searches for `options.searchTimeout`; then the delegate is told, and `searchCompleted` called.
    public func scanForDevices(searchCompleted: @escaping () -> Void) {
        choice.radio = radio
        core.startScanning(searchCompleted)
    }

    /// The same for a program that has a delegate or takes `events`.
    public func scanForDevices() {
        choice.radio = radio
        core.startScanning(nil)
    }

    /// Searches, and returns what was found once the time is over. Cancelling the task ends the search.
    public func devicesFound() async -> [String: A5Device] {
        var events = core.observe(256).makeAsyncIterator()
        scanForDevices()
        while isScanning, let event = try? await events.next(isolation: TendonActor.shared) {
            if case .searchCompleted = event { break }
        }
        if Task.isCancelled { stopScanningForDevices() }
        return devices
    }

    /// Without a callback.
    public func stopScanningForDevices() { core.stopScanning() }

    /// Connects to a device that a search has found; fails with `notReady` for one that it has not. The outcome is a
    /// callback.
    @discardableResult
    public func connect(device: A5Device.Handle) -> A5Result {
        guard let known = core.device(named: device.name) else { return .failure(.notReady) }
        return known.core.call(.connect) { tendon_activ5_device_connect($0, $1) }.map { _ in }
    }

    /// The same, for a program that has the device.
    @discardableResult
    public func connect(device: A5Device) -> A5Result { connect(device: device.device) }

    /// Frames a text and writes it.
    @discardableResult
    public func send(message: String, to device: A5Device) -> A5Result { device.sendMessage(message: message) }

    /// The entry of a device.
    public func device(for peripheral: A5Device.Handle) -> (key: String, value: A5Device)? {
        core.device(named: peripheral.name).map { (peripheral.name, $0) }
    }

    /// Disconnects and forgets all.
    public func disconnectAllDevices() { core.disconnectAll() }

    // MARK: Listening

    /// All that happens, from now on.
    public var events: EventSequence<A5Event> { events(capacity: 1024) }
    /// The same, with as many waiting as is said; then new ones are dropped.
    public func events(capacity: Int) -> EventSequence<A5Event> { core.observe(capacity) }
}

/// The vendor's spelling: one manager for the program.
extension A5DeviceManager {
    /// Of `instance`; kept weakly.
    public static var delegate: (any A5DeviceDelegate)? {
        get { instance.delegate }
        set { instance.delegate = newValue }
    }
    /// Of `instance`.
    public static var options: A5DeviceManagerOptions {
        get { instance.options }
        set { instance.options = newValue }
    }
    /// To be set before first use.
    public static var radio: RadioChoice {
        get { instance.radio }
        set { instance.radio = newValue }
    }
    /// What a phone's central manager is here.
    @available(*, deprecated, renamed: "radio")
    public static var cbManager: RadioChoice { radio }
    /// Of `instance`, by name.
    public static var devices: [String: A5Device] { instance.devices }
    /// Those of `devices` that are connected.
    public static var connectedDevices: [String: A5Device] { instance.connectedDevices }
    /// Of `instance`: the last of any device.
    public static var squeezeState: A5SqueezeState { instance.squeezeState }
    /// Searching, else connected when any device is.
    public static var connectionState: A5DeviceManagerConnectionState { instance.connectionState }
    /// A search is running.
    public static var isScanning: Bool { instance.isScanning }
    /// The radio is open and switched on.
    public static var isBluetoothOn: Bool { instance.isBluetoothOn }
    /// Of `instance`: all that happens, from now on.
    public static var events: EventSequence<A5Event> { instance.events }

    /// Opens the radio of `instance`; otherwise the first search does it.
    public class func initializeDeviceManager() { instance.initializeDeviceManager() }
    /// Of `instance`: searches for `options.searchTimeout`, then calls the closure.
    public class func scanForDevices(searchCompleted: @escaping () -> Void) {
        instance.scanForDevices(searchCompleted: searchCompleted)
    }
    /// The same for a program that has a delegate or takes `events`.
    public class func scanForDevices() { instance.scanForDevices() }
    /// Of `instance`; without a callback.
    public class func stopScanningForDevices() { instance.stopScanningForDevices() }
    /// Of `instance`.
    @discardableResult
    public class func connect(device: A5Device.Handle) -> A5Result { instance.connect(device: device) }
    /// Of `instance`.
    @discardableResult
    public class func connect(device: A5Device) -> A5Result { instance.connect(device: device) }
    /// Of `instance`: frames a text and writes it.
    @discardableResult
    public class func send(message: String, to device: A5Device) -> A5Result {
        instance.send(message: message, to: device)
    }
    /// Of `instance`: the entry of a device.
    public class func device(for peripheral: A5Device.Handle) -> (key: String, value: A5Device)? {
        instance.device(for: peripheral)
    }
    /// Of `instance`: disconnects and forgets all.
    public class func disconnectAllDevices() { instance.disconnectAllDevices() }
}
