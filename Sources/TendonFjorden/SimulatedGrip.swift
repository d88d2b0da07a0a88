// SPDX-License-Identifier: MIT
import CTendon
import Tendon

/// A simulated grip: implements the whole profile, requires an encrypted connection and stores one bond.
///
/// ```swift
/// let grip = try await SimulatedGrip.open(radio: .virtual())
/// grip.moveShutter(.full)
/// ```
@TendonActor
public final class SimulatedGrip {
    /// Parts that can be absent from a grip.
    public struct Lacking: OptionSet, Sendable {
        public let rawValue: UInt32
        public init(rawValue: UInt32) { self.rawValue = rawValue }

        /// The grip's service.
        public static let service = Lacking(rawValue: UInt32(TENDON_SIMULATED_FJORDEN_NO_SERVICE))
        /// The characteristic that notifies events.
        public static let eventCharacteristic = Lacking(rawValue: UInt32(TENDON_SIMULATED_FJORDEN_NO_EVENT))
        /// The characteristic of the control state.
        public static let stateCharacteristic = Lacking(rawValue: UInt32(TENDON_SIMULATED_FJORDEN_NO_STATE))
        /// The characteristic for commands.
        public static let controlCharacteristic = Lacking(rawValue: UInt32(TENDON_SIMULATED_FJORDEN_NO_CONTROL))
        /// The firmware revision string.
        public static let firmwareRevision = Lacking(rawValue: UInt32(TENDON_SIMULATED_FJORDEN_NO_FIRMWARE))
        /// All of the Device Information service.
        public static let deviceInformation = Lacking(rawValue: UInt32(TENDON_SIMULATED_FJORDEN_NO_INFORMATION))
        /// The Battery service.
        public static let battery = Lacking(rawValue: UInt32(TENDON_SIMULATED_FJORDEN_NO_BATTERY))
        /// Every subscription to events is rejected for lack of security.
        public static let notifications = Lacking(rawValue: UInt32(TENDON_SIMULATED_FJORDEN_NO_NOTIFY))
    }

    /// Options of the simulated device.
    public struct Options: Sendable {
        /// The advertised name.
        public var name = "Fjorden Grip Simulator"
        /// Its firmware revision string.
        public var firmware = "1.2.0"
        /// Its serial number string.
        public var serial = "TENDON-FJORDEN-1"
        /// Percent.
        public var battery: UInt8 = 80
        /// The absent parts.
        public var lacks: Lacking = []
        /// Whether it requires no encryption.
        public var isOpen = false
        /// Whether it rejects pairing with every host.
        public var rejectsPairing = false
        /// Whether it has a bond with another host.
        public var isBonded = false
        /// Whether a script of 10 s that uses all controls is repeated.
        public var isPlayedWith = false
        /// Whether it sends detents as fast as the connection accepts them.
        public var isFlatOut = false
        /// Number of records after which it stops; 0: no limit.
        public var limit: UInt64 = 0

        /// A complete grip without a bond.
        public init() {}
    }

    /// Malformed values that it sends on request.
    public enum Malformation: UInt32, Sendable, CaseIterable {
        /// An empty notification.
        case empty = 0
        /// A notification of three bytes.
        case length
        /// A turn of no detents.
        case value
        /// An unknown code.
        case unknown
        /// A control state of another version, at the next read.
        case state
    }

    /// Counters of sent and received values.
    public struct Counters: Sendable, Hashable {
        /// Event notifications sent.
        public let notifications: UInt64
        /// Records made, without those dropped by `lose(_:)`.
        public let records: UInt64
        /// Records dropped by `lose(_:)`.
        public let lost: UInt64
        /// Commands executed.
        public let requests: UInt64
        /// Commands and writes rejected.
        public let refusedWrites: UInt64
    }

    /// The host that serves it: a radio, or the simulated one.
    private let memory: AnyObject
    let device: CPointer<tendon_simulated_fjorden>
    /// The address of the grip.
    public nonisolated let address: Address
    private let changed: @Sendable () -> Void

    init(
        _ device: CPointer<tendon_simulated_fjorden>, _ address: Address, in memory: AnyObject,
        changed: @escaping @Sendable () -> Void
    ) {
        self.device = device
        self.address = address
        self.memory = memory
        self.changed = changed
    }

    /// Opens a radio and advertises until the last reference is released.
    public static func open(
        _ options: Options = Options(), radio: RadioChoice, address: Address? = nil,
        interval: Duration = .milliseconds(100)
    ) async throws(TendonError) -> SimulatedGrip {
        let texts = [options.name, options.firmware, options.serial].map { CText($0) }
        let host = try await SimulatedHost<tendon_simulated_fjorden>.open(
            radio: radio, address: address, loop: .shared, interval: interval, keeping: texts,
            prepare: { prepare($0, options, texts) }, seam: { tendon_simulated_fjorden_device($0) })
        return SimulatedGrip(host.device, host.address, in: host) { [weak host] in host?.host.refresh() }
    }

