// SPDX-License-Identifier: MIT
import CTendon
import Tendon

/// Options of a manager for searching, connecting and detecting squeezes. Changes take effect immediately.
///
/// ```swift
/// A5DeviceManager.options.searchTimeout = 10
/// A5DeviceManager.options.squeezeThreshold = SqueezeThreshold(pressed: 50, depressed: 10)
/// ```
public struct A5DeviceManagerOptions: Sendable, Hashable {
    /// Services to search for, at most four: a device is found if it advertises any of them.
    public var services: [BluetoothUUID] = ["5000"]
    /// Whether to respond to a device's first message with the handshake.
    public var autoHandshake = true
    /// Seconds; `.infinity`: until `stopScanningForDevices()`.
    public var searchTimeout = 30.0
    /// The action after the connection was lost.
    public var reconnectionStrategy = A5ReconnectStrategy.automatically
    /// Thresholds of squeezes, in newtons.
    public var squeezeThreshold = SqueezeThreshold.base
    /// Last byte of commands; the vendor's web client sends 0x19.
    public var terminator = UInt8(TENDON_ACTIV5_TERMINATOR)
    /// Whether F0F1 is used as the force if F0FE is absent.
    public var acceptF0F1 = false
    /// The reset of the double-squeeze detector also ends a squeeze whose release was not received.
    public var releaseOnReset = false

    /// The vendor's defaults.
    public init() {}

    func write(to c: CPointer<tendon_activ5_options>) {
        var options = tendon_activ5_options_defaults()
        setServices(of: &options, services.map(\.c))
        options.auto_handshake = autoHandshake
        options.accept_f0f1 = acceptF0F1
        options.terminator = terminator
        // Infinity and too large values mean "never"; values that are not a number or negative mean 0.
        options.search_timeout_ms =
            searchTimeout > 0 ? UInt64(exactly: (min(searchTimeout, 1e15) * 1000).rounded()) ?? 0 : 0
        options.reconnect =
            reconnectionStrategy == .manually
            ? TENDON_ACTIV5_RECONNECT_MANUALLY : TENDON_ACTIV5_RECONNECT_AUTOMATICALLY
        options.squeeze.pressed = squeezeThreshold.pressed
        options.squeeze.depressed = squeezeThreshold.depressed
        options.squeeze.release_on_reset = releaseOnReset
        c.pointee = options
    }
}

/// The action of a manager when a connection is lost. In both cases it searches.
public enum A5ReconnectStrategy: Sendable, Hashable {
    /// It reports the device when it is found again.
    case manually
    /// It connects to the device when it is found again.
    case automatically
}

/// State of a manager.
public enum A5DeviceManagerConnectionState: Sendable, Hashable {
    /// Neither searching nor connected.
    case disconnected
    /// Searching, connected or not.
    case searching
    /// Connected to at least one device.
    case connected
}

/// Whether the trainer is pressed.
public enum A5SqueezeState: Sendable, Hashable {
    /// Above the threshold `pressed` since it was below the other.
    case squeezed
    /// Not squeezed.
    case depressed
}

/// Newtons above which a squeeze begins, and below which it ends.
public struct SqueezeThreshold: Sendable, Hashable {
    /// More than this is a press.
    public var pressed = 20.0
    /// Less than this is a release.
    public var depressed = 5.0

    /// Newtons.
    public init(pressed: Double = 20.0, depressed: Double = 5.0) {
        self.pressed = pressed
        self.depressed = depressed
    }

    /// The vendor's: 20 N and 5 N.
    public static let base = SqueezeThreshold(pressed: 20, depressed: 5)
}

/// State of the radio: the six states of a phone's `CBManagerState`.
public enum A5BluetoothState: Sendable, Hashable {
    /// It failed for another reason; see `A5DeviceManager.radioError`.
    case unknown
    /// It does not respond.
    case resetting
    /// There is no Bluetooth adapter, or the kernel does not support it.
    case unsupported
    /// The program lacks a capability or a permission.
    case unauthorized
    /// It is switched off.
    case poweredOff
    /// It is open and switched on.
    case poweredOn

    init(_ status: tendon_status) {
        self =
            switch tendon_activ5_radio_state_of(status) {
            case TENDON_ACTIV5_RADIO_RESETTING: .resetting
            case TENDON_ACTIV5_RADIO_UNSUPPORTED: .unsupported
            case TENDON_ACTIV5_RADIO_UNAUTHORIZED: .unauthorized
            case TENDON_ACTIV5_RADIO_POWERED_OFF: .poweredOff
            case TENDON_ACTIV5_RADIO_POWERED_ON: .poweredOn
            default: .unknown
            }
    }
}

/// State of a device, as in the vendor's document. For the state of its connection see `A5Device.connectionState`.
public enum A5DeviceDataState: Sendable, Hashable, CaseIterable {
    /// Connected; it sends nothing yet.
    case handshake
    /// It sends forces.
    case isometric
    /// No device has this state; the document lists it as deprecated.
    case heartRate
    /// Low power; it switches itself off after 7 minutes.
    case stop
    /// There is no connection.
    case disconnected

    /// The name of `handshake` in the source of the vendor's library.
    public static var connected: A5DeviceDataState { .handshake }

    init(_ c: tendon_activ5_data_state) {
        self =
            switch c {
            case TENDON_ACTIV5_STATE_CONNECTED: .handshake
            case TENDON_ACTIV5_STATE_ISOMETRIC: .isometric
            case TENDON_ACTIV5_STATE_STOP: .stop
            default: .disconnected
            }
    }

