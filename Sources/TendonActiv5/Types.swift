// SPDX-License-Identifier: MIT
import CTendon
import Tendon

/// How a manager searches, connects and judges squeezes. Changes count from then on.
public struct A5DeviceManagerOptions: Sendable, Hashable {
    /// Advertised by what a search finds: any of them, four at most.
    public var services: [BluetoothUUID] = ["5000"]
    /// Answer a device's first message with the handshake.
    public var autoHandshake = true
    /// Seconds.
    public var searchTimeout = 30.0
    public var reconnectionStrategy = A5ReconnectStrategy.automatically
    public var squeezeThreshold = SqueezeThreshold.base
    /// Last byte of commands; 0x19 is what the vendor's web client sends.
    public var terminator = UInt8(TENDON_ACTIV5_TERMINATOR)
    /// Take F0F1 for the force where F0FE is absent.
    public var acceptF0F1 = false
    /// The reset of the double-squeeze detector also ends a squeeze whose release was never seen.
    public var releaseOnReset = false

    public init() {}

    func write(to c: CPointer<tendon_activ5_options>) {
        var options = tendon_activ5_options_defaults()
        setServices(of: &options, services.map(\.c))
        options.auto_handshake = autoHandshake
        options.accept_f0f1 = acceptF0F1
        options.terminator = terminator
        options.search_timeout_ms = Duration.seconds(searchTimeout).milliseconds
        options.reconnect =
            reconnectionStrategy == .manually
            ? TENDON_ACTIV5_RECONNECT_MANUALLY : TENDON_ACTIV5_RECONNECT_AUTOMATICALLY
        options.squeeze.pressed = squeezeThreshold.pressed
        options.squeeze.depressed = squeezeThreshold.depressed
        options.squeeze.release_on_reset = releaseOnReset
        c.pointee = options
    }
}

public enum A5ReconnectStrategy: Sendable, Hashable {
    case manually, automatically
}

public enum A5DeviceManagerConnectionState: Sendable, Hashable {
    case disconnected, searching, connected
}

public enum A5SqueezeState: Sendable, Hashable {
    case squeezed, depressed
}

/// Newtons above which a squeeze begins, and below which it ends.
public struct SqueezeThreshold: Sendable, Hashable {
    public var pressed = 20.0
    public var depressed = 5.0

    public init(pressed: Double = 20.0, depressed: Double = 5.0) {
        self.pressed = pressed
        self.depressed = depressed
    }

    public static let base = SqueezeThreshold(pressed: 20, depressed: 5)
}

/// State of the radio, as a phone would name it.
public enum A5BluetoothState: Sendable, Hashable {
    case poweredOff, poweredOn
}

public enum A5DeviceDataState: UInt32, Sendable, Hashable {
    case disconnected = 0
    case connecting, connected, isometric, stop

    /// As older documents call it.
    public static let handshake = A5DeviceDataState.connected

    init(_ c: tendon_activ5_data_state) { self = A5DeviceDataState(rawValue: c.rawValue) ?? .disconnected }
}

/// Texts of the command characteristic; the last two are characteristics that are read instead.
public enum A5Command: String, Sendable, CaseIterable {
    case doHandshake = "TVGTIME"
    case startIsometric = "ISOM!"
    case tare = "TARE!"
    case stop = "STOP!"
    case sn1 = "SN1!"
    case sn2 = "SN2!"
    case uuid1 = "ID1!"
    case uuid2 = "ID2!"
    case battery = "2A19"
    case serialNumber = "2A25"

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

/// A characteristic, and a value of it where there is one.
public struct A5Characteristic: Sendable, Hashable {
    public let uuid: BluetoothUUID
    public var value: [UInt8]?

    public init(uuid: BluetoothUUID, value: [UInt8]? = nil) {
        self.uuid = uuid
        self.value = value
    }
}

/// What a device was asked to do.
public struct A5Request: Sendable, Hashable {
    public enum Kind: Sendable, Hashable {
        case subscribe, unsubscribe, read, write
    }

    public let kind: Kind
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
public struct A5Force: Sendable, Hashable {
    public let newtons: Double
    /// When it was taken from the link, monotonic milliseconds.
    public let time: UInt64
    public init(newtons: Double, time: UInt64) {
        self.newtons = newtons
        self.time = time
    }

    /// Whole newtons, as older versions of the vendor's library told them.
    public var rounded: Int { A5Force.rounded(newtons) }

    static func rounded(_ newtons: Double) -> Int { Int(newtons.rounded()) }
}
