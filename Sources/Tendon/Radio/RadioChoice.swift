// SPDX-License-Identifier: MIT
import CTendon

/// The radio to use.
///
/// ```swift
/// let central = try await Central(radio: .bluez(adapter: "hci1"))
/// ```
public enum RadioChoice: Sendable, Hashable {
    /// A Bluetooth adapter of this machine: "hci0", its address, or its USB path ("1-1.4"); `nil`: the first adapter.
    /// Requires the trait `BlueZ` or `KernelSockets`.
    case bluez(adapter: String? = nil, use: AdapterUse = .shared)
    /// Devices on Unix sockets; `nil`: `$XDG_RUNTIME_DIR/tendon`.
    case virtual(directory: String? = nil)
    /// The radio that the environment variable `TENDON_RADIO` names, `bluez` or `virtual`; without it, the first
    /// Bluetooth adapter. If that radio does not open, no other one is used in its place.
    case automatic
}

extension RadioChoice {
    /// The environment variable that `.automatic` obeys.
    package static let variable = "TENDON_RADIO"

    /// What `.automatic` is, by the value of the variable; `nil`: the value names no radio.
    package init?(environment value: String?) {
        switch value {
        case nil, "", "bluez": self = .bluez()
        case "virtual": self = .virtual()
        default: return nil
        }
    }

    /// Not `.automatic`, but what it stands for.
    package func requested() throws(TendonError) -> RadioChoice {
        guard case .automatic = self else { return self }
        let value = environment(RadioChoice.variable)
        guard let requested = RadioChoice(environment: value) else {
            throw TendonError(
                status: Int32(TENDON_RADIO_ERROR_UNKNOWN_RADIO), operation: .openRadio,
                detail: "\(RadioChoice.variable)=\(value ?? "")")
        }
        return requested
    }

    /// An adapter of this machine, which may come later; the directory of the virtual radio is there, or it is a mistake.
    package var isAdapter: Bool {
        if case .virtual = self { return false }
        return true
    }
}

/// How a radio gets along with other programs that use its adapter, bluetoothd among them.
///
/// ```swift
/// let central = try await Central(radio: .bluez(adapter: "hci1", use: .sole))
/// ```
public enum AdapterUse: Sendable, Hashable {
    /// Others may use the adapter too. What they have enabled stays enabled. While another program scans, a scan receives
    /// what that scan brings; it starts, with its own options, when the other one ends.
    case shared
    /// No other program uses the adapter; otherwise the radio does not open (RADIO_ERROR_ADAPTER_BUSY). While it is open,
    /// Tendon's radios in other processes cannot open the adapter, except as observers.
    case sole
    /// Nothing is sent: a scan receives what the scans of other programs bring, and everything else is not supported.
    case observer
    /// Shared, and only for connections to devices whose address and address type are known: the kernel requires no
    /// capability for them. Scanning, advertising and the parameters of a connection fail with
    /// `RADIO_ERROR_NO_CAP_NET_RAW`. Pairing requires CAP_NET_ADMIN, as does an adapter that is off.
    ///
    /// ```swift
    /// let central = try await Central(radio: .bluez(use: .connectionsOnly))
    /// let peripheral = try await central.connect(Address("C0:00:00:00:00:10/random")!)
    /// ```
    case connectionsOnly
}

/// Storage of bonds and their keys.
public enum BondStorage: Sendable, Hashable {
    /// `$XDG_STATE_HOME/tendon/bonds`, or `~/.local/state/tendon/bonds`; created with the first bond, readable only by
    /// its owner.
    case standard
    /// A given file, created with the first bond.
    case file(String)
    /// Only in memory, until the radio is closed.
    case memory
    /// No pairing.
    case none
}

/// Which devices a radio may pair with. A bonded device can always connect.
package enum PairingPolicy: Sendable, Hashable {
    /// Every device that the program pairs with: the default.
    case unrestricted
    /// Only these devices, identified by address and type; every device until the pairing window closes.
    case restricted(allowed: [Address] = [], window: Duration = .zero)
}

/// How secure a connection must be: the levels 1, 2 and 3 of LE security mode 1 (Core Specification, Vol 3 Part C 10.2.1).
public enum ConnectionSecurity: UInt8, Sendable, Hashable, CaseIterable {
    /// Every connection is good enough.
    case none = 0
    /// Encrypted, with a key that the pairing agent is content with.
    case encrypted
    /// Encrypted with a key that was made with a passkey or a comparison.
    case authenticated
}

/// Options of a scan.
///
/// ```swift
/// let near = try await central.scan(ScanOptions(filtersDuplicates: true, capacity: 16))
/// ```
public struct ScanOptions: Sendable, Hashable {
    /// Devices that advertise one of these services; empty: any device.
    public var services: [BluetoothUUID]
    /// Devices whose name begins with this text; `nil`: any device. A name can be in the scan response alone.
    public var namePrefix: String?
    /// Whether to request scan responses.
    public var isActive: Bool
    /// Whether the controller drops repeated advertisements.
    public var filtersDuplicates: Bool
    /// Maximum number of elements buffered for a slow consumer.
    public var capacity: Int
    /// The advertisement that is dropped if the consumer is too slow.
    public var policy: OverflowPolicy
    /// Whether to scan on LE Coded besides LE 1M, for devices that advertise with long range; the two share the time.
    /// The scan fails with `TENDON_ERROR_UNSUPPORTED` if the controller has no LE Coded, and on the virtual radio.
    public var includesCodedPHY: Bool

    /// Creates options.
    public init(
        services: [BluetoothUUID] = [], namePrefix: String? = nil, isActive: Bool = true,
        filtersDuplicates: Bool = false, capacity: Int = 256,
        policy: OverflowPolicy = .dropOldest, includesCodedPHY: Bool = false
    ) {
        self.services = services
        self.namePrefix = namePrefix
        self.includesCodedPHY = includesCodedPHY
        self.isActive = isActive
        self.filtersDuplicates = filtersDuplicates
        self.capacity = capacity
        self.policy = policy
    }
}

/// Options of a connection.
///
/// ```swift
/// let peripheral = try await central.connect(address, options: ConnectOptions(timeout: .seconds(3), attempts: 1))
/// ```
public struct ConnectOptions: Sendable {
    /// Timeout of all attempts together; `nil`: the default of the C core.
    public var timeout: Duration?
    /// Maximum number of attempts. Only transient failures are retried.
    public var attempts: Int
    /// Whether to negotiate the largest ATT_MTU after connecting.
    public var exchangesMTU: Bool
    /// Waits without a limit for a known device that may be absent for hours; `timeout` and `attempts` do not end it,
    /// cancelling the task does. The controller and the kernel wait: nothing is sent to the device before it
    /// advertises, and scans go on.
    public var isInBackground: Bool

    /// Creates options. Defaults: 10 s, four attempts as in the C core, the largest MTU, not in the background.
    public init(
        timeout: Duration? = .seconds(10), attempts: Int = 4, exchangesMTU: Bool = true, isInBackground: Bool = false
    ) {
        self.timeout = timeout
        self.attempts = attempts
        self.exchangesMTU = exchangesMTU
        self.isInBackground = isInBackground
    }
}
