// SPDX-License-Identifier: MIT
import CTendon
@_exported import Tendon

/// A trainer.
///
/// ```swift
/// A5DeviceManager.connect(device: device.device)
/// // … deviceInitialized:
/// device.startIsometric()
/// for await force in device.force { print(force.newtons) }
/// ```
@TendonActor
public final class A5Device {
    /// Identifies a device, like `CBPeripheral` on a phone.
    public struct Handle: Sendable, Hashable {
        /// The advertised name; a manager knows its devices by it.
        public let name: String
        /// Its address and address type.
        public let address: Address

        /// The handle of a device that the program knows from elsewhere.
        public init(name: String, address: Address) {
            self.name = name
            self.address = address
        }
    }

    /// The advertised name.
    public nonisolated let name: String?
    /// Its address and address type.
    public nonisolated let address: Address
    nonisolated let core: DeviceCore
    /// Of a device without a manager.
    private let lifetime: Lifetime<DeviceCore>?
    /// The delegate of a device without a manager; a weak reference. Of the others the manager's delegate is notified.
    public weak var delegate: (any A5DeviceDelegate)?
    /// The characteristics that the program set, for those that are not discovered.
    var givenCharacteristics: [UInt32: A5Characteristic] = [:]

    nonisolated init(_ core: DeviceCore, lifetime: Lifetime<DeviceCore>? = nil) {
        self.core = core
        self.lifetime = lifetime
        name = core.name
        address = Address(core.c.peer)
    }

    /// The argument of `A5DeviceManager.connect(device:)`: name and address.
    public nonisolated var device: Handle { Handle(name: name ?? "", address: address) }

    // MARK: What is known
    //
    // What the vendor's document has as a variable can be set here as well; the next event of the device sets it again.

    /// dBm; 0: not known.
    public var rssi: Double {
        get { core.c.rssi }
        set { core.change { $0.rssi = newValue } }
    }
    /// The state of the device, according to its messages: the states of the vendor's document. While it connects, it
    /// is `disconnected`; see `connectionState`.
    public var deviceDataState: A5DeviceDataState {
        get { A5DeviceDataState(core.c.state) }
        set { core.change { $0.state = newValue.c } }
    }
    /// The state of the connection.
    public var connectionState: A5ConnectionState { A5ConnectionState(core.c.link) }
    /// True in all states but disconnected.
    public var connected: Bool { deviceDataState != .disconnected }
    /// The device has the service F0F0.
    public var usesNewProtocol: Bool {
        get { core.c.uses_new_protocol }
        set { core.change { $0.uses_new_protocol = newValue } }
    }
    /// Whether the device is initialized: its serial number and ids are known, or, for a legacy device, its first value was
    /// received; false again after each disconnection.
    public var communicationInitialized: Bool {
        get { core.c.initialized }
        set { core.change { $0.initialized = newValue } }
    }
    /// From its first message, as "1.00"; `nil` until then.
    public var deviceVersion: String? {
        get { core.c.version.string }
        set { core.change { $0.version = tendon_activ5_text(newValue) } }
    }
    /// Of a legacy device: the two parts that it sent as text.
    public var serialNumber: String? {
        get { core.c.serial_number.string ?? core.c.sn1.string.map { $0 + (core.c.sn2.string ?? "") } }
        set { core.change { $0.serial_number = tendon_activ5_text(newValue) } }
    }
    /// The first id; `nil` until it is received.
    public var uuid1: String? {
        get { core.c.uuid1.string }
        set { core.change { $0.uuid1 = tendon_activ5_text(newValue) } }
    }
    /// The second id; `nil` until it is received.
    public var uuid2: String? {
        get { core.c.uuid2.string }
        set { core.change { $0.uuid2 = tendon_activ5_text(newValue) } }
    }
    /// Both ids, once both are known.
    public var uuid: String? {
        guard uuid1 != nil, uuid2 != nil else { return nil }
        let size = 2 * Int(TENDON_ACTIV5_KEPT_SIZE)
        let bytes = CBytes(count: size)
        let count = core.call(.read) { device, _ in tendon_activ5_device_get_uuid(device, bytes.pointer, size) }
        guard let count = try? count.get() else { return nil }
        return String(decoding: copied(bytes.pointer, count), as: UTF8.self)
    }
    /// Of the detector that follows its forces.
    public var squeezeState: A5SqueezeState { core.c.squeeze.squeezed ? .squeezed : .depressed }
    /// What was received from the device, over all its connections.
    public struct Counters: Sendable, Hashable {
        /// Values of characteristics.
        public let values: UInt64
        /// Messages in them.
        public let messages: UInt64
        /// Values and texts that were rejected.
        public let errors: UInt64
        /// Squeezes.
        public let squeezes: UInt64
        /// Double squeezes.
        public let doubleSqueezes: UInt64
        /// Inputs that did not fit the state of the connection; harmless.
        public let ignored: UInt64
    }

