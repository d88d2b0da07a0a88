// SPDX-License-Identifier: MIT
import CTendon
import Tendon

/// A simulated trainer of either generation: implements the whole protocol; a script squeezes it.
///
/// ```swift
/// let trainer = try await SimulatedTrainer(radio: .virtual())
/// ```
public actor SimulatedTrainer {
    /// Options of the simulated device.
    public struct Options: Sendable {
        /// The advertised name.
        public var name = "ACTIV5-AC-0001"
        /// The firmware version in its first message.
        public var version = "1.00"
        /// Two parts of up to 14 characters.
        public var serial = ("A5-000", "123")
        /// Two parts of up to 16.
        public var id = ("00112233", "445566")
        /// Percent.
        public var battery: UInt8 = 75
        /// Whether it has only the text protocol.
        public var isLegacy = false
        /// Whether it sends nothing until it receives the handshake.
        public var isSilent = false
        /// Characteristics that it does not have.
        public var lacks: [A5Device.Characteristic] = []
        /// Whether it is squeezed only by `squeeze` and `doubleSqueeze`.
        public var isAtRest = false
        /// Sends as fast as the connection accepts notifications.
        public var isFlatOut = false
        /// Time between two force values.
        public var forcePeriod: Duration = .milliseconds(100)
        /// Time between two motion values.
        public var motionPeriod: Duration = .milliseconds(40)
        /// It switches itself off after this time without a stream.
        public var switchOff: Duration = .seconds(420)
        /// Whether its texts end with bytes of the previous text, as on real trainers.
        public var hasStaleTails = false
        /// Whether its texts are split into two notifications.
        public var splitsFrames = false
        /// Number of force and motion values after which it stops; 0: no limit.
        public var limit: UInt64 = 0

        /// A trainer of the new protocol that is squeezed by the script.
        public init() {}
    }

    /// Malformed values that it sends on request.
    public enum Malformation: UInt32, Sendable, CaseIterable {
        /// An empty notification.
        case empty = 0
        /// One byte of a force, or a text without its end.
        case short
        /// A force text without its slash.
        case noSlash
        /// A force text with an invalid number.
        case badNumber
        /// A text that is not UTF-8.
        case badEncoding
        /// A text of more than 128 bytes.
        case long
        /// An unknown text.
        case unknown
        /// Random bytes.
        case garbage
        /// Less than the 16 bytes of a motion.
        case shortMotion
    }

    /// Counters of sent and received values.
    public struct Counters: Sendable, Hashable {
        /// Forces sent.
        public let force: UInt64
        /// Motions sent.
        public let motion: UInt64
        /// Malformed values sent.
        public let malformed: UInt64
        /// Texts sent, without forces.
        public let texts: UInt64
        /// Commands accepted.
        public let commands: UInt64
        /// Stop commands among them; evergreen mode sends them.
        public let stops: UInt64
        /// Writes that it rejected.
        public let refusedWrites: UInt64
        /// Number of times that it switched itself off.
        public let switchOffs: UInt64
    }

    private nonisolated let host: SimulatedHost<tendon_simulated_activ5>
    /// The address of the trainer.
    public nonisolated var address: Address { host.address }
    private var device: CPointer<tendon_simulated_activ5> { host.device }

    public nonisolated var unownedExecutor: UnownedSerialExecutor { host.loop.asUnownedSerialExecutor() }

    /// Opens a radio and advertises until the last reference is released.
    public init(
        _ options: Options = Options(), radio: RadioChoice, address: Address? = nil, loop: Loop = .shared,
        interval: Duration = .milliseconds(100)
    ) async throws(TendonError) {
        let texts = [
            options.name, options.version, options.serial.0, options.serial.1, options.id.0, options.id.1,
        ].map { CText($0) }
        host = try await SimulatedHost.open(
            radio: radio, address: address, loop: loop, interval: interval, keeping: texts,
            prepare: { device in
                var c = tendon_simulated_activ5_options(options)
                c.name = texts[0].pointer
                c.version = texts[1].pointer
                c.serial1 = texts[2].pointer
                c.serial2 = texts[3].pointer
                c.id1 = texts[4].pointer
                c.id2 = texts[5].pointer
                return tendon_simulated_activ5_init(device, &c)
            },
            seam: { tendon_simulated_activ5_device($0) })
    }

    /// Stops advertising and disconnects permanently.
    public func stop() { host.host.abandon() }

    /// Number of connections.
    public var connections: Int { host.host.connections }

    /// Counters of sent and received values.
    public var counters: Counters {
        let c = device.pointee.counters
        return Counters(
            force: c.force, motion: c.motion, malformed: c.malformed, texts: c.texts, commands: c.commands,
            stops: c.stops, refusedWrites: c.refused_writes, switchOffs: c.switch_offs)
    }

    private func change(_ body: (CPointer<tendon_simulated_activ5>, UInt64) -> Void) {
        body(device, tendon_monotonic_ms())
        host.host.refresh()
    }

    /// Squeezes it for a time, in place of the script.
    public func squeeze(for duration: Duration = .milliseconds(400), newtons: Double = 43) {
        change { device, now in
            let most = Double(Int32.max), exact = newtons / tendon_simulated_activ5_newtons(1)
            let raw = Int32(exact.isNaN ? 0 : min(max(exact, -most), most))
            tendon_simulated_activ5_squeeze(device, UInt32(clamping: duration.milliseconds), raw, now)
        }
    }

    /// Squeezes it twice within a second.
    public func doubleSqueeze() { change { tendon_simulated_activ5_double_squeeze($0, $1) } }

    /// Sets a constant load, in units of the binary force; a tare removes it from the values.
    public func load(_ raw: Int) { change { device, _ in tendon_simulated_activ5_load(device, Int32(clamping: raw)) } }

    /// Sets the battery level that it reports, in percent.
    public func setBattery(_ percent: UInt8) {
        change { device, _ in tendon_simulated_activ5_set_battery(device, percent) }
    }

    /// Switches it on or off. Off disconnects all centrals and rejects connections.
    public func setPower(_ on: Bool) { change { device, _ in tendon_simulated_activ5_power(device, on) } }

    /// Replaces the next values with malformed ones.
    public func inject(_ malformation: Malformation, count: Int = 1) {
        change { device, _ in
            tendon_simulated_activ5_inject(
                device, tendon_simulated_activ5_malformation(rawValue: malformation.rawValue),
                UInt32(clamping: count))
        }
    }

    /// Ends all connections, like a device that goes out of range.
    public func disconnectAll() { host.host.disconnectAll() }

    /// The script's newtons at a time of the device's clock, which starts with the first connection.
    public static func force(at deviceTime: UInt64) -> Double {
        tendon_simulated_activ5_newtons(tendon_simulated_activ5_script(deviceTime))
    }
}

