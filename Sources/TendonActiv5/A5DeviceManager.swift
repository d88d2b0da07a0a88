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
    public static let instance = A5DeviceManager()

    /// To be set before first use.
    public var radio: RadioChoice
    public weak var delegate: (any A5DeviceDelegate)?
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
    public var connectedDevices: [String: A5Device] { devices.filter { $0.value.connected } }
    /// The last of any device.
    public var squeezeState: A5SqueezeState { core.c.squeezed ? .squeezed : .depressed }
    public var connectionState: A5DeviceManagerConnectionState { core.connectionState }
    public var isScanning: Bool { core.c.scanning }
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

    @discardableResult
    public func connect(device: A5Device.Handle) -> A5Result {
        guard let known = core.device(named: device.name) else { return .failure(.notReady) }
        return known.core.call(.connect) { tendon_activ5_device_connect($0, $1) }.map { _ in }
    }

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
    public func events(capacity: Int) -> EventSequence<A5Event> { core.observe(capacity) }
}

/// The vendor's spelling: one manager for the program.
extension A5DeviceManager {
    public static var delegate: (any A5DeviceDelegate)? {
        get { instance.delegate }
        set { instance.delegate = newValue }
    }
    public static var options: A5DeviceManagerOptions {
        get { instance.options }
        set { instance.options = newValue }
    }
    /// To be set before first use.
    public static var radio: RadioChoice {
        get { instance.radio }
        set { instance.radio = newValue }
    }
    public static var devices: [String: A5Device] { instance.devices }
    public static var connectedDevices: [String: A5Device] { instance.connectedDevices }
    public static var squeezeState: A5SqueezeState { instance.squeezeState }
    public static var connectionState: A5DeviceManagerConnectionState { instance.connectionState }
    public static var isScanning: Bool { instance.isScanning }
    public static var isBluetoothOn: Bool { instance.isBluetoothOn }
    public static var events: EventSequence<A5Event> { instance.events }

    public class func initializeDeviceManager() { instance.initializeDeviceManager() }
    public class func scanForDevices(searchCompleted: @escaping () -> Void) {
        instance.scanForDevices(searchCompleted: searchCompleted)
    }
    public class func scanForDevices() { instance.scanForDevices() }
    public class func stopScanningForDevices() { instance.stopScanningForDevices() }
    @discardableResult
    public class func connect(device: A5Device.Handle) -> A5Result { instance.connect(device: device) }
    @discardableResult
    public class func connect(device: A5Device) -> A5Result { instance.connect(device: device) }
    @discardableResult
    public class func send(message: String, to device: A5Device) -> A5Result {
        instance.send(message: message, to: device)
    }
    public class func device(for peripheral: A5Device.Handle) -> (key: String, value: A5Device)? {
        instance.device(for: peripheral)
    }
    public class func disconnectAllDevices() { instance.disconnectAllDevices() }
}