    var c: tendon_activ5_data_state {
        switch self {
        case .handshake: TENDON_ACTIV5_STATE_CONNECTED
        case .isometric, .heartRate: TENDON_ACTIV5_STATE_ISOMETRIC
        case .stop: TENDON_ACTIV5_STATE_STOP
        case .disconnected: TENDON_ACTIV5_STATE_DISCONNECTED
        }
    }
}

/// State of a connection.
public enum A5ConnectionState: Sendable, Hashable {
    /// Not connected.
    case disconnected
    /// Connecting.
    case connecting
    /// Connected.
    case connected
    /// Disconnecting.
    case disconnecting

    init(_ c: tendon_activ5_link_state) {
        self =
            switch c {
            case TENDON_ACTIV5_LINK_CONNECTING: .connecting
            case TENDON_ACTIV5_LINK_UP: .connected
            case TENDON_ACTIV5_LINK_CLOSING: .disconnecting
            default: .disconnected
            }
    }
}

/// Texts of the command characteristic; the last two are characteristics that are read instead.
public enum A5Command: RawRepresentable, Sendable, CaseIterable {
    /// The response to the first message.
    case doHandshake
    /// Requests forces.
    case startIsometric
    /// Sets the current force as zero.
    case tare
    /// Low power.
    case stop
    /// Requests the serial number's first part.
    case sn1
    /// Requests its second part.
    case sn2
    /// Requests the first id.
    case uuid1
    /// Requests the second id.
    case uuid2
    /// Reads the battery's level.
    case battery
    /// Reads the serial number.
    case serialNumber

    /// The text that is sent, "TVGTIME"; of the two that are read the characteristic, "2A19".
    public var rawValue: String { String(cString: tendon_activ5_command_text(c)) }

    /// The command with this text.
    public init?(rawValue: String) {
        guard let command = Self.allCases.first(where: { $0.rawValue == rawValue }) else { return nil }
        self = command
    }

    var c: tendon_activ5_command {
        switch self {
        case .doHandshake: TENDON_ACTIV5_DO_HANDSHAKE
        case .startIsometric: TENDON_ACTIV5_START_ISOMETRIC
        case .tare: TENDON_ACTIV5_TARE
        case .stop: TENDON_ACTIV5_STOP
        case .sn1: TENDON_ACTIV5_ASK_SN1
        case .sn2: TENDON_ACTIV5_ASK_SN2
        case .uuid1: TENDON_ACTIV5_ASK_UUID1
        case .uuid2: TENDON_ACTIV5_ASK_UUID2
        case .battery: TENDON_ACTIV5_ASK_BATTERY
        case .serialNumber: TENDON_ACTIV5_ASK_SERIAL_NUMBER
        }
    }
}

/// A characteristic, and its value if one was received.
public struct A5Characteristic: Sendable, Hashable {
    /// Which one it is.
    public let uuid: BluetoothUUID
    /// Bytes as they were received; `nil`: none.
    public var value: [UInt8]?

    /// For `MessageParser`: bytes that a program has from elsewhere.
    public init(uuid: BluetoothUUID, value: [UInt8]? = nil) {
        self.uuid = uuid
        self.value = value
    }
}

/// A request to a device.
public struct A5Request: Sendable, Hashable {
    /// The kinds of requests.
    public enum Kind: Sendable, Hashable {
        /// Notifications on.
        case subscribe
        /// Notifications off.
        case unsubscribe
        /// A value.
        case read
        /// That the device takes a value.
        case write
    }

    /// The kind of this request.
    public let kind: Kind
    /// Of which characteristic.
    public let characteristic: A5Device.Characteristic

    init?(_ c: tendon_activ5_request) {
        switch c.kind {
        case TENDON_ACTIV5_REQUEST_SUBSCRIBE: kind = .subscribe
        case TENDON_ACTIV5_REQUEST_UNSUBSCRIBE: kind = .unsubscribe
        case TENDON_ACTIV5_REQUEST_READ: kind = .read
        case TENDON_ACTIV5_REQUEST_WRITE: kind = .write
        default: return nil
        }
        characteristic = A5Device.Characteristic(c.characteristic)
    }

    var operation: TendonError.Operation {
        switch kind {
        case .subscribe, .unsubscribe: .subscribe
        case .read: .read
        case .write: .write
        }
    }
}

/// One force.
public struct A5Force: Sendable, Hashable, CustomStringConvertible {
    /// Below 0 if the trainer is pulled.
    public let newtons: Double
    /// When it was received, in monotonic milliseconds.
    public let time: UInt64
    /// When it arrived. Forces have no time of the device.
    public let times: SampleTimes
    /// A force of a program's own.
    public init(newtons: Double, time: UInt64) {
        self.init(newtons: newtons, time: time, times: SampleTimes())
    }

    init(newtons: Double, time: UInt64, times: SampleTimes) {
        self.newtons = newtons
        self.time = time
        self.times = times
    }

    /// Newtons, as a program prints them.
    public var description: String { "\(newtons)" }

    /// Whole newtons, as older versions of the vendor's library report them.
    public var rounded: Int { A5Force.rounded(newtons) }

    /// Saturates at the range of `Int`; 0 if the value is not a number.
    static func rounded(_ newtons: Double) -> Int {
        let whole = newtons.rounded()
        return Int(exactly: whole) ?? (whole > 0 ? .max : whole < 0 ? .min : 0)
    }
}