extension tendon_simulated_activ5_options {
    /// All options except the strings.
    fileprivate init(_ options: SimulatedTrainer.Options) {
        self.init()
        legacy = options.isLegacy
        silent = options.isSilent
        battery = options.battery
        no_script = options.isAtRest
        flat_out = options.isFlatOut
        force_period_ms = UInt16(clamping: options.forcePeriod.milliseconds)
        imu_period_ms = UInt16(clamping: options.motionPeriod.milliseconds)
        switch_off_ms = UInt32(clamping: options.switchOff.milliseconds)
        stale_tails = options.hasStaleTails
        split_frames = options.splitsFrames
        notification_limit = options.limit
        for lacking in options.lacks {
            guard let place = lacking.place else { continue }
            lacks |= 1 << place.rawValue
        }
    }
}

extension A5Device.Characteristic {
    fileprivate var place: tendon_simulated_activ5_characteristic? {
        switch self {
        case .read: TENDON_SIMULATED_ACTIV5_TEXT
        case .write: TENDON_SIMULATED_ACTIV5_COMMAND
        case .force: TENDON_SIMULATED_ACTIV5_FORCE
        case .imu: TENDON_SIMULATED_ACTIV5_IMU
        case .timestamp: TENDON_SIMULATED_ACTIV5_TIMESTAMP
        case .uuid1: TENDON_SIMULATED_ACTIV5_ID1
        case .uuid2: TENDON_SIMULATED_ACTIV5_ID2
        case .sampleRate: TENDON_SIMULATED_ACTIV5_RATE
        case .battery: TENDON_SIMULATED_ACTIV5_BATTERY
        case .serialNumber: TENDON_SIMULATED_ACTIV5_SERIAL
        case .sn1, .sn2, .unknown: nil
        }
    }
}
