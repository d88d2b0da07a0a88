// SPDX-License-Identifier: MIT
import CTendon
import Tendon

/// A simulated belt: implements the whole protocol, rejects the same writes as a belt, and reports the state of its
/// motors.
///
/// ```swift
/// let belt = try await SimulatedBelt(radio: .virtual())
/// ```
public actor SimulatedBelt {
    /// Options of a simulated belt.
    public struct Options: Sendable {
        /// The name in the scan response.
        public var name = "naviGuertel SIM"
        /// Whether it advertises and behaves like the newer hardware.
        public var isNewerHardware = false
        /// Firmware version; `nil`: 52, or 4 for the newer hardware.
        public var firmware: UInt16?
        /// Whether it requires an encrypted connection.
        public var requiresPairing = false
        /// Whether it accepts pairing at any time; otherwise only after a long press of the home button.
        public var isInPairingMode = false
        /// Whether it lacks the debugging service.
        public var hasNoDebug = false
        /// Whether the front range of the newer hardware requires the patch.
        public var isUnpatched = false
        /// Whether it sends orientations as fast as the connection accepts them, each one degree further.
        public var isFlatOut = false
        /// Number of orientations after which it stops; 0: no limit.
        public var limit: UInt64 = 0
        /// Period of the keep-alive requests.
        public var keepAlivePeriod: Duration = .seconds(1)
        /// Time without a keep-alive response after which it disconnects.
        public var patience: Duration = .seconds(5)

        /// A belt of the commercial generation that does not require pairing.
        public init() {}
    }

    /// Result of a write.
    public enum Outcome: UInt8, Sendable {
        /// The write was executed.
        case taken = 0
        /// Ignored: not allowed in this mode.
        case wrongMode
        /// Ignored: a field out of range, or an unknown command.
        case badValue
        /// Ignored: this firmware does not have the parameter.
        case unknownParameter
        /// Rejected with an ATT error.
        case badLength
        /// Ignored because of `setSilent`.
        case silent
    }

    /// A received write.
    public struct Write: Sendable, Hashable {
        /// The characteristic: 0xFE03 …
        public let characteristic: UInt16
        /// The first 20 bytes.
        public let bytes: [UInt8]
        /// The result.
        public let outcome: Outcome
    }

    /// Malformed notifications that it sends on request.
    public enum Malformation: UInt32, Sendable, CaseIterable {
        /// An empty notification.
        case empty = 0
        /// A truncated notification.
        case cut
        /// A notification with a field out of range.
        case badValue
        /// Random bytes.
        case garbage
    }

    /// How a button is pressed.
    public enum Press: UInt32, Sendable, CaseIterable {
        /// Once, briefly.
        case short = 0
        /// Held.
        case long
        /// Twice.
        case double
    }

    private nonisolated let host: SimulatedHost<tendon_simulated_feelspace>
    /// The address of the belt.
    public nonisolated var address: Address { host.address }
    private var belt: CPointer<tendon_simulated_feelspace> { host.device }

    public nonisolated var unownedExecutor: UnownedSerialExecutor { host.loop.asUnownedSerialExecutor() }

    /// Opens a radio and advertises until the last reference is released.
    public init(
        _ options: Options = Options(), radio: RadioChoice, address: Address? = nil, loop: Loop = .shared,
        interval: Duration = .milliseconds(100)
    ) async throws(TendonError) {
        let name = CText(options.name)
        host = try await SimulatedHost.open(
            radio: radio, address: address, loop: loop, interval: interval, keeping: [name],
            prepare: { device in
                var c = tendon_simulated_feelspace_options(options)
                c.name = name.pointer
                return tendon_simulated_feelspace_init(device, &c)
            },
            seam: { tendon_simulated_feelspace_device($0) })
    }

    private func change(_ body: (CPointer<tendon_simulated_feelspace>, UInt64) -> Void) {
        body(belt, tendon_monotonic_ms())
        host.host.refresh()
    }

    /// Stops advertising and disconnects permanently.
    public func stop() { host.host.abandon() }
    /// Number of connections.
    public var connections: Int { host.host.connections }
    /// The current mode.
    public var mode: FSBeltMode { FSBeltMode(belt.pointee.mode) }
    /// Percent.
    public var defaultIntensity: Int { Int(belt.pointee.settings.intensity) }
    /// The last of the belt's own signals; `nil`: none so far.
    public var lastSignal: FSSystemSignal? { FSSystemSignal(rawValue: belt.pointee.last_signal) }
    /// Counters of sent and received values.
    public var counters: Counters { Counters(belt.pointee.counters) }

    /// Counters of sent and received values.
    public struct Counters: Sendable, Hashable {
        /// Orientations sent.
        public let orientations: UInt64
        /// Notifications sent.
        public let notifications: UInt64
        /// Notifications that were dropped because the queue was full.
        public let lostNotifications: UInt64
        /// Malformed notifications, sent on demand.
        public let malformed: UInt64
        /// Keep-alive requests sent.
        public let keepAlives: UInt64
        /// Keep-alive responses received.
        public let answers: UInt64
        /// Disconnections by the belt.
        public let disconnects: UInt64
        /// Writes received.
        public let writes: UInt64
        /// Writes executed.
        public let takenWrites: UInt64
        /// Writes ignored.
        public let ignoredWrites: UInt64
        /// Writes rejected with an ATT error.
        public let refusedWrites: UInt64
        /// Vibrations started.
        public let vibrations: UInt64
        /// The belt's own signals that it started.
        public let signals: UInt64

        init(_ c: tendon_simulated_feelspace_counters) {
            orientations = c.orientations
            notifications = c.notifications
            lostNotifications = c.notifications_lost
            malformed = c.malformed
            keepAlives = c.keep_alives
            answers = c.answers
            disconnects = c.disconnects
            writes = c.writes
            takenWrites = c.taken
            ignoredWrites = c.ignored
            refusedWrites = c.refused_writes
            vibrations = c.vibrations
            signals = c.signals
        }
    }

    /// The last 64 received writes, oldest first.
    public var writes: [Write] {
        let total = belt.pointee.recorded
        let first = total - min(total, UInt64(TENDON_SIMULATED_FEELSPACE_RECORDS))
        return (first..<total).compactMap { index in
            guard let record = tendon_simulated_feelspace_recorded(belt, index)?.pointee else { return nil }
            return Write(
                characteristic: record.characteristic,
                bytes: elements(record.bytes, of: UInt8.self, min(Int(record.length), 20)),
                outcome: Outcome(rawValue: record.outcome) ?? .taken)
        }
    }

    /// Current intensities of the motors, in percent, clockwise from the front.
    public var motors: [Int] {
        var bytes = [UInt8](repeating: 0, count: Int(TENDON_SIMULATED_FEELSPACE_MOTORS))
        tendon_simulated_feelspace_motors(belt, tendon_monotonic_ms(), &bytes)
        return bytes.map(Int.init)
    }

    /// Presses a button; the mode changes as on a belt.
    public func press(_ button: FSBeltButton, _ press: Press = .short) {
        change { belt, now in
            tendon_simulated_feelspace_press_button(
                belt, button.rawValue, tendon_simulated_feelspace_press(rawValue: press.rawValue), now)
        }
    }

    /// Changes the mode, as the belt itself does.
    public func changeMode(_ mode: FSBeltMode) {
        change { tendon_simulated_feelspace_change_mode($0, mode.rawValue, $1) }
    }

    /// Sets level (percent) and power supply, and notifies the connected central.
    public func setBattery(_ percent: Int, _ status: FSPowerStatus = .onBattery) {
        change { tendon_simulated_feelspace_set_battery($0, status.rawValue, UInt8(clamping: percent), $1) }
    }

    /// Sets the heading in degrees from magnetic north; `turn` is the rotation in degrees per second from now on.
    public func setHeading(_ degrees: Int, turn: Int = 0) {
        change { tendon_simulated_feelspace_set_heading($0, UInt16(clamping: degrees), UInt16(clamping: turn), $1) }
    }

    /// Sets whether the compass is accurate.
    public func setAccurate(_ accurate: Bool) {
        change { belt, _ in tendon_simulated_feelspace_set_accurate(belt, accurate) }
    }

    /// Logs an error and reports it in the debug output.
    public func raiseError(_ code: UInt32) { change { tendon_simulated_feelspace_raise_error($0, code, $1) } }

    /// Replaces the next notifications with malformed ones.
    public func inject(_ malformation: Malformation, count: Int = 1) {
        change { belt, _ in
            tendon_simulated_feelspace_inject(
                belt, tendon_simulated_feelspace_malformation(rawValue: malformation.rawValue),
                UInt32(clamping: count))
        }
    }

    /// Sets whether requests get no response.
    public func setSilent(_ silent: Bool) { change { belt, _ in belt.pointee.silent = silent } }

    /// Disconnects all centrals, as if the belt were out of range.
    public func disconnectAll() { host.host.disconnectAll() }
}

extension tendon_simulated_feelspace_options {
    /// All options except the name.
    fileprivate init(_ options: SimulatedBelt.Options) {
        self.init()
        generation = options.isNewerHardware ? 2 : 1
        firmware = options.firmware ?? 0
        pairing_required = options.requiresPairing
        pairing_mode = options.isInPairingMode
        without_debug = options.hasNoDebug
        unpatched = options.isUnpatched
        flat_out = options.isFlatOut
        notification_limit = options.limit
        keep_alive_ms = UInt16(clamping: options.keepAlivePeriod.milliseconds)
        patience_ms = UInt16(clamping: options.patience.milliseconds)
    }
}