    /// What was received from the device, over all its connections.
    public var counters: Counters {
        let c = core.c.counters
        return Counters(
            values: c.values, messages: c.messages, errors: c.errors, squeezes: c.squeezes,
            doubleSqueezes: c.double_squeezes, ignored: c.ignored)
    }

    /// Whether a manager connects again after the connection was lost. Only the program changes it.
    public var shouldReconnect: Bool {
        get { core.c.should_reconnect }
        set { core.change { $0.should_reconnect = newValue } }
    }

    /// Whether its manager removes it when the current connection ends, as with `disconnectAllDevices()`.
    public var forgetAfterDisconnected: Bool {
        get { core.c.forget }
        set { core.change { $0.forget = newValue } }
    }

    /// Keeps the device from switching itself off after 7 minutes, over all its connections.
    public var evergreenMode: Bool {
        get { core.c.evergreen }
        set { setEvergreen(newValue) }
    }

    // MARK: Characteristics; until discovered what the program set, else nil

    /// Characteristics of a device, with the UUIDs of the vendor's document.
    public enum Characteristic: String, Sendable, CaseIterable {
        /// Texts of the device.
        case read = "5A01"
        /// Commands to it.
        case write = "5A02"
        /// Binary forces, of the new protocol.
        case force = "F0FE"
        /// The device's clock, of the new protocol.
        case timestamp = "F0F3"
        /// Motion, of the new protocol.
        case imu = "F0F5"
        /// Texts, not characteristics.
        case sn1 = "SN1"
        /// The second part of a serial number: a text, not a characteristic.
        case sn2 = "SN2"
        /// The first id, of the new protocol.
        case uuid1 = "F0F7"
        /// The second id, of the new protocol.
        case uuid2 = "F0F8"
        /// The rate of the samples, of the new protocol.
        case sampleRate = "F0FA"
        /// The level in percent.
        case battery = "2A19"
        /// The serial number, of the new protocol.
        case serialNumber = "2A25"
        /// Any other.
        case unknown = "FFFF"

        init(_ c: tendon_activ5_characteristic) {
            self =
                switch c {
                case TENDON_ACTIV5_TEXT_OUTPUT: .read
                case TENDON_ACTIV5_TEXT_COMMAND: .write
                case TENDON_ACTIV5_FORCE, TENDON_ACTIV5_OLD_FORCE: .force
                case TENDON_ACTIV5_IMU: .imu
                case TENDON_ACTIV5_TIMESTAMP: .timestamp
                case TENDON_ACTIV5_UUID1: .uuid1
                case TENDON_ACTIV5_UUID2: .uuid2
                case TENDON_ACTIV5_SAMPLE_RATE: .sampleRate
                case TENDON_ACTIV5_BATTERY: .battery
                case TENDON_ACTIV5_SERIAL_NUMBER: .serialNumber
                default: .unknown
                }
        }
    }

