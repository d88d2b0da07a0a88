// SPDX-License-Identifier: MIT
import CTendon
import Tendon

/// Finds trainers, connects to them, and reports their events.
///
/// ```swift
/// A5DeviceManager.initializeDeviceManager()
/// A5DeviceManager.delegate = self
/// A5DeviceManager.scanForDevices { print("searched") }
/// ```
///
/// The static members are those of `instance`; an application with several radios creates further managers.
@TendonActor
public final class A5DeviceManager {
    /// The shared instance, which the static members use.
    public static let instance = A5DeviceManager()

    /// The radio that the next opening uses: set it before first use.
    public var radio: RadioChoice {
        get { choice.radio }
        set { choice.radio = newValue }
    }
    /// Notified of everything that happens; a weak reference.
    public weak var delegate: (any A5DeviceDelegate)?
    /// How it searches, connects and detects squeezes.
    public var options = A5DeviceManagerOptions() {
        didSet { options.write(to: core.options) }
    }
    private let choice: Choice
    private let lifetime: Lifetime<ManagerCore>
    nonisolated var core: ManagerCore { lifetime.core }

    /// Where the core reads the radio when it opens it.
    private final class Choice: @unchecked Sendable {
        // Used only on the loop's thread.
        var radio: RadioChoice
        init(_ radio: RadioChoice) { self.radio = radio }
    }

    /// A manager in addition to `instance`. The radio is opened with the first search.
    public init(radio: RadioChoice = .automatic) {
        let choice = Choice(radio)
        self.choice = choice
        let core = ManagerCore({ choice.radio })
        lifetime = Lifetime(core)
        core.lifetime = lifetime
        core.events.delegate(
            isSet: { [weak self] in self?.delegate != nil },
            { [weak self] event in if let delegate = self?.delegate { event.deliver(to: delegate) } })
    }

    // MARK: State

    /// The list, by name. If you remove a device, it is forgotten, but its connection stays open. Only a search can add
    /// devices.
    public var devices: [String: A5Device] {
        get { Dictionary(core.devices.map { ($0.name ?? "", $0) }) { first, _ in first } }
        set {
            for device in core.devices where newValue[device.name ?? ""] == nil { core.remove(device) }
        }
    }
    /// The connected devices of `devices`.
    public var connectedDevices: [String: A5Device] { devices.filter { $0.value.connected } }
    /// The latest squeeze state of any device.
    public var squeezeState: A5SqueezeState {
        get { core.c.squeezed ? .squeezed : .depressed }
        set { core.setSqueezed(newValue == .squeezed) }
    }
    /// `searching` during a search; otherwise `connected` if any device is connected.
    public var connectionState: A5DeviceManagerConnectionState { core.connectionState }
    /// Whether a search is in progress.
    public var isScanning: Bool { core.c.scanning }
    /// Whether the radio is open and powered on.
    public var isBluetoothOn: Bool { core.c.powered }
    /// The reason why the radio could not be opened, or failed; `nil` if it is open, or was not needed yet.
    public var radioError: TendonError? { core.radioError }

    // MARK: Calls

    /// Opens the radio; otherwise the first search does it.
    public func initializeDeviceManager() { core.openRadio() }

    /// Searches for `options.searchTimeout`; then notifies the delegate and calls `searchCompleted`. If the radio cannot
    /// search, `searchCompleted` is called in this call, after the delegate's `bluetoothIsSwitchedOff()`.
    ///
    /// In `didChangeBluetoothState(.poweredOff)` a search does not open the radio again: it ends at once, and
    /// `bluetoothIsSwitchedOff()` follows when that method has returned. Search again later, for example after a delay.
    public func scanForDevices(searchCompleted: @escaping () -> Void) { core.startScanning(searchCompleted) }

    /// The same for an application with a delegate or a sequence of `events`.
    public func scanForDevices() { core.startScanning(nil) }

    /// Searches for `options.searchTimeout`, or until there are `limit` devices, and returns the list. Throws if the
    /// radio cannot search. If the task is cancelled, the search ends. A search that is used otherwise as well goes on.
    ///
    /// ```swift
    /// let trainer = try await A5DeviceManager.instance.devicesFound(limit: 1).values.first
    /// ```
    public func devicesFound(limit: Int = .max) async throws(A5Error) -> [String: A5Device] {
        guard !Task.isCancelled else { throw .cancelled }
        var events = core.events.sequence(capacity: 256, policy: .dropOldest, keeping: nil).makeAsyncIterator()
        core.beginFinding()
        while isScanning, devices.count < limit, (try? await events.next(isolation: TendonActor.shared)) != nil {}
        core.endFinding()
        guard !Task.isCancelled else { throw .cancelled }
        if let radioError { throw .host(radioError) }
        return devices
    }