    nonisolated static func prepare(
        _ device: CPointer<tendon_simulated_fjorden>, _ options: Options, _ texts: [CText]
    ) -> tendon_status {
        var c = tendon_simulated_fjorden_options()
        c.lacks = options.lacks.rawValue
        c.open = options.isOpen
        c.rejects_pairing = options.rejectsPairing
        c.bonded = options.isBonded
        c.hand = options.isPlayedWith
        c.flat_out = options.isFlatOut
        c.battery = options.battery
        c.event_limit = options.limit
        c.name = texts[0].pointer
        c.firmware = texts[1].pointer
        c.serial = texts[2].pointer
        return tendon_simulated_fjorden_init(device, &c)
    }

    private func change(_ body: (CPointer<tendon_simulated_fjorden>, UInt64) -> Void) {
        body(device, tendon_monotonic_ms())
        changed()
    }

    // MARK: Controls

    /// Moves the shutter button.
    public func moveShutter(_ position: ControlState.Shutter) {
        change { tendon_simulated_fjorden_move($0, TENDON_FJORDEN_CONTROL_SHUTTER, Int32(position.rawValue), $1) }
    }

    /// Presses or releases the fn button.
    public func pressFn(_ isDown: Bool) {
        change { tendon_simulated_fjorden_move($0, TENDON_FJORDEN_CONTROL_FN, isDown ? 1 : 0, $1) }
    }

    /// Presses or releases the dial.
    public func pressDial(_ isDown: Bool) {
        change { tendon_simulated_fjorden_move($0, TENDON_FJORDEN_CONTROL_DIAL_BUTTON, isDown ? 1 : 0, $1) }
    }

    /// Turns the dial clockwise; counterclockwise if `detents` is negative.
    public func turnDial(_ detents: Int) {
        change { tendon_simulated_fjorden_move($0, TENDON_FJORDEN_CONTROL_DIAL, Int32(clamping: detents), $1) }
    }

    /// Moves the zoom lever.
    public func moveLever(_ position: ControlState.Lever) {
        change { tendon_simulated_fjorden_move($0, TENDON_FJORDEN_CONTROL_LEVER, Int32(position.rawValue), $1) }
    }

    /// Sends a record without a check.
    public func send(code: UInt8, value: Int8 = 0) { change { tendon_simulated_fjorden_event($0, code, value, $1) } }

    // MARK: State and faults

    /// Sets the battery level in percent and notifies it, with an event if it is low.
    public func setBattery(_ percent: UInt8) { change { tendon_simulated_fjorden_set_battery($0, percent, $1) } }
    /// Resets the bond, like shutter and fn held for 5 s.
    public func resetBond() { change { tendon_simulated_fjorden_reset_bond($0, $1) } }
    /// Reports it, then switches off and disconnects.
    public func powerOff() { change { tendon_simulated_fjorden_power_off($0, $1) } }
    /// Drops the next records; their sequence numbers are used.
    public func lose(_ count: Int) {
        change { device, _ in tendon_simulated_fjorden_lose(device, UInt32(clamping: count)) }
    }
    /// Sends the next records twice.
    public func duplicate(_ count: Int) {
        change { device, _ in tendon_simulated_fjorden_duplicate(device, UInt32(clamping: count)) }
    }

    /// Replaces the next values with malformed ones.
    public func inject(_ malformation: Malformation, count: Int = 1) {
        change {
            tendon_simulated_fjorden_inject(
                $0, tendon_simulated_fjorden_malformation(rawValue: malformation.rawValue), UInt32(clamping: count), $1)
        }
    }

    /// Sets whether it rejects pairing.
    public func setRejectsPairing(_ rejects: Bool) {
        change { device, _ in device.pointee.options.rejects_pairing = rejects }
    }

    /// Whether it has a bond with a host.
    public var isBonded: Bool { device.pointee.bonded }
    /// The mode of its LED.
    public var ledMode: LEDMode { LEDMode(rawValue: device.pointee.led_mode) ?? .off }
    /// Number of connections.
    public var connections: Int { device.pointee.centrals.count }

    /// Counters of sent and received values.
    public var counters: Counters {
        let c = device.pointee.counters
        return Counters(
            notifications: c.notifications, records: c.records, lost: c.lost, requests: c.requests,
            refusedWrites: c.refused_writes)
    }
}