    /// Texts of the device.
    public var readCharacteristic: A5Characteristic? {
        get { found(TENDON_ACTIV5_TEXT_OUTPUT) }
        set { give(TENDON_ACTIV5_TEXT_OUTPUT, newValue) }
    }
    /// Commands to it; evergreen and tare need it.
    public var writeCharacteristic: A5Characteristic? {
        get { found(TENDON_ACTIV5_TEXT_COMMAND) }
        set { give(TENDON_ACTIV5_TEXT_COMMAND, newValue) }
    }
    /// Binary forces.
    public var forceCharacteristic: A5Characteristic? {
        get { found(TENDON_ACTIV5_FORCE) }
        set { give(TENDON_ACTIV5_FORCE, newValue) }
    }
    /// Motion; without it `startIMU()` throws.
    public var imuCharacteristic: A5Characteristic? {
        get { found(TENDON_ACTIV5_IMU) }
        set { give(TENDON_ACTIV5_IMU, newValue) }
    }
    /// The device's clock.
    public var timestampCharacteristic: A5Characteristic? {
        get { found(TENDON_ACTIV5_TIMESTAMP) }
        set { give(TENDON_ACTIV5_TIMESTAMP, newValue) }
    }
    /// The rate of the samples.
    public var sampleRateCharacteristic: A5Characteristic? {
        get { found(TENDON_ACTIV5_SAMPLE_RATE) }
        set { give(TENDON_ACTIV5_SAMPLE_RATE, newValue) }
    }
    /// The level in percent.
    public var batteryLevelCharacteristic: A5Characteristic? {
        get { found(TENDON_ACTIV5_BATTERY) }
        set { give(TENDON_ACTIV5_BATTERY, newValue) }
    }
    /// The serial number.
    public var serialNumberCharacteristic: A5Characteristic? {
        get { found(TENDON_ACTIV5_SERIAL_NUMBER) }
        set { give(TENDON_ACTIV5_SERIAL_NUMBER, newValue) }
    }
    /// The first id.
    public var uuid1Characteristic: A5Characteristic? {
        get { found(TENDON_ACTIV5_UUID1) }
        set { give(TENDON_ACTIV5_UUID1, newValue) }
    }
    /// The second id.
    public var uuid2Characteristic: A5Characteristic? {
        get { found(TENDON_ACTIV5_UUID2) }
        set { give(TENDON_ACTIV5_UUID2, newValue) }
    }

    private func found(_ which: tendon_activ5_characteristic) -> A5Characteristic? {
        guard core.has(which) else { return givenCharacteristics[which.rawValue] }
        return A5Characteristic(uuid: BluetoothUUID(tendon_activ5_uuid(which)))
    }

    private func give(_ which: tendon_activ5_characteristic, _ characteristic: A5Characteristic?) {
        givenCharacteristics[which.rawValue] = characteristic
    }

    // MARK: Calls

    /// Connects. Does not wait: the delegate and `events` report the result. The same as `A5DeviceManager.connect(device:)`.
    @discardableResult
    public func connect() -> A5Result { ask(.connect) { tendon_activ5_device_connect($0, $1) } }

    private func ask(
        _ operation: TendonError.Operation = .write,
        _ body: (CPointer<tendon_activ5_device>, UInt64) -> tendon_status
    ) -> A5Result {
        core.call(operation, body).map { _ in }
    }

    /// `stop` sets the state; `doHandshake` is followed by the requests for ids and serials.
    @discardableResult
    public func sendCommand(_ command: A5Command) -> A5Result {
        ask { tendon_activ5_device_send($0, command.c, $1) }
    }

