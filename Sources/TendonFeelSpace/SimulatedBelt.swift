// SPDX-License-Identifier: MIT
import CTendon
import Tendon

/// A belt without hardware: obeys the whole protocol, refuses what a belt refuses, and says what its motors would do.
///
/// ```swift
/// let belt = try await SimulatedBelt(radio: .virtual())
/// ```
public actor SimulatedBelt {
    /// What it is like.
    public struct Options: Sendable {
        /// What it advertises, in the scan response.
        public var name = "naviGuertel SIM"
        /// Advertises and behaves as the newer hardware does.
        public var isNewerHardware = false
        /// `nil`: 52, or 4 of the newer hardware.
        public var firmware: UInt16?
        /// Nothing but over an encrypted link.
        public var requiresPairing = false
        /// Takes new bonds at any time; else after a long press of the home button.
        public var isInPairingMode = false
        /// Its services lack what is for debugging.
        public var hasNoDebug = false
        /// The newer hardware's front range wants its patch.
        public var isUnpatched = false
        /// Orientations as fast as the link takes them, a degree further each time.
        public var isFlatOut = false
        /// Orientations that it sends; 0: no limit.
        public var limit: UInt64 = 0
        /// From one question whether we are there to the next.
        public var keepAlivePeriod: Duration = .seconds(1)
        /// Unanswered keep-alives end the link after this long.
        public var patience: Duration = .seconds(5)

        /// A belt of the commercial generation that needs no pairing.
        public init() {}
    }

    /// What became of a write.
    public enum Outcome: UInt8, Sendable {
        /// It was done.
        case taken = 0
        /// Passed over: not in this mode.
        case wrongMode
        /// Passed over: a field out of range, or no such command.
        case badValue
        /// Passed over: no such parameter in this firmware.
        case unknownParameter
        /// Refused with an ATT error.
        case badLength
        /// Passed over because it was told to be silent.
        case silent
    }

    /// A write that arrived.
    public struct Write: Sendable, Hashable {
        /// 0xFE03 …
        public let characteristic: UInt16
        /// The first 20.
        public let bytes: [UInt8]
        /// What it did with it.
        public let outcome: Outcome
    }

    /// Malformed notifications that it sends when told to.
    public enum Malformation: UInt32, Sendable, CaseIterable {
        /// A notification without a byte.
        case empty = 0
        /// One that ends too early.
        case cut
        /// One with a field out of range.
        case badValue
        /// Bytes without order.
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
    /// Its own.
    public nonisolated var address: Address { host.address }
    private var belt: CPointer<tendon_simulated_feelspace> { host.device }

    public nonisolated var unownedExecutor: UnownedSerialExecutor { host.loop.asUnownedSerialExecutor() }

    /// Opens a radio of its own and advertises until the last reference goes.
    public init(
        _ options: Options = Options(), radio: RadioChoice, address: Address? = nil, loop: Loop = .shared,
        interval: Duration = .milliseconds(100)
    ) async throws(TendonError) {
        let name = CText(options.name)
        host = try await SimulatedHost.open(
            radio: radio, address: address, loop: loop, interval: interval, texts: [name],
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
    /// Links that are up.
    public var connections: Int { host.host.connections }
    /// The present mode.
    public var mode: FSBeltMode { FSBeltMode(belt.pointee.mode) }
    /// Percent.
    public var defaultIntensity: Int { Int(belt.pointee.settings.intensity) }
    /// Of its own signals; `nil`: none yet.
    public var lastSignal: FSSystemSignal? { FSSystemSignal(rawValue: belt.pointee.last_signal) }
    /// What it has sent and taken so far.
    public var counters: Counters { Counters(belt.pointee.counters) }

    /// What it has sent and received so far.
    public struct Counters: Sendable, Hashable {
        /// Orientations that the connection took.
        public let orientations: UInt64
        /// Notifications that the connection took.
        public let notifications: UInt64
        /// Notifications that were dropped because the queue was full.
        public let lostNotifications: UInt64
        /// Malformed notifications, sent on demand.
        public let malformed: UInt64
        /// Keep-alives that it sent.
        public let keepAlives: UInt64
        /// Answers to keep-alives that it received.
        public let answers: UInt64
        /// Connections that it ended.
        public let disconnects: UInt64
        /// Writes that it received.
        public let writes: UInt64
        /// Writes that it did.
        public let takenWrites: UInt64
        /// Writes that it ignored.
        public let ignoredWrites: UInt64
        /// Writes that it rejected with an ATT error.
        public let refusedWrites: UInt64
        /// Vibrations that it started.
        public let vibrations: UInt64
        /// Signals of its own that it started.
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

    /// What arrived, oldest first; the last 64.
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

    /// Intensities of the motors now, in percent, clockwise from the front.
    public var motors: [Int] {
        var bytes = [UInt8](repeating: 0, count: Int(TENDON_SIMULATED_FEELSPACE_MOTORS))
        tendon_simulated_feelspace_motors(belt, tendon_monotonic_ms(), &bytes)
        return bytes.map(Int.init)
    }

    /// Presses a button; modes change as a belt's do.
    public func press(_ button: FSBeltButton, _ press: Press = .short) {
        change { belt, now in
            tendon_simulated_feelspace_press_button(
                belt, button.rawValue, tendon_simulated_feelspace_press(rawValue: press.rawValue), now)
        }
    }

    /// By itself.
    public func changeMode(_ mode: FSBeltMode) {
        change { tendon_simulated_feelspace_change_mode($0, mode.rawValue, $1) }
    }

    /// Percent and supply; told to whoever is connected.
    public func setBattery(_ percent: Int, _ status: FSPowerStatus = .onBattery) {
        change { tendon_simulated_feelspace_set_battery($0, status.rawValue, UInt8(clamping: percent), $1) }
    }

    /// Where it points, in degrees from magnetic North; `turn` is degrees per second from now on.
    public func setHeading(_ degrees: Int, turn: Int = 0) {
        change { tendon_simulated_feelspace_set_heading($0, UInt16(clamping: degrees), UInt16(clamping: turn), $1) }
    }

    /// Whether its compass is accurate.
    public func setAccurate(_ accurate: Bool) {
        change { belt, _ in tendon_simulated_feelspace_set_accurate(belt, accurate) }
    }

    /// Logs an error, and tells it.
    public func raiseError(_ code: UInt32) { change { tendon_simulated_feelspace_raise_error($0, code, $1) } }

    /// In place of the next notifications.
    public func inject(_ malformation: Malformation, count: Int = 1) {
        change { belt, _ in
            tendon_simulated_feelspace_inject(
                belt, tendon_simulated_feelspace_malformation(rawValue: malformation.rawValue),
                UInt32(clamping: count))
        }
    }

    /// Requests get no answer.
    public func setSilent(_ silent: Bool) { change { belt, _ in belt.pointee.silent = silent } }

    /// Ends all links, as one that is out of reach does.
    public func disconnectAll() { host.host.disconnectAll() }
}

extension tendon_simulated_feelspace_options {
    /// But for the name.
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
