// SPDX-License-Identifier: MIT
import CTendon

/// What to reach devices with.
///
/// ```swift
/// let central = try await Central(radio: .bluez(adapter: "hci1"))
/// ```
public enum RadioChoice: Sendable, Hashable {
    /// A controller of this machine through the kernel; `nil`: the first that is there. Needs the trait `BlueZ`.
    case bluez(adapter: String? = nil)
    /// Devices on Unix sockets; `nil`: `$XDG_RUNTIME_DIR/tendon`.
    case virtual(directory: String? = nil)
    /// The first Bluetooth adapter, or the virtual radio if no adapter opens. In that case a line on standard error and
    /// `Central.adapterFailure` contain the reason.
    case automatic
}

/// Where the keys of pairings are kept.
public enum BondStorage: Sendable, Hashable {
    /// `$XDG_STATE_HOME/tendon/bonds`, else `~/.local/state/tendon/bonds`; made with the first bond, for its owner alone.
    case standard
    /// A file of the program's own, made with the first bond.
    case file(String)
    /// Gone with the radio.
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

/// How to scan.
///
/// ```swift
/// let near = try await central.scan(ScanOptions(filtersDuplicates: true, capacity: 16))
/// ```
public struct ScanOptions: Sendable, Hashable {
    /// Ask for scan responses.
    public var isActive: Bool
    /// Leave repeated advertisements to the controller to drop.
    public var filtersDuplicates: Bool
    /// Elements that wait for a slow consumer at most.
    public var capacity: Int
    /// Which advertisement goes when the consumer is too slow.
    public var policy: OverflowPolicy

    /// Options other than the usual.
    public init(
        isActive: Bool = true, filtersDuplicates: Bool = false, capacity: Int = 256,
        policy: OverflowPolicy = .dropOldest
    ) {
        self.isActive = isActive
        self.filtersDuplicates = filtersDuplicates
        self.capacity = capacity
        self.policy = policy
    }
}

/// How to connect.
///
/// ```swift
/// let peripheral = try await central.connect(address, options: ConnectOptions(timeout: .seconds(3), attempts: 1))
/// ```
public struct ConnectOptions: Sendable {
    /// For all attempts together; `nil`: what the C core thinks right.
    public var timeout: Duration?
    /// Maximum number of attempts. Only transient failures are retried.
    public var attempts: Int
    /// Negotiate the largest ATT_MTU once connected.
    public var exchangesMTU: Bool

    /// Options other than the usual: 10 s, four attempts as in the C core, the largest MTU.
    public init(timeout: Duration? = .seconds(10), attempts: Int = 4, exchangesMTU: Bool = true) {
        self.timeout = timeout
        self.attempts = attempts
        self.exchangesMTU = exchangesMTU
    }
}