    /// Frames and writes any text of up to 18 bytes.
    @discardableResult
    public func sendMessage(message: String) -> A5Result {
        guard (1...Int(TENDON_ACTIV5_SEND_MAX)).contains(message.utf8.count) else {
            return .failure(
                .invalidArgument("message: 1 to \(TENDON_ACTIV5_SEND_MAX) bytes, not \(message.utf8.count)"))
        }
        return ask { device, now in lending(message) { tendon_activ5_device_send_text(device, $0, $1, now) } }
    }

    /// Starts force values, for the delegate and for `force`. If called in `deviceConnected`, before the discovery and
    /// the handshake are completed, the request is sent later; if the device has no force, `didReceiveError` reports
    /// `notReady`. Fails with `notReady` without a connection.
    @discardableResult
    public func startIsometric() -> A5Result {
        ask(.subscribe) { tendon_activ5_device_start_isometric_when_ready($0, $1) }
    }

    /// Sets the device to low power; it stays connected and switches itself off after 7 minutes.
    @discardableResult
    public func stop() -> A5Result { ask { tendon_activ5_device_stop($0, $1) } }

    /// Sets the current force as zero; the device must not be pressed.
    @discardableResult
    public func tare() -> A5Result { ask { tendon_activ5_device_tare($0, $1) } }

    /// Calls `body`, which sends one request, and waits until the device has carried that request out.
    package func confirmed(_ body: (A5Device) -> A5Result) async throws(A5Error) {
        var left = 0
        _ = try await core.wait { event in
            guard event.kind == TENDON_ACTIV5_EVENT_DONE else { return nil }
            left -= 1
            guard left == 0 else { return nil }
            return event.status < 0 ? .failure(A5Error(event.status, .write)) : .success(0)
        } start: { () throws(A5Error) in
            try body(self).get()
            left = core.pendingRequests
            guard left > 0 else { throw .notReady }
        }
    }

    /// Starts motion values, in addition to force values if they are started. Throws `imuUnsupported` for a device
    /// without the sensor, and `notReady` before the device is discovered.
    public func startIMU() throws(A5Error) { try ask(.subscribe) { tendon_activ5_device_start_imu($0, $1) }.get() }
    /// Ends what `startIMU()` began.
    public func stopIMU() throws(A5Error) { try ask(.subscribe) { tendon_activ5_device_stop_imu($0, $1) }.get() }

    /// Samples per second, presumably: -32768 to 32767.
    @discardableResult
    public func setSampleRate(sampleRate: Int) -> A5Result {
        ask { tendon_activ5_device_set_sample_rate($0, Int64(sampleRate), $1) }
    }

    /// Enables or disables evergreen mode: a stop command every 60 s while no force values are received, the first
    /// after 60 s.
    public func setEvergreen(_ on: Bool) {
        _ = ask { device, now in
            tendon_activ5_device_set_evergreen(device, on, now)
            return 0
        }
    }

    /// The level in percent that was received last. If it is not known, this requests a read and throws.
    public func getBatteryLevel() throws(A5Error) -> Int {
        try core.call(.read) { tendon_activ5_device_get_battery($0, $1) }.get()
    }

    /// Reads the level in percent. Throws if the device rejects the read, or the connection ends meanwhile.
    public func batteryLevel() async throws(A5Error) -> Int {
        try await core.wait { event in
            switch event.kind {
            case TENDON_ACTIV5_EVENT_BATTERY: event.message.map { .success(Int($0.pointee.percent)) }
            case TENDON_ACTIV5_EVENT_ERROR, TENDON_ACTIV5_EVENT_DONE:
                event.characteristic == TENDON_ACTIV5_BATTERY && event.status < 0
                    ? .failure(A5Error(event.status, .read)) : nil
            default: nil
            }
        } start: { () throws(A5Error) in
            try sendCommand(.battery).get()
        }
    }

    /// The value of the serial number's characteristic; empty while it is not read, and if there is none.
    public func getSerialNumber() -> String { core.c.serial_number.string ?? "" }