    /// Searches for `options.searchTimeout`, and delivers each device once. Ends with the search, and ends the search when it
    /// is released. Throws the reason if the radio cannot search.
    ///
    /// ```swift
    /// for try await device in A5DeviceManager.instance.scan() {
    ///     device.connect()
    ///     break
    /// }
    /// ```
    public nonisolated func scan() -> EventSequence<A5Device> {
        let (core, lifetime) = (core, lifetime)
        let queue = EventQueue<A5Device>(core.loop, capacity: ManagerCore.capacity, policy: .dropOldest)
        core.loop.runOrPost { core.scan(into: queue, keeping: lifetime) }
        return EventSequence(queue)
    }

    /// Stops the search without a callback.
    public func stopScanningForDevices() { core.stopScanning() }

    /// Connects to a device that a search has found; otherwise fails with `notReady`. The result is reported by a
    /// callback.
    @discardableResult
    public func connect(device: A5Device.Handle) -> A5Result {
        guard let known = core.device(named: device.name) else { return .failure(.notReady) }
        return known.connect()
    }

    /// The same with a device, including a device without a manager.
    @discardableResult
    public func connect(device: A5Device) -> A5Result { (core.device(named: device.name ?? "") ?? device).connect() }

    /// Frames a text and writes it.
    @discardableResult
    public func send(message: String, to device: A5Device) -> A5Result { device.sendMessage(message: message) }

    /// The entry of a device.
    public func device(for peripheral: A5Device.Handle) -> (key: String, value: A5Device)? {
        core.device(named: peripheral.name).map { (peripheral.name, $0) }
    }

    /// Disconnects a device that a search has found; there is no reconnection.
    public func disconnect(device: A5Device.Handle) { core.device(named: device.name)?.disconnect() }

    /// Disconnects and removes all devices.
    public func disconnectAllDevices() { core.disconnectAll() }

    // MARK: Events

    /// All events from now on. Each access creates a new sequence: keep the one that you iterate.
    public nonisolated var events: EventStream<A5Event> { events(capacity: 1024) }
    /// The same, with another capacity. If the sequence is full, the oldest event is dropped.
    public nonisolated func events(capacity: Int) -> EventStream<A5Event> {
        EventStream(core.events.sequence(capacity: capacity, policy: .dropOldest, keeping: lifetime))
    }

    func radioForDevice() throws(TendonError) -> RadioCore { try core.radioForDevice() }
}

/// The vendor's spelling: one manager for the program.
extension A5DeviceManager {
    /// Of `instance`; a weak reference.
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
    public static var devices: [String: A5Device] {
        get { instance.devices }
        set { instance.devices = newValue }
    }
    /// The connected devices of `devices`.
    public static var connectedDevices: [String: A5Device] { instance.connectedDevices }
    /// Of `instance`: the last of any device.
    public static var squeezeState: A5SqueezeState {
        get { instance.squeezeState }
        set { instance.squeezeState = newValue }
    }
    /// `searching` during a search; otherwise `connected` if any device is connected.
    public static var connectionState: A5DeviceManagerConnectionState { instance.connectionState }
    /// Whether a search is in progress.
    public static var isScanning: Bool { instance.isScanning }
    /// Whether the radio is open and powered on.
    public static var isBluetoothOn: Bool { instance.isBluetoothOn }
    /// The reason why the radio of `instance` could not be opened, or failed.
    public static var radioError: TendonError? { instance.radioError }
    /// Of `instance`: all that happens, from now on.
    public static var events: EventStream<A5Event> { instance.events }

    /// Opens the radio of `instance`; otherwise the first search does it.
    public class func initializeDeviceManager() { instance.initializeDeviceManager() }
    /// Of `instance`: searches for `options.searchTimeout`, then calls the closure.
    public class func scanForDevices(searchCompleted: @escaping () -> Void) {
        instance.scanForDevices(searchCompleted: searchCompleted)
    }
    /// The same for an application with a delegate or a sequence of `events`.
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
    /// Of `instance`: disconnects a device that a search has found.
    public class func disconnect(device: A5Device.Handle) { instance.disconnect(device: device) }
    /// Of `instance`: disconnects and forgets all.
    public class func disconnectAllDevices() { instance.disconnectAllDevices() }
}