    /// The state is disconnected immediately; the delegate is notified when the connection has ended. There is no
    /// reconnection.
    public func disconnect() {
        _ = ask(.connect) { tendon_activ5_device_disconnect($0, $1) }
    }

    // MARK: Sequences, from now until the connection ends
    //
    // As properties, because the vendor's events are: each access creates a sequence of its own, with the elements from
    // then on.

    /// Forces with their times, from now on. Each access creates a new sequence: keep the one that you iterate. At most
    /// 256 are buffered; then new ones are dropped. `events` says why it ended.
    public nonisolated var force: EventStream<A5Force> { force(capacity: 256) }
    /// Forces, with another capacity.
    public nonisolated func force(capacity: Int, policy: OverflowPolicy = .dropNewest) -> EventStream<A5Force> {
        core.observeForce(capacity, policy)
    }
    /// Motion in g, rad/s and seconds, from now on. Each access creates a new sequence: keep the one that you iterate.
    /// At most 256 are buffered; then new ones are dropped.
    public nonisolated var motion: EventStream<IMUObject> { motion(capacity: 256) }
    /// Motion, with another capacity.
    public nonisolated func motion(capacity: Int, policy: OverflowPolicy = .dropNewest) -> EventStream<IMUObject> {
        core.observeMotion(capacity, policy)
    }
    /// Forces and motion as they are decoded, on the loop, until the tokens are cancelled.
    package func onSamples(
        force: @escaping @TendonActor (A5Force) -> Void, motion: @escaping @TendonActor (IMUObject) -> Void
    ) -> [FeedToken] {
        core.observeSamples(force: force, motion: motion)
    }
    /// All events of this device from now on, over all its connections; ends with its manager. Each access creates a new
    /// sequence: keep the one that you iterate.
    public nonisolated var events: EventStream<A5Event> { events(capacity: 256) }
    /// All events; without samples and messages, streaming causes no cost.
    public nonisolated func events(capacity: Int, includingSamples: Bool = true) -> EventStream<A5Event> {
        core.observeEvents(capacity, samples: includingSamples)
    }
    /// Number of forces and motions received so far, whether a sequence took them or not.
    public nonisolated var samplesReceived: UInt64 { core.samples.load(ordering: .relaxed) }

    // MARK: Waiting

    /// Connects if the device is not connected, and waits until it is initialized and the handshake was exchanged. If
    /// the device sends nothing, the handshake is sent after 1.5 s. Throws if the connection ends meanwhile, and
    /// `unsupported` if the device is not a trainer. If the task is cancelled, the connection that this call began
    /// ends.
    public func openAndWait() async throws(A5Error) {
        if core.c.link == TENDON_ACTIV5_LINK_CLOSING { await closeAndWait() }
        guard !Task.isCancelled else { throw .cancelled }
        let begins = core.c.link == TENDON_ACTIV5_LINK_NONE
        do throws(A5Error) {
            _ = try await core.wait { event in
                guard event.kind == TENDON_ACTIV5_EVENT_READY else { return nil }
                return event.status < 0 ? .failure(A5Error(event.status, .connect)) : .success(0)
            } start: { () throws(A5Error) in
                try ask(.connect) { tendon_activ5_device_open($0, $1) }.get()
            }
        } catch {
            if begins, core.c.link != TENDON_ACTIV5_LINK_NONE { disconnect() }
            throw error
        }
    }

    /// Ends the connection and waits for its end. Returns immediately if the task is cancelled; the connection still ends.
    public func closeAndWait() async {
        guard core.c.link != TENDON_ACTIV5_LINK_NONE else { return }
        disconnect()
        _ = try? await core.wait { _ in
            nil
        } start: {
        }
    }
}

/// Compared by name, as in the vendor's library.
extension A5Device: Hashable {
    public nonisolated static func == (a: A5Device, b: A5Device) -> Bool { a.name == b.name }
    public nonisolated func hash(into hasher: inout Hasher) { hasher.combine(name) }
}
